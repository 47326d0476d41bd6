"""What is made of messages is made again where it is missing, with the same ids and bytes; a person's text stays."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.tree.digests import PERIODS, DigestReader, write_page
from commonplace.tree.periods import period_of
from commonplace.verbs.tree_opening import open_tree
from tests.depth import first_quick
from tests.tree.conftest import write_slack
from tests.tree.settle_checks import check_rows, count_sealed, find_faults, node_rows, read_nodes
from tests.tree.settle_scenes import dated_mail, thread_mails, topic_mails

SPRING = [f"2026-03-{day:02}" for day in (2, 9, 16, 23)]
AUTUMN = [f"2026-10-{day:02}" for day in (5, 12, 19, 26)]
Files = dict[str, bytes]


def files_of(root: Path) -> Files:
    """Return every file below tree/ with its bytes."""
    return {f"/{path.relative_to(root)}": path.read_bytes() for path in (root / "tree").rglob("*") if path.is_file()}


def check(root: Path) -> tuple[Files, list[str]]:
    """Return the files of a tree and what its index says; fail unless both are right and nothing is left to do."""
    with Book.open(root) as book:
        tree = open_tree(book.context)
        files = files_of(root)
        assert find_faults(files) == []
        check_rows(tree, files)
        assert book.tree_settle() == (0, 0, 0, 0)
        assert book.verify().differences == ()
        assert files_of(root) == files
        return files, node_rows(tree)


def settle(root: Path) -> tuple[Files, list[str]]:
    """Settle a tree in a process of its own, as far as it can tell; return what `check` does."""
    with Book.open(root) as book:
        book.tree_settle()
    return check(root)


def differences(found: tuple[Files, list[str]], wanted: tuple[Files, list[str]]) -> list[object]:
    """Return the files that differ, with what they are and what they should be, and the rows of the index that do.

    Left out are the lists of files: of a large folder they lag behind, and `verify` says whether they are right.
    """
    paths = sorted(
        path for path in {*found[0], *wanted[0]} if "/_index/" not in path and not path.endswith("/index.md")
    )
    files = [(path, found[0].get(path), wanted[0].get(path)) for path in paths]
    return [*(item for item in files if item[1] != item[2]), *sorted({*found[1]} ^ {*wanted[1]})]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A book with mail, a chat and documents, with summaries of three levels, topics and digests."""
    folder = tmp_path_factory.mktemp("settled")
    mails = [
        *thread_mails(0, 105, lambda at: f"2026-0{at % 2 + 6}-{at % 9 * 3 + 1:02}"),
        *topic_mails(200, "OPS-12", SPRING), *topic_mails(300, "OPS-77", AUTUMN),
        dated_mail(900, "Who has seen rack 3?", "2026-09-29", answers="n3"),
    ]  # fmt: skip
    (folder / "mail.mbox").write_text("".join(mails))
    (folder / "notes").mkdir()
    for number in range(3):
        text = f"The price of part {number} was agreed on Monday. Who checks it?"
        (folder / "notes" / f"part-{number}.md").write_text(f"# Part {number}\n\n{text}\n")
    with Book.open(folder / "book") as book:
        for source in (folder / "mail.mbox", write_slack(folder / "chat"), folder / "notes"):
            book.ingest(str(source))
    yield folder / "book"


@pytest.fixture
def made(settled: Path, tmp_path: Path) -> Path:
    """A copy of that book."""
    shutil.copytree(settled, tmp_path / "book", symlinks=True)
    return tmp_path / "book"


def test_the_book_has_something_of_everything(made: Path) -> None:
    """The book that these tests take apart has summaries of two levels, topics, and digests of every period."""
    files, _ = check(made)
    assert {node.level for node in read_nodes(files).summaries.values()} == {1, 2, 3}
    assert count_sealed(files)[1] >= 100
    names = {path.rpartition("/")[2] for path in files}
    assert {"ops-12-548c5b5858.md", "2026-03-02.md", "2026-W10.md", "2026-03.md", "2026.md"} <= names


@pytest.mark.parametrize("lost", [("tree.db",), ("state.db",), ("tree.db", "state.db", "index.db")])
def test_without_its_databases_a_book_has_the_same_tree(made: Path, lost: tuple[str, ...]) -> None:
    """Index and state deleted: looking at the tree and settling it changes no byte of a file, and the index says what
    it said before."""
    before = check(made)
    for name in lost:
        found = list(made.rglob(f"{name}*"))
        assert found
        for path in found:
            path.unlink()
    with Book.open(made) as book:
        known = book.tree_status()
        assert (known.sources, known.units) == (3, 105 + 24 + 1 + 2 + 3)
    assert files_of(made) == before[0]
    assert differences(settle(made), before) == []


