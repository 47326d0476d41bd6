"""Notes of basic-memory: frontmatter with title, type, permalink and tags, and lines that mean something.

`- [category] text #tag (context)` is an observation: each becomes an entry of its own. `- relation [[Target]]` is a
relation: it becomes an entry, because it says something, and a link where the target is imported too. All other text is
the note's first entry.
"""

from collections.abc import Sequence

from commonplace.maintenance.importing.items import (
    Harvest,
    Item,
    ItemLink,
    SourceFile,
    Statement,
    fitting_tags,
    left,
    memory_type,
    moment,
    relation,
)
from commonplace.maintenance.importing.markdown import linked, opened, sections, stem, without_title
from commonplace.model.memory import MemoryType
from commonplace.model.patterns import lazy
from commonplace.model.results import LeftItem
from commonplace.text.frontmatter import Frontmatter

# Not the boxes of a list of tasks, and not a Markdown link.
_OBSERVATION = lazy(r"[ \t]*[-*][ \t]+\[(?![ xX-]\])([^\[\]\n]{1,80})\](?!\()[ \t]+(\S[^\n]*)")
_RELATION = lazy(r"[ \t]*[-*][ \t]+([^\[\]\n]{0,80}?)[ \t]*\[\[([^\[\]\n]{1,300})\]\][ \t]*([^\n]*)")
_TAG = lazy(r"(?<!\S)#([^\s#(),.;:]+)")
_FENCE = lazy(r"[ ]{0,3}(?:```|~~~)")
_OURS = ("observations", "relations")


class _Lines:
    """What the lines of a note say, sorted by what they are."""

    def __init__(self) -> None:
        self.prose: list[str] = []
        self.observations: list[Statement] = []
        self.relations: list[Statement] = []
        self.links: list[ItemLink] = []


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        item = _note(file)
        if item is None:
            skipped.append(left(file.name, "empty"))
        else:
            items.append(item)
    return Harvest(tuple(items), tuple(skipped))


def _note(file: SourceFile) -> Item | None:
    front, body = opened(file.text)
    heading, text = without_title(body)
    title = front.text("title") or heading or stem(file.name)
    when = _first_time(front, "modified", "updated", "date", "created")
    lines = _sorted_lines(text)
    prose = _without_empty_sections("\n".join(lines.prose))
    said = [Statement(prose)] if prose else []
    statements = tuple(
        one._replace(occurred=when) for one in dict.fromkeys([*said, *lines.observations, *lines.relations])
    )
    if not statements:
        return None
    permalink = front.text("permalink")
    tags = front.texts("tags")
    return Item(
        place=file.name,
        ident=permalink or file.name,
        name=title,
        statements=statements,
        type=memory_type(front.text("type"), MemoryType.REFERENCE),
        summary=front.text("description") or None,
        tags=fitting_tags(word for tag in tags for word in tag.split(",")),
        links=tuple(dict.fromkeys([*lines.links, *linked(prose)])),
        names=tuple(dict.fromkeys(name for name in (title, permalink, stem(file.name)) if name)),
    )


def _sorted_lines(text: str) -> _Lines:
    lines = _Lines()
    in_code = False
    for line in text.split("\n"):
        in_code ^= _FENCE.match(line) is not None
        observed = None if in_code else _OBSERVATION.fullmatch(line)
        related = None if in_code or observed else _RELATION.fullmatch(line)
        if observed is not None:
            category, said = observed.group(1).strip(), observed.group(2).rstrip()
            tags = fitting_tags([category, *_TAG.findall(said)])
            lines.observations.append(Statement(f"[{category}] {said}", tags=tags))
        elif related is not None:
            name, target = related.group(1).strip() or "relates_to", related.group(2).split("|")[0].strip()
            lines.relations.append(Statement(f"{name} {target} {related.group(3)}".strip()))
            lines.links.append(ItemLink(relation(name), target))
        else:
            lines.prose.append(line)
    return lines


def _without_empty_sections(text: str) -> str:
    """The text without the headings Observations and Relations, where nothing else stood below them."""
    found = sections(text)
    if not any(one.body.strip() for one in found):
        return ""
    kept = [one for one in found if one.body.strip() or (one.path and one.path[-1].lower() not in _OURS)]
    return "\n\n".join(f"{one.heading}\n\n{one.body}".strip("\n") for one in kept).strip()


def _first_time(front: Frontmatter, *names: str) -> str | None:
    return next((when for name in names if (when := moment(front.text(name)))), None)
