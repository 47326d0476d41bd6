"""Vocabularies, and what a tool call is by them: which step of the protocol, on which scope and memories.

A vocabulary is data. For every tool it names the arguments that hold the scope, the key and the text, and it names the
call to suggest when a step was missed. There is one for our own tools and one for the memory files that Claude Code
keeps; a host brings its own as a table (`read_vocabulary`). `classify` applies one to a call and returns the
`Operation` that guard/protocol.py works on. Pure: no argument, however malformed, makes `classify` raise.

What a read asked is kept as hashes of its words: an operation goes into the state, and no question may stand there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from commonplace.guard.protocol_state import CallKind, Operation, ReadReach
from commonplace.model.errors import InvalidSettings
from commonplace.model.names import short_hash
from commonplace.model.scope import ScopeKind
from commonplace.text.words import SHORT_FORMS, significant_words, stem

Arguments = Mapping[str, object]  # of a tool call
MOST_KEYS = 50  # of one call
_MOST_TEXT = 2_000  # characters of an argument that are looked at
_MOST_WORDS = 32  # of a question
_READING_COMMANDS = {"ls": "", "cat": "", "head": "nc", "tail": "nc", "find": "", "grep": "ABCem", "tree": "L"}
"""The commands of the shell that show memories or their names, each with the options that take a value."""
_GENERAL_STEMS = frozenset(
    stem(word)
    for word in """
    anything current currently everything fact find file information info know known like memory memories need note
    prefer preference project remember repository repo setting something thing user want work
    """.split()  # noqa: SIM905 - a list of these would be a page long
)  # they are in questions about anything


class ToolRule(NamedTuple):
    """What a call of a tool is. Fields that end in `_in` name the argument that holds the value."""

    kind: CallKind = CallKind.OTHER
    reach: ReadReach = ReadReach.SCOPE
    scope: str = ""  # when the tool is for one scope only
    scope_in: str = "scope"
    key_in: str = ""  # a key, or a list of them
    path_in: tuple[str, ...] = ()  # a file, a folder or a list of them: the first argument given counts
    query_in: str = ""
    text_in: str = ""
    settled_in: tuple[str, ...] = ()  # with any of these the caller has decided, or names the revision it read
    narrowed_by: tuple[str, ...] = ()  # with any of these a read returns only part of its scope
    command_in: str = ""  # the argument is a command line of our shell
    base_in: str = ""  # the folder that relative paths start from
    is_deep: bool = False  # a read of a folder reads the folders in it, too
    mode_in: str = ""  # for a tool with modes: the argument that holds the mode
    modes: Mapping[str, ToolRule] = {}  # what each mode is; a mode that is not here is no step


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
    folders: tuple[MemoryFolder, ...] = ()
    index_file: str = ""  # name of the index file in each folder
    read: Mapping[str, str] = {}
    show: Mapping[str, str] = {}
    merge: Mapping[str, str] = {}
    supersede: Mapping[str, str] = {}
    update_index: Mapping[str, str] = {}
    keeps_index: bool = True  # every write updates the index by itself
    default_scope: str = ""  # of a write that names none


def suggest(*calls: str) -> Mapping[str, str]:
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
        "search": _read(query_in="query"),
        "fetch": _read(ReadReach.RETURNED, key_in="id"),
        "list_memories": _PATH,
        "read_memory": _PATH,
        "search_memory": _read(path_in=("paths",), query_in="query", is_deep=True),
        "recent_memory": _read(scope="journal"),
        "journal_run": _read(scope="journal"),
        "memory_shell": _read(command_in="command", base_in="in_folder"),
        # memory_link and record_run are no steps: the same run twice adds nothing.
    },
    folders=(
        *(MemoryFolder(("memories", kind, "*") if kind.has_id else ("memories", kind), kind) for kind in ScopeKind),
        MemoryFolder(("journal",), "journal"),
        MemoryFolder(("tree",), "tree"),
    ),
    index_file="index.md",
    read=suggest(
        "memory_recall(query={about}, scope={scope})",
        "search(query={about})",
        "search_memory(query={about})",
        "memory_list(scope={scope})",
        'list_memories(path="/")',
    ),
    show=suggest(
        "memory_show(key={other}, scope={other_scope})",
        "memory_recall(query={about}, scope={other_scope})",
        "search(query={about})",
        "search_memory(query={about})",
    ),
    merge=suggest(
        "memory_consolidate(keys=[{other_place}, {key}], content=..., scope={scope})",
        "memory_forget(key={key}, scope={scope})",
    ),
    supersede=suggest(
        "memory_store(content={content}, key={key}, scope={scope}, decision={supersede})",
        "memory_forget(key={other}, scope={other_scope})",
    ),
    default_scope="project",
)


def claude_code_vocabulary(config_folder: str = "") -> Vocabulary:
    """Return the vocabulary of Claude Code's memory files: one folder per project, with MEMORY.md as its index.

    `config_folder` is Claude Code's configuration folder where it is not `.claude` in the user's home.
    """
    names = filter(None, (config_folder or ".claude").replace("\\", "/").split("/"))
    write = _write(path_in=("file_path",), text_in="content")
    edit = write._replace(text_in="new_string")
    change = suggest("Edit(file_path={other_file})", "Write(file_path={other_file})")
    return Vocabulary(
        {
            "Read": _read(path_in=("file_path",), narrowed_by=("offset", "limit")),
            "Grep": _read(path_in=("path",), query_in="pattern", is_deep=True),
            "Glob": _read(path_in=("path", "pattern")),
            "LS": _PATH,
            "Write": write,
            "Edit": edit,
            "MultiEdit": edit,
        },
        folders=(MemoryFolder((*names, "projects", "*", "memory"), rooted=bool(config_folder)),),
        index_file="MEMORY.md",
        keeps_index=False,
        read=suggest(
            "Read(file_path={index})", "Grep(pattern=..., path={scope})", 'Glob(pattern="*.md", path={scope})'
        ),
        show=suggest("Read(file_path={other_file})"),
        merge=change,
        supersede=change,
        update_index=suggest("Edit(file_path={index})", "MultiEdit(file_path={index})", "Write(file_path={index})"),
    )


class _PathTarget(NamedTuple):
    """What a path stands for: a memory, a scope, its index, or something between or above."""

    scope: str  # empty: all of them
    key: str = ""
    is_index: bool = False
    is_whole: bool = False  # who reads it has read all of its scope
    is_above: bool = False  # a folder of folders of memories


def hash_words(text: str) -> tuple[str, ...]:
    """Return hashes of the telling words of a text: without those that any question may have, unless it has no other.

    The forms of a word have one hash, and so has its common short form: `configs`, `configuration`.
    """
    stems = {stem(SHORT_FORMS.get(word, word)) for word in significant_words(text[:_MOST_TEXT])}
    telling = sorted(stems - _GENERAL_STEMS or stems)
    return tuple(short_hash(word, 8) for word in telling[:_MOST_WORDS])


def classify(tool: str, arguments: Arguments, vocabulary: Vocabulary, base: str = "/") -> Operation:
    """Return what a call is; an unknown tool or mode is `CallKind.OTHER`, no step of the protocol.

    `base` is the folder in which the call is made: relative paths start there.
    """
    other = Operation(CallKind.OTHER, tool)
    rule = vocabulary.tools.get(tool)
    if rule is not None and rule.mode_in:
        rule = rule.modes.get(_text_argument(arguments, rule.mode_in))
    if rule is None or rule.kind is CallKind.OTHER:
        return other
    is_narrowed = any(arguments.get(name) not in (None, "", [], ()) for name in rule.narrowed_by)
    question = _text_argument(arguments, rule.query_in)
    operation = Operation(
        rule.kind,
        tool,
        reach=ReadReach.RETURNED if is_narrowed else rule.reach,
        words=hash_words(question) if question else None,
        about=" ".join(_text_argument(arguments, rule.text_in).split()),
        settled=any(_text_argument(arguments, name) for name in rule.settled_in),
        keeps_index=vocabulary.keeps_index,
    )
    base = _text_argument(arguments, rule.base_in) or base
    if rule.command_in:
        command = _read_command(_text_argument(arguments, rule.command_in))
        return (command and _add_paths(command.narrow(operation), base, command, vocabulary)) or other
    if rule.path_in:
        paths = next(filter(None, (_texts_argument(arguments, name) for name in rule.path_in)), [])
        return _add_paths(operation, base, _FileRead(paths, is_deep=rule.is_deep), vocabulary) or other
    scope = rule.scope or _text_argument(arguments, rule.scope_in)
    if not scope and rule.kind is CallKind.WRITE:
        scope = vocabulary.default_scope
    keys = tuple(_texts_argument(arguments, rule.key_in))
    if rule.kind is CallKind.READ and scope and keys == (vocabulary.index_file.removesuffix(".md"),):
        # A reader of the index page has seen what there is.
        return operation._replace(reach=ReadReach.SCOPE, scopes=(scope,))
    return operation._replace(scopes=(scope,) if scope else (), keys=keys)


class _FileRead(NamedTuple):
    """The paths that a call names, and what it does with them."""

    paths: Sequence[str]
    question: str = ""  # it shows only lines that have these words
    is_deep: bool = False  # it goes into folders
    is_filter: bool = False  # it leaves out files by other rules

    def narrow(self, operation: Operation) -> Operation:
        """Return the operation that reads only what this shows."""
        if self.is_filter:
            return operation._replace(reach=ReadReach.RETURNED)
        return operation._replace(words=hash_words(self.question)) if self.question else operation


def _add_paths(operation: Operation, base: str, files: _FileRead, vocabulary: Vocabulary) -> Operation | None:
    """Return an operation with the scopes and keys of the files it names; None if these are no memory files."""
    is_read, is_write = operation.kind is CallKind.READ, operation.kind is CallKind.WRITE
    paths = files.paths or ([base] if is_read else [])
    found = [find_target(_resolve_path(base, path), vocabulary) for path in paths[:MOST_KEYS]]
    targets = [target for target in found if target and (files.is_deep or not target.is_above)]
    whole = [target for target in targets if target.is_whole or target.is_above]
    scopes = tuple(dict.fromkeys(target.scope for target in whole or targets))
    keys = tuple(dict.fromkeys(target.key for target in targets if target.key))
    is_index = any(target.is_index for target in targets)
    if not targets or (is_write and ("" in scopes or not (keys or is_index))):
        return None
    operation = operation._replace(scopes=() if "" in scopes else scopes)
    if is_write:
        return operation._replace(kind=CallKind.INDEX) if is_index else operation._replace(keys=keys)
    if whole:
        return operation
    return operation._replace(reach=ReadReach.RETURNED, keys=keys)


def find_target(path: str, vocabulary: Vocabulary = OWN_TOOLS) -> _PathTarget | None:
    """Return the memory or scope of a path; None for a path outside the memory folders."""
    parts = [part for part in path.split("/") if part]
    for folder in vocabulary.folders:
        size = len(folder.names)
        for start in [0] if folder.rooted else range(len(parts) - size + 1):
            here = parts[start : start + size]
            if not all(name in ("*", part) for name, part in zip(folder.names, here, strict=False)):
                continue
            if len(here) < size:  # a folder above: the book, its memories, all projects
                return _PathTarget(folder.scope if len(here) > 1 else "", is_above=True)
            scope = folder.scope or ("/" if path.startswith("/") else "") + "/".join(parts[: start + size])
            below = parts[start + size :]
            if below == [vocabulary.index_file]:  # a reader of the index has seen what there is
                return _PathTarget(scope, is_index=True, is_whole=True)
            return _PathTarget(scope, _memory_key(below), is_whole=all("*" in part for part in below))
    return None


def _memory_key(below: Sequence[str]) -> str:
    """Return the key of a file below its scope's folder; empty for a folder or a page that is no memory."""
    name = below[-1] if below else ""
    if not name.endswith(".md") or name == "index.md" or "*" in name or any(part[0] in "_." for part in below):
        return ""
    return "/".join([*below[:-1], name.removesuffix(".md")])


