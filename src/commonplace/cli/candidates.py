"""What may stand at the end of a command line that is being typed: commands, options, and values from the book.

`completion` prints it for the shells. The options come from the parsers of the commands. A book is only read, for the
caller that the line names, and none is made.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from commonplace.book import Book
from commonplace.cli import GLOBALS_WITH_VALUE, run
from commonplace.cli.call import Call
from commonplace.cli.parser import build_parser
from commonplace.cli.screen import shown
from commonplace.hosts.config_edit.connect import list_hosts
from commonplace.model.errors import CommonplaceError
from commonplace.model.memory import MemoryType
from commonplace.model.settings import CAPTURE, PROTOCOLS, Settings
from commonplace.text.plural import plural
from commonplace.verbs import ALIASES, SUBCOMMANDS

_LONGEST = 60  # characters of a description
_WORDS: Mapping[str, Iterable[str]] = {
    "type": MemoryType,
    "rel": ("relates_to", "supersedes", "contradicts"),
    **dict.fromkeys(("since", "until", "as_of"), ("today", "yesterday", "7d", "2w")),
}
Candidates = Iterable[tuple[str, str]]
"""What may stand at a place, each with what it is."""


Source = Callable[[Book], Candidates]


class Place(NamedTuple):
    """What is completed: a command, one of its arguments, and what is typed of it already."""

    command: str
    argument: argparse.Action | None  # None: an option is begun, or nothing can follow
    current: str
    options: Sequence[argparse.Action] = ()
    taken: Sequence[str] = ()  # the arguments before it


def complete_line(call: Call, line: str, shell: str) -> list[str] | None:
    """Return what may stand at the end of a line that is being typed, as the shell takes it; an empty list for a file
    or a text, and None where nothing can follow."""
    words, current = _split_line(line)
    option, equals, typed = current.partition("=") if current.startswith("--") else ("", "", current)
    if equals:
        words, current = [*words, option], typed
    try:
        candidates = _find_candidates(call, words, current)
    except CommonplaceError:
        candidates = ()
    if candidates is None:
        return None
    found = [item for item in candidates if item[0].startswith(current)]
    values = {value: shown(about)[:_LONGEST] for value, about in found}
    if shell == "bash":  # it completes only what follows the last : or =
        start = max(current.rfind(":"), current.rfind("=")) + 1
        return [shlex.quote(value)[start:] if value != shlex.quote(value) else value[start:] for value in values]
    before = f"{option}=" if equals else ""
    return [f"{before}{value}\t{about}" if about else f"{before}{value}" for value, about in values.items()]


def _split_line(line: str) -> tuple[list[str], str]:
    """Return the words before the one that is typed, without the program's name, and that word."""
    for text in (line, f'{line}"', f"{line}'"):
        with suppress(ValueError):
            words = shlex.split(text)
            break
    else:
        words = line.split()
    is_new = not line or line[-1].isspace()
    return (words[1:], "") if is_new or len(words) < 2 else (words[1:-1], words[-1])


def _find_candidates(call: Call, words: Sequence[str], current: str) -> Candidates | None:
    """Return what may stand there, whatever is typed of it already; None where nothing can follow."""
    if words and words[-1] in GLOBALS_WITH_VALUE and _find_name(words[:-1]) is None:
        return _list_values(call, words, Place("", None, current), words[-1].lstrip("-"))
    name = _find_name(words)
    if name is None:
        if current.startswith("-"):
            return [(option, "") for option in ("--help", "--version", *GLOBALS_WITH_VALUE, "--json", "--person")]
        return run.SUMMARIES.items()
    after = words[words.index(name) + 1 :]
    names = [action for action in SUBCOMMANDS.get(name, ()) if action]
    if after and (seconds := run.list_second_words(names, after[-1])):
        return [(word, _summarise(f"{name} {after[-1]} {word}")) for word in seconds]
    full, rest = run.find_command([name, *after])
    actions = dict.fromkeys([action.partition(" ")[0] for action in names])
    is_open = bool(actions) and not {*actions} & {*after}
    here = _find_place(full, rest, current)
    found: list[tuple[str, str]] = []
    if is_open and not current.startswith("-") and not (after and after[-1].startswith("--")):
        found += [(action, _summarise(f"{name} {action}") if action in names else "") for action in actions]
    if current.startswith("-"):
        return [*found, *_list_options(here)]
    if here.argument is None:
        return found or None
    return [*found, *_list_values(call, words, here, here.argument.dest)]


def _summarise(full: str) -> str:
    return run.load_command(full).help.strip().splitlines()[0]


def _find_name(words: Sequence[str]) -> str | None:
    """Return the command that the words name, if they do already."""
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in GLOBALS_WITH_VALUE
            continue
        return word if word in run.SUMMARIES or word in ALIASES else None
    return None


