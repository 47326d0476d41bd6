"""Secrets made up at run time, in the places where people leave them.

No literal here looks like a token: every one is a prefix joined to random characters, so no scanner of this repository
has anything to find. The contexts use a name for those formats that mean nothing without one.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
B64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class Plant:
    """One line (or more) with a secret in it, and where."""

    format: str
    context: str
    text: str
    start: int
    end: int


def _some(rnd: random.Random, alphabet: str, size: int) -> str:
    """Random characters that begin and end with a letter or digit, as tokens do."""
    ends = "".join(ch for ch in alphabet if ch.isalnum())
    return rnd.choice(ends) + "".join(rnd.choices(alphabet, k=size - 2)) + rnd.choice(ends)


def _shape(*parts: str | tuple[str, int]) -> Callable[[random.Random], str]:
    return lambda rnd: "".join(part if isinstance(part, str) else _some(rnd, *part) for part in parts)


def _encoded(value: bytes | str) -> str:
    data = value if isinstance(value, bytes) else value.encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt(rnd: random.Random) -> str:
    header = json.dumps({"alg": rnd.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"})
    claims = json.dumps({"sub": _some(rnd, string.digits, 10), "iat": rnd.randrange(10**9)})
    return ".".join([_encoded(header), _encoded(claims), _some(rnd, URL64, 43)])


def _discord(rnd: random.Random) -> str:
    number = str(rnd.randrange(10**17, 10**18))
    return ".".join([_encoded(number), _some(rnd, URL64, 6), _some(rnd, URL64, 38)])


def _pem(kind: str) -> Callable[[random.Random], str]:
    def make(rnd: random.Random) -> str:
        body = "\\n".join(_some(rnd, B64, 64) for _ in range(4))
        dashes = "-" * 5
        return f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\\n{body}\\n{dashes}END {kind}PRIVATE KEY{dashes}"

    return make


def _uuid(rnd: random.Random) -> str:
    return "-".join(_some(rnd, HEX, size) for size in (8, 4, 4, 4, 12))


def _password(rnd: random.Random) -> str:
    return _some(rnd, ALNUM + "!@#%^*+-_", rnd.randrange(10, 18)) + rnd.choice(string.digits)


# Each format: the name of the variable that usually holds it, and how one is made.
FORMATS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "aws id": ("AWS_ACCESS_KEY_ID", _shape("AK" + "IA", (UPPER, 16))),
    "aws secret": ("AWS_SECRET_ACCESS_KEY", _shape((B64, 40))),
    "github classic": ("GITHUB_TOKEN", _shape("gh" + "p_", (ALNUM, 36))),
    "github oauth": ("GH_AUTH", _shape("gh" + "o_", (ALNUM, 36))),
    "github app": ("GH_APP", _shape("gh" + "s_", (ALNUM, 36))),
    "github fine": ("GH_PAT", _shape("github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    "gitlab": ("CI_PUSH", _shape("gl" + "pat-", (URL64, 20))),
    "gitlab runner": ("RUNNER", _shape("gl" + "rt-", (URL64, 20))),
    "gitlab deploy": ("DEPLOY", _shape("gl" + "dt-", (URL64, 20))),
    "slack bot": ("SLACK_BOT", _shape("xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24))),
    "slack user": ("SLACK_USER", _shape("xo" + "xp-", (string.digits, 12), "-", (HEX, 32))),
    "slack app": ("SLACK_APP", _shape("xa" + "pp-1-", (UPPER, 11), "-", (string.digits, 13), "-", (HEX, 64))),
    "slack webhook": (
        "HOOK",
        _shape("https://hooks.slack" + ".com/services/T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)),
    ),
    "google api": ("MAPS", _shape("AI" + "za", (URL64, 35))),
    "google oauth": ("OAUTH", _shape("GOC" + "SPX-", (URL64, 28))),
    "openai project": ("OPENAI", _shape("sk" + "-proj-", (URL64, 74))),
    "openai old": ("OPENAI", _shape("sk" + "-", (ALNUM, 48))),
    "anthropic": ("CLAUDE", _shape("sk" + "-ant-api03-", (URL64, 93), "AA")),
    "hugging face": ("HF", _shape("hf" + "_", (string.ascii_letters, 34))),
    "stripe": ("STRIPE", _shape("sk" + "_live_", (ALNUM, 24))),
    "stripe restricted": ("STRIPE", _shape("rk" + "_live_", (ALNUM, 24))),
    "stripe webhook": ("STRIPE_HOOK", _shape("wh" + "sec_", (ALNUM, 32))),
    "twilio": ("TWILIO_SID", _shape("S" + "K", (HEX, 32))),
    "sendgrid": ("MAIL", _shape("S" + "G.", (URL64, 22), ".", (URL64, 43))),
    "mailgun": ("MAIL", _shape("ke" + "y-", (HEX, 32))),
    "npm": ("NPM", _shape("np" + "m_", (ALNUM, 36))),
    "pypi": ("TWINE", _shape("py" + "pi-AgEIcHlwaS5vcmc", (URL64, 150))),
    "docker": ("HUB", _shape("dc" + "kr_pat_", (URL64, 27))),
    "digitalocean": ("DO", _shape("do" + "p_v1_", (HEX, 64))),
    "heroku": ("HEROKU_API_KEY", _uuid),
    "azure storage": (
        "CONNECTION",
        _shape("DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=", (B64, 86), "=="),
    ),
    "azure sas": ("BLOB", _shape("https://x.blob.core.windows.net/c?sv=2024-01-01&si" + "g=", (ALNUM, 43), "%3D")),
    "telegram": ("BOT", _shape((string.digits[1:], 10), ":A" + "A", (URL64, 33))),
    "discord": ("BOT", _discord),
    "shopify": ("SHOP", _shape("shp" + "at_", (HEX, 32))),
    "square": ("SQUARE", _shape("sq0" + "csp-", (URL64, 43))),
    "databricks": ("DBX", _shape("da" + "pi", (HEX, 32))),
    "vault": ("VAULT", _shape("hv" + "s.", (URL64, 90))),
    "terraform": ("TFC", _shape((ALNUM, 14), ".atlas" + "v1.", (URL64, 67))),
    "linear": ("LINEAR", _shape("lin" + "_api_", (ALNUM, 40))),
    "notion old": ("NOTION", _shape("sec" + "ret_", (ALNUM, 43))),
    "notion": ("NOTION", _shape("nt" + "n_", (ALNUM, 46))),
    "figma": ("FIGMA", _shape("fi" + "gd_", (URL64, 40))),
    "grafana": ("GRAFANA", _shape("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8))),
    "newrelic": ("NR", _shape("NR" + "AK-", (UPPER, 27))),
    "sentry": ("SENTRY", _shape("snt" + "rys_", (ALNUM, 100))),
    "fly": ("FLY", _shape("fo" + "1_", (URL64, 43))),
    "asana": ("ASANA", _shape("2/", (string.digits, 16), "/", (string.digits, 16), ":", (HEX, 32))),
    "crates": ("CARGO", _shape("ci" + "o", (ALNUM, 32))),
    "pinecone": ("PINECONE", _shape("pc" + "sk_", (ALNUM, 6), "_", (ALNUM, 62))),
    "1password": ("OP", _shape("op" + "s_eyJ", (ALNUM, 250))),
    "mapbox": ("MAPBOX", _shape("sk" + ".eyJ1Ijoi", (ALNUM, 60), ".", (URL64, 22))),
    "netlify": ("NETLIFY", _shape("nf" + "p_", (ALNUM, 36))),
    "vercel": ("VERCEL", _shape("vc" + "p_", (ALNUM, 44))),
    "alibaba": ("ALIBABA", _shape("LT" + "AI", (ALNUM, 20))),
    "tencent": ("TENCENT", _shape("AK" + "ID", (ALNUM, 32))),
    "neon": ("NEON", _shape("na" + "pi_", (LOWER, 64))),
    "render": ("RENDER", _shape("rn" + "d_", (ALNUM, 32))),
    "dynatrace": ("DT", _shape("dt" + "0c01.", (UPPER, 24), ".", (UPPER, 64))),
    "buildkite": ("BK", _shape("bk" + "ua_", (HEX, 40))),
    "circleci": ("CIRCLE", _shape("CCI" + "PAT_", (ALNUM, 22), "_", (HEX, 40))),
    "sonar": ("SONAR", _shape("sq" + "p_", (HEX, 40))),
    "posthog": ("POSTHOG", _shape("ph" + "x_", (ALNUM, 43))),
    "nvidia": ("NIM", _shape("nv" + "api-", (URL64, 64))),
    "tavily": ("TAVILY", _shape("tv" + "ly-dev-", (ALNUM, 32))),
    "langfuse": ("LANGFUSE", lambda rnd: "sk" + "-lf-" + _uuid(rnd)),
    "plaid": ("PLAID", lambda rnd: "access" + "-production-" + _uuid(rnd)),
    "cloudflare": ("CLOUDFLARE_API_TOKEN", _shape((URL64, 40))),
    "jwt": ("SESSION", _jwt),
    "rsa key": ("SIGNING", _pem("RSA ")),
    "ssh key": ("DEPLOY", _pem("OPENSSH ")),
    "pkcs8 key": ("SERVICE", _pem("")),
    "age key": ("AGE", _shape("AGE-SECRET" + "-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
    "url password": ("DATABASE_URL", lambda rnd: f"postgres://app:{_some(rnd, ALNUM, 14)}@db.internal:5432/app"),
    "password": ("DB_PASSWORD", _password),
    "api key": ("WEATHER_API_KEY", _shape((LOWER, 32))),
    "client secret": ("OIDC_CLIENT_SECRET", _shape((ALNUM, 40))),
}

# NAME and VALUE are replaced; `name` is the name as people say it.
CONTEXTS: dict[str, str] = {
    "prose": "For the deployment the {words} is VALUE and it must stay so.",
    "env file": "DEBUG=1\nNAME=VALUE\nPORT=8080",
    "yaml": "service:\n  name: VALUE\n  port: 8080",
    "json": '{"port": 8080, "name": "VALUE"}',
    "shell": "export NAME=VALUE",
    "shell quoted": "export NAME='VALUE'; make deploy",
    "header": "curl -H 'X-NAME: VALUE' https://api.internal/v1/things",
    "query": "GET https://api.internal/v1/things?name=VALUE",
    "log": "2026-11-15T09:30:00Z WARN client retry=3 name=VALUE",
    "markdown": "Set it like this:\n\n```sh\nNAME=VALUE\n```\n",
    "not ascii": "Für die Müller-Anlage — 部署 🚀 — gilt NAME: VALUE",
    "line end": "It only works with NAME = VALUE",
    "quotes": 'We agreed on NAME "VALUE" last week.',
    "csv": "2026-11-15,NAME,VALUE,active",
    "diff": "@@ -1,2 +1,2 @@\n-NAME=old\n+NAME=VALUE",
    "toml": '[service]\nname = "VALUE"',
    "dockerfile": "FROM debian\nENV NAME=VALUE\nRUN true",
    "sql": "INSERT INTO settings (k, v) VALUES ('NAME', 'VALUE');",
    "python": 'client = Client(name="VALUE", timeout=3)',
    "javascript": "const cfg = { name: 'VALUE', retries: 2 };",
    "terraform": 'variable "name" {\n  default = 1\n}\nname = "VALUE"',
    "xml": "<name>VALUE</name>",
    "escaped json": '{"body": "{\\"name\\": \\"VALUE\\"}"}',
    "option": "deploy --dash VALUE --verbose",
    "backticks": "- NAME: `VALUE` (rotates in March)",
}


def plant(format_: str, context: str, rnd: random.Random) -> Plant:
    name, make = FORMATS[format_]
    value = make(rnd)
    text = CONTEXTS[context].replace("{words}", name.lower().replace("_", " "))
    text = text.replace("NAME", name).replace("--dash", "--" + name.lower().replace("_", "-"))
    for form in ("  name:", '"name"', "?name=", " name=", "name =", "(name=", " name:", "<name>", "</name>", '\\"name'):
        text = text.replace(form, form.replace("name", name.lower()))
    slot = re.search(r"\bVALUE\b", text)
    assert slot
    start = slot.start()
    return Plant(format_, context, text[:start] + value + text[slot.end() :], start, start + len(value))


def plants(times: int = 3, seed: int = 7) -> Iterator[Plant]:
    rnd = random.Random(seed)
    for format_ in FORMATS:
        for context in CONTEXTS:
            for _ in range(times):
                yield plant(format_, context, rnd)
