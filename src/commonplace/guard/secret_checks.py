"""Second looks at what a secret rule matched: is it a real value, or the place where one would stand?

Rules say what a secret looks like; these say what only looks like one: `<password>`, `${DB_PASSWORD}`, `xxxx`, a name,
a path, a call. Each check gets the value, the text in front of it (the match's own, and a little more) and the
character behind it. They are pure, and take time in proportion to the value.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from itertools import pairwise

# Compiled when first used, by re itself: most starts of a command need none of them.
_PLACEHOLDER = (
    r"(?i)example|placeholder|change[-_]?(?:me|this|it)|redacted|removed|replace[-_]?(?:me|this|with)|dummy"
    r"|(?<![A-Za-z0-9])(?:your|insert|put|not[-_]an?)[-_]|goes[-_]here|x{5,}|\*{3,}|\.{3,}|…|[<>]|\?{4,}|#{4,}|0{10,}"
)
_WEAK_WORD = (
    r"(?i)(?:(?:my|your|db|the|some|user|super|test|new|old|app|root|admin|top)[-_]?)?"
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|key|user|root|admin|guest|test|none|null|true|false|nil|todo"
    r"|postgres|mysql|redis|rabbitmq|minio|mongo|string|value|hidden|masked|x-oauth-basic|x-token-auth|oauth2)"
    r"[-_]?(?:here|123|1234|12345|\d)?"
)
_REFERENCE = (
    r"(?is)[$%{@!&#][\w{(]|\{\{|arn:|env:|vault:|op://|file:|https?:|ssm:|sops:|ENC\["
    r"|.*(?:\$\{|\$\(|\{\{|os\.environ|process\.env|getenv|\benv\b|secrets?\.|config\.|settings\."
    r"|\bvars?\.|\bself\.|\bargs\.|\bdata\.)"
)
_METHOD = (
    r"(?i)(?:sha|md|aes|rsa|hmac|utf|base|oauth|argon|bcrypt|scrypt|pbkdf|ed|curve|x|hs|rs|es|ps|blake)-?_?\d[\w-]{0,8}"
    r"|(?:argon2id?|pbkdf2[-_a-z0-9]*|hmac[-_a-z0-9]*|aes[-_a-z0-9]*|sha\d?[-_/a-z0-9]*|bcrypt[-_a-z0-9]*)"
)
_PIECES = r"[-_./:=,|\\ ]+|(?<=[a-z])(?=[A-Z])"
_WORD = r"(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)\d{0,2}|v?\d{1,4}|[0-9]{8}"
_NO_WORD = r"(?i)[b-df-hj-np-tv-xz]{6}|(?<![a-z])[b-df-hj-np-tv-xz]{4,}(?![a-z])"
_HARMLESS_NAME = (
    r"(?i)(?:next|prev|page|pagination|continuation|csrf|xsrf|sync|cancel|cancellation|pad|eos|bos|unk|sep|cls|mask"
    r"|stop|special|design|public|resume|cursor|first|last|max|min|num)[-_. ]?(?:page[-_]?)?(?:secret|token)"
)
_STRONG_SIGNS = frozenset("!@#$%^&*?+~")


def shannon(value: str) -> float:
    """Bits per character, by the value's own frequencies."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_real(value: str, _lead: str = "", _after: str = "") -> bool:
    """A token of a known format, not the one in a manual: `ghp_xxxx`, `AKIA...EXAMPLE`, `sk-12345678...`."""
    return not re.search(_PLACEHOLDER, value) and shannon(value) > 2.5 and _counting(value) * 2 < len(value)


def is_uncommon(value: str, _lead: str = "", _after: str = "") -> bool:
    """Real, and not words: for formats whose prefix is also a prefix of names."""
    return is_real(value) and not _wordy(value) and not (value.islower() and value.isalpha())


def is_mixed(value: str, _lead: str = "", _after: str = "") -> bool:
    """Real, with small and capital letters and digits: a base64 value, never a hash in hexadecimal."""
    return is_real(value) and all(any(test(ch) for ch in value) for test in (str.islower, str.isupper, str.isdigit))


