"""Fence recalled text, so that agents take it as data and never as instruction.

Every surface passes memory text through `fence` before it shows it. The fence names where the text came from, and the
text cannot break out: anything that looks like the fence, and every character that is invisible or changes how its
neighbours look, becomes an escape. The result depends on the input alone, so the same brief has the same bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from commonplace.model.lazy import lazy
from commonplace.text.frontmatter import quote

TAG = "commonplace-memory"
_LOOKS_LIKE_FENCE = lazy(r"[<\uff1c\u2039\u27e8\u3008\ufe64](?=\s*+(?:[/\uff0f\u2044\u2215]\s*+)?commonplace)", re.I)
_HIDDEN = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # fillers and joiners that show nothing
    "\u180b\u180c\u180d\u180e\u180f"  # selectors of the form of a Mongolian letter
    "\u2800"  # the empty braille cell
)
_VS16 = "\ufe0f"  # only selects the colour form of an emoji
_ESCAPED = lazy(r"\\u\{([0-9a-f]{4,6})\}")
_SUSPECT = lazy(r"[^\t\n\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]")


def fence(text: str, source: Mapping[str, str] | None = None) -> str:
    """Return the text between two fence lines; the first says where the text came from."""
    labels = "".join(f" {name}={_label(value)}" for name, value in (source or {}).items())
    return f"<{TAG}{labels}>\n{visible(text)}\n</{TAG}>"


def visible(text: str) -> str:
    """Return the text with escapes for hidden characters and for anything that could end a fence."""
    shown = text.replace("\r\n", "\n")
    if not (shown.isascii() and shown.replace("\n", "").replace("\t", "").isprintable()):  # most texts need no search
        shown = _SUSPECT.sub(_show, shown)
    if "commonplace" not in shown.casefold():
        return shown
    return _LOOKS_LIKE_FENCE.sub(lambda match: _escape(match.group()), shown)


def _show(match: re.Match[str]) -> str:
    ch = match.group()
    if ch == _VS16:
        return ""
    return _escape(ch) if is_hidden(ch) else ch


def is_hidden(ch: str) -> bool:
    """Whether a character is invisible or changes how its neighbours look."""
    if ch in _HIDDEN or "\ufe00" <= ch <= "\ufe0f" or "\U000e0000" <= ch <= "\U000e0fff":
        return ch != _VS16
    return unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def unescape_name(shown: str) -> str:
    """Return the name from which `visible` made this, so that a caller can pass back a name as it was shown."""
    return _ESCAPED.sub(_unescape, shown)


def _unescape(match: re.Match[str]) -> str:
    code = int(match.group(1), 16)
    return match.group() if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def _escape(ch: str) -> str:
    return f"\\u{{{ord(ch):04x}}}"


def _label(value: str) -> str:
    return quote(visible(value).replace("<", "\\u{003c}").replace(">", "\\u{003e}"))
