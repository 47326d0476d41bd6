"""A session of the shell: a folder of the book, and commands one after the other; and the commands that show files.

cat, head, tail, wc and plain ls print what the GNU tools print, byte for byte. ls -l, stat and tree have a form of
their own, which tells nothing about the machine. search_commands.py has grep and find, query.py has query.

A session keeps nothing open: each command sees the book as it is then. `Book.shell` runs one command;
`Book.shell_session` and `commonplace files sh` keep a session.
"""

from __future__ import annotations

import io
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import add
from typing import NamedTuple

from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.shell import search_commands as search
from commonplace.shell.command import (
    IS_FOLDER,
    NOT_FOLDER,
    CommandRun,
    describe_error,
    parse_options,
    quote,
    split_words,
)
from commonplace.shell.query import QUERY_USAGE, query
from commonplace.shell.view_reader import WHOLE_DEPTH, CommandError, LimitReached, PathItem, ViewReader
from commonplace.vault.paths import ROOT, BookPath
from commonplace.vault.port import FileKind, FolderEntry, Stat

_COUNT = lazy(r"([+-]?)([0-9]{1,18})(b|kB|MB|GB|K|k|M|G|KiB|MiB|GiB)?")
_UNITS = {"b": 512, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {f"{letter}iB": _UNITS[letter] for letter in "KMG"}
_COUNT_OPTIONS = {"lines": "n", "bytes": "c"}
_WC_WIDTH = 7  # the least width of wc's numbers when one of its words is not a file
_LS_FAILED = 2  # the status of ls when a word cannot be listed
_KIND_MARKS = {FileKind.FILE: "-", FileKind.FOLDER: "d", FileKind.OTHER: "?"}


def cat(run: CommandRun, args: Sequence[str]) -> None:
    """Print whole files, with -n numbering the lines of all of them together."""
    options, words = parse_options(args, "n", long={"number": "n"})
    number, at_line_start = 0, True
    for word, data, problem in run.read_all(run.expand(words)):
        if problem:
            run.fail(f"{quote(word)}: {problem}")
        elif "n" not in options:
            run.write(data)
        else:
            for line in io.BytesIO(data):  # only a line feed ends a line there
                if at_line_start:
                    number += 1
                    run.write(b"%6d\t" % number)
                run.write(line)
                at_line_start = line.endswith(b"\n")


def head(run: CommandRun, args: Sequence[str]) -> None:
    """Print the first lines or bytes of files, or with -N all but the last."""
    count, words = _parse_count(args)

    def select(data: bytes) -> bytes:
        if count.sign == "-":
            return data[: len(data) - len(count.take_last(data))]
        return count.take_first(data)

    # GNU head -n 0 does not read its files, so that a folder is no error there.
    _print_parts(run, run.expand(words), select, accepts_folders=count.number == 0 and count.sign != "-")


def tail(run: CommandRun, args: Sequence[str]) -> None:
    """Print the last lines or bytes of files, or with +N those from number N on."""
    count, words = _parse_count(args)
    if count.number == 0 and count.sign != "+":
        return  # GNU tail -n 0 does not even open its files

    def select(data: bytes) -> bytes:
        if count.sign == "+":
            before = count._replace(number=max(count.number - 1, 0))
            return data[len(before.take_first(data)) :]
        return count.take_last(data)

    _print_parts(run, run.expand(words), select)


def wc(run: CommandRun, args: Sequence[str]) -> None:
    """Print how many lines, words and bytes files have."""
    options, words = parse_options(args, "lwc", long={"lines": "l", "words": "w", "bytes": "c"})
    words = run.expand(words)
    columns = [place for place, letter in enumerate("lwc") if letter in options] or [0, 1, 2]
    width = _measure_width(run, words) if len(words) > 1 or len(columns) > 1 else 1
    total = [0, 0, 0]

    def print_counts(counts: Sequence[int], label: str) -> None:
        run.write_line(" ".join([*(f"{counts[place]:>{width}}" for place in columns), label]))

    for word, data, problem in run.read_all(words):
        if problem:
            run.fail(f"{quote(word)}: {problem}")
        if problem in ("", IS_FOLDER):
            counts = [data.count(b"\n"), len(data.split()), len(data)]
            total = [*map(add, total, counts)]
            print_counts(counts, word)
    if len(words) > 1:
        print_counts(total, "total")


def ls(run: CommandRun, args: Sequence[str]) -> None:
    """Print the names in folders, with -l also kind, size and time."""
    options, words = parse_options(args, "laR1", long={"all": "a", "recursive": "R"})
    words = run.expand(words) or ["."]
    found = sorted(run.find_all(words, "cannot access ", status=_LS_FAILED))
    files = [FolderEntry(item.label, item.stat) for item in found if item.stat.kind is not FileKind.FOLDER]
    is_long, show_hidden = "l" in options, "a" in options
    has_headings = len(words) > 1 or "R" in options
    separator = "\n" if files else ""

    def print_folder(folder: PathItem) -> None:
        """Print a folder, and with -R those below it."""
        nonlocal separator
        try:
            items = _list_visible(run, folder.path, show_hidden=show_hidden)
        except CommonplaceError as error:
            run.fail(f"cannot open directory {quote(folder.label, always=True)}: {describe_error(error)}", _LS_FAILED)
            return
        if has_headings:
            run.write_line(f"{separator}{folder.label}:")
        separator = "\n"
        dots = [FolderEntry(".", folder.stat), FolderEntry("..", folder.stat)] if show_hidden else []
        _print_items(run, sorted([*dots, *items]), is_long=is_long)
        if "R" in options:
            start = folder.label if folder.label.endswith("/") else f"{folder.label}/"
            for name, below in items:
                if below.kind is FileKind.FOLDER:
                    print_folder(PathItem(start + name, folder.path / name, below))

    _print_items(run, files, is_long=is_long)
    for item in found:
        if item.stat.kind is FileKind.FOLDER:
            print_folder(item)


def stat(run: CommandRun, args: Sequence[str]) -> None:
    """Print path, kind, size and time of files and folders."""
    _, words = parse_options(args, "")
    if not words:
        raise CommandError("missing operand")
    for item in run.find_all(run.expand(words), "cannot stat "):
        run.write_line(f"path: {item.path}")
        run.write_line(f"kind: {item.stat.kind}")
        run.write_line(f"size: {_format_size(item.stat)}")
        run.write_line(f"changed: {format_time(item.stat)}")


def tree(run: CommandRun, args: Sequence[str]) -> None:
    """Print folders and everything below them as a drawing."""
    options, words = parse_options(args, "a", "L")
    depth = options.get("L", str(WHOLE_DEPTH))
    if not (depth.isascii() and depth.isdigit() and 0 < int(depth) < 1_000):
        raise CommandError("invalid level, must be greater than 0")
    counts: Counter[FileKind] = Counter()

    def draw(path: BookPath, indent: str, depth: int) -> None:
        try:
            listed = _list_visible(run, path, show_hidden="a" in options)
        except CommonplaceError as error:
            run.fail(f"{quote(str(path))}: {describe_error(error)}")
            return
        for place, item in enumerate(listed, 1):
            is_last, is_folder = place == len(listed), item.stat.kind is FileKind.FOLDER
            counts[item.stat.kind] += 1
            run.write_line(f"{indent}{'└── ' if is_last else '├── '}{item.name}{'/' if is_folder else ''}")
            if is_folder and depth > 1:
                draw(path / item.name, f"{indent}{'    ' if is_last else '│   '}", depth - 1)

    for item in run.find_all(run.expand(words) or ["."], always=False):
        run.write_line(item.label)
        if item.stat.kind is FileKind.FOLDER:
            draw(item.path, "", int(depth))
    folders = counts[FileKind.FOLDER]
    files = counts.total() - folders
    run.write_line(f"\n{folders} folder{'' if folders == 1 else 's'}, {files} file{'' if files == 1 else 's'}")


def format_time(stat: Stat) -> str:
    """Return the time of the last change in UTC, or "-" for a time that has no date."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stat.mtime_ns // 1_000_000_000))
    except (OverflowError, ValueError, OSError):
        return "-"


def select_last_lines(data: bytes, count: int) -> bytes:
    """Return the last lines of a text; only a line feed ends a line."""
    return b"".join(deque(io.BytesIO(data), count))


class _Count(NamedTuple):
    """How much head or tail should print: so many lines or bytes, with their sign."""

    sign: str
    number: int
    is_bytes: bool

    def take_first(self, data: bytes) -> bytes:
        """Return the first so many lines or bytes."""
        return data[: self.number] if self.is_bytes else b"".join(islice(io.BytesIO(data), self.number))

    def take_last(self, data: bytes) -> bytes:
        """Return the last so many lines or bytes."""
        return data[max(len(data) - self.number, 0) :] if self.is_bytes else select_last_lines(data, self.number)


def _parse_count(args: Sequence[str]) -> tuple[_Count, list[str]]:
    """Return how much head or tail should print, and the other words."""
    options, words = parse_options(args, "", "nc", long=_COUNT_OPTIONS, takes_number=True)
    name, text = [*options.items()][-1] if options else ("n", "10")
    match = _COUNT.fullmatch(text)
    if match is None:
        unit = "bytes" if name == "c" else "lines"
        raise CommandError(f"invalid number of {unit}: {quote(text, always=True)}")
    return _Count(match[1], int(match[2]) * _UNITS.get(match[3], 1), name == "c"), words


def _print_parts(
    run: CommandRun, words: Sequence[str], select: Callable[[bytes], bytes], *, accepts_folders: bool = False
) -> None:
    """Print the selected part of each file, below its name where there are several."""
    separator = ""
    for word, data, problem in run.read_all(words):
        name = quote(word, always=True)
        if problem not in ("", IS_FOLDER):
            run.fail(f"cannot open {name} for reading: {problem}")
            continue
        if problem and not accepts_folders:
            run.fail(f"error reading {name}: {problem}")
        if len(words) > 1:
            run.write_line(f"{separator}==> {word} <==")
            separator = "\n"
        run.write(select(data))


def _measure_width(run: CommandRun, words: Sequence[str]) -> int:
    """Return the width of wc's numbers: that of the size of all files together."""
    least, size = 1, 0
    for word in words:
        try:
            found = run.find(word).stat
        except CommandError:
            continue
        if found.kind is FileKind.FILE:
            size += found.size
        else:
            least = _WC_WIDTH
    return max(least, len(str(size)))


def _list_visible(run: CommandRun, path: BookPath, *, show_hidden: bool) -> list[FolderEntry]:
    return [item for item in run.reader.list_folder(path) if show_hidden or not item.name.startswith(".")]


def _print_items(run: CommandRun, items: Sequence[FolderEntry], *, is_long: bool) -> None:
    width = max((len(_format_size(item.stat)) for item in items), default=0)
    for name, found in items:
        details = f"{_KIND_MARKS[found.kind]} {_format_size(found):>{width}} {format_time(found)} " if is_long else ""
        run.write_line(f"{details}{name}")


def _format_size(stat: Stat) -> str:
    return str(stat.size) if stat.kind is FileKind.FILE else "-"


# The session

_UNKNOWN_COMMAND = 127  # the status of every shell for a command that does not exist
_BAD_LINE = 2  # and for a line that it cannot read


class CommandResult(NamedTuple):
    """What a command printed, its status, and the folder it left the session in."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    cwd: str
    truncated: bool = False
    next: str = ""


class Command(NamedTuple):
    """A command of the shell: its function, its usage, and its status for words that it does not understand."""

    run: Callable[[CommandRun, Sequence[str]], None]
    usage: str
    error_status: int = 1


def pwd(run: CommandRun, args: Sequence[str]) -> None:
    """Print the folder of the session."""
    if args:
        raise CommandError("too many arguments")
    run.write_line(str(run.cwd))


def cd(run: CommandRun, args: Sequence[str]) -> None:
    """Go to a folder, or without a word to the root."""
    args = run.expand(args)
    if len(args) > 1:
        raise CommandError("too many arguments")
    if not args:
        run.cwd = ROOT
    elif args[0] == "..":  # the one command that takes it: up by one, and never above /
        run.cwd = run.cwd.parent
    else:
        try:
            item = run.find(args[0])
            if item.stat.kind is not FileKind.FOLDER:
                raise CommandError(NOT_FOLDER)
        except CommandError as error:
            raise CommandError(f"{quote(args[0])}: {error}") from None
        run.cwd = item.path


def print_help(run: CommandRun, _: Sequence[str]) -> None:
    """Print the usage of every command."""
    run.write_line("The book, read-only. / is its root as you may see it. One command at a time:")
    for command in COMMANDS.values():
        run.write_line(f"  {command.usage}")
    run.write_line("Patterns such as *.md name files. Quote the patterns of grep and of find -name.")


COMMANDS: Mapping[str, Command] = {
    "pwd": Command(pwd, "pwd"),
    "cd": Command(cd, "cd [PATH]"),
    "ls": Command(ls, "ls [-l] [-a] [-R] [PATH...]", 2),
    "tree": Command(tree, "tree [-a] [-L N] [PATH...]"),
    "stat": Command(stat, "stat PATH..."),
    "cat": Command(cat, "cat [-n] PATH..."),
    "head": Command(head, "head [-n N] [-c N] PATH..."),
    "tail": Command(tail, "tail [-n N] [-c N] PATH..."),
    "wc": Command(wc, "wc [-l] [-w] [-c] PATH..."),
    "find": Command(search.find, search.FIND_USAGE),
    "grep": Command(search.grep, search.GREP_USAGE, 2),
    "query": Command(query, QUERY_USAGE, 2),
    "help": Command(print_help, "help"),
}


class ShellSession:
    """Runs commands, and keeps the folder they are in from one to the next."""

    def __init__(self, make_reader: Callable[[], ViewReader], cwd: BookPath = ROOT) -> None:
        self._make_reader, self.cwd = make_reader, cwd

    def run(self, line: str) -> CommandResult:
        """Run one command line and return its result; errors of the command are part of it."""
        try:
            name, *args = split_words(line) or [""]
        except CommandError as error:
            return self._refuse(str(error), _BAD_LINE)
        if not name:
            return CommandResult(b"", b"", 0, str(self.cwd))
        command = COMMANDS.get(name)
        if command is None:
            return self._refuse(f"{quote(name)}: unknown command; `help` lists the commands", _UNKNOWN_COMMAND)
        run = CommandRun(self._make_reader(), self.cwd, name)
        try:
            command.run(run, args)
        except CommandError as error:
            run.status = 0
            run.fail(str(error), command.error_status)
        except LimitReached as limit:
            run.status = 0 if run.out else run.status
            run.note_cut(str(limit))
        if run.reader.deepest is not None:
            run.note_cut(run.reader.describe_depth())
        self.cwd = run.cwd
        return CommandResult(bytes(run.out), bytes(run.err), run.status, str(self.cwd), bool(run.cut), run.cut)

    def _refuse(self, reason: str, status: int) -> CommandResult:
        message = f"commonplace: {reason}.\n".encode("utf-8", "backslashreplace")
        return CommandResult(b"", message, status, str(self.cwd))
