"""A memory folder with an index.md and a definition.md, as agents are told to keep one; also another Commonplace book.

Every other Markdown file is a note: its frontmatter may name title, type, tags, summary and dates. A note with entries,
as Commonplace writes them, is taken entry by entry. Who may be trusted is not for a file to say: claims of trust are
dropped.
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
from commonplace.maintenance.importing.markdown import linked, stem, without_title
from commonplace.model.memory import MemoryType, Status
from commonplace.model.results import LeftItem
from commonplace.text.notes import Note, parse

_PAGES = ("index", "definition", "readme")


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        parts = file.name.split("/")
        if stem(file.name).lower() in _PAGES or any(part.startswith("_") for part in parts):
            skipped.append(left(file.name, "index_page"))
            continue
        note = parse(file.text.replace("\r\n", "\n").encode("utf-8", "surrogateescape"))
        item = _item(file, note)
        if item is None:
            skipped.append(left(file.name, "empty"))
        elif note.meta.status is not Status.ACTIVE:
            skipped.append(left(file.name, "not_active"))
        else:
            items.append(item)
    return Harvest(tuple(items), tuple(skipped))


def _item(file: SourceFile, note: Note) -> Item | None:
    front = note.front
    title = front.text("title") or front.text("name") or without_title(note.lead)[0]
    statements = tuple(said for said in _statements(note) if said.text.strip())
    if not statements:
        return None
    summary = front.text("summary") or front.text("description")
    return Item(
        place=file.name,
        ident=file.name,
        name=stem(file.name),
        statements=statements,
        type=memory_type(front.text("type"), MemoryType.PROJECT),
        summary=summary.strip() or None,
        tags=fitting_tags(front.texts("tags")),
        links=tuple(
            dict.fromkeys(
                [
                    *(ItemLink(relation(link.rel), link.to) for link in note.meta.links if link.rel != "superseded_by"),
                    *(link for said in statements for link in linked(said.text)),
                ]
            )
        ),
        names=(title,) if title else (),
    )


def _statements(note: Note) -> list[Statement]:
    front = note.front
    written = moment(front.text("created")) or moment(front.text("date"))
    hand = note.hand_text.strip()
    said = [Statement(hand, moment(front.text("updated")) or written)] if hand and not note.blocks else []
    said += [Statement(hand, written)] if hand and note.blocks else []
    for block in note.blocks:
        entry = block.entry
        said.append(Statement(entry.text, moment(entry.occurred) or moment(entry.time), fitting_tags(entry.tags)))
    return said
