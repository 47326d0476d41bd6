"""The files of a book as they are on disk: walk them all, check names, kinds and modes, and find stored secrets.

`doctor` and `scan` walk a book with `walk_book`, which shows also what the index and recall ignore: odd names, links,
hidden files. It opens nothing but folders, follows no link and always ends, because a path has at most 12 levels.
`check_files` reports, for `doctor`, what is wrong with files without reading them.

`scan` finds secrets in what is already stored, from before the check at `store` or written by hand. It reads everything
a person or an agent may have written: notes, pages, data files that are text, history, trash, settings. A secret is
reported by its place and rule; its value is never kept, returned or shown. The verb `scan` calls it.
"""

import codecs
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from commonplace.maintenance.findings import NOTE, WARNING, FindingList
from commonplace.memories.history import HISTORY, TOMBSTONES, TRASH
from commonplace.memories.pages import SUB_PAGES
from commonplace.memories.store import MemoryStore
from commonplace.model.errors import CommonplaceError, InvalidPath, NotFound, TooManyFiles
from commonplace.model.names import find_name_fault, fold_name, is_key_name
from commonplace.model.results import ScanResult, SecretPlace
from commonplace.model.scope import ScopeKind
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, MAX_LEVELS, MEMORIES, PRIVATE, ROOT, BookPath
from commonplace.vault.port import UNUSABLE, FileKind, Stat
from commonplace.vault.scope_pages import SCOPE_PAGE

UNUSABLE_DATABASES = (
    "index.db.unusable-",
    "tree.db.unusable-",
    "state.db.aside-",
)  # how the names of replaced databases start
_TOP_NAMES = ("index.md", "system", MEMORIES.name, "data", "journal", "tree", PRIVATE.name)
_SCOPE_KINDS = {kind.value: kind for kind in ScopeKind}
_ENTER, _READ, _CHANGE = 0o011, 0o044, 0o022  # mode bits of the group and of others
MAX_BYTES = 16_000_000  # of a file that `scan` reads
DATABASES = ("index.db", "state.db", "tree.db")  # with their logs; the files have the same text
_FILES = ("index.md", "book-id", "format", "config.toml", "key", "received", "prefetch.md", ".gitignore", *DATABASES)
_FOLDERS = (
    *_SCOPE_KINDS, *_TOP_NAMES[1:], "history", "trash", "tombstones", "vouched", "revisions", "locks", "audit",
)  # fmt: skip
_MASK = "[secret]"
_BINARY_HEAD = 8_192  # a NUL in the first bytes: not text

T = TypeVar("T")
ErrorHandler = Callable[[BookPath, CommonplaceError], None]
"""Called with each file or folder that cannot be read, and why."""


class FolderItem(NamedTuple):
    """A file, folder or link. `path` is None where no book path can lead: the name is odd, or it is too deep."""

    folder: BookPath
    name: str
    stat: Stat
    path: BookPath | None

    @property
    def is_file(self) -> bool:
        """Whether this is a plain file."""
        return self.stat.kind is FileKind.FILE

    @property
    def is_note(self) -> bool:
        """Whether this is a file with the name of a memory."""
        stem = self.name.removesuffix(".md")
        return self.is_file and stem != self.name and is_key_name(stem) and find_name_fault(self.name) is None

    def __str__(self) -> str:
        return _full_name(self.folder, self.name)


def walk_book(memories: MemoryStore, on_error: ErrorHandler) -> Iterator[tuple[BookPath, list[FolderItem]]]:
    """Yield every folder of the book with its items, parents before children.

    At the root, only the book's own names are shown: a person may keep other things there (.git, .obsidian).
    """
    waiting = [ROOT]
    while waiting:
        folder = waiting.pop()
        listing = try_read(memories.files.list_folder, folder, on_error)
        if listing is None:
            continue
        if folder == ROOT:
            listing = [one for one in listing if one.name in _TOP_NAMES]
        items = [_folder_item(folder, one.name, one.stat) for one in listing]
        yield folder, items
        waiting += [item.path for item in reversed(items) if item.path and item.stat.kind is FileKind.FOLDER]


def _folder_item(folder: BookPath, name: str, stat: Stat) -> FolderItem:
    try:
        return FolderItem(folder, name, stat, folder / name)
    except InvalidPath:
        return FolderItem(folder, name, stat, None)


def _full_name(folder: BookPath, name: str) -> str:
    return f"{'' if folder == ROOT else folder}/{name}"


def try_read(read: Callable[[BookPath], T], path: BookPath, on_error: ErrorHandler) -> T | None:
    """Return a file or the list of a folder, as `read` gives it; None where it is gone or cannot be read."""
    try:
        return read(path)
    except NotFound:  # deleted since it was listed
        return None
    except TooManyFiles:
        raise  # not a fault of this file: the process has no file handle left
    except CommonplaceError as error:
        on_error(path, error)
        return None


# Checks of names, kinds and modes