def _resolve_path(base: str, path: str) -> str:
    """Return a path with `.` and `..` resolved, as text only, with forward slashes on every system."""
    base, path = (word.replace("\\", "/") for word in (base, path))
    whole = path if path.startswith(("/", "~")) or path[1:2] == ":" else f"{base}/{path}"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if whole.startswith("/") else "") + "/".join(parts)


def _read_command(line: str) -> _FileRead | None:
    """Return what a command line of the shell reads; None if the command shows no memories."""
    try:
        name, *others = shlex.split(line) or [""]
    except ValueError:  # a quotation that does not end
        return None
    valued = _READING_COMMANDS.get(name)
    if valued is None:
        return None
    plain, letters, asked, option = list[str](), "", "", ""
    for word in others:
        if option:
            asked, option = (word if option == "e" else asked), ""
        elif word.startswith("-") and len(word) > 1:
            letters += word[1:]
            option = word[-1] if word[-1] in valued else ""
        else:
            plain.append(word)
    if name == "find":  # the words after the folder belong to options
        return _FileRead(plain[:1], is_deep=True, is_filter=len(others) > 1)
    if name == "grep":
        question, paths = (asked, plain) if asked else (plain[0] if plain else "", plain[1:])
        return _FileRead(paths, question or " ", is_deep=True)
    return _FileRead(plain, is_deep=name == "tree" or "R" in letters)


