"""CLAUDE.md, AGENTS.md and their kin: instructions to agents. Each section below a heading becomes a memory.

The text is kept with its heading. `@file` lines are kept as they are and lead nowhere: no other file is read. The block
that Commonplace itself keeps in such a file is left out.
"""

from collections.abc import Sequence

from commonplace.maintenance.importing.items import Harvest, Item, SourceFile, Statement, left
from commonplace.maintenance.importing.markdown import linked, opened, sections
from commonplace.model.memory import MemoryType
from commonplace.model.results import LeftItem
from commonplace.text.naming import SUMMARY_LENGTH, cut, make_summary

NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md")
_BEGIN, _END = "<!-- commonplace:begin", "<!-- commonplace:end"


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        _, body = opened(file.text)
        text, blocks = without_own_blocks(body)
        skipped += [left(file.name, "own_block")] * blocks
        found = section_items(file.name, text)
        if not found and not blocks:
            skipped.append(left(file.name, "empty"))
        items += found
    return Harvest(tuple(items), tuple(skipped))


def personal(found: Harvest) -> Harvest:
    """The same from a file that is the user's own and for all projects."""
    return found._replace(items=tuple(item._replace(type=MemoryType.USER, scope="global") for item in found.items))


def section_items(name: str, text: str) -> list[Item]:
    """An item for each section that says something of its own."""
    items: list[Item] = []
    seen: dict[str, int] = {}
    for section in sections(text):
        if not section.body.strip():
            continue
        path = " / ".join(section.path)
        seen[path] = seen.get(path, 0) + 1
        ident = f"{name}#{path}" + (f" ({seen[path]})" if seen[path] > 1 else "")
        heading = section.path[-1] if section.path else name
        said = make_summary(section.body)
        items.append(
            Item(
                place=f"{name}, line {section.line}: {heading}" if section.path else name,
                ident=ident,
                # The title of the whole file tells nothing about one of its sections.
                name=" ".join(section.path[1:] if section.path[1:] else section.path) or name.replace(".", " "),
                statements=(Statement(f"{section.heading}\n\n{section.body}".strip("\n")),),
                summary=cut(f"{heading}: {said}", SUMMARY_LENGTH) if section.path else None,
                links=linked(section.body),
            )
        )
    return items


def without_own_blocks(text: str) -> tuple[str, int]:
    """The text without what stands between marks of ours, and how many such blocks there were. A mark that has lost
    its other half is no block: what follows it may be the user's."""
    kept: list[str] = []
    block: list[str] | None = None
    blocks = 0
    for line in text.split("\n"):
        if line.startswith(_BEGIN):
            kept += block or []
            block = []
        elif line.startswith(_END):
            blocks += block is not None
            block = None
        elif block is not None:
            block.append(line)
        else:
            kept.append(line)
    return "\n".join([*kept, *(block or [])]), blocks