def _find_place(full: str, rest: Sequence[str], current: str) -> Place:
    """Return which argument of a command comes next."""
    parser = build_parser(run.load_command(full))
    options = [action for action in parser._actions if action.option_strings]
    by_name = parser._option_string_actions
    positional = [action for action in parser._actions if not action.option_strings]
    taken: list[str] = []
    waiting = None
    for word in rest:
        if waiting is not None:
            waiting = None
        elif word.startswith("--") and "=" not in word:
            waiting = by_name.get(word)
            waiting = waiting if waiting is not None and waiting.nargs != 0 else None
        elif not word.startswith("-"):
            taken.append(word)
    last = positional[-1] if positional and positional[-1].nargs in ("*", "+") else None
    argument = waiting or (positional[len(taken)] if len(taken) < len(positional) else last)
    return Place(full, argument, current, options, taken)


def _list_options(place: Place) -> Candidates:
    long = [[name for name in action.option_strings if name.startswith("--")] for action in place.options]
    known = [(names[0], action.help or "") for names, action in zip(long, place.options, strict=True)]
    return [(name, about) for name, about in known if about != argparse.SUPPRESS]


def _list_values(call: Call, words: Sequence[str], place: Place, name: str) -> Candidates:
    """Return what an argument may be; nothing for a text or a file."""
    if place.argument is not None and place.argument.choices:
        return [(str(choice), "") for choice in place.argument.choices]
    if name in ("host", "hosts"):
        return [(host, "") for host in list_hosts()]
    if name in _WORDS:
        return [(word, "") for word in _WORDS[name]]
    if (place.command, name) == ("config set", "value"):
        return [(word, "") for word in _list_setting_words(place.taken[0])]
    source = _find_source(place, name)
    call.args = _read_globals(call, words)
    root = call.args.root or call.environment.get("COMMONPLACE_ROOT") or os.path.join("~", ".commonplace")
    if source is None or not os.path.isdir(os.path.join(os.path.expanduser(root), ".commonplace")):
        return []  # and no book is made here
    with call.open() as book:
        return list(source(book))


def _list_setting_words(name: str) -> Sequence[str]:
    """Return the values of a setting that has few."""
    if isinstance(Settings._field_defaults.get(name), bool):
        return ("true", "false")
    return {"protocol": PROTOCOLS, "capture": CAPTURE}.get(name, ())


def _find_source(place: Place, name: str) -> Source | None:
    """Return where the values of an argument come from."""
    command = place.command
    if name in ("revision", "if_revision") or (command, name) == ("undo", "to"):
        return partial(_list_revisions, place.taken[0]) if place.taken and command != "store" else None
    if name in ("tag", "tags"):
        return partial(_list_tags, place.current.rpartition(",")[0])
    if name == "to":
        return _list_scopes if command == "move" else _list_keys if command in ("link", "review") else None
    if (command, name) == ("restore", "key"):
        return _list_trash
    if command == "project merge" and name == "into":
        return _list_projects
    return _SOURCES.get(name)


def _read_globals(call: Call, words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a line that say which book it is about, and for whom."""
    given: dict[str, str | bool | None] = dict.fromkeys(("root", "project", "agent", "session"))
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in GLOBALS_WITH_VALUE:
            given[name.lstrip("-")] = value if equals else words[place + 1] if place + 1 < len(words) else None
    return argparse.Namespace(**{**vars(call.args), **given, "person": False})


def _list_keys(book: Book) -> Candidates:
    return [(item.key, item.shown_summary) for item in book.list()]


def _list_trash(book: Book) -> Candidates:
    return [(item.key, item.summary) for item in book.list_trash()]


def _list_proposals(book: Book) -> Candidates:
    return [(item.key, item.summary) for item in book.review()]


def _list_scopes(book: Book) -> Candidates:
    others = [(f"project:{ident}", about) for ident, about in _list_projects(book)]
    return [("session", ""), ("agent", ""), ("project", ""), ("global", ""), *others]


def _list_projects(book: Book) -> Candidates:
    return [(item.id, plural(item.memories, "memory", "memories")) for item in book.list_projects()]


def _list_tags(before: str, book: Book) -> Candidates:
    """Return the tags that may stand after others, which are separated by commas."""
    head = f"{before}," if before else ""
    others = {tag for item in book.list() for tag in item.tags}.difference(before.split(","))
    return [(head + tag, "") for tag in sorted(others)]


def _list_revisions(key: str, book: Book) -> Candidates:
    known = [item for item in book.history(key) if item.revision]
    return [(item.revision[:12], f"{item.action} by {item.author}, {item.time}") for item in known]


def _list_decisions(book: Book) -> Candidates:
    keys = list(_list_keys(book))
    return [("create", ""), *((f"{action}:{key}", about) for action in ("update", "supersede") for key, about in keys)]


def _list_settings(book: Book) -> Candidates:
    return [(item.name, item.value or "") for item in book.config()]


def _list_data(book: Book) -> Candidates:
    return [(name, "") for name in book.data_list()]


_SOURCES: Mapping[str, Source] = {
    **dict.fromkeys(("key", "keys", "edit"), _list_keys),
    **dict.fromkeys(("accept", "reject"), _list_proposals),
    **dict.fromkeys(("scope", "into"), _list_scopes),
    **dict.fromkeys(("project", "project_id", "other"), _list_projects),
    "decision": _list_decisions,
    "setting": _list_settings,
    "name": _list_data,
}
