"""Git's configuration syntax: as git reads it, and without ever giving up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from commonplace.project.git import Setting, is_true, last_value, parse_config
from tests.depth import examples
from tests.project.repositories import git, needs_git
from tests.strategies import LONG_LINES

_names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,8}", fullmatch=True)
_letters = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")
_inner = st.text(st.one_of(st.sampled_from('"\\ #;=[].'), _letters), max_size=12)
_spaces = st.sampled_from(["", " ", "\t", "  "])
_ends = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n# [x]\n", "\n\t; y = 1\n"])


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def _headers(draw: st.DrawFn) -> str:
    name = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,8}(\.[A-Za-z0-9]{1,4})?", fullmatch=True))
    return f"[{name} {quoted(draw(_inner))}]" if draw(st.booleans()) else f"[{name}]"


@st.composite
def _values(draw: st.DrawFn) -> str:
    plain = st.text(st.characters(categories=["L", "N"]) | st.sampled_from("=[]/:@.-"), min_size=1, max_size=8)
    odd = st.sampled_from(["\\n", "\\t", "\\\\", '\\"', "\\\n", "\\\r\n  ", '""', " "])
    value = "".join(draw(st.lists(plain | odd | _inner.map(quoted), max_size=5)))
    return value + draw(st.sampled_from(["", " ; why", " # why \\", "  "]))


@st.composite
def _configs(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "\ufeff", "# top\n"]))
    for _ in range(draw(st.integers(0, 4))):
        text += draw(_spaces) + draw(_headers()) + draw(_ends)
        for _ in range(draw(st.integers(0, 3))):
            text += draw(_spaces) + draw(_names) + draw(_spaces)
            text += ("=" + draw(_spaces) + draw(_values()) if draw(st.booleans()) else "") + draw(_ends)
    return text


def as_git_reads(path: Path) -> list[Setting]:
    listed = git(path.parent, "config", "--file", str(path), "--no-includes", "--list", "-z").split("\0")[:-1]
    parts = [item.partition("\n") for item in listed]
    return [(key, value if newline else None) for key, newline, value in parts]


@needs_git
@examples(150, 25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(_configs())
@example('[a]\nb=\\\n""\\\r\n  0\n')  # white space after nothing at all, quoted nothing included
def test_a_config_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    """Sections, quotes, escapes, comments, continued lines and several values of a name mean what they mean to git."""
    path = tmp_path / "config"
    path.write_bytes(text.encode())
    assert parse_config(text) == as_git_reads(path)


@examples(300)
@given(st.lists(st.sampled_from([*'[]"\\#;=\n\r\t ab.', "[a]", '[a "b"]', "a = "]) | st.text(max_size=5)).map("".join))
def test_no_text_breaks_the_parser(text: str) -> None:
    """Any text at all is read to its end without an error."""
    for key, _ in parse_config(text):
        assert "." in key


@pytest.mark.parametrize(
    "line", [*LONG_LINES, "[" * 1_000_000, '[a "' * 300_000, '[a]\nb="' * 200_000, "\\\n" * 500_000]
)
def test_a_long_line_takes_no_long_time(line: str) -> None:
    """A megabyte of anything is read in time that grows with its length: this test ends."""
    parse_config(line)
    parse_config(f"[a]\nb = {line}")


@pytest.mark.parametrize(
    "broken",
    ["= 1", "?", "b c = d", 'b = "open', "b = \\x", '[c "open', "[c d]", "[c]]", "\x00", "<<<<<<< HEAD"],
)
def test_a_broken_line_costs_itself_only(broken: str) -> None:
    """What git would refuse the whole file for is passed over, and the sections behind it count."""
    text = f'[a]\nb = 1\n{broken}\n[remote "origin"]\nurl = x\n'
    assert parse_config(text) == [("a.b", "1"), ("remote.origin.url", "x")]


def test_nothing_counts_behind_a_broken_header() -> None:
    """A setting below a header that cannot be read is not taken for one of the section above."""
    assert parse_config('[remote "origin"]\nurl = x\n[remote "fork]\nurl = y\n') == [("remote.origin.url", "x")]


def test_the_value_that_counts() -> None:
    """Of several values the last counts; a name without a value is true, and no text."""
    found = parse_config("[a]\nb = 1\nb = 2\nb\n[core]\nbare\nx = No\ny = YES")
    assert last_value(found, "a.b") == "2"
    assert last_value(found, "a.c") is None
    assert [is_true(found, f"core.{name}") for name in ("bare", "x", "y", "z")] == [True, False, True, False]
