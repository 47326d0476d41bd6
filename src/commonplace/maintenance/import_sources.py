"""Read a source of an import: list its files, detect the format, read the texts, and call the format's reader.

The verb calls `read_source`. Nothing is ever changed, and nothing outside the source is read: the source itself may be
a link, because the caller named it, but below it no link is followed and only plain files are opened. A file that was
replaced between listing and reading is skipped. Hidden folders (.git, .obsidian) are not listed.
"""

import errno
import os
import stat as st
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from commonplace.maintenance.import_markdown_readers import (
    AGENTS_FILES,
    CAO_HEADER,
    CLAUDE_INDEX,
    keep_own_scopes,
    read_agents_md,
    read_basic_memory,
    read_cao_wiki,
    read_claude_code,
    read_scaffold,
)
from commonplace.maintenance.import_records import (
    ImportItem,
    SourceFile,
    collect,
    file_stem,
    find_objects,
    is_mcp_memory,
    is_mem0,
    read_mcp_memory,
    read_mem0,
    skip,
)
from commonplace.model.errors import AmbiguousFormat, SourceRefused, TooManyFiles, UnknownFormat
from commonplace.model.memory import MemoryType
from commonplace.model.results import SkippedItem
from commonplace.model.times import format_time
from commonplace.text.frontmatter import split
from commonplace.vault.named_files import resolve_source, walk_folder
from commonplace.vault.source_files import SourceEntry, UnlistedPath, open_listed

__all__ = [
    "DATA_FOLDER",
    "FORMATS",
    "SourceEntry",
    "detect_in_file",
    "list_source",
    "read_data",
    "read_files",
    "read_source",
]

DATA_FOLDER = "data/"
_DATA_PAGE = f"{DATA_FOLDER}index.md"
MAX_FILE = 64_000_000
MAX_BYTES = 256_000_000
MAX_FILES = 100_000
MAX_LEVELS = 12
HEAD = 16_384  # bytes that are read to recognise a file
_FILES_SAMPLED = 200  # files that are read to recognise a folder


class Source(NamedTuple):
    """A file or folder to import from."""

    given: str  # as the caller named it, made absolute
    files: list[SourceEntry]  # of a single file, that one
    skipped: list[SkippedItem]
    is_folder: bool

    @property
    def is_personal(self) -> bool:
        """Whether the source is among the user's settings: directly in a hidden folder of the home (~/.claude), or in
        one of ~/.config. Not deeper: there may be clones of other people's repositories."""
        folder = self.given if self.is_folder else os.path.dirname(self.given)
        home = os.path.normcase(os.path.abspath(os.path.expanduser("~")))
        parent, name = os.path.split(os.path.normcase(folder))
        if parent == home:
            return name.startswith(".") and name != ".config"
        return parent == os.path.join(home, ".config")


class SourceContent(NamedTuple):
    """Everything that was read from a source."""

    format: str
    items: list[ImportItem]
    skipped: list[SkippedItem]
    is_personal: bool  # whether the user wrote it: instructions in the user's own settings
    data: list[SourceEntry]  # files beside the memories


def read_source(
    source: str | os.PathLike[str], format_name: str | None, *, book: str, has_scope: bool
) -> SourceContent:
    """Return the items of a source. `has_scope`: the caller named one scope for all of them."""
    listing = list_source(source, book)
    name = detect_format(listing, format_name)
    source_format = FORMATS[name]
    data = [file for file in listing.files if source_format.has_data and file.name.startswith(DATA_FOLDER)]
    others = {file.name for file in listing.files if listing.is_folder and not source_format.wants(file.name)}
    not_read = {*others, *(file.name for file in data)}
    texts, unread = collect(read_files(file for file in listing.files if file.name not in not_read))
    items, skipped = collect(source_format.read(texts))
    # Anyone who can write to a repository can write its instruction files; those in the user's settings are the user's.
    is_personal = name == "agents-md" and listing.is_personal
    if is_personal:
        items = [item._replace(type=MemoryType.USER, scope="global") for item in items]
    if name == "cao-wiki" and not has_scope:
        items, unplaced = collect(keep_own_scopes(items))
        skipped += unplaced
    if source_format.is_store:
        skipped += [skip(file.name, "other_file") for file in listing.files if file.name in others and file not in data]
        skipped += [skip(file.name, "index_page") for file in data if file.name == _DATA_PAGE]
    data = [file for file in data if file.name != _DATA_PAGE]
    return SourceContent(name, items, [*listing.skipped, *unread, *skipped], is_personal, data)


# Files


def list_source(source: str | os.PathLike[str], book: str) -> Source:
    """List the files of a source. Raises `SourceRefused` for the book itself, and for anything in or around it."""
    given, path, stat = resolve_source(os.fspath(source), book)
    if st.S_ISDIR(stat.st_mode):
        return Source(given, *_list_files(path), is_folder=True)
    return Source(given, [SourceEntry(os.path.basename(path), path, stat)], [], is_folder=False)


