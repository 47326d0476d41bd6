"""The verbs that read the book as files: `list_memories`, `read_memory` and `shell`, all through the caller's view.

An answer is cut at its limit, says so, and says how to continue. A coordinator and an orchestrator have the tools; an
agent gets them on request (`--tools files`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from commonplace.memories.provenance import Provenance
from commonplace.memories.rows import row_of, split_path
from commonplace.model.errors import CommonplaceError, InvalidPath, NotFound, TooLarge
from commonplace.model.file_results import FileItem, FileList, FileText, ShellResult
from commonplace.model.memory import Entry, Status, Trust, check_tag, mark_external
from commonplace.shell.session import ShellSession, format_time, select_last_lines
from commonplace.shell.view_reader import MAX_LISTED, LimitReached, ViewReader, is_binary
from commonplace.text.fence import visible
from commonplace.text.naming import one_line
from commonplace.text.notes import Note, parse
from commonplace.text.plural import plural
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, MEMORIES, BookPath, View, resolve
from commonplace.vault.port import FileKind, FolderEntry
from commonplace.verbs.context import BookContext
from commonplace.verbs.tool import (
    QUERY_LENGTH,
    Answer,
    fenced_answer,
    make_tool,
    result_schema,
    rows_schema,
    shown_fields,
)
from commonplace.verbs.verb import EVERYTHING, Access, Arg, verb

_UNLISTED = (Status.SUPERSEDED, Status.EXPIRED)
_NOTHING = View(reads=frozenset(), writes=frozenset())
_FROM_ROOT = "from / on, as list_memories shows it"
OFFSET = Arg("continue from there, as the last answer said", minimum=0, maximum=10_000_000)
MORE_FIELDS: dict[str, Any] = {"truncated": "boolean", "next": "string", "next_offset": "integer"}


class ListFilesRequest(NamedTuple):
    """What `list_memories` is asked."""

    path: Annotated[
        str, Arg("the folder to list (default /)", "FOLDER", is_positional=True, nargs="?", tool_help=_FROM_ROOT)
    ] = "/"
    include_inactive: Annotated[
        bool, Arg("also superseded and expired notes", option="inactive", tool_help="superseded, expired, waiting")
    ] = False
    offset: Annotated[int, OFFSET] = 0
    everything: Annotated[bool, EVERYTHING] = False


class ReadFileRequest(NamedTuple):
    """What `read_memory` is asked."""

    path: Annotated[str, Arg("the file to read", "FILE", is_positional=True, tool_help=_FROM_ROOT)]
    tail_n: Annotated[
        int | None,
        Arg("only the last N entries, or lines of a plain file", option="tail", minimum=1, maximum=10_000),
    ] = None
    tags: Annotated[Sequence[str], Arg("only entries with all of these tags", other_option="tag")] = ()
    offset: Annotated[int, OFFSET] = 0
    everything: Annotated[bool, EVERYTHING] = False


class ShellRequest(NamedTuple):
    """What `shell` is asked."""

    command: Annotated[
        str | None, Arg("run this one command and end", option="c", min_length=1, max_length=QUERY_LENGTH)
    ]
    in_folder: Annotated[
        str, Arg("the folder of the book to start in (default /)", "PATH", option="cwd", tool_help=_FROM_ROOT)
    ] = "/"
    everything: Annotated[bool, EVERYTHING] = False


def view_reader(context: BookContext, *, everything: bool = False) -> ViewReader:
    """Return the book as this caller may see it; nothing of it when memory is switched off."""
    context.caller.check_reads()
    context.check_all(everything)
    memories = context.memories
    view = context.view(everything=everything) if context.settings.enabled else _NOTHING
    rewrite = None if context.is_person else context.limit_file
    return ViewReader(memories.vault, memories.space, view, rewrite, context.settings.max_read_bytes)


def _find_folder(book: ViewReader, path: str) -> BookPath:
    place = resolve(path)
    try:
        stat = book.stat(place)
    except LimitReached:
        raise TooLarge(f"{place} has more files than can be read here.") from None
    if stat is None:
        raise NotFound(f"{place} does not exist.", hint="List the folders, starting at /.")
    if stat.kind is not FileKind.FOLDER:
        raise InvalidPath(f"{place} is not a folder.", hint="Read it instead.")
    return place


@verb(
    Access.READ,
    command="files list",
    examples=("commonplace files list /memories/global", "commonplace files list / --json"),
)
def list_memories(context: BookContext, request: ListFilesRequest) -> FileList:
    """List a folder of the book.

    Folders, and notes with their summary, time and number of entries.
    """
    offset = request.offset
    book = view_reader(context, everything=request.everything)
    place = _find_folder(book, str(context.resolve(request.path)))
    try:
        entries = book.list_folder(place)
    except LimitReached:
        raise TooLarge(f"{place} has more files than can be listed here.") from None
    end = offset
    unlisted = () if request.include_inactive else (*_UNLISTED, *context.unseen_statuses)
    items: list[FileItem] = []
    hidden, next_call = 0, f"Call again with offset={offset + MAX_LISTED}."
    try:
        for entry in entries[offset : offset + MAX_LISTED]:
            item = _file_item(book, place / entry.name, entry, context.memories.provenance)
            if item.status in unlisted:
                hidden += 1
            else:
                items.append(item)
            end += 1
    except LimitReached:
        next_call = f"Call again with offset={end}."
    is_cut = end < len(entries)
    if book.deepest is not None and not is_cut:
        return FileList(str(place), tuple(items), hidden, True, book.describe_depth(), None)  # noqa: FBT003 - a field
    return FileList(str(place), tuple(items), hidden, is_cut, next_call if is_cut else "", end if is_cut else None)


def _file_item(book: ViewReader, path: BookPath, entry: FolderEntry, provenance: Provenance) -> FileItem:
    if entry.stat.kind is FileKind.FOLDER:
        return FileItem(str(path), "folder", "", format_time(entry.stat), _count_items(book, path), "", 0)
    plain = FileItem(str(path), "file", "", format_time(entry.stat), 0, "", entry.stat.size)
    if entry.stat.kind is not FileKind.FILE or not path.name.endswith(".md"):
        return plain
    try:
        note = provenance.read(book.read(path), entry.stat.time)
    except CommonplaceError:  # too large, or closed to us: it is there all the same
        return plain
    has_status = _is_memory(path) or bool(note.front.text("status"))
    summary = note.meta.summary
    if summary and _is_memory(path):
        row = row_of(path, note, "", entries_of=provenance.entries_of)
        summary = mark_external(summary) if row.outside else summary
    return FileItem(
        str(path),
        "note",
        summary,
        note.meta.updated or plain.updated,
        len(note.entries),
        note.meta.status.value if has_status else "",
        entry.stat.size,
    )


def _count_items(book: ViewReader, path: BookPath) -> int:
    try:
        return len(book.list_folder(path))
    except CommonplaceError:
        return 0


def _is_memory(path: BookPath) -> bool:
    own = path.parts[2:]
    return path.is_within(MEMORIES) and path.name != INDEX_PAGE and not any(name.startswith(("_", ".")) for name in own)


@verb(
    Access.READ,
    command="files read",
    examples=("commonplace files read /memories/global/release-day.md --tail 3",),
)
def read_memory(context: BookContext, request: ReadFileRequest) -> FileText:
    """Print a file of the book.

    All of it, its last entries, or the entries with some tags.
    """
    tail, offset = request.tail_n, request.offset
    tags = frozenset(map(check_tag, request.tags))
    place = context.resolve(request.path)
    data, revision = _read(context, place, everything=request.everything)
    note = parse(data) if _is_note(place, data) else None
    if note is not None and _is_memory(place):
        context.record_uses([note.meta.id])
        if note.meta.status is Status.EXPIRED and _revive(context, place):
            data, revision = _read(context, place, everything=request.everything)
            note = parse(data)
    if is_binary(data):
        notice = f"It is binary, {len(data):,} bytes: there is no text to read."
        return FileText(str(place), "", len(data), 0, True, revision, False, notice, None)  # noqa: FBT003 - a field
    origin = find_origin(context, place, data)
    chosen, entries = _choose_entries(data, note, tail, tags)
    end = _cut_at(chosen, offset, context.settings.max_read_bytes)
    text = chosen[offset:end].decode("utf-8", "backslashreplace")
    is_cut = end < len(chosen)
    notice, following = (f"Call again with offset={end}.", end) if is_cut else ("", None)
    return FileText(str(place), text, len(chosen), entries, False, revision, is_cut, notice, following, *origin)  # noqa: FBT003


def _read(context: BookContext, place: BookPath, *, everything: bool) -> tuple[bytes, str]:
    """Return a file as the caller sees it, and the revision of the file itself, with which it can be replaced."""
    book = view_reader(context, everything=everything)
    try:
        data = book.read(place)
    except LimitReached:
        raise TooLarge(f"{place} is too large to be read here.") from None
    return data, book.revision


class TextOrigin(NamedTuple):
    """Where the text of a file came from, as far as it is known."""

    trust: str
    author: str | None = None


def find_origin(context: BookContext, place: BookPath, data: bytes) -> TextOrigin:
    """Return the least trust of the entries of a note, and their author if they have one in common.

    Nothing is known of a file that is no memory and no note of the journal: it counts as from outside.
    """
    if not place.name.endswith(".md") or not (_is_memory(place) or place.is_within(JOURNAL)):
        return TextOrigin(Trust.EXTERNAL.value)
    entries = context.memories.provenance.reader_of(place.parent)(parse(data))
    if not entries:
        return TextOrigin(Trust.EXTERNAL.value)
    authors = {entry.author for entry in entries}
    least = max((entry.trust for entry in entries), key=list(Trust).index)
    return TextOrigin(least.value, authors.pop() if len(authors) == 1 else None)


def _is_note(place: BookPath, data: bytes) -> bool:
    return place.name.endswith(".md") and not is_binary(data)


def _revive(context: BookContext, place: BookPath) -> bool:
    """Revive a memory that is read. A file that only looks like one is left alone."""
    with context.reading() as index:
        is_known = index.get(*split_path(place)) is not None
    return is_known and context.revive([split_path(place)])


def _choose_entries(data: bytes, note: Note | None, tail: int | None, tags: frozenset[str]) -> tuple[bytes, int]:
    """Return the part of a file that was asked for: its last entries, or lines, and those with these tags."""
    if note is None or not (note.blocks or tags):
        plain = b"" if tags else data if tail is None else select_last_lines(data, tail)
        return plain, len(note.entries) if note is not None else 0
    if tail is None and not tags:
        return data, len(note.entries)
    fits = [raw for entry, raw in _raw_entries(note) if tags <= {*entry.tags, *note.meta.tags}]
    last = fits if tail is None else fits[-tail:]
    return "".join(last).encode("utf-8", "surrogateescape"), len(last)


def _raw_entries(note: Note) -> list[tuple[Entry, str]]:
    """Return each entry as it stands in the file; what a person wrote above the first one counts as one, too."""
    by_hand = note.entries[: len(note.entries) - len(note.blocks)]
    return [*((entry, f"{entry.text}\n\n") for entry in by_hand), *((block.entry, block.raw) for block in note.blocks)]


def _cut_at(data: bytes, offset: int, most: int) -> int:
    """Return where a piece ends that is no longer than an answer may be, and cuts no character."""
    limit = offset + most
    if limit >= len(data):
        return len(data)
    starts = (end for end in range(limit, limit - 4, -1) if data[end] & 0xC0 != 0x80)
    return next(starts, limit)  # four bytes in a row that start no character are no text anyway


@verb(
    Access.READ,
    audit=lambda result, _: {"status": result.exit_code},
    command="files sh",
    examples=(
        "commonplace files sh -c 'grep -rin deploy /memories'",
        "commonplace files sh -c 'query /data/prices.csv --field item --equals tea' --json",
        "commonplace files sh",
    ),
)
def shell(context: BookContext, request: ShellRequest) -> ShellResult:
    """Explore the book with a read-only shell.

    The commands of a shell that only read: ls, cat, head, tail, grep, find, wc, stat, tree, and query for records.
    `help` lists them. / is the book's root, as you may see it. With -c it runs one command; otherwise it prompts, or
    reads lines from standard input. The exit status is that of the last command: 1 when grep or query finds nothing,
    127 for an unknown command.
    """
    session = open_session.run(context, request)
    ran = session.run(request.command or "")
    stdout = drop_half_character(ran.stdout, is_cut=ran.truncated).decode("utf-8", "backslashreplace")
    stderr = ran.stderr.decode("utf-8", "backslashreplace")
    return ShellResult(stdout, stderr, ran.exit_code, ran.cwd, ran.truncated, ran.next)


@verb(Access.READ, audit=lambda _result, _request: {"status": None}, audit_name="shell")
def open_session(context: BookContext, request: ShellRequest) -> ShellSession:
    """Return a shell that remembers its folder and answers bytes."""
    everything = request.everything
    place = _find_folder(view_reader(context, everything=everything), request.in_folder)
    return ShellSession(lambda: view_reader(context, everything=everything), place)


def drop_half_character(data: bytes, *, is_cut: bool) -> bytes:
    """Return data that was cut without the rest of a character that was cut in two at the end."""
    for back in range(1, 4) if is_cut else ():
        if data[-back:][:1] >= b"\xc0":
            size = 4 if data[-back] >= 0xF0 else 3 if data[-back] >= 0xE0 else 2
            return data[:-back] if size > back else data
    return data


def _render_list(found: FileList, _: ListFilesRequest) -> Answer:
    names = ("path", "kind", "summary", "updated", "entries", "status")
    data = {
        **shown_fields(found, "path", "hidden", "truncated", "next_offset"),
        "items": [shown_fields(item, *names) for item in found.items],
        **next_field(found.next),
    }
    body = "\n".join(_item_line(item) for item in found.items)
    hidden = f", {found.hidden} superseded, expired or waiting left out" if found.hidden else ""
    return fenced_answer(data, f"{len(found.items)} in {visible(found.path)}{hidden}.", body, found.path, found.next)


def next_field(next_call: str) -> dict[str, str]:
    """Return the field that says how to continue, if there is more."""
    return {"next": next_call} if next_call else {}


def _item_line(item: FileItem) -> str:
    if item.kind == "folder":
        return f"{item.path}/ ({plural(item.entries, 'item', 'items')})"
    summary = f": {one_line(item.summary)}" if item.summary else ""
    status = f", {item.status}" if item.status not in ("", "active") else ""
    return f"{item.path} ({item.updated[:10]}, {plural(item.entries, 'entry', 'entries')}{status}){summary}"


def _render_text(found: FileText, _: ReadFileRequest) -> Answer:
    data = {
        **shown_fields(found, "path", "text", "trust", "author", "binary", "revision", "truncated", "next_offset"),
        **next_field(found.next),
    }
    if found.binary:
        return Answer(data, f"{visible(found.path)} is not text ({found.size:,} bytes).")
    return fenced_answer(data, f"{visible(found.path)}.", found.text, found.path, found.next)


def _render_shell(found: ShellResult, _: ShellRequest) -> Answer:
    data = {
        **shown_fields(found, "stdout", "stderr", "exit_code", "cwd", "truncated"),
        "trust": Trust.EXTERNAL.value,  # its lines may come from any file
        **next_field(found.next),
    }
    problems = [visible(found.stderr).rstrip("\n")] if found.stderr else []
    more = "\n".join([*problems, *([found.next] if found.next else [])])
    heading = f"exit {found.exit_code}, in {visible(found.cwd)}."
    return fenced_answer(data, heading, found.stdout.rstrip("\n"), "shell", more)


TOOLS = (
    make_tool(
        list_memories, "list_memories", "List files", "files",
        "What is in a folder of the book: folders, and notes with summary, time and number of entries. Start at /.",
        result_schema(
            "path", "items", "truncated", path="string", hidden="integer", **MORE_FIELDS,
            items=rows_schema("path", "kind", "summary", "updated", entries="integer", status="string"),
        ),
        _render_list,
    ),
    make_tool(
        read_memory, "read_memory", "Read file", "files",
        "The text of a file: all, its last entries (lines, where it has none), or the entries with these tags.",
        result_schema(
            "path", "text", "truncated",
            **dict.fromkeys(("path", "text", "trust", "author", "revision"), "string"), binary="boolean", **MORE_FIELDS,
        ),
        _render_text,
    ),
    make_tool(
        shell, "memory_shell", "Shell", "files",
        "Look around with read-only commands: pwd, ls, cat, head, tail, stat, find, grep, wc, tree, query; `help` says "
        "more. One command, no pipes.",
        result_schema(
            "stdout", "stderr", "exit_code", "cwd", "truncated",
            **dict.fromkeys(("stdout", "stderr", "trust", "cwd", "next"), "string"),
            exit_code="integer", truncated="boolean",
        ),
        _render_shell,
    ),
)  # fmt: skip
