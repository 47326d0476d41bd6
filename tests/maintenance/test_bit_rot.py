"""Damage that the disk does to a note is named until a person settles it, whatever is written and rebuilt meanwhile."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from commonplace import Book
from tests.cli.calls import run
from tests.depth import examples
from tests.maintenance.doctor_cases import codes, flip

FACT = "The gate opens at nine."
NOTE = "memories/global/gate.md"


def _open(root: Path) -> Book:
    return Book.open(root)


def _store(root: Path, text: str = FACT, key: str = "gate") -> None:
    with _open(root) as book:
        book.store(text, key=key, scope="global")


def _rot(root: Path) -> None:
    """Flip a bit in the text of the note, as a bad disk does it."""
    path = root / NOTE
    flip(path, path.read_bytes().rindex(b"gate opens") + 2)


def _lose_index(root: Path) -> None:
    for path in (root / ".commonplace").glob("index.db*"):
        path.unlink()


def _append(root: Path) -> None:
    _store(root, "It closes at six.")


def _relabel(root: Path) -> None:
    with _open(root) as book:
        book.store("It has two wings.", key="gate", scope="global", tags=["door"])


def _reindex(root: Path) -> None:
    with _open(root) as book:
        book.reindex()


def _upkeep(root: Path) -> None:
    with _open(root) as book:
        book.retire()


def _recall(root: Path) -> None:
    with _open(root) as book:
        book.recall("gate")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "book"
    _store(place)
    return place


@pytest.mark.parametrize(
    "steps",
    [
        (_append,), (_relabel, _append), (_reindex, _append), (_lose_index, _append), (_lose_index, _recall, _append),
        (_upkeep, _append, _upkeep), (_append, _lose_index, _recall),
        (_lose_index, _upkeep, _append, _lose_index, _append),
    ],
    ids=lambda steps: "-".join(step.__name__.strip("_") for step in steps),
)  # fmt: skip
def test_nothing_launders_damage(root: Path, steps: tuple[Callable[[Path], None], ...]) -> None:
    """An append, labels, a new index, a lost index and the upkeep, in any order, leave the finding as it is."""
    _rot(root)
    for step in steps:
        step(root)
        with _open(root) as book:
            assert [finding.path for finding in book.doctor() if finding.code == "bit_rot"] == [f"/{NOTE}"]


def test_the_answer_of_an_append_tells_it(root: Path) -> None:
    """Whoever adds to a damaged memory is told so; what it said before is in the history, once."""
    _rot(root)
    said = run(
        "store", "It closes at six.", "--key", "gate", "--scope", "global", "--json", "--root", str(root)
    ).answer()
    assert "damaged" in said["notice"]
    (saved,) = (root / ".commonplace/history/global/gate").iterdir()
    assert FACT.encode() in saved.read_bytes() and ".damaged.-." in saved.name
    _store(root, "And opens again at eight.")
    assert len([*saved.parent.iterdir()]) == 1


def test_undo_brings_the_text_back(root: Path) -> None:
    """Undo of the damage leaves the text as it was, and no finding; undo of a later append leaves the finding."""
    _rot(root)
    with _open(root) as book:
        book.store("It closes at six.", key="gate", scope="global")
        book.undo("gate", "global")
        assert "bit_rot" in {finding.code for finding in book.doctor()}
        book.store(FACT, key="gate", scope="global", mode="replace")
    assert codes(root) == set()
    _rot(root)
    with _open(root) as book:
        book.undo("gate", "global")
        assert [entry.text for entry in book.show("gate").entries] == [FACT] and book.doctor() == []


@pytest.mark.parametrize("with_index", [True, False])
def test_an_edit_settles_it(root: Path, with_index: bool) -> None:
    """A person who edits a damaged memory settles it, also by saving it as it is."""
    _rot(root)
    if not with_index:
        _lose_index(root)
    with _open(root) as book:
        data, revision = book.source("gate", "global")
        assert book.edit("gate", data, "global", if_revision=revision).action == "edited"
        assert (
            book.doctor() == [] and book.edit("gate", book.source("gate", "global")[0], "global").action == "unchanged"
        )
    _lose_index(root)
    assert codes(root) == set()


def test_an_edit_outside_is_no_damage(root: Path) -> None:
    """A changed text with a changed time is a person's, with and without the index, and is recorded by the upkeep."""
    path = root / NOTE
    path.write_bytes(path.read_bytes().replace(b"nine", b"five"))
    _lose_index(root)
    _upkeep(root)
    assert codes(root) == set()
    _rot(root)
    _lose_index(root)
    assert "bit_rot" in codes(root)


def test_a_purge_leaves_no_record(root: Path) -> None:
    """The records of a purged memory go with it, and those of others stay."""
    _store(root, "Something else.", key="other")
    with _open(root) as book:
        book.forget("gate", "global", purge=True)
    text = (root / ".commonplace/revisions/global.txt").read_text("utf-8")
    assert "gate" not in text and "other" in text


def test_the_records_do_not_grow_for_ever(root: Path) -> None:
    """The daily upkeep leaves one record for each note that is there."""
    for number in range(20):
        _store(root, f"Fact number {number}.")
    _store(root, "Another.", key="other")
    (root / "memories/global/other.md").unlink()
    _upkeep(root)
    assert (root / ".commonplace/revisions/global.txt").read_text("utf-8").count("\n") == 1


def test_torn_and_foreign_records_cost_themselves(root: Path) -> None:
    """Half a line, rubbish or a folder in place of the records stops nothing and accuses no note."""
    path = root / ".commonplace/revisions/global.txt"
    path.write_bytes(path.read_bytes()[:-20] + b"\nx\n\xff\xfe 1 2 gate\n\n")
    _append(root)
    assert codes(root) == set()
    shutil.rmtree(path.parent)
    path.mkdir(parents=True)
    _append(root)
    assert "bit_rot" not in codes(root)


class DamageMachine(RuleBasedStateMachine):
    """A memory is written, damaged, read and rebuilt in any order: damage is named exactly while it is not settled."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "book"
        self.damaged = False
        _store(self.root)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(step=st.sampled_from([_append, _relabel, _reindex, _lose_index, _upkeep, _recall]))
    def use(self, step: Callable[[Path], None]) -> None:
        step(self.root)

    @precondition(lambda self: b"gate opens" in (self.root / NOTE).read_bytes())
    @rule()
    def rot(self) -> None:
        _rot(self.root)
        self.damaged = True

    @rule()
    def edit(self) -> None:
        with _open(self.root) as book:
            data, _ = book.source("gate", "global")
            book.edit("gate", data.replace(b"gaue opens", b"gate opens"), "global")
        self.damaged = False

    @rule()
    def replace(self) -> None:
        with _open(self.root) as book:
            book.store(FACT + " Anew.", key="gate", scope="global", mode="replace")
        self.damaged = False

    @rule()
    def check(self) -> None:
        assert ("bit_rot" in codes(self.root)) == self.damaged


TestDamage = DamageMachine.TestCase
TestDamage.settings = examples(60, quick=8, stateful_step_count=12)
