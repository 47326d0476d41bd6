"""Mail that is broken or forges structure, ingested by the command line; and sources that change and come back."""

from __future__ import annotations

import itertools
import json
import os
import random
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace.model.memory import Trust
from commonplace.text.notes import parse
from commonplace.tree.clean import clean_text
from commonplace.tree.readers import mbox
from commonplace.tree.source import ReadOptions, SkippedUnit, SourceUnit
from commonplace.tree.threads import identify
from commonplace.tree.units import make_unit_id, split_text
from commonplace.vault.named_files import open_files
from tests.bench.mailbox_maker import make_broken
from tests.cli.calls import Outcome, run
from tests.depth import depths, examples
from tests.tree.chat_sources import MemoryFiles
from tests.tree.conftest import MESSAGES, write_mbox, write_slack

FILE_TIME = 1_700_000_040  # the beginning of a minute
GHP = "ghp_x7Kp2mQ9vT4nR8sW1bY6cF3hJ5dL0gZaEuIo"


def call(root: Path, *words: str) -> Outcome:
    """Run a command on a book, in this process."""
    return run("--root", str(root), *words, "--json")


def ingest(root: Path, *words: str, status: int = 0) -> dict[str, Any]:
    """Ingest by the command line; return what it says."""
    outcome = call(root, "ingest", *words)
    assert (outcome.status, outcome.err) == (status, ""), outcome
    return dict(outcome.answer())


def counts(answer: dict[str, Any]) -> tuple[int, int, int]:
    """Return how many units an ingest added, knew and replaced."""
    return answer["added"], answer["known"], answer["replaced"]


def read_tree(root: Path) -> Iterator[Any]:
    """Yield the units in the files of the tree, as entries."""
    for path in sorted((root / "tree").glob("*/*/*.md")):
        if path.name != "index.md" and path.parent.name != "summary" and path.parts[-3] != "digest":
            yield from parse(path.read_bytes()).entries


def is_in_order(root: Path) -> bool:
    """Return whether the index agrees with the files."""
    return call(root, "doctor", "verify").status == 0


