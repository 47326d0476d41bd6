"""The verb `search_memory`: the lines of the book that contain a text, or match a pattern in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, NamedTuple

from commonplace.model.errors import CommonplaceError, InvalidField, InvalidPattern, LinkRefused, NotFound, TooLarge
from commonplace.model.file_results import LineMatch, LineMatches
from commonplace.model.lazy import Log
from commonplace.model.settings import LIMITS
from commonplace.shell.command import describe_error
from commonplace.shell.patterns import Pattern, check_length, compile_re2
from commonplace.shell.view_reader import MAX_LINE, CommandError, LimitReached, PathItem, ViewReader, is_binary
from commonplace.text.fence import visible
from commonplace.text.plural import plural
from commonplace.vault.paths import BookPath, resolve
from commonplace.vault.port import FileKind
from commonplace.verbs.context import BookContext
from commonplace.verbs.files import MORE_FIELDS, OFFSET, TextOrigin, find_origin, next_field, view_reader
from commonplace.verbs.tool import (
    QUERY_LENGTH,
    TEXTS,
    Answer,
    fenced_answer,
    make_tool,
    result_schema,
    rows_schema,
    shown_fields,
)
from commonplace.verbs.verb import EVERYTHING, Access, Arg, verb

log = Log("commonplace.shell")
_SHOWN_SKIPPED = 5  # files that could not be searched, by name
_MOST_LINES = LIMITS["max_search_results"][1]


class SearchRequest(NamedTuple):
    """What `search_memory` is asked."""

    query: Annotated[
        str, Arg("the text to look for", "TEXT", is_positional=True, min_length=1, max_length=QUERY_LENGTH)
    ]
    paths: Annotated[
        Sequence[str], Arg("files and folders to search (default /)", "PATH", is_positional=True, nargs="*")
    ] = ()
    case_sensitive: Annotated[bool, Arg("match upper and lower case as written")] = False
    regex: Annotated[bool, Arg("the text is a regular expression")] = False
    limit: Annotated[
        int | None,
        Arg("show at most so many lines (default and most: max_search_results)", minimum=1, maximum=_MOST_LINES),
    ] = None
    offset: Annotated[int, OFFSET] = 0
    everything: Annotated[bool, EVERYTHING] = False


@verb(
    Access.READ,
    audit=lambda result, _: {"hits": len(result.matches), "files": result.files},
    command="files search",
    examples=(
        "commonplace files search 'port 5432' /memories /journal",
        "commonplace files search 'port \\d+' --regex --json",
    ),
)
def search_memory(context: BookContext, request: SearchRequest) -> LineMatches:
    """Search the files of the book for a text.

    Finds the very words. To search by meaning, use `commonplace recall`.
    """
    most, offset = context.settings.max_search_results, request.offset
    limit = min(request.limit or most, most)
    if request.limit is not None and request.limit > _MOST_LINES:
        raise InvalidField(f"limit must be a number from 1 to {_MOST_LINES:,}.")
    pattern = _compile(request.query, case_sensitive=request.case_sensitive, regex=request.regex)
    book = view_reader(context, everything=request.everything)
    search = _Search(context, book, pattern, offset, limit)
    notices: list[str] = []
    try:
        for path in _find_files(book, [str(context.resolve(path)) for path in request.paths], search.skip):
            search.read_file(path)
            if search.is_full:
                break
    except LimitReached as limit_reached:
        notices.append(str(limit_reached))
    next_offset = offset + limit if search.is_full else None
    if next_offset is not None:
        notices = [f"There is more: call again with offset={next_offset}, or narrow the query or the paths."]
    notices += search.notices
    if book.deepest is not None:
        notices.append(book.describe_depth())
    found = tuple(search.found)
    return LineMatches(found, search.files, bool(notices), " ".join(notices), next_offset, tuple(search.skipped))


def _compile(query: str, *, case_sensitive: bool, regex: bool) -> Pattern:
    if not query or "\n" in query:
        raise InvalidPattern("The query must be one line of text.", hint="Search for a word or a phrase of one line.")
    try:
        query.encode("utf-8")
        check_length(query)
        text = query if regex else re.escape(query)
        return compile_re2(text, is_utf8=True, ignores_case=not case_sensitive)
    except UnicodeEncodeError:
        raise InvalidPattern("The query is not valid Unicode text.") from None
    except CommandError as error:
        message = str(error)
        raise InvalidPattern(f"{message[:1].upper()}{message[1:]}.") from None


def _find_files(
    book: ViewReader, paths: Sequence[str], skip: Callable[[str, CommonplaceError], None]
) -> Iterator[BookPath]:
    """Return the files, links and special files at and below some paths, each once. `skip` is told what cannot be
    listed."""
    seen: set[BookPath] = set()
    for word in paths or ("/",):
        place = resolve(word)
        stat = book.stat(place)
        if stat is None:
            raise NotFound(f"{place} does not exist.", hint="List the folders, starting at /.")
        for met in book.walk(PathItem(str(place), place, stat), skip):
            if met.stat.kind is not FileKind.FOLDER and met.path not in seen:
                seen.add(met.path)
                yield met.path


class _Search:
    """The lines found so far."""

    def __init__(self, context: BookContext, book: ViewReader, pattern: Pattern, skip: int, limit: int) -> None:
        self._context, self._book, self._pattern, self._passed, self._limit = context, book, pattern, skip, limit
        self.found: list[LineMatch] = []
        self.skipped: list[str] = []
        self.files = 0
        self._unsearched = 0
        self._has_cut = False
        self.is_full = False  # there is at least one more than was asked for

    def read_file(self, path: BookPath) -> None:
        try:
            data = self._book.read(path)
        except NotFound:
            return  # deleted since it was listed
        except CommonplaceError as error:  # what can be read is searched
            self.skip(str(path), error)
            return
        if is_binary(data):
            self._leave_out(str(path), "binary")
            return
        self.files += 1
        origin: TextOrigin | None = None
        for number, line in enumerate(data.split(b"\n"), 1):
            match = self._pattern.search(line)
            if match is None:
                continue
            if self._passed:
                self._passed -= 1
            elif len(self.found) == self._limit:
                self.is_full = True
                return
            else:
                shown = _cut_line(line, match.start())
                self._has_cut = self._has_cut or len(shown) > MAX_LINE
                origin = origin or find_origin(self._context, path, data)
                self.found.append(LineMatch(str(path), number, shown, *origin))

    def skip(self, label: str, error: CommonplaceError) -> None:
        """Remember a file or folder that cannot be read, and why."""
        log.info("event=not_searched code=%s", error.code)
        if isinstance(error, LinkRefused):
            self._leave_out(label, "a link or a special file")
        else:
            self._leave_out(label, "too large" if isinstance(error, TooLarge) else describe_error(error))

    def _leave_out(self, label: str, reason: str) -> None:
        self._unsearched += 1
        if len(self.skipped) < _SHOWN_SKIPPED:
            self.skipped.append(f"{label}: {reason}")

    @property
    def notices(self) -> list[str]:
        """What the answer does not have, in sentences."""
        found = []
        if self._unsearched:
            number = "1 file or folder" if self._unsearched == 1 else f"{self._unsearched:,} files or folders"
            found.append(f"{number} could not be searched: {'; '.join(self.skipped)}.")
        if self._has_cut:
            found.append("Long lines are shown in part: read the file for the rest.")
        return found


def _cut_line(line: bytes, start: int) -> str:
    """Return a line as it is shown; of a long one, the part in which the match starts."""
    line = line.removesuffix(b"\r")
    if len(line) <= MAX_LINE:
        return line.decode("utf-8", "backslashreplace")
    text, before = line.decode("utf-8", "backslashreplace"), line[:start].decode("utf-8", "backslashreplace")
    if len(text) <= MAX_LINE:
        return text
    begin = max(0, min(len(before) - MAX_LINE // 4, len(text) - MAX_LINE))
    end = begin + MAX_LINE
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _render(found: LineMatches, _: SearchRequest) -> Answer:
    data = {
        **shown_fields(found, "files", "truncated", "next_offset"),
        "skipped": [visible(path) for path in found.skipped],
        "matches": [shown_fields(one, "path", "line", "text", "trust", "author") for one in found.matches],
        **next_field(found.next),
    }
    body = "\n".join(f"{one.path}:{one.line}: {one.text}" for one in found.matches)
    heading = f"{plural(len(found.matches), 'line', 'lines')} in {plural(found.files, 'file', 'files')}."
    return fenced_answer(data, heading, body, "search", found.next)


TOOLS = (
    make_tool(
        search_memory, "search_memory", "Search files", "files",
        "The lines that hold these very words, or match a regular expression, in files and folders of the book. For "
        "meaning, use memory_recall.",
        result_schema(
            "matches", "files", "truncated", files="integer", skipped=TEXTS, **MORE_FIELDS,
            matches=rows_schema("path", "text", "trust", "author", line="integer"),
        ),
        _render,
    ),
)  # fmt: skip
