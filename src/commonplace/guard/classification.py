"""Classify a tool call: which step of the protocol it is, and which scope and memories it touches.

The protocol (guard/protocol.py) works on the `Operation` that `classify` returns. Pure: only the arguments are read,
and no argument, however malformed, makes it raise.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from commonplace.guard.vocabulary import CallKind, ReadReach, ToolRule, Vocabulary

MOST_KEYS = 50  # of one call
_MOST_TEXT = 2_000  # characters of an argument that are looked at
_ABOUT = 80


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
    """What a path stands for: a memory, an index or whole scopes."""

    scopes: tuple[str, ...]  # empty: all of them
    key: str = ""
    is_index: bool = False


def classify(tool: str, arguments: Mapping[str, object], vocabulary: Vocabulary) -> Operation:
    """Return what a call is; an unknown tool or mode is `CallKind.OTHER`, no step of the protocol."""
    rule = vocabulary.rules.get(tool)
    if rule is None:
        return Operation(CallKind.OTHER, tool)
    paths: list[str] | None = None
    if rule.command_in:
        mode, paths = _split_command(_read_text(arguments, rule.command_in))
        rule = rule.modes.get(mode, ToolRule())._replace(base_in=rule.base_in)
    elif rule.mode_in:
        rule = rule.modes.get(_read_text(arguments, rule.mode_in), ToolRule())
    if rule.kind is CallKind.OTHER:
        return Operation(CallKind.OTHER, tool)
    if rule.path_in or paths is not None:
        given = (
            paths if paths is not None else next(filter(None, (_read_texts(arguments, at) for at in rule.path_in)), [])
        )
        return _classify_paths(tool, rule, arguments, given, vocabulary)
    scope = rule.scope or _read_text(arguments, rule.scope_in)
    if not scope and rule.kind is CallKind.WRITE:
        scope = vocabulary.default_scope
    keys = [key for key in (_read_text(arguments, rule.key_in), *_read_texts(arguments, rule.keys_in)) if key]
    made = _operation(tool, rule, arguments, vocabulary)
    return made._replace(scopes=(scope,) if scope else (), keys=tuple(keys[:MOST_KEYS]))


def _operation(tool: str, rule: ToolRule, arguments: Mapping[str, object], vocabulary: Vocabulary) -> Operation:
    """Return what a call is, without its scopes and keys."""
    narrowed = any(arguments.get(name) not in (None, "", [], ()) for name in rule.narrowed_by)
    settled = rule.settled or any(_read_text(arguments, name) for name in rule.settled_in)
    return Operation(
        rule.kind,
        tool,
        reach=ReadReach.RETURNED if narrowed else rule.reach,
        query=" ".join(_read_text(arguments, rule.query_in).split())[:200],
        about=" ".join(_read_text(arguments, rule.text_in).split())[:_ABOUT],
        settled=settled,
        keeps_index=vocabulary.keeps_index,
    )


def _classify_paths(
    tool: str, rule: ToolRule, arguments: Mapping[str, object], given: Sequence[str], vocabulary: Vocabulary
) -> Operation:
    """Return what a call that names files is: that depends on which files they are."""
    base = _read_text(arguments, rule.base_in) or "/"
    asked = given or ([base] if rule.kind is CallKind.READ else [])
    places = [
        place
        for path in asked[:MOST_KEYS]
        if (place := _find_target(_resolve_path(base, path), vocabulary)) is not None
    ]
    if not places:
        return Operation(CallKind.OTHER, tool)
    made = _operation(tool, rule, arguments, vocabulary)
    everywhere = any(not place.scopes for place in places)
    scopes = () if everywhere else tuple(dict.fromkeys(scope for place in places for scope in place.scopes))
    keys = tuple(dict.fromkeys(place.key for place in places if place.key))
    if rule.kind is CallKind.WRITE and everywhere:
        return Operation(CallKind.OTHER, tool)  # not a memory file
    if any(place.is_index for place in places):
        if rule.kind is CallKind.WRITE:
            return made._replace(kind=CallKind.INDEX, scopes=scopes)
        return made._replace(scopes=scopes)  # a reader of the index has seen what there is
    if rule.kind is CallKind.WRITE and not keys:
        return Operation(CallKind.OTHER, tool)
    whole_files = rule.kind is CallKind.READ and all(place.key for place in places)
    return made._replace(scopes=scopes, keys=keys, reach=ReadReach.RETURNED if whole_files else made.reach)


def _find_target(path: str, vocabulary: Vocabulary) -> _PathTarget | None:
    """Return the memory or scope of a path; None for a path outside the memory folders."""
    parts = [part for part in path.split("/") if part]
    for folder in vocabulary.folders:
        size = len(folder.names)
        for start in range(1 if folder.rooted else max(0, len(parts) - size) + 1):
            here = parts[start : start + size]
            if not all(name in ("*", part) for name, part in zip(folder.names, here, strict=False)):
                continue
            if len(here) < size:
                if folder.rooted:  # a folder above: the book, its memories, all projects
                    return _PathTarget((folder.scope,) if len(here) > 1 and folder.scope else ())
                continue
            scope = folder.scope or ("/" if path.startswith("/") else "") + "/".join(parts[: start + size])
            below = parts[start + size :]
            is_index = bool(vocabulary.index_file) and below == [vocabulary.index_file]
            return _PathTarget((scope,), "" if is_index or not below else _memory_key(below), is_index)
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


def _split_command(line: str) -> tuple[str, list[str]]:
    """Return the command of a line and the words that may be paths, unquoted. This is no full shell parser."""
    words = [word.strip("'\"") for word in line.split()]
    if not words:
        return "", []
    name, others = words[0], words[1:]
    plain = [word for word in others if word and not word.startswith("-")]
    if name == "grep":
        return name, plain[1:]
    if name in ("find", "query"):  # the words after the first belong to options
        return name, [word for word in others[:1] if word in plain]
    return name, [word for word in plain if not word.isdigit()]


def _read_text(arguments: Mapping[str, object], name: str) -> str:
    value = arguments.get(name) if name else None
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _read_texts(arguments: Mapping[str, object], name: str) -> list[str]:
    """Return an argument that is a text or a list of texts, as a list."""
    value = arguments.get(name) if name else None
    if isinstance(value, str):
        return [value[:_MOST_TEXT]] if value else []
    if not isinstance(value, (list, tuple)):
        return []
    return [item[:_MOST_TEXT] for item in value[:MOST_KEYS] if isinstance(item, str)]
