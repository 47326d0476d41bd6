"""Edit a marked block in a text file that people own (AGENTS.md, rules), to the byte: `remove(insert(t)) == t`.

Also what all editors of this package share: places of line breaks, and the error for a file that they cannot edit.
"""

from __future__ import annotations

from collections.abc import Sequence

EntryPath = Sequence[str | None]  # names of members; None, only as the last: an element of the list before it
BOM = "\ufeff"
BEGIN = "<!-- commonplace:begin -->"
END = "<!-- commonplace:end -->"


class UnsupportedLayout(ValueError):
    """The file is well formed, but something else is where our text would go."""


def find(text: str | None) -> str | None:
    """Return the text between the marks with plain line ends; None where there is no block."""
    span = _find_span(text or "")
    if text is None or span is None:
        return None
    inside = text[span[0] + len(BEGIN) : span[1] - len(END)]
    return inside.replace("\r\n", "\n").strip("\n") + "\n"


def insert(text: str | None, body: str) -> str:
    """Return the text with the block: in its old place, or at the end after one line break that is always ours."""
    newline = find_newline(text)
    block = "\n".join((BEGIN, body.strip("\n"), END)).replace("\n", newline)
    if text is None:
        return block + newline
    span = _find_span(text)
    if span is not None:
        return text[: span[0]] + block + text[span[1] :]
    return text + newline + block + newline


def remove(text: str) -> str | None:
    """Return the text without the block; None where the file held nothing else."""
    span = _find_span(text)
    if span is None:
        return text
    start, end = span
    end += next((len(newline) for newline in ("\r\n", "\n") if text.startswith(newline, end)), 0)
    new = text[: before_newline(text, start)] + text[end:]
    return new if start > 0 or new else None


def _find_span(text: str) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start or text.find(BEGIN, start + 1) >= 0 or text.find(END, end + 1) >= 0:
        raise UnsupportedLayout(f"{BEGIN} and {END} do not make one block")
    return start, end + len(END)


def find_newline(text: str | None) -> str:
    """Return the line end that a file uses."""
    return "\r\n" if "\r\n" in (text or "") else "\n"


def before_newline(text: str, at: int) -> int:
    """Return the place before the line end that ends here; the same place where none does."""
    return next((at - len(newline) for newline in ("\r\n", "\n") if text.endswith(newline, 0, at)), at)


def line_start(text: str, at: int) -> int:
    """Return where the line of a place starts."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line of a place ends, behind its line end."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
