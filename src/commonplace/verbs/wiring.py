"""What connecting an agent program leaves in the audit of the book that it is connected to.

No book is opened for it, and none is made: where there is no book yet, there is a folder with this line in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.guard.audit import AuditLog, who_of
from commonplace.memories.open_settings import book_root, load_book_settings
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import Log
from commonplace.model.settings import load_settings
from commonplace.vault.disk import open_disk
from commonplace.vault.local import LocalVault

log = Log("commonplace.book")


def note_wiring(
    root: str | None, environment: Mapping[str, str], verb: str, host: str, facts: Mapping[str, object], outcome: str
) -> None:
    """One line: `verb` is connect or disconnect. Never raises: what was done to the host's files is done."""
    flags = {"root": root}
    try:
        place = book_root(load_settings(flags, environment, {}))
        settings, _ = load_book_settings(LocalVault.at(place), flags, environment)
        if not (settings.enabled and settings.audit_days):
            return
        trail = AuditLog(open_disk(place, make=True), settings.audit_days)
    except (CommonplaceError, OSError) as error:
        log.warning("event=audit_failed error=%s", type(error).__name__)
        return
    ids = {"agent": settings.agent, "session": settings.session}
    trail.note(verb, who_of("cli", role="person", **ids, host=host), outcome, facts)
    trail.close()
