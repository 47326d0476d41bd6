"""The table of secrets: what each public token format looks like, as RE2 expressions.

A rule is tried only on a text that has one of its keywords, and all that `also` names. A keyword between slashes
(`/token/`) is looked for in any case, one after `~` is an expression. What a pattern's groups match is the secret, the
rest is context; the check then says whether it is a real one. Order is rank: where two rules meet, the one further up
names the finding. Patterns see one byte per character, with `?` for whatever is not ASCII. That a secret starts where a
word starts is checked outside: a pattern that begins with letters of its own is found several times faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from commonplace.guard import secret_checks as check


class Rule(NamedTuple):
    name: str
    keywords: tuple[str, ...]
    pattern: str
    check: Callable[[str, str, str], bool] = check.is_real
    also: tuple[str, ...] = ()
    short: bool = False  # the secret may have fewer than 16 characters


_Q = r"\\{0,3}[\"'\x60]"
_TYPED = r"(?::[ \t]?&?(?:str|[Ss]tring|SecretStr|bytes)[ \t]?=|[ ]string[ ]=)"
_TO = rf"(?:{_Q}|\])?[ \t]{{0,8}}(?:{_TYPED}|:=|=>|->|={{1,3}}|:)[ \t]{{0,8}}"
_NEXT = rf"(?:{_TO}|[ ]is[ ]|[ \t]+|>|{_Q}?,[ ]?)"
_QUOTED = r"[bruf]{0,2}\\{0,3}(?:\"([^\s\"\\]{6,})|'([^\s'\\]{6,})|\x60([^\s\x60\\]{6,}))"
_VALUE = rf"(?:{_QUOTED}|([^\s\"'\x60<>,;(){{}}\[\]\\|]{{6,}}))"
_KEY_VALUE = _VALUE.replace(r"\\|]", r"\\|&]")  # a password may have & in it, a key ends there
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
    Rule("aws-access-key-id", ("AKIA", "ASIA", "ABIA", "ACCA"), r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    Rule(
        "aws-secret-access-key",
        ("/aws/", "/amazon/", "/secret/"),
        rf"(?i:(?:aws|amazon|secret)[\w .\[\]\"'-]{{0,40}}?(?:key|secret)\w{{0,10}}{_NEXT}){_Q}?"
        r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)",
        check.is_mixed,
    ),
    Rule("google-api-key", ("AIza",), r"(AIza[\w-]{35})(?:[^\w-]|$)"),
    Rule("google-oauth-client-secret", ("GOCSPX-",), r"(GOCSPX-[\w-]{24,})"),
    Rule("google-oauth-token", ("ya29.",), r"(ya29\.[\w.-]{20,})", check.is_uncommon),
    Rule("google-refresh-token", ("1//0",), r"(1//0[\w-]{40,})", check.is_mixed),
    Rule(
        "gcp-service-account-key",
        ("private_key",),
        rf"private_key\\?[\"']\s{{0,4}}[:=]\s{{0,4}}\\?[\"']({_PEM}{_PEM_BODY})",
        check.is_key_block,
        ("PRIVATE KEY-----",),
    ),
    Rule("azure-storage-key", ("/accountkey/",), r"(?i:AccountKey)[\"']?\s?[=:]\s?[\"']?([A-Za-z0-9+/]{40,}={0,2})"),
    Rule("azure-access-key", ("/sharedaccesskey=/",), r"(?i:SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"),
    Rule("azure-sas", ("sig=",), r"\bsig=([A-Za-z0-9%+/_-]{40,}(?:=|%3[Dd]){0,2})", check.is_uncommon),
    Rule("azure-client-secret", ("Q~",), r"([\w~.-]{3}[0-9]Q~[\w~.-]{31,34})", check.is_mixed),
    Rule("digitalocean-token", ("_v1_",), r"(do[opr]_v1_[0-9a-f]{64})\b"),
    Rule("heroku-api-key", ("HRKU-",), r"(HRKU-[\w-]{30,})"),
    Rule(
        "heroku-api-key",
        ("/heroku/",),
        rf"(?i:heroku[^\n]{{0,40}}?(?:key|token|secret|auth|password)[^\n]{{0,20}}?)\b({_UUID})\b",
    ),
    Rule("cloudflare-token", ("cfut_", "cfat_", "cfk_"), r"(cf(?:ut|at|k)_[\w-]{38,})", check.is_uncommon),
    Rule(
        "cloudflare-token",
        ("/cloudflare/", "/cf_/"),
        rf"(?i:cloudflare|\bcf_)[\w .-]{{0,40}}?{_NEXT}{_Q}?([\w-]{{40}}|[0-9a-f]{{37}})(?:[^\w-]|$)",
        check.is_uncommon,
    ),
    Rule("cloudflare-origin-ca-key", ("v1.0-",), r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{100,})\b"),
    Rule("databricks-token", ("dapi",), r"(dapi[0-9a-f]{32}(?:-[0-9]{1,2})?)\b"),
    Rule("vault-token", ("hvs.", "hvb.", "hvr."), r"(hv[sbr]\.[\w-]{24,})", check.is_uncommon),
    Rule("terraform-cloud-token", (".atlasv1.",), r"([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})"),
    Rule("pulumi-token", ("pul-",), r"(pul-[0-9a-f]{40})\b"),
    Rule("supabase-key", ("sbp_", "sb_secret_"), r"(sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})", check.is_uncommon),
    Rule("planetscale-token", ("pscale_",), r"(pscale_(?:tkn|pw|oauth)_[\w=.-]{32,})"),
    Rule("doppler-token", ("dp.",), r"(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})"),
    Rule("fly-token", ("fo1_", "fm1", "fm2_"), r"(fo1_[\w-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/=]{80,})", check.is_mixed),
    Rule("mapbox-token", (".eyJ",), r"([st]k\.eyJ[\w-]{20,}\.[\w-]{20,})", check.is_mixed),
    Rule("tailscale-key", ("tskey-",), r"(tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,})"),
)
_CODE = (
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(gh[pousr]_[A-Za-z0-9]{36,})\b"),
    Rule("github-fine-grained-token", ("github_pat_",), r"(github_pat_[A-Za-z0-9_]{60,})\b"),
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"),
        r"(gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?)",
        check.is_uncommon,
    ),
    Rule("gitlab-runner-token", ("GR1348941",), r"(GR1348941[\w-]{20})"),
    Rule("bitbucket-token", ("ATBB", "ATCTT3"), r"((?:ATBB|ATCTT3)[\w=-]{28,})", check.is_mixed),
    Rule("atlassian-token", ("ATATT3",), r"(ATATT3[\w=-]{60,})"),
    Rule("npm-token", ("npm_",), r"(npm_[A-Za-z0-9]{36})\b"),
    Rule("pypi-token", ("pypi-AgE",), r"(pypi-AgE[\w-]{50,})"),
    Rule("crates-token", (r"~cio[A-Za-z0-9]{32}",), r"(cio[A-Za-z0-9]{32})\b", check.is_mixed),
    Rule("rubygems-token", ("rubygems_",), r"(rubygems_[0-9a-f]{48})\b"),
    Rule("docker-token", ("dckr_",), r"(dckr_[po]at_[\w-]{24,})", check.is_uncommon),
    Rule("linear-token", ("lin_api_", "lin_oauth_"), r"(lin_(?:api|oauth)_[A-Za-z0-9]{32,})\b"),
    Rule("notion-token", ("secret_", "ntn_"), r"(secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})\b", check.is_mixed),
    Rule(
        "asana-token",
        (r"~[0-9]{10}:[0-9a-f]{32}",),
        r"([0-9]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32})\b",
    ),
    Rule("onepassword-token", ("ops_eyJ",), r"(ops_eyJ[\w+/=-]{80,})", check.is_mixed),
    Rule("figma-token", ("figd_", "figo_"), r"(fig[do]_[\w-]{36,})", check.is_uncommon),
    Rule("postman-key", ("PMAK-",), r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b"),
    Rule("airtable-token", (r"~pat[A-Za-z0-9]{14}\.",), r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b"),
    Rule(
        "grafana-token",
        ("glsa_", "glc_"),
        r"(glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    Rule("newrelic-key", ("NRAK-", "NRII-", "NRRA-"), r"(NR(?:AK|II|RA)-[\w-]{27,})"),
    Rule("sentry-token", ("sntrys_", "sntryu_"), r"(sntry[su]_[\w+/=-]{40,})"),
    Rule("sourcegraph-token", ("sgp_",), r"(sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})\b"),
)
_MODELS = (
    Rule("anthropic-key", ("sk-ant-",), r"(sk-ant-[\w-]{24,})", check.is_uncommon),
    Rule("openrouter-key", ("sk-or-",), r"(sk-or-(?:v[0-9]-)?[\w-]{32,})", check.is_uncommon),
    Rule(
        "openai-key",
        ("sk-",),
        r"(sk-(?:(?:proj|svcacct|admin|None)-[\w-]{20,}|[A-Za-z0-9]{32,}))",
        check.is_uncommon,
    ),
    Rule("huggingface-token", ("hf_", "api_org_"), r"((?:hf|api_org)_[A-Za-z0-9]{30,})\b"),
    Rule("groq-key", ("gsk_",), r"(gsk_[A-Za-z0-9]{40,})\b"),
    Rule("perplexity-key", ("pplx-",), r"(pplx-[A-Za-z0-9]{40,})\b"),
    Rule("replicate-token", ("r8_",), r"(r8_[A-Za-z0-9]{37})\b"),
    Rule("xai-key", ("xai-",), r"(xai-[A-Za-z0-9]{60,})\b"),
    Rule("pinecone-key", ("pcsk_",), r"(pcsk_\w{40,})", check.is_mixed),
    Rule("langsmith-key", ("lsv2_",), r"(lsv2_[a-z]{2}_[0-9a-f]{32}(?:_[0-9a-f]{10})?)\b"),
)
_TALK_AND_TRADE = (
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,})",
    ),
    Rule(
        "slack-token",
        ("xox", "xapp-"),
        r"((?:xoxe\.)?xox[abceoprs]-[\w-]{10,}|xapp-[0-9]-[\w-]{20,})",
        check.is_uncommon,
    ),
    Rule("discord-webhook", ("/api/",), r"(discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,}/[\w-]{40,})"),
    Rule(
        "discord-bot-token",
        (r"~\.[\w-]{6}\.[\w-]{27}",),
        r"([MNO][DTjz][\w-]{21,28}\.[\w-]{6}\.[\w-]{27,})",
        check.is_discord,
    ),
    Rule("telegram-bot-token", (":AA",), r"([0-9]{8,12}:AA[\w-]{30,})", check.is_mixed),
    Rule("twilio-key", (r"~SK[0-9a-f]{32}",), r"(SK[0-9a-f]{32})\b"),
    Rule("sendgrid-key", ("SG.",), r"(SG\.[\w-]{16,}\.[\w-]{32,})", check.is_mixed),
    Rule("mailgun-key", ("key-",), r"(key-[0-9a-zA-Z]{32})\b", check.is_uncommon),
    Rule("mailchimp-key", (r"~[0-9a-f]-us[0-9]",), r"([0-9a-f]{32}-us[0-9]{1,2})\b"),
    Rule("brevo-key", ("xkeysib-",), r"(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})\b"),
    Rule("stripe-key", ("_live_", "_test_"), r"([rs]k_(?:live|test)_[A-Za-z0-9]{16,})", check.is_uncommon),
    Rule("webhook-secret", ("whsec_",), r"(whsec_[A-Za-z0-9+/]{24,}={0,2})"),
    Rule("shopify-token", ("shp",), r"(shp(?:at|ca|pa|ss|ua|rt)_[0-9a-fA-F]{32})\b"),
    Rule("square-token", ("sq0",), r"(sq0[a-z]{3}-[\w-]{22,})", check.is_uncommon),
    Rule("square-token", ("EAAA",), r"(EAAA[\w-]{60})(?:[^\w-]|$)", check.is_mixed),
)
_KEY_FILES = (
    Rule("private-key", ("PRIVATE KEY",), rf"({_PEM}{_PEM_BODY})", check.is_key_block, ("-----BEGIN",)),
    Rule("private-key", ("PRIVATE KEY",), rf"({_PEM}{_PEM_CUT})", check.is_key_block, ("-----BEGIN",)),
    Rule(
        "putty-private-key",
        ("Private-Lines:",),
        r"Private-Lines:[ ]?[0-9]+\s+((?:[A-Za-z0-9+/=]{20,}\s*)+)",
        check.is_key_block,
    ),
    Rule("age-secret-key", ("AGE-SECRET-KEY-1",), r"(AGE-SECRET-KEY-1[A-Z0-9]{50,})\b"),
    Rule("jwt", ("eyJ",), r"(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]+)*)", check.is_jwt),
)
_SAID = (
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'<>\x60]{0,80}:([^\s/\"'<>\x60]{4,})@[A-Za-z0-9\[]",
        check.is_url_password,
        ("@",),
        short=True,
    ),
    Rule("basic-auth", ("/basic/",), r"(?i:\bbasic)[ \t]+([A-Za-z0-9+/_-]{8,}={0,2})", check.is_basic, short=True),
    Rule("bearer-token", ("/bearer/",), rf"(?i:\bbearer)[ \t]+{_Q}?([A-Za-z0-9_.~+/=-]{{16,}})", check.is_key),
    Rule(
        "authorization-header",
        ("/authorization/",),
        rf"(?i:authorization{_Q}?\s{{0,3}}[:=,]\s{{0,3}}{_Q}?(?:token|api-?key|key)?)[ \t]*=?{_Q}?"
        r"([A-Za-z0-9_.~+/=-]{16,})",
        check.is_key,
    ),
    Rule(
        "netrc-password",
        ("/login/", "/machine/"),
        r"(?i:\blogin\s+[^\s/]\S*\s+password)\s+(\S{4,})",
        check.is_url_password,
        ("password",),
        short=True,
    ),
    Rule(
        "curl-password",
        ("curl",),
        rf"\bcurl\b[^\n]{{0,200}}?\s(?:-u|--user)[ =]?{_Q}?[^\s:\"']{{1,80}}:([^\s\"'\x60]{{4,}})",
        check.is_password,
        short=True,
    ),
    Rule("password", _PASS_WORDS, rf"(?i){_PASS_NAME}{_TO}{_VALUE}", check.is_password, short=True),
    Rule(
        "password",
        _PASS_WORDS,
        rf"(?i){_PASS_NAME}(?:[ \t]+(?:is|was)[ \t]*:?[ \t]+|[ ]|{_Q}?,[ ]?){_VALUE}",
        check.is_said_password,
        short=True,
    ),
    Rule(
        "password",
        (*_PASS_WORDS, "/identified by/"),
        rf"(?i)(?:{_PASS_NAME}|identified[ ]by)\s+'([^'\s]{{6,}})'",
        check.is_password,
        short=True,
    ),
    Rule("password", _PASS_WORDS, rf"(?i)<[\w:.-]{{0,20}}{_PASS_NAME}>([^<\s]{{6,}})</", check.is_password, short=True),
    Rule("assigned-key", _KEY_WORDS, rf"(?i){_KEY_NAME}{_TO}{_KEY_VALUE}", check.is_key),
    Rule(
        "assigned-key",
        _KEY_WORDS,
        rf"(?i){_KEY_NAME}(?:[ \t]+(?:is|was)[ \t]*:?[ \t]+|[ \t]+|>|{_Q}?,[ ]?){_KEY_VALUE}",
        check.is_key,
    ),
)

SAID = frozenset(rule.name for rule in _SAID)  # those that go by what is said of a value, not by its format
RULES: tuple[Rule, ...] = (*_CLOUDS, *_CODE, *_MODELS, *_TALK_AND_TRADE, *_KEY_FILES, *_SAID)
