"""Make ids: uuid7 for memories and entries, content hashes for revisions.

uuid7 because such ids sort by time and need no coordination. The standard library has it from Python 3.14 on; this is
the same layout (RFC 9562) for 3.11. Within a process ids always grow, even when the clock stands still or steps back.
"""

from __future__ import annotations

import os
import time
from hashlib import sha256
from threading import Lock

_COUNTER_BITS = 42
_HEAD, _MARK = 28, 8  # characters of an id: the unique part, and the signature (random in an unsigned id)
_lock = Lock()
_last_ms = 0
_counter = 0


def new_id(key: str = "") -> str:
    """Return a new uuid7, greater than all that this process made before; with a key, a signed one."""
    global _last_ms, _counter  # noqa: PLW0603 - the one place that must remember across calls
    with _lock:
        now = time.time_ns() // 1_000_000
        if now > _last_ms:
            _last_ms = now
            _counter = _random_bits(_COUNTER_BITS - 1)  # top bit free: room to count up
        else:
            _counter += 1
            if _counter >> _COUNTER_BITS:
                _last_ms += 1
                _counter = 0
        ms, counter = _last_ms, _counter
    high = counter >> 30  # 12 bits beside the version, 30 bits behind the variant, 32 random
    low = ((counter & 0x3FFFFFFF) << 32) | (0 if key else _random_bits(32))
    value = (ms << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | low
    text = f"{value:032x}"
    ident = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    return ident[:_HEAD] + _mark(key, ident[:_HEAD]) if key else ident


def is_signed_id(ident: str, key: str) -> bool:
    """Whether an id was made with this key. Forging one without the key takes four billion guesses."""
    return len(ident) == _HEAD + _MARK and is_uuid7(ident) and ident[_HEAD:] == _mark(key, ident[:_HEAD])


def new_signing_key() -> str:
    """Return a key to sign ids and texts with: 256 random bits, in hex."""
    return os.urandom(32).hex()


def sign_text(key: str, text: str) -> str:
    """Return the signature of a text, which only a holder of the key can make."""
    return short_hash(f"{key}\n{text}", 32)


def _mark(key: str, head: str) -> str:
    return str(sha256(f"{key}{head}".encode("utf-8", "surrogatepass")).hexdigest()[:_MARK])


def is_uuid7(ident: str) -> bool:
    """Whether an id is a uuid7, as ours are: of two such ids, the later one is the greater."""
    return len(ident) == 36 and ident[14] == "7"


def _random_bits(count: int) -> int:
    """Return random bits as `secrets.randbits` does, which would load OpenSSL: 5 ms of every store."""
    return int.from_bytes(os.urandom(8), "big") >> (64 - count)


def revision_of(data: bytes) -> str:
    """Return the revision of a file with these bytes: the first 128 bits of SHA-256, in hex."""
    return sha256(data).hexdigest()[:32]


def short_hash(text: str, length: int = 12) -> str:
    """Return the beginning of a text's SHA-256, in hex, for folder names and generated keys."""
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length])
