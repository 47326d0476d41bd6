"""Make the documents that say what the code says: docs/cli.md, cli-schemas.json, errors.md, hosts.md, tools.md and
run-manifest.schema.json.

`python -m tools.make_docs` writes them, and the plugins for hosts (tools/make_plugins.py); tests/docs and tests/hosts
compare what is committed with what it makes. Options come from the parsers' actions, not from argparse's help text,
which differs from one Python to the next.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from commonplace.cli import INTERRUPTED, run
from commonplace.cli.call import DONE, NOTHING, USAGE
from commonplace.cli.parser import build_parser
from commonplace.journal.manifest import manifest_schema
from commonplace.model import errors
from commonplace.model.errors import CommonplaceError, NotFound
from commonplace.model.settings import MEANINGS
from commonplace.verbs import ALIASES, COMMANDS, SUBCOMMANDS
from tools import make_plugins
from tools.hosts_page import hosts_page
from tools.shapes import Schema, rendered, schemas
from tools.tools_page import tools_page

_NOW = {
    "hosts": "connect --list",
    "timeline": "history",
    "related": "show --related",
    "capture": "review --capture",
    "clear": "forget --all",
}
DOCS = Path(__file__).parents[1] / "docs"
MADE_BY = "<!-- Made by `make docs-write` from the code. Do not edit. -->"
WIDTH = 100
_HARD = "\xa0"  # a space where no line ends
_INTRODUCTION = (
    "`commonplace COMMAND ...`. `--json` on every command prints one JSON object on standard output;",
    "[cli-schemas.json](cli-schemas.json) has a schema for each. Exit status: 0 done, 1 nothing found or a check",
    "failed, 2 usage, 10 and above [an error with a code](errors.md).",
    "",
    "Text from the book is shown with escapes for what is invisible or what a terminal would obey. JSON has them as",
    "its own escapes (`\\u200b`), so that a parser gets the text as it is. Into a pipe, `files read`, `sh` and",
    "`data get` write a file's bytes as they are: whoever reads them there wants the file. At a terminal they escape.",
    "",
    "At a terminal times are local and paths are those on the disk. In JSON times are UTC with a Z, and a `path` that",
    "starts with `/memories` or `/journal` is one in the book, as `files read` takes it: below the book's folder.",
    "In an option, `yesterday` is a day of this machine's clock, and a date such as 2026-11-15 is a day in UTC.",
)
_ENVIRONMENT = (
    "They may stand anywhere on the line. `COMMONPLACE_ROOT`, `_PROJECT`, `_AGENT` and `_SESSION` say the same for a",
    "whole shell; `COMMONPLACE_STATE` is where the databases are; `COMMONPLACE_SEALED=1` keeps one to its session.",
)


def documents() -> dict[str, str]:
    """Every generated document by its file name."""
    known = schemas(run.command_names())
    return {
        "cli-schemas.json": json.dumps(known, indent=1) + "\n",
        "cli.md": cli_page(known),
        "errors.md": errors_page(),
        "run-manifest.schema.json": json.dumps(manifest_schema(), indent=1) + "\n",
        "tools.md": tools_page(MADE_BY),
        "hosts.md": hosts_page(),
    }


def cli_page(known: Schema) -> str:
    lines = [MADE_BY, "# The command line", "", *_INTRODUCTION, ""]
    for group, commands in COMMANDS.items():
        lines += [f"**{group}**: {', '.join(f'[{name}](#{_first(name)})' for name in commands)}", ""]
    lines += ["## For every command", "", *_table(_common()), "", *_ENVIRONMENT, ""]
    for name in run.command_names():
        lines += command_section(name, known)
    lines += ["## Older spellings", "", "These keep working.", "", "| older | now |", "|---|---|"]
    lines += [f"| `{old}` | `{_NOW.get(new, new)}` |" for old, (new, _) in ALIASES.items()] + [""]
    lines += ["## Values in the JSON", ""]
    for name, schema in known["$defs"].items():
        lines += [f"**{name}**", "", "```text", *_wrapped(rendered(schema)), "```", ""]
    return "\n".join(lines)


def _first(name: str) -> str:
    """Return the anchor of a command's first section."""
    actions = SUBCOMMANDS.get(name, {"": ""})
    return f"{name} {next(iter(actions))}".strip().replace(" ", "-")


