"""One scope is merged into another: what the power takes, and what any mix of keys, pasts and names becomes."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from commonplace.memories import lifecycle
from commonplace.memories.store import MemoryStore
from commonplace.memories.upkeep import is_empty, plan_merge, reverse_plan, run_plan
from commonplace.model.memory import Entry, Trust
from commonplace.vault.paths import EVERYTHING, BookPath
from tests.crash.ops import open_keep
from tests.crash.simdisk import Left, PowerCut, SimDisk
from tests.depth import examples
from tests.memories.reading import page_faults

SOURCE, TARGET = (BookPath("memories", "project", name) for name in ("source-1", "target-2"))
_TOPS = ("/memories/project/", "/.commonplace/history/", "/.commonplace/trash/")


def change(keep: MemoryStore, folder: BookPath, key: str, action: str, text: str) -> None:
    with keep.unit(folder, EVERYTHING) as unit:
        if action == "forget":
            if unit.find(key) is not None:
                lifecycle.forget(unit, key, None)
        elif action == "replace" and unit.find(key) is not None:
            lifecycle.rewrite(unit, key, [Entry("", text, trust=Trust.AGENT)], lifecycle.Labels(), None)
        else:
            lifecycle.store(unit, key, Entry("", text, trust=Trust.AGENT), lifecycle.Labels())
        unit.commit()


def notes(disk: SimDisk) -> dict[str, bytes]:
    """Every note and every old text of both scopes, by path."""
    files = disk.files().items()
    return {path: data for path, data in files if path.startswith(_TOPS) and b"<!-- entry " in data}


def texts(disk: SimDisk) -> Counter[bytes]:
    """The same, whatever they are called."""
    return Counter(notes(disk).values())


def filled(*changes: tuple[BookPath, str, str]) -> SimDisk:
    disk = SimDisk()
    keep = open_keep(disk)
    for number, (folder, key, action) in enumerate(changes):
        change(keep, folder, key, action, f"Fact number {number}.")
    return disk


def test_cut_off_at_any_call_nothing_is_lost() -> None:
    """At every call, whatever the disk forgets: each text is in one place or in both, the same plan finishes the merge,
    and what was answered is done, with good pages."""
    both = [(folder, "rule", "store") for folder in (SOURCE, TARGET)]
    start = filled(*both, (SOURCE, "rule", "replace"), (SOURCE, "deep/old", "store"), (SOURCE, "deep/old", "forget"))
    plan = plan_merge(open_keep(start), SOURCE, TARGET)
    whole = texts(start)
    for point in itertools.count(1):
        disk = start.copy()
        disk.calls, disk.fail_at = 0, point
        answered = True
        try:
            run_plan(open_keep(disk), SOURCE, TARGET, plan)
        except PowerCut:
            answered = False
        for left in Left:
            state = disk.after_power_cut(point * 31, left)
            assert set(texts(state)) == set(whole), point
            mended = open_keep(state)
            assert not answered or is_empty(mended, SOURCE)
            run_plan(mended, SOURCE, TARGET, plan)
            assert texts(state) == whole
            assert is_empty(mended, SOURCE)
            assert page_faults(mended, TARGET) == page_faults(mended, SOURCE) == []
        if answered:
            break
    assert point > 30


actions = st.tuples(
    st.sampled_from([SOURCE, TARGET]),
    st.sampled_from(["rule", "rule-2", "deep/rule", "deep"]),
    st.sampled_from(["store", "store", "replace", "forget"]),
)


@given(changes=st.lists(actions, max_size=12))
@examples(60, quick=15)
def test_any_two_scopes(changes: list[tuple[BookPath, str, str]]) -> None:
    """Whatever two scopes have, a merge keeps every text once, no key takes another's past, and the way back restores
    every file."""
    disk = filled(*changes)
    keep = open_keep(disk)
    before = notes(disk)
    plan = plan_merge(keep, SOURCE, TARGET)
    assert len({to for _, to in plan.moves} - set(before)) == len(plan.moves)
    run_plan(keep, SOURCE, TARGET, plan)
    assert is_empty(keep, SOURCE)
    assert texts(disk) == Counter(before.values())
    run_plan(keep, TARGET, SOURCE, reverse_plan(plan))
    assert notes(disk) == before
    assert page_faults(keep, TARGET) == page_faults(keep, SOURCE) == []
