"""The book as files, for who consults before it routes: list, read, search, the newest of the journal, and the shell.

A coordinator and an orchestrator have them; an agent gets them on request (`--tools files`). All are read-only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.text.fence import fence, visible
from commonplace.tools import shown
from commonplace.tools.spec import QUERY, READERS, Answer, Arguments, Tool, answer, flag, rows, text, texts, whole

if TYPE_CHECKING:
    from commonplace.book import Book
    from commonplace.model.results import FileItem, JournalEntry

_PATH = text("from / on, as list_memories shows it")
_TAIL = {"type": "integer", "minimum": 1, "maximum": 10_000}
_OFFSET = whole(0, 10_000_000, 0)
_MORE: dict[str, Any] = {"truncated": "boolean", "next": "string", "next_offset": "integer"}


def _answer(data: dict[str, Any], head: str, body: str, source: str, more: str) -> Answer:
    """Data and text of one look: a line of ours, then what is in the book, fenced, then how to go on."""
    lines = [f"{head} {shown.REFERENCE}", fence(body, {"source": source})] if body else [head]
    return Answer(data, "\n".join([*lines, *([more] if more else [])]))


def _list(book: Book, given: Arguments) -> Answer:
    found = book.list_memories(
        given.get("path", "/"), given.get("include_inactive", False), offset=given.get("offset", 0)
    )
    data = shown.with_known(
        path=visible(found.path), items=[_item(item) for item in found.items], hidden=found.hidden,
        truncated=found.truncated, next=found.next or None, next_offset=found.next_offset,
    )  # fmt: skip
    body = "\n".join(_item_line(item) for item in found.items)
    left = f", {found.hidden} superseded, expired or waiting left out" if found.hidden else ""
    return _answer(data, f"{len(found.items)} in {visible(found.path)}{left}.", body, found.path, found.next)


def _item(item: FileItem) -> dict[str, Any]:
    return {
        "path": visible(item.path), "kind": item.kind, "summary": visible(item.summary), "updated": item.updated,
        "entries": item.entries, "status": item.status,
    }  # fmt: skip


def _item_line(item: FileItem) -> str:
    if item.kind == "folder":
        return f"{item.path}/ ({item.entries} items)"
    said = f": {' '.join(item.summary.split())}" if item.summary else ""
    status = f", {item.status}" if item.status not in ("", "active") else ""
    return f"{item.path} ({item.updated[:10]}, {item.entries} entries{status}){said}"


def _read(book: Book, given: Arguments) -> Answer:
    found = book.read_memory(given["path"], given.get("tail_n"), given.get("tags", ()), given.get("offset", 0))
    data = shown.with_known(
        path=visible(found.path), text=fence(found.text, {"source": found.path}) if found.text else "",
        binary=found.binary, revision=found.revision, truncated=found.truncated, next=found.next or None,
        next_offset=found.next_offset,
    )  # fmt: skip
    if found.binary:
        return Answer(data, f"{visible(found.path)} is not text ({found.size:,} bytes).")
    return _answer(data, f"{visible(found.path)}.", found.text, found.path, found.next)


def _search(book: Book, given: Arguments) -> Answer:
    found = book.search_memory(**given)
    data = shown.with_known(
        matches=[{"path": visible(one.path), "line": one.line, "text": visible(one.text)} for one in found.matches],
        files=found.files, truncated=found.truncated, next=found.next or None, next_offset=found.next_offset,
    )  # fmt: skip
    body = "\n".join(f"{one.path}:{one.line}: {one.text}" for one in found.matches)
    return _answer(data, f"{len(found.matches)} lines in {found.files} files.", body, "search", found.next)


def _recent(book: Book, given: Arguments) -> Answer:
    found = book.recent_memory(given.get("limit", 20), given.get("worker"), given.get("status"), given.get("cursor"))
    data: dict[str, Any] = {"entries": [_entry(one) for one in found.entries], "truncated": found.truncated}
    data |= {"next": found.next} if found.next else {}
    body = "\n\n".join(f"{one.time} {one.kind} {one.status}, {one.path}\n{one.text}" for one in found.entries)
    more = f"More: call again with cursor={visible(found.next)}" if found.next else ""
    return _answer(data, f"{len(found.entries)} entries of the journal, latest first.", body, "journal", more)


def _entry(one: JournalEntry) -> dict[str, Any]:
    return shown.with_known(
        kind=one.kind, time=one.time, run=visible(one.run), task=shown.shown(one.task), worker=shown.shown(one.worker),
        status=visible(one.status), path=visible(one.path), text=fence(one.text, {"source": one.path}),
    )  # fmt: skip


def _shell(book: Book, given: Arguments) -> Answer:
    found = book.shell(given["command"], given.get("in_folder", "/"))
    data = shown.with_known(
        stdout=fence(found.stdout, {"source": "shell"}) if found.stdout else "", stderr=visible(found.stderr),
        exit_code=found.exit_code, cwd=visible(found.cwd), truncated=found.truncated, next=found.next or None,
    )  # fmt: skip
    problems = [visible(found.stderr).rstrip("\n")] if found.stderr else []
    more = "\n".join([*problems, *([found.next] if found.next else [])])
    return _answer(data, f"exit {found.exit_code}, in {visible(found.cwd)}.", found.stdout.rstrip("\n"), "shell", more)


TOOLS = (
    Tool(
        "list_memories", "List files", "list_memories", "files",
        "What is in a folder of the book: folders, and notes with summary, time and number of entries. Start at /.",
        {"path": _PATH, "include_inactive": flag("superseded, expired, waiting"), "offset": _OFFSET},
        (),
        answer(
            "path", "items", "truncated", path="string", hidden="integer", **_MORE,
            items=rows(
                path="string", kind="string", summary="string", updated="string", entries="integer", status="string"
            ),
        ),
        READERS, _list,
    ),
    Tool(
        "read_memory", "Read file", "read_memory", "files",
        "The text of a file: all, its last entries (lines, where it has none), or the entries with these tags.",
        {"path": _PATH, "tail_n": _TAIL, "tags": texts(), "offset": _OFFSET},
        ("path",),
        answer(
            "path", "text", "truncated", path="string", text="string", binary="boolean", revision="string", **_MORE
        ),
        READERS, _read,
    ),
    Tool(
        "search_memory", "Search files", "search_memory", "files",
        "The lines that hold these very words, or match a regular expression, in files and folders of the book. For "
        "meaning, use memory_recall.",
        {
            "query": {**text(limit=QUERY), "minLength": 1}, "paths": texts(), "case_sensitive": flag(),
            "regex": flag(), "limit": whole(1, 50, 50), "offset": _OFFSET,
        },
        ("query",),
        answer(
            "matches", "files", "truncated", files="integer", **_MORE,
            matches=rows(path="string", line="integer", text="string"),
        ),
        READERS, _search,
    ),
    Tool(
        "recent_memory", "Recent runs", "recent_memory", "files",
        "What the latest runs did, latest first: all, or the tasks of one worker, or those that ended so (failed).",
        {"limit": whole(1, 100, 20), "worker": text(), "status": text(), "cursor": text("`next` of the last answer")},
        (),
        answer(
            "entries", "truncated", truncated="boolean", next="string",
            entries=rows(
                kind="string", time="string", run="string", task="string", worker="string", status="string",
                path="string", text="string",
            ),
        ),
        READERS, _recent,
    ),
    Tool(
        "memory_shell", "Shell", "shell", "files",
        "Look around with read-only commands: pwd, ls, cat, head, tail, stat, find, grep, wc, tree, query; `help` says "
        "more. One command, no pipes.",
        {"command": {**text(limit=QUERY), "minLength": 1}, "in_folder": _PATH},
        ("command",),
        answer(
            "stdout", "stderr", "exit_code", "cwd", "truncated",
            stdout="string", stderr="string", exit_code="integer", cwd="string", truncated="boolean", next="string",
        ),
        READERS, _shell,
    ),
)  # fmt: skip
