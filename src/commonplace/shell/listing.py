"""ls, stat, tree: what is where. Plain ls prints what GNU ls prints; the rest is ours, and tells nothing of the host
machine."""

from __future__ import annotations

import time
from collections.abc import Sequence

from commonplace.model.errors import CommonplaceError
from commonplace.shell.options import options
from commonplace.shell.run import Found, Run, Trouble, quoted, reason
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Kind, Listed, Stat

_SERIOUS = 2  # the status of ls when something on its command line cannot be listed
_MARKS = {Kind.FILE: "-", Kind.FOLDER: "d", Kind.OTHER: "?"}


def moment(stat: Stat) -> str:
    """When something was changed, in UTC."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stat.mtime_ns // 1_000_000_000))
    except (OverflowError, ValueError, OSError):  # a time that this system has no date for
        return "-"


def ls(run: Run, args: Sequence[str]) -> None:
    given = options(args, "laR1")
    files: list[Listed] = []
    folders: list[tuple[str, Found]] = []
    words = given.words or ["."]
    for word in words:
        try:
            found = run.find(word)
        except Trouble as trouble:
            run.fail(f"cannot access {quoted(word, always=True)}: {trouble}", _SERIOUS)
            continue
        if found.stat.kind is Kind.FOLDER:
            folders.append((word, found))
        else:
            files.append(Listed(word, found.stat))
    _print(run, sorted(files), long="l" in given)
    shown = _Folders(run, everything="a" in given, below="R" in given, long="l" in given)
    shown.headed = len(words) > 1 or "R" in given
    shown.first = not files
    for word, found in sorted(folders):
        shown.show(word, found.path, found.stat)


class _Folders:
    """Folders, one after the other, each below its name where there are several."""

    def __init__(self, run: Run, *, everything: bool, below: bool, long: bool) -> None:
        self._run, self._everything, self._below, self._long = run, everything, below, long
        self.headed, self.first = False, True

    def show(self, label: str, path: BookPath, stat: Stat) -> None:
        try:
            listed = self._run.shown.names(path)
        except CommonplaceError as error:
            said = f"cannot open directory {quoted(label, always=True)}: {reason(error)}"
            self._run.fail(said, _SERIOUS)
            return
        if self.headed:
            self._run.write(b"" if self.first else b"\n")
            self._run.line(f"{label}:")
        self.first = False
        items = [item for item in listed if self._everything or not item.name.startswith(".")]
        dots = [Listed(".", stat), Listed("..", stat)] if self._everything else []
        _print(self._run, sorted([*dots, *items]), long=self._long)
        for item in items if self._below else ():
            if item.stat.kind is Kind.FOLDER:
                below = f"{label}{item.name}" if label.endswith("/") else f"{label}/{item.name}"
                self.show(below, path / item.name, item.stat)


def _print(run: Run, items: Sequence[Listed], *, long: bool) -> None:
    width = max((len(_size(item.stat)) for item in items), default=0)
    for name, stat in items:
        run.line(f"{_MARKS[stat.kind]} {_size(stat):>{width}} {moment(stat)} {name}" if long else name)


def _size(stat: Stat) -> str:
    return str(stat.size) if stat.kind is Kind.FILE else "-"


def stat(run: Run, args: Sequence[str]) -> None:
    given = options(args, "")
    if not given.words:
        raise Trouble("missing operand")
    for word in given.words:
        try:
            path, found = run.find(word)
        except Trouble as trouble:
            run.fail(f"cannot stat {quoted(word, always=True)}: {trouble}")
            continue
        run.line(f"path: {path}")
        run.line(f"kind: {found.kind}")
        run.line(f"size: {_size(found)}")
        run.line(f"changed: {moment(found)}")


def tree(run: Run, args: Sequence[str]) -> None:
    given = options(args, "a", "L")
    depth = given.given.get("L", "12")
    if not (depth.isascii() and depth.isdigit() and 0 < int(depth) < 1_000):
        raise Trouble("invalid level, must be greater than 0")
    counts = {Kind.FOLDER: 0, Kind.FILE: 0, Kind.OTHER: 0}
    for word in given.words or ["."]:
        try:
            found = run.find(word)
        except Trouble as trouble:
            run.fail(f"{quoted(word)}: {trouble}")
            continue
        run.line(word)
        if found.stat.kind is Kind.FOLDER:
            _branch(run, found.path, "", int(depth), counts, everything="a" in given)
    folders, files = counts[Kind.FOLDER], counts[Kind.FILE] + counts[Kind.OTHER]
    run.line(f"\n{folders} folder{'' if folders == 1 else 's'}, {files} file{'' if files == 1 else 's'}")


def _branch(run: Run, path: BookPath, indent: str, depth: int, counts: dict[Kind, int], *, everything: bool) -> None:
    try:
        listed = run.shown.names(path)
    except CommonplaceError as error:
        run.fail(f"{quoted(str(path))}: {reason(error)}")
        return
    items = [item for item in listed if everything or not item.name.startswith(".")]
    for place, item in enumerate(items, 1):
        last = place == len(items)
        counts[item.stat.kind] += 1
        run.line(f"{indent}{'└── ' if last else '├── '}{item.name}{'/' if item.stat.kind is Kind.FOLDER else ''}")
        if item.stat.kind is Kind.FOLDER and depth > 1:
            below = f"{indent}{'    ' if last else '│   '}"
            _branch(run, path / item.name, below, depth - 1, counts, everything=everything)
