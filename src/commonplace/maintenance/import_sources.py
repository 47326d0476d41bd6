"""Read a source of an import: list its files, detect the format, read the texts, and call the format's reader.

The verb calls `read_source`. Nothing is ever changed, and nothing outside the source is read: the source itself may be
a link, because the caller named it, but below it no link is followed and only plain files are opened. A file that was
replaced between listing and reading is skipped. Hidden folders (.git, .obsidian) are not listed.
"""

import errno
import os
import stat as st
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.maintenance.import_agent_readers import (
    AGENTS_FILES,
    CAO_HEADER,
    CLAUDE_INDEX,
    keep_own_scopes,
    mark_personal,
    read_agents_md,
    read_cao_wiki,
    read_claude_code,
    read_scaffold,
)
from commonplace.maintenance.import_memory_readers import (
    is_mcp_memory,
    is_mem0,
    read_basic_memory,
    read_mcp_memory,
    read_mem0,
)
from commonplace.maintenance.import_records import ReadResult, SourceFile, file_stem, find_objects, skip
from commonplace.model.errors import (
    AmbiguousFormat,
    NotFound,
    SourceRefused,
    TooManyFiles,
    UnknownFormat,
    Unreadable,
)
from commonplace.model.results import SkippedItem
from commonplace.model.times import format_time
from commonplace.text.frontmatter import split

MAX_FILE = 64_000_000
MAX_BYTES = 256_000_000
MAX_FILES = 100_000
MAX_LEVELS = 12
HEAD = 16_384  # bytes that are read to recognise a file
_FILES_SAMPLED = 200  # files that are read to recognise a folder
_JUNCTION = 0xA0000003  # the tag of a Windows mount point: a link to a folder


class SourceEntry(NamedTuple):
    """A file of a source as it was listed."""

    name: str  # its path inside the source
    path: str
    stat: os.stat_result


class Source(NamedTuple):
    """A file or folder to import from."""

    given: str  # as the caller named it, made absolute
    is_folder: bool
    files: tuple[SourceEntry, ...]  # of a single file, that one
    skipped: tuple[SkippedItem, ...]

    @property
    def is_personal(self) -> bool:
        """Whether the source is among the user's settings: directly in a hidden folder of the home (~/.claude), or in
        one of ~/.config. Not deeper: there may be clones of other people's repositories."""
        folder = self.given if self.is_folder else os.path.dirname(self.given)
        home = os.path.abspath(os.path.expanduser("~"))
        if not _is_same_drive(folder, home):
            return False
        first, *rest = os.path.relpath(folder, home).split(os.sep)
        is_hidden = first.startswith(".") and first not in (os.curdir, os.pardir)
        return is_hidden and len(rest) == (1 if first == ".config" else 0)


class SourceContent(NamedTuple):
    """Everything that was read from a source."""

    format: str
    result: ReadResult
    is_personal: bool  # whether the user wrote it: instructions in the user's own settings


def read_source(
    source: str | os.PathLike[str], format_name: str | None, *, book: str, has_scope: bool
) -> SourceContent:
    """Return the items of a source. `has_scope`: the caller named one scope for all of them."""
    listing = list_source(source, book)
    source_format = detect_format(listing, format_name)
    wanted = [file for file in listing.files if not listing.is_folder or source_format.wants(file.name)]
    texts, unread = read_files(wanted)
    result = source_format.read(texts)
    # Anyone who can write to a repository can write its instruction files; those in the user's settings are the user's.
    is_personal = source_format.name == "agents-md" and listing.is_personal
    if is_personal:
        result = mark_personal(result)
    if source_format.name == "cao-wiki" and not has_scope:
        result = keep_own_scopes(result)
    others: list[SkippedItem] = []
    if source_format.is_store:
        names = {file.name for file in wanted}
        others = [skip(file.name, "other_file") for file in listing.files if file.name not in names]
    skipped = (*listing.skipped, *unread, *result.skipped, *others)
    return SourceContent(source_format.name, ReadResult(result.items, skipped), is_personal)


# Files


