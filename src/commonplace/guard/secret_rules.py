"""The table of secrets: what each public token format looks like, as RE2 expressions, and the checks of a match.

A rule is tried only on a text that has one of its keywords, and all that `also` names. A keyword between slashes
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
import binascii
import json
import math
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


def is_real(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether a token is no example from a manual: `ghp_xxxx`, `AKIA...EXAMPLE`, `sk-12345678...`."""
    return not re.search(_PLACEHOLDER, value) and entropy(value) > 2.5 and _count_sequential(value) * 2 < len(value)


def is_uncommon(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether a token is real and not made of words, for formats whose prefix also starts names."""
    return is_real(value) and not _is_wordy(value) and not (value.islower() and value.isalpha())


def is_mixed(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether a token is real and mixes cases and digits: a base64 value, never a hexadecimal hash."""
    return is_real(value) and all(any(test(ch) for ch in value) for test in (str.islower, str.isupper, str.isdigit))


def is_key(value: str, lead: str = "", after: str = "") -> bool:
    """Whether the value of `api_key =` is random, not a name, a path, a call or a placeholder."""
    if len(value) < 16 or _is_reference(value, lead, after) or re.search(_HARMLESS_NAME, lead):
        return False
    return any(ch.isdigit() for ch in value) and entropy(value) >= 2.9 and is_real(value) and not _is_wordy(value)


def is_password(value: str, lead: str = "", after: str = "") -> bool:
    """Whether the value of `password =` is a password that a person or a program chose."""
    value = value.rstrip(".,:")
    if len(value) < 6 or _is_reference(value, lead, after) or re.fullmatch(_METHOD, value):
        return False
    letters = any(ch.isalpha() for ch in value)
    digits, signs = any(ch.isdigit() for ch in value), any(ch in _STRONG_SIGNS for ch in value)
    if not letters or not (digits or signs) or entropy(value) < 2.2 or re.search(_PLACEHOLDER, value):
        return False
    return not (re.search(_PIECES, value) and _is_wordy(value))


def is_password_in_sentence(value: str, lead: str = "", after: str = "") -> bool:
    """Whether a value in a sentence (`the password is ...`) is a password; needs digits and mixed characters."""
    kinds = (str.islower, str.isupper, str.isdigit, _STRONG_SIGNS.__contains__)
    if sum(any(kind(ch) for ch in value.rstrip(".,!?:")) for kind in kinds) < 3:
        return is_key(value, lead, after)
    return len(value) >= 8 and any(ch.isdigit() for ch in value) and is_password(value, lead, after)


def is_url_password(value: str, lead: str = "", _after: str = "") -> bool:
    """Whether `user:VALUE@host` has a real password, not a placeholder or the user name again."""
    user = lead.rpartition("//")[2].rstrip(":")
    return value != user and not _is_reference(value, "", "") and not re.search(_PLACEHOLDER, value)


def is_jwt(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether the first part is JSON that names an algorithm."""
    try:
        header = json.loads(_decode_base64(value.partition(".")[0]))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "enc" in header)


def is_basic(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether a value decodes to `user:password` with a real password."""
    try:
        user, colon, password = _decode_base64(value).decode("utf-8").partition(":")
    except ValueError:
        return False
    return bool(colon) and (user + password).isprintable() and len(password) > 2 and is_url_password(password, user)


def is_discord(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether the first part is the number of a Discord bot."""
    try:
        return _decode_base64(value.partition(".")[0]).isdigit() and is_real(value)
    except ValueError:
        return False


def is_key_block(value: str, _lead: str = "", _after: str = "") -> bool:
    """Whether a private key block has key material in it, not `...`."""
    lines = re.findall(r"[A-Za-z0-9+/=]{38,}", value)
    return any(entropy(line) > 3.0 for line in lines)


def _decode_base64(value: str) -> bytes:
    standard = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _is_reference(value: str, _lead: str, after: str) -> bool:
    return bool(after in ("(", "[") or re.match(_REFERENCE, value) or re.fullmatch(_WEAK_WORD, value))


def _is_wordy(value: str) -> bool:
    """Whether a value is words and small numbers, as names and paths: `my-app-secret-2`, `cfg.apiToken`."""
    pieces = [piece for piece in re.split(_PIECES, value) if piece]
    if not all(re.fullmatch(_NAME_PART, piece) for piece in pieces) or re.search(_NO_WORD, value):
        return False
    return any(len(piece) > 2 and piece.isalpha() for piece in pieces) and len(value) >= 3 * len(pieces)


def _count_sequential(value: str) -> int:
    """Return how many characters repeat or continue the one before them, as in 1234567 and aaaa."""
    return sum(ord(b) - ord(a) in (0, 1) for a, b in pairwise(value))


class SecretRule(NamedTuple):
    """How to find one kind of secret; the module docstring explains the fields."""

    name: str
    keywords: tuple[str, ...]
    pattern: str
    check: Callable[[str, str, str], bool] = is_real
    also: tuple[str, ...] = ()
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
_KEY_WORDS = ("/secret/", "/token/", "/key/", "/credential/")
_PASS_WORDS = ("/passw/", "/passphrase/", "/passcode/", "/pwd/", "/_pass/")
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_PEM = r"-----BEGIN[ A-Z0-9]{0,30} ?PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"(?:[^-]|-{1,4}[^-])*-{5,6}END[ A-Z0-9]{0,30} ?PRIVATE KEY(?: BLOCK)?-----"
_PEM_CUT = r"(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{38,}(?:\s|\\[nr]|[+-])*)+"

_CLOUDS = (
    SecretRule("aws-access-key-id", ("AKIA", "ASIA", "ABIA", "ACCA"), r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    SecretRule(
        "aws-secret-access-key",
        ("/aws/", "/amazon/", "/secret/"),
        rf"(?i:(?:aws|amazon|secret)[\w .\[\]\"'-]{{0,40}}?(?:key|secret)\w{{0,10}}{_NEXT}){_QUOTE}?"
        r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)",
        is_mixed,
    ),
    SecretRule("google-api-key", ("AIza",), r"(AIza[\w-]{35})(?:[^\w-]|$)"),
    SecretRule("google-oauth-client-secret", ("GOCSPX-",), r"(GOCSPX-[\w-]{24,})"),
    SecretRule("google-oauth-token", ("ya29.",), r"(ya29\.[\w.-]{20,})", is_uncommon),
    SecretRule("google-refresh-token", ("1//0",), r"(1//0[\w-]{40,})", is_mixed),
    SecretRule(
        "gcp-service-account-key",
        ("private_key",),
        rf"private_key\\?[\"']\s{{0,4}}[:=]\s{{0,4}}\\?[\"']({_PEM}{_PEM_BODY})",
        is_key_block,
        ("PRIVATE KEY-----",),
    ),
    SecretRule(
        "azure-storage-key", ("/accountkey/",), r"(?i:AccountKey)[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9+/]{40,}={0,2})"
    ),
    SecretRule("azure-access-key", ("/sharedaccesskey=/",), r"(?i:SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"),
    SecretRule("azure-sas", ("sig=",), r"\bsig=([A-Za-z0-9%+/_-]{40,}(?:=|%3[Dd]){0,2})", is_uncommon),
    SecretRule("azure-client-secret", ("Q~",), r"([\w~.-]{3}[0-9]Q~[\w~.-]{31,34})", is_mixed),
    SecretRule("digitalocean-token", ("_v1_",), r"(do[opr]_v1_[0-9a-f]{64})\b"),
    SecretRule("heroku-api-key", ("HRKU-",), r"(HRKU-[\w-]{30,})"),
    SecretRule(
        "heroku-api-key",
        ("/heroku/",),
        rf"(?i:heroku[^\n]{{0,40}}?(?:key|token|secret|auth|password)[^\n]{{0,20}}?)\b({_UUID})\b",
    ),
    SecretRule("cloudflare-token", ("cfut_", "cfat_", "cfk_"), r"(cf(?:ut|at|k)_[\w-]{38,})", is_uncommon),
    SecretRule(
        "cloudflare-token",
        ("/cloudflare/", "/cf_/"),
        rf"(?i:cloudflare|\bcf_)[\w .-]{{0,40}}?{_NEXT}{_QUOTE}?([\w-]{{40}}|[0-9a-f]{{37}})(?:[^\w-]|$)",
        is_uncommon,
    ),
    SecretRule("cloudflare-origin-ca-key", ("v1.0-",), r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{100,})\b"),
    SecretRule("databricks-token", ("dapi",), r"(dapi[0-9a-f]{32}(?:-[0-9]{1,2})?)\b"),
    SecretRule("vault-token", ("hvs.", "hvb.", "hvr."), r"(hv[sbr]\.[\w-]{24,})", is_uncommon),
    SecretRule("terraform-cloud-token", (".atlasv1.",), r"([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})"),
    SecretRule("pulumi-token", ("pul-",), r"(pul-[0-9a-f]{40})\b"),
    SecretRule("supabase-key", ("sbp_", "sb_secret_"), r"(sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})", is_uncommon),
    SecretRule("planetscale-token", ("pscale_",), r"(pscale_(?:tkn|pw|oauth)_[\w=.-]{32,})"),
    SecretRule("doppler-token", ("dp.",), r"(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})"),
    SecretRule("fly-token", ("fo1_", "fm1", "fm2_"), r"(fo1_[\w-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/=]{80,})", is_mixed),
    SecretRule("mapbox-token", (".eyJ",), r"([st]k\.eyJ[\w-]{20,}\.[\w-]{20,})", is_mixed),
    SecretRule("tailscale-key", ("tskey-",), r"(tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,})"),
)
_DEVELOPMENT = (
    SecretRule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(gh[pousr]_[A-Za-z0-9]{36,})\b"),
    SecretRule("github-fine-grained-token", ("github_pat_",), r"(github_pat_[A-Za-z0-9_]{60,})\b"),
    SecretRule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"),
        r"(gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?)",
        is_uncommon,
    ),
    SecretRule("gitlab-runner-token", ("GR1348941",), r"(GR1348941[\w-]{20})"),
    SecretRule("bitbucket-token", ("ATBB", "ATCTT3"), r"((?:ATBB|ATCTT3)[\w=-]{28,})", is_mixed),
    SecretRule("atlassian-token", ("ATATT3",), r"(ATATT3[\w=-]{60,})"),
    SecretRule("npm-token", ("npm_",), r"(npm_[A-Za-z0-9]{36})\b"),
    SecretRule("pypi-token", ("pypi-AgE",), r"(pypi-AgE[\w-]{50,})"),
    SecretRule("crates-token", (r"~cio[A-Za-z0-9]{32}",), r"(cio[A-Za-z0-9]{32})\b", is_mixed),
    SecretRule("rubygems-token", ("rubygems_",), r"(rubygems_[0-9a-f]{48})\b"),
    SecretRule("docker-token", ("dckr_",), r"(dckr_[po]at_[\w-]{24,})", is_uncommon),
    SecretRule("linear-token", ("lin_api_", "lin_oauth_"), r"(lin_(?:api|oauth)_[A-Za-z0-9]{32,})\b"),
    SecretRule("notion-token", ("secret_", "ntn_"), r"(secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})\b", is_mixed),
    SecretRule(
        "asana-token",
        (r"~[0-9]{10}:[0-9a-f]{32}",),
        r"([0-9]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32})\b",
    ),
    SecretRule("onepassword-token", ("ops_eyJ",), r"(ops_eyJ[\w+/=-]{80,})", is_mixed),
    SecretRule("figma-token", ("figd_", "figo_"), r"(fig[do]_[\w-]{36,})", is_uncommon),
    SecretRule("postman-key", ("PMAK-",), r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b"),
    SecretRule("airtable-token", (r"~pat[A-Za-z0-9]{14}\.",), r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b"),
    SecretRule(
        "grafana-token",
        ("glsa_", "glc_"),
        r"(glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    SecretRule("newrelic-key", ("NRAK-", "NRII-", "NRRA-"), r"(NR(?:AK|II|RA)-[\w-]{27,})"),
    SecretRule("sentry-token", ("sntrys_", "sntryu_"), r"(sntry[su]_[\w+/=-]{40,})"),
    SecretRule("sourcegraph-token", ("sgp_",), r"(sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})\b"),
)
_MODELS = (
    SecretRule("anthropic-key", ("sk-ant-",), r"(sk-ant-[\w-]{24,})", is_uncommon),
    SecretRule("openrouter-key", ("sk-or-",), r"(sk-or-(?:v[0-9]-)?[\w-]{32,})", is_uncommon),
    SecretRule(
        "openai-key",
        ("sk-",),
        r"(sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}|[A-Za-z0-9]{32,}))",
        is_uncommon,
    ),
    SecretRule("huggingface-token", ("hf_", "api_org_"), r"((?:hf|api_org)_[A-Za-z0-9]{30,})\b"),
    SecretRule("groq-key", ("gsk_",), r"(gsk_[A-Za-z0-9]{40,})\b"),
    SecretRule("perplexity-key", ("pplx-",), r"(pplx-[A-Za-z0-9]{40,})\b"),
    SecretRule("replicate-token", ("r8_",), r"(r8_[A-Za-z0-9]{37})\b"),
    SecretRule("xai-key", ("xai-",), r"(xai-[A-Za-z0-9]{60,})\b"),
    SecretRule("pinecone-key", ("pcsk_",), r"(pcsk_\w{40,})", is_mixed),
    SecretRule("langsmith-key", ("lsv2_",), r"(lsv2_[a-z]{2}_[0-9a-f]{32}(?:_[0-9a-f]{10})?)\b"),
)
_MESSAGING_AND_PAYMENT = (
    SecretRule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,})",
    ),
    SecretRule(
        "slack-token",
        ("xox", "xapp-"),
        r"((?:xoxe\.)?xox[abceoprs]-[\w-]{10,}|xapp-[0-9]-[\w-]{20,})",
        is_uncommon,
    ),
    SecretRule(
        "discord-webhook", ("/api/",), r"(discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,}/[\w-]{40,})"
    ),
    SecretRule(
        "discord-bot-token",
        (r"~\.[\w-]{6}\.[\w-]{27}",),
        r"([MNO][DTjz][\w-]{21,28}\.[\w-]{6}\.[\w-]{27,})",
        is_discord,
    ),
    SecretRule("telegram-bot-token", (":AA",), r"([0-9]{8,12}:AA[\w-]{30,})", is_mixed),
    SecretRule("twilio-key", (r"~SK[0-9a-f]{32}",), r"(SK[0-9a-f]{32})\b"),
    SecretRule("sendgrid-key", ("SG.",), r"(SG\.[\w-]{16,}\.[\w-]{32,})", is_mixed),
    SecretRule("mailgun-key", ("key-",), r"(key-[0-9a-zA-Z]{32})\b", is_uncommon),
    SecretRule("mailchimp-key", (r"~[0-9a-f]-us[0-9]",), r"([0-9a-f]{32}-us[0-9]{1,2})\b"),
    SecretRule("brevo-key", ("xkeysib-",), r"(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b"),
    SecretRule("stripe-key", ("_live_", "_test_"), r"([rs]k_(?:live|test)_[A-Za-z0-9]{16,})", is_uncommon),
    SecretRule("webhook-secret", ("whsec_",), r"(whsec_[A-Za-z0-9+/]{24,}={0,2})"),
    SecretRule("shopify-token", ("shp",), r"(shp(?:at|ca|pa|ss|ua|rt)_[0-9a-fA-F]{32})\b"),
    SecretRule("square-token", ("sq0",), r"(sq0[a-z]{3}-[\w-]{22,})", is_uncommon),
    SecretRule("square-token", ("EAAA",), r"(EAAA[\w-]{60})(?:[^\w-]|$)", is_mixed),
)
_KEY_FILES = (
    SecretRule("private-key", ("PRIVATE KEY",), rf"({_PEM}{_PEM_BODY})", is_key_block, ("-----BEGIN",)),
    SecretRule("private-key", ("PRIVATE KEY",), rf"({_PEM}{_PEM_CUT})", is_key_block, ("-----BEGIN",)),
    SecretRule(
        "putty-private-key",
        ("Private-Lines:",),
        r"Private-Lines:[ ]?[0-9]+\s+((?:[A-Za-z0-9+/=]{20,}\s*)+)",
        is_key_block,
    ),
    SecretRule("age-secret-key", ("AGE-SECRET-KEY-1",), r"(AGE-SECRET-KEY-1[A-Z0-9]{50,})\b"),
    SecretRule("jwt", ("eyJ",), r"(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]+)*)", is_jwt),
)
_CONTEXT = (
    SecretRule(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'<>\x60]{0,80}:([^\s/\"'<>\x60]{4,})@[A-Za-z0-9\[]",
        is_url_password,
        ("@",),
        short=True,
    ),
    SecretRule("basic-auth", ("/basic/",), r"(?i:\bbasic)[ \t]+([A-Za-z0-9+/_-]{8,}={0,2})", is_basic, short=True),
    SecretRule("bearer-token", ("/bearer/",), rf"(?i:\bbearer)[ \t]+{_QUOTE}?([A-Za-z0-9_.~+/=-]{{16,}})", is_key),
    SecretRule(
        "authorization-header",
        ("/authorization/",),
        rf"(?i:authorization{_QUOTE}?\s{{0,3}}[:=,]\s{{0,3}}{_QUOTE}?(?:token|api-?key|key)?)[ \t]*=?{_QUOTE}?"
        r"([A-Za-z0-9_.~+/=-]{16,})",
        is_key,
    ),
    SecretRule(
        "netrc-password",
        ("/login/", "/machine/"),
        r"(?i:\blogin\s+[^\s/]\S*\s+password)\s+(\S{4,})",
        is_url_password,
        ("password",),
        short=True,
    ),
    SecretRule(
        "curl-password",
        ("curl",),
        rf"\bcurl\b[^\n]{{0,200}}?\s(?:-u|--user)[ =]?{_QUOTE}?[^\s:\"']{{1,80}}:([^\s\"'\x60]{{4,}})",
        is_password,
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
        (*_PASS_WORDS, "/identified by/"),
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
RULES: tuple[SecretRule, ...] = (*_CLOUDS, *_DEVELOPMENT, *_MODELS, *_MESSAGING_AND_PAYMENT, *_KEY_FILES, *_CONTEXT)
