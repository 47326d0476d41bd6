"""Edit text, TOML and YAML files of other programs to the byte: what `insert` adds, `remove` takes out again.

`connect` calls these, and `json_edit` for JSON. Nothing is recorded outside the file.

- A marked block in a text file that people own (AGENTS.md, rules).
- A table in a TOML file. It goes to the end of the file, after one line break that is always ours; only a file that we
  made starts with the table itself.
- An entry in a mapping of a YAML file: one line, the first of its mapping. A mapping that we had to make says so in a
  comment, so that it is removed with the entry. Mappings in flow style (`{...}`) are left to a person: the caller shows
  what to add.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from commonplace.model.lazy import lazy

EntryPath = Sequence[str | None]  # names of members; None, only as the last: an element of the list before it
BOM = "\ufeff"
BEGIN = "<!-- commonplace:begin -->"
END = "<!-- commonplace:end -->"
_TOML_HEADER = lazy(r"[ \t]*\[([^\[\]\r\n][^\r\n]*?)\][ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
_TOML_BARE_KEY = lazy(r"[A-Za-z0-9_-]+")
_TOML_STRING_OR_COMMENT = lazy(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\r\n])*"|\'[^\'\r\n]*\'|#[^\r\n]*',
    16,  # 16: re.DOTALL
)
_YAML_MARK = "# made by commonplace connect"


class UnsupportedLayout(ValueError):
    """The file is well formed, but something else is where our text would go."""


class Editor(NamedTuple):
    """How an entry in a file of one format is found, inserted, removed, and given another value."""

    find: Callable[..., list[object]]
    insert: Callable[..., str]
    remove: Callable[..., str | None]
    replace: Callable[..., str]


# Lines


def find_newline(text: str | None) -> str:
    """Return the line end that a file uses."""
    return "\r\n" if "\r\n" in (text or "") else "\n"


def before_newline(text: str, at: int) -> int:
    """Return the place before the line end that ends here; the same place where none does."""
    return next((at - len(newline) for newline in ("\r\n", "\n") if text.endswith(newline, 0, at)), at)


def line_start(text: str, at: int) -> int:
    """Return where the line of a place starts."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line of a place ends, behind its line end."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


# Marked blocks


def find_block(text: str | None) -> str | None:
    """Return the text between the marks with plain line ends; None where there is no block."""
    parts = _split_block(text or "")
    return parts[1].replace("\r\n", "\n").strip("\n") + "\n" if parts else None


def insert_block(text: str | None, body: str) -> str:
    """Return the text with the block: in its old place, or at the end after one line break that is always ours."""
    parts = _split_block(text or "")
    # A text may end with a line break of another system, which ours behind it would complete.
    newline = find_newline(parts[1] if parts else text)
    block = "\n".join((BEGIN, body.strip("\n"), END)).replace("\n", newline)
    if text is None:
        return block + newline
    return f"{parts[0]}{block}{parts[2]}" if parts else f"{text}{newline}{block}{newline}"


def remove_block(text: str) -> str | None:
    """Return the text without the block; None where the file held nothing else."""
    parts = _split_block(text)
    if parts is None:
        return text
    before, inside, after = parts
    if after.startswith(("\n", "\r\n")):
        after = after.partition("\n")[2]
    new = before.removesuffix(find_newline(inside)) + after
    return new if before or new else None


def _split_block(text: str) -> tuple[str, str, str] | None:
    """Return what is before our marks, between and behind them; None where there are none."""
    if BEGIN not in text and END not in text:
        return None
    before, _, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not end or END in before or BEGIN in rest or END in after:
        raise UnsupportedLayout(f"{BEGIN} and {END} do not make one block")
    return before, inside, after


# TOML


def find_toml(text: str | None, path: EntryPath) -> list[object]:
    """Return the table at a path, if there is one."""
    value: Any = _load_toml(text)
    for name in path:
        if not isinstance(value, Mapping):
            raise UnsupportedLayout("something else is where a table is needed")
        if name not in value:
            return []
        value = value[name]
    return [value]


def insert_toml(text: str | None, path: EntryPath, value: Mapping[str, object]) -> str:
    """Return the text with one more table of plain values at its end."""
    newline = find_newline(text)
    header = ".".join(_render_key(str(name)) for name in path)
    lines = [f"[{header}]", *(f"{_render_key(name)} = {_render_value(item)}" for name, item in value.items()), ""]
    table = newline.join(lines)
    new = table if text is None else f"{text}{newline}{table}"
    try:
        _load_toml(new)
    except ValueError:
        raise UnsupportedLayout(f"a table [{header}] cannot be added at the end") from None
    return new


