"""Secrets: found wherever they stand, refused by name and place, taken out without a trace."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.guard import secrets
from commonplace.guard.secret_rules import RULES
from commonplace.guard.secrets import NOT_A_SECRET, check_secrets, find_secrets, redact
from commonplace.model.errors import SecretFound
from tests import strategies as _profile  # noqa: F401 - sets the profile of the property tests
from tests.depth import depths
from tests.guard import benign, figures, planted

RANDOM = random.Random(3)
PLANTS = list(planted.plants(times=1, seed=5))
WORDS = st.sampled_from([word.strip("/~") for rule in RULES for word in rule.keywords.split(", ")])
PIECES = st.one_of(
    st.text(max_size=30),
    WORDS,
    st.sampled_from(
        [" = ", ": ", '"', "'", " ", "\n", "://a:", "@b", "\\n", "[secret removed: password]", "é", "部", "\ud800"]
    ),
    st.sampled_from(["\u200b", "\u00ad"]),
    st.sampled_from([plant.text for plant in PLANTS]),
    st.text("abcdefABCDEF0123456789-_+/=.", min_size=10, max_size=60),
)
ANY_TEXT = st.lists(PIECES, max_size=12).map("".join)


@pytest.fixture(scope="module")
def measured() -> figures.Figures:
    return figures.measure()


def test_planted_secrets_are_found(measured: figures.Figures) -> None:
    """At least 99% of made-up secrets of every kind are found in every kind of place, and none is left in part."""
    assert len(planted.FORMATS) >= 24
    assert len(planted.CONTEXTS) >= 20
    print(measured)
    assert measured.recall >= 0.99, f"{measured}\n" + "\n".join(measured.missed[:20])
    assert measured.whole >= 0.99 * measured.found, str(measured)


def test_every_format_is_found(measured: figures.Figures) -> None:
    """No format hides behind the average: each alone is found in at least 95%."""
    weak = {name: good / total for name, (good, total) in measured.by_format.items() if good < 0.95 * total}
    assert weak == {}, "\n".join(measured.missed[:20])


def test_benign_lines_raise_no_alarm(measured: figures.Figures) -> None:
    """Of more than 20,000 lines with hashes, paths, placeholders and talk about passwords, at most 0.2% alarm."""
    assert measured.lines >= 20_000
    assert measured.false_rate <= 0.002, f"{measured}\n" + "\n".join(measured.alarm_lines[:20])


@pytest.mark.parametrize("line", [line for line in benign.TALK if "WORD" not in line and "B64" not in line])
def test_placeholders_and_talk_are_left_alone(line: str) -> None:
    """What stands for a secret, and what only speaks of one, is not one."""
    assert find_secrets(line) == []


def test_there_are_rules_for_thirty_formats() -> None:
    """The table knows at least 30 formats, by names that fit into a mark."""
    names = {rule.name for rule in RULES}
    assert len(names) >= 30
    assert all(name.replace("-", "").isalnum() and name.islower() and len(name) <= 40 for name in names)


@pytest.mark.parametrize("rank", range(len(RULES)))
def test_every_rule_compiles_and_has_a_group(rank: int) -> None:
    """RE2 takes every pattern, and each says by a group which part is the secret."""
    assert secrets._compile_rule(rank).groups >= 1


@pytest.mark.parametrize("before", ["", "é", "部署 — ", "🚀🚀 ", "\ud800 ", "naïve\n\t"])
def test_places_are_characters_of_the_text(before: str) -> None:
    """The place of a finding counts characters, whatever stands before it."""
    _, make = planted.FORMATS["github classic"]
    token = make(RANDOM)
    found = find_secrets(f"{before}{token} — fin")
    assert [(f.rule, f.start, f.end) for f in found] == [("github-token", len(before), len(before) + len(token))]


@pytest.mark.parametrize("hidden", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200b\u200d"])
def test_what_does_not_show_splits_no_token(hidden: str) -> None:
    """A token with invisible characters in it is found, at its place in the text as given, and goes whole."""
    _, make = planted.FORMATS["github classic"]
    token = make(RANDOM)
    for cuts in ((2,), (7, 20), (len(token) - 1,), range(len(token))):
        split = "".join(f"{ch}{hidden}" if at in cuts else ch for at, ch in enumerate(token)).rstrip(hidden)
        text = f"{hidden}é{hidden}\nthe{hidden} key: {split}{hidden} — fin"
        start = text.index(split)
        assert find_secrets(text) == [secrets.SecretFinding("github-token", start, start + len(split))]
        assert redact(text) == (text.replace(split, "[secret removed: github-token]"), {"github-token": 1})
        with pytest.raises(SecretFound, match=rf"github-token \(line 2, column {start - 2 * len(hidden) - 1}\)"):
            check_secrets(text)
        check_secrets(text.replace(" — fin", f" {NOT_A_SECRET}"))


def test_what_does_not_show_raises_no_alarm() -> None:
    """Ordinary lines with invisible characters in their words are as harmless as without."""
    lines = [line for line in benign.TALK if "WORD" not in line and "B64" not in line]
    alarmed = [line for line in lines if find_secrets("\u00ad".join(line.replace(" ", "\u200b ")))]
    assert alarmed == []
    assert find_secrets("\u200d".join("👩💻") + "\u2060" + figures.NOTE) == []


@pytest.mark.parametrize("before", ["\\n", "\\u0022", "%3D", "\x1b[31m", "_", '"', "("])
def test_a_token_may_follow_an_escape(before: str) -> None:
    """A letter that ends an escape does not hide the token behind it; any other letter does."""
    _, make = planted.FORMATS["aws id"]
    assert [f.rule for f in find_secrets(before + make(RANDOM))] == ["aws-access-key-id"]
    assert find_secrets("x" + make(RANDOM)) == []


def test_the_more_telling_rule_names_the_finding() -> None:
    """A token of a known kind in an assignment is one finding, under the name of its kind."""
    _, make = planted.FORMATS["gitlab"]
    assert [f.rule for f in find_secrets(f'api_key = "{make(RANDOM)}"')] == ["gitlab-token"]


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "", "PGP "])
def test_a_whole_key_file_is_one_finding(kind: str) -> None:
    """A private key over many lines is found from its first to its last line, also in a diff; cut off, to its end."""
    block = " BLOCK" if kind == "PGP " else ""
    head, tail = (f"{'-' * 5}{word} {kind}PRIVATE KEY{block}{'-' * 5}" for word in ("BEGIN", "END"))
    body = ["".join(RANDOM.choices(planted.B64, k=64)) for _ in range(9)]
    for lead in ("", "    ", "+", "-"):
        text = "\n".join(lead + line for line in ["above", head, *body, tail, "below"])
        left, counts = redact(text)
        assert (left, counts) == (f"{lead}above\n{lead}[secret removed: private-key]\n{lead}below", {"private-key": 1})
    left, _ = redact("\n".join([head, *body]))
    assert not any(line[:20] in left for line in body)


def test_a_refusal_names_rule_and_place_but_never_the_value() -> None:
    """The error says which rule and where, and has no part of the secret in message, hint or repr."""
    _, make = planted.FORMATS["stripe"]
    token = make(RANDOM)
    with pytest.raises(SecretFound) as caught:
        check_secrets(f"first line\nthe key: {token}")
    error = caught.value
    assert "stripe-key (line 2, column 10)" in error.message
    assert all(token[at : at + 8] not in f"{error!r} {error.as_dict()}" for at in range(8, len(token) - 8))
    assert NOT_A_SECRET in error.hint
    assert (error.code, error.exit_code, error.http_status) == ("secret_found", 43, 422)


def test_many_findings_make_a_short_message() -> None:
    """A text full of secrets is refused with the first five places and how many more there are."""
    _, make = planted.FORMATS["npm"]
    with pytest.raises(SecretFound, match=r"\(line 5, column 1\) and 7 more\."):
        check_secrets("\n".join(make(RANDOM) for _ in range(12)))


def test_a_false_alarm_can_be_said_to_be_one() -> None:
    """The words on the same line let that line through, and no other; taking out ignores them."""
    _, make = planted.FORMATS["api key"]
    line = f"api_key = {make(RANDOM)}  # {NOT_A_SECRET}"
    check_secrets(f"above\n{line}\nbelow")
    with pytest.raises(SecretFound, match=r"line 1, column 11\)\. "):
        check_secrets(f"api_key = {make(RANDOM)}\n{line}")
    assert redact(line)[1] == {"assigned-key": 1}


def test_text_without_secrets_passes_unchanged() -> None:
    """Nothing is refused, removed or counted in an ordinary note."""
    check_secrets(figures.NOTE)
    assert redact(figures.NOTE) == (figures.NOTE, {})


@given(ANY_TEXT)
def test_any_text_has_an_answer(text: str) -> None:
    """Findings of any text are in order, apart, inside it, and the same every time."""
    found = find_secrets(text)
    ends = [at for finding in found for at in (finding.start, finding.end)]
    assert ends == sorted(ends)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in found)
    assert find_secrets(text) == found


@given(ANY_TEXT)
def test_taking_out_leaves_nothing_to_find(text: str) -> None:
    """After redaction there is no finding, doing it again changes nothing, and text around secrets stays."""
    found = find_secrets(text)
    left, counts = redact(text)
    assert find_secrets(left) == []
    assert redact(left) == (left, {})
    assert sum(counts.values()) >= len(found)
    if not found:
        assert left == text


@pytest.mark.parametrize("plant", PLANTS[::7], ids=lambda plant: f"{plant.format}-{plant.context}")
def test_a_redacted_secret_is_gone(plant: planted.Plant) -> None:
    """The end of a secret, which is where its random part is, stands nowhere in what is left."""
    left, _ = redact(plant.text)
    value = plant.text[plant.start : plant.end]
    if plant.format == "url password":
        value = value.partition("@")[0]
    assert value[-9:] not in left


@given(ANY_TEXT)
def test_both_ways_to_look_for_keywords_agree(text: str) -> None:
    """A short text in a fresh process gives the findings that a loaded RE2 gives."""
    data = text.encode("ascii", "replace")
    loaded = secrets._merge_spans(secrets._find_spans(text))
    one_by_one = secrets._match_keywords(data)
    assert {finding.rule for finding in loaded} <= {RULES[rank].name for rank in one_by_one}


def test_re2_is_loaded_only_when_needed() -> None:
    """Importing the guard and passing an ordinary note loads no RE2; a note with a keyword does."""
    code = (
        "import sys; from commonplace.guard.secrets import find_secrets as f; from tests.guard.figures import NOTE;"
        "f(NOTE); a = 're2' in sys.modules; f('password: x1y2z3w4v5'); print(a, 're2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "ghp_",
        "token=",
        "password: ",
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----\n",
        "://a:b@",
        "é",
        "SK0",
        "0123456789abcdef",
        "secret key is ",
        "ghp_\u200b",
    ],
)
@pytest.mark.parametrize("size", depths(100_000, 1_000_000))
def test_a_long_text_of_anything_is_answered_in_time(unit: str, size: int) -> None:
    """No text makes the scan more than linear: a megabyte of whatever starts like a secret takes seconds at worst."""
    text = unit * (size // len(unit))
    assert figures.best_of(text, 1) < 8.0 * size / 1_000_000
    assert redact(text)[0]


def test_the_gate_is_cheap() -> None:
    """An ordinary note costs far under 50 microseconds, a megabyte of notes far under 20 milliseconds."""
    assert figures.best_of(figures.NOTE, 300) < 50e-6
    assert figures.best_of((figures.NOTE + "\n") * 5000, 5) < 20e-3


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sshpass -p {} ssh deploy@host", True),
        ("sshpass -v -P assword -p{} scp a b:", True),
        ("sshpass -p '{}' rsync", True),
        ("mysql -u root -p{} app", True),
        ("docker login -u me -p {} registry.internal", True),
        ("redis-cli -h cache -a {} ping", True),
        ("mongodump --host db --password {}", True),
        ("sshpass -f file ssh -p 2222 {}@host", False),
        ("sshpass -p $PASSWORD ssh {}", False),
        ("sshpass -p <password> ssh host", False),
        ("docker run -p 8080:80 nginx", False),
        ("redis-cli -p 6379", False),
    ],
)
def test_the_password_of_a_command(command: str, found: bool) -> None:
    """A password that stands after the flag of a command is found; a port, a file and a placeholder are not."""
    assert bool(find_secrets(command.format("hunt" + "er22X"))) is found
