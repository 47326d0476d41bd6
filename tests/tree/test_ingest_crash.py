"""Killed at any point and run again, ingest, merge and forget leave what they leave when they are not killed."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from commonplace.tree import filing, forget, ingest
from tests.crash.simdisk import Left
from tests.depth import depths
from tests.tree.crash_points import (
    check_index,
    make_place,
    old_versions,
    record,
    run,
    tree_files,
    unit_places,
)
from tests.tree.crash_scenes import SCENES, ingest_path, make_scenes

STEPS = depths(97, 13, 1)  # so many points apart in `make test`, but one in each scene; every one in the long form
LEAST = {"first": 50, "newer": 50, "other": 50, "documents": 30, "merge": 6, "forget": 50}


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches, and files in several parts, of a small source."""
    monkeypatch.setattr(ingest, "BATCH", 3)
    monkeypatch.setattr(forget, "BATCH", 3)
    monkeypatch.setattr(filing, "MAX_PART", 2_500)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", SCENES)
def test_a_killed_command_is_run_again(tmp_path: Path, name: str, step: int) -> None:
    """Killed before any call of the disk or around any commit, and run again: the files, the old versions and the index
    are those of a run that was not killed, no unit is there twice, and once more changes nothing."""
    scene = make_scenes(tmp_path)[name]
    place = make_place(tmp_path / "databases")
    for command in scene.before:
        run(place, command)
    step = min(step, LEAST[name])
    found = record(place, scene.command, tmp_path / "kept", step)
    wanted, versions, indexed = tree_files(place), old_versions(place), check_index(place)
    assert found.number >= LEAST[name], found.points
    assert len(found.snapshots) == found.number // step
    for snapshot in found.snapshots:
        left = snapshot.place
        run(left, scene.command)
        where = f"{name}: killed at {snapshot.number}, {snapshot.what}"
        assert sorted(tree_files(left)) == sorted(wanted), where
        assert tree_files(left) == wanted, where
        assert old_versions(left) == versions, where
        assert all(len(places) == 1 for places in unit_places(left).values()), where
        assert check_index(left) == indexed, where
        run(left, scene.command)
        assert tree_files(left) == wanted, where


@pytest.mark.parametrize("step", STEPS)
def test_another_source_comes_after_a_kill(tmp_path: Path, step: int) -> None:
    """After a kill another source is ingested first, which has some of the units too, and then the same one: every unit
    is there, in the files of one source only, and labelled as of its own source."""
    scene = make_scenes(tmp_path)["first"]
    place = make_place(tmp_path / "databases")
    found = record(place, scene.command, tmp_path / "kept", step)
    commands = [ingest_path(tmp_path / f"{name}.mbox") for name in ("archive", "mail")]
    for command in commands:
        run(place, command)
    wanted = set(unit_places(place))
    for snapshot in found.snapshots:
        for command in commands:
            run(snapshot.place, command)
        places, where = unit_places(snapshot.place), f"killed at {snapshot.number}, {snapshot.what}"
        assert set(places) == wanted, where
        assert [ident for ident, known in places.items() if len(known) > 1] == [], where
        check_index(snapshot.place)


@pytest.mark.parametrize("step", depths(149, 31, 3))
@pytest.mark.parametrize("name", SCENES)
def test_a_power_cut_is_made_good(tmp_path: Path, name: str, step: int) -> None:
    """The same where the power fails, and the disk loses some of what was not synced: every unit is there, once; on a
    disk that keeps the order of changes no other one is, such as a section that was taken out."""
    scene = make_scenes(tmp_path)[name]
    place = make_place(tmp_path / "databases")
    for command in scene.before:
        run(place, command)
    found = record(place, scene.command, tmp_path / "kept", min(step, LEAST[name]))
    wanted, texts = set(unit_places(place)), {data for _, data in old_versions(place)}
    for snapshot, left in product(found.snapshots, Left):
        databases = tmp_path / "cut" / f"{snapshot.number}-{left}"
        cut = snapshot.place.after_power_cut(databases, snapshot.number, left)
        run(cut, scene.command)
        places, where = unit_places(cut), f"{name}: {left} power cut at {snapshot.number}, {snapshot.what}"
        assert wanted <= set(places), where
        assert left is Left.SCATTERED or wanted == set(places), where
        assert [ident for ident, known in places.items() if len(known) > 1] == [], where
        assert texts <= {data for _, data in old_versions(cut)}, where
        check_index(cut)
