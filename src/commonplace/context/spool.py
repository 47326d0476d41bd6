"""What waits to be read: how far a transcript went when a turn ended. Hooks put it there, `capture` takes it."""

import json
from typing import NamedTuple

SPOOL = "transcript"


class Waiting(NamedTuple):
    path: str
    end: int  # bytes of it that are there
    session: str
    host: str
    agent: str

    def as_text(self) -> str:
        return json.dumps(self._asdict())


def read_waiting(text: str) -> Waiting | None:
    """What stands in the spool; None for what nobody of us wrote."""
    try:
        said = json.loads(text)
        found = Waiting(**said)
    except (ValueError, TypeError, RecursionError):
        return None
    words = (found.path, found.session, found.host, found.agent)
    return found if all(isinstance(word, str) for word in words) and isinstance(found.end, int) else None
