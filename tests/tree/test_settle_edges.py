"""What people, clocks and other programs do to a tree: `tree settle` ends, and what it leaves is right."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from commonplace import Book
from commonplace.model.errors import NotFound
from commonplace.tree.digests import DigestPages
from commonplace.tree.seal import Sealer
from commonplace.tree.settle import settle
from commonplace.tree.topics import TopicPages
from commonplace.vault.paths import KEEPER, resolve
from commonplace.vault.port import ANY, Write
from commonplace.verbs import tree_sources
from commonplace.verbs.context import BookContext
from commonplace.verbs.tree_opening import open_tree
from tests.depth import first_quick
from tests.tree import crash_points
from tests.tree.conftest import write_slack
from tests.tree.crash_points import Command, make_place, open_place, run, tree_files
from tests.tree.settle_checks import check_rows, count_sealed, find_faults, node_rows, read_nodes
from tests.tree.settle_scenes import bring_in, dated_mail, thread_mails, topic_mails
from tests.tree.settle_scenes import settle as settle_command

SPRING = [f"2026-03-{day:02}" for day in (2, 9, 16, 23)]


def write_mails(folder: Path, mails: list[str], name: str = "mail") -> str:
    """Write an mbox; return its path."""
    path = folder / f"{name}.mbox"
    path.write_text("".join(mails), encoding="utf-8")
    return str(path)


def old_threads(number: int = 12) -> list[str]:
    """Return mails of so many threads of September."""
    return thread_mails(0, number, lambda at: f"2026-09-{at % 27 + 1:02}")


def files_of(root: Path) -> dict[str, bytes]:
    """Return every file below tree/ with its bytes."""
    return {f"/{path.relative_to(root)}": path.read_bytes() for path in (root / "tree").rglob("*") if path.is_file()}


def topics_of(files: dict[str, bytes]) -> list[str]:
    """Return the names of the pages of topics."""
    names = [path.rpartition("/")[2] for path in files if path.startswith("/tree/topic/")]
    return sorted(name for name in names if name != "index.md")


def settle_and_check(root: Path) -> dict[str, bytes]:
    """Settle a tree; return its files, and fail unless they are right, the index agrees, and nothing is left to do."""
    with Book.open(root) as book:
        assert book.tree_settle().pending == 0
        files = files_of(root)
        assert find_faults(files) == []
        check_rows(open_tree(book.context), files)
        assert book.tree_settle() == (0, 0, 0, 0)
        assert book.verify().ok
    assert files_of(root) == files
    return files


def drop_databases(root: Path) -> None:
    """Delete the index of the tree."""
    for path in root.rglob("tree.db*"):
        path.unlink()


def put_in_place(path: Path, text: str) -> None:
    """Replace a file as editors do."""
    other = path.with_name("other")
    other.write_text(text)
    other.replace(path)


def unit_files(root: Path) -> list[Path]:
    """Return the files of the messages of the source `mail`."""
    return sorted(path for path in (root / "tree" / "mail").glob("20*/*.md") if path.name != "index.md")


def test_who_is_new_follows_from_the_messages_that_are_left(root: Path, tmp_path: Path) -> None:
    """Who was only written to before is new once that message is gone, and is not any more when it is back; as in an
    index that is built anew."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, [dated_mail(0, "Who orders the parts?", "2026-09-01")], "first"))
        book.ingest(write_mails(tmp_path, [dated_mail(1, "The rack is warm.", "2026-09-20")]))
    page = root / "tree" / "digest" / "2026" / "2026-09-20.md"
    assert "New people" not in page.read_text()
    there, away = root / "tree" / "first" / "2026-09", tmp_path / "away"
    for source, target in ((there, away), (away, there)):
        shutil.move(source, target)
        files = settle_and_check(root)
        assert ("New people: Bob Roe." in page.read_text()) == (target == away)
        drop_databases(root)
        assert settle_and_check(root) == files


