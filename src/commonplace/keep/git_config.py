"""Git's configuration syntax, read without git.

As git reads it: sections and names in any case, quoted subsections, comments, continued lines, several values of one
name. Unlike git it never gives up: what git would die of is passed over, so that a file with one broken line still says
which repository it belongs to. Included files are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.model.patterns import lazy

Setting = tuple[str, str | None]
"""`remote.origin.url` and its value; None for a name that stands without `=`, which git takes for true."""

_BETWEEN = lazy(r"(?:[ \t\r\n]|[#;][^\n]*+)*+")
_HEADER = lazy(r'\[([a-z0-9.-]*+)(?:[ \t\r]++"((?:\\[^\n]|[^"\\\n])*+)")?\]', re.IGNORECASE | re.ASCII)
_NAME = lazy(r"([a-z][a-z0-9-]*+)[ \t]*+", re.IGNORECASE | re.ASCII)
_PLAIN = lazy(r'([ \t\r]++)|\\(.?)|(")|([#;][^\n]*+)|([^ \t\r\n\\"#;]++)', re.DOTALL)
_QUOTED = lazy(r'(?!)()|\\(.?)|(")|(?!)()|([^\\"\n]++)', re.DOTALL)  # the same groups, where all else is text
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"', "\n": "", "": ""}
_TRUE = frozenset(["true", "yes", "on", "1"])


def parse_config(text: str) -> list[Setting]:
    """Every setting in the order of the file."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found: list[Setting] = []
    section: str | None = None
    at = _skip(_BETWEEN, text, 0)
    while at < len(text):
        if text[at] == "[":
            section, at = _header(text, at)
        elif name := _NAME.match(text, at):
            value, at, good = _assigned(text, name.end())
            if good and section is not None:
                found.append((f"{section}.{name[1].lower()}", value))
        else:
            at = _line_end(text, at)
        at = _skip(_BETWEEN, text, at)
    return found


def last_value(settings: Sequence[Setting], key: str) -> str | None:
    """The value that counts where one is wanted: the last."""
    return next((value for name, value in reversed(settings) if name == key and value is not None), None)


def is_true(settings: Sequence[Setting], key: str) -> bool:
    for name, value in reversed(settings):
        if name == key:
            return value is None or value.lower() in _TRUE
    return False


def _header(text: str, at: int) -> tuple[str | None, int]:
    """The section that starts here. After a broken header nothing counts until the next: it could be anybody's."""
    match = _HEADER.match(text, at)
    if not match:
        return None, _line_end(text, at)
    section = match[1].lower()
    if match[2] is not None:
        section += "." + re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL)
    return section, match.end()


def _assigned(text: str, at: int) -> tuple[str | None, int, bool]:
    """What follows a name: its value, where that ends, and whether git would take it."""
    if at == len(text) or text[at] == "\n":
        return None, at, True
    if text[at] != "=":
        return None, _line_end(text, at), False
    value: list[str] = []
    length = 0  # of what counts: white space before it and after it does not
    quoted = False
    at += 1
    while match := (_QUOTED if quoted else _PLAIN).match(text, at):
        space, escape, quote, _, plain = match.groups()
        at = match.end()
        if space is not None:
            if length:
                value.append(space)
        elif escape is not None:
            if escape not in _ESCAPED:
                return None, _line_end(text, at), False
            if _ESCAPED[escape]:  # else the line goes on: nothing was said
                value.append(_ESCAPED[escape])
            length = len(value)
        elif quote is not None:
            quoted = not quoted
            length = len(value)
        elif plain is not None:
            value.append(plain)
            length = len(value)
    return "".join(value[:length]), at, not quoted


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
