"""How a change to one memory is answered: by undo, forget, restore and link."""

from __future__ import annotations

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import shown
from commonplace.model.results import StoreResult

_DID = {
    "undone": "Brought back the text before the last change of",
    "forgotten": "Moved to the trash:",
    "purged": "Removed for good:",
    "restored": "Restored",
    "relabelled": "Changed",
    "consolidated": "Made into",
    "replaced": "Replaced",
    "edited": "Changed",
    "unchanged": "Nothing changed in",
}


def say(call: Call, stored: StoreResult, more: str = "") -> int:
    if not call.answer(stored):
        screen = call.screen
        place = stored.scope + (f" {stored.scope_id}" if stored.scope_id else "")
        did = _DID.get(stored.action, stored.action)
        screen.line(f"{did} {screen.paint(shown(stored.key), 'name')} ({shown(place)})")
        if more:
            screen.line(f"  {screen.paint(shown(more), 'weak')}")
    return DONE