NotesByScope = dict[BookPath, dict[BookPath, Stat]]


def check_files(memories: MemoryStore, findings: FindingList, root: str) -> tuple[NotesByScope, list[str]]:
    """Check the name, kind and mode of everything in the book, whose folder is `root`.

    Return the notes of every scope, by the scope's folder, and the paths of all other files.
    """
    notes: NotesByScope = {}
    others: list[str] = []
    modes: dict[BookPath, int] = {}
    open_items: list[OpenItem] = []
    with suppress(OSError):
        mode = os.stat(root).st_mode & 0o777  # of what it leads to: the root may itself be a link
        if os.name != "nt":  # Windows has no such modes
            modes[ROOT] = mode
            if mode & 0o077:
                open_items.append(("/", mode, bool(mode & _CHANGE)))
    for folder, items in walk_book(memories, findings.add_unreadable):
        scope = _find_scope(folder)
        if scope:
            notes.setdefault(scope, {})
        for item in items:
            _check_access(open_items, item, modes)
            _check_name(findings, item, scope)
            _check_kind(findings, item)
            if scope and item.path and item.is_note:
                notes[scope][item.path] = item.stat
            elif item.is_file:
                others.append(str(item).removeprefix("/"))
        by_name: dict[str, FolderItem] = {}
        for item in items if folder.is_within(MEMORIES) else ():
            first = by_name.setdefault(fold_name(item.name), item)
            if first is not item:
                findings.add("same_name", item, f"On macOS and Windows this is the same file as {first.name!a}.")
        with suppress(*UNUSABLE):
            for leftover in memories.vault.list_temp_files(memories.space, folder):
                findings.add("left_over", _full_name(folder, leftover.name))
    _report_modes(findings, open_items, root)
    return notes, others


def _check_kind(findings: FindingList, item: FolderItem) -> None:
    """Report a folder where the book has a file, or a file where it has a folder."""
    if item.folder.top == "data" and str(item) != "/data/index.md":
        return
    if item.folder in (ROOT, PRIVATE, MEMORIES):
        is_file_place, is_folder_place = item.name in _FILES, item.name in _FOLDERS
    else:
        is_file_place = item.folder == TOMBSTONES or item.name.endswith((".md", ".lock", ".txt", ".json"))
        # Of folders, with named files at their ends.
        is_tree = any(map(item.folder.is_within, (HISTORY, TRASH, JOURNAL)))
        is_folder_place = item.name == SUB_PAGES or (is_tree and "." not in item.name)
    kind = item.stat.kind
    if (is_file_place and kind is FileKind.FOLDER) or (is_folder_place and kind is FileKind.FILE):
        findings.add("wrong_kind", item)


def _find_scope(folder: BookPath) -> BookPath | None:
    """Return the scope folder that this folder belongs to; None where it may hold no memories."""
    kind = _SCOPE_KINDS.get(folder.parts[1]) if len(folder.parts) > 1 and folder.is_within(MEMORIES) else None
    if kind is None:
        return None
    depth = 3 if kind.has_id else 2
    fits = depth <= len(folder.parts) <= MAX_LEVELS - 2 and all(map(is_key_name, folder.parts[depth:]))
    return BookPath(*folder.parts[:depth]) if fits else None


def _check_name(findings: FindingList, item: FolderItem, scope: BookPath | None) -> None:
    """Report what stands among the memories and can be none. Inside an ignored folder nothing more is reported."""
    if item.stat.kind is FileKind.OTHER:
        findings.add("link", item)
        return
    if scope:
        fault = _find_fault_in_scope(item, scope)
    elif item.folder == MEMORIES or (item.folder.parent == MEMORIES and item.folder.name in _SCOPE_KINDS):
        fault = _find_fault_above_scopes(item)
    else:
        return
    if fault:
        is_hidden = item.name.startswith(("_", ".")) or (item.is_file and not item.name.endswith(".md"))
        findings.add("hidden_file" if is_hidden else "ignored_file", item, f"This is not a memory: {fault}.")


def _find_fault_above_scopes(item: FolderItem) -> str | None:
    """Return what is wrong with an item of memories/ or memories/KIND/: only folders and an index page belong there."""
    if item.is_file:
        return None if item.name == INDEX_PAGE else "it is above the folders of the scopes"
    if item.path is None:
        return f"its name {find_name_fault(item.name)}"
    return None if item.folder != MEMORIES or item.name in _SCOPE_KINDS else "its folder belongs to no scope"


