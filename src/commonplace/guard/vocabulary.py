"""Vocabularies: which tool call is a read, a write or another step of the protocol.

A vocabulary is data. For every tool it names the arguments that hold the scope, the key and the text, and it names the
call to suggest when a step was missed. There is one for our own tools and one for the memory files that Claude Code
keeps; a host can bring its own as a plain mapping (`read_vocabulary`). guard/classification.py applies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from commonplace.model.errors import InvalidSettings


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

    kind: CallKind = CallKind.OTHER
    reach: ReadReach = ReadReach.SCOPE
    scope: str | None = None  # when the tool is for one scope only
    scope_in: str = ""
    key_in: str = ""
    keys_in: str = ""
    path_in: tuple[str, ...] = ()  # a file, a folder or a list of them: the first argument given counts
    base_in: str = ""  # the folder that relative paths start from
    query_in: str = ""
    text_in: str = ""
    settled_in: tuple[str, ...] = ()  # with any of these the caller has decided, or names the revision it read
    settled: bool = False  # the tool finds its own duplicates
    narrowed_by: tuple[str, ...] = ()  # with any of these a read returns only part of its scope
    mode_in: str = ""  # the argument that holds the mode, for a tool with modes
    modes: Mapping[str, ToolRule] = {}  # what each mode is; a mode not listed is no step
    command_in: str = ""  # the argument is a command line: its first word is the mode, the others are paths


class MemoryFolder(NamedTuple):
    """Where memory files are: folder names, `*` for any, and their scope (empty: the folder itself)."""

    names: tuple[str, ...]
    scope: str = ""
    rooted: bool = True  # the names start at /, not anywhere in a path


class Vocabulary(NamedTuple):
    """The tools of one host and, for each step, the call to suggest by its tool, best first.

    A suggested call has slots such as `{key}` and `{scope}` for the note to fill in.
    """

    name: str
    rules: Mapping[str, ToolRule]
    default_scope: str = "project"  # of a write that names no scope
    folders: tuple[MemoryFolder, ...] = ()
    index_file: str = ""  # name of the index file in each folder
    keeps_index: bool = True  # every write updates the index by itself
    read: Mapping[str, str] = {}
    show: Mapping[str, str] = {}
    merge: Mapping[str, str] = {}
    supersede: Mapping[str, str] = {}
    update_index: Mapping[str, str] = {}


def _suggest(*calls: str) -> Mapping[str, str]:
    """Return calls by the name of their tool."""
    return {call.partition("(")[0]: call for call in calls}


_FILTERS = ("type", "tags", "since", "until", "as_of")
_ONE = ToolRule(CallKind.READ, ReadReach.RETURNED, scope_in="scope", key_in="key")
_LOOK = ToolRule(CallKind.READ)
_TREE = ToolRule(CallKind.READ, scope="tree", query_in="query")

OWN_TOOLS = Vocabulary(
    "commonplace",
    {
        "memory_store": ToolRule(
            CallKind.WRITE, scope_in="scope", key_in="key", text_in="content", settled_in=("decision", "if_revision")
        ),
        "memory_consolidate": ToolRule(CallKind.WRITE, scope_in="scope", keys_in="keys", text_in="content"),
        "memory_forget": ToolRule(CallKind.RETIRE, scope_in="scope", key_in="key"),
        "memory_recall": ToolRule(CallKind.READ, scope_in="scope", query_in="query", narrowed_by=_FILTERS),
        "memory_list": ToolRule(CallKind.READ, scope_in="scope", narrowed_by=_FILTERS),
        "memory_show": _ONE,
        "memory_history": _ONE,
        "memory_timeline": ToolRule(CallKind.READ, ReadReach.RETURNED),
        "search": ToolRule(CallKind.READ, query_in="query"),
        "fetch": ToolRule(CallKind.READ, ReadReach.RETURNED, key_in="id"),
        "list_memories": ToolRule(CallKind.READ, path_in=("path",)),
        "read_memory": ToolRule(CallKind.READ, path_in=("path",)),
        "search_memory": ToolRule(CallKind.READ, path_in=("paths",), query_in="query"),
        "recent_memory": ToolRule(CallKind.READ, scope="journal"),
        "memory_shell": ToolRule(
            command_in="command",
            base_in="cwd",
            modes=dict.fromkeys("ls cat head tail stat find grep wc tree query".split(), _LOOK),  # noqa: SIM905
        ),
        "memory_tree_search_entities": _TREE,
        "memory_tree_query_topic": _TREE,
        "memory_tree_query_source": _TREE,
        "memory_tree_query_global": _TREE,
        "memory_tree_drill_down": _TREE,
        "memory_tree_fetch_leaves": ToolRule(CallKind.READ, ReadReach.RETURNED, scope="tree", keys_in="chunk_ids"),
        "ingest": ToolRule(CallKind.WRITE, scope="tree", settled=True),  # the same source twice adds nothing
        "memory_link": ToolRule(),
        "record_run": ToolRule(),  # the same run twice adds nothing, and a journal has no duplicates to find
    },
    folders=(
        MemoryFolder(("memories", "global"), "global"),
        MemoryFolder(("memories", "team"), "team"),
        MemoryFolder(("memories", "project", "*"), "project"),
        MemoryFolder(("memories", "agent", "*"), "agent"),
        MemoryFolder(("memories", "session", "*"), "session"),
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
    home = config_folder.replace("\\", "/")
    names = tuple(part for part in home.split("/") if part) if home else (".claude",)
    write = ToolRule(CallKind.WRITE, path_in=("file_path",), text_in="content")
    edit = write._replace(text_in="new_string")
    return Vocabulary(
        "claude-code",
        {
            "Read": ToolRule(CallKind.READ, path_in=("file_path",), narrowed_by=("offset", "limit")),
            "Grep": ToolRule(CallKind.READ, path_in=("path",), query_in="pattern"),
            "Glob": ToolRule(CallKind.READ, path_in=("path", "pattern")),
            "LS": ToolRule(CallKind.READ, path_in=("path",)),
            "Write": write,
            "Edit": edit,
            "MultiEdit": edit,
        },
        default_scope="",
        folders=(MemoryFolder((*names, "projects", "*", "memory"), rooted=bool(home)),),
        index_file="MEMORY.md",
        keeps_index=False,
        read=_suggest(
            "Read(file_path={index})", "Grep(pattern=..., path={scope})", 'Glob(pattern="*.md", path={scope})'
        ),
        show=_suggest("Read(file_path={other_file})"),
        merge=_suggest("Edit(file_path={other_file})", "Write(file_path={other_file})"),
        supersede=_suggest("Edit(file_path={other_file})", "Write(file_path={other_file})"),
        update_index=_suggest("Edit(file_path={index})", "MultiEdit(file_path={index})", "Write(file_path={index})"),
    )


_RULE_TEXTS = frozenset(
    "scope scope_in key_in keys_in base_in query_in text_in mode_in".split()  # noqa: SIM905
)
_RULE_LISTS = frozenset({"path_in", "settled_in", "narrowed_by"})
_STEPS = ("read", "show", "merge", "supersede", "update_index")
_FIELDS = frozenset({"name", "tools", "default_scope", "folders", "index_file", "keeps_index", *_STEPS})
_MOST = 200  # of tools, of modes, of folders


def read_vocabulary(given: Mapping[str, object]) -> Vocabulary:
    """Return a host's own vocabulary from a plain mapping; docs/protocol.md has an example.

    The fields are those of Vocabulary and ToolRule. An unknown name raises InvalidSettings: ignoring it would leave a
    tool unwatched.
    """
    _reject_unknown(given, _FIELDS, "A vocabulary")
    rules = {
        tool: _read_rule(rule, f"tool {tool[:60]!a}") for tool, rule in _read_table(given.get("tools"), "tools").items()
    }
    folders = given.get("folders", [])
    if not isinstance(folders, (list, tuple)) or len(folders) > _MOST:
        raise InvalidSettings("folders of a vocabulary must be a list.")
    keeps = given.get("keeps_index", True)
    if not isinstance(keeps, bool):
        raise InvalidSettings("keeps_index of a vocabulary must be true or false.")
    found = Vocabulary(
        _read_text(given, "name", "host") or "host",
        rules,
        _read_text(given, "default_scope", ""),
        tuple(_read_folder(folder) for folder in folders),
        _read_text(given, "index_file", ""),
        keeps,
        *(_read_calls(given.get(step, {}), step) for step in _STEPS),
    )
    known = {rule.kind for one in rules.values() for rule in (one, *one.modes.values())}
    if not keeps and CallKind.INDEX not in known and not found.index_file:
        raise InvalidSettings(
            "A vocabulary with keeps_index = false must name a tool that updates the index, or an index_file."
        )
    return found


def _read_rule(given: object, where: str, *, mode: bool = False) -> ToolRule:
    fields = _read_table(given, where)
    allowed = {"kind", "reach", "settled", *_RULE_TEXTS, *_RULE_LISTS}
    _reject_unknown(fields, allowed if mode else {*allowed, "modes"}, where)
    table = _read_table(fields["modes"], "modes") if "modes" in fields else {}
    modes = {name: _read_rule(one, f"{where}, mode {name[:60]!a}", mode=True) for name, one in table.items()}
    if bool(modes) != bool(fields.get("mode_in")):
        raise InvalidSettings(f"{where} must have both modes and mode_in, or neither.")
    settled = fields.get("settled", False)
    if not isinstance(settled, bool):
        raise InvalidSettings(f"settled of {where} must be true or false.")
    try:
        kind, reach = CallKind(str(fields.get("kind", "other"))), ReadReach(str(fields.get("reach", "scope")))
    except ValueError:
        raise InvalidSettings(
            f"{where} has an unknown kind or reach.",
            hint=f"Kinds: {', '.join(CallKind)}. Reaches: {', '.join(ReadReach)}.",
        ) from None
    rule = ToolRule(kind, reach, settled=settled, modes=modes)
    words: dict[str, Any] = {name: _read_text(fields, name, "") for name in _RULE_TEXTS & fields.keys()}
    words.update((name, _read_names(fields[name], f"{name} of {where}")) for name in _RULE_LISTS & fields.keys())
    return rule._replace(**words)


def _read_folder(given: object) -> MemoryFolder:
    fields = _read_table(given, "a folder")
    _reject_unknown(fields, {"names", "scope", "rooted"}, "A folder")
    names, rooted = _read_names(fields.get("names"), "names of a folder"), fields.get("rooted", True)
    if not names or not isinstance(rooted, bool):
        raise InvalidSettings("A folder must have names, and rooted must be true or false.")
    return MemoryFolder(names, _read_text(fields, "scope", ""), rooted)


def _read_calls(given: object, step: str) -> Mapping[str, str]:
    calls = _read_table(given, step) if given else {}
    return {tool: _read_text(calls, tool, "") for tool in calls}


def _reject_unknown(given: Mapping[str, object], allowed: frozenset[str] | set[str], where: str) -> None:
    for name in given:
        if name not in allowed:
            raise InvalidSettings(
                f"{where} has an unknown field {str(name)[:60]!a}.",
                hint=f"Its fields are: {', '.join(sorted(allowed))}.",
            )


def _read_table(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping) or len(given) > _MOST or not all(isinstance(name, str) for name in given):
        raise InvalidSettings(f"{where} of a vocabulary must be a table of at most {_MOST} names.")
    return given


def _read_text(given: Mapping[str, object], name: str, default: str) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or len(value) > 500:
        raise InvalidSettings(f"{name[:60]} of a vocabulary must be a string of at most 500 characters.")
    return value


def _read_names(given: object, where: str) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, (list, tuple)) or len(given) > _MOST or not all(isinstance(one, str) for one in given):
        raise InvalidSettings(f"{where} must be a list of strings.")
    return tuple(given)
