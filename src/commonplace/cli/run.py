"""One command line, run: find the command, load it alone, parse its options, and turn errors into an exit status.

A command is a verb with the way it prints its result. The commands of this room's modules print for people in their
own way; any other verb of the table gets its options from its request and prints its result as it is.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, TextIO

from commonplace import verbs
from commonplace.cli import INTERRUPTED, LOST_OUTPUT, STOPPED, print_overview
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, find_agent_host, print_change, standard_streams
from commonplace.cli.parser import Usage, build_parser, parse, split_globals
from commonplace.cli.screen import Screen, shown
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import load_logging
from commonplace.model.results import StoreResult
from commonplace.verbs import ALIASES, COMMANDS, DEFAULT_SUBCOMMANDS, SUBCOMMANDS
from commonplace.verbs.verb import Verb

_BUG = 10
_LIST_HEADING = "commands:"
SUMMARIES: Mapping[str, str] = {name: summary for group in COMMANDS.values() for name, (_, summary) in group.items()}
# The modules of this room that print the results of some commands in their own way.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "memories": ("store", "forget", "clear", "restore", "move", "rename", "consolidate", "link"),
    "reading": ("recall", "show", "related", "list", "history", "timeline", "brief"),
    "review": ("review", "capture", "edit"),
    "files": ("files",),
    "journal": ("journal",),
    "tree": ("ingest", "tree", "digest"),
    "about_book": ("init", "project", "status", "config", "doctor", "import"),
    "agents": ("connect", "disconnect", "hosts"),
    "mcp": ("mcp",),
    "tour": ("tour",),
    "completion": ("completion",),
}


def command_names() -> list[str]:
    """Return every command by its full name, in the order of the overview; then those that only have an older name."""
    names: list[str] = []
    for name in SUMMARIES:
        names += [f"{name} {action}".strip() for action in SUBCOMMANDS.get(name, ("",))]
    return names + [full for full, _ in ALIASES.values() if full not in names]


def load_command(name: str) -> CliCommand:
    """Return a command by its full name, with its verb if it has one."""
    first, _, action = name.partition(" ")
    module = next((module for module, names in _MODULES.items() if first in names), None)
    found: CliCommand | None = None
    if module is not None:
        commands: Mapping[str, CliCommand] = import_module(f"commonplace.cli.{module}").COMMANDS
        found = commands.get(name)
    verb = _find_verb(name, first, action)
    if found is not None:
        return found._replace(name=name, verb=verb)
    if verb is None:
        return _command_group(name)
    return CliCommand(_run_verb, name=name, verb=verb)


def _find_verb(name: str, first: str, action: str) -> Verb[Any, Any] | None:
    modules = {command: module for group in COMMANDS.values() for command, (module, _) in group.items()}
    modules |= dict(ALIASES.values())
    module = SUBCOMMANDS[first].get(action, "") if first in SUBCOMMANDS else modules[name]
    if not module:
        return None
    found = [item for item in vars(getattr(verbs, module)).values() if isinstance(item, Verb) and item.command == name]
    return found[0] if found else None


def _run_verb(call: Call) -> int:
    """Run a command's verb that has no way of its own to print its result."""
    result = call.run(call.verb)
    if isinstance(result, StoreResult):
        return print_change(call, result)
    if not call.answer(result if hasattr(result, "_fields") else {"result": result}):
        call.screen.value(result)
    return NOTHING if result is None or result == [] else DONE


def _command_group(name: str) -> CliCommand:
    """Return the command that only says which commands it has."""
    actions = [action for action in SUBCOMMANDS[name] if action]

    def refuse(_: Call) -> int:
        raise Usage(f"{name} needs one of: {', '.join(actions)}")

    text = f"{SUMMARIES[name]}\n\n{_list_actions(name)}"
    examples = tuple(example for action in actions for example in load_command(f"{name} {action}").examples[:1])
    return CliCommand(refuse, name=name, text=text, shown_examples=examples)


def _list_actions(name: str) -> str:
    """Return what the help says of the commands below one."""
    actions = [action for action in SUBCOMMANDS[name] if action]
    width = max(9, *map(len, actions))
    helps = [
        f"  {action:<{width}}  {load_command(f'{name} {action}').help.strip().splitlines()[0]}" for action in actions
    ]
    return "\n".join([_LIST_HEADING, *helps])


def _with_actions(command: CliCommand, words: Sequence[str]) -> CliCommand:
    """Return a command whose help also lists the commands below it, if the words name none of these."""
    name, actions = words[0], SUBCOMMANDS.get(words[0], ())
    if not actions or {*actions} & {*words[1:]} or _LIST_HEADING in command.text:
        return command
    return command._replace(text=f"{command.help.strip()}\n\n{_list_actions(name)}")