def remove_toml(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the table and the tables below it; None where the whole file was ours."""
    if not any(map(is_ours, find_toml(text, path))):
        return text
    wanted = tuple(map(str, path))
    spans = list(_find_tables(text, wanted))
    if not spans:
        raise UnsupportedLayout(f"{'.'.join(wanted)} is not a table of its own")
    new = text
    for start, end in reversed(spans):
        new = new[:start] + new[end:]
    return new if new or text.startswith(("\n", "\r\n")) else None


def replace_toml(text: str, path: EntryPath, old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """Return the text with other plain values in a table; comments and everything else in it stay."""
    wanted = tuple(map(str, path))
    changes = {name: value for name, value in new.items() if name not in old or old[name] != value}
    header_end, spans, is_inside = -1, [], False
    for start, stop, names in _parse_statements(text):
        if names is not None:
            is_inside = names == wanted
            header_end = stop if is_inside else header_end
        elif is_inside:
            [name] = _load_toml(text[start:stop].strip())
            if name in changes:
                spans.append((*_find_value(text, start, stop), _render_value(changes.pop(name))))
    if header_end < 0:
        raise UnsupportedLayout(f"{'.'.join(wanted)} is not a table of its own")
    newline = find_newline(text)
    lines = "".join(f"{newline}{_render_key(name)} = {_render_value(value)}" for name, value in changes.items())
    for start, end, value in reversed([(header_end, header_end, lines), *spans]):
        text = text[:start] + value + text[end:]
    return text


def _find_value(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the span of the value in a statement `name = value # comment`."""
    at = start
    while text[at] != "=":
        quoted = _TOML_STRING_OR_COMMENT.match(text, at)
        at = quoted.end() if quoted else at + 1
    at += 1 + len(text[at + 1 : stop]) - len(text[at + 1 : stop].lstrip(" \t"))
    end = place = at
    while place < stop:
        found = _TOML_STRING_OR_COMMENT.match(text, place)
        is_comment = text[place] == "#"
        place = found.end() if found else place + 1
        if not is_comment and text[place - 1] not in " \t":
            end = place
    return at, end


def _find_tables(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the span of each of our tables: from the line break before it to the end of its last value."""
    start = end = -1
    for begin, stop, names in (*_parse_statements(text), (len(text), len(text), ())):
        if names is not None:
            if start >= 0:
                yield start, end
            start = -1
            if names[: len(wanted)] == wanted:
                start = max(end, before_newline(text, begin))  # two of ours share a line break
        if start >= 0:
            end = line_end(text, stop)


def _parse_statements(text: str) -> Iterator[tuple[int, int, tuple[str, ...] | None]]:
    """Yield the span of each header with its names, and of each value with None; comments and empty lines are left out.

    [[name]] starts a table, too, and never one of ours.
    """
    at = len(BOM) if text.startswith(BOM) else 0
    while at < len(text):
        start = at
        header = _TOML_HEADER.match(text, at)
        if header:
            at = header.end()
            yield start, at, _parse_header(header.group(1))
            continue
        at = _logical_end(text, at)
        line = text[start:at].lstrip()
        if line and not line.startswith("#"):
            yield start, at, ("[[",) if line.startswith("[[") else None
        at = line_end(text, at)


def _logical_end(text: str, at: int) -> int:
    """Return the end of the line, or of the last line of a value that takes several."""
    depth = 0
    while at < len(text):
        found = _TOML_STRING_OR_COMMENT.match(text, at)
        if found:
            at = found.end()
            continue
        ch = text[at]
        if ch in "\"'":
            raise UnsupportedLayout("a string has no end")
        if depth <= 0 and (ch == "\n" or text.startswith("\r\n", at)):
            return at
        depth += (ch in "[{") - (ch in "]}")
        at += 1
    return at


def _parse_header(header: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"[{header}]")
    names = []
    while value:
        [(name, value)] = value.items()
        names.append(name)
    return tuple(names)


def _load_toml(text: str | None) -> dict[str, Any]:
    return tomllib.loads((text or "").removeprefix(BOM))


def _render_key(name: str) -> str:
    return name if _TOML_BARE_KEY.fullmatch(name) else _render_value(name)


def _render_value(value: object) -> str:
    """Return a plain value as TOML, which is JSON except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# YAML


def find_yaml(text: str | None, path: EntryPath) -> list[object]:
    """Return what is at a path of two names, if anything."""
    outer, name = map(str, path)
    inner = load_yaml(text).get(outer)
    if inner is not None and not isinstance(inner, Mapping):
        raise UnsupportedLayout(f"{outer} is not a mapping")
    return [inner[name]] if inner and name in inner else []


def insert_yaml(text: str | None, path: EntryPath, value: object) -> str:
    """Return the text with the entry as the first of its mapping, which is made where it is missing."""
    outer, name = map(str, path)
    newline = find_newline(text)
    entry = f"{name}: {json.dumps(value, ensure_ascii=False)}"
    if text is None:
        return f"{outer}:  {_YAML_MARK}{newline}  {entry}{newline}"
    new = _insert_line(text, outer, entry, newline)
    before = load_yaml(text)
    inner = before.get(outer)
    wanted = {**before, outer: {name: value, **(inner if isinstance(inner, dict) else {})}}
    # Read it back: a block scalar at the end of the file, for one, would swallow our lines.
    try:
        is_as_wanted = load_yaml(new) == wanted
    except UnsupportedLayout:
        is_as_wanted = False
    if not is_as_wanted:
        raise UnsupportedLayout(f"an entry cannot be added to {outer} in this file")
    return new


def remove_yaml(text: str, path: EntryPath, is_ours: Callable[[object], bool]) -> str | None:
    """Return the text without the entry, where it is ours; None where the whole file was ours."""
    outer, name = map(str, path)
    if not any(map(is_ours, find_yaml(text, path))):
        return text
    parent = _find_pair(_compose(text), outer)
    mapping = parent[1] if parent else None
    child = _find_pair(mapping, name)
    if parent is None or child is None or not isinstance(mapping, yaml.MappingNode) or mapping.flow_style:
        raise UnsupportedLayout(f"{outer} is not in block style")
    new = _remove_lines(text, child[0].start_mark.index, child[1].end_mark.index)
    line = text[parent[0].start_mark.index : child[0].start_mark.index]
    if len(mapping.value) > 1 or _YAML_MARK not in line:
        return new
    start = before_newline(text, line_start(text, parent[0].start_mark.index))
    rest = new[:start] + new[line_end(new, parent[0].end_mark.index) :]
    return rest if rest or text.startswith(("\n", "\r\n")) else None


def replace_yaml(text: str, path: EntryPath, old: object, new: object) -> str:
    """Return the text with another value in place of an entry, on one line at the start of its mapping."""
    return insert_yaml(remove_yaml(text, path, lambda value: value == old), path, new)


def _insert_line(text: str, outer: str, entry: str, newline: str) -> str:
    root = _compose(text)
    pair = _find_pair(root, outer)
    if pair is None:
        indent = " " * (root.value[0][0].start_mark.column if root and root.value else 0)
        return f"{text}{newline}{indent}{outer}:  {_YAML_MARK}{newline}{indent}  {entry}{newline}"
    key, value = pair
    if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
        first = value.value[0][0].start_mark
        at = first.index - first.column
        return f"{text[:at]}{' ' * first.column}{entry}{newline}{text[at:]}"
    if isinstance(value, yaml.ScalarNode) and value.value == "" and value.style is None:
        indent = " " * (key.start_mark.column + 2)
        at = line_end(text, key.end_mark.index)
        if text.endswith("\n", 0, at):
            return f"{text[:at]}{indent}{entry}{newline}{text[at:]}"
        return f"{text}{newline}{indent}{entry}"
    raise UnsupportedLayout(f"{outer} is not in block style")


def _remove_lines(text: str, start: int, end: int) -> str:
    """Return the text without the lines of a node, whose end may be the start of the next node."""
    first = line_start(text, start)
    # A node in block style ends where the next one starts, behind that one's indentation.
    next_line = line_start(text, end)
    last = next_line if next_line > start and not text[next_line:end].strip() else line_end(text, end)
    if last == len(text) and not text.endswith("\n"):
        first = before_newline(text, first)
    return text[:first] + text[last:]


def _compose(text: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError:
        raise UnsupportedLayout("it is not valid YAML") from None
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise UnsupportedLayout("it is not a mapping in block style")
    return root


def _find_pair(node: object, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == name), None)


def load_yaml(text: str | None) -> dict[str, object]:
    """Return what a YAML file says; raise UnsupportedLayout where it is no mapping."""
    try:
        data = yaml.safe_load(text or "")
    except yaml.YAMLError:
        raise UnsupportedLayout("it is not valid YAML") from None
    if data is not None and not isinstance(data, dict):
        raise UnsupportedLayout("it is not a mapping")
    return data or {}


TOML = Editor(find_toml, insert_toml, remove_toml, replace_toml)
YAML = Editor(find_yaml, insert_yaml, remove_yaml, replace_yaml)
