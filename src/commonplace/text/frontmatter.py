"""Read and change what is ours in a file, without losing a byte of what a person wrote: frontmatter, and the region of
a page between two marks.

The block between the two `---` lines is split into fields: a name at the start of a line, and all lines up to the next
name. A field is parsed only on request and rewritten only when its value changes; every other byte, with comments,
order and odd indentation, stays. So fields of a person's own survive every write.

A fast reader parses the small part of YAML that we write; PyYAML, imported only then, parses anything richer. Every
scalar is read as a string, because YAML's own typing turns the tag `no` into False. A property test proves that PyYAML
agrees on everything that the fast reader accepts.

The end of this module is about the generated region of index pages, and of the git files of a book: only what is
between the marks is ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.times import STAMP

Value = str | list["Value"] | dict[str, "Value"]
"""What a field can hold: text, or lists and maps of it."""
Writable = str | bool | int | Sequence["Writable"] | Mapping[str, "Writable"]
MAX_RICH_LENGTH = 16_384  # PyYAML is slow and recursive: a longer field is kept and not parsed
# Without `?`, at which PyYAML ends a word inside a list.
_PLAIN = lazy(r"[A-Za-z0-9_/.(+][A-Za-z0-9_/.()+@=~^%$;!'*&<> -]*", re.ASCII)
_LOOKS_TYPED = lazy(
    r"(?:true|false|yes|no|on|off|y|n|null|~|[-+]?\.(?:inf|nan)|[-+.]?[0-9][0-9_,.:xXoObBeEa-fA-F+-]*|=|<<)", re.I
)
_UUID_OR_TIME = lazy(rf"[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}|{STAMP}", re.ASCII)
# In double quotes, in single quotes without one inside, or plain.
_SCALAR = lazy(r'"((?:[^"\\]|\\.)*+)"|\'([^\']*)\'(?!\')|([^\s\[\]{},:#&*!|>\'"%@`?\\-][^\[\]{},:#"\'?\\]*)')
_BEGIN, _LIST_END, _MAP_END = lazy(r"[\[{] *"), lazy(r"\]"), lazy(r"\}")
_COMMA, _COLON = lazy(r" *(?:, *|(?=[\]}]))"), lazy(r": +")
_ESCAPE = lazy(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_MAX_DEPTH = 8  # of a value that the fast reader takes
_LIST_LINE = lazy(r"( *)- +(.*)")


def write_value(value: Writable) -> str:
    """Return one line of YAML that every YAML reader reads back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write_text(k)}: {write_value(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(write_value(item) for item in value) + "]"


def read_value(text: str) -> Value | None:
    """Return the value in the text after a field's colon, on one or more lines; None if it cannot be parsed."""
    one_line = text.strip(" \t\r\n")
    if "\n" not in one_line:
        fast = _FlowReader(one_line).document()
        if fast is not None:
            return fast
    elif one_line.startswith("- "):
        listed = _read_simple_list(text)
        if listed is not None:
            return listed
    return _read_rich(text)


def _write_text(text: str) -> str:
    # Typed by YAML or not, these read back as this text.
    if _UUID_OR_TIME.fullmatch(text):
        return text
    if _PLAIN.fullmatch(text) and text[-1] != " " and not _LOOKS_TYPED.fullmatch(text):
        return text
    return quote(text)


def quote(text: str) -> str:
    """Return text in double quotes, on one line, with unprintable characters escaped: valid YAML, safe in a comment."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not text.isprintable():  # U+FEFF is not
        escaped = "".join(ch if ch.isprintable() else _escape(ch) for ch in escaped)
    return f'"{escaped}"'


def _escape(ch: str) -> str:
    if ch == "\n":
        return "\\n"
    code = ord(ch)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


class _FlowReader:
    """Reads one line of flow YAML: plain and quoted text, lists, maps. Gives None for anything else."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    def document(self) -> Value | None:
        if not self.line:
            return ""
        if not self.line.isprintable():
            return None
        if self.line[0] not in "[{\"'":
            return self.line if _is_plain_line(self.line) else None
        value = self._value(depth=0)
        return value if self.at == len(self.line) else None

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what matches here, and move past it."""
        match = pattern.match(self.line, self.at)
        if match:
            self.at = match.end()
        return match

    def _value(self, depth: int) -> Value | None:
        begin = self._next(_BEGIN)
        if begin:
            if depth > _MAX_DEPTH:
                return None
            return self._list(depth + 1) if begin.group().startswith("[") else self._map(depth + 1)
        scalar = self._next(_SCALAR)
        if not scalar:
            return None
        double, single, plain = scalar.groups()
        if double is not None:
            return _unescape(double)
        return single if single is not None else plain.rstrip(" \t")

    def _list(self, depth: int) -> Value | None:
        items: list[Value] = []
        while not self._next(_LIST_END):
            item = self._value(depth)
            if item is None or not self._next(_COMMA):
                return None
            items.append(item)
        return items

    def _map(self, depth: int) -> Value | None:
        items: dict[str, Value] = {}
        while not self._next(_MAP_END):
            name = self._value(_MAX_DEPTH + 1)
            if not isinstance(name, str) or name in items or not self._next(_COLON):
                return None
            value = self._value(depth)
            if value is None or not self._next(_COMMA):
                return None
            items[name] = value
        return items


def _unescape(text: str) -> str | None:
    """Return the text that stood in double quotes, None for an escape that is not ours or makes no Unicode."""
    if "\\" not in text:
        return text
    try:
        found = _ESCAPE.sub(_unescaped, text)
        found.encode("utf-8")
    except (KeyError, ValueError):
        return None
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPES[match[4]]


def _is_plain_line(line: str) -> bool:
    """Whether every YAML reader takes a line for a plain scalar."""
    if line[0] in "-?:,[]{}#&*!|>'\"%@`":
        return False
    return ": " not in line and " #" not in line and line[-1] != ":"


def _read_simple_list(text: str) -> Value | None:
    """Return a block list of one-line items, as Obsidian writes tags; None for any other text."""
    first, *lines = text.split("\n")
    if first.strip("\r \t"):
        return None  # a list cannot start on the line of its name
    items: list[Value] = []
    indents = set()
    for line in lines:
        bare = line.rstrip("\r \t")
        if bare:
            match = _LIST_LINE.fullmatch(bare)
            item = _FlowReader(match.group(2)).document() if match else None
            if not match or not item or not isinstance(item, str):
                return None
            items.append(item)
            indents.add(match.group(1))
    return items if len(indents) == 1 else None


def _read_rich(text: str) -> Value | None:
    if len(text) > MAX_RICH_LENGTH:
        return None
    import yaml  # noqa: PLC0415 - see the module docstring: paid only when needed

    try:
        loaded = yaml.load("v: " + text, Loader=yaml.BaseLoader)["v"]  # noqa: S506 - BaseLoader makes only text
        return _strings(loaded, [MAX_RICH_LENGTH])
    except (yaml.YAMLError, RecursionError, ValueError, TypeError, KeyError):
        return None


def _strings(value: object, left: list[int], depth: int = 0) -> Value:
    """Return the loaded value with text, lists and maps only; raises ValueError or TypeError for any other.

    Depth and number of parts are limited, because a few lines of aliases can make loops or billions of parts.
    """
    left[0] -= 1
    if depth > 20 or left[0] < 0:
        raise ValueError("too deep or too much")
    if isinstance(value, str):
        # JSON writes an emoji as the two halves of a surrogate pair; half a pair alone is not text.
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    if isinstance(value, list):
        return [_strings(item, left, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(_strings(name, left)): _strings(item, left, depth + 1) for name, item in value.items()}
    raise TypeError("not text")


BOM = "\ufeff"
_OPEN = lazy(r"---[ \t]*\r?\n")
# The search for the closing line stops at an entry: a `---` in its text must not close a block left open above.
_CLOSE = lazy(r"^(?:(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)|<!-- entry)", re.M)
# Any name in any script; not a comment, a list item, or the rest of a value over several lines.
_FIELD = lazy(
    r"""^((?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*|(?![\s#"'\]},]|-\s)[^\n]*?):(?=[ \t\r\n]|\Z)""", re.M
)


class Field(NamedTuple):
    """One field as it is in the file."""

    name: str  # "" for lines before the first field
    raw: str  # the field's lines, line ends included
    value_at: int = 0  # where in raw the value starts


class Frontmatter(NamedTuple):
    """The frontmatter of a file, byte for byte. It is immutable: a change returns another."""

    opening: str = ""  # the first --- line; "" when the file has no frontmatter
    fields: tuple[Field, ...] = ()
    closing: str = ""
    bom: str = ""  # the byte order mark, if the file starts with one: it stays in front of all that is added
    eol: str = "\n"  # the line end of most lines of the file, and of every line that is added

    def render(self) -> str:
        """Return the block as it is in the file."""
        return self.bom + self.opening + "".join(field.raw for field in self.fields) + self.closing

    def names(self) -> tuple[str, ...]:
        """Return the names of the fields, in order."""
        return tuple(field.name for field in self.fields if field.name)

    def get(self, name: str) -> Value | None:
        """Return the value of a field; None if it is absent or cannot be parsed. Of duplicates, the last counts."""
        for field in reversed(self.fields):
            if field.name == name:
                return read_value(field.raw[field.value_at :])
        return None

    def text(self, name: str) -> str:
        """Return a field as text; empty if it is absent or not text."""
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field as a list of texts; a single text counts as a list of one."""
        return _as_texts(self.get(name))

    def all_texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of all fields of a name, each once: a merge of two files may leave several."""
        fields = (field for field in self.fields if field.name == name)
        values = (_as_texts(read_value(field.raw[field.value_at :])) for field in fields)
        return tuple(dict.fromkeys(text for texts in values for text in texts))

    def put(self, name: str, value: Writable | None) -> Frontmatter:
        """Return the frontmatter with a field changed in place, added at the end or, for None, removed."""
        places = [at for at, field in enumerate(self.fields) if field.name == name]
        if value is None:
            return self._replace(fields=_without(name, self.fields))
        new = new_field(name, value, self.eol)
        if [self.fields[at].raw for at in places] == [new.raw]:
            return self
        if not places:
            fields = (*self.fields, new)
            mark = f"---{self.eol}"
            return self._replace(fields=fields, opening=self.opening or mark, closing=self.closing or mark)
        last = places[-1]
        new = new._replace(raw=new.raw + _trailing_comments(self.fields[last].raw))
        return self._replace(fields=(*_without(name, self.fields[:last]), new, *self.fields[last + 1 :]))


def _as_texts(value: Value | None) -> tuple[str, ...]:
    """Return a value as texts; a single text counts as a list of one."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def new_field(name: str, value: Writable, eol: str = "\n") -> Field:
    """Return a field as we write it."""
    return Field(name, f"{name}: {write_value(value)}{eol}", len(name) + 1)


def split(text: str) -> tuple[Frontmatter, str]:
    """Return the frontmatter of a file and the rest. Without a closed block, the whole file is the rest."""
    bom = BOM if text.startswith(BOM) else ""
    none = Frontmatter(bom=bom, eol=_usual_line_end(text))
    opening = _OPEN.match(text, len(bom))
    closing = _CLOSE.search(text, opening.end()) if opening else None
    if not opening or not closing or closing.group().startswith("<"):
        return none, text[len(bom) :]
    fields = tuple(_fields(text[opening.end() : closing.start()]))
    return none._replace(opening=opening.group(), fields=fields, closing=closing.group()), text[closing.end() :]


def _usual_line_end(text: str) -> str:
    """Return how most lines of a text end."""
    return "\r\n" if "\r\n" in text and text.count("\r\n") * 2 >= text.count("\n") else "\n"


def _fields(block: str) -> list[Field]:
    names = list(_FIELD.finditer(block))
    ends = [*(match.start() for match in names), len(block)]
    fields = [Field("", block[: ends[0]])] if ends[0] else []
    for match, end in zip(names, ends[1:], strict=True):
        name = match.group(1).rstrip(" \t")
        name = name[1:-1] if name.startswith(('"', "'")) else name
        fields.append(Field(name, block[match.start() : end], match.end() - match.start()))
    return fields


def _without(name: str, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields without those of this name; comments after them stay."""
    left = (field if field.name != name else Field("", _trailing_comments(field.raw)) for field in fields)
    return tuple(field for field in left if field.raw)


def _trailing_comments(raw: str) -> str:
    """Return comment and blank lines after a field's value: a person wrote them, and they are not part of it."""
    lines = raw.split("\n")  # only a line feed ends a line; other separators of Unicode are text
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return "\n".join(lines[end:])


BEGIN = "<!-- commonplace:begin (generated: write above or below) -->"
END = "<!-- commonplace:end -->"
PAGE_MARKS = (BEGIN, END)


def put_region(page: str, generated: str, marks: tuple[str, str] = PAGE_MARKS) -> str:
    """Return the page with a new generated region; a page without one gets it at the end.

    Of several regions, as a merge of two pages leaves them, the last is renewed and the others go.
    """
    gap = "\n" if generated and not generated.endswith("\n") else ""
    region = f"{marks[0]}\n{generated}{gap}{marks[1]}"
    found = _find_region(page, marks)
    if found is None:
        gap = "" if not page or page.endswith("\n\n") else "\n" if page.endswith("\n") else "\n\n"
        return f"{page}{gap}{region}\n"
    start, end = found
    above = page[:start]
    while (other := _find_region(above, marks)) is not None:
        above = above[: other[0]] + above[other[1] :].removeprefix("\r").removeprefix("\n")
    new = above + region + page[end:]
    return page if new == page else new


def get_region(page: str | None) -> str | None:
    """Return what is generated on a page, of all its regions; None when it has none, or there is no page."""
    page = page or ""
    bodies, limit = list[str](), len(page)
    while (found := _find_region(page[:limit], PAGE_MARKS)) is not None:
        limit, end = found
        bodies.insert(0, page[limit : end - len(END)].partition("\n")[2])
    return "".join(bodies) if bodies else None


def drop_stray_marks(page: str, is_generated: Callable[[str], bool]) -> str:
    """Return a page without begin marks that have no end, and end marks that have no begin.

    A merge of two pages can leave them, with lines of ours around them: `is_generated` tells those from a person's.
    Whole regions, and a page with no more than one of each mark, stay as they are.
    """
    heads = [mark.partition(" (")[0] for mark in PAGE_MARKS]
    if all(page.count(head) <= 1 for head in heads):
        return page
    done, pending, is_open, is_ended = list[str](), list[str](), False, False
    for line in page.splitlines(keepends=True):
        if line.startswith(heads[0]):
            done += _theirs(pending, is_generated) if is_open else pending
            pending, is_open, is_ended = [line], True, False
        elif line.startswith(heads[1]):
            done += [*pending, line] if is_open else _theirs(pending, is_generated) if is_ended else pending
            pending, is_open, is_ended = [], False, True
        else:
            pending.append(line)
    return "".join([*done, *pending])


def _theirs(lines: list[str], is_generated: Callable[[str], bool]) -> list[str]:
    """Return the lines that a person wrote."""
    return [line for line in lines if not is_generated(line) and not line.startswith(BEGIN.partition(" (")[0])]


def escape_comments(text: str) -> str:
    """Return a line of text that cannot pass for one of our marks, which are comments."""
    return text.replace("<!--", "<\\!--")


def _find_region(page: str, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return start and end of the last region with both marks; text after a begin mark without end is not ours."""
    begin, limit = marks[0].partition(" (")[0], len(page)
    while limit > 0:
        start = page.rfind(f"\n{begin}", 0, limit) + 1
        if start == 0 and not page.startswith(begin, 0, limit):
            return None
        end = page.find(f"\n{marks[1]}", start, limit)
        if end >= 0:
            return start, end + 1 + len(marks[1])
        limit = start
    return None
