"""The words of a command line."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.shell.command import split_words
from commonplace.shell.view_reader import CommandError
from tests.depth import examples

# Nothing that a shell would expand or run: of the rest, every word must be its word.
PLAIN = st.text(st.sampled_from("ab*?.=-/é"), min_size=1, max_size=5)
SINGLE = st.text(st.sampled_from('ab |>;&`$()<\\*é\n"'), max_size=6)
DOUBLE = st.lists(st.sampled_from([*"ab |>;&()<*é\n'", "\\a", "\\\\", "\\$", "\\`", '\\"', "\\\n"]), max_size=6).map(
    "".join
)
PIECES = st.one_of(
    PLAIN,
    SINGLE.map(lambda text: f"'{text}'"),
    DOUBLE.map(lambda text: f'"{text}"'),
    st.sampled_from(["\\|", "\\;", "\\&", "\\>", "\\$\\(", "\\'", '\\"', "\\ ", "\\\n", "\\a", "''", '""']),
)
LINES = st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), max_size=4).map("  ".join)


@pytest.mark.skipif(not os.path.exists("/bin/sh"), reason="needs a shell to compare with")
@examples(60)
@given(LINES)
def test_words_are_those_of_a_shell(line: str) -> None:
    """Quoted, escaped or plain, a line has the words that the machine's own shell gives it."""
    script = f"set -f\nprintf '%s\\0' . {line}"
    said = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout.decode()
    assert split_words(line) == said.split("\0")[1:-1]


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=5))
def test_what_is_quoted_comes_back(given_words: list[str]) -> None:
    """Any words, quoted for a shell and joined, are the same words again."""
    assert split_words(" ".join(map(shlex.quote, given_words))) == given_words


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("cat a | head", "|"), ("cat a > b", ">"), ("cat a >> b", ">"), ("cat < a", "<"), ("ls; ls", ";"),
        ("ls && ls", "&"), ("ls &", "&"), ("ls || ls", "|"), ("cat `ls`", "backtick"), ("cat $(ls)", "$("),
        ("(ls)", "parenthesis"), ("ls\nls", "line end"), ("cat a 2>/dev/null", ">"), ("cat <<x", "<"),
    ],
)  # fmt: skip
def test_what_joins_or_starts_commands_is_refused(line: str, mark: str) -> None:
    """Each operator of a shell outside quotes is refused with a message that names it and says what holds here."""
    with pytest.raises(CommandError, match="one read-only command at a time") as refused:
        split_words(line)
    assert mark in str(refused.value).split(",")[0]


@pytest.mark.parametrize("mark", ["|", ">", "<", ";", "&&", "&", "`ls`", "$(ls)", "(a)", "\n", "#", "*", "$HOME", "~"])
def test_inside_quotes_it_is_text(mark: str) -> None:
    """The same in either kind of quotes is part of a word."""
    assert split_words(f"grep 'a{mark}b' x") == ["grep", f"a{mark}b", "x"]
    assert split_words(f'grep "a{mark}b" x') == ["grep", f"a{mark}b", "x"]


@pytest.mark.parametrize(
    "line", ["'open", '"open', "ends\\", "nul\0", "half \ud800", "x" * 10_001], ids=["'", '"', "\\", "0", "u", "long"]
)
def test_what_is_no_line_is_refused(line: str) -> None:
    """A quote left open, a last backslash, NUL, half of a surrogate pair and an endless line are refused in words."""
    with pytest.raises(CommandError):
        split_words(line)


def test_no_word_is_another_after_it_is_read() -> None:
    """Variables, homes and comments stand for themselves; a pattern stays one until a command asks for its files."""
    assert split_words("cat $HOME ~ *.md {a,b} #x !1") == ["cat", "$HOME", "~", "*.md", "{a,b}", "#x", "!1"]
