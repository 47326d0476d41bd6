"""The fence: recalled text is data, never instruction.

Every outlet passes what it shows through `fence`. It names where the text came from, and the text cannot leave it: what
could be taken for the fence itself, and every character that is invisible or changes the direction or look of what
stands around it, is shown as an escape. The result depends on the input alone, so the same brief has the same bytes.
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
    "\u180b\u180c\u180d\u180e\u180f"  # what chooses the form of a Mongolian letter
    "\u2800"  # the empty braille cell
)
_VS16 = "\ufe0f"  # only asks for the colour form of an emoji
_ESCAPED = lazy(r"\\u\{([0-9a-f]{4,6})\}")
_SUSPECT = lazy(r"[^\t\n\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]")


def fence(text: str, source: Mapping[str, str] | None = None) -> str:
    """The text between two fence lines, the first of which says where it came from."""
    labels = "".join(f" {name}={_label(value)}" for name, value in (source or {}).items())
    return f"<{TAG}{labels}>\n{visible(text)}\n</{TAG}>"


def visible(text: str) -> str:
    """The text with nothing hidden in it and nothing that could end a fence."""
    shown = text.replace("\r\n", "\n")
    if not (shown.isascii() and shown.replace("\n", "").replace("\t", "").isprintable()):  # most texts are plain
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
    """Whether a character shows nothing, or changes how others are shown."""
    if ch in _HIDDEN or "\ufe00" <= ch <= "\ufe0f" or "\U000e0000" <= ch <= "\U000e0fff":
        return ch != _VS16
    return unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def unescape_name(shown: str) -> str:
    """The name of which `visible` made this: whoever was shown a name with something hidden in it may say it so."""
    return _ESCAPED.sub(_unescape, shown) if "\\u{" in shown else shown


def _unescape(match: re.Match[str]) -> str:
    code = int(match.group(1), 16)
    return match.group() if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def _escape(ch: str) -> str:
    return f"\\u{{{ord(ch):04x}}}"


def _label(value: str) -> str:
    return quote(visible(value).replace("<", "\\u{003c}").replace(">", "\\u{003e}"))
