"""Check names that work on every system: of files, of folders, and the keys of memories.

One rule set for every operating system, so that a book made on Linux opens on Windows and macOS. Keys have two rules.
Keys we *make* are strict: `[a-z0-9-]{1,60}`, up to four levels. Keys that *exist*, because a person made the file by
hand, may be any name that every file system can hold; they are read, shown and never renamed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from commonplace.model.errors import InvalidKey
from commonplace.model.lazy import lazy

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
# Sets, not patterns: every start uses these, and compiling the pattern of surrogates alone takes 0.6 ms.
_FORBIDDEN = frozenset('<>:"/\\|?*\x7f').union(map(chr, range(32)))
_SURROGATES = ("\ud800", "\udfff")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
_SORTED = lazy(r"[a-z0-9-]+", re.ASCII)
MAX_NAME_BYTES = 200  # leaves room for the temporary file's prefix below the 255 of every common file system


def is_windows_reserved(name: str) -> bool:
    """Whether Windows would open a device of this name: CON, con.md, LPT1.txt and the like."""
    return name.split(".", 1)[0].rstrip(" ").casefold() in _RESERVED


@lru_cache(maxsize=1_000)  # a write checks the same few names again and again
def find_name_fault(name: str) -> str | None:
    """Return why this cannot be a file name in a book, as a predicate; None when it can."""
    # Almost every name is plain ASCII: accept those without trying each rule.
    if 0 < len(name) <= 60 and _is_plain(name) and not is_windows_reserved(name):
        return None
    if not name:
        return "is empty"
    if name in {".", ".."}:
        return "leads to another folder"
    if not _FORBIDDEN.isdisjoint(name) or any(_SURROGATES[0] <= ch <= _SURROGATES[1] for ch in name):
        return "contains a character that some systems forbid in file names"
    if name[-1] in " .":
        return "ends in a space or a dot, which Windows drops"
    if is_windows_reserved(name):
        return "is a name that Windows reserves"
    if len(name.encode("utf-8")) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    return None


def _is_plain(name: str) -> bool:
    """Whether a name is lower-case ASCII letters, digits and `_.-`, does not start with `_.-` or end with a dot."""
    return _PLAIN.issuperset(name) and name[0].isalnum() and name[-1] != "."


def fold_name(name: str) -> str:
    """Return a name without case and Unicode composition: equal for names that some system takes for one file."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def slug(text: str, limit: int = 60) -> str:
    """Return the ASCII words of a text in lower case, joined by `-` and cut at a word; may be empty."""
    words = re.findall(r"[a-z0-9]+", text.lower(), re.ASCII)
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word[:limit]
        if len(longer) > limit:
            break
        out = longer
    return out


def sort_name(name: str) -> str:
    """Return the name that index pages sort and split by: folded, in [a-z0-9._-] for any script.

    Any other character becomes `_`, its code in hex and `.`. So `__` never occurs, and pages can use it as a separator.
    """
    folded = fold_name(name)
    if _SORTED.fullmatch(folded):
        return folded
    return "".join(ch if _SORTED.fullmatch(ch) else f"_{ord(ch):x}." for ch in folded)


MAX_LEVELS = 4
_LEVEL = lazy(r"[a-z0-9-]{1,60}", re.ASCII)


def check_new_key(key: str) -> str:
    """Return the key, if a memory may be created under it; raises InvalidKey otherwise."""
    levels = key.split("/")
    if len(levels) > MAX_LEVELS:
        raise InvalidKey(f"The key has {len(levels)} levels; at most {MAX_LEVELS} are allowed.")
    for level in levels:
        if not _LEVEL.fullmatch(level):
            raise InvalidKey(f"{_shown(level)} is not 1 to 60 characters of a-z, 0-9 and -.")
        _check_level(level)
    return key


@lru_cache(maxsize=1_000)  # every layer that a key passes checks it
def check_key(key: str) -> str:
    """Return the key, if a file in a book can have it, even one made by hand; raises InvalidKey otherwise."""
    if not isinstance(key, str):
        raise InvalidKey(f"A key must be a string, not {type(key).__name__}.")
    for level in key.split("/"):
        fault = find_name_fault(level)
        if fault:
            raise InvalidKey(f"{_shown(level)} {fault}.")
        _check_level(level)
    return key


def is_key_name(stem: str) -> bool:
    """Whether a file name without `.md` can be the last part of a key."""
    return not stem.startswith(("_", ".")) and stem.casefold() != "index" and find_name_fault(stem) is None


def _check_level(level: str) -> None:
    if level.startswith(("_", ".")):
        raise InvalidKey(f"{_shown(level)} starts with _ or ., which is reserved.")
    if level.casefold() == "index" or is_windows_reserved(level):
        raise InvalidKey(f"{_shown(level)} is reserved.", hint="Choose another name.")


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 64 else text[:61] + "...")