def list_source(source: str | os.PathLike[str], book: str) -> Source:
    """List the files of a source. Raises `SourceRefused` for the book itself, and for anything in or around it."""
    name = os.fspath(source)
    if not name:
        raise NotFound("No source was named.", hint="Name a file or a folder.")
    try:
        given = os.path.abspath(os.path.expanduser(name))
        path = os.path.realpath(given)
        stat = os.stat(path)
    except (OSError, ValueError) as error:
        raise _explain_error(name, error) from None
    root = os.path.realpath(book)
    if _is_same_drive(path, root) and os.path.commonpath([path, root]) in (path, root):
        raise SourceRefused("The source overlaps with this book.", hint="Name another folder or file.")
    if st.S_ISDIR(stat.st_mode):
        files, skipped = _list_files(path)
        return Source(given, is_folder=True, files=tuple(files), skipped=tuple(skipped))
    if not st.S_ISREG(stat.st_mode):
        raise SourceRefused(f"{name!a} is neither a file nor a folder.")
    return Source(given, is_folder=False, files=(SourceEntry(os.path.basename(path), path, stat),), skipped=())


def read_files(files: Iterable[SourceEntry]) -> tuple[list[SourceFile], list[SkippedItem]]:
    """Return the texts of these files, and those that could not be read."""
    texts: list[SourceFile] = []
    skipped: list[SkippedItem] = []
    total = 0
    for file in files:
        size = file.stat.st_size
        if size > MAX_FILE:
            skipped.append(skip(file.name, "too_large", f"({size:,} bytes; {MAX_FILE:,} is the most)"))
            continue
        total += size
        if total > MAX_BYTES:
            raise SourceRefused(f"The source has more than {MAX_BYTES:,} bytes.", hint="Import it in parts.")
        data = _read_bytes(file, MAX_FILE, skipped)
        if data is None:
            continue
        try:
            texts.append(SourceFile(file.name, data.decode("utf-8-sig"), _format_mtime(file.stat)))
        except UnicodeDecodeError:
            skipped.append(skip(file.name, "not_utf8"))
    return texts, skipped


def _list_files(root: str) -> tuple[list[SourceEntry], list[SkippedItem]]:
    files: list[SourceEntry] = []
    skipped: list[SkippedItem] = []
    waiting: list[tuple[tuple[str, ...], str]] = [((), root)]
    while waiting:
        parts, folder = waiting.pop()
        subfolders: list[tuple[tuple[str, ...], str]] = []
        for entry, stat in _scan_folder(folder, "/".join(parts), skipped):
            entry_parts = (*parts, entry.name)
            name = "/".join(entry_parts).encode("utf-8", "backslashreplace").decode()
            if st.S_ISDIR(stat.st_mode) and getattr(stat, "st_reparse_tag", 0) != _JUNCTION:
                if len(entry_parts) >= MAX_LEVELS:
                    skipped.append(skip(name, "too_deep"))
                elif not entry.name.startswith("."):
                    subfolders.append((entry_parts, entry.path))
            elif st.S_ISREG(stat.st_mode):
                files.append(SourceEntry(name, entry.path, stat))
            else:
                skipped.append(skip(name, "link"))
        waiting += reversed(subfolders)
        if len(files) > MAX_FILES:
            raise SourceRefused(f"The source has more than {MAX_FILES:,} files.", hint="Name the folder more exactly.")
    return sorted(files, key=lambda file: file.name), skipped


def _scan_folder(folder: str, name: str, skipped: list[SkippedItem]) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        if not name:
            raise _explain_error(folder, error) from None
        skipped.append(skip(name, "unreadable"))
        return []
    with_stat: list[tuple[os.DirEntry[str], os.stat_result]] = []
    for entry in entries:
        try:
            # On Windows the entry's own stat has no inode, by which we see that a file is still the same.
            with_stat.append((entry, os.stat(entry.path, follow_symlinks=False)))
        except OSError:
            skipped.append(skip(f"{name}/{entry.name}".lstrip("/"), "unreadable"))
    return with_stat


def _read_bytes(file: SourceEntry, limit: int, skipped: list[SkippedItem]) -> bytes | None:
    try:
        with open(file.path, "rb") as stream:
            if not os.path.samestat(os.fstat(stream.fileno()), file.stat):
                skipped.append(skip(file.name, "link", "(it was replaced during the import)"))
                return None
            return stream.read(limit)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise TooManyFiles from None
        skipped.append(skip(file.name, "unreadable"))
        return None


