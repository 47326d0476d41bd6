"""Ingest at its edges: secrets around a text, paths that fail, files that move, names that are taken, memory that is
switched off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.errors import InvalidField
from tests.tree.conftest import write_mbox

SECRET = "ghp_x7Kp2mQ9vT4nR8sW1bY6cF3hJ5dL0gZaEuIo"


def everything_stored(root: Path) -> str:
    """Return all bytes of a book, names of files included."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return "\n".join(f"{path} {path.read_bytes().decode('latin-1')}" for path in files)


def test_secrets_around_a_text_are_removed(book: Book, root: Path, tmp_path: Path) -> None:
    """A secret in a subject, a name or the text of a message without an id is nowhere in the book, nor in an answer."""
    head = f"From: {SECRET} <ann@example.org>\nTo: bob@example.org\nDate: Mon, 2 Nov 2026 09:00:00 +0000\n"
    mail = f"From x Mon Nov  2 09:00:00 2026\n{head}Subject: token {SECRET}\n\nHello {SECRET} there.\n"
    (tmp_path / "mail.mbox").write_text(mail)
    chat = f"[02.11.26, 09:30:12] Ann: my key is {SECRET}\n[02.11.26, 09:31:12] Bob: thanks\n"
    (tmp_path / "_chat.txt").write_text(chat)
    report = book.ingest(str(tmp_path / "mail.mbox"), str(tmp_path / "_chat.txt"), timezone="UTC")
    assert sum(item.redacted for item in report.sources) >= 4
    answers = [book.query_source(query="token"), book.query_source(query="my key"), book.search_entities("ann")]
    book.close()
    assert SECRET not in everything_stored(root) and SECRET.lower() not in everything_stored(root)
    assert SECRET not in repr(answers)


def test_one_bad_path_costs_itself(book: Book, tmp_path: Path, mailbox: Path) -> None:
    """Of several paths, one that is not there is named in the report, and the others are read."""
    (tmp_path / "note.md").write_text("A page about penguins.")
    report = book.ingest(str(mailbox), str(tmp_path / "nowhere"), str(tmp_path / "note.md"))
    assert [item.added for item in report.sources] == [4, 0, 1] and report.is_partial
    assert report.sources[1].skipped[0].reason == "not_found"


def test_what_moves_or_goes_in_the_files_is_seen(book: Book, root: Path, mailbox: Path) -> None:
    """A thread that is deleted by hand is no longer found, and one that is renamed can still be fetched."""
    book.ingest(str(mailbox))
    lunch = book.query_source(query="noodles").hits[0]
    staging = book.query_source(query="staging database Frankfurt").hits[0]
    (root / lunch.path.lstrip("/")).unlink()
    file = root / staging.path.lstrip("/")
    file.rename(file.with_name("renamed.md"))
    assert all("noodles" not in hit.text for hit in book.query_source(query="noodles").hits)
    [found] = book.fetch_leaves([staging.ref]).hits
    assert found.path.endswith("/renamed.md") and "Frankfurt" in found.text
    assert book.fetch_leaves([lunch.ref]).missing == (lunch.ref,)


def test_labels_are_kept(book: Book, root: Path, tmp_path: Path) -> None:
    """The labels of Gmail stand in the entry of a mail."""
    head = "From: ann@example.org\nMessage-ID: <1@x>\nX-Gmail-Labels: Inbox,Project Apollo\n"
    (tmp_path / "mail.mbox").write_text(f"From x Mon Nov  2 09:00:00 2026\n{head}\nHi.\n")
    book.ingest(str(tmp_path / "mail.mbox"))
    assert "Project%20Apollo" in everything_stored(root / "tree") or "Project Apollo" in everything_stored(
        root / "tree"
    )


def test_switched_off_it_says_nothing(root: Path, mailbox: Path) -> None:
    """In a book whose memory is off, the tree answers nothing, and takes nothing in."""
    with Book.open(root, project="p") as book:
        book.ingest(str(mailbox))
    (root / ".commonplace" / "config.toml").write_text("enabled = false\n")
    with Book.open(root, project="p") as book:
        assert book.query_source().hits == () and book.tree_sources() == [] and book.tree_status().units == 0
        assert book.search_entities("ann").entities == () and book.list_merges() == []


