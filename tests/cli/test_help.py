"""The help of every verb: usage, options, examples that are true, exit status."""

from __future__ import annotations

import shlex

import pytest

from commonplace.cli import overview
from commonplace.cli.main import main
from commonplace.cli.parser import EXIT_STATUS, build_parser, parse
from commonplace.cli.run import SUMMARIES, command_names, find_command, load_command
from commonplace.model.settings import Settings
from commonplace.verbs import ALIASES, COMMANDS, DEFAULT_SUBCOMMANDS, SUBCOMMANDS
from tests.cli.calls import run
from tests.cli.cases import CASES

NAMES = command_names()


def test_every_command_is_tried() -> None:
    """Every command of the overview, and every older spelling, has cases; no command is in two groups."""
    assert CASES.keys() >= {*SUMMARIES, *ALIASES}
    assert sum(len(commands) for commands in COMMANDS.values()) == len(SUMMARIES)


@pytest.mark.parametrize("name", NAMES)
def test_help_says_how_and_what_comes_of_it(name: str) -> None:
    """COMMAND --help exits 0 with every option, the examples and the exit status."""
    outcome = run(*name.split(), "--help")
    command = load_command(name)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"usage: commonplace {name} ")
    assert outcome.out.rstrip().endswith(EXIT_STATUS)
    for action in build_parser(command)._actions:
        if action.help != "==SUPPRESS==":
            assert action.help and all(word in outcome.out for word in action.option_strings)
    for example in command.examples:
        assert f"\n  {example}\n" in outcome.out


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_first_line_is_the_table_s(name: str) -> None:
    """The first line of a command's help is what the overview says of it."""
    if name not in ("config", "project"):  # what these do without an action has words of its own
        assert load_command(name).help.strip().splitlines()[0] == SUMMARIES[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_understood(name: str) -> None:
    """Each example is a line of this command, and its parser takes it as it stands."""
    assert load_command(name).examples
    for example in load_command(name).examples:
        found, words = find_command(_words_of(example))
        parse(build_parser(load_command(found)), words)
        assert found == name or name in ALIASES


def test_a_command_with_commands_lists_them() -> None:
    """The help of a command that only has commands of its own lists them; without one it is refused."""
    for name in ("journal", "files"):
        outcome = run(name, "--help")
        assert outcome.status == 0
        assert all(f"\n  {action} " in outcome.out for action in SUBCOMMANDS[name])
        assert run(name).status == 2


def _words_of(example: str) -> list[str]:
    """The words after `commonplace` in a line of shell."""
    inner = example[example.index("$(") + 2 : example.index(")")] if "$(" in example else example
    lexer = shlex.shlex(inner, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    words = list(lexer)
    start = words.index("commonplace")
    rest = words[start + 1 :]
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


@pytest.mark.parametrize("name", SUMMARIES)
def test_help_verb_is_verb_help(name: str) -> None:
    """`help VERB` prints what `VERB --help` prints, and -h too."""
    assert run("help", name) == run(name, "--help") == run(name, "-h")


@pytest.mark.parametrize(
    ("name", "actions"), [("project", ("adopt", "merge", "split", "undo")), ("doctor", ("verify",))]
)
def test_the_help_of_a_command_lists_those_below_it(
    name: str, actions: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Who asks for help on a command that does something by itself also learns which commands there are below it."""
    main([name, "--help"])
    said = capsys.readouterr().out
    assert all(f"\n  {action} " in said for action in actions)
    main([name, actions[0], "--help"])
    assert "\ncommands:\n" not in capsys.readouterr().out


def test_the_overview_fits_a_narrow_terminal() -> None:
    """No line of the overview is longer than 80 columns."""
    assert [line for line in overview().splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", [*SUMMARIES, *(f"{name} {DEFAULT_SUBCOMMANDS[name]}" for name in DEFAULT_SUBCOMMANDS)])
@pytest.mark.parametrize("width", [74, 80])
def test_help_fits_the_terminal(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Help is as wide as the terminal: texts and lists of commands are wrapped at words; only examples, which are to be
    copied, may be longer. No word is lost."""
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = run(*name.split(), "--help").out
    long = [line for line in narrow.partition("\nexamples:\n")[0].splitlines() if len(line) > width]
    assert long == []
    monkeypatch.setenv("COLUMNS", "400")
    wide = run(*name.split(), "--help").out
    assert "".join(narrow.split()) == "".join(wide.split())


def test_the_help_of_settings_says_what_each_does() -> None:
    """`config --help` and `config set --help` have a line for every setting, and the values of those that have few."""
    for words in (("config", "--help"), ("config", "set", "--help")):
        text = run(*words).out
        for name in Settings._fields:
            assert f"\n  {name} " in text, (words, name)
        words_of_it = " ".join(text.split())
        assert "off, nudge or auto" in words_of_it and "off, guide or strict" in words_of_it


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("files lst", "unknown command 'files lst'; did you mean files list?"),
        ("doctor verfy", "unknown command 'doctor verfy'; did you mean doctor verify?"),
        ("config frobnicate", "unknown command 'config frobnicate'; config has list, get, set, unset and trust."),
        ("journal recrd run.json", "unknown command 'journal recrd'; did you mean journal record?"),
        ("tree merg a b", "unknown command 'tree merg'"),
        ("recal x", "unknown command 'recal'; did you mean recall?"),
        ("list extra", "unrecognized arguments: extra."),
    ],
)
def test_a_mistyped_command_is_named_with_what_was_meant(line: str, wanted: str) -> None:
    """A word that is no command, or none of a command's own, is named with the one it is most like, or with all."""
    outcome = run(*line.split())
    assert (outcome.status, outcome.out) == (2, "")
    assert wanted in outcome.err
