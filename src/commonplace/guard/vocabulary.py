"""Which call is which step of the protocol: read, write, retire, index, or none of them.

A vocabulary is data. It says of every tool, by its name and its arguments, what a call of it is and of which scope and
memory; and which call to name when a step was missed. There is one for our own tools and one for the memory files that
Claude Code keeps (guard/vocabularies.py), and a host may bring its own as a plain mapping (`read_vocabulary` there).
Nothing here reads anything but its arguments, and no argument, however wrong, makes it fail.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

MOST_KEYS = 50  # of one call
_MOST_TEXT = 2_000  # of an argument that is looked at
_ABOUT = 80


class Kind(StrEnum):
    READ = "read"
    WRITE = "write"
    RETIRE = "retire"
    INDEX = "index"
    OTHER = "other"


class Reach(StrEnum):
    """What a read could have returned."""

    SCOPE = "scope"  # anything in its scopes that fits the question
    RETURNED = "returned"  # what it returned, and no more: one memory, or those that passed a filter


class Rule(NamedTuple):
    """What a call of a tool is. Fields that end in `_in` name the argument which has it."""

    kind: Kind = Kind.OTHER
    reach: Reach = Reach.SCOPE
    scope: str | None = None  # when the tool is for one scope only
    scope_in: str = ""
    key_in: str = ""
    keys_in: str = ""
    path_in: tuple[str, ...] = ()  # a file, a folder or a list of them: the first of these that is given
    base_in: str = ""  # the folder that a relative path begins at
    query_in: str = ""
    text_in: str = ""
    settled_in: tuple[str, ...] = ()  # with any of these the caller has decided, or names what it read
    settled: bool = False  # the tool finds its own duplicates
    narrowed_by: tuple[str, ...] = ()  # with any of these a read returns part of its scope only
    mode_in: str = ""  # a tool with modes: this argument has the mode ...
    modes: Mapping[str, "Rule"] = {}  # ... and this says what each is; a mode that is not here is none of the steps
    command_in: str = ""  # the argument is a command line: its first word is the mode, the others are paths


class Folder(NamedTuple):
    """Where memory files are: names of folders, `*` for any; and the scope they belong to ("": the folder itself)."""

    names: tuple[str, ...]
    scope: str = ""
    rooted: bool = True  # the names begin at /, not anywhere in a path


class Advice(NamedTuple):
    """A call that can be named to a caller who has the tool. `{key}`, `{scope}` and so on are filled in."""

    tool: str
    call: str


class Vocabulary(NamedTuple):
    name: str
    rules: Mapping[str, Rule]
    default_scope: str = "project"  # of a write that names none
    folders: tuple[Folder, ...] = ()
    index_file: str = ""  # the name of the index in each folder
    keeps_index: bool = True  # every write reaches the index by itself
    read: tuple[Advice, ...] = ()  # what to call for each step, the best first
    show: tuple[Advice, ...] = ()
    merge: tuple[Advice, ...] = ()
    supersede: tuple[Advice, ...] = ()
    update_index: tuple[Advice, ...] = ()


class Operation(NamedTuple):
    """One call, as the protocol sees it."""

    kind: Kind
    tool: str = ""
    scopes: tuple[str, ...] = ()  # none: every scope that the caller sees
    keys: tuple[str, ...] = ()
    reach: Reach = Reach.SCOPE
    query: str = ""
    about: str = ""  # the beginning of what is written
    settled: bool = False
    keeps_index: bool = True

    @property
    def scope(self) -> str:
        """Of a write: where it goes."""
        return self.scopes[0] if self.scopes else ""


class _Place(NamedTuple):
    scopes: tuple[str, ...]  # none: all of them
    key: str = ""
    is_index: bool = False


def classify(tool: str, arguments: Mapping[str, object], vocabulary: Vocabulary) -> Operation:
    """What a call is. A tool or mode that the vocabulary does not know is none of the steps."""
    rule = vocabulary.rules.get(tool)
    if rule is None:
        return Operation(Kind.OTHER, tool)
    paths: list[str] | None = None
    if rule.command_in:
        mode, paths = _command(_text(arguments, rule.command_in))
        rule = rule.modes.get(mode, Rule())._replace(base_in=rule.base_in)
    elif rule.mode_in:
        rule = rule.modes.get(_text(arguments, rule.mode_in), Rule())
    if rule.kind is Kind.OTHER:
        return Operation(Kind.OTHER, tool)
    if rule.path_in or paths is not None:
        given = paths if paths is not None else next(filter(None, (_texts(arguments, at) for at in rule.path_in)), [])
        return _of_paths(tool, rule, arguments, given, vocabulary)
    scope = rule.scope or _text(arguments, rule.scope_in)
    if not scope and rule.kind is Kind.WRITE:
        scope = vocabulary.default_scope
    keys = [key for key in (_text(arguments, rule.key_in), *_texts(arguments, rule.keys_in)) if key]
    made = _operation(tool, rule, arguments, vocabulary)
    return made._replace(scopes=(scope,) if scope else (), keys=tuple(keys[:MOST_KEYS]))


def _operation(tool: str, rule: Rule, arguments: Mapping[str, object], vocabulary: Vocabulary) -> Operation:
    """What a call is, but for where it goes."""
    narrowed = any(arguments.get(name) not in (None, "", [], ()) for name in rule.narrowed_by)
    settled = rule.settled or any(_text(arguments, name) for name in rule.settled_in)
    return Operation(
        rule.kind,
        tool,
        reach=Reach.RETURNED if narrowed else rule.reach,
        query=" ".join(_text(arguments, rule.query_in).split())[:200],
        about=" ".join(_text(arguments, rule.text_in).split())[:_ABOUT],
        settled=settled,
        keeps_index=vocabulary.keeps_index,
    )


def _of_paths(
    tool: str, rule: Rule, arguments: Mapping[str, object], given: Sequence[str], vocabulary: Vocabulary
) -> Operation:
    """A call that names files: what it is depends on which they are."""
    base = _text(arguments, rule.base_in) or "/"
    asked = given or ([base] if rule.kind is Kind.READ else [])
    places = [place for path in asked[:MOST_KEYS] if (place := _place(_joined(base, path), vocabulary)) is not None]
    if not places:
        return Operation(Kind.OTHER, tool)
    made = _operation(tool, rule, arguments, vocabulary)
    everywhere = any(not place.scopes for place in places)
    scopes = () if everywhere else tuple(dict.fromkeys(scope for place in places for scope in place.scopes))
    keys = tuple(dict.fromkeys(place.key for place in places if place.key))
    if rule.kind is Kind.WRITE and everywhere:
        return Operation(Kind.OTHER, tool)  # a file that is no memory
    if any(place.is_index for place in places):
        if rule.kind is Kind.WRITE:
            return made._replace(kind=Kind.INDEX, scopes=scopes)
        return made._replace(scopes=scopes)  # who reads the index has seen what there is
    if rule.kind is Kind.WRITE and not keys:
        return Operation(Kind.OTHER, tool)
    whole_files = rule.kind is Kind.READ and all(place.key for place in places)
    return made._replace(scopes=scopes, keys=keys, reach=Reach.RETURNED if whole_files else made.reach)


def _place(path: str, vocabulary: Vocabulary) -> _Place | None:
    """Which memory or scope a path is; None when it has nothing to do with memory."""
    parts = [part for part in path.split("/") if part]
    for folder in vocabulary.folders:
        size = len(folder.names)
        for start in range(1 if folder.rooted else max(0, len(parts) - size) + 1):
            here = parts[start : start + size]
            if not all(name in ("*", part) for name, part in zip(folder.names, here, strict=False)):
                continue
            if len(here) < size:
                if folder.rooted:  # a folder above: the book, its memories, all projects
                    return _Place((folder.scope,) if len(here) > 1 and folder.scope else ())
                continue
            scope = folder.scope or ("/" if path.startswith("/") else "") + "/".join(parts[: start + size])
            below = parts[start + size :]
            is_index = bool(vocabulary.index_file) and below == [vocabulary.index_file]
            return _Place((scope,), "" if is_index or not below else _key(below), is_index)
    return None


def _key(below: Sequence[str]) -> str:
    """The key of a file below its scope's folder; "" for a folder or a page that is no memory."""
    name = below[-1]
    if not name.endswith(".md") or name == "index.md" or "*" in name or any(part[0] in "_." for part in below):
        return ""
    return "/".join([*below[:-1], name.removesuffix(".md")])