def test_an_index_that_is_built_anew_writes_no_page(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the days are looked at in many rounds, no page of a longer time is written with some of its days."""
    monkeypatch.setattr("commonplace.tree.digests._MOST_DAYS", 4)
    for database in made.rglob("tree.db*"):
        database.unlink()
    with Book.open(made) as book:
        assert book.tree_settle() == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "lost",
    ["mail/summary", "*/summary", "mail/summary/L2-*.md", "mail/summary/L1-[0-7]*.md", "digest",
     "digest/2026/2026-03-02.md", "digest/2026/2026-W10.md", "digest/2026/2026.md", "topic", "topic/ops-12-*.md"],
)  # fmt: skip
def test_what_was_deleted_is_made_again(made: Path, lost: str) -> None:
    """A page or folder of what is made of messages, deleted by hand, is there again after a settle, byte for byte."""
    before = check(made)
    found = list((made / "tree").glob(lost))
    assert found
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    assert differences(settle(made), before) == []


def test_a_page_answers_what_its_days_say(made: Path) -> None:
    """What is asked of a period is what its days say: from the page where that says it, and not where somebody edited
    it, or a message came since."""
    with Book.open(made) as book:
        tree = open_tree(book.context)
        reader = DigestReader(tree, tree.sources())
        periods = [period_of(kind, day) for kind in PERIODS for day in (date(2026, 3, 2), date(2026, 10, 5))]
        wanted = [write_page(reader.gather(period), period) for period in periods]
        assert [reader.read(period).text for period in periods] == wanted
        page = made / "tree" / "digest" / "2026" / "2026-03-02.md"
        assert reader._find_page(periods[0]) == wanted[0] != ""
        page.write_text(page.read_text().replace("Ann Lee", "Nobody"))
        assert [reader.read(period).text for period in periods] == wanted
        assert reader._find_page(periods[0]) is None


PAGES = ["digest/2026/2026-03-02.md", "digest/2026/2026-W10.md", "digest/2026/2026.md", "topic/ops-12-548c5b5858.md"]


def put_in_place(path: Path, text: str) -> None:
    """Replace a file as editors do."""
    other = path.with_name("other")
    other.write_text(text)
    other.replace(path)


def test_what_was_changed_in_our_part_of_a_page_is_made_again(made: Path) -> None:
    """Other words in what we wrote on a page, or other numbers in its head, are what they were after a settle."""
    before = check(made)
    paths = [made / "tree" / page for page in PAGES]
    for change in (
        lambda text: text.replace("Ann Lee", "Nobody"),
        lambda text: re.sub(r"(messages|units): \d+", r"\1: 7", text),
    ):
        for path in paths:
            put_in_place(path, change(path.read_text()))
        assert differences(settle(made), before) == []


@pytest.mark.parametrize("page", first_quick([PAGES[1], PAGES[3], PAGES[0], PAGES[2]], 2))
def test_a_text_below_a_page_stays(made: Path, tmp_path: Path, page: str) -> None:
    """What a person writes above or below the text of a digest or topic stays when that is made anew, with an index
    that is lost, and when nothing is left that the page tells of."""
    path = made / "tree" / page
    title, _, rest = path.read_text().partition("\n\n")
    edited = tmp_path / "edited"
    edited.write_text(f"{title}\n\nMy words above.\n\n{rest}\n\nMy words below: call Ann.\n")
    edited.replace(path)
    settle(made)
    assert "My words above." in path.read_text() and "call Ann" in path.read_text()
    (tmp_path / "late.mbox").write_text(
        dated_mail(901, "OPS-12 is done.", "2026-03-02", answers="n200", title="Case 200")
    )
    with Book.open(made) as book:
        book.ingest(str(tmp_path / "late.mbox"))
    text = path.read_text()
    assert "My words above." in text and text.endswith("\nMy words below: call Ann.\n")
    assert text.count("<!-- commonplace:") == rest.count("<!-- commonplace:")
    for database in made.rglob("tree.db*"):
        database.unlink()
    settle(made)
    assert path.read_text() == text
    with Book.open(made) as book:
        for source in book.tree_sources():
            book.tree_forget(source.id)
    assert "My words above." in path.read_text() and "call Ann" in path.read_text()
    assert "[u-" not in path.read_text()
