"""cat, head, tail, wc: what files hold, byte for byte as the GNU tools print it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonplace.model.patterns import lazy
from commonplace.shell.options import Options, options
from commonplace.shell.run import IS_FOLDER, NO_INPUT, Run, Trouble, quoted
from commonplace.vault.port import Kind

_COUNT = lazy(r"([+-]?)([0-9]{1,18})")
_WIDE = 7  # at least so wide are the numbers of wc when something that it is to count is no file


def cat(run: Run, args: Sequence[str]) -> None:
    given = options(args, "n")
    number, at_start = 0, True
    for word in _operands(run, given):
        try:
            data = run.read(word)
        except Trouble as trouble:
            run.fail(f"{quoted(word)}: {trouble}")
            continue
        if "n" not in given:
            run.write(data)
            continue
        for line in _lines(data):
            if at_start:
                number += 1
                run.write(b"%6d\t" % number)
            run.write(line)
            at_start = line.endswith(b"\n")


def head(run: Run, args: Sequence[str]) -> None:
    given = options(args, "", "n", number=True)
    sign, count = _count(given)
    nothing = count == 0 and sign != "-"  # then no file is read, and a folder is as good as one
    _parts(
        run, given, lambda data: _first(data, count) if sign != "-" else _withoutlast_lines(data, count), unread=nothing
    )


def tail(run: Run, args: Sequence[str]) -> None:
    given = options(args, "", "n", number=True)
    sign, count = _count(given)
    if count == 0 and sign != "+":
        return  # nor is any file looked at
    _parts(run, given, lambda data: last_lines(data, count) if sign != "+" else data[len(_first(data, count - 1)) :])


def wc(run: Run, args: Sequence[str]) -> None:
    given = options(args, "lwc")
    wanted = [place for place, letter in enumerate("lwc") if letter in given] or [0, 1, 2]
    words = _operands(run, given)
    width = _width(run, words) if len(words) > 1 or len(wanted) > 1 else 1
    total = [0, 0, 0]
    for word in words:
        try:
            data = run.read(word)
        except Trouble as trouble:
            run.fail(f"{quoted(word)}: {trouble}")
            if str(trouble) != IS_FOLDER:
                continue
            data = b""
        counts = [data.count(b"\n"), len(data.split()), len(data)]
        total = [one + other for one, other in zip(total, counts, strict=True)]
        run.line(f"{_columns(counts, wanted, width)} {word}")
    if len(words) > 1:
        run.line(f"{_columns(total, wanted, width)} total")


def _operands(run: Run, given: Options) -> list[str]:
    if not given.words:
        run.fail(NO_INPUT)
    return given.words


def _count(given: Options) -> tuple[str, int]:
    text = given.given.get("n", given.given.get("number", "10"))
    match = _COUNT.fullmatch(text)
    if match is None:
        raise Trouble(f"invalid number of lines: {quoted(text, always=True)}")
    return match.group(1), int(match.group(2))


def _parts(run: Run, given: Options, part: Callable[[bytes], bytes], *, unread: bool = False) -> None:
    """A part of each file; of several, each below its name."""
    words, first = _operands(run, given), True
    for word in words:
        try:
            data = run.read(word)
        except Trouble as trouble:
            folder = str(trouble) == IS_FOLDER
            name = quoted(word, always=True)
            if not folder:
                run.fail(f"cannot open {name} for reading: {trouble}")
                continue
            if not unread:
                run.fail(f"error reading {name}: {trouble}")
            data = b""
        if len(words) > 1:
            run.write(b"" if first else b"\n")
            run.line(f"==> {word} <==")
            first = False
        run.write(part(data))


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _first(data: bytes, count: int) -> bytes:
    end = 0
    for _ in range(count):
        end = data.find(b"\n", end) + 1
        if not end:
            return data
    return data[:end]


def last_lines(data: bytes, count: int) -> bytes:
    start = len(data) - data.endswith(b"\n")
    for _ in range(count):
        start = data.rfind(b"\n", 0, start)
        if start < 0:
            return data
    return data[start + 1 :] if count else b""


def _withoutlast_lines(data: bytes, count: int) -> bytes:
    return data[: len(data) - len(last_lines(data, count))]


def _width(run: Run, words: Sequence[str]) -> int:
    """How wide wc writes its numbers: as wide as the size of all files together."""
    least, size = 1, 0
    for word in words:
        try:
            stat = run.find(word).stat
        except Trouble:
            continue
        if stat.kind is Kind.FILE:
            size += stat.size
        else:
            least = _WIDE
    return max(least, len(str(size)))


def _columns(counts: Sequence[int], wanted: Sequence[int], width: int) -> str:
    return " ".join(f"{counts[place]:>{width}}" for place in wanted)
