"""Killed at any point and run again, `tree settle` leaves what it leaves when it is not killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.tree import digests, seal, topics
from commonplace.verbs.tree_opening import open_tree
from tests.depth import depths
from tests.tree import crash_points
from tests.tree.crash_points import (
    Place,
    Recorder,
    check_index,
    make_place,
    old_versions,
    open_place,
    record,
    run,
    tree_files,
)
from tests.tree.settle_checks import check_rows, count_sealed, find_faults, node_rows
from tests.tree.settle_scenes import LATER, SCENES, make_scenes, settle

QUICK = ("first", "deletion", "revival")  # the scenes of `make test`
POINTS = {name: depths(2, 4, None)[name not in QUICK :] for name in SCENES}
"""How many points of each scene are tried in `make test` and `make deep`; every one in the long form."""
LEAST = {
    "first": 500, "growth": 100, "deletion": 300, "documents": 60, "forgotten": 250, "years": 650, "topics": 250,
    "dormancy": 50, "revival": 110,
}  # fmt: skip
"""At how many points each scene can be killed, at least."""
SEALED = {
    "first": (35, 35), "growth": (35, 35), "deletion": (21, 21), "documents": (12, 12), "forgotten": (20, 20),
    "years": (20, 20), "topics": (6, 4), "dormancy": (6, 6), "revival": (6, 3),
}  # fmt: skip
"""How many leaves there are in the end, and how many of them a summary has."""


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several levels, and several units of work for each, of a small source."""
    monkeypatch.setattr(seal, "MOST_CHILDREN", 4)
    monkeypatch.setattr(seal, "_SEALED", 3)
    monkeypatch.setattr(seal, "_DIVIDED", 8)
    monkeypatch.setattr(digests, "_WRITTEN", 9)
    monkeypatch.setattr(topics, "_WRITTEN", 1)
    monkeypatch.setattr(topics, "_MARKED", 40)


def record_scene(
    name: str, folder: Path, points: int | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[Place, Recorder]:
    """Do what comes before in a scene, then settle; return the place, and what kills would leave."""
    scene = make_scenes(folder)[name]
    place = make_place(folder / "databases")
    for command in scene.before:
        run(place, command)
    if name == "dormancy":
        monkeypatch.setattr(crash_points, "NOW", LATER)
    return place, record(place, scene.command, folder / "kept", 1 if points is None else LEAST[name] // points - 1)


def read_rows(place: Place) -> list[str]:
    """Return what the index says of nodes, topics and days; fail unless that is what the files say."""
    with open_place(place) as context:
        tree = open_tree(context)
        check_rows(tree, tree_files(place))
        return node_rows(tree)


def differences(found: dict[str, bytes], wanted: dict[str, bytes]) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Return the files that differ, with what they are and what they should be."""
    paths = sorted(found.keys() | wanted.keys())
    return {path: (found.get(path), wanted.get(path)) for path in paths if found.get(path) != wanted.get(path)}


@pytest.mark.parametrize(
    ("name", "points"),
    [
        pytest.param(name, *one.values, id=f"{name}-{one.id}", marks=one.marks)
        for name, points in POINTS.items()
        for one in points
    ],
)
def test_a_killed_settle_is_run_again(
    tmp_path: Path, name: str, points: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before any call of the disk or around any commit, and run again: the same summaries, topics and digests
    with the same bytes, every leaf below one summary at most, and an index that is the one of these files; once more
    changes nothing, also with an index that is built anew."""
    place, found = record_scene(name, tmp_path, points, monkeypatch)
    wanted, versions, rows = tree_files(place), old_versions(place), read_rows(place)
    assert (find_faults(wanted), count_sealed(wanted)) == ([], SEALED[name])
    assert found.number >= max(50, LEAST[name]), found.points
    assert len(found.snapshots) == found.number if points is None else len(found.snapshots) >= points
    for snapshot in found.snapshots:
        left, where = snapshot.place, f"{name}: killed at {snapshot.number}, {snapshot.what}"
        run(left, settle)
        assert differences(tree_files(left), wanted) == {}, where
        assert old_versions(left) == versions, where
        assert read_rows(left) == rows, where
        run(left, settle)
        assert differences(tree_files(left), wanted) == {}, where
        check_index(left)  # which builds it anew
        run(left, settle)
        assert differences(tree_files(left), wanted) == {}, where
        assert read_rows(left) == rows, where