def _text_argument(arguments: Arguments, name: str) -> str:
    value = arguments.get(name) if name else None
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _texts_argument(arguments: Arguments, name: str) -> list[str]:
    """Return an argument that is a text or a list of texts, as a list without empty ones."""
    value = arguments.get(name) if name else None
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item[:_MOST_TEXT] for item in items[:MOST_KEYS] if isinstance(item, str) and item]


# A host's own vocabulary

_MOST = 200  # tools, modes, folders, calls
_LONGEST = 500  # characters of a text
_STEPS = ("read", "show", "merge", "supersede", "update_index")
_Reader = Callable[[Any, str], Any]


def read_vocabulary(given: object) -> Vocabulary:
    """Return the vocabulary that a table describes. Raise InvalidSettings."""
    found: Vocabulary = _read_fields(
        Vocabulary,
        given,
        "protocol_vocabulary",
        tools=_read_rules,
        folders=lambda value, where: tuple(
            _read_fields(MemoryFolder, one, where, names=_read_texts) for one in _check_size(value, list, where)
        ),
        **dict.fromkeys(_STEPS, lambda value, where: suggest(*_read_texts(value, where))),
    )
    kinds = {rule.kind for tool in found.tools.values() for rule in (tool, *tool.modes.values())}
    if not found.keeps_index and CallKind.INDEX not in kinds and not found.index_file:
        raise InvalidSettings(
            "A protocol_vocabulary with keeps_index = false needs a tool of the kind index, or an index_file."
        )
    return found


