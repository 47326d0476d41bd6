"""The rules of secrets: what a secret looks like, as RE2 expressions, and the checks of a match. The rules of public
token formats are in secret_formats.txt.

A rule is tried only on a text that has one of its keywords, and what `also` names. A keyword between slashes
(`/token/`) matches in any case, one after `~` is an expression. What a pattern's groups match is the secret, the rest
is context. Order is rank: where two rules overlap, the one further up names the finding. Patterns see one byte per
character, with `?` for every character that is not ASCII. guard/secrets.py checks that a secret starts where a word
starts: a pattern that begins with its own letters is found several times faster.

A rule's check tells a real value from a placeholder: `<password>`, `${DB_PASSWORD}`, `xxxx`, a name, a path, a call. It
gets the value, the text before it (the match's own, and a little more) and the character after it. Checks are pure and
take time in proportion to the value.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

# Strings, which re compiles on first use: most commands need none of them.
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
_NAME_PART = r"(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)\d{0,2}|v?\d{1,4}|[0-9]{8}"
_NO_WORD = r"(?i)[b-df-hj-np-tv-xz]{6}|(?<![a-z])[b-df-hj-np-tv-xz]{4,}(?![a-z])"
_HARMLESS_NAME = (
    r"(?i)(?:next|prev|page|pagination|continuation|csrf|xsrf|sync|cancel|cancellation|pad|eos|bos|unk|sep|cls|mask"
    r"|stop|special|design|public|resume|cursor|first|last|max|min|num)[-_. ]?(?:page[-_]?)?(?:secret|token)"
)
_STRONG_SIGNS = frozenset("!@#$%^&*?+~")


def entropy(value: str) -> float:
    """Return the Shannon entropy of a value in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_real(value: str, *_: str) -> bool:
    """Whether a token is no example from a manual: `ghp_xxxx`, `AKIA...EXAMPLE`, `sk-12345678...`."""
    # How many characters repeat or continue the one before them, as in 1234567 and aaaa.
    sequential = sum(ord(b) - ord(a) in (0, 1) for a, b in pairwise(value))
    return not re.search(_PLACEHOLDER, value) and entropy(value) > 2.5 and sequential * 2 < len(value)


def is_uncommon(value: str, *_: str) -> bool:
    """Whether a token is real and not made of words, for formats whose prefix also starts names."""
    return is_real(value) and not _is_wordy(value) and not (value.islower() and value.isalpha())


def is_mixed(value: str, *_: str) -> bool:
    """Whether a token is real and mixes cases and digits: a base64 value, never a hexadecimal hash."""
    return is_real(value) and all(any(test(ch) for ch in value) for test in (str.islower, str.isupper, str.isdigit))


def is_key(value: str, lead: str, after: str) -> bool:
    """Whether the value of `api_key =` is random, not a name, a path, a call or a placeholder."""
    if len(value) < 16 or _is_reference(value, after) or re.search(_HARMLESS_NAME, lead):
        return False
    return any(ch.isdigit() for ch in value) and entropy(value) >= 2.9 and is_real(value) and not _is_wordy(value)


def is_password(value: str, _lead: str, after: str) -> bool:
    """Whether the value of `password =` is a password that a person or a program chose."""
    value = value.rstrip(".,:")
    if len(value) < 6 or _is_reference(value, after) or re.fullmatch(_METHOD, value):
        return False
    letters = any(ch.isalpha() for ch in value)
    digits, signs = any(ch.isdigit() for ch in value), any(ch in _STRONG_SIGNS for ch in value)
    if not letters or not (digits or signs) or entropy(value) < 2.2 or re.search(_PLACEHOLDER, value):
        return False
    return not (re.search(_PIECES, value) and _is_wordy(value))


def is_password_in_sentence(value: str, lead: str, after: str) -> bool:
    """Whether a value in a sentence (`the password is ...`) is a password; needs digits and mixed characters."""
    kinds = (str.islower, str.isupper, str.isdigit, _STRONG_SIGNS.__contains__)
    if sum(any(kind(ch) for ch in value.rstrip(".,!?:")) for kind in kinds) < 3:
        return is_key(value, lead, after)
    return len(value) >= 8 and any(ch.isdigit() for ch in value) and is_password(value, lead, after)


def is_url_password(value: str, lead: str, *_: str) -> bool:
    """Whether `user:VALUE@host` has a real password, not a placeholder or the user name again."""
    user = lead.rpartition("//")[2].rstrip(":")
    return value != user and not _is_reference(value, "") and not re.search(_PLACEHOLDER, value)


def is_command_password(value: str, lead: str, after: str) -> bool:
    """Whether what follows the password flag of a command is a password: for `sshpass -p`, anything but a placeholder;
    for commands whose flag has other meanings, too, what looks like one."""
    if "sshpass" in lead:
        return is_url_password(value, "") and after != "("
    return is_password(value, lead, after)


