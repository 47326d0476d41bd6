"""Vocabularies, and what a tool call is by them: which step of the protocol, on which scope and memories.

A vocabulary is data. For every tool it names the arguments that hold the scope, the key and the text, and it names the
call to suggest when a step was missed. There is one for our own tools and one for the memory files that Claude Code
keeps. `classify` applies one to a call and returns the `Operation` that guard/protocol.py works on. Pure: no argument,
however malformed, makes `classify` raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from commonplace.model.scope import ScopeKind

Arguments = Mapping[str, object]  # of a tool call
MOST_KEYS = 50  # of one call
_MOST_TEXT = 2_000  # characters of an argument that are looked at
_READING_COMMANDS = frozenset(("ls", "cat", "head", "tail", "stat", "find", "grep", "wc", "tree", "query"))


class CallKind(StrEnum):
    """The step of the protocol that a call is."""

    READ = "read"
    WRITE = "write"
    RETIRE = "retire"
    INDEX = "index"
    OTHER = "other"


class ReadReach(StrEnum):
    """What a read could have returned."""

    SCOPE = "scope"  # anything in its scopes that fits the query
    RETURNED = "returned"  # only what it did return: one memory, or those that passed a filter


class ToolRule(NamedTuple):
    """What a call of a tool is. Fields that end in `_in` name the argument that holds the value."""

    kind: CallKind
    reach: ReadReach = ReadReach.SCOPE
    scope: str = ""  # when the tool is for one scope only; else it is in the argument `scope`
    key_in: str = ""  # a key, or a list of them
    path_in: tuple[str, ...] = ()  # a file, a folder or a list of them: the first argument given counts
    query_in: str = ""
    text_in: str = ""
    settled_in: tuple[str, ...] = ()  # with any of these the caller has decided, or names the revision it read
    narrowed_by: tuple[str, ...] = ()  # with any of these a read returns only part of its scope
    command_in: str = ""  # the argument is a command line of the shell, whose folder is `cwd`


class MemoryFolder(NamedTuple):
    """Where memory files are: folder names, `*` for any, and their scope (empty: the folder itself)."""

    names: tuple[str, ...]
    scope: str = ""
    rooted: bool = True  # the names start at /, not anywhere in a path


class Vocabulary(NamedTuple):
    """The tools of one host and, for each step, the call to suggest by its tool, best first.

    A suggested call has slots such as `{key}` and `{scope}` for the note to fill in.
    """

    tools: Mapping[str, ToolRule]
    folders: tuple[MemoryFolder, ...]
    index_file: str  # name of the index file in each folder
    read: Mapping[str, str]
    show: Mapping[str, str]
    merge: Mapping[str, str]
    supersede: Mapping[str, str]
    update_index: Mapping[str, str] = {}
    keeps_index: bool = True  # every write updates the index by itself


def _suggest(*calls: str) -> Mapping[str, str]:
    """Return calls by the name of their tool."""
    return {call.partition("(")[0]: call for call in calls}


_read, _write = partial(ToolRule, CallKind.READ), partial(ToolRule, CallKind.WRITE)
_FILTERS = ("type", "tags", "since", "until", "as_of")
_ONE = _read(ReadReach.RETURNED, key_in="key")
_PATH = _read(path_in=("path",))

OWN_TOOLS = Vocabulary(
    {
        "memory_store": _write(key_in="key", text_in="content", settled_in=("decision", "if_revision")),
        "memory_consolidate": _write(key_in="keys", text_in="content"),
        "memory_forget": ToolRule(CallKind.RETIRE, key_in="key"),
        "memory_recall": _read(query_in="query", narrowed_by=_FILTERS),
        "memory_list": _read(narrowed_by=_FILTERS),
        "memory_show": _ONE,
        "memory_history": _ONE,
        "memory_timeline": _read(ReadReach.RETURNED),
        "search": _read(query_in="query"),
        "fetch": _read(ReadReach.RETURNED, key_in="id"),
        "list_memories": _PATH,
        "read_memory": _PATH,
        "search_memory": _read(path_in=("paths",), query_in="query"),
        "recent_memory": _read(scope="journal"),
        "journal_run": _read(scope="journal"),
        "memory_shell": _read(command_in="command"),
        # memory_link and record_run are no steps: the same run twice adds nothing.
    },
    folders=(
        *(MemoryFolder(("memories", kind, "*") if kind.has_id else ("memories", kind), kind) for kind in ScopeKind),
        MemoryFolder(("journal",), "journal"),
        MemoryFolder(("tree",), "tree"),
    ),
    index_file="index.md",
    read=_suggest(
        "memory_recall(query={about}, scope={scope})",
        "search(query={about})",
        "search_memory(query={about})",
        "memory_list(scope={scope})",
        'list_memories(path="/")',
    ),
    show=_suggest(
        "memory_show(key={other}, scope={other_scope})",
        "memory_recall(query={about}, scope={other_scope})",
        "search(query={about})",
        "search_memory(query={about})",
    ),
    merge=_suggest(
        "memory_consolidate(keys=[{other}, {key}], content=..., scope={scope})",
        "memory_forget(key={key}, scope={scope})",
    ),
    supersede=_suggest(
        'memory_link(key={key}, rel="supersedes", to={other_place}, scope={scope})',
        "memory_forget(key={other}, scope={other_scope})",
    ),
)


def claude_code_vocabulary(config_folder: str = "") -> Vocabulary:
    """Return the vocabulary of Claude Code's memory files: one folder per project, with MEMORY.md as its index.

    `config_folder` is Claude Code's configuration folder where it is not `.claude` in the user's home.
    """
    names = filter(None, (config_folder or ".claude").replace("\\", "/").split("/"))
    write = _write(path_in=("file_path",), text_in="content")
    edit = write._replace(text_in="new_string")
    change = _suggest("Edit(file_path={other_file})", "Write(file_path={other_file})")
    return Vocabulary(
        {
            "Read": _read(path_in=("file_path",), narrowed_by=("offset", "limit")),
            "Grep": _read(path_in=("path",), query_in="pattern"),
            "Glob": _read(path_in=("path", "pattern")),
            "LS": _PATH,
            "Write": write,
            "Edit": edit,
            "MultiEdit": edit,
        },
        folders=(MemoryFolder((*names, "projects", "*", "memory"), rooted=bool(config_folder)),),
        index_file="MEMORY.md",
        keeps_index=False,
        read=_suggest(
            "Read(file_path={index})", "Grep(pattern=..., path={scope})", 'Glob(pattern="*.md", path={scope})'
        ),
        show=_suggest("Read(file_path={other_file})"),
        merge=change,
        supersede=change,
        update_index=_suggest("Edit(file_path={index})", "MultiEdit(file_path={index})", "Write(file_path={index})"),
    )


class Operation(NamedTuple):
    """One tool call, as the protocol sees it."""

    kind: CallKind
    tool: str = ""
    scopes: tuple[str, ...] = ()  # empty: every scope that the caller sees
    keys: tuple[str, ...] = ()
    reach: ReadReach = ReadReach.SCOPE
    query: str = ""
    about: str = ""  # the beginning of the text that is written
    settled: bool = False
    keeps_index: bool = True

    @property
    def scope(self) -> str:
        """The scope that a write goes to."""
        return self.scopes[0] if self.scopes else ""


class _PathTarget(NamedTuple):
    """What a path stands for: a memory, an index or a whole scope."""

    scope: str  # empty: all of them
    key: str = ""
    is_index: bool = False


def classify(tool: str, arguments: Arguments, vocabulary: Vocabulary) -> Operation:
    """Return what a call is; an unknown tool or mode is `CallKind.OTHER`, no step of the protocol."""
    other = Operation(CallKind.OTHER, tool)
    rule = vocabulary.tools.get(tool)
    if rule is None:
        return other
    is_narrowed = any(arguments.get(name) not in (None, "", [], ()) for name in rule.narrowed_by)
    operation = Operation(
        rule.kind,
        tool,
        reach=ReadReach.RETURNED if is_narrowed else rule.reach,
        query=" ".join(_text_argument(arguments, rule.query_in).split())[:200],
        about=" ".join(_text_argument(arguments, rule.text_in).split())[:80],
        settled=any(_text_argument(arguments, name) for name in rule.settled_in),
        keeps_index=vocabulary.keeps_index,
    )
    if rule.command_in:
        paths = _split_command(_text_argument(arguments, rule.command_in))
        base = _text_argument(arguments, "cwd") or "/"
        return other if paths is None else _add_paths(operation, base, paths, vocabulary) or other
    if rule.path_in:
        paths = next(filter(None, (_texts_argument(arguments, name) for name in rule.path_in)), [])
        return _add_paths(operation, "/", paths, vocabulary) or other
    scope = rule.scope or _text_argument(arguments, "scope")
    if not scope and rule.kind is CallKind.WRITE:
        scope = "project"
    keys = tuple(_texts_argument(arguments, rule.key_in))
    return operation._replace(scopes=(scope,) if scope else (), keys=keys)


def _add_paths(operation: Operation, base: str, paths: Sequence[str], vocabulary: Vocabulary) -> Operation | None:
    """Return an operation with the scopes and keys of the files it names; None if these are no memory files."""
    is_read, is_write = operation.kind is CallKind.READ, operation.kind is CallKind.WRITE
    if is_read and not paths:
        paths = [base]
    found = [_find_target(_resolve_path(base, path), vocabulary) for path in paths[:MOST_KEYS]]
    targets = [target for target in found if target is not None]
    scopes = tuple(dict.fromkeys(target.scope for target in targets))
    keys = tuple(dict.fromkeys(target.key for target in targets if target.key))
    is_index = any(target.is_index for target in targets)
    if not targets or (is_write and ("" in scopes or not (keys or is_index))):
        return None
    operation = operation._replace(scopes=() if "" in scopes else scopes)
    if is_index:  # a reader of the index has seen what there is
        return operation._replace(kind=CallKind.INDEX) if is_write else operation
    if is_read and all(target.key for target in targets):
        operation = operation._replace(reach=ReadReach.RETURNED)
    return operation._replace(keys=keys)


def _find_target(path: str, vocabulary: Vocabulary) -> _PathTarget | None:
    """Return the memory or scope of a path; None for a path outside the memory folders."""
    parts = [part for part in path.split("/") if part]
    for folder in vocabulary.folders:
        size = len(folder.names)
        for start in [0] if folder.rooted else range(len(parts) - size + 1):
            here = parts[start : start + size]
            if not all(name in ("*", part) for name, part in zip(folder.names, here, strict=False)):
                continue
            if len(here) < size:  # a folder above: the book, its memories, all projects
                return _PathTarget(folder.scope if len(here) > 1 else "")
            scope = folder.scope or ("/" if path.startswith("/") else "") + "/".join(parts[: start + size])
            below = parts[start + size :]
            is_index = below == [vocabulary.index_file]
            return _PathTarget(scope, "" if is_index or not below else _memory_key(below), is_index)
    return None


def _memory_key(below: Sequence[str]) -> str:
    """Return the key of a file below its scope's folder; empty for a folder or a page that is no memory."""
    name = below[-1]
    if not name.endswith(".md") or name == "index.md" or "*" in name or any(part[0] in "_." for part in below):
        return ""
    return "/".join([*below[:-1], name.removesuffix(".md")])


def _resolve_path(base: str, path: str) -> str:
    """Return a path with `.` and `..` resolved, as text only, with forward slashes on every system."""
    path = path.replace("\\", "/")
    whole = path if path.startswith(("/", "~")) or path[1:2] == ":" else f"{base}/{path}"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if whole.startswith("/") else "") + "/".join(parts)


def _split_command(line: str) -> list[str] | None:
    """Return the words of a command line that may be paths, unquoted; None if the command does not read files."""
    name, *others = [word.strip("'\"") for word in line.split()] or [""]
    if name not in _READING_COMMANDS:
        return None
    plain = [word for word in others if word and not word.startswith("-")]
    if name == "grep":
        return plain[1:]
    if name in ("find", "query"):  # the words after the first belong to options
        return [word for word in others[:1] if word in plain]
    return [word for word in plain if not word.isdigit()]


def _text_argument(arguments: Arguments, name: str) -> str:
    value = arguments.get(name) if name else None
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _texts_argument(arguments: Arguments, name: str) -> list[str]:
    """Return an argument that is a text or a list of texts, as a list without empty ones."""
    value = arguments.get(name) if name else None
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item[:_MOST_TEXT] for item in items[:MOST_KEYS] if isinstance(item, str) and item]
