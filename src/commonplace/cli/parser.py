"""The options of a verb, and its help: usage, options, examples, exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from commonplace.cli.call import Verb
from commonplace.cli.screen import terminal_width
from commonplace.cli.verbs import WITH_VALUE
from commonplace.verbs.request import read_fields

EXIT_STATUS = """\
exit status:
  0   done
  1   nothing was found, or a check failed
  2   the command line cannot be understood
  10 and above: an error with a code; docs/errors.md lists them"""


argparse._ = str  # type: ignore[attr-defined]  # else it looks on the disk for a translation


class Usage(Exception):
    """The command line cannot be understood."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message)


def parser_of(name: str, verb: Verb) -> argparse.ArgumentParser:
    # Help as wide as the terminal. Argparse would ask shutil, which loads three compressors, and at every option.
    width = min(terminal_width(sys.stdout, os.environ), 120) - 2
    examples = "\n".join(f"  {line}" for line in verb.EXAMPLES)
    parser = _Parser(
        prog=f"commonplace {name}",
        description=(verb.__doc__ or "").strip(),
        epilog=f"examples:\n{examples}\n\n{EXIT_STATUS}",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=width),
        allow_abbrev=False,
    )
    verb.add_arguments(parser)
    common = parser.add_argument_group("for every command")
    common.add_argument("--root", metavar="DIR", help="the book's folder (default ~/.commonplace)")
    if "--project" not in parser._option_string_actions:  # to connect and disconnect it means a place
        common.add_argument("--project", metavar="ID", help="the project, when not that of this folder")
    common.add_argument("--agent", metavar="NAME", help="the agent profile you speak for")
    common.add_argument("--session", metavar="ID", help="the session you speak for")
    common.add_argument(
        "--person",
        action="store_true",
        help="act as yourself where an agent is named or this is an agent's shell; needs a terminal",
    )
    common.add_argument("--json", action="store_true", help="one JSON object on standard output, for scripts")
    return parser


def parse(parser: argparse.ArgumentParser, line: Sequence[str]) -> argparse.Namespace:
    """Read a verb's words; options may stand anywhere among them, also between two words that belong together."""
    if {"-h", "--help", "--"} & set(line):
        return parser.parse_args(line)  # the other way loses `--` in Python 3.11
    parser.usage = ""  # argparse would write it out now, for a mistake to show: ours show the way to --help
    return parser.parse_intermixed_args(line)


def add_request(parser: argparse.ArgumentParser, request: type) -> None:
    """Add the options of a request: its fields, in order."""
    for field in read_fields(request):
        arg = field.arg
        options: dict[str, Any] = {"help": arg.help}
        if arg.metavar:
            options["metavar"] = arg.metavar
        if arg.choices:
            options["choices"] = arg.choices
        if field.kind is bool:
            options["action"] = "store_true"
        elif field.kind is list:
            options |= {"type": words, "default": list(cast("Sequence[str]", field.default or ()))}
        else:
            options["default"] = field.default
            if field.kind is int:
                options["type"] = int
        if arg.is_positional:
            options.pop("default")
            parser.add_argument(field.name, **options)
        else:
            parser.add_argument(f"--{field.name.replace('_', '-')}", **options)


def add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="the memory's key, such as testing-framework")
    add_scope(parser)


def add_scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scope", metavar="SCOPE", help="session, agent, project, global; or another's by its id, as project:ID"
    )


def words(text: str) -> list[str]:
    """A list given as one word: a,b,c."""
    return [word.strip() for word in text.split(",") if word.strip()]


def global_option(word: str) -> tuple[str, bool]:
    """The name of an option that may stand before the verb, and whether its value is the next word."""
    name, equals, _ = word.partition("=")
    return name, name in WITH_VALUE and not equals


def split_globals(line: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options before the verb, and the rest of the line."""
    before: list[str] = []
    rest = list(line)
    while rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help", "--version"):
        name, has_value = global_option(rest[0])
        if name not in (*WITH_VALUE, "--json", "--person"):
            raise Usage(f"unrecognized arguments: {rest[0]}")
        before += rest[: 2 if has_value else 1]
        rest = rest[2 if has_value else 1 :]
    return before, rest