def _read_rules(given: object, where: str) -> dict[str, ToolRule]:
    rules: dict[str, ToolRule] = {}
    for name, rule in _check_size(given, dict, where).items():
        found = _read_fields(ToolRule, rule, f"{where}.{name[:60]}", modes=_read_rules)
        if bool(found.modes) != bool(found.mode_in):
            raise InvalidSettings(f"{where}.{name[:60]!a} must have both mode_in and modes, or neither.")
        rules[name] = found
    return rules


def _read_fields(shape: Any, given: object, where: str, **special: _Reader) -> Any:
    """Return a named tuple from a table of its fields; `special` reads those that are more than a text or a list."""
    table = _check_size(given, dict, where)
    for name in table:
        if name not in shape._fields:
            raise InvalidSettings(
                f"{where} has an unknown field {str(name)[:60]!a}.", hint=f"Its fields are: {', '.join(shape._fields)}."
            )
    for name in shape._fields:
        if name not in table and name not in shape._field_defaults:
            raise InvalidSettings(f"{where} has no field {name}.")
    values = {}
    for name, value in table.items():
        place = f"{where}.{name}"
        default = shape._field_defaults.get(name)
        values[name] = special[name](value, place) if name in special else _read_value(value, place, default)
    return shape(**values)


def _read_value(value: object, where: str, default: object) -> object:
    """Return a value of the kind that its default has."""
    if isinstance(default, tuple):
        return _read_texts(value, where)
    if isinstance(default, StrEnum):
        words = [str(word) for word in type(default)]
        if value not in words:
            raise InvalidSettings(f"{where} cannot be {str(value)[:40]!a}.", hint=f"Use one of: {', '.join(words)}.")
        return type(default)(str(value))
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidSettings(f"{where} must be true or false.")
        return value
    return _read_texts(value if isinstance(value, str) else [value], where)[0]


def _read_texts(value: object, where: str) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else _check_size(value, list, where)
    if not all(isinstance(item, str) and len(item) <= _LONGEST for item in items):
        raise InvalidSettings(f"{where} must be text of at most {_LONGEST} characters, or a list of such texts.")
    return tuple(items)


def _check_size(value: Any, kind: type, where: str) -> Any:
    wanted = Mapping if kind is dict else (list, tuple)
    is_fine = isinstance(value, wanted) and len(value) <= _MOST
    if not is_fine or (kind is dict and not all(isinstance(name, str) for name in value)):
        raise InvalidSettings(f"{where} must be a {'table' if kind is dict else 'list'} of at most {_MOST} items.")
    return value
