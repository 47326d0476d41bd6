"""The digest of the user's mail and chat at an event: read from the file that `settle` keeps ready, from nothing else.

It comes with the brief, or on a prompt when `prefetch` says so, and never twice with the same bytes in one context
window. A file that cannot be read, or is not as we wrote it, costs the digest alone: it is logged, and tried again
later. `hooks/events.py` calls both functions.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.context.prefetch import prefetch
from commonplace.context.prefetch_file import find_prefetch
from commonplace.hooks.host_io import log_failure
from commonplace.model.errors import StorageError
from commonplace.model.names import short_hash

if TYPE_CHECKING:
    from commonplace.context.records import SessionRecord
    from commonplace.hooks.events import HookEvent


def read_digest(event: HookEvent) -> str | None:
    """Return the digest to tell here; empty if there is none, None if it could not be read."""
    try:
        return find_prefetch(event.sources, event.database_folder)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it costs nothing else that a hook says
        log_failure(event.environment, f"{event.name} {event.host} digest", error)
        return None


def next_digest(event: HookEvent, session: SessionRecord) -> tuple[str, SessionRecord]:
    """Return the digest to put beside this prompt, mostly none; and the session as it is once that is told."""
    now = int(time.time())
    is_due = prefetch(session.fetched or None, session.fetch_tried or None, session.fetch_failures, now)
    if event.state is None or not is_due:  # without a record every prompt would get it
        return "", session
    text = read_digest(event)
    if text is None:
        return "", session._replace(fetch_tried=now, fetch_failures=session.fetch_failures + 1)
    session = session._replace(fetched=now, fetch_tried=now, fetch_failures=0)
    if not text or short_hash(text) == session.digest:
        return "", session
    try:
        event.save(session)  # first: where nothing can be written, as on a full disk, every prompt would get it
    except StorageError:
        return "", session
    return text, session.with_digest(text)