def read_files(files: Iterable[SourceEntry]) -> Iterator[SourceFile | SkippedItem]:
    """Yield the texts of these files, and those that cannot be read."""
    total = 0
    for file in files:
        size = file.stat.st_size
        if size > MAX_FILE:
            yield skip(file.name, "too_large", f"({size:,} bytes; {MAX_FILE:,} is the most)")
            continue
        total += size
        if total > MAX_BYTES:
            raise SourceRefused(f"The source has more than {MAX_BYTES:,} bytes.", hint="Import it in parts.")
        data = _read_bytes(file, MAX_FILE)
        if isinstance(data, SkippedItem):
            yield data
            continue
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")  # whatever a reader looks for, lines end alike
            yield SourceFile(file.name, text, _format_mtime(file.stat))
        except UnicodeDecodeError:
            yield skip(file.name, "not_utf8")


def read_data(file: SourceEntry) -> bytes | SkippedItem:
    """Return the bytes of a data file, or why it is skipped."""
    if file.stat.st_size > MAX_FILE:
        return skip(file.name, "too_large", f"({file.stat.st_size:,} bytes; {MAX_FILE:,} is the most)")
    return _read_bytes(file, MAX_FILE)


def _list_files(root: str) -> tuple[list[SourceEntry], list[SkippedItem]]:
    files: list[SourceEntry] = []
    skipped: list[SkippedItem] = []
    for found in walk_folder(root, MAX_LEVELS):
        if isinstance(found, UnlistedPath):
            skipped.append(skip(found.name, found.reason))
            continue
        files.append(found)
        if len(files) > MAX_FILES:
            raise SourceRefused(f"The source has more than {MAX_FILES:,} files.", hint="Name the folder more exactly.")
    return sorted(files), skipped


def _read_bytes(file: SourceEntry, limit: int) -> bytes | SkippedItem:
    opener = partial(open_listed, listed=(file.stat.st_dev, file.stat.st_ino))
    try:
        with open(file.path, "rb", opener=opener) as stream:
            return stream.read(limit)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise TooManyFiles from None
        if error.errno == errno.ELOOP:
            return skip(file.name, "link", "(it was replaced during the import)")
        return skip(file.name, "unreadable")


def _format_mtime(stat: os.stat_result) -> str | None:
    try:
        return format_time(datetime.fromtimestamp(stat.st_mtime, UTC))
    except (OverflowError, ValueError, OSError):
        return None


# Formats


class ImportFormat(NamedTuple):
    """A format that can be imported."""

    wants: Callable[[str], bool]  # whether a file of this name is read
    read: Callable[[Sequence[SourceFile]], Iterable[ImportItem | SkippedItem]]
    has_data: bool = False  # whether it keeps other files in data/
    is_store: bool = True  # whether a folder of this format has nothing else in it: then other files are reported


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(".md")


def _is_json(name: str) -> bool:
    return name.lower().endswith((".json", ".jsonl", ".ndjson"))


def _is_agents_file(name: str) -> bool:
    return name in AGENTS_FILES


FORMATS: Mapping[str, ImportFormat] = {
    "claude-code": ImportFormat(_is_markdown, read_claude_code),
    "agents-md": ImportFormat(_is_agents_file, read_agents_md, is_store=False),
    "scaffold": ImportFormat(_is_markdown, read_scaffold, has_data=True),
    "cao-wiki": ImportFormat(_is_markdown, read_cao_wiki),
    "basic-memory": ImportFormat(_is_markdown, read_basic_memory),
    "mcp-memory": ImportFormat(_is_json, read_mcp_memory, is_store=False),
    "mem0": ImportFormat(_is_json, read_mem0, is_store=False),
}
_FORMATS_HINT = f"The formats are: {', '.join(FORMATS)}."


def detect_format(source: Source, given: str | None) -> str:
    """Return the name of the format that the caller named, else the one that the source looks like.

    A source that looks like several formats, or like none, is refused with the list: a wrong guess would scatter the
    user's notes.
    """
    if given is not None:
        if given not in FORMATS:
            raise UnknownFormat(f"{given[:40]!a} is not a format.", hint=_FORMATS_HINT)
        return given
    candidates = _detect_in_folder(source.files) if source.is_folder else detect_in_file(source.files[0])
    if not candidates:
        raise UnknownFormat(hint=f"Name it with --from; scaffold reads any folder of Markdown notes. {_FORMATS_HINT}")
    if len(candidates) > 1:
        names = " and ".join(name for name in FORMATS if name in candidates)
        hint = f"Name the one you mean with --from. {_FORMATS_HINT}"
        raise AmbiguousFormat(f"The source looks like {names}.", hint=hint)
    return candidates.pop()


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
    data = _read_bytes(file, HEAD)
    head = "" if isinstance(data, SkippedItem) else data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
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