def is_jwt(value: str, *_: str) -> bool:
    """Whether the first part is JSON that names an algorithm."""
    try:
        header = json.loads(_decode_base64(value.partition(".")[0]))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "enc" in header)


def is_basic(value: str, *_: str) -> bool:
    """Whether a value decodes to `user:password` with a real password."""
    try:
        user, colon, password = _decode_base64(value).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(colon) and (user + password).isprintable() and len(password) > 2 and is_url_password(password, user)


def is_discord(value: str, *_: str) -> bool:
    """Whether the first part is the number of a Discord bot."""
    try:
        return _decode_base64(value.partition(".")[0]).isdigit() and is_real(value)
    except ValueError:
        return False


def is_key_block(value: str, *_: str) -> bool:
    """Whether a private key block has key material in it, not `...`."""
    lines = re.findall(r"[A-Za-z0-9+/=]{38,}", value)
    return any(entropy(line) > 3.0 for line in lines)


def _decode_base64(value: str) -> bytes:
    standard = value.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _is_reference(value: str, after: str) -> bool:
    return bool(after in ("(", "[") or re.match(_REFERENCE, value) or re.fullmatch(_WEAK_WORD, value))


def _is_wordy(value: str) -> bool:
    """Whether a value is words and small numbers, as names and paths: `my-app-secret-2`, `cfg.apiToken`."""
    pieces = [piece for piece in re.split(_PIECES, value) if piece]
    if not all(re.fullmatch(_NAME_PART, piece) for piece in pieces) or re.search(_NO_WORD, value):
        return False
    return any(len(piece) > 2 and piece.isalpha() for piece in pieces) and len(value) >= 3 * len(pieces)


class SecretRule(NamedTuple):
    """How to find one kind of secret; the module docstring explains the fields."""

    name: str
    keywords: str  # separated by a comma and a space
    pattern: str
    check: Callable[[str, str, str], bool] = is_real
    also: str = ""
    short: bool = False  # the secret may have fewer than 16 characters


_QUOTE = r"\\{0,3}[\"'\x60]"
_TYPED = r"(?::[ \t]?&?(?:str|[Ss]tring|SecretStr|bytes)[ \t]?=|[ ]string[ ]=)"
_TO = rf"(?:{_QUOTE}|\])?[ \t]{{0,8}}(?:{_TYPED}|:=|=>|->|={{1,3}}|:)[ \t]{{0,8}}"
_NEXT = rf"(?:{_TO}|[ ]is[ ]|[ \t]+|>|{_QUOTE}?,[ ]?)"
_QUOTED = r"[bruf]{0,2}\\{0,3}(?:\"([^\s\"\\]{6,})|'([^\s'\\]{6,})|\x60([^\s\x60\\]{6,}))"
_VALUE = rf"(?:{_QUOTED}|([^\s\"'\x60<>,;(){{}}\[\]\\|]{{6,}}))"
_KEY_VALUE = _VALUE.replace(r"\\|]", r"\\|&]")  # a password may contain &, a key ends there
_KEY_NAME = (
    r"(?:secret|token|api[ _-]?key|(?:access|auth|private|signing|encryption|master|shared|storage|account|license"
    r"|service|deploy|admin|webhook)[ _-]?key|credentials?)"
    r"(?:[_-]?(?:key(?:_base)?|value|prod|dev|staging|test|[0-9]{1,2}))?"
)
_PASS_NAME = r"(?:pass(?:word|wd|phrase|code)|pwd|_pass)(?:[_-]?(?:value|prod|dev|staging|test|[0-9]{1,2}))?"  # noqa: S105
_KEY_WORDS = "/secret/, /token/, /key/, /credential/"
_PASS_WORDS = "/passw/, /passphrase/, /passcode/, /pwd/, /_pass/"  # noqa: S105
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_PEM = r"-----BEGIN[ A-Z0-9]{0,30} ?PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"(?:[^-]|-{1,4}[^-])*-{5,6}END[ A-Z0-9]{0,30} ?PRIVATE KEY(?: BLOCK)?-----"
_PEM_CUT = r"(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{38,}(?:\s|\\[nr]|[+-])*)+"

_PIECES_OF_FORMATS = {
    "NEXT": _NEXT, "QUOTE": _QUOTE, "UUID": _UUID, "PEM": _PEM, "PEM_BODY": _PEM_BODY, "PEM_CUT": _PEM_CUT,
}  # fmt: skip
_CHECKS = {check.__name__: check for check in (is_uncommon, is_mixed, is_key_block, is_jwt, is_discord)}