def test_a_question_that_was_answered_later_is_open_no_longer(root: Path, tmp_path: Path) -> None:
    """The pages of a day and week leave out a question once the user answers it weeks later, and have it again when the
    answer is gone; so does an index that is built anew."""
    question = dated_mail(0, "Bob, who orders the parts?", "2026-09-01")
    answer = dated_mail(1, "I do, on Monday.", "2026-09-22", answers="n0")
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, [question], "mail"), me=["bob@example.org"])
    pages = [root / "tree" / "digest" / "2026" / f"{name}.md" for name in ("2026-09-01", "2026-W36", "2026-09")]
    assert ["Questions to you" in page.read_text() for page in pages] == [True] * 3
    [file] = unit_files(root)
    asked = file.read_text()
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, [question, answer]), me=["bob@example.org"])
    assert ["Questions to you" in page.read_text() for page in pages] == [False] * 3
    files = settle_and_check(root)
    drop_databases(root)
    assert settle_and_check(root) == files
    put_in_place(file, asked)
    settle_and_check(root)
    assert ["Questions to you" in page.read_text() for page in pages] == [True] * 3


def test_the_pages_follow_who_the_user_is(root: Path, tmp_path: Path) -> None:
    """Once the user is said to be somebody else in a source, questions to that name are questions to them: at once for
    whoever asks, and on the page with the next settle."""
    mails = write_mails(tmp_path, [dated_mail(0, "Bob, who orders the parts?", "2026-09-01")])
    with Book.open(root) as book:
        book.ingest(mails, me=["ann@example.com"])
        assert "Questions to you" not in book.digest(date="2026-09-01").text
        book.ingest(write_mails(tmp_path, old_threads(1), "other"), me=["cleo@example.com"])
    page, source = root / "tree" / "digest" / "2026" / "2026-09-01.md", root / "tree" / "mail" / "_source.md"
    source.write_text(source.read_text().replace("ann@example.com", "bob@example.org, Bob Roe"))
    with Book.open(root) as book:
        assert "Questions to you" in book.digest(date="2026-09-01").text
        book.tree_settle()
    assert "Questions to you" in page.read_text()
    files = settle_and_check(root)
    drop_databases(root)
    assert settle_and_check(root) == files


@pytest.mark.parametrize("pages", [DigestPages, TopicPages])
def test_an_edit_that_is_seen_while_pages_are_written_is_not_lost(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: Any
) -> None:
    """Another process sees an edit of a message while the pages of its day and topics are written, when its mark is
    there already: the pages say the edit in the end, as with an index that is built anew."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(0, "OPS-7", SPRING)))
    file, write, edits = unit_files(root)[0], pages._write, list[int]()

    def write_meanwhile(*arguments: object) -> None:
        if not edits:
            edits.append(1)
            put_in_place(file, file.read_text().replace("answer number", "reply number"))
            with Book.open(root) as other:
                open_tree(other.context).freshen()
        write(*arguments)

    put_in_place(file, file.read_text().replace("waits for", "still waits for"))
    monkeypatch.setattr(pages, "_write", write_meanwhile)
    files = settle_and_check(root)
    assert edits and any(b"reply number" in data for path, data in files.items() if "/digest/" in path)
    drop_databases(root)
    assert settle_and_check(root) == files


# Topics


def test_the_topics_of_a_forgotten_source_go(root: Path, tmp_path: Path) -> None:
    """Once the only source that names something is forgotten, no page below tree/ names it, though a topic did."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(100, "OPS-12", SPRING), "ops"))
        book.ingest(write_mails(tmp_path, old_threads()))
        assert [topic.entity_id for topic in book.tree_topics()].count("ticket:OPS-12") == 1
        book.tree_forget("ops")
    files = settle_and_check(root)
    assert [path for path, data in files.items() if b"OPS-12" in data] == []


