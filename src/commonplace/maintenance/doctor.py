"""`doctor`: find everything that is wrong in a book, and say what to do about it.

It changes no note and deletes nothing. Only the index, which is derived, may be brought up to date; text that was
replaced or deleted outside is saved to the history first, as every other command does. It reads every note, whatever
else is broken, and never follows a link. This module compares files with what is recorded of them, and checks the text
of notes: fields and scopes that are wrong, copies, links to nothing. `book_files` checks names and modes, and
`findings` has the codes. The verb `doctor` calls `examine`.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from commonplace.index.values import StatSignature
from commonplace.maintenance.book_files import DATABASES, UNUSABLE_DATABASES, check_files, try_read
from commonplace.maintenance.broken_links import LinkCheck
from commonplace.maintenance.findings import CODES, NOTE, FindingList, cut_words
from commonplace.maintenance.lost_hooks import report_lost_hooks
from commonplace.memories.history import (
    DAMAGED,
    HISTORY,
    TRASH,
    find_damage,
    find_owner,
    past_folder,
    purged_ids,
    read_holder,
    read_name,
    read_records,
)
from commonplace.memories.layout import BOOK_ID, CONFIG, FORMAT, KEY, change_git_files, read_config, read_format
from commonplace.memories.pages import UNREADABLE
from commonplace.memories.rows import key_of, split_path
from commonplace.memories.store import MemoryStore
from commonplace.memories.upkeep import TRASH_DAYS, differs, verify_scope
from commonplace.model.errors import (
    CommonplaceError,
    InvalidField,
    InvalidScope,
    InvalidSettings,
    NotFound,
    TooManyFiles,
)
from commonplace.model.memory import PIN_PROPOSED, PIN_REJECTED, MemoryType, Status
from commonplace.model.names import is_uuid7
from commonplace.model.results import Finding
from commonplace.model.scope import LOCAL, Scope, ScopeKind
from commonplace.model.settings import split_config
from commonplace.model.times import is_timestamp, now, read_time, shift_time
from commonplace.text.frontmatter import Frontmatter, Value, split
from commonplace.text.notes import parse
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import JOURNAL, KEEPER, MAX_NOTE, MEMORIES, PRIVATE, ROOT, BookPath, max_size, resolve
from commonplace.vault.port import UNUSABLE, Document, Stat
from commonplace.vault.scope_pages import SCOPE_PAGE, ScopePage, read_scope_page

AUDIT = PRIVATE / "audit"
IndexRecord = tuple[str, StatSignature | None]
"""The revision that the index has of a note, and what the file looked like when it was indexed."""


def examine(
    memories: MemoryStore, *, root: str, database_folder: str, faults: Sequence[CommonplaceError] = ()
) -> list[Finding]:
    """Return everything that is wrong, worst first. The folders are where book and databases are on this machine;
    `faults` are what the book could not be opened with."""
    findings = FindingList()
    for error in faults:
        if not isinstance(error, (InvalidSettings, *UNUSABLE)):  # those are found where they are
            findings.add("not_opened", "/", f"{error.message} {error.hint}")
    invalid = [error for error in faults if isinstance(error, InvalidSettings)]
    _Examination(memories, findings).run(root, invalid)
    _check_audit(findings, root)
    _check_databases(findings, root, database_folder)
    _check_git(findings, memories, root)
    report_lost_hooks(findings, root)
    return findings.sort()


class _Examination:
    """One examination of a book through its vault and index."""

    def __init__(self, memories: MemoryStore, findings: FindingList) -> None:
        self._memories, self._files = memories, memories.files
        self._findings = findings
        self._add = findings.add
        # Of each note only what must be compared with others: a book may have a hundred thousand.
        self._first_with: dict[str, BookPath] = {}  # the first note that has an id, by id
        self._others_with: dict[str, list[BookPath]] = defaultdict(list)  # more notes that have it
        self._links = LinkCheck()
        self._damaged: set[str] = set()  # folders of the history with a text from before damage
        self._doubted = 0  # notes that claim more trust than they have here

    def run(self, root: str, invalid_settings: Sequence[InvalidSettings]) -> None:
        notes_by_scope, others = check_files(self._memories, self._findings, root)
        self._damaged = {f"/{os.path.dirname(name)}" for name in others if f".{DAMAGED}." in name}
        for scope, notes in notes_by_scope.items():
            self._check_scope(scope, notes)
        for path in others:
            self._check_other(path)
        self._check_ids()
        self._links.report(self._findings, notes_by_scope, others)
        self._check_config(invalid_settings)
        book_id = try_read(self._files.read, BOOK_ID, lambda *_: None)
        if book_id is not None and not is_uuid7(book_id.data.decode("utf-8", "replace").strip()):
            self._add("book_id", BOOK_ID)
        self._check_key()
        if read_format(self._memories.vault) is None:
            self._add("format_unreadable", FORMAT)

    # Scopes: notes, index and pages

    def _check_scope(self, scope: BookPath, notes: Mapping[BookPath, Stat]) -> None:
        page: ScopePage | None = None
        with suppress(CommonplaceError):
            page = read_scope_page(self._files, scope)
        if notes:
            _check_scope_page(self._findings, scope, page)
        scope_ids = (scope.name,) if page is None else (scope.name, *page.ids)
        self._compare_index(scope, self._check_notes(scope, notes, scope_ids))

    def _check_notes(self, scope: BookPath, notes: Mapping[BookPath, Stat], scope_ids: Sequence[str]) -> set[BookPath]:
        """Check every note of a scope; return those that the disk has damaged."""
        rotten: set[BookPath] = set()
        outliving = read_records(self._files, scope)
        for number, (path, stat) in enumerate(notes.items(), 1):
            if self._memories.progress is not None:
                self._memories.progress(number, len(notes))
            if stat.size > MAX_NOTE:
                self._add("huge_file", path, f"It has {stat.size:,} bytes; no note of more than {MAX_NOTE:,} is read.")
                continue
            document = try_read(self._files.read, path, self._findings.add_unreadable)
            if document is None:
                continue
            key = key_of(scope, path)
            if self._is_rotten(path, document):
                rotten.add(path)
                self._add("bit_rot", path)
            elif key in outliving and outliving[key].is_damaged(document.revision, document.stat):
                self._add("bit_rot", path)
            elif past_folder(HISTORY, scope, key) in self._damaged and find_damage(self._files, scope, key):
                self._add("bit_rot", path, f"{CODES['bit_rot'][1]} It has been written to since.")
            self._check_note(path, document, scope, scope_ids)
        return rotten

    def _is_rotten(self, path: BookPath, document: Document) -> bool:
        """Return whether a note has other bytes than the index recorded, although the file looks unchanged.

        Another process may be writing it just now, so a suspect is read again, file and index.
        """
        if not _seems_rotten(document, self._read_record(path)):
            return False
        try:
            document = self._files.read(path)
        except NotFound:
            return False
        return _seems_rotten(document, self._read_record(path))

    def _read_record(self, path: BookPath) -> IndexRecord:
        """Return what the index recorded of a note; nothing where it cannot be read, which the comparison reports."""
        with suppress(CommonplaceError), self._memories.index.reading(self._memories.space) as index:
            known = index.brief_row(*split_path(path), 0)
            if known is not None:
                return known.row.revision, known.signature
        return "", None

    def _compare_index(self, scope: BookPath, rotten: set[BookPath]) -> None:
        """Compare index and pages with the files. A note with bit rot is no fault of the index."""
        try:
            _, differences = verify_scope(self._memories, scope)
        except TooManyFiles:
            raise
        except CommonplaceError as error:
            self._add("not_compared", scope, f"The index could not be compared with this scope: {error.message}")
            return
        expected = {differs(*split_path(path)) for path in rotten}
        for difference in differences:
            if difference not in expected and not difference.endswith(UNREADABLE):
                place, _, text = difference.partition(": ")
                code = "index_differs" if text.startswith("the index ") else "page_differs"
                self._add(code, place, f"{text[:1].upper()}{text[1:]}.")

    # Notes

    def _check_note(self, path: BookPath, document: Document, scope: BookPath, scope_ids: Collection[str]) -> None:
        """Check one note, and collect its names and links. `scope_ids` are the ids that its scope goes by."""
        data = document.data
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._add("not_utf8", path, f"Byte {error.start:,} of this note is not UTF-8 text.")
        note = parse(data)
        self._doubted += len(self._memories.provenance.doubted([(path, note)]))
        if note.in_conflict:
            self._add("merge_conflict", path)
        elif is_frontmatter_open(data):
            self._add("frontmatter_open", path)
        check_fields(self._findings, path, note.front)
        key, kind = key_of(scope, path), scope.parts[1]
        if note.meta.key and note.meta.key != key:
            message = f"The frontmatter names the key {cut_words(note.meta.key)}; the path says {key!a}."
            self._add("key_differs", path, message)
        named_scope = note.front.text("scope")
        named_kind, _, scope_id = named_scope.partition(":")
        if named_scope and (named_kind.strip() != kind or (scope_id and scope_id.strip() not in scope_ids)):
            message = f"The frontmatter names the scope {cut_words(named_scope)}; the path says {kind}."
            self._add("scope_differs", path, message)
        self._links.add(scope, path, note)
        if note.meta.id and self._first_with.setdefault(note.meta.id, path) != path:
            self._others_with[note.meta.id].append(path)

    def _check_ids(self) -> None:
        """Report copies of notes, and purged notes that came back, once all notes are read."""
        for note_id, others in self._others_with.items():
            holders = []
            for path in (self._first_with[note_id], *others):  # they are read again, to tell which of them was first
                document = try_read(self._files.read, path, self._findings.add_unreadable)
                if document is not None:
                    holders.append(read_holder(path, parse(document.data), document.stat.mtime_ns))
            original = find_owner(holders) if holders else None
            for path in sorted(one.path for one in holders):
                if path != original:
                    self._add("duplicate_id", path, f"This note has the id of {original}.")
        for note_id in purged_ids(self._files) & self._first_with.keys():
            for path in (self._first_with[note_id], *self._others_with.get(note_id, ())):
                self._add("tombstoned", path)

    # The private folder and the journal

    def _check_other(self, name: str) -> None:
        """Check that a file which is not a note can be read; one of history or trash has its revision in its name."""
        try:
            path = resolve(name, ROOT)
        except CommonplaceError:
            return
        # Data files are not read: they may be large, and `doctor` has nothing to compare them with.
        is_data = max_size(path) is None
        if is_data or path.is_within(AUDIT) or path.name.startswith(DATABASES):
            return
        document = try_read(self._files.read, path, self._findings.add_unreadable)
        if path.is_within(JOURNAL) and path.name.endswith(".md") and document and parse(document.data).in_conflict:
            self._add("merge_conflict", path)
        version = read_name(path)
        if version is None or not (path.is_within(HISTORY) or path.is_within(TRASH)):
            return
        if document and not document.revision.startswith(version.revision):
            self._add("bit_rot", path, "The bytes of this file do not match the revision in its name.")
        time = self._memories.clock()
        if path.is_within(TRASH) and is_timestamp(time) and version.time < shift_time(time, -TRASH_DAYS * 86_400):
            self._add("old_trash", path)

    def _check_config(self, known: Sequence[InvalidSettings]) -> None:
        """Report what is wrong with the settings, and what was `known` to be wrong when the book was opened."""
        faults = [*known]
        try:
            faults += split_config(read_config(self._memories.vault)[0])[1]
        except InvalidSettings as error:
            faults.append(error)
        except CommonplaceError:
            pass  # `_check_other` names the file
        for message in dict.fromkeys(fault.message for fault in faults):
            self._add("config_invalid", CONFIG, message)

    def _check_key(self) -> None:
        provenance = self._memories.provenance
        # A book without a key, in which none can be made, is read-only as a whole: that is no fault.
        if not provenance.key:
            if self._files.stat(KEY):
                self._add("key_unusable", KEY)
        elif provenance.is_key_damaged():
            self._add("key_damaged", KEY)
        elif self._doubted:
            self._add("from_outside", MEMORIES, f"{CODES['from_outside'][1][:-1]}: {self._doubted:,}.")


def _seems_rotten(document: Document, record: IndexRecord) -> bool:
    revision, signature = record
    return signature == document.stat.signature and revision != document.revision


def _check_scope_page(findings: FindingList, scope: BookPath, page: ScopePage | None) -> None:
    """Check that `_scope.md` has an id that the folder is named for. It may be missing where the name is the id."""
    kind = ScopeKind(scope.parts[1])
    if not kind.has_id:
        return
    if page and page.kind and page.kind != kind.value:
        fault = f"It names the scope {page.kind[:40]!a} in a folder of {kind}."
    else:
        for scope_id in (scope.name,) if page is None else page.ids:
            with suppress(InvalidScope):
                if Scope(kind, scope_id).folder_name == scope.name:
                    return
        fault = (
            "None of the ids it names belongs to a folder of this name."
            if page
            else "`_scope.md` is missing, or has no id in it."
        )
    findings.add("scope_page", scope / SCOPE_PAGE, fault)


# Frontmatter: that it ends, and that each field has a value it can have


def is_frontmatter_open(data: bytes) -> bool:
    """Return whether the note starts with frontmatter that never ends. A horizontal rule above text is none."""
    text = data.decode("utf-8", "surrogateescape")
    head = data[:65_536].decode("utf-8", "surrogateescape")
    if not head.removeprefix("\ufeff").startswith("---") or split(text)[0].opening:
        return False
    front, _ = split(f"{head.split('<!-- entry')[0]}\n---\n")
    return bool(front.fields) and bool(front.fields[0].name)


_FieldRule = tuple[Callable[[Value], bool], str]  # whether a value is valid, and what is wrong with any other


def _is_text(value: Value) -> bool:
    return isinstance(value, str)


def _is_time(value: Value) -> bool:
    with suppress(InvalidField):
        return isinstance(value, str) and is_timestamp(value) and bool(read_time(value))
    return False


def _is_text_list(value: Value) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(map(_is_text, value)))


def _is_link_list(value: Value) -> bool:
    links = value if isinstance(value, list) else [None]
    ends = [link.get(name) if isinstance(link, dict) else None for link in links for name in ("rel", "to")]
    return all(isinstance(end, str) and end for end in ends)


def _one_of(words: Collection[str]) -> _FieldRule:
    return lambda value: value in words, f"is not one of {', '.join(words)}"


_BOOLEANS = ("true", "yes", "on", "false", "no", "off")
_TEXT = (_is_text, "is not text")
_TIME = (_is_time, "is not a time such as 2026-11-15T09:30:00Z")
_FIELD_RULES: Mapping[str, _FieldRule] = {
    "id": _TEXT,
    "key": _TEXT,
    "summary": _TEXT,
    "scope": _TEXT,
    "type": _one_of([kind.value for kind in MemoryType]),
    "status": _one_of([status.value for status in Status]),
    "created": _TIME,
    "updated": _TIME,
    "pinned": (lambda value: str(value).lower() in _BOOLEANS, "is not true or false"),
    "pin": _one_of((PIN_PROPOSED, PIN_REJECTED)),
    "tags": (_is_text_list, "is not a list of texts"),
    "links": (_is_link_list, "is not a list of {rel, to, origin, status}"),
}


def check_fields(findings: FindingList, path: BookPath, front: Frontmatter) -> None:
    """Report lines of a note's frontmatter that are not fields, and fields with a value that they cannot have."""
    for field_lines in front.fields:
        raw = field_lines.raw
        if not field_lines.name and any(line.strip() and not line.startswith("#") for line in raw.split("\n")):
            findings.add("frontmatter_field", path, f"The line {cut_words(raw.strip())} is not a field.")
    for name in dict.fromkeys(front.names()):
        value = front.get(name)
        if value is None:
            findings.add("frontmatter_field", path, f"The field {cut_words(name)} is not valid YAML.")
        elif value and name in _FIELD_RULES:
            is_valid, fault = _FIELD_RULES[name]
            shown = f" {cut_words(value)}" if isinstance(value, str) else ""
            if not is_valid(value):
                findings.add("frontmatter_field", path, f"The field {name}{shown} {fault}.")


