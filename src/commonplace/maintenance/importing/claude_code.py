"""Claude Code's auto-memory: a folder with MEMORY.md, which is an index, and a file for each fact.

A fact file has frontmatter with name, description and metadata.type (in older ones, type). Older versions wrote into
MEMORY.md itself: what stands there beside links to fact files is taken by its sections.
"""

from collections.abc import Sequence

from commonplace.maintenance.importing.agents_md import section_items
from commonplace.maintenance.importing.items import (
    Harvest,
    Item,
    SourceFile,
    Statement,
    fitting_tags,
    left,
    memory_type,
    moment,
)
from commonplace.maintenance.importing.markdown import linked, opened, stem, without_title
from commonplace.model.memory import MemoryType
from commonplace.model.patterns import lazy
from commonplace.model.results import LeftItem

INDEX = "MEMORY.md"
AUTHOR = "claude-code"
_INDEX_LINE = lazy(r"\s*[-*+]\s+\[[^\]\n]*\]\(<?[^)\n]+\.md>?\).*")


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        if stem(file.name).lower() == "memory":
            found = _index_items(file)
            items += found
            if not found:
                skipped.append(left(file.name, "index_page"))
            continue
        item = _fact(file)
        if item is None:
            skipped.append(left(file.name, "empty"))
        else:
            items.append(item)
    return Harvest(tuple(items), tuple(skipped))


def _fact(file: SourceFile) -> Item | None:
    front, body = opened(file.text)
    about = front.get("metadata")
    more = about if isinstance(about, dict) else {}
    description = front.text("description").strip()
    text = body.strip() or description
    if not text:
        return None
    session = more.get("originSessionId") or front.text("originSessionId")
    occurred = moment(more.get("created")) or moment(front.text("created")) or file.modified
    return Item(
        place=file.name,
        ident=file.name,
        name=stem(file.name),
        statements=(Statement(text, occurred),),
        type=memory_type(more.get("type") or front.text("type"), MemoryType.PROJECT),
        summary=description or None,
        tags=fitting_tags(front.texts("tags")),
        links=linked(body),
        names=tuple(name for name in (front.text("name"), without_title(body)[0]) if name),
        author=AUTHOR,
        session=session if isinstance(session, str) and session else None,
    )


def _index_items(file: SourceFile) -> list[Item]:
    _, body = opened(file.text)
    prose = "\n".join(line for line in body.split("\n") if not _INDEX_LINE.fullmatch(line))
    found = section_items(file.name, prose)
    return [
        item._replace(
            author=AUTHOR, statements=tuple(said._replace(occurred=file.modified) for said in item.statements)
        )
        for item in found
    ]