@pytest.mark.parametrize("is_index_lost", [False, True])
def test_nothing_is_left_of_the_last_source(root: Path, tmp_path: Path, *, is_index_lost: bool) -> None:
    """The last source is forgotten by a process that is killed before it settles: the pages made of it go with the next
    settle, also if the index is gone."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(100, "OPS-12", SPRING)))
        with patch.object(tree_sources, "settle_tree"):
            book.tree_forget("mail")
    assert any(b"OPS-12" in data for data in files_of(root).values())
    if is_index_lost:
        drop_databases(root)
    files = settle_and_check(root)
    assert [path for path, data in files.items() if b"OPS-12" in data or "-W" in path] == []


def test_a_topic_that_turns_out_to_be_the_user_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is said to be the user is a topic no longer, also when nothing was heard of them for ninety days."""
    place = make_place(tmp_path / "databases")
    autumn = [f"2026-11-{day:02}" for day in (2, 5, 9, 12)]
    run(place, bring_in(Path(write_mails(tmp_path, topic_mails(100, "OPS-12", autumn)))))
    run(place, settle_command)
    assert topics_of(tree_files(place)) == ["bob-roe-793ef7530d.md", "ops-12-548c5b5858.md"]

    def name_user(context: BookContext) -> None:
        tree = open_tree(context)
        tree.save_source(tree.source("mail")._replace(me=("bob@example.org",)))

    run(place, name_user)
    monkeypatch.setattr(crash_points, "NOW", "2027-11-15T12:00:00Z")
    run(place, settle_command)
    assert topics_of(tree_files(place)) == ["ops-12-548c5b5858.md"]


def test_merged_things_are_one_topic(root: Path, tmp_path: Path) -> None:
    """Two topics that a person says are one have one page, with the messages of both; taken back, they have two again.
    An index that is built anew changes none of them."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(100, "OPS-12", SPRING) + topic_mails(200, "OPS-77", SPRING)))
    assert topics_of(settle_and_check(root))[1:] == ["ops-12-548c5b5858.md", "ops-77-035aa65835.md"]
    with Book.open(root) as book:
        book.merge_entities("ticket:OPS-12", "ticket:OPS-77")
    files = settle_and_check(root)
    assert topics_of(files)[1:] == ["ops-12-548c5b5858.md"]
    assert b"units: 24" in files["/tree/topic/ops-12-548c5b5858.md"]
    drop_databases(root)
    assert settle_and_check(root) == files
    with Book.open(root) as book:
        book.undo_merge("ticket:OPS-77")
    files = settle_and_check(root)
    assert b"units: 12" in files["/tree/topic/ops-12-548c5b5858.md"]
    assert b"units: 12" in files["/tree/topic/ops-77-035aa65835.md"]
    drop_databases(root)
    assert settle_and_check(root) == files


# Files that somebody changes


def test_a_change_that_is_taken_back_is_settled(tmp_path: Path) -> None:
    """A message is edited, a settle is killed when it has seen that, and the edit is taken back: the next settle ends,
    with the summaries of before."""
    place = make_place(tmp_path / "databases")
    run(place, bring_in(Path(write_mails(tmp_path, old_threads()))))
    run(place, settle_command)
    wanted = tree_files(place)
    path = next(path for path in wanted if "/2026-09/" in path and "index" not in path)

    def write(data: bytes) -> Command:
        def change(context: BookContext) -> None:
            context.memories.vault.apply(context.memories.space, KEEPER, [Write(resolve(path), data, ANY)])
            open_tree(context).memories.reconcile(resolve("/tree/mail"))

        return change

    def see(context: BookContext) -> None:
        tree = open_tree(context)
        with tree.lock():
            Sealer(tree).divide()
        with tree.reading() as index:
            assert index.count_in_states() == 1

    for command in (write(wanted[path].replace(b"warm", b"cold")), see, write(wanted[path]), settle_command):
        run(place, command)
    assert tree_files(place) == wanted
    with open_place(place) as context:
        check_rows(open_tree(context), wanted)


_EDITS: dict[str, Callable[[bytes], bytes]] = {
    "another word": lambda data: data.replace(b"decided", b"refused"),
    "another unit": lambda data: re.sub(rb"\[u-[0-9a-f]{20}\]", b"[u-00000000000000000000]", data, count=1),
    "a sentence more": lambda data: data.rstrip() + b"\n- Nobody said this. [u-00000000000000000000]\n",
    "a text below": lambda data: data + b"\nMy own words.\n",
    "an entry more": lambda data: data + b"\n## 2026-11-01T00:00:00Z\nMy own words.\n",
    "other words in its head": lambda data: data.replace(b"model: extract", b"model: extract\nmine: My own words"),
    "other children": lambda data: data.replace(b"children: [", b"children: [x"),
    "a conflict": lambda data: b"<<<<<<< ours\n" + data + b"=======\nMine.\n>>>>>>> theirs\n",
    "nothing": lambda _: b"",
    "no text": lambda _: b"\xff\xfe\x00\x01",
}
_HARD = {"another word", "a text below", "a conflict"}


@pytest.mark.parametrize("level", first_quick([1, 2]))
@pytest.mark.parametrize("edit", first_quick(sorted(_EDITS, key=lambda name: name not in _HARD), len(_HARD)))
def test_a_summary_edited_by_hand_is_made_again(root: Path, tmp_path: Path, edit: str, level: int) -> None:
    """What somebody makes of a summary is replaced by what its messages say, under the same id, and kept as history."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, old_threads()))
    wanted = settle_and_check(root)
    path = sorted((root / "tree" / "mail" / "summary").glob(f"L{level}-*.md"))[0]
    edited = _EDITS[edit](path.read_bytes())
    assert edited != path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(edited)
    other.replace(path)  # as editors do
    with Book.open(root) as book:
        book.reindex()
    files = settle_and_check(root)
    if edit != "other words in its head":  # which no reader is told
        assert files == wanted
        kept = (root / ".commonplace" / "history" / "tree" / "mail").rglob("*")
        assert edited in [found.read_bytes() for found in kept if found.is_file()]


