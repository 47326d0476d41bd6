"""Ingest: what comes in, once, in which files, and what is said of what could not be read."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from commonplace import Book
from commonplace.model.errors import CommonplaceError
from commonplace.text.notes import parse
from tests.tree.conftest import MESSAGES, write_mbox, write_slack


def texts(root: Path, source: str) -> dict[str, list[str]]:
    """Return what the files of a source say, by the names of the files."""
    folder = root / "tree" / source
    found = {}
    for path in folder.rglob("*.md"):
        if path.name != "index.md" and not path.name.startswith("_") and "_index" not in path.parts:
            thread = path.stem.rpartition("-")[0]
            found[f"{path.parent.name}/{thread}"] = [entry.text for entry in parse(path.read_bytes()).entries]
    return found


def test_mail_becomes_threads(book: Book, root: Path, mailbox: Path) -> None:
    """Each thread is a file of its month, with the messages in order, without quotes, signatures and secrets."""
    [report] = book.ingest(str(mailbox)).sources
    assert (report.source, report.kind, report.format) == ("mail", "email", "mbox")
    assert (report.added, report.known, report.redacted, report.skipped) == (4, 0, 1, ())
    assert (report.first, report.last) == ("2026-11-02T08:00:00Z", "2026-11-04T12:00:00Z")
    assert report.authors[0] == ("Ann Lee", 2)
    said = texts(root, "mail")
    assert said["2026-11/staging-database"] == [
        "The staging database moves to Frankfurt on 3 March. Ticket OPS-12.",
        "Who pays for it?",
        "The platform budget does.",
    ]
    [lunch] = said["2026-11/lunch-friday"]
    assert "noodles" in lunch and "ghp_" not in lunch
    assert "ghp_" not in b"".join(path.read_bytes() for path in root.rglob("*.*") if path.is_file()).decode("latin-1")


def test_the_same_mail_comes_in_once(book: Book, mailbox: Path, tmp_path: Path) -> None:
    """Reading the same file again, or a newer export of it, adds what is new, and a late reply joins its thread."""
    book.ingest(str(mailbox))
    [again] = book.ingest(str(mailbox)).sources
    assert (again.source, again.added, again.unchanged) == ("mail", 0, 1)
    late = ("5", "3", "Bob Roe <bob@example.org>", "ann@example.org", "Fri, 6 Nov 2026 10:00:00 +0100",
            "Re: Staging database", "Then it is settled.")  # fmt: skip
    newer = write_mbox(tmp_path / "newer.mbox", (*MESSAGES, late))
    [report] = book.ingest(str(newer), name="mail").sources
    assert (report.added, report.known) == (1, 4)
    found = book.query_source(query="is it settled", limit=1).hits[0]
    assert found.key.startswith("mail/2026-11/staging-database")


def test_another_source_knows_what_the_first_has(book: Book, root: Path, mailbox: Path, tmp_path: Path) -> None:
    """A message of two exports is one unit, which the second source lists; forgetting the first moves it there."""
    book.ingest(str(mailbox))
    other = write_mbox(tmp_path / "archive.mbox", MESSAGES[:2])
    [report] = book.ingest(str(other)).sources
    assert (report.source, report.added, report.known) == ("archive", 0, 2)
    forgotten = book.tree_forget("mail")
    assert (forgotten.units, forgotten.moved) == (2, 2)
    assert [item.units for item in book.tree_sources()] == [2]
    assert not (root / "tree" / "mail" / "_source.md").exists()
    assert not any(path.is_file() for path in (root / "tree" / "mail").rglob("*"))
    assert {hit.tree for hit in book.query_source(query="staging database").hits} == {"archive"}
    assert book.verify().ok
    [back] = book.ingest(str(mailbox)).sources
    assert (back.added, back.known) == (2, 2)


def test_an_edited_document_is_a_version(book: Book, root: Path, tmp_path: Path) -> None:
    """A document that says something else replaces its text, which goes to the history; others are not read again."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plan.md").write_text("# Plan\n\nThe launch is in May.\n")
    (folder / "team.md").write_text("# Team\n\nAnn leads.\n")
    assert book.ingest(str(folder)).sources[0].added == 2
    (folder / "plan.md").write_text("# Plan\n\nThe launch is in June, not in the month before.\n")
    [report] = book.ingest(update=True).sources
    assert (report.added, report.replaced, report.unchanged) == (0, 1, 1)
    hits = book.query_source(query="when is the launch").hits
    assert "June" in hits[0].text and not any("in May" in hit.text for hit in hits)
    assert any("in May" in path.read_text() for path in (root / ".commonplace" / "history" / "tree").rglob("*.md"))
    assert book.verify().ok


