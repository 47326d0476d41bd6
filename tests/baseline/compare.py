"""Compare two records: what behaves otherwise, what is only worded otherwise, and how the figures moved."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.baseline.normal import from_table

SHOWN = 12  # differences that are listed of one item
_GONE = "(not there)"


class Difference(NamedTuple):
    """One value that is not the same in both records."""

    section: str
    item: str
    path: str
    old: object
    new: object

    def line(self) -> str:
        """Return the difference as one line."""
        return f"{self.path or 'value'}: {_show(self.old)} -> {_show(self.new)}"


class Comparison(NamedTuple):
    """All differences between two records, by kind."""

    behaviour: list[Difference]
    wording: list[Difference]
    figures: list[Difference]
    skipped: list[str]  # items that one of the two records does not have, because it was told to leave them out
    sections: dict[str, int]  # how many items of each section were compared

    @property
    def exit_status(self) -> int:
        """0 where the product behaves the same, 1 where it does not."""
        return 1 if self.behaviour else 0


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Return what differs between an older and a newer record."""
    found = Comparison([], [], [], [], {})
    for kind in ("behaviour", "wording", "figures"):
        before, after = old.get(kind, {}), new.get(kind, {})
        for section in dict.fromkeys((*before, *after)):
            sides = before.get(section, {}), after.get(section, {})
            for item in dict.fromkeys((*sides[0], *sides[1])):
                values = [side.get(item, _GONE) for side in sides]
                if None in values or (kind == "figures" and _GONE in values):
                    found.skipped.append(f"{section}: {item}")
                    continue
                if kind == "behaviour":
                    found.sections[section] = found.sections.get(section, 0) + 1
                if kind == "wording" and _GONE in values:
                    continue  # the behaviour already says that it came or went
                differences = [
                    Difference(section, item, *different) for different in _differences(values[0], values[1], ())
                ]
                getattr(found, kind).extend(differences)
    return found


def _differences(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[str, object, object]]:
    """Yield path, old and new value of everything that differs."""
    old, new = from_table(old), from_table(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            before, after = old.get(name, _GONE), new.get(name, _GONE)
            if name == "questions":  # of a recall set: all of them in one string
                before, after = before.split(), after.split()
            yield from _differences(before, after, (*path, name))
        if list(old) != list(new) and set(old) == set(new):
            yield ".".join((*path, "order of the keys")), list(old), list(new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, path)
    elif type(old) is not type(new) or old != new:  # in Python, 1 equals True
        yield ".".join(path), old, new


def _list_differences(old: list[Any], new: list[Any], path: tuple[str, ...]) -> Iterator[tuple[str, object, object]]:
    """Yield what differs in two lists: place by place if they are as long, else what was taken out and put in."""
    if len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, after, (*path, str(place)))
        return
    before, after = [str(item) for item in old], [str(item) for item in new]
    for action, left, left_end, right, right_end in difflib.SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if action != "equal":
            taken, put = old[left:left_end], new[right:right_end]
            yield ".".join((*path, str(left))), taken or _GONE, put or _GONE


def render(found: Comparison, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return a comparison as text: one line for each section, then the differences of each kind."""
    lines = [f"{name}: {value} -> {new['about'].get(name)}" for name, value in old["about"].items()
             if value != new["about"].get(name)]  # fmt: skip
    for section, count in found.sections.items():
        different = {one.item for one in found.behaviour if one.section == section}
        lines.append(f"{section:<10} {f'{len(different)} of {count} items differ' if different else f'same ({count})'}")
    lines += _list("BEHAVIOUR", found.behaviour)
    lines += _recall_lines(old, new)
    lines += _list("wording", found.wording)
    lines += _list("figures (never fail)", found.figures)
    if found.skipped:
        lines += ["", f"not compared, because one record leaves them out: {len(found.skipped)} items"]
        lines += [f"  {item}" for item in found.skipped[:SHOWN]]
    same = "same" if not found.behaviour else "different"
    lines += ["", f"behaviour: {same}; wording: {len(found.wording)} differences"]
    return "\n".join(lines)


def _list(title: str, differences: list[Difference]) -> list[str]:
    """Return the lines for one kind, grouped by item, the first few of each."""
    if not differences:
        return []
    lines = ["", f"{title}: {len(differences)}"]
    by_item: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        by_item.setdefault((one.section, one.item), []).append(one)
    for (section, item), ones in by_item.items():
        lines.append(f"  {section}: {item}")
        lines += [f"    {one.line()}" for one in ones[:SHOWN]]
        if len(ones) > SHOWN:
            lines.append(f"    ... and {len(ones) - SHOWN} more")
    return lines


def _recall_lines(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return for each recall set how many questions found their first right answer earlier, and how many later."""
    before, after = (record["behaviour"].get("recall", {}) for record in (old, new))
    lines = []
    for name, was in before.items():
        now = after.get(name)
        if not was or not now or was == now:
            continue
        questions = list(zip(was["questions"].split(), now["questions"].split(), strict=False))
        pairs = [(_rank(one), _rank(other)) for one, other in questions]
        changed = sum(one != other for one, other in questions)
        better, worse = sum(new < old for old, new in pairs), sum(new > old for old, new in pairs)
        lines.append(f"  {name}: {changed} answers differ, {better} better, {worse} worse,"
                     f" any@5 {was['any5']} -> {now['any5']}")  # fmt: skip
    return ["", "recall sets, by the place of the first right answer:", *lines] if lines else []


def _rank(question: str) -> int:
    """Return the place of the first right answer, 99 where there is none."""
    place = question.split("=")[-1]
    return int(place) if place.isdigit() else 99


def _show(value: object) -> str:
    text = value if value is _GONE else repr(value)
    return str(text) if len(str(text)) <= 200 else f"{str(text)[:200]}..."
