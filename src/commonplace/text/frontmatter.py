"""Frontmatter that keeps what it does not know.

The block between the two `---` lines is cut into fields: a name at the start of a line, and all lines up to the next
name. A field is understood only when asked for and rewritten only when its value changes; every other byte,
comments, order and odd indentation included, stays. So a person's own fields survive every write of ours.
"""

import re
from typing import NamedTuple

from commonplace.model.patterns import lazy
from commonplace.text.yaml_values import Value, Writable, read_value, write_value

_OPEN = lazy(r"\ufeff?---[ \t]*(\r?)\n")
# An entry ends the search for the close: no rule in an entry's text may close a block left open above it.
_CLOSE = lazy(r"^(?:(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)|<!-- entry)", re.M)
# Any name in any script; not a comment, a list item, or the rest of a value over several lines.
_FIELD = lazy(r"""((?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*|(?![\s#"'\]},]|-\s)[^\n]*?):(?=[ \t\r\n]|\Z)""")


class Field(NamedTuple):
    name: str  # "" for lines before the first field
    raw: str  # the field's lines, line ends included
    value_at: int = 0  # where in raw the value starts


class Frontmatter(NamedTuple):
    opening: str = ""  # the first --- line; "" when the file has no frontmatter
    fields: tuple[Field, ...] = ()
    closing: str = ""

    @property
    def eol(self) -> str:
        return "\r\n" if self.opening.endswith("\r\n") else "\n"

    def render(self) -> str:
        return self.opening + "".join(field.raw for field in self.fields) + self.closing

    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields if field.name)

    def get(self, name: str) -> Value | None:
        """The value of a field; None when it is absent or cannot be understood. Of duplicates, the last counts."""
        for field in reversed(self.fields):
            if field.name == name:
                return read_value(field.raw[field.value_at :])
        return None

    def text(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A field as a list of texts; a single text counts as a list of one."""
        value = self.get(name)
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

    def put(self, name: str, value: Writable | None) -> "Frontmatter":
        """With this field changed in place, added at the end, or (None) removed."""
        places = [i for i, field in enumerate(self.fields) if field.name == name]
        if value is None:
            return self._replace(fields=_without(name, self.fields)) if places else self
        new = new_field(name, value, self.eol)
        if len(places) == 1 and self.fields[places[0]].raw == new.raw:
            return self
        if not places:
            fields = (*self.fields, new)
            return self._replace(fields=fields) if self.opening else Frontmatter("---\n", fields, "---\n")
        above, old, below = self.fields[: places[-1]], self.fields[places[-1]], self.fields[places[-1] + 1 :]
        new = new._replace(raw=new.raw + _trailing_comments(old.raw))
        return self._replace(fields=(*_without(name, above), new, *below))


def new_field(name: str, value: Writable, eol: str = "\n") -> Field:
    return Field(name, f"{name}: {write_value(value)}{eol}", len(name) + 1)


def split(text: str) -> tuple[Frontmatter, str]:
    """A file's frontmatter and the rest. A file without a closed block has none: all of it is the rest."""
    opening = _OPEN.match(text)
    if not opening:
        return Frontmatter(), text
    closing = _CLOSE.search(text, opening.end())
    if not closing or closing.group().startswith("<"):
        return Frontmatter(), text
    fields = tuple(_fields(text[opening.end() : closing.start()]))
    return Frontmatter(opening.group(), fields, closing.group()), text[closing.end() :]


def _fields(block: str) -> list[Field]:
    fields: list[Field] = []
    name, value_at, raw = "", 0, ""
    for line in _lines(block):
        match = _FIELD.match(line)
        if match is None:
            raw += line
            continue
        if raw:
            fields.append(Field(name, raw, value_at))
        name, value_at, raw = match.group(1).rstrip(" \t"), match.end(), line
        name = name[1:-1] if name.startswith(('"', "'")) else name
    if raw:
        fields.append(Field(name, raw, value_at))
    return fields


def _lines(block: str) -> list[str]:
    """Lines with their ends. Only a line feed ends a line here: Unicode's other separators are text."""
    parts = block.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _without(name: str, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields without those of this name, whose comments stay where they are."""
    left = (field if field.name != name else Field("", _trailing_comments(field.raw)) for field in fields)
    return tuple(field for field in left if field.raw)


def _trailing_comments(raw: str) -> str:
    """Comment and blank lines after a field's value: a person's, and not part of the value we replace."""
    lines = _lines(raw)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return "".join(lines[end:])
