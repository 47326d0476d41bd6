"""The verbs: one file for each use case, loaded when it is first used.

A command lives for a tenth of a second, and half of that would be loading what it never uses: `verbs.recall` loads what
a recall needs, and nothing that a store needs. This module is the one table of verbs, commands and tools, and the one
place that imports by name.
"""

from importlib import import_module

TYPE_CHECKING = False  # as in typing, which `commonplace --help` does without
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from commonplace.verbs import (
        at_prompt,
        brief,
        capture,
        changing,
        cite,
        data,
        digest,
        doctor,
        edit,
        files,
        forget,
        history_tools,
        import_from,
        ingest,
        journal,
        link,
        move,
        opening,
        pair,
        pin,
        project,
        project_change,
        recall,
        review,
        revision,
        search,
        show,
        status,
        store,
        toolset,
        trash,
        tree_cost,
        tree_nodes,
        tree_opening,
        tree_search,
        tree_sources,
        unknown,
    )

__all__ = [
    "at_prompt", "brief", "capture", "changing", "cite", "data", "digest", "doctor", "edit", "files", "forget",
    "history_tools", "import_from", "ingest", "journal", "link", "move", "opening", "pair", "pin", "project",
    "project_change", "recall", "review", "revision", "search", "show", "status", "store", "toolset", "trash",
    "tree_cost", "tree_nodes", "tree_opening", "tree_search", "tree_sources", "unknown",
]  # fmt: skip

# The commands that `commonplace --help` shows, which loads no verb: the module of each, and one line about it. The
# module "" is that of a command which is no verb of the book.
COMMANDS: "Mapping[str, Mapping[str, tuple[str, str]]]" = {
    "Every day": {
        "store": ("store", "Store a fact, a decision or a preference."),
        "recall": ("recall", "Search your memories by meaning and by words."),
        "show": ("show", "Show one memory with all its entries."),
        "list": ("show", "List memories by scope and key."),
        "edit": ("edit", "Change a memory in your editor."),
        "pin": ("pin", "Show a memory first in every brief of its scope."),
        "forget": ("forget", "Move a memory to the trash."),
        "restore": ("forget", "Bring memories back from the trash, or list what is in it."),
        "review": ("review", "Accept, edit or reject what agents proposed."),
        "brief": ("brief", "Show what an agent is told at the start, and what it costs."),
    },
    "History": {
        "history": ("edit", "Show how a memory changed and by whom, or what was stored lately."),
        "undo": ("edit", "Undo the last changes to a memory."),
        "journal": ("journal", "Show and record what orchestrated runs did."),
        "files": ("files", "List, read and search the book as files."),
    },
    "Organise": {
        "consolidate": ("link", "Merge several memories into one."),
        "move": ("move", "Move a memory to another project or scope, or give it a new key."),
        "link": ("link", "Link a memory to another one."),
        "import": ("import_from", "Import memories from another tool."),
    },
    "Mail, chat and documents": {
        "ingest": ("ingest", "Read mail, chat and documents into the memory tree."),
        "digest": ("digest", "Show the front page of a day, week, month or year."),
        "tree": ("tree_search", "Ask what was said in mail, chat and documents, and by whom."),
    },
    "Agents": {
        "connect": ("", "Connect an agent program to this memory."),
        "disconnect": ("", "Remove from an agent program's files what connect added."),
        "mcp": ("", "Serve this book to an agent, over MCP."),
    },
    "The book": {
        "init": ("", "Create a book, or what is missing in one."),
        "project": ("project", "Show or change which project this folder is."),
        "status": ("status", "Show where things are stored and what is connected."),
        "config": ("", "Show or change settings."),
        "doctor": ("doctor", "Check the book for problems, and say what to do."),
        "completion": ("", "Print completions for your shell."),
    },
}
# The commands of a command, with the module of each; "" is what the name alone does.
SUBCOMMANDS: "Mapping[str, Mapping[str, str]]" = {
    "journal": {**dict.fromkeys(("list", "show", "record", "lessons", "compact"), "journal"), "schema": ""},
    "files": {"list": "files", "read": "files", "search": "search", "sh": "files", "data": ""},
    "config": {"list": "", "get": "", "set": "", "unset": "", "trust": "status"},
    "project": {
        **dict.fromkeys(("show", "list"), "project"),
        **dict.fromkeys(("adopt", "merge", "split", "undo"), "project_change"),
    },
    "tree": {
        **dict.fromkeys(("search-entities", "query-topic", "query-source", "fetch-leaves"), "tree_search"),
        **dict.fromkeys(("query-global", "drill-down", "show", "topics"), "tree_nodes"),
        "settle": "digest",
        "cite": "cite",
        "cost": "tree_cost",
        **dict.fromkeys(("sources", "status", "forget"), "tree_sources"),
        **dict.fromkeys(("entity list", "entity merge", "entity undo"), "tree_sources"),
    },
    "doctor": dict.fromkeys(("", "verify", "scan", "reindex"), "doctor"),
}
DEFAULT_SUBCOMMANDS = {"config": "list", "project": "show"}
# Older spellings that keep working: the command each stands for, and its module where that is a command of its own.
ALIASES: "Mapping[str, tuple[str, str]]" = {
    "verify": ("doctor verify", "doctor"),
    "scan": ("doctor scan", "doctor"),
    "reindex": ("doctor reindex", "doctor"),
    "sh": ("files sh", "files"),
    "data": ("files data", ""),
    "trust": ("config trust", "status"),
    "hosts": ("hosts", ""),
    "tour": ("tour", ""),  # the last lines of the help name it
    "timeline": ("timeline", "recall"),
    "related": ("related", "link"),
    "capture": ("capture", "capture"),
    "clear": ("clear", "forget"),
    "unpin": ("unpin", "pin"),
    "rename": ("rename", "move"),
}
# Every tool and the module that has it, in the order in which tools are listed.
TOOLS: "Mapping[str, str]" = {
    "memory_recall": "recall",
    "memory_show": "show",
    "memory_list": "show",
    "memory_history": "history_tools",
    "memory_store": "store",
    "memory_forget": "forget",
    "memory_undo": "history_tools",
    "memory_consolidate": "link",
    "memory_link": "link",
    "search": "pair",
    "fetch": "pair",
    "memory_review": "review",
    "list_memories": "files",
    "read_memory": "files",
    "search_memory": "search",
    "recent_memory": "journal",
    "journal_run": "journal",
    "memory_shell": "files",
    "record_run": "journal",
    "memory_tree_search_entities": "tree_search",
    "memory_tree_query_topic": "tree_search",
    "memory_tree_query_source": "tree_search",
    "memory_tree_query_global": "tree_nodes",
    "memory_tree_drill_down": "tree_nodes",
    "memory_tree_fetch_leaves": "tree_search",
    "memory_tree_cite": "cite",
}


def __getattr__(name: str) -> "ModuleType":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