def is_key(value: str, lead: str = "", after: str = "") -> bool:
    """What stands behind `api_key =` is random characters, not a name, a path, a call or a placeholder."""
    if len(value) < 16 or _stands_for_another(value, lead, after) or re.search(_HARMLESS_NAME, lead):
        return False
    return any(ch.isdigit() for ch in value) and shannon(value) >= 2.9 and is_real(value) and not _wordy(value)


def is_password(value: str, lead: str = "", after: str = "") -> bool:
    """What stands behind `password =` is something that a person or a program chose as one."""
    value = value.rstrip(".,:")
    if len(value) < 6 or _stands_for_another(value, lead, after) or re.fullmatch(_METHOD, value):
        return False
    letters = any(ch.isalpha() for ch in value)
    digits, signs = any(ch.isdigit() for ch in value), any(ch in _STRONG_SIGNS for ch in value)
    if not letters or not (digits or signs) or shannon(value) < 2.2 or re.search(_PLACEHOLDER, value):
        return False
    return not (re.search(_PIECES, value) and _wordy(value))


def is_said_password(value: str, lead: str = "", after: str = "") -> bool:
    """In a sentence (`the password is ...`) more is asked: digits, and capitals among small letters or signs."""
    kinds = (str.islower, str.isupper, str.isdigit, _STRONG_SIGNS.__contains__)
    if sum(any(kind(ch) for ch in value.rstrip(".,!?:")) for kind in kinds) < 3:
        return is_key(value, lead, after)
    return len(value) >= 8 and any(ch.isdigit() for ch in value) and is_password(value, lead, after)


def is_url_password(value: str, lead: str = "", _after: str = "") -> bool:
    """`user:VALUE@host` is meant, not `user:password@host`, and not a name as its own password."""
    user = lead.rpartition("//")[2].rstrip(":")
    return value != user and not _stands_for_another(value, "", "") and not re.search(_PLACEHOLDER, value)


def is_jwt(value: str, _lead: str = "", _after: str = "") -> bool:
    """The first part is JSON that names an algorithm."""
    try:
        header = json.loads(_decoded(value.partition(".")[0]))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "enc" in header)


def is_basic(value: str, _lead: str = "", _after: str = "") -> bool:
    """Decodes to `user:password` with a password that is meant."""
    try:
        user, colon, password = _decoded(value).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(colon) and (user + password).isprintable() and len(password) > 2 and is_url_password(password, user)


def is_discord(value: str, _lead: str = "", _after: str = "") -> bool:
    """The first part is the bot's number."""
    try:
        return _decoded(value.partition(".")[0]).isdigit() and is_real(value)
    except ValueError:
        return False


def is_key_block(value: str, _lead: str = "", _after: str = "") -> bool:
    """Between the lines of a private key stands key material, not `...`."""
    lines = re.findall(r"[A-Za-z0-9+/=]{38,}", value)
    return any(shannon(line) > 3.0 for line in lines)


def _decoded(value: str) -> bytes:
    standard = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _stands_for_another(value: str, _lead: str, after: str) -> bool:
    return bool(after in ("(", "[") or re.match(_REFERENCE, value) or re.fullmatch(_WEAK_WORD, value))


def _wordy(value: str) -> bool:
    """Words and small numbers, joined as names and paths are: `my-app-secret-2`, `cfg.apiToken`, `/run/secrets/db`."""
    pieces = [piece for piece in re.split(_PIECES, value) if piece]
    if not all(re.fullmatch(_WORD, piece) for piece in pieces) or re.search(_NO_WORD, value):
        return False
    return any(len(piece) > 2 and piece.isalpha() for piece in pieces) and len(value) >= 3 * len(pieces)


def _counting(value: str) -> int:
    """How many characters repeat or continue the one before them, as in 1234567 and aaaa."""
    return sum(ord(b) - ord(a) in (0, 1) for a, b in pairwise(value))