# What is on the machine and not in the vault


def _check_databases(findings: FindingList, root: str, folder: str) -> None:
    """Report databases that were replaced, by their path in the book where they are in it."""
    is_inside = os.path.realpath(folder) == os.path.realpath(os.path.join(root, PRIVATE.name))
    try:
        items = LocalVault.at(folder).list_folder(LOCAL, KEEPER, ROOT)
    except CommonplaceError:
        return  # opening the book would have failed on it
    for item in items:
        if item.name.startswith(UNUSABLE_DATABASES):
            path = str(PRIVATE / item.name) if is_inside else os.path.join(folder, item.name)
            message = f"An unusable database was moved here ({item.stat.size:,} bytes)."
            findings.add("database_aside", path, f"{message} It may hold old text.")


def _check_audit(findings: FindingList, root: str) -> None:
    """Check that the audit can be written. A book that is read-only as a whole has none: that is no fault."""
    private = os.path.join(root, PRIVATE.name)
    folder = os.path.join(private, "audit")
    today = os.path.join(folder, f"{now()[:10]}.jsonl")
    if not os.access(private, os.W_OK):
        message = "Nothing can be written here, so there is no audit."
        findings.add("audit_unwritable", PRIVATE / "audit", message, severity=NOTE)
        return
    is_blocked = os.path.lexists(folder) and not os.path.isdir(folder)
    if is_blocked or any(os.path.lexists(path) and not os.access(path, os.W_OK) for path in (folder, today)):
        findings.add("audit_unwritable", PRIVATE / "audit")


def _check_git(findings: FindingList, memories: MemoryStore, root: str) -> None:
    """Report a book that git tracks without our lines in its git files: its pages conflict at every merge."""
    if os.path.lexists(os.path.join(root, ".git")):
        with suppress(CommonplaceError):
            for change in change_git_files(memories.vault):
                findings.add("git_files", change.path)