def command_section(name: str, known: Schema) -> list[str]:
    command = run.load_command(name)
    parser = build_parser(command)
    common = set(map(_name, _common()))
    own = [action for action in _actions(parser) if _name(action) not in common]
    words = [f"commonplace {name}", *map(_used, own)]
    usage = [
        line.replace(_HARD, " ") for line in _wrapped(" ".join(word.replace(" ", _HARD) for word in words), "    ")
    ]
    about, has_settings, _ = (parser.description or "").partition("\nsettings:\n")  # which the list has as a table
    lines = [f"## {name}", "", *about.rstrip().splitlines(), "", "```", *usage, "```", ""]
    lines += [*_table(own), ""] if own else []
    if has_settings and not own:
        lines += ["| setting | what it does |", "|---|---|"]
        lines += [*(f"| `{setting}` | {meaning} |" for setting, meaning in MEANINGS.items()), ""]
    lines += ["```sh", *command.examples, "```", "", "With `--json`:", ""]
    return [*lines, "```text", *_wrapped(rendered(known["commands"][name])), "```", ""]


def _wrapped(text: str, indent: str = " ") -> list[str]:
    return [
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    ]


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [item for item in parser._actions if item.dest != "help" and item.help != argparse.SUPPRESS]


def _common() -> list[argparse.Action]:
    parser = build_parser(run.load_command("doctor verify"))  # a command with no options of its own
    return _actions(parser)


def _name(action: argparse.Action) -> str:
    """An option with its value, or an argument, as a person types it."""
    metavar = action.metavar if isinstance(action.metavar, str) else None
    value = "|".join(map(str, action.choices)) if action.choices else metavar or action.dest.upper()
    if not action.option_strings:
        return value
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"


def _used(action: argparse.Action) -> str:
    name = _name(action)
    if action.option_strings:
        return name if action.required else f"[{name}]"
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}.get(str(action.nargs), name)


def _table(actions: Sequence[argparse.Action]) -> list[str]:
    rows = ["| option | what |", "|---|---|"]
    for action in actions:
        default = f" (default {action.default})" if action.default and isinstance(action.default, (str, int)) else ""
        words = action.help or ""
        rows.append(f"| `{_cell(_name(action))}` | {_cell(words)}{'' if 'default' in words else default} |")
    return rows


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def all_errors() -> list[type[CommonplaceError]]:
    """Every error of the tree, by exit code."""
    found = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, CommonplaceError)]
    return sorted(found, key=lambda cls: cls.exit_code)


def errors_page() -> str:
    lines = [
        MADE_BY, "# Errors", "",
        "An error says what was wrong and what to do, on standard error; with `--json` as one object there:",
        '`{"error": {"code": ..., "message": ..., "hint": ...}}`. Codes and exit statuses are stable. What was not',
        "acknowledged may be tried again: storing the same text twice does no harm.", "",
        "## Exit status", "",
        "| status | meaning |", "|---|---|",
        f"| {DONE} | done |",
        f"| {NOTHING} | nothing was found (`{NotFound.code}`), or a check failed |",
        f"| {USAGE} | `usage`: the command line cannot be understood |",
    ]  # fmt: skip
    coded = [cls for cls in all_errors() if cls.exit_code >= 10]
    lines += [f"| {cls.exit_code} | `{cls.code}` |" for cls in coded[:1]]
    lines[-1] = f"| {run._BUG} | `internal_error` (Commonplace itself failed), or any error with no status of its own |"
    lines += [f"| {cls.exit_code} | `{cls.code}` |" for cls in coded if cls is not CommonplaceError]
    lines += [f"| {INTERRUPTED} | `interrupted`: stopped by Ctrl-C |", "", "## Codes", ""]
    lines += ["| code | exit | HTTP | message | what to do |", "|---|---|---|---|---|"]
    for cls in all_errors():
        error = cls()
        cells = (f"`{cls.code}`", str(cls.exit_code), str(cls.http_status), _cell(error.message), _cell(error.hint))
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "A message and a hint may say more than these, which are the words where nothing more is known.", ""]
    return "\n".join(lines)


def main() -> int:
    for name, text in documents().items():
        (DOCS / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"docs/{name}: {len(text.splitlines())} lines")
    make_plugins.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
