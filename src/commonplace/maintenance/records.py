"""Files against what is recorded of them: in the index, in the names of what was put aside, in `_scope.md`."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.index.port import Looks
from commonplace.keep.config_file import CONFIG, read_config
from commonplace.keep.past import HISTORY, TRASH, read_name, stamp_of
from commonplace.keep.provenance import KEY
from commonplace.keep.retention import TRASH_DAYS
from commonplace.keep.rows import looks_of, split_path
from commonplace.keep.scopes import SCOPE_PAGE, ScopePage, read_scope_page
from commonplace.keep.unit import Keep
from commonplace.keep.verify import differs, verify_scope
from commonplace.maintenance.findings import Findings
from commonplace.maintenance.walk import why
from commonplace.model.errors import CommonplaceError, InvalidScope, InvalidSettings, NotFound, TooManyFiles
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.settings import load_settings
from commonplace.model.times import is_stamp, shift
from commonplace.vault.paths import BookPath
from commonplace.vault.port import Document
from commonplace.vault.view import KEEPER

ASIDE = ("index.db.unusable-", "state.db.aside-")  # databases that could not be used


def read(keep: Keep, found: Findings, path: BookPath) -> Document | None:
    """A file; one that cannot be read is a finding, one that went meanwhile is nothing."""
    try:
        return keep.vault.read(keep.space, KEEPER, path)
    except NotFound:
        return None
    except TooManyFiles:
        raise
    except CommonplaceError as error:
        found.add("unreadable", path, why(error))
        return None


def recorded(keep: Keep, found: Findings, folder: str) -> Mapping[str, tuple[str, Looks | None]]:
    """By name, the revision that the index has of each note in a folder, and what its file looked like then."""
    try:
        with keep.index.reading(keep.space) as index:
            looks = index.looks(folder)
            return {name: (row.revision, looks.get(name)) for name, row in index.rows(folder).items()}
    except CommonplaceError as error:
        found.add("index_differs", folder, error.message)
        return {}


def is_rotten(keep: Keep, path: BookPath, document: Document, known: Mapping[str, tuple[str, Looks | None]]) -> bool:
    """Whether a note has other bytes than the index recorded, and still looks as it did then.

    Somebody may be writing it just now: what seems so is looked at again, with a new reading of both.
    """
    folder, name = split_path(path)
    if not _seems_rotten(document, known.get(name)):
        return False
    try:
        again = keep.vault.read(keep.space, KEEPER, path)
        return _seems_rotten(again, recorded(keep, Findings(), folder).get(name))
    except NotFound:
        return False


def _seems_rotten(document: Document, known: tuple[str, Looks | None] | None) -> bool:
    return known is not None and known[1] == looks_of(document.stat) and known[0] != document.revision


def compare_index(keep: Keep, found: Findings, scope: BookPath, rotten: set[BookPath]) -> None:
    """Index and pages against the files. A note with bit rot is not a fault of the index."""
    try:
        _, differences = verify_scope(keep, scope)
    except TooManyFiles:
        raise
    except CommonplaceError as error:
        found.add("not_compared", scope, f"The index could not be compared with this scope: {error.message}")
        return
    known = {differs(*split_path(path)) for path in rotten}
    for difference in differences:
        if difference not in known:
            place, _, what = difference.partition(": ")
            code = "index_differs" if what.startswith("the index ") else "page_differs"
            found.add(code, place, f"{what[:1].upper()}{what[1:]}.")


def scope_ids(keep: Keep, scope: BookPath) -> ScopePage | None:
    try:
        return read_scope_page(keep, scope)
    except CommonplaceError:
        return None


def check_scope_page(found: Findings, scope: BookPath, page: ScopePage | None) -> None:
    """Whether `_scope.md` says an id that the folder is named for; where its name is the id, it may be missing."""
    kind = ScopeKind(scope.parts[1])
    if not kind.has_id:
        return
    if page is None:
        if not _belongs(kind, scope.name, scope.name):
            found.add("scope_page", scope / SCOPE_PAGE, "`_scope.md` is missing, or has no id in it.")
    elif page.kind and page.kind != kind.value:
        found.add("scope_page", scope / SCOPE_PAGE, f"It says the scope {page.kind[:40]!a} in a folder of {kind}.")
    elif not any(_belongs(kind, ident, scope.name) for ident in (page.id, *page.aliases)):
        found.add("scope_page", scope / SCOPE_PAGE, "None of the ids it names belongs to a folder of this name.")


def _belongs(kind: ScopeKind, ident: str, name: str) -> bool:
    try:
        return Scope(kind, ident).folder_name == name
    except InvalidScope:
        return False


def check_past(keep: Keep, found: Findings, path: BookPath) -> None:
    """A text that was put aside: its name says its revision, and when."""
    aside = read_name(path)
    if aside is None or not (path.is_within(HISTORY) or path.is_within(TRASH)):
        return
    document = read(keep, found, path)
    if document is not None and not document.revision.startswith(aside.revision):
        found.add("bit_rot", path, "The bytes of this file are not those that its name says.")
    now = keep.clock()
    if path.is_within(TRASH) and is_stamp(now) and stamp_of(aside) < shift(now, -TRASH_DAYS * 86_400):
        found.add("old_trash", path)


def check_config(keep: Keep, found: Findings) -> None:
    try:
        load_settings({}, {}, read_config(keep.vault)[0])
    except InvalidSettings as error:
        found.add("config_invalid", CONFIG, error.message)
    except CommonplaceError as error:
        found.add("unreadable", CONFIG, why(error))


def check_key(keep: Keep, found: Findings) -> None:
    """A book without one, in which none can be made, is read-only as a whole, and not at fault for it."""
    if not keep.provenance.key and keep.vault.stat(keep.space, KEEPER, KEY) is not None:
        found.add("key_unusable", KEY)
