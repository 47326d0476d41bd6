"""search_memory: the lines of the book that hold a text, or match a pattern in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from commonplace.model.errors import CommonplaceError, InvalidField, InvalidPattern, NotFound
from commonplace.model.lazy import Log
from commonplace.model.results import LineMatch, LineMatches
from commonplace.shell.command import CommandError
from commonplace.shell.patterns import Pattern, check_length, compile_re2
from commonplace.shell.view_reader import MAX_LINE, MAX_SEARCH_RESULTS, LimitReached, PathItem, ViewReader, is_binary
from commonplace.vault.paths import BookPath, resolve
from commonplace.vault.port import FileKind
from commonplace.verbs.desk import Desk
from commonplace.verbs.files import check_offset, shown

log = Log("commonplace.shell")


def search_memory(
    desk: Desk,
    query: str,
    paths: Sequence[str],
    limit: int,
    offset: int,
    *,
    case_sensitive: bool,
    regex: bool,
    everything: bool,
) -> LineMatches:
    if isinstance(limit, bool) or not 1 <= limit <= MAX_SEARCH_RESULTS:
        raise InvalidField(f"limit is a number from 1 to {MAX_SEARCH_RESULTS}.")
    check_offset(offset)
    pattern = _pattern(query, case_sensitive=case_sensitive, regex=regex)
    book = shown(desk, everything=everything)
    search = _Search(book, pattern, offset, limit)
    said = ""
    try:
        for path in _files(book, [paths] if isinstance(paths, str) else paths):
            search.file(path)
            if search.full:
                break
    except LimitReached as limit_reached:
        said = str(limit_reached)
    following = offset + limit if search.full else None
    if following is not None:
        said = f"There is more: call again with offset={following}, or narrow the query or the paths."
    return LineMatches(tuple(search.found), search.files, bool(said), said, following)


def _pattern(query: str, *, case_sensitive: bool, regex: bool) -> Pattern:
    if not query or "\n" in query:
        raise InvalidPattern("The query is one line of text.", hint="Search for a word or a phrase of one line.")
    try:
        query.encode("utf-8")
        check_length(query)
        text = query if regex else re.escape(query)
        return compile_re2(text if case_sensitive else f"(?i){text}", is_utf8=True)
    except UnicodeEncodeError:
        raise InvalidPattern("The query is not valid Unicode text.") from None
    except CommandError as error:
        said = str(error)
        raise InvalidPattern(f"{said[:1].upper()}{said[1:]}.") from None


def _files(book: ViewReader, paths: Sequence[str]) -> Iterator[BookPath]:
    """The files at and below some paths, each once."""
    seen: set[BookPath] = set()
    for word in paths or ("/",):
        place = resolve(word)
        stat = book.stat(place)
        if stat is None:
            raise NotFound(f"{place} is not there.", hint="List what is there, from / on.")
        for met in book.walk(PathItem(str(place), place, stat), _passed_over):
            if met.stat.kind is FileKind.FILE and met.path not in seen:
                seen.add(met.path)
                yield met.path


def _passed_over(_: str, error: CommonplaceError) -> None:
    """A folder that this machine's permissions close: what can be read is searched."""
    log.info("event=search_passed_over code=%s", error.code)


class _Search:
    def __init__(self, book: ViewReader, pattern: Pattern, skip: int, limit: int) -> None:
        self._book, self._pattern, self._skip, self._limit = book, pattern, skip, limit
        self.found: list[LineMatch] = []
        self.files = 0
        self.full = False  # there is at least one more than was asked for

    def file(self, path: BookPath) -> None:
        try:
            data = self._book.read(path)
        except CommonplaceError:
            return  # too large, or gone: what can be read is searched
        if is_binary(data):
            return
        self.files += 1
        for number, line in enumerate(data.split(b"\n"), 1):
            match = self._pattern.search(line)
            if match is None:
                continue
            if self._skip:
                self._skip -= 1
            elif len(self.found) == self._limit:
                self.full = True
                return
            else:
                self.found.append(LineMatch(str(path), number, _around(line, match.start())))


def _around(line: bytes, start: int) -> str:
    """A line as it is shown; of a long one, the part in which the match starts."""
    line = line.removesuffix(b"\r")
    if len(line) <= MAX_LINE:
        return line.decode("utf-8", "backslashreplace")
    text, before = line.decode("utf-8", "backslashreplace"), line[:start].decode("utf-8", "backslashreplace")
    if len(text) <= MAX_LINE:
        return text
    begin = max(0, min(len(before) - MAX_LINE // 4, len(text) - MAX_LINE))
    end = begin + MAX_LINE
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"