@pytest.mark.parametrize("name", ["digest", "people", "topic", "Bad Name", "a/b", ".hidden"])
def test_names_that_no_source_can_have(book: Book, mailbox: Path, name: str) -> None:
    """A name that the tree needs itself, or that no folder can have, is refused, and nothing is stored."""
    with pytest.raises(InvalidField):
        book.ingest(str(mailbox), name=name)
    assert book.tree_sources() == []


def test_a_person_is_counted_once(book: Book, tmp_path: Path) -> None:
    """Who writes under several forms of one name stands once among those who wrote most."""
    names = ("Ann Lee", "Ann Lee", "Lee, Ann", "Lee, Ann", "Ann Lee")
    messages = tuple(
        (str(at), "", f'"{name}" <ann@example.org>', "bob@example.org", f"Mon, {at} Nov 2026 09:00:00 +0000",
         f"Subject {at}", f"Text number {at} about something.")
        for at, name in enumerate(names, 2)
    )  # fmt: skip
    [report] = book.ingest(str(write_mbox(tmp_path / "m.mbox", messages))).sources
    assert report.authors == (("Ann Lee", 5),)
    assert [(item.author, item.units) for item in book.query_source().authors] == [("Ann Lee", 5)]


def test_an_older_book_keeps_the_index_out_of_git(book: Book, root: Path, mailbox: Path) -> None:
    """In a book from before there was a tree, the first ingest adds its index to what git leaves out."""
    ignored = root / ".commonplace" / ".gitignore"
    book.store("Something.")
    ignored.write_text(ignored.read_text().replace("/tree.db*\n", ""))
    book.ingest(str(mailbox))
    assert "/tree.db*" in ignored.read_text().splitlines()


def test_the_same_question_in_json_has_the_same_fields(book: Book, mailbox: Path) -> None:
    """A hit of the tree has the fields of every hit, with what it is from, and its source as a footnote cites it."""
    book.ingest(str(mailbox))
    [hit] = book.query_source(query="who pays", limit=1).hits
    assert (hit.kind, hit.trust, hit.tree, hit.level) == ("leaf", "external", "mail", 0)
    assert hit.sources == (f"{hit.ref} · mail:<2@x>",) or hit.sources == (f"{hit.ref} · mail:2@x",)
    assert "person:bob@example.org" in hit.entities and json.dumps(hit.entities)


def test_what_else_is_in_a_folder_is_named(book: Book, tmp_path: Path) -> None:
    """A folder is read in one format; chats, archives and notes beside mail are named, an overview in HTML is not."""
    folder = tmp_path / "takeout"
    folder.mkdir()
    write_mbox(folder / "mail.mbox")
    (folder / "_chat.txt").write_text("[27.02.26, 18:03:11] Ann: hello\n[27.02.26, 18:05:40] Bob: hi\n")
    (folder / "plan.md").write_text("# Plan\n")
    (folder / "slack.zip").write_bytes(b"PK")
    (folder / "archive_browser.html").write_text("<p>An overview.</p>")
    for _ in range(2):  # what is not read is named each time
        [report] = book.ingest(str(folder)).sources
        named = [(place.place, place.reason) for place in report.skipped]
        assert named == [(name, "other_format") for name in ("_chat.txt", "plan.md", "slack.zip")]
    [chat] = book.ingest(str(folder), kind="chat").sources
    assert (chat.format, chat.added) == ("whatsapp", 2)
    assert ("mail.mbox", "other_format") in chat.skipped and "plan.md" not in dict(chat.skipped)


def test_a_mail_among_notes_leaves_them_notes(book: Book, tmp_path: Path) -> None:
    """A folder of notes with a saved mail in it is read as notes, and the mail is named."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nfirst\n")
    (folder / "b.md").write_text("# B\n\nsecond\n")
    (folder / "saved.eml").write_text("From: a@example.org\nSubject: x\n\nhello\n")
    [report] = book.ingest(str(folder)).sources
    assert (report.format, report.added) == ("documents", 2)
    assert report.skipped == (("saved.eml", "other_format"),)