def test_the_summaries_of_a_copied_or_moved_file_stay(root: Path, tmp_path: Path) -> None:
    """Messages keep their summaries when their file is moved or copied, and when either of the two is deleted."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, old_threads(35)))
    wanted = {path: data for path, data in settle_and_check(root).items() if "/summary/" in path}
    first, second, third, fourth = unit_files(root)[:4]
    first.rename(first.with_name("moved.md"))
    (root / "tree" / "mail" / "2026-10").mkdir()
    second.rename(root / "tree" / "mail" / "2026-10" / second.name)
    settle_and_check(root)
    copies = [third.with_name("zz-copy.md"), fourth.with_name("aa-copy.md")]
    for path, copy in zip((third, fourth), copies, strict=True):
        shutil.copy(path, copy)
    with Book.open(root) as book:
        book.tree_settle()
        assert len(read_nodes(files_of(root)).doubled) == 2
    copies[0].unlink()
    fourth.unlink()
    files = settle_and_check(root)
    assert {path: data for path, data in files.items() if "/summary/" in path} == wanted
    assert count_sealed(files) == (35, 35)


def test_an_edited_message_keeps_its_leaf(root: Path, tmp_path: Path) -> None:
    """The first message of a day in a channel is edited: the leaf has the same id and the messages in their order, as
    has the summary above it, which says the new text."""
    chat = write_slack(tmp_path / "chat")
    with Book.open(root) as book:
        book.ingest(str(chat))
    before = read_nodes(settle_and_check(root))
    day = chat / "general" / "2026-11-02.json"
    day.write_text(day.read_text().replace("Thursday", "Monday"))
    with Book.open(root) as book:
        assert book.ingest(str(chat)).sources[0].replaced == 1
        [leaf] = before.leaves
        [hit] = book.fetch_leaves([leaf]).hits
        assert hit.text.index("Monday") < hit.text.index("freeze")
    after = read_nodes(settle_and_check(root))
    assert (after.leaves, [*after.summaries]) == (before.leaves, [*before.summaries])
    assert ["Monday" in node.text for node in after.summaries.values()] == [True]


def test_a_file_that_somebody_wrote_is_no_obstacle(root: Path, tmp_path: Path) -> None:
    """Notes without dates, ids or attributes, and one with an id and nothing else, leave the tree what it was."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(100, "OPS-12", SPRING)))
    folder = root / "tree" / "mail" / "2026-03"
    (folder / "own.md").write_text("# My own note\n\nOPS-12 is late. Ann Lee said so.\n")
    entry = "## 2026-03-04T00:00:00Z\n<!-- entry id=u-00000000000000000001 -->\nAll wait for OPS-12.\n"
    (folder / "unit.md").write_text(f"# A unit\n\n{entry}")
    (folder / "empty.md").write_text("")
    (root / "tree" / "topic" / "own.md").write_text("# My own page\n\nOPS-12\n")
    (root / "tree" / "mail" / "summary" / "own.md").parent.mkdir(exist_ok=True)
    (root / "tree" / "mail" / "summary" / "own.md").write_text("# My own summary\n")
    with Book.open(root) as book:
        book.tree_settle()
        assert book.tree_settle() == (0, 0, 0, 0)
        assert [topic.units for topic in book.tree_topics() if topic.entity_id == "ticket:OPS-12"] == [13]
        assert book.verify().ok
    for name in ("2026-03/own", "2026-03/unit", "summary/own"):
        assert (root / "tree" / "mail" / f"{name}.md").exists()
    assert (root / "tree" / "topic" / "own.md").read_text().endswith("# My own page\n\nOPS-12\n")


