"""Which verb is on which surface: one table, of which docs/tools.md is made and by which tests find what is missing.

A verb is a method of the book. It belongs to the surfaces that the row names; the tools are those of the toolset with
this verb. A method, a command or a tool without a row fails a test, and so does a row that names what is not there.
"""

from typing import NamedTuple


class Surfaces(NamedTuple):
    """Where a verb is: the method of the book and the command, or ""; whether agents have a tool for it."""

    method: str
    command: str
    tool: bool = False
    why_no_tool: str = ""


_PERSON = "for a person"
_WHOLE = "about the whole book: for a person"
VERBS = {
    "store": Surfaces("store", "store", tool=True),
    "store_many": Surfaces("store_many", "", why_no_tool="for programs"),
    "recall": Surfaces("recall", "recall", tool=True),
    "show": Surfaces("show", "show", tool=True),
    "list": Surfaces("list", "list", tool=True),
    "history": Surfaces("history", "history", tool=True),
    "timeline": Surfaces("timeline", "timeline", tool=True),
    "related": Surfaces("related", "related", why_no_tool="`related` of memory_recall, links of memory_show"),
    "forget": Surfaces("forget", "forget", tool=True),
    "restore": Surfaces("restore", "restore", why_no_tool="what was forgotten comes back by storing it"),
    "undo": Surfaces("undo", "undo", why_no_tool="memory_store with mode=replace"),
    "consolidate": Surfaces("consolidate", "consolidate", tool=True),
    "link": Surfaces("link", "link", tool=True),
    "review": Surfaces("review", "review", tool=True),
    "accept": Surfaces("accept", "review", why_no_tool="memory_review; `into` another scope is for a person"),
    "reject": Surfaces("reject", "review", why_no_tool="memory_review"),
    "list_memories": Surfaces("list_memories", "files", tool=True),
    "read_memory": Surfaces("read_memory", "files", tool=True),
    "search_memory": Surfaces("search_memory", "files", tool=True),
    "shell": Surfaces("shell", "sh", tool=True),
    "recent_memory": Surfaces("recent_memory", "journal", tool=True),
    "record_run": Surfaces("record_run", "journal", tool=True),
    "journal_run": Surfaces("journal_run", "journal", why_no_tool="read_memory of the path that recent_memory names"),
    "lessons": Surfaces("lessons", "journal", why_no_tool="they come with record_run, and wait in memory_review"),
    "compact_journal": Surfaces("compact_journal", "journal", why_no_tool=_WHOLE),
    "import_from": Surfaces("import_from", "import", why_no_tool="reads files beyond the book: for a person"),
    "brief": Surfaces("brief", "brief", why_no_tool="hooks and the server's prompt `brief` give it"),
    "capture": Surfaces("capture", "capture", why_no_tool="the server does it by itself"),
    "clear": Surfaces("clear", "clear", why_no_tool=_PERSON),
    "edit": Surfaces("edit", "edit", why_no_tool=_PERSON),
    "source": Surfaces("source", "edit", why_no_tool=_PERSON),
    "similar": Surfaces("similar", "store", why_no_tool="memory_store names them"),
    "page": Surfaces("page", "", why_no_tool="the resources book:///"),
    "data put": Surfaces("data_put", "data", why_no_tool="files: for programs and people"),
    "data get": Surfaces("data_get", "data", why_no_tool="files: for programs and people"),
    "data list": Surfaces("data_list", "data", why_no_tool="files: for programs and people"),
    "data remove": Surfaces("data_remove", "data", why_no_tool="files: for programs and people"),
    "project": Surfaces("project", "project", why_no_tool="a session knows its folder"),
    "adopt_project": Surfaces("adopt_project", "project", why_no_tool=_PERSON),
    "init": Surfaces("init", "init", why_no_tool=_WHOLE),
    "status": Surfaces("status", "status", why_no_tool=_WHOLE),
    "config": Surfaces("config", "config", why_no_tool=_WHOLE),
    "configure": Surfaces("configure", "config", why_no_tool=_WHOLE),
    "trust": Surfaces("trust", "trust", why_no_tool=_WHOLE),
    "vouch": Surfaces("vouch", "trust", why_no_tool=_WHOLE),
    "verify": Surfaces("verify", "verify", why_no_tool=_WHOLE),
    "doctor": Surfaces("doctor", "doctor", why_no_tool=_WHOLE),
    "scan": Surfaces("scan", "scan", why_no_tool=_WHOLE),
    "reindex": Surfaces("reindex", "reindex", why_no_tool=_WHOLE),
    "embed": Surfaces("embed", "reindex", why_no_tool=_WHOLE),
    "retire": Surfaces("retire", "", why_no_tool=_WHOLE),
}
# What is no verb: how a book is opened, and by whom; and the commands that are about the program.
NO_VERBS = frozenset(
    {
        "open",
        "unproved_project",
        "launched",
        "close",
        "watch",
        "on_progress",
        "as_role",
        "role",
        "protocol",
        "protocol_state",
        "keep_protocol_state",
        "session_folder",
        "shell_session",
    }
)
NO_VERB_COMMANDS = frozenset({"mcp", "connect", "disconnect", "hosts", "tour", "completion"})