def test_chat_is_ingested(book: Book, tmp_path: Path) -> None:
    """A Slack export becomes units by channel and day, with names in place of ids."""
    [report] = book.ingest(str(write_slack(tmp_path / "export"))).sources
    assert (report.kind, report.format, report.added) == ("chat", "slack", 2)
    [hit] = book.query_source(query="when is the release", limit=1).hits
    assert "Thursday" in hit.text and "Bob Roe" in hit.text and hit.author == "Ann Lee"


def test_a_dry_run_writes_nothing(book: Book, root: Path, mailbox: Path) -> None:
    """A dry run says what would come in, and leaves the book as it was."""
    [report] = book.ingest(str(mailbox), dry_run=True).sources
    assert (report.added, report.dry_run) == (4, True)
    assert not (root / "tree").exists() and book.tree_sources() == []


def test_a_broken_message_costs_itself(book: Book, tmp_path: Path) -> None:
    """A file that cannot be read is named with the reason, and the others come in."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("A good page about penguins.")
    (folder / "odd.docx").write_bytes(b"PK\x03\x04 and then nothing")
    report = book.ingest(str(folder))
    assert report.is_partial and report.sources[0].added == 1
    assert [item.place for item in report.sources[0].skipped] == ["odd.docx"]


@pytest.mark.parametrize("name", ["missing.mbox", "empty"])
def test_what_cannot_be_a_source(book: Book, tmp_path: Path, name: str) -> None:
    """A path that is not there, or has nothing that a reader knows, is an error with a code, and makes no source."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommonplaceError) as caught:
        book.ingest(str(tmp_path / name))
    assert caught.value.code in ("not_found", "unknown_format")
    assert book.tree_sources() == []


def test_a_zip_with_nothing_but_a_bomb_says_so(book: Book, tmp_path: Path) -> None:
    """Where everything in a zip is left out, the error names what and why, and no source is made."""
    with ZipFile(tmp_path / "bomb.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("all.mbox", b"From a@b Tue Nov 10 09:14:00 2026\nFrom: a@b\n\n" + bytes(20_000_000))
    with pytest.raises(CommonplaceError, match=r"'all\.mbox' \(too_large\)") as caught:
        book.ingest(str(tmp_path / "bomb.zip"))
    assert caught.value.code == "unknown_format" and book.tree_sources() == []


def test_a_message_that_is_only_a_picture_is_shown_by_its_name(book: Book, tmp_path: Path) -> None:
    """A hit without words of its author names what was sent, and so does the leaf when it is fetched."""
    chat = tmp_path / "WhatsApp Chat with Bo.txt"
    chat.write_text("13/11/26, 21:15 - Bo: plan.jpg (file attached)\n14/11/26, 21:16 - Ann: Which room is it?\n")
    book.ingest(str(chat))
    hit = next(hit for hit in book.query_source().hits if hit.author == "Bo")
    assert hit.text == "[plan.jpg]" == book.fetch_leaves([hit.ref]).hits[0].text


def test_a_summary_may_be_cited_and_not_quoted(book: Book, mailbox: Path) -> None:
    """`cite` finds summaries, too: one holds as a citation, and none of its words may be quoted."""
    book.ingest(str(mailbox))
    summary = book.recall("staging database", kinds=("summary",)).hits[0]
    assert book.cite(f"It was about a database.[^1]\n\n[^1]: {summary.ref}\n").ok
    quoted = book.cite(f'"The platform budget does."[^1]\n\n[^1]: {summary.ref}\n')
    assert [fault.code for fault in quoted.faults] == ["not_a_leaf"]
