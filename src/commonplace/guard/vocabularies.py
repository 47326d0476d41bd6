"""The vocabularies there are: our own tools, Claude Code's memory files, and whatever a host brings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.guard.vocabulary import Advice, Folder, Kind, Reach, Rule, Vocabulary
from commonplace.model.errors import InvalidSettings

_FILTERS = ("type", "tags", "since", "until", "as_of")
_ONE = Rule(Kind.READ, Reach.RETURNED, scope_in="scope", key_in="key")
_LOOK = Rule(Kind.READ)
_TREE = Rule(Kind.READ, scope="tree", query_in="query")

OURS = Vocabulary(
    "commonplace",
    {
        "memory_store": Rule(
            Kind.WRITE, scope_in="scope", key_in="key", text_in="content", settled_in=("decision", "if_revision")
        ),
        "memory_consolidate": Rule(Kind.WRITE, scope_in="scope", keys_in="keys", text_in="content"),
        "memory_forget": Rule(Kind.RETIRE, scope_in="scope", key_in="key"),
        "memory_recall": Rule(Kind.READ, scope_in="scope", query_in="query", narrowed_by=_FILTERS),
        "memory_list": Rule(Kind.READ, scope_in="scope", narrowed_by=_FILTERS),
        "memory_show": _ONE,
        "memory_history": _ONE,
        "memory_timeline": Rule(Kind.READ, Reach.RETURNED),
        "search": Rule(Kind.READ, query_in="query"),
        "fetch": Rule(Kind.READ, Reach.RETURNED, key_in="id"),
        "list_memories": Rule(Kind.READ, path_in=("path",)),
        "read_memory": Rule(Kind.READ, path_in=("path",)),
        "search_memory": Rule(Kind.READ, path_in=("paths",), query_in="query"),
        "recent_memory": Rule(Kind.READ, scope="journal"),
        "memory_shell": Rule(
            command_in="command",
            base_in="cwd",
            modes=dict.fromkeys("ls cat head tail stat find grep wc tree query".split(), _LOOK),  # noqa: SIM905
        ),
        "memory_tree_search_entities": _TREE,
        "memory_tree_query_topic": _TREE,
        "memory_tree_query_source": _TREE,
        "memory_tree_query_global": _TREE,
        "memory_tree_drill_down": _TREE,
        "memory_tree_fetch_leaves": Rule(Kind.READ, Reach.RETURNED, scope="tree", keys_in="chunk_ids"),
        "ingest": Rule(Kind.WRITE, scope="tree", settled=True),  # the same source twice adds nothing
        "memory_link": Rule(),
        "record_run": Rule(),  # the same run twice adds nothing, and nobody looks for duplicates in a journal
    },
    folders=(
        Folder(("memories", "global"), "global"),
        Folder(("memories", "team"), "team"),
        Folder(("memories", "project", "*"), "project"),
        Folder(("memories", "agent", "*"), "agent"),
        Folder(("memories", "session", "*"), "session"),
        Folder(("journal",), "journal"),
        Folder(("tree",), "tree"),
    ),
    index_file="index.md",
    read=(
        Advice("memory_recall", "memory_recall(query={about}, scope={scope})"),
        Advice("search", "search(query={about})"),
        Advice("search_memory", "search_memory(query={about})"),
        Advice("memory_list", "memory_list(scope={scope})"),
        Advice("list_memories", 'list_memories(path="/")'),
    ),
    show=(
        Advice("memory_show", "memory_show(key={other}, scope={other_scope})"),
        Advice("memory_recall", "memory_recall(query={about}, scope={other_scope})"),
        Advice("search", "search(query={about})"),
        Advice("search_memory", "search_memory(query={about})"),
    ),
    merge=(
        Advice("memory_consolidate", "memory_consolidate(keys=[{other}, {key}], content=..., scope={scope})"),
        Advice("memory_forget", "memory_forget(key={key}, scope={scope})"),
    ),
    supersede=(
        Advice("memory_link", 'memory_link(key={key}, rel="supersedes", to={other_place}, scope={scope})'),
        Advice("memory_forget", "memory_forget(key={other}, scope={other_scope})"),
    ),
)


def claude_code(config_folder: str = "") -> Vocabulary:
    """The memory files that Claude Code keeps: one folder per project, with MEMORY.md as its index.

    `config_folder` is where its configuration is when that is not `.claude` in the user's home.
    """
    home = config_folder.replace("\\", "/")
    names = tuple(part for part in home.split("/") if part) if home else (".claude",)
    write = Rule(Kind.WRITE, path_in=("file_path",), text_in="content")
    edit = write._replace(text_in="new_string")
    return Vocabulary(
        "claude-code",
        {
            "Read": Rule(Kind.READ, path_in=("file_path",), narrowed_by=("offset", "limit")),
            "Grep": Rule(Kind.READ, path_in=("path",), query_in="pattern"),
            "Glob": Rule(Kind.READ, path_in=("path", "pattern")),
            "LS": Rule(Kind.READ, path_in=("path",)),
            "Write": write,
            "Edit": edit,
            "MultiEdit": edit,
        },
        default_scope="",
        folders=(Folder((*names, "projects", "*", "memory"), rooted=bool(home)),),
        index_file="MEMORY.md",
        keeps_index=False,
        read=(
            Advice("Read", "Read(file_path={index})"),
            Advice("Grep", "Grep(pattern=..., path={scope})"),
            Advice("Glob", 'Glob(pattern="*.md", path={scope})'),
        ),
        show=(Advice("Read", "Read(file_path={other_file})"),),
        merge=(Advice("Edit", "Edit(file_path={other_file})"), Advice("Write", "Write(file_path={other_file})")),
        supersede=(Advice("Edit", "Edit(file_path={other_file})"), Advice("Write", "Write(file_path={other_file})")),
        update_index=(
            Advice("Edit", "Edit(file_path={index})"),
            Advice("MultiEdit", "MultiEdit(file_path={index})"),
            Advice("Write", "Write(file_path={index})"),
        ),
    )


_RULE_TEXTS = frozenset(
    "scope scope_in key_in keys_in base_in query_in text_in mode_in".split()  # noqa: SIM905
)
_RULE_LISTS = frozenset({"path_in", "settled_in", "narrowed_by"})
_STEPS = ("read", "show", "merge", "supersede", "update_index")
_FIELDS = frozenset({"name", "tools", "default_scope", "folders", "index_file", "keeps_index", *_STEPS})
_MOST = 200  # of tools, of modes, of folders


def read_vocabulary(given: Mapping[str, object]) -> Vocabulary:
    """A host's own vocabulary, checked. The fields are those of Vocabulary and Rule; docs/protocol.md has an example.

    What it says of a tool is what counts: a wrong name is an InvalidSettings and not a tool nobody watches.
    """
    _only(given, _FIELDS, "A vocabulary")
    rules = {tool: _rule(rule, f"tool {tool[:60]!a}") for tool, rule in _mapping(given.get("tools"), "tools").items()}
    folders = given.get("folders", [])
    if not isinstance(folders, (list, tuple)) or len(folders) > _MOST:
        raise InvalidSettings("folders of a vocabulary is a list.")
    keeps = given.get("keeps_index", True)
    if not isinstance(keeps, bool):
        raise InvalidSettings("keeps_index of a vocabulary is true or false.")
    found = Vocabulary(
        _word(given, "name", "host") or "host",
        rules,
        _word(given, "default_scope", ""),
        tuple(_folder(folder) for folder in folders),
        _word(given, "index_file", ""),
        keeps,
        *(_advice(given.get(step, {}), step) for step in _STEPS),
    )
    known = {rule.kind for one in rules.values() for rule in (one, *one.modes.values())}
    if not keeps and Kind.INDEX not in known and not found.index_file:
        raise InvalidSettings("A vocabulary whose writes do not keep the index names what does: a tool or index_file.")
    return found


def _rule(given: object, where: str, *, mode: bool = False) -> Rule:
    fields = _mapping(given, where)
    allowed = {"kind", "reach", "settled", *_RULE_TEXTS, *_RULE_LISTS}
    _only(fields, allowed if mode else {*allowed, "modes"}, where)
    modes = {name: _rule(one, f"{where}, mode {name[:60]!a}", mode=True) for name, one in _modes(fields).items()}
    if bool(modes) != bool(fields.get("mode_in")):
        raise InvalidSettings(f"{where} has modes and mode_in, or neither.")
    settled = fields.get("settled", False)
    if not isinstance(settled, bool):
        raise InvalidSettings(f"settled of {where} is true or false.")
    try:
        kind, reach = Kind(str(fields.get("kind", "other"))), Reach(str(fields.get("reach", "scope")))
    except ValueError:
        raise InvalidSettings(
            f"{where} has an unknown kind or reach.", hint=f"Kinds: {', '.join(Kind)}. Reaches: {', '.join(Reach)}."
        ) from None
    rule = Rule(kind, reach, settled=settled, modes=modes)
    words: dict[str, Any] = {name: _word(fields, name, "") for name in _RULE_TEXTS & fields.keys()}
    words.update((name, _names(fields[name], f"{name} of {where}")) for name in _RULE_LISTS & fields.keys())
    return rule._replace(**words)


def _modes(fields: Mapping[str, object]) -> Mapping[str, object]:
    return _mapping(fields["modes"], "modes") if "modes" in fields else {}


def _folder(given: object) -> Folder:
    fields = _mapping(given, "a folder")
    _only(fields, {"names", "scope", "rooted"}, "A folder")
    names, rooted = _names(fields.get("names"), "names of a folder"), fields.get("rooted", True)
    if not names or not isinstance(rooted, bool):
        raise InvalidSettings("A folder has names, and rooted is true or false.")
    return Folder(names, _word(fields, "scope", ""), rooted)


def _advice(given: object, step: str) -> tuple[Advice, ...]:
    calls = _mapping(given, step) if given else {}
    return tuple(Advice(tool, _word(calls, tool, "")) for tool in calls)


def _only(given: Mapping[str, object], allowed: frozenset[str] | set[str], where: str) -> None:
    for name in given:
        if name not in allowed:
            raise InvalidSettings(
                f"{where} has an unknown field {str(name)[:60]!a}.",
                hint=f"Its fields are: {', '.join(sorted(allowed))}.",
            )


def _mapping(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping) or len(given) > _MOST or not all(isinstance(name, str) for name in given):
        raise InvalidSettings(f"{where} of a vocabulary is a table of at most {_MOST} names.")
    return given


def _word(given: Mapping[str, object], name: str, default: str) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or len(value) > 500:
        raise InvalidSettings(f"{name[:60]} of a vocabulary is a text of at most 500 characters.")
    return value


def _names(given: object, where: str) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, (list, tuple)) or len(given) > _MOST or not all(isinstance(one, str) for one in given):
        raise InvalidSettings(f"{where} is a list of texts.")
    return tuple(given)
