"""How much an agent is told unasked, and how a text is cut to fit: visibly, and never to nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from commonplace.context.choose import Chosen
from commonplace.text.fence import visible
from commonplace.text.naming import one_line

_AUTHOR = 40
_LEAST = 160  # characters of a line: below that, fewer memories say more than shorter ones
_KEY = 250
_READ = 4_000  # characters of a text that are looked at: more than any room


class Caps(NamedTuple):
    """Limits, in characters as an agent gets them: escapes, sources and headings count."""

    entries: int = 10  # per scope
    scope: int = 1_000
    doctrine: int = 1_600
    total: int = 8_000
    tokens: int | None = None  # where a host cuts or spills what is longer

    def smaller(self) -> "Caps":
        return self._replace(scope=self.scope * 3 // 4, doctrine=self.doctrine * 3 // 4)


class Line(NamedTuple):
    """One memory as a line of a brief: where it comes from, and what it says."""

    memory: Chosen
    head: str
    text: str
    rest: str  # what stands behind a text that is cut

    def shown(self, limit: int) -> str:
        """The line within a limit, cut where it must be; the head and the way to the rest are never cut."""
        whole = self.head + self.text + (f" ({self.rest})" if self.memory.more else "")
        if len(whole) <= limit:
            return whole
        cut = f"… cut: {self.rest}"
        text = self.text
        summary = visible(one_line(self.memory.summary)).rstrip("…")
        if summary and not one_line(text).startswith(summary):  # somebody's own summary says more than the beginning
            text = summary
        return self.head + text[: max(0, limit - len(self.head) - len(cut))].rstrip() + cut


def line_of(memory: Chosen) -> Line:
    """A memory as one line, or as lines of which only the first is not indented: no text looks like another's line."""
    entry = memory.entry
    who = visible(one_line(entry.author or "unknown"))[:_AUTHOR]
    when = visible(one_line(entry.occurred or entry.time))[:10]
    key = visible(one_line(memory.key))[:_KEY]
    source = ", ".join([when or "undated", who, entry.trust.value, *(["pinned"] if memory.pinned else [])])
    text = visible(entry.text.strip()[:_READ]).replace("\n", "\n  ")
    return Line(memory, f"- {key} ({source}): ", text, f"`recall {key}` for the rest")


def fitted(lines: Sequence[Line], room: int) -> list[str]:
    """As many of these lines, from the first, as fit with something said in each; short ones whole, long ones cut."""
    for number in range(len(lines), 1, -1):
        shown = _shared(lines[:number], room)
        if shown is not None:
            return shown
    return [lines[0].shown(room - 1)] if lines else []


def _shared(lines: Sequence[Line], room: int) -> list[str] | None:
    """These lines in this room, each with the same share at least; None when that would be too little for one."""
    whole = [line.shown(1 << 40) for line in lines]
    left, waiting = room, sorted(range(len(lines)), key=lambda at: (len(whole[at]), at))
    shown = list(whole)
    while waiting:
        share = left // len(waiting) - 1  # its line end
        at = waiting.pop(0)
        if len(whole[at]) > share:
            if share < _LEAST:
                return None
            shown[at] = lines[at].shown(share)
            if len(shown[at]) > share:
                return None
        left -= len(shown[at]) + 1
    return shown