def _joined(base: str, path: str) -> str:
    """A path with its dots worked out, as text alone: forward slashes, whatever the machine."""
    path = path.replace("\\", "/")
    whole = path if path.startswith(("/", "~")) or path[1:2] == ":" else f"{base}/{path}"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if whole.startswith("/") else "") + "/".join(parts)


def _command(line: str) -> tuple[str, list[str]]:
    """The command of a line, and its words that may be paths. Quotes are taken off; it is not a shell's parser."""
    words = [word.strip("'\"") for word in line.split()]
    if not words:
        return "", []
    name, others = words[0], words[1:]
    plain = [word for word in others if word and not word.startswith("-")]
    if name == "grep":
        return name, plain[1:]
    if name in ("find", "query"):  # what follows the first word is about its options
        return name, [word for word in others[:1] if word in plain]
    return name, [word for word in plain if not word.isdigit()]


def _text(arguments: Mapping[str, object], name: str) -> str:
    value = arguments.get(name) if name else None
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _texts(arguments: Mapping[str, object], name: str) -> list[str]:
    """A text or a list of them as a list."""
    value = arguments.get(name) if name else None
    if isinstance(value, str):
        return [value[:_MOST_TEXT]] if value else []
    if not isinstance(value, (list, tuple)):
        return []
    return [item[:_MOST_TEXT] for item in value[:MOST_KEYS] if isinstance(item, str)]
