"""`doctor`: find everything that is wrong in a book, and say what to do about it.

It changes no note and deletes nothing. Only the index, which is derived, may be brought up to date; text that was
replaced or deleted outside is saved to the history first, as every other command does. It reads every note, whatever
else is broken, and never follows a link. This module compares files with what is recorded of them; `book_files` checks
names and modes, `doctor_notes` the text of notes, and `findings` has the codes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from commonplace.index.port import StatSignature
from commonplace.maintenance.book_files import UNUSABLE_DATABASES, check_files, describe_error, read_file
from commonplace.maintenance.doctor_notes import NoteReferences, check_note, check_references
from commonplace.maintenance.findings import NOTE, FindingList
from commonplace.memories.history import HISTORY, TRASH, purged_ids, read_name, stamp_of
from commonplace.memories.open_settings import CONFIG, read_config
from commonplace.memories.provenance import KEY
from commonplace.memories.retention import TRASH_DAYS
from commonplace.memories.rows import looks_of, split_path
from commonplace.memories.store import MemoryStore
from commonplace.memories.verify import differs, verify_scope
from commonplace.model.errors import CommonplaceError, InvalidScope, InvalidSettings, NotFound, TooManyFiles
from commonplace.model.results import Finding
from commonplace.model.scope import LOCAL, Scope, ScopeKind
from commonplace.model.settings import load_settings
from commonplace.model.times import is_timestamp, now, shift_time
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER, PRIVATE, ROOT, BookPath, resolve
from commonplace.vault.port import Document, FileKind, Stat
from commonplace.vault.scope_pages import SCOPE_PAGE, ScopePage, read_scope_page

MAX_NOTE = 256_000_000  # bytes: no store makes a note of this size, and reading one takes as much memory
IndexRecords = Mapping[str, tuple[str, StatSignature | None]]
"""By note name in one folder: the revision in the index, and what the file looked like when it was indexed."""


def examine(keep: MemoryStore, *, root: str | None = None, database_folder: str | None = None) -> list[Finding]:
    """Return everything that is wrong, worst first.

    `root` and `database_folder` are where the book and its databases are on this machine. Without them the root's mode,
    the audit and unusable databases are not checked.
    """
    findings = FindingList()
    _Examination(keep, findings).run(_read_mode(root))
    if root is not None:
        _check_audit(findings, root)
    if database_folder is not None:
        _check_databases(findings, root, database_folder)
    return findings.sort()


class _Examination:
    """One examination of a book through its vault and index."""

    def __init__(self, keep: MemoryStore, findings: FindingList) -> None:
        self._keep = keep
        self._findings = findings
        self._references = NoteReferences()

    def run(self, root_mode: int | None) -> None:
        files = check_files(self._keep, self._findings, root_mode)
        for scope, notes in files.notes.items():
            self._check_scope(scope, notes)
        for path in files.others:
            self._references.add_file(path)
            if path.startswith(f"{PRIVATE.name}/") and path.endswith(".md"):
                self._check_old_version(path)
        check_references(self._findings, self._references, purged_ids(self._keep.files))
        self._check_config()
        # A book without a key, in which none can be made, is read-only as a whole: that is no fault.
        if not self._keep.provenance.key and self._keep.vault.stat(self._keep.space, KEEPER, KEY) is not None:
            self._findings.add("key_unusable", KEY)

    def _report_unreadable(self, path: BookPath, error: CommonplaceError) -> None:
        self._findings.add("unreadable", path, describe_error(error))

    # Scopes: notes, index and pages

    def _check_scope(self, scope: BookPath, notes: Mapping[BookPath, Stat]) -> None:
        page = self._read_scope_page(scope)
        if notes:
            _check_scope_page(self._findings, scope, page)
        scope_ids = (scope.name,) if page is None else (scope.name, page.id, *page.aliases)
        rotten: set[BookPath] = set()
        has_huge = False
        recorded_folder: str | None = None
        records: IndexRecords = {}
        for path, stat in notes.items():
            if stat.size > MAX_NOTE:
                has_huge = True
                message = f"This note has {stat.size:,} bytes: too many to check."
                self._findings.add("huge_file", path, message)
                continue
            document = read_file(self._keep, path, self._report_unreadable)
            if document is None:
                continue
            folder, _ = split_path(path)
            if folder != recorded_folder:  # the notes come folder by folder
                recorded_folder, records = folder, self._read_records(folder, self._findings)
            if self._is_rotten(path, document, records):
                rotten.add(path)
                self._findings.add("bit_rot", path)
            check_note(self._findings, self._references, path, document, scope=scope, scope_ids=scope_ids)
        if has_huge:
            message = "The index was not compared with this scope, because a note in it is too large."
            self._findings.add("not_compared", scope, message)
        else:
            self._compare_index(scope, rotten)

    def _read_scope_page(self, scope: BookPath) -> ScopePage | None:
        try:
            return read_scope_page(self._keep, scope)
        except CommonplaceError:
            return None

    def _read_records(self, folder: str, findings: FindingList) -> IndexRecords:
        try:
            with self._keep.index.reading(self._keep.space) as index:
                signatures = index.stat_signatures(folder)
                return {name: (row.revision, signatures.get(name)) for name, row in index.rows(folder).items()}
        except CommonplaceError as error:
            findings.add("index_differs", folder, error.message)
            return {}

    def _is_rotten(self, path: BookPath, document: Document, records: IndexRecords) -> bool:
        """Return whether a note has other bytes than the index recorded, although the file looks unchanged.

        Another process may be writing it just now, so a suspect is read again, file and index.
        """
        folder, name = split_path(path)
        if not _seems_rotten(document, records.get(name)):
            return False
        try:
            document = self._keep.vault.read(self._keep.space, KEEPER, path)
        except NotFound:
            return False
        return _seems_rotten(document, self._read_records(folder, FindingList()).get(name))

    def _compare_index(self, scope: BookPath, rotten: set[BookPath]) -> None:
        """Compare index and pages with the files. A note with bit rot is no fault of the index."""
        try:
            _, differences = verify_scope(self._keep, scope)
        except TooManyFiles:
            raise
        except CommonplaceError as error:
            message = f"The index could not be compared with this scope: {error.message}"
            self._findings.add("not_compared", scope, message)
            return
        expected = {differs(*split_path(path)) for path in rotten}
        for difference in differences:
            if difference not in expected:
                place, _, text = difference.partition(": ")
                code = "index_differs" if text.startswith("the index ") else "page_differs"
                self._findings.add(code, place, f"{text[:1].upper()}{text[1:]}.")

    # The private folder

    def _check_old_version(self, name: str) -> None:
        """Check a file of history or trash: its name has its revision and its time."""
        try:
            path = resolve(name, ROOT)
        except CommonplaceError:
            return
        version = read_name(path)
        if version is None or not (path.is_within(HISTORY) or path.is_within(TRASH)):
            return
        document = read_file(self._keep, path, self._report_unreadable)
        if document is not None and not document.revision.startswith(version.revision):
            self._findings.add("bit_rot", path, "The bytes of this file do not match the revision in its name.")
        time = self._keep.clock()
        if path.is_within(TRASH) and is_timestamp(time) and stamp_of(version) < shift_time(time, -TRASH_DAYS * 86_400):
            self._findings.add("old_trash", path)

    def _check_config(self) -> None:
        try:
            load_settings({}, {}, read_config(self._keep.vault)[0])
        except InvalidSettings as error:
            self._findings.add("config_invalid", CONFIG, error.message)
        except CommonplaceError as error:
            self._report_unreadable(CONFIG, error)


def _seems_rotten(document: Document, record: tuple[str, StatSignature | None] | None) -> bool:
    return record is not None and record[1] == looks_of(document.stat) and record[0] != document.revision


def _check_scope_page(findings: FindingList, scope: BookPath, page: ScopePage | None) -> None:
    """Check that `_scope.md` has an id that the folder is named for. It may be missing where the name is the id."""
    kind = ScopeKind(scope.parts[1])
    if not kind.has_id:
        return
    if page is None:
        if not _is_folder_of(kind, scope.name, scope.name):
            findings.add("scope_page", scope / SCOPE_PAGE, "`_scope.md` is missing, or has no id in it.")
    elif page.kind and page.kind != kind.value:
        findings.add("scope_page", scope / SCOPE_PAGE, f"It names the scope {page.kind[:40]!a} in a folder of {kind}.")
    elif not any(_is_folder_of(kind, scope_id, scope.name) for scope_id in (page.id, *page.aliases)):
        findings.add("scope_page", scope / SCOPE_PAGE, "None of the ids it names belongs to a folder of this name.")


def _is_folder_of(kind: ScopeKind, scope_id: str, name: str) -> bool:
    try:
        return Scope(kind, scope_id).folder_name == name
    except InvalidScope:
        return False


# What is on the machine and not in the vault


def _check_databases(findings: FindingList, root: str | None, folder: str) -> None:
    """Report databases that were replaced, by their path in the book where they are in it."""
    is_inside = root is not None and os.path.realpath(folder) == os.path.realpath(os.path.join(root, PRIVATE.name))
    try:
        items = LocalVault.at(folder).list_folder(LOCAL, KEEPER, ROOT)
    except CommonplaceError:
        return  # opening the book would have failed on it
    for item in items:
        if item.name.startswith(UNUSABLE_DATABASES) and item.stat.kind is FileKind.FILE:
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


def _read_mode(root: str | None) -> int | None:
    """Return the mode of the root, which may itself be a link."""
    try:
        return os.stat(root).st_mode & 0o777 if root is not None else None
    except OSError:
        return None