# Times


@pytest.mark.parametrize(
    ("zone", "moments"),
    [
        ("UTC", ("soon", "99999-01-01T00:00:00Z", "2026-11-15T09:30:00+05:30")),
        ("Asia/Kolkata", ("9999-12-31T23:30:00Z", "2026-02-31T25:61:00Z")),
        ("America/St_Johns", ("0001-01-01T00:30:00Z", "2026-11-15")),
    ],
)
def test_an_impossible_time_stops_nothing(
    root: Path, tmp_path: Path, zone: str, moments: tuple[str, ...], set_zone: Callable[[str], None]
) -> None:
    """Messages of times that no calendar here has, as another program may write them, are sealed with the others, and
    in the digest of a day or of none."""
    set_zone(zone)
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, topic_mails(100, "OPS-12", SPRING)))
    for path, moment in zip(unit_files(root), moments, strict=False):
        path.write_text(re.sub(r"occurred=\S+", f"occurred={moment}", path.read_text()))
    with Book.open(root) as book:
        book.reindex()
    settle_and_check(root)


# How much is left


def test_pending_counts_what_can_be_sealed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settle that has no more time says that there is something left to do, until nothing is; so does the status."""
    monkeypatch.setattr("commonplace.tree.seal._SEALED", 1)
    place = make_place(tmp_path / "databases")
    run(place, bring_in(Path(write_mails(tmp_path, old_threads(35)))))
    with open_place(place) as context:
        tree = open_tree(context)
        tree.freshen()
        done = []
        for _ in range(40):
            moments = chain((0.0, 0.0), repeat(9.0))
            with patch("time.monotonic", lambda: next(moments)):  # noqa: B023
                done.append(settle(tree, 1))
            if done[-1].pending == 0:
                break
        assert sum(counts.sealed for counts in done) == 5 and len(done) < 40
        assert settle(tree) == (0, 0, 0, 0)
        assert count_sealed(tree_files(place)) == (35, 35)
        assert [row for row in node_rows(tree) if row.startswith("('marked'")] == []


# Ids

_NO_NODES = (
    "digest-0001-01-01..9999-12-31", "digest-2016-01-01..2026-01-09", "digest-2026-09-02..2026-09-01", "digest-",
    "digest-99999999999999999999-W1", "digest-2026-W54", "digest-2026-13", "digest-0000", "digest-..", "digest-2031",
    "topic-", "L1-", "L0-00000000000000000000", "L1-00000000000000000000", "leaf-", "u-", "", " ", "\x00", "u-%", "*",
    "digest-2026-09-02\n", "../x", "leaf-00000000000000000000", "\u00fc" * 400,
)  # fmt: skip


def test_an_unknown_node_is_named(root: Path, tmp_path: Path) -> None:
    """Whatever is asked for that is no node, or more days than a window has, is told at once to be none."""
    with Book.open(root) as book:
        book.ingest(write_mails(tmp_path, [dated_mail(1, "The rack is warm.", "2026-09-02")]))
        for ident in _NO_NODES:
            with pytest.raises(NotFound, match="There is no node"):
                book.drill_down(ident)
