"""The verbs by name, with one line each: enough for `commonplace --help`, which loads none of them.

A test holds this table against the files: every verb has one, and its first line says what the table says.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing: see main
if TYPE_CHECKING:
    from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Every day": {
        "store": "Keep something worth keeping.",
        "recall": "Find what the book knows about something.",
        "show": "Show one memory with all its entries.",
        "list": "List memories.",
        "edit": "Change a memory in your editor.",
        "forget": "Move a memory to the trash.",
        "restore": "Bring a memory back from the trash.",
        "review": "Judge what agents proposed: accept, edit, reject.",
        "brief": "Show what an agent is told at the start, and what it costs.",
    },
    "Looking back": {
        "history": "List what became of a memory.",
        "undo": "Bring back the revision before the last change.",
        "timeline": "Show what was stored and done, latest first.",
        "related": "List what a memory links to.",
        "journal": "Look at what orchestrated runs did, and record one.",
        "files": "List, read and search the book as files.",
        "sh": "Look around in the book with a read-only shell.",
    },
    "Putting in order": {
        "consolidate": "Make one memory out of several.",
        "link": "Link a memory to another.",
        "clear": "Move all memories of one scope to the trash.",
        "data": "Keep plain files beside the memories.",
        "import": "Take in what other tools remember.",
    },
    "Agents": {
        "mcp": "Serve this book to an agent, over MCP.",
        "connect": "Connect an agent program to this memory.",
        "disconnect": "Take out of an agent program's files what connect put in.",
        "hosts": "Say which agent programs are connected, and whether that works.",
    },
    "The book itself": {
        "init": "Make a book, or what is missing in one.",
        "project": "Show which project this folder is, or make it a known one.",
        "status": "Say what is where, and what leaves this machine.",
        "config": "Show or change settings.",
        "trust": "Trust this book's settings, or the memories that came with it.",
        "verify": "Prove that the index says what the files say.",
        "doctor": "Look for anything wrong, and say what to do.",
        "capture": "Propose what conversations taught, for review.",
        "reindex": "Build the index anew from the files.",
        "scan": "Look for secrets in what is stored.",
        "tour": "See it all in a scratch book, in two minutes.",
        "completion": "Print completions for your shell.",
    },
}
SUMMARIES: Mapping[str, str] = {name: line for group in GROUPS.values() for name, line in group.items()}

WITH_VALUE = ("--root", "--project", "--agent", "--session")  # options that may stand before the verb with their value