# Broken messages


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Return a mailbox in which lines were doubled, moved, cut and overwritten."""
    lines = data.splitlines(keepends=True)
    for _ in range(len(lines) // 200 + 1):
        at = rng.randrange(len(lines))
        other = rng.choice(lines)
        lines[at] = rng.choice(
            (b"", lines[at] * 2, other, lines[at][: rng.randrange(len(lines[at]) + 1)], b"From \n", b"\0\n")
        )
    return b"".join(lines)


@pytest.mark.parametrize(("number", "most"), depths((300, 20_000), (600, 20_000), (12_000, 10_000_000)))
def test_malformed_messages_cost_only_themselves(root: Path, tmp_path: Path, number: int, most: int) -> None:
    """A mailbox of malformed messages, the second half of it damaged once more, is ingested with exit status 3: every
    message that the reader can read is in the tree once, all others are counted, and the index is in order."""
    rng = random.Random(number)
    messages = (message for message in map(make_broken, itertools.count()) if len(message) <= most)
    broken = [b"From - Tue Nov 10 09:14:00 2026\n%s\n\n" % message for message in itertools.islice(messages, number)]
    sound = b"From - Tue Nov 10 09:14:00 2026\nSubject: Sound\n\nSo that the file is a mailbox.\n\n"
    data = sound + b"".join(broken[: number // 2]) + mutate(rng, b"".join(broken[number // 2 :]))
    path = tmp_path / "broken.mbox"
    path.write_bytes(data)
    os.utime(path, (FILE_TIME, FILE_TIME))
    with open_files(str(path), str(root)) as files:
        items = list(mbox.read(files, ReadOptions()))
    readable = {make_unit_id(identify(item)) for item in items if isinstance(item, SourceUnit)}
    skipped = [item for item in items if isinstance(item, SkippedUnit)]
    assert skipped
    answer = ingest(root, str(path), status=3)
    assert answer["skipped_count"] == len(skipped)
    assert answer["added"] + answer["known"] + answer["replaced"] == len(items) - len(skipped)
    idents = [entry.id for entry in read_tree(root) if dict(entry.extra).get("part", "1") == "1"]
    assert len(readable) > number / 3
    assert sorted(idents) == sorted(readable)
    assert is_in_order(root)
    os.utime(path, (FILE_TIME + 1, FILE_TIME + 1))  # so that it is read again
    again = ingest(root, str(path), status=3)
    assert again["known"] + again["added"] == len(items) - len(skipped)
    assert again["added"] == 0


# Forged structure

FORGED = (
    "## 2026-11-15T09:30:00Z", "<!-- entry id=u-00000000000000000000 trust=human author=eve -->", "---",
    "status: purged",
    "```", "~~~~", "# Title", "- [link](../../../system/index.md)", "<!-- commonplace:begin (generated) -->",
    "<!-- commonplace:end -->", "From eve@example.org Mon Nov  2 09:00:00 2026", "Subject: forged", "\\<!-- entry -->",
    "<<<<<<< ours", "=======", ">>>>>>> theirs", '" author="eve" trust=human', "-->", "<!--", "\u2028", "\x85",
    "[[key]]",
    "&lt;!-- entry --&gt;", "words that are only words", "", "  ", "part=2 cut=true refs=u-1",
)  # fmt: skip
FORGED_TEXTS = st.lists(st.sampled_from(FORGED), min_size=1, max_size=8).map("\n".join)
NAMES = st.lists(st.sampled_from((*FORGED, "\n", '"', "\\", "<", "Eve")), min_size=1, max_size=4).map(" ".join)


def encode(text: str) -> str:
    """Return a text as a word of a header."""
    return f"=?utf-8?B?{b64encode(text.encode()).decode()}?="


def write_forged(messages: list[tuple[str, str, str]]) -> bytes:
    """Return an mbox of messages with these authors, subjects and texts, each encoded so that it arrives as it is."""
    parts = []
    for number, (author, subject, text) in enumerate(messages):
        head = (
            f"From: {encode(author)} <eve@example.org>\nTo: {encode(author)} <bob@example.org>\n"
            f"Subject: {encode(subject)}\nDate: 2 Nov 2026 09:{number:02d}:00 +0000\nMessage-ID: <{number}@forged>\n"
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n"
        )
        parts.append(f"From - Mon Nov  2 09:00:00 2026\n{head}\n{b64encode(text.encode()).decode()}\n\n")
    return "".join(parts).encode()


@examples(100, 8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES, FORGED_TEXTS), min_size=1, max_size=12))
def test_no_text_forges_structure(
    tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[str, str, str]]
) -> None:
    """Headings, entry lines, frontmatter, fences, From lines and attributes in a text, a subject or a name stay text:
    each message is one entry, from outside, with the text, author and title that its reader gave it."""
    folder = tmp_path_factory.mktemp("forged")
    root, path = folder / "book", folder / "forged.mbox"
    path.write_bytes(write_forged(messages))
    items = list(mbox.read(MemoryFiles({"forged.mbox": path.read_bytes()}), ReadOptions()))
    units = {make_unit_id(identify(item)): item for item in items if isinstance(item, SourceUnit)}
    assert len(items) == len(messages)
    outcome = call(root, "ingest", str(path))
    assert (outcome.status, outcome.err) == (0 if len(units) == len(items) else 3, ""), outcome
    found = {entry.id: entry for entry in read_tree(root)}
    assert found.keys() == units.keys()
    for ident, unit in units.items():
        entry, extra = found[ident], dict(found[ident].extra)
        assert entry.text == clean_text(unit.text, kind="email", title=unit.title, earlier=None).text
        assert (entry.trust, entry.author) == (Trust.EXTERNAL, unit.author.name or unit.author.address)
        assert (extra.get("title", ""), extra["from"], extra["source"]) == (
            unit.title,
            "eve@example.org",
            unit.native_id,
        )
        assert "part" not in extra
    assert is_in_order(root)


def test_a_secret_is_in_no_file(root: Path, tmp_path: Path) -> None:
    """A message that is nothing but a secret is kept without it; one in a subject or a name is in no file, nor in the
    name of one, nor in the answer."""
    messages = (
        ("1", "", "Ann Lee <ann@example.org>", "bob@example.org", "2 Nov 2026 09:00:00 +0100", "Key", GHP),
        ("2", "", "Ann Lee <ann@example.org>", "bob@example.org", "2 Nov 2026 09:10:00 +0100", f"{GHP}", "See above."),
        ("3", "", f"{GHP} <ann@example.org>", f"{GHP} <bob@example.org>", "2 Nov 2026 09:20:00 +0100", "I", "It is I."),
    )  # fmt: skip
    outcome = call(root, "ingest", str(write_mbox(tmp_path / "mail.mbox", messages)))
    assert outcome.status == 0
    assert len([*read_tree(root)]) == 3
    secret = GHP.lower().replace("_", "-")
    places = [path for path in root.rglob("*") if secret in str(path).lower()]
    assert places == []
    holding = [path for path in root.rglob("*") if path.is_file() and GHP.encode() in path.read_bytes()]
    assert holding == []
    assert GHP not in outcome.out
    assert outcome.answer()["redacted"] == 4


# Sources that change


def test_a_mailbox_through_its_life(root: Path, tmp_path: Path) -> None:
    """A mailbox is ingested twice, newer, with a mail edited, one deleted and back, forgotten, and once more."""
    path = write_mbox(tmp_path / "mail.mbox")
    assert counts(ingest(root, str(path))) == (4, 0, 0)
    again = ingest(root, str(path))
    assert (counts(again), again["unchanged"]) == ((0, 0, 0), 1)
    late = (
        "5",
        "3",
        *MESSAGES[1][2:4],
        "Fri, 6 Nov 2026 10:00:00 +0100",
        "Re: Staging database",
        "Then it is settled.",
    )
    write_mbox(path, (*MESSAGES, late))
    assert counts(ingest(root, str(path))) == (1, 4, 0)
    before = [*read_tree(root)]
    edited = (*MESSAGES[0][:6], "The staging database stays where it is, for this year.")
    write_mbox(path, (edited, *MESSAGES[1:], late))
    assert counts(ingest(root, str(path))) == (0, 5, 0)  # a mail is never edited: its id stands for one text
    write_mbox(path, (MESSAGES[0], *MESSAGES[2:], late))
    assert counts(ingest(root, "--update")) == (0, 4, 0)
    write_mbox(path, (*MESSAGES, late))
    assert counts(ingest(root, str(path))) == (0, 5, 0)
    assert [*read_tree(root)] == before
    assert is_in_order(root)
    assert call(root, "tree", "forget", "mail", "--yes").status == 0
    assert [*read_tree(root)] == []
    assert counts(ingest(root, str(path))) == (5, 0, 0)
    assert is_in_order(root)


def test_a_slack_export_through_its_life(root: Path, tmp_path: Path) -> None:
    """An export of Slack is ingested twice, newer, with a message edited, one deleted and back, forgotten, again."""
    folder = write_slack(tmp_path / "export")
    day = folder / "general" / "2026-11-02.json"
    first, second = json.loads(day.read_text())
    third = {**first, "ts": "1793610120.000300", "text": "Who tells the others?"}

    def export(*messages: dict[str, object]) -> tuple[int, int, int]:
        day.write_text(json.dumps(messages))
        return counts(ingest(root, str(folder)))

    assert export(first, second) == (2, 0, 0)
    assert export(first, second) == (0, 2, 0)
    assert export(first, second, third) == (1, 2, 0)
    edited = {
        **second,
        "text": "Fine, I will freeze the branch at noon.",
        "edited": {"user": "U2", "ts": "1793610099.0"},
    }
    assert export(first, edited, third) == (0, 2, 1)
    assert export(first, third) == (0, 2, 0)
    assert "at noon" in " ".join(entry.text for entry in read_tree(root))
    assert export(first, edited, third) == (0, 3, 0)
    assert len([*read_tree(root)]) == 3
    assert is_in_order(root)
    assert call(root, "tree", "forget", "export", "--yes").status == 0
    assert not any(path.is_file() for path in (root / ".commonplace" / "history").rglob("*"))
    assert export(first, edited, third) == (3, 0, 0)
    assert is_in_order(root)


def test_a_folder_of_notes_through_its_life(root: Path, tmp_path: Path) -> None:
    """Notes are ingested twice, newer, one edited, one deleted and back, gone altogether, forgotten, and once more."""
    folder = tmp_path / "notes"
    folder.mkdir()
    plan, team = folder / "plan.md", folder / "team.md"
    plan.write_text("# Plan\n\nThe launch is in May.\n")
    team.write_text("# Team\n\nAnn leads.\n")
    assert counts(ingest(root, str(folder))) == (2, 0, 0)
    assert ingest(root, str(folder))["unchanged"] == 2
    (folder / "news.md").write_text("# News\n\nNone yet.\n")
    answer = ingest(root, "--update")
    assert (counts(answer), answer["unchanged"]) == ((1, 0, 0), 2)
    plan.write_text("# Plan\n\nThe launch is in June, and no earlier.\n")
    answer = ingest(root, "--update")
    assert (counts(answer), answer["unchanged"]) == ((0, 0, 1), 2)
    text = team.read_text()
    team.unlink()
    assert ingest(root, "--update")["unchanged"] == 2
    assert len([*read_tree(root)]) == 3  # what was deleted outside stays until its source is forgotten
    team.write_text(text)
    assert counts(ingest(root, "--update")) == (0, 1, 0)
    assert len([*read_tree(root)]) == 3
    assert is_in_order(root)
    folder.rename(tmp_path / "elsewhere")
    gone = ingest(root, "--update", status=3)
    assert [item["reason"] for item in gone["skipped"]] == ["not_found"]
    assert call(root, "tree", "forget", "notes", "--yes").status == 0
    (tmp_path / "elsewhere").rename(folder)
    assert counts(ingest(root, str(folder))) == (3, 0, 0)
    assert is_in_order(root)


@pytest.mark.parametrize("words", [("missing.mbox",), ("--update", "x.mbox"), ()])
def test_what_cannot_be_ingested_is_an_error(root: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """A path that is not there, or a command that names nothing, is an error on standard error, and makes no source."""
    outcome = call(root, "ingest", *words)
    assert outcome.status not in (0, 3)
    assert outcome.error()["code"] in ("not_found", "invalid_field", "usage")
    assert not (root / "tree").exists()


# Copies


def cut_mail(sender: str, text: str, *, is_whole: bool) -> str:
    """Return a mail of two parts that ends with its last boundary, or before it."""
    head = f"From: {sender}\nSubject: Minutes\nDate: 2 Nov 2026 09:00:00 +0100\nMessage-ID: <m@x>\n"
    end = "\n--b--\n" if is_whole else "\n"
    return f"From - Mon Nov  2 09:00:00 2026\n{head}Content-Type: multipart/mixed; boundary=b\n\n--b\n\n{text}{end}\n"


WHOLE, CUT = (
    cut_mail("ann@example.org", text, is_whole=is_whole)
    for text, is_whole in (("First.\n\nLast.", True), ("First.", False))
)


@pytest.mark.parametrize("steps", [
    [("a", WHOLE + CUT)], [("a", CUT + WHOLE)], [("a", CUT), ("a", WHOLE)], [("a", WHOLE), ("a", CUT)],
    [("a", CUT), ("b", WHOLE)], [("a", WHOLE), ("b", CUT)], [("a", CUT), ("b", WHOLE), ("a", CUT), ("b", WHOLE)],
])  # fmt: skip
def test_a_whole_copy_counts_whatever_comes_first(root: Path, tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    """Of a whole and a cut copy of a mail the whole one is kept, in one file, in one source or in two, in any order."""
    for number, (source, data) in enumerate(steps):
        path = tmp_path / f"{number}.mbox"
        path.write_text(data)
        ingest(root, str(path), "--name", source)
    [entry] = read_tree(root)
    assert entry.text == "First.\n\nLast."
    assert is_in_order(root)


def long_text(word: str, number: int = 3_000) -> str:
    """Return a text of several parts."""
    return "\n\n".join(f"{word} number {at} is counted in the store room." for at in range(number))


@pytest.mark.parametrize("end", ["The end.", "Another end.", ""])
def test_a_long_message_is_edited(root: Path, tmp_path: Path, end: str) -> None:
    """A message of many parts in several files is edited at its end, or made short: its new text is there, whole and in
    order, nothing of the old one is, and the message behind it stays."""
    folder = write_slack(tmp_path / "export")
    day = folder / "general" / "2026-11-02.json"
    first, second = json.loads(day.read_text())
    for text in (f"{long_text('Box')}\n\nThe end.", f"{long_text('Box')}\n\n{end}" if end else "Nothing."):
        day.write_text(json.dumps([{**first, "text": text}, second]))
        answer = ingest(root, str(folder))
    assert answer["replaced"] == (end != "The end.")
    parts = sorted(
        (int(dict(entry.extra).get("part", "1")), entry.text) for entry in read_tree(root) if entry.author == "Ann Lee"
    )
    assert [text for _, text in parts] == split_text(text.strip())
    assert [number for number, _ in parts] == [*range(1, len(parts) + 1)]
    assert [entry.text for entry in read_tree(root) if entry.author == "Bob Roe"] == ["Fine, I will freeze the branch."]
    assert is_in_order(root)


def test_a_long_message_moves_whole(root: Path, tmp_path: Path) -> None:
    """When a source is forgotten, a message of many parts in several files moves to the one other that has it, with all
    of its parts; a third source that has it too lists it."""
    message = (*MESSAGES[0][:6], long_text("Crate"))
    for name in ("a", "b", "c"):
        ingest(root, str(write_mbox(tmp_path / f"{name}.mbox", (message, MESSAGES[3]))))
    before = sorted(entry.text for entry in read_tree(root))
    assert len({path.name for path in (root / "tree" / "a" / "2026-11").glob("*-p*.md")}) > 0
    answer = call(root, "tree", "forget", "a", "--yes").answer()
    assert (answer["units"], answer["moved"]) == (0, len(before))
    assert sorted(entry.text for entry in read_tree(root)) == before
    assert call(root, "tree", "forget", "b", "--yes").answer()["moved"] == len(before)
    assert sorted(entry.text for entry in read_tree(root)) == before
    assert is_in_order(root)
    assert call(root, "tree", "forget", "c", "--yes").answer()["units"] == len(before)
    assert [*read_tree(root)] == []
    assert "/index.md)" not in (root / "tree" / "index.md").read_text()