def _read_formats() -> tuple[SecretRule, ...]:
    """Return the rules of secret_formats.txt, in its order."""
    with open(os.path.join(os.path.dirname(__file__), "secret_formats.txt"), encoding="utf-8") as file:
        blocks = file.read().split("\n\n")[1:]
    rules = []
    for block in blocks:
        fields = dict(line.split(" ", 1) for line in block.splitlines() if not line.startswith("#"))
        pattern = re.sub(r"\{([A-Z_]+)\}", lambda match: _PIECES_OF_FORMATS[match[1]], fields["pattern"])
        check = _CHECKS.get(fields.get("check", ""), is_real)
        rules.append(SecretRule(fields["name"], fields["keywords"], pattern, check, fields.get("also", "")))
    return tuple(rules)


_ARGUMENTS = r"(?:[ \t][^\n|;&]{0,200}?)?[ \t]"  # of a command, before the one that is meant

_CONTEXT = (
    SecretRule(
        "url-password",
        "://",
        r"://[^\s/:@\"'<>\x60]{0,80}:([^\s/\"'<>\x60]{4,})@[A-Za-z0-9\[]",
        is_url_password,
        "@",
        short=True,
    ),
    SecretRule("basic-auth", "/basic/", r"(?i:\bbasic)[ \t]+([A-Za-z0-9+/_-]{8,}={0,2})", is_basic, short=True),
    SecretRule("bearer-token", "/bearer/", rf"(?i:\bbearer)[ \t]+{_QUOTE}?([A-Za-z0-9_.~+/=-]{{16,}})", is_key),
    SecretRule(
        "authorization-header",
        "/authorization/",
        rf"(?i:authorization{_QUOTE}?\s{{0,3}}[:=,]\s{{0,3}}{_QUOTE}?(?:token|api-?key|key)?)[ \t]*=?{_QUOTE}?"
        r"([A-Za-z0-9_.~+/=-]{16,})",
        is_key,
    ),
    SecretRule(
        "netrc-password",
        "/login/, /machine/",
        r"(?i:\blogin\s+[^\s/]\S*\s+password)\s+(\S{4,})",
        is_url_password,
        "password",
        short=True,
    ),
    SecretRule(
        "curl-password",
        "curl",
        rf"\bcurl\b[^\n]{{0,200}}?\s(?:-u|--user)[ =]?{_QUOTE}?[^\s:\"']{{1,80}}:([^\s\"'\x60]{{4,}})",
        is_password,
        short=True,
    ),
    SecretRule(
        "command-password",
        "sshpass, mysql, mongo, docker login, podman login, redis-cli, plink, pscp",
        rf"(?:\bsshpass(?:[ \t]+-(?:v|P[ \t]*\S+))*[ \t]+-p[ \t]?|\bmysql(?:dump|admin)?{_ARGUMENTS}-p"
        rf"|\bredis-cli{_ARGUMENTS}-a[ ]"
        rf"|\b(?:mongo(?:sh|dump|restore|import|export)?|(?:docker|podman)[ ]login){_ARGUMENTS}(?:-p|--password)[ =]"
        rf"|\b(?:plink|pscp){_ARGUMENTS}-pw[ ])(?:{_QUOTED}|([^\s\"'\x60<>,;(){{}}\[\]\\|&]{{4,}}))",
        is_command_password,
        short=True,
    ),
    SecretRule("password", _PASS_WORDS, rf"(?i){_PASS_NAME}{_TO}{_VALUE}", is_password, short=True),
    SecretRule(
        "password",
        _PASS_WORDS,
        rf"(?i){_PASS_NAME}(?:[ \t]+(?:is|was)[ \t]*:?[ \t]+|[ ]|{_QUOTE}?,[ ]?){_VALUE}",
        is_password_in_sentence,
        short=True,
    ),
    SecretRule(
        "password",
        f"{_PASS_WORDS}, /identified by/",
        rf"(?i)(?:{_PASS_NAME}|identified[ ]by)\s+'([^'\s]{{6,}})'",
        is_password,
        short=True,
    ),
    SecretRule("password", _PASS_WORDS, rf"(?i)<[\w:.-]{{0,20}}{_PASS_NAME}>([^<\s]{{6,}})</", is_password, short=True),
    SecretRule("assigned-key", _KEY_WORDS, rf"(?i){_KEY_NAME}{_TO}{_KEY_VALUE}", is_key),
    SecretRule(
        "assigned-key",
        _KEY_WORDS,
        rf"(?i){_KEY_NAME}(?:[ \t]+(?:is|was)[ \t]*:?[ \t]+|[ \t]+|>|{_QUOTE}?,[ ]?){_KEY_VALUE}",
        is_key,
    ),
)

CONTEXT_RULES = frozenset(rule.name for rule in _CONTEXT)  # rules that go by the context of a value, not by its format
RULES: tuple[SecretRule, ...] = (*_read_formats(), *_CONTEXT)
