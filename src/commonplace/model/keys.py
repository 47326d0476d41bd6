"""Keys: the name of a memory below its scope's folder.

Two rules. Keys we *make* are strict: `[a-z0-9-]{1,60}`, up to four levels. Keys that *exist*, because a person
made the file by hand, may be any name that every file system can hold; they are read, shown and never renamed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.model.errors import InvalidKey
from commonplace.model.names import is_windows_reserved, name_fault
from commonplace.model.patterns import lazy

MAX_LEVELS = 4
_LEVEL = lazy(r"[a-z0-9-]{1,60}", re.ASCII)


def check_new_key(key: str) -> str:
    """The key, if a memory may be created under it; InvalidKey says what is wrong otherwise."""
    levels = key.split("/")
    if len(levels) > MAX_LEVELS:
        raise InvalidKey(f"The key has {len(levels)} levels; {MAX_LEVELS} is the most.")
    for level in levels:
        if not _LEVEL.fullmatch(level):
            raise InvalidKey(f"{_shown(level)} is not a name made of 1 to 60 of a-z, 0-9 and -.")
        _check_level(level)
    return key


@lru_cache(maxsize=1_000)  # every layer that a key passes asks
def check_key(key: str) -> str:
    """The key, if a file in a book can have it: what a person may have written by hand."""
    if not isinstance(key, str):
        raise InvalidKey(f"A key is a text, not {type(key).__name__}.")
    for level in key.split("/"):
        fault = name_fault(level)
        if fault:
            raise InvalidKey(f"{_shown(level)} {fault}.")
        _check_level(level)
    return key


def is_key_name(stem: str) -> bool:
    """True when a file name without `.md` can be the last part of a key."""
    return not stem.startswith(("_", ".")) and stem.casefold() != "index" and name_fault(stem) is None


def _check_level(level: str) -> None:
    if level.startswith(("_", ".")):
        raise InvalidKey(f"{_shown(level)} starts with _ or ., which the book keeps for itself.")
    if level.casefold() == "index" or is_windows_reserved(level):
        raise InvalidKey(f"{_shown(level)} is reserved.", hint="Choose another name.")


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 64 else text[:61] + "...")
