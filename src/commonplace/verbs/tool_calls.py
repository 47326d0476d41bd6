"""What errors and notices say to a person at a terminal, said to an agent that has tools.

Messages and hints name commands, as `commonplace list`. `verbs.toolset` passes them through here before an agent gets
them; a command that no tool does is the user's to run.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from commonplace.model.lazy import lazy

_CALLS = {
    "recall": 'memory_recall(query="{}")',
    "show": 'memory_show(key="{}")',
    "list": "memory_list",
    "history": 'memory_history(key="{}")',
    "store": 'memory_store(content="{}")',
    "undo": 'memory_undo(key="{}")',
    "restore": 'memory_undo(key="{}", action="restore")',
    "forget": 'memory_forget(key="{}")',
    "link": "memory_link",
    "consolidate": "memory_consolidate",
    "review": "memory_review",
    "journal list": "recent_memory",
    "journal show": 'journal_run(run_id="{}")',
    "journal record": "record_run",
    "files list": 'list_memories(path="{}")',
    "files read": 'read_memory(path="{}")',
    "files search": 'search_memory(query="{}")',
    "files sh": "memory_shell",
}
"""The call of a tool that does what a command does, with a place for its argument."""
_COMMAND = lazy(r"(\b[Rr]un )?`commonplace ((?:journal |files )?[a-z-]+)((?: [^`]*)?)`")
_VERBS = {"": ("", ""), "Run ": ("Call ", "Ask the user to run "), "run ": ("call ", "ask the user to run ")}
_OPTION = lazy(r"`--([a-z-]+) ([^`]+)`")


def name_tools(words: str, names: Collection[str]) -> str:
    """Return a sentence for a person at a terminal as one for an agent: each command becomes a call of a tool that the
    agent has, and one that it has no tool for is the user's to run."""
    if "`" not in words:
        return words
    return _OPTION.sub(r"`\1=\2`", _COMMAND.sub(lambda match: _name_call(match, names), words))


def _name_call(match: re.Match[str], names: Collection[str]) -> str:
    run, command, argument = match[1] or "", match[2], match[3].strip()
    name, bracket, place = _CALLS.get(command, "").partition("(")
    if name in names and "--" not in argument and (argument or command != "restore"):  # which lists, without a key
        call = f"{name}{bracket}{place}".format(argument) if argument else name
        return f"{_VERBS[run][0]}`{call}`"
    line = f"`commonplace {command}{match[3]}`"
    return f"{_VERBS[run][1]}{line}" if run else f"{line} (the user runs it)"
