"""A marked block in a text file that people own (AGENTS.md, rules): put in, replaced, taken out to the byte."""

from __future__ import annotations

from commonplace.hosts.wiring.json_edit import Unfit

BEGIN = "<!-- commonplace:begin -->"
END = "<!-- commonplace:end -->"


def find(text: str | None) -> str | None:
    """What is between the marks, with the file's line ends as plain ones; None where there is no block."""
    span = _span(text or "")
    if text is None or span is None:
        return None
    inside = text[span[0] + len(BEGIN) : span[1] - len(END)]
    return inside.replace("\r\n", "\n").strip("\n") + "\n"


def insert(text: str | None, body: str) -> str:
    """The text with the block: where it was, or behind everything, after one line break that is always ours."""
    newline = "\r\n" if text is not None and "\r\n" in text else "\n"
    block = "\n".join((BEGIN, body.strip("\n"), END)).replace("\n", newline)
    if text is None:
        return block + newline
    span = _span(text)
    if span is not None:
        return text[: span[0]] + block + text[span[1] :]
    return text + newline + block + newline


def remove(text: str) -> str | None:
    """The text without the block; None where the file was nothing but that."""
    span = _span(text)
    if span is None:
        return text
    start, end = span
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, end):
            end += len(newline)
            break
    was_there = start > 0
    if was_there:
        start -= 2 if text.endswith("\r\n", 0, start) else 1 if text.endswith("\n", 0, start) else 0
    new = text[:start] + text[end:]
    return new if was_there or new else None


def _span(text: str) -> tuple[int, int] | None:
    start = text.find(BEGIN)
    end = text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start or text.find(BEGIN, start + 1) >= 0 or text.find(END, end + 1) >= 0:
        raise Unfit(f"{BEGIN} and {END} do not make one block")
    return start, end + len(END)
