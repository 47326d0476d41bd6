"""Verbs that look after the book: doctor, verify, scan, reindex, embed."""

from __future__ import annotations

from commonplace.guard.secrets import find_unmarked
from commonplace.maintenance.doctor import examine
from commonplace.maintenance.scan import scan
from commonplace.memories.scopes import journal_folders, scope_folders
from commonplace.memories.verify import verify
from commonplace.model.results import Finding, ScanResult, VerifyResult
from commonplace.verbs.desk import Desk


def verify_book(desk: Desk) -> VerifyResult:
    """Compare the index and the pages with what the files say."""
    desk.check_sees_all("verify")
    return verify(desk.keep)


def find_problems(desk: Desk) -> list[Finding]:
    """Return everything that is wrong in the book, worst first."""
    desk.check_sees_all("doctor")
    return examine(desk.keep, root=desk.root, database_folder=desk.database_folder)


def find_stored_secrets(desk: Desk) -> ScanResult:
    """Return where something that looks like a secret is stored."""
    desk.check_sees_all("scan")
    return scan(desk.keep, find_unmarked)


def reindex(desk: Desk) -> int:
    """Read every note again and mend the pages; answers how many notes there are."""
    desk.check_sees_all("reindex")
    desk.keep.rebuild([*scope_folders(desk.keep), *journal_folders(desk.keep)])
    return verify(desk.keep).files


def embed(desk: Desk) -> int:
    """Embed every entry that has no vector of the book's embedder yet; answers how many these were."""
    if not desk.settings.enabled:
        return 0
    desk.asked(None, everything=True)
    desk.journals(None, everything=True)
    return desk.meanings().embed_pending(progress=desk.keep.progress)
