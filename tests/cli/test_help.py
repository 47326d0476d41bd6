"""The help of every verb: usage, options, examples that are true, exit status."""

from __future__ import annotations

import ast
import shlex

import pytest

from commonplace.cli.main import load, overview
from commonplace.cli.parser import EXIT_STATUS, parse, parser_of
from commonplace.cli.verbs import GROUPS, SUMMARIES
from tests.cli.calls import FOLDER, run
from tests.cli.cases import CASES

VERBS = list(SUMMARIES)


def test_the_table_of_verbs_is_the_folder() -> None:
    """Every file with a run() is a verb of the table, every verb has a file, and each has cases here."""
    with_run = set()
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            with_run.add(path.stem)
    assert with_run == SUMMARIES.keys()
    assert CASES.keys() >= with_run
    assert sum(len(names) for names in GROUPS.values()) == len(SUMMARIES)


@pytest.mark.parametrize("name", VERBS)
def test_help_says_how_and_what_comes_of_it(name: str) -> None:
    """VERB --help exits 0 with the first line of the table, every option, the examples and the exit status."""
    outcome = run(name, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"usage: commonplace {name} ")
    assert SUMMARIES[name] in outcome.out
    assert outcome.out.rstrip().endswith(EXIT_STATUS)
    for action in parser_of(name, load(name))._actions:
        if action.help != "==SUPPRESS==":
            assert action.help and all(word in outcome.out for word in action.option_strings)
    for example in load(name).EXAMPLES:
        assert f"\n  {example}\n" in outcome.out


@pytest.mark.parametrize("name", VERBS)
def test_the_first_line_is_the_table_s(name: str) -> None:
    """The first line of a verb's docstring is what the overview says of it."""
    assert (load(name).__doc__ or "").splitlines()[0] == SUMMARIES[name]


@pytest.mark.parametrize("name", VERBS)
def test_every_example_is_understood(name: str) -> None:
    """Each example is a line of this verb, and its parser takes it as it stands."""
    assert load(name).EXAMPLES
    for example in load(name).EXAMPLES:
        parse(parser_of(name, load(name)), _words_after(name, example))


def _words_after(name: str, example: str) -> list[str]:
    """The words of `commonplace NAME ...` in a line of shell."""
    inner = example[example.index("$(") + 2 : example.index(")")] if "$(" in example else example
    lexer = shlex.shlex(inner, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    words = list(lexer)
    start = words.index("commonplace")
    assert words[start + 1] == name
    rest = words[start + 2 :]
    ends = [place for place, word in enumerate(rest) if word in ("|", "<", ">")]
    return rest[: ends[0]] if ends else rest


def test_the_overview_names_every_verb() -> None:
    """`commonplace --help`, `-h` and `help` print the overview, with each verb, its line, and the exit status."""
    text = overview()
    for words in (("--help",), ("-h",), ("help",), ("--json", "--help"), ("--root", "x", "help")):
        assert run(*words) == type(run("help"))(0, text, "")
    for name, summary in SUMMARIES.items():
        assert f"  {name:<12} {summary}\n" in text
    assert "Exit status: 0 done, 1 nothing" in text


@pytest.mark.parametrize("name", VERBS)
def test_help_verb_is_verb_help(name: str) -> None:
    """`help VERB` prints what `VERB --help` prints, and -h too."""
    assert run("help", name) == run(name, "--help") == run(name, "-h")
