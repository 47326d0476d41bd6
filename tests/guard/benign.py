"""Lines without a secret in them that look as if they had one: hashes, paths, placeholders, talk about passwords."""

from __future__ import annotations

import base64
import random
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = re.findall(
    r"\w+",
    """\
lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt labore magna aliqua enim minim
veniam quis nostrud exercitation ullamco laboris nisi aliquip commodo consequat service deploy release index token
secret password key session project memory agent disk task risk user client config value review queue worker
""",
)
TALK = """\
the password is stored in 1Password under WORD
password: ${DB_PASSWORD}
password: <password>
password = "changeme"
password: xxxxxxxxxxxx
DB_PASSWORD=********
PASSWORD=$POSTGRES_PASSWORD
password = os.environ["DB_PASSWORD_V2"]
password = getpass.getpass("Password for WORD: ")
password: {{ vault_db_password }}
api_key: your-api-key-here
api_key = "<YOUR_API_KEY>"
API_KEY=your_api_key_goes_here_12345
apiKey: process.env.WORD_API_KEY_2
token = request.headers.get("X-Auth-Token-2")
token: ${{ secrets.WORD_TOKEN_1 }}
Authorization: Bearer <token>
Authorization: Bearer $WORD_TOKEN
curl -H "Authorization: Bearer ${TOKEN}" https://api.WORD.dev/v1/items
curl -u "$USER:$PASS" https://WORD.dev
the token budget is NUM and max_tokens: NUM
tokens: NUM, tokenizer: cl100k_base, token_count=NUM
next_page_token: B64
csrf_token=HEX
password_min_length: NUM
passwords are hashed with argon2id, never md5 or sha256
password: argon2id
password hashing: bcrypt with cost NUM
Passwords must have 12 characters, one digit (0-9) and one of !@#
password_file: /run/secrets/db_password_v2
secret: WORD-tls-secret-2
secretName: WORD-WORD-tls-2024
secretKeyRef: { name: WORD-credentials, key: password }
client_secret_file: ~/.config/WORD/client_secret.json
ssh_key_path: ~/.ssh/id_ed25519
PRIVATE KEY blocks start with -----BEGIN RSA PRIVATE KEY----- and have many lines
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA/B64 WORD@WORD
tokens that start with ghp_ are GitHub's, glpat- GitLab's, sk-ant- Anthropic's
AKIA-MANUAL is the key in the manual
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
xoxb-your-bot-token-goes-here-please
postgres://user:password@localhost:5432/WORD
postgres://postgres:postgres@localhost/WORD
mysql://${USER}:${PASS}@db/WORD
redis://:<password>@cache:6379/0
git@github.com:WORD/WORD.git
https://github.com/WORD/WORD/commit/SHA
https://WORD.dev:8443/a/b@2.1.0/index.html
ssh://git@WORD.dev:2222/WORD/WORD.git
https://fonts.WORD.dev/css2?family=Inter:wght@400;700
machine WORD.dev login WORD password <token>
basic understanding of the WORD WORD
Authorization: Basic <base64 of user:password>
the api key is kept in the keychain as WORD-api-key-2
secret/data/WORD/prod#password
"resolved": "https://registry.npmjs.org/WORD/-/WORD-1.2.NUM.tgz",
"integrity": "sha512-B64B64==",
sha256:SHA256
commit SHA
index SHA7..SHA7 100644
--hash=sha256:SHA256 \\
image: registry.WORD.dev/WORD@sha256:SHA256
trace_id=HEX span_id=SHA7
request id UUID took NUM ms
id: UUID
token_id: UUID
key: WORD/WORD-NUM
cache-key: WORD-SHA7-UUID
etag: "HEX"
src="data:image/png;base64,B64B64B64"
url(data:font/woff2;base64,B64B64)
B64B64B64B64
color: #SHA6; background: #SHA6
version: NUM.NUM.NUM-rc1+build.SHA7
2026-11-15T09:30:00Z INFO WORD WORD port=NUM
def WORD_token(WORD: str) -> str:
function e(t,n){var r=n(NUM);t.exports=r.token||r.apiKey,n.d(e,"a",(function(){return WORD}))}
!function(e){var t={};e.token=t.accessToken,e.secret=n.clientSecret2}(window)
const token = await getAccessToken2(client, "WORD");
token = oauth2_client_credentials_token(WORD)
self.api_key = settings.openai_api_key_v2
password = models.CharField(max_length=128)
password: str = Field(min_length=12)
"password": {"type": "string", "minLength": 12},
SELECT password_hash FROM users WHERE id = NUM;
if password != confirm_password1: raise ValueError
/home/WORD/projects/WORD-2/src/WORD/secret_rules_v2.py
C:\\Users\\WORD1\\AppData\\Local\\Token\\cache2
pwd: /home/WORD2/work/main
PWD=/srv/WORD/releases/20261115
COMMONPLACE_TOKEN is read from the environment, see docs/settings
use `--token-file /run/WORD/token2` rather than --token
task-force-WORD-2 risk-assessment-2026 disk-usage-report-WORD
WORD WORD WORD WORD WORD WORD WORD WORD WORD
WORD WORD token WORD secret WORD password WORD
port NUM, pid NUM, took NUM.NUM s, NUM of NUM
arn:aws:secretsmanager:eu-west-1:123456789012:secret:WORD-abc12
aws s3 cp s3://WORD/SHA s3://WORD/key
secret access key: see op://WORD/aws/secret_access_key
eyJ is how a base64 JSON object starts
key-value stores, key-WORD, api-key-WORD-header
""".replace("-MANUAL", "IOSFODNN7" + "EXAMPLE").splitlines()


_SLOT = re.compile(r"(?<![A-Za-z_])(?:WORD|NUM|SHA256|SHA7|SHA6|SHA|UUID|HEX|B64)")


def _fill(template: str, rnd: random.Random) -> str:
    made: dict[str, Callable[[], str]] = {
        "WORD": lambda: rnd.choice(WORDS),
        "NUM": lambda: str(rnd.randrange(1, 99999)),
        "SHA256": lambda: rnd.randbytes(32).hex(),
        "SHA7": lambda: rnd.randbytes(4).hex()[:7],
        "SHA6": lambda: rnd.randbytes(3).hex(),
        "SHA": lambda: rnd.randbytes(20).hex(),
        "UUID": lambda: str(uuid.UUID(bytes=rnd.randbytes(16), version=4)),
        "HEX": lambda: rnd.randbytes(16).hex(),
        "B64": lambda: base64.b64encode(rnd.randbytes(33)).decode(),
    }
    return _SLOT.sub(lambda slot: made[slot.group()](), template)


def own_lines() -> Iterator[str]:
    """Every line of this repository's documentation and source."""
    for folder, ending in (("docs", "*.md"), ("src", "*.py"), ("src", "*.md")):
        for path in sorted((ROOT / folder).rglob(ending)):
            yield from path.read_text(encoding="utf-8").splitlines()


def lines(count: int = 21_000, seed: int = 11) -> list[str]:
    """As many made-up lines as asked for, and our own."""
    rnd = random.Random(seed)
    made = [_fill(TALK[at % len(TALK)], rnd) for at in range(count)]
    return made + [line for line in own_lines() if line.strip()]
