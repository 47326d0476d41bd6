"""Names and ids: file names that work on every system, keys of memories, uuid7 ids, signatures and content hashes.

One rule set for every operating system, so that a book made on Linux opens on Windows and macOS. Keys have two rules.
Keys we *make* are strict: `[a-z0-9-]{1,60}`, up to four levels. Keys that *exist*, because a person made the file by
hand, may be any name that every file system can hold; they are read, shown and never renamed.

Ids of memories and entries are uuid7, because such ids sort by time and need no coordination. The standard library has
it from Python 3.14 on; this is the same layout (RFC 9562) for 3.11. Within a process ids always grow, even when the
clock stands still or steps back. Across processes, `after` makes an id sort behind another one whatever the clock says.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any

from commonplace.model.errors import InvalidKey
from commonplace.model.lazy import lazy, load_any

_LARGE = 16_384  # bytes, from which OpenSSL gains more than it costs
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789¹²³"]
)
_FORBIDDEN = frozenset(b'<>:"/\\|?*\x7f').union(range(32))  # a set, not a pattern: every start uses it
_UNSORTED = lazy(r"[^a-z0-9-]")
MAX_NAME_BYTES = 200  # leaves room for the temporary file's prefix below the 255 of every common file system


def is_windows_reserved(name: str) -> bool:
    """Whether Windows would open a device of this name: CON, con.md, LPT1.txt and the like."""
    return name.split(".", 1)[0].rstrip(" ").casefold() in _RESERVED


@lru_cache(maxsize=1_000)  # a write checks the same few names again and again
def find_name_fault(name: str) -> str | None:
    """Return why this cannot be a file name in a book, as a predicate; None when it can."""
    if not name:
        return "is empty"
    if name in {".", ".."}:
        return "leads to another folder"
    data = name.encode("utf-8", "replace")  # half of a surrogate pair becomes `?`, which is forbidden
    if not _FORBIDDEN.isdisjoint(data):
        return "contains a character that some systems forbid in file names"
    if name[-1] in " .":
        return "ends in a space or a dot, which Windows drops"
    if is_windows_reserved(name):
        return "is a name that Windows reserves"
    if len(data) > MAX_NAME_BYTES:
        return f"is longer than {MAX_NAME_BYTES} bytes"
    return None


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
    return _UNSORTED.sub(lambda match: f"_{ord(match.group()):x}.", fold_name(name))


_TOPIC_LENGTH = 60  # of a topic in sort names: a page is named for it
_HALF_ESCAPE = lazy(r"_[0-9a-f]*\Z")
_SORT_ESCAPE = lazy(r"_([0-9a-f]+)\.")


def sort_topic(tag: str) -> str:
    """Return a topic as a sort name starts with it: `@testing@`. No sort name of a key has an `@`."""
    return f"@{_HALF_ESCAPE.sub('', sort_name(tag)[:_TOPIC_LENGTH]) or '_'}@"


def show_topic(topic: str) -> str:
    """Return the topic that a sort name starts with, or the beginning of one, in letters."""
    return _SORT_ESCAPE.sub(lambda match: chr(int(match[1], 16)), topic.strip("@"))


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
    return repr(text if len(text) <= 64 else text[:61] + "...")


_COUNTER_BITS = 42
_HEAD, _MARK = 28, 8  # characters of an id: the unique part, and the signature (random in an unsigned id)
_LAST_MS = 1 << 47  # in the year 6429: an id of a later time is made up, and leaves no room behind it
SIGNATURE = 32  # characters of the signature of a text
_UUID7 = lazy(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_lock = Lock()
if hasattr(os, "register_at_fork"):  # a forked child may have it from a thread that it does not have
    os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]
_last = 0  # milliseconds and counter of the id made last, as one number


def new_id(key: str = "", after: str = "") -> str:
    """Return a new uuid7, greater than all that this process made before; with a key, a signed one.

    It is greater than `after`, too: where the clock is behind that id, it follows the id and not the clock. The ids of
    other things do not follow it there.
    """
    global _last  # noqa: PLW0603 - the one place that must remember across calls
    with _lock:
        now = time.time_ns() // 1_000_000
        if now > _last >> _COUNTER_BITS:
            _last = now << _COUNTER_BITS | _random_bits(_COUNTER_BITS - 1)  # top bit free: room to count up
        else:
            _last += 1
        number = _last
    least = _number_of(after)
    if least >= number:
        number = least + 1 + _random_bits(30)  # random: two ids that follow the same one must differ
    ms, counter = divmod(number, 1 << _COUNTER_BITS)
    high = counter >> 30  # 12 bits beside the version, 30 bits behind the variant, 32 random
    low = ((counter & 0x3FFFFFFF) << 32) | (0 if key else _random_bits(32))
    value = (ms << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low
    text = f"{value:032x}"
    ident = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    return _sign_id(ident, key) if key else ident


def _number_of(ident: str) -> int:
    """Return the milliseconds and counter of an id as one number; 0 for one that no clock of ours can have made."""
    if not _UUID7.fullmatch(ident):
        return 0
    digits = ident.replace("-", "")
    ms, high, low = int(digits[:12], 16), int(digits[13:16], 16), int(digits[16:24], 16) & 0x3FFFFFFF
    return ms << _COUNTER_BITS | high << 30 | low if ms < _LAST_MS else 0


def is_signed_id(ident: str, key: str) -> bool:
    """Whether an id was made with this key. Forging one without the key takes four billion guesses."""
    return is_uuid7(ident) and ident == _sign_id(ident, key)


def new_signing_key() -> str:
    """Return a key to sign ids and texts with: 256 random bits, in hex."""
    return os.urandom(32).hex()


def sign_text(key: str, text: str) -> str:
    """Return the signature of a text, which only a holder of the key can make."""
    return short_hash(f"{key}\n{text}", SIGNATURE)


def _sign_id(ident: str, key: str) -> str:
    head = ident[:_HEAD]
    return head + short_hash(key + head, _MARK)


def is_uuid7(ident: str) -> bool:
    """Whether an id is a uuid7, as ours are: of two such ids, the later one is the greater."""
    return len(ident) == 36 and ident[14] == "7"


def _random_bits(count: int) -> int:
    """Return random bits as `secrets.randbits` does, which would load OpenSSL: 5 ms of every store."""
    return int.from_bytes(os.urandom(8), "big") >> (64 - count)


def revision_of(data: bytes) -> str:
    """Return the revision of a file with these bytes: the first 128 bits of SHA-256, in hex."""
    return _hash(data)[:32]


def short_hash(text: str, length: int = 12) -> str:
    """Return the beginning of a text's SHA-256, in hex, for folder names and generated keys."""
    return _hash(text.encode("utf-8", "surrogatepass"))[:length]


def _hash(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hex."""
    return str(_find_sha256(is_large=len(data) >= _LARGE)(data).hexdigest())


@lru_cache(2)
def _find_sha256(*, is_large: bool) -> Callable[[bytes], Any]:
    """Return OpenSSL's function for large data, else Python's own: OpenSSL takes 3 ms of every start to load."""
    own = () if is_large else ("_sha2", "_sha256")  # from Python 3.12 on, and before
    found: Callable[[bytes], Any] = load_any(*own, "hashlib").sha256
    return found
