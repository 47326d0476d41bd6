"""The options of a command, from its verb's request, and its help: usage, options, examples, exit status."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from commonplace.cli import GLOBALS_WITH_VALUE
from commonplace.cli.screen import terminal_width, wrap_words
from commonplace.verbs.verb import RequestField, read_fields

if TYPE_CHECKING:
    from commonplace.cli.call import CliCommand

EXIT_STATUS = """\
exit status:
  0   done
  1   nothing was found, or a check failed
  2   the command line cannot be understood
  10 and above: an error with a code; docs/errors.md lists them"""


_EXAMPLES = "examples:"
_LIST_ITEM = re.compile(r"  \S+(?: \S+)*  +")  # the name in a line of a list, up to what is said of it
_METAVARS = {int: "N", list: "A,B"}
argparse._ = str  # type: ignore[attr-defined]  # else it looks on the disk for a translation


class Usage(Exception):
    """The command line cannot be understood."""


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps texts to the terminal, and keeps the lines of examples, which are to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(indent + _fill_block(block, width) for block in text.split("\n\n"))


def _fill_block(block: str, width: int) -> str:
    """Return a paragraph, or a list below a heading, wrapped at words."""
    first, *rest = block.splitlines()
    if first == _EXAMPLES:
        return block
    if not rest or not rest[0].startswith(" "):
        return "\n".join(wrap_words(" ".join([first, *rest]), width))
    lines = [first]
    for line in rest:
        start = _LIST_ITEM.match(line)
        column = start.end() if start else 2
        shown = wrap_words(line[column:], width - column)
        lines += [line[:column] + shown[0], *(" " * column + more for more in shown[1:])]
    return "\n".join(lines)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message)


def build_parser(command: CliCommand) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    # Help as wide as the terminal. Argparse would ask shutil, which loads three compressors, and at every option.
    width = min(terminal_width(sys.stdout, os.environ), 120) - 2
    examples = "\n".join(f"  {line}" for line in command.examples)
    parser = _Parser(
        prog=f"commonplace {command.name}",
        description="\n".join(line.removeprefix("    ") for line in command.help.strip().splitlines()),
        epilog=f"{_EXAMPLES}\n{examples}\n\n{EXIT_STATUS}",
        formatter_class=lambda prog: _HelpFormatter(prog, width=width),
        allow_abbrev=False,
    )
    if command.verb is not None:
        add_request(parser, command.verb.request)
    if command.add_options is not None:
        command.add_options(parser)
    common = parser.add_argument_group("for every command")
    common.add_argument("--root", metavar="DIR", help="the book's folder (default ~/.commonplace)")
    if "--project" not in parser._option_string_actions:  # connect and disconnect have one of their own
        common.add_argument("--project", metavar="ID", help="the project, if not that of this folder")
    common.add_argument("--agent", metavar="NAME", help="the agent that you act for")
    common.add_argument("--session", metavar="ID", help="the session that you act for")
    common.add_argument(
        "--person",
        action="store_true",
        help="act as yourself where an agent is named or this is an agent's shell; needs a terminal",
    )
    common.add_argument("--json", action="store_true", help="print one JSON object, for scripts")
    return parser


def parse(parser: argparse.ArgumentParser, line: Sequence[str]) -> argparse.Namespace:
    """Read the words of a command; options may stand anywhere among them."""
    if {"-h", "--help", "--"} & set(line):
        return parser.parse_args(line)  # the other way loses `--` in Python 3.11
    parser.usage = ""  # argparse would format it now, for an error message that we do not use
    return parser.parse_intermixed_args(line)


def add_request(parser: argparse.ArgumentParser, request: type) -> None:
    """Add the fields of a request that the command line has, in order."""
    for field in read_fields(request):
        if field.arg.help:
            _add_field(parser, field)


def _add_field(parser: argparse.ArgumentParser, field: RequestField) -> None:
    arg = field.arg
    options: dict[str, Any] = {"help": arg.help}
    if arg.choices:
        options["choices"] = arg.choices
    elif field.kind is not bool:
        options["metavar"] = arg.metavar or _METAVARS.get(field.kind, field.name.upper())
    if arg.is_positional:
        if arg.nargs:
            options["nargs"] = arg.nargs
        if arg.nargs == "?":
            options["default"] = field.default
        parser.add_argument(field.name, **options)
        return
    if field.kind is bool:
        options["action"] = "store_true"
    elif field.kind is list:
        options |= {"type": split_words, "default": field.default, "action": _AddWords}
    else:
        options |= {"default": field.default, "required": arg.is_required}
        if field.kind is int:
            options["type"] = int
    name = arg.option or field.name.replace("_", "-")
    action = parser.add_argument(f"--{name}" if len(name) > 1 else f"-{name}", dest=field.name, **options)
    if arg.other_option:
        parser._option_string_actions[f"--{arg.other_option}"] = action


class _AddWords(argparse.Action):
    """Adds what a list has when its option is given again."""

    def __call__(self, _: object, namespace: argparse.Namespace, values: Any, __: object = None) -> None:
        known = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*([] if known is self.default else known), *values])


def split_words(text: str) -> list[str]:
    """Return the words of a list that is given as one word: a,b,c."""
    return [word.strip() for word in text.split(",") if word.strip()]


def split_globals(line: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options before the command, and the rest of the line."""
    before: list[str] = []
    rest = list(line)
    while rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help", "--version"):
        name, equals, _ = rest[0].partition("=")
        if name not in (*GLOBALS_WITH_VALUE, "--json", "--person"):
            raise Usage(f"unrecognized arguments: {rest[0]}")
        count = 2 if name in GLOBALS_WITH_VALUE and not equals else 1
        before += rest[:count]
        rest = rest[count:]
    return before, rest