def find_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that a line means, such as `doctor verify`, and the words after it."""
    name, rest = words[0], list(words[1:])
    if name in ALIASES:
        return ALIASES[name][0], rest
    actions = SUBCOMMANDS.get(name)
    if actions is None:
        return name, rest
    # Options may stand before the action; a word after an option is probably its value.
    pairs = list(pairwise([name, *rest]))
    firsts = {action.partition(" ")[0] for action in actions}
    places = [place for place, (_, word) in enumerate(pairs) if word and word in firsts]
    first = next(
        (place for place in places if not pairs[place][0].startswith("--") or pairs[place][0] == "--json"), None
    )
    place = first if first is not None else next(iter(places), None)
    if place is None:
        return f"{name} {DEFAULT_SUBCOMMANDS.get(name, '')}".strip(), rest
    if rest[place] in actions:
        return f"{name} {rest[place]}", [*rest[:place], *rest[place + 1 :]]
    full = " ".join(rest[place : place + 2])  # an action of two words
    if full not in actions and {"-h", "--help"} & {*rest}:
        return name, rest
    if full not in actions:
        raise Usage(f"{name} {rest[place]} needs one of: {', '.join(list_second_words(actions, rest[place]))}")
    return f"{name} {full}", [*rest[:place], *rest[place + 2 :]]


def list_second_words(actions: Iterable[str], first: str) -> list[str]:
    """Return the second words of the actions of two words that begin with this one."""
    return [action.partition(" ")[2] for action in actions if action.startswith(f"{first} ")]


def run_command(words: list[str]) -> int:
    """Run a line that names a command, and return its exit status."""
    gc.disable()  # nothing made while loading is garbage; Call.open turns the collector on again
    streams = standard_streams()
    stderr = streams[2]
    wants_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    name = "COMMAND"
    try:
        before, rest = split_globals(words)
        status = print_overview(rest) if rest else None
        if status is not None:
            return status
        if rest[:1] == ["help"]:
            rest = [*rest[1:], "--help"]
        if not rest or rest[0] not in (*SUMMARIES, *ALIASES):
            raise Usage(_unknown_command(rest))
        name, after = find_command(rest)
        command = load_command(name)
        if {"-h", "--help"} & {*after}:
            command = _with_actions(command, rest)
        _show_logs()
        args = parse(build_parser(command), [*before, *after])
        call = Call(args, os.environ, streams, command.verb)
        try:
            return command.run(call)
        finally:
            call.finish()
    except SystemExit as end:  # how argparse ends after --help
        return int(end.code or 0)
    except Usage as error:
        message = _find_mistyped(words, str(error)) or str(error)
        message = message if message.endswith((".", "?")) else f"{message}."
        _print_error(stderr, wants_json, "usage", message, f"`commonplace {name} --help` shows how to use it.")
        return 2
    except CommonplaceError as error:
        _print_error(stderr, wants_json, **_with_role_hint(error.as_dict(), words))
        return error.exit_code
    except KeyboardInterrupt:
        return _print_interrupted(stderr, wants_json)
    except Exception as error:
        is_output = isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.errno in LOST_OUTPUT)
        if is_output or os.environ.get("COMMONPLACE_DEBUG"):
            raise
        _print_error(
            stderr,
            wants_json,
            "internal_error",
            f"Commonplace itself failed ({type(error).__name__}); nothing was acknowledged.",
            "Please report it. COMMONPLACE_DEBUG=1 shows where.",
        )
        return _BUG


def _with_role_hint(fields: dict[str, str], words: Sequence[str]) -> dict[str, str]:
    """Add why a call counted as an agent's, for a person who is refused something for that reason."""
    if fields["code"] != "not_permitted" or "--person" in words:
        return fields
    host = find_agent_host(os.environ)
    is_named = "COMMONPLACE_AGENT" in os.environ or any(word.partition("=")[0] == "--agent" for word in words)
    if host is None and not is_named:
        return fields
    why = f"{host[1]} is set" if host is not None else "an agent is named"
    return {**fields, "hint": f"{fields['hint']} This call counts as an agent's ({why}); a person adds --person."}


def _print_interrupted(stream: TextIO, wants_json: bool) -> int:
    _print_error(stream, wants_json, "interrupted", *STOPPED)
    return INTERRUPTED


def _print_error(stream: TextIO, wants_json: bool, code: str, message: str, hint: str) -> None:
    if wants_json:
        stream.write(f"{json.dumps({'error': {'code': code, 'message': message, 'hint': hint}})}\n")
        return
    screen = Screen(stream, os.environ)
    screen.sentence(f"{shown(message)} [{code}]", start="error:", start_style="bad")
    screen.sentence(shown(hint), start="what to do:", start_style="strong")


def _show_logs() -> None:
    """Print log lines on standard error, if COMMONPLACE_LOG names a level."""
    level = os.environ.get("COMMONPLACE_LOG", "").upper()
    if level in ("DEBUG", "INFO", "WARNING", "ERROR"):
        load_logging().basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")


def _find_mistyped(words: Sequence[str], message: str) -> str:
    """Return what is wrong with a line whose second word should be a command of the first, and is none."""
    name = next((word for word in words if word in SUBCOMMANDS), "")
    actions = [action for action in SUBCOMMANDS.get(name, ()) if action]
    _, is_unknown, unknown = message.partition("unrecognized arguments: ")
    wrong = unknown.split(" ")[0]
    if not actions or not is_unknown or wrong.startswith("-") or {*actions} & {*words}:
        return ""
    close = [*verbs.unknown.find_near_names(wrong, actions), ""][0]
    known = f"did you mean {name} {close}?" if close else f"{name} has {', '.join(actions[:-1])} and {actions[-1]}"
    return f"unknown command {f'{name} {wrong}'!a}; {known}"


def _unknown_command(rest: Sequence[str]) -> str:
    if not rest:
        return "name a command"
    close = verbs.unknown.find_near_names(rest[0], SUMMARIES)
    return f"unknown command {rest[0]!a}{f'; did you mean {close[0]}?' if close else ''}"