def _find_fault_in_scope(item: FolderItem, scope: BookPath) -> str | None:
    if item.is_file:
        if item.name == INDEX_PAGE or (item.name == SCOPE_PAGE and item.folder == scope) or item.is_note:
            return None
        if not item.name.endswith(".md"):
            return "it is not a Markdown file"
    elif item.name == SUB_PAGES or (item.path and _find_scope(item.path)):
        return None
    fault = find_name_fault(item.name)
    if fault:
        return f"its name {fault}"
    if item.name.startswith(("_", ".")):
        return "its name starts with _ or ."
    if item.name.removesuffix(".md").casefold() == "index":
        return "its name is reserved for index pages"
    if item.stat.kind is FileKind.FOLDER and is_key_name(item.name):
        return f"notes are at most {MAX_LEVELS - 1} levels deep"
    return f"its name {find_name_fault(item.name.removesuffix('.md')) or 'cannot be a key'}"


OpenItem = tuple[str, int, bool]
"""The path and mode of an item that lets other users in, and whether they can get there."""


def _check_access(open_items: list[OpenItem], item: FolderItem, modes: dict[BookPath, int]) -> None:
    """Add an item whose mode lets other users in.

    `modes` has those of the folders, each combined with the folders above; without any, nothing is checked.
    """
    mode, kind = item.stat.mode, item.stat.kind
    if not modes or kind is FileKind.OTHER:  # a link's own mode means nothing
        return
    may_enter = modes.get(item.folder, 0) & _ENTER
    if kind is FileKind.FOLDER and item.path:
        modes[item.path] = mode & may_enter
    harmful = (_CHANGE if kind is FileKind.FOLDER else _READ | _CHANGE) & mode
    if mode & 0o077:
        open_items.append((str(item), mode, bool(harmful & (may_enter << 1 | may_enter << 2))))


def _report_modes(findings: FindingList, open_items: list[OpenItem], root: str) -> None:
    """Add one finding for all that lets other users in, because one command closes it: every file of a fresh clone is
    open. It is a warning where another user can read or change a text, a note where the modes only look open."""
    open_items.sort(key=lambda item: not item[2])
    if not open_items:
        return
    where, mode, is_harmful = open_items[0]
    number = sum(item[2] for item in open_items) if is_harmful else len(open_items)
    effect = "Other users can read or change it" if is_harmful else "It need not let other users in"
    more = f", and {number - 1:,} more" if number > 1 else ""
    message = f"Its mode is {mode:04o}. {effect}{more}. Close all with `chmod -R go= {shlex.quote(root)}`."
    findings.add("open_to_others", where, message, severity=WARNING if is_harmful else NOTE)


# Secrets


SecretFinder = Callable[[str], Sequence[tuple[str, int, int]]]
"""Returns rule, start and end of the secrets of a text, in order, without those on lines marked as false positives."""


def scan(memories: MemoryStore, find_secrets: SecretFinder) -> ScanResult:
    """Return where the book has secrets. `find_secrets` is the rule that `store` uses."""
    places: list[SecretPlace] = []
    skipped = FindingList()
    files = 0

    def on_error(path: BookPath, error: CommonplaceError) -> None:
        skipped.add_unreadable(_mask(str(path), find_secrets), error, "not_scanned")

    for _, items in walk_book(memories, on_error):
        for item in items:
            path = _mask(str(item), find_secrets)
            places += [SecretPlace(path, 0, rule) for rule, _, _ in find_secrets(item.name)]
            is_aside = item.folder == PRIVATE and item.name.startswith(UNUSABLE_DATABASES)
            is_database = item.folder == PRIVATE and item.name.startswith(DATABASES) and not is_aside
            if not item.is_file or is_database:
                continue
            if item.path is None:
                skipped.add("not_scanned", path, "A book cannot have such a name, so it was not opened.")
            elif is_aside:
                skipped.add("not_scanned", path, "An unusable database may hold old text, and was not read.")
            elif item.stat.size > MAX_BYTES:
                message = f"It has {item.stat.size:,} bytes; no file of more than {MAX_BYTES:,} is read."
                skipped.add("not_scanned", path, message)
            else:
                files += 1
                document = try_read(memories.files.read, item.path, on_error)
                found = _scan_text(item.name, document.data, find_secrets) if document else ()
                places += [SecretPlace(path, line, rule) for line, rule in found]
    places.sort(key=lambda place: (place.path, place.line, place.rule))
    return ScanResult(not places, files, tuple(places), tuple(skipped.sort()))


def _mask(path: str, find_secrets: SecretFinder) -> str:
    """Return a path that may be shown: secrets in its names are masked."""
    masked = []
    for name in path.split("/"):
        text = name
        for _, start, end in reversed(find_secrets(name)):
            text = text[:start] + _MASK + text[end:]
        masked.append(text)
    return "/".join(masked).encode("utf-8", "backslashreplace").decode()


def _scan_text(name: str, data: bytes, find_secrets: SecretFinder) -> Iterator[tuple[int, str]]:
    """Yield line and rule of each secret in a text file; a note always counts as text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:_BINARY_HEAD] and not name.endswith(".md"):
        return
    else:
        text = data.decode("utf-8", "replace")
    line, at = 1, 0
    for rule, start, _ in find_secrets(text):
        line += text.count("\n", at, start)
        at = start
        yield line, rule
