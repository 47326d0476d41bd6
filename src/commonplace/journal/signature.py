"""When two failures are the same one, and two tasks the same work. Pure.

The signature of a failure is what is left of its error when everything that changes from one time to the next is taken
out: numbers, ids, quoted words, paths. Of a traceback the last line counts, of anything else the first.
"""

import re

from commonplace.model.ids import short_hash
from commonplace.model.patterns import lazy

_QUOTED = lazy(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`")
_PATH = lazy(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?")
_HEX = lazy(r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,64})\b", re.I)
_NUMBER = lazy(r"\d+(?:[.,:]\d+)*")
_SPACE = lazy(r"\s+")
_LONGEST = 200
_READ = 20_000


def telling_line(error: str) -> str:
    """The line of an error that says what it is."""
    lines = [line.strip() for line in error[-_READ:].splitlines() if line.strip()]
    if not lines:
        return ""
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        return lines[-1]
    return next(line.strip() for line in error[:_READ].splitlines() if line.strip()) if error[:_READ].strip() else ""


def normal_error(error: str) -> str:
    """The same for two errors that differ only in what changes each time; empty for no error."""
    text = telling_line(error)[:1_000].casefold()
    for pattern, sign in ((_QUOTED, "'…'"), (_PATH, "/…"), (_HEX, "#"), (_NUMBER, "#"), (_SPACE, " ")):
        text = pattern.sub(sign, text)
    return text.strip()[:_LONGEST]


def signature_of(worker: str, error: str) -> str:
    """The signature of a worker's failure; empty when there was no error to tell it by."""
    normal = normal_error(error)
    return short_hash(f"{worker}\0{normal}", 16) if normal else ""


def work_of(worker: str, description: str) -> str:
    """Which work this is: the same worker with the same description; empty when there is none."""
    words = " ".join(description.casefold().split())
    return short_hash(f"{worker}\0{words}", 16) if words else ""
