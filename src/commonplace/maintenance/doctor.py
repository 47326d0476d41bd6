"""`doctor`: look for anything wrong in a book, and say what to do.

It changes no note and deletes nothing. Only the index, which is derived, may learn what it had not seen yet; a text
that was replaced or deleted outside is saved to the history first, as by any other look at the files. It reads
every note, whatever else is in the way, and never follows a link.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from commonplace.index.port import Looks
from commonplace.keep.past import purged_ids
from commonplace.keep.rows import split_path
from commonplace.keep.scopes import ScopePage
from commonplace.keep.unit import Keep
from commonplace.maintenance import records
from commonplace.maintenance.files import Notes, check_files
from commonplace.maintenance.findings import NOTE, Findings
from commonplace.maintenance.notes import Known, check_note, check_together
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import Finding
from commonplace.model.space import LOCAL
from commonplace.model.times import now
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import PRIVATE, ROOT, BookPath, resolve
from commonplace.vault.port import Kind
from commonplace.vault.view import KEEPER

MAX_NOTE = 256_000_000  # bytes: no store makes a note of this size, and reading one takes the memory for it


def examine(keep: Keep, *, root: str | None = None, database_folder: str | None = None) -> list[Finding]:
    """Everything that is wrong, worst first. `root` and `database_folder` are where the book and its databases are on
    this machine; without them, the root's mode and what was put aside beside the databases are not looked at."""
    found = Findings()
    known = Known()
    notes = check_files(keep, found, _mode(root))
    for scope in notes.by_scope:
        _check_scope(keep, found, known, notes, scope)
    for path in notes.other:
        known.add_file(path)
        _check_other(keep, found, path)
    check_together(found, known, purged_ids(keep.vault, keep.space))
    records.check_config(keep, found)
    records.check_key(keep, found)
    if root is not None:
        _check_audit(found, root)
    if database_folder is not None:
        _check_databases(found, root, database_folder)
    return found.answer()


def _check_scope(keep: Keep, found: Findings, known: Known, notes: Notes, scope: BookPath) -> None:
    page = records.scope_ids(keep, scope)
    if notes.by_scope[scope]:
        records.check_scope_page(found, scope, page)
    rotten, huge = set(), False
    record: dict[str, Mapping[str, tuple[str, Looks | None]]] = {}
    for path, stat in notes.by_scope[scope].items():
        if stat.size > MAX_NOTE:
            huge = True
            found.add("huge_file", path, f"This note has {stat.size:,} bytes: too many to be looked into.")
            continue
        document = records.read(keep, found, path)
        if document is None:
            continue
        folder, _ = split_path(path)
        if folder not in record:
            record = {folder: records.recorded(keep, found, folder)}  # the notes come folder by folder
        if records.is_rotten(keep, path, document, record[folder]):
            rotten.add(path)
            found.add("bit_rot", path)
        check_note(found, known, scope, path, document, _own(scope, page))
    if huge:
        found.add("not_compared", scope, "The index is not compared with this scope: it has a note that is too large.")
    else:
        records.compare_index(keep, found, scope, rotten)


def _own(scope: BookPath, page: ScopePage | None) -> tuple[str, ...]:
    return (scope.name, page.id, *page.aliases) if page is not None else (scope.name,)


def _check_other(keep: Keep, found: Findings, path: str) -> None:
    if path.startswith(f"{PRIVATE.name}/") and path.endswith(".md"):
        try:
            place = resolve(path, ROOT)
        except CommonplaceError:
            return
        records.check_past(keep, found, place)


def _check_databases(found: Findings, root: str | None, folder: str) -> None:
    """Databases that were put aside, by their path in the book where they are in it."""
    inside = root is not None and os.path.realpath(folder) == os.path.realpath(os.path.join(root, PRIVATE.name))
    try:
        listed = LocalVault.at(folder).list_folder(LOCAL, KEEPER, ROOT)
    except CommonplaceError:
        return  # opening it would have said so
    for item in listed:
        if item.name.startswith(records.ASIDE) and item.stat.kind is Kind.FILE:
            path = str(PRIVATE / item.name) if inside else os.path.join(folder, item.name)
            message = f"A database that could not be used was put aside here ({item.stat.size:,} bytes)."
            found.add("database_aside", path, f"{message} It may hold old text.")


def _check_audit(found: Findings, root: str) -> None:
    """Whether lines can be added. A book that is read-only as a whole has no audit, and is not at fault for it."""
    private = os.path.join(root, PRIVATE.name)
    folder = os.path.join(private, "audit")
    today = os.path.join(folder, f"{now()[:10]}.jsonl")
    closed = [path for path in (folder, today) if os.path.lexists(path) and not os.access(path, os.W_OK)]
    if os.path.lexists(folder) and not os.path.isdir(folder):
        closed = [folder]
    if not os.access(private, os.W_OK):
        found.add(
            "audit_unwritable", PRIVATE / "audit", "Nothing can be written here, so there is no audit.", severity=NOTE
        )
    elif closed:
        found.add("audit_unwritable", PRIVATE / "audit")


def _mode(root: str | None) -> int | None:
    """The mode of the root, which may itself be a link."""
    try:
        return os.stat(root).st_mode & 0o777 if root is not None else None
    except OSError:
        return None