def _format_mtime(stat: os.stat_result) -> str | None:
    try:
        return format_time(datetime.fromtimestamp(stat.st_mtime, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _is_same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0].lower() == os.path.splitdrive(other)[0].lower()


def _explain_error(given: str, error: OSError | ValueError) -> Exception:
    if isinstance(error, PermissionError):
        return Unreadable(f"You do not have permission to read {given!a}.")
    reason = error.strerror if isinstance(error, OSError) else "not a path"
    return NotFound(f"{given!a} cannot be read: {reason}.", hint="Check the path.")


# Formats


class ImportFormat(NamedTuple):
    """A format that can be imported."""

    name: str
    wants: Callable[[str], bool]  # whether a file of this name is read
    read: Callable[[Sequence[SourceFile]], ReadResult]
    is_store: bool = True  # whether a folder of this format has nothing else in it: then other files are reported


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(".md")


def _is_json(name: str) -> bool:
    return name.lower().endswith((".json", ".jsonl", ".ndjson"))


def _is_agents_file(name: str) -> bool:
    return name in AGENTS_FILES


FORMATS: Mapping[str, ImportFormat] = {
    one.name: one
    for one in (
        ImportFormat("claude-code", _is_markdown, read_claude_code),
        ImportFormat("agents-md", _is_agents_file, read_agents_md, is_store=False),
        ImportFormat("scaffold", _is_markdown, read_scaffold),
        ImportFormat("cao-wiki", _is_markdown, read_cao_wiki),
        ImportFormat("basic-memory", _is_markdown, read_basic_memory),
        ImportFormat("mcp-memory", _is_json, read_mcp_memory, is_store=False),
        ImportFormat("mem0", _is_json, read_mem0, is_store=False),
    )
}
_FORMATS_HINT = f"The formats are: {', '.join(FORMATS)}."


def detect_format(source: Source, given: str | None) -> ImportFormat:
    """Return the format that the caller named, else the one that the source looks like.

    A source that looks like several formats, or like none, is refused with the list: a wrong guess would scatter the
    user's notes.
    """
    if given is not None:
        if given not in FORMATS:
            raise UnknownFormat(f"{given[:40]!a} is not a format.", hint=_FORMATS_HINT)
        return FORMATS[given]
    candidates = _detect_in_folder(source.files) if source.is_folder else detect_in_file(source.files[0])
    if not candidates:
        raise UnknownFormat(hint=f"Name it with --from. {_FORMATS_HINT}")
    if len(candidates) > 1:
        names = " and ".join(name for name in FORMATS if name in candidates)
        hint = f"Name the one you mean with --from. {_FORMATS_HINT}"
        raise AmbiguousFormat(f"The source looks like {names}.", hint=hint)
    return FORMATS[candidates.pop()]


def _detect_in_folder(files: Sequence[SourceEntry]) -> set[str]:
    names = {file.name for file in files}
    top_names = {name for name in names if "/" not in name}
    found = {"agents-md"} if top_names & set(AGENTS_FILES) else set()
    if CLAUDE_INDEX in top_names:
        return found | {"claude-code"}
    if "index.md" in top_names and names & {"definition.md", "system/definition.md"}:
        return found | {"scaffold"}
    if found:  # a repository: notes that are somewhere in it do not count
        return found
    notes = [file for file in files if _is_markdown(file.name)][:_FILES_SAMPLED]
    data = [file for file in files if _is_json(file.name) and file.name in top_names][:_FILES_SAMPLED]
    return {name for file in (*notes, *data) for name in detect_in_file(file)} - {"agents-md", "claude-code"}


def detect_in_file(file: SourceEntry) -> set[str]:
    """Return the formats that a file looks like, by its name and its first bytes."""
    if _is_agents_file(file.name):
        return {"agents-md"}
    head = (_read_bytes(file, HEAD, []) or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if _is_json(file.name):
        objects = find_objects(head)
        checks = (("mcp-memory", is_mcp_memory), ("mem0", is_mem0))
        return {name for name, is_one in checks if any(map(is_one, objects))}
    if not _is_markdown(file.name):
        return set()
    if CAO_HEADER.search(head):
        return {"cao-wiki"}
    front, _ = split(head)
    if front.text("permalink"):
        return {"basic-memory"}
    if file_stem(file.name).lower() == "memory" or (front.text("name") and front.text("description")):
        return {"claude-code"}
    return set()
