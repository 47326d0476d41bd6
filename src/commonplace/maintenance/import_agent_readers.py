"""Import readers for what coding agents write: instruction files, Claude Code's auto-memory, memory folders, CAO wikis.

`import_sources` calls them with the texts of a source, and each returns a `ReadResult`. docs/import.md says what each
format looks like.
"""

import re
from collections.abc import Iterator, Sequence

from commonplace.maintenance.import_records import (
    ImportItem,
    ItemLink,
    ReadResult,
    SourceFile,
    Statement,
    file_stem,
    find_links,
    parse_relation,
    parse_tags,
    parse_time,
    parse_type,
    read_each,
    skip,
    split_frontmatter,
    split_sections,
    split_title,
)
from commonplace.model.lazy import lazy
from commonplace.model.memory import MemoryType, Status
from commonplace.model.results import SkippedItem
from commonplace.model.times import STAMP
from commonplace.text.naming import SUMMARY_LENGTH, cut, make_summary
from commonplace.text.notes import Note, parse

# Instruction files


AGENTS_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md")
_BLOCK_BEGIN, _BLOCK_END = "<!-- commonplace:begin", "<!-- commonplace:end"


def read_agents_md(files: Sequence[SourceFile]) -> ReadResult:
    """Read CLAUDE.md, AGENTS.md and the like: each section below a heading becomes a memory, with its heading.

    `@file` lines are kept as text and no other file is read. The block that Commonplace writes itself is skipped.
    """
    return read_each(files, _read_agents_file)


def _read_agents_file(file: SourceFile) -> Iterator[ImportItem | SkippedItem]:
    _, body = split_frontmatter(file.text)
    text, blocks = remove_own_blocks(body)
    yield from [skip(file.name, "own_block")] * blocks
    items = _read_sections(file.name, text)
    if not items and not blocks:
        yield skip(file.name, "empty")
    yield from items


def mark_personal(result: ReadResult) -> ReadResult:
    """Return the items as the user's own and for all projects."""
    items = tuple(item._replace(type=MemoryType.USER, scope="global") for item in result.items)
    return result._replace(items=items)


def remove_own_blocks(text: str) -> tuple[str, int]:
    """Return the text without the blocks between Commonplace's marks, and how many there were.

    A mark without its other half starts no block: the text after it may be the user's.
    """
    kept: list[str] = []
    block: list[str] | None = None
    blocks = 0
    for line in text.split("\n"):
        if line.startswith(_BLOCK_BEGIN):
            kept += block or []
            block = []
        elif line.startswith(_BLOCK_END):
            blocks += block is not None
            block = None
        elif block is not None:
            block.append(line)
        else:
            kept.append(line)
    return "\n".join([*kept, *(block or [])]), blocks


def _read_sections(file_name: str, text: str) -> list[ImportItem]:
    """Return an item for each section that has text of its own."""
    items: list[ImportItem] = []
    counts: dict[str, int] = {}
    for section in split_sections(text):
        if not section.body.strip():
            continue
        path = " / ".join(section.path)
        counts[path] = counts.get(path, 0) + 1
        heading = section.path[-1] if section.path else file_name
        items.append(
            ImportItem(
                place=f"{file_name}, line {section.line}: {heading}" if section.path else file_name,
                ident=f"{file_name}#{path}" + (f" ({counts[path]})" if counts[path] > 1 else ""),
                # The title of the whole file says nothing about one of its sections.
                name=" ".join(section.path[1:] or section.path) or file_name.replace(".", " "),
                statements=(Statement(f"{section.heading}\n\n{section.body}".strip("\n")),),
                summary=cut(f"{heading}: {make_summary(section.body)}", SUMMARY_LENGTH) if section.path else None,
                links=find_links(section.body),
            )
        )
    return items


# Claude Code's auto-memory


CLAUDE_INDEX = "MEMORY.md"
_CLAUDE_AUTHOR = "claude-code"
_INDEX_LINE = lazy(r"\s*[-*+]\s+\[[^\]\n]*\]\(<?[^)\n]+\.md>?\).*")


def read_claude_code(files: Sequence[SourceFile]) -> ReadResult:
    """Read Claude Code's auto-memory: a folder with an index, MEMORY.md, and a file for each fact.

    A fact file has frontmatter with name, description and metadata.type (in older ones, type). Older versions wrote
    into MEMORY.md itself: text there that is not a link to a fact file is read by its sections.
    """
    return read_each(files, _read_claude_file)


def _read_claude_file(file: SourceFile) -> Iterator[ImportItem | SkippedItem]:
    if file_stem(file.name).lower() == "memory":
        items = _read_claude_index(file)
        if not items:
            yield skip(file.name, "index_page")
        yield from items
    else:
        yield _read_claude_fact(file) or skip(file.name, "empty")


def _read_claude_fact(file: SourceFile) -> ImportItem | None:
    front, body = split_frontmatter(file.text)
    value = front.get("metadata")
    metadata = value if isinstance(value, dict) else {}
    description = front.text("description").strip()
    text = body.strip() or description
    if not text:
        return None
    session = metadata.get("originSessionId") or front.text("originSessionId")
    occurred = parse_time(metadata.get("created")) or parse_time(front.text("created")) or file.modified
    return ImportItem(
        place=file.name,
        ident=file.name,
        name=file_stem(file.name),
        statements=(Statement(text, occurred),),
        type=parse_type(metadata.get("type") or front.text("type"), MemoryType.PROJECT),
        summary=description or None,
        tags=parse_tags(front.texts("tags")),
        links=find_links(body),
        names=tuple(name for name in (front.text("name"), split_title(body)[0]) if name),
        author=_CLAUDE_AUTHOR,
        session=session if isinstance(session, str) and session else None,
    )


def _read_claude_index(file: SourceFile) -> list[ImportItem]:
    _, body = split_frontmatter(file.text)
    prose = "\n".join(line for line in body.split("\n") if not _INDEX_LINE.fullmatch(line))
    return [
        item._replace(
            author=_CLAUDE_AUTHOR, statements=tuple(one._replace(occurred=file.modified) for one in item.statements)
        )
        for item in _read_sections(file.name, prose)
    ]


# A memory folder with an index and a definition; also another Commonplace book


_SCAFFOLD_PAGES = ("index", "definition", "readme")


def read_scaffold(files: Sequence[SourceFile]) -> ReadResult:
    """Read a folder with index.md and definition.md, as agents are told to keep one, or another Commonplace book.

    Every other Markdown file is a note, whose frontmatter may have title, type, tags, summary and dates. A note with
    entries, as Commonplace writes them, is read entry by entry. What a file claims about trust is dropped.
    """
    return read_each(files, _read_scaffold_note)


def _read_scaffold_note(file: SourceFile) -> Iterator[ImportItem | SkippedItem]:
    is_private = any(part.startswith("_") for part in file.name.split("/"))
    if is_private or file_stem(file.name).lower() in _SCAFFOLD_PAGES:
        yield skip(file.name, "index_page")
        return
    note = parse(file.text.replace("\r\n", "\n").encode("utf-8", "surrogateescape"))
    front = note.front
    statements = tuple(one for one in _read_entries(note) if one.text.strip())
    if not statements:
        yield skip(file.name, "empty")
        return
    if note.meta.status is not Status.ACTIVE:
        yield skip(file.name, "not_active")
        return
    title = front.text("title") or front.text("name") or split_title(note.lead)[0]
    summary = front.text("summary") or front.text("description")
    links = [ItemLink(parse_relation(link.rel), link.to) for link in note.meta.links if link.rel != "superseded_by"]
    links += [link for one in statements for link in find_links(one.text)]
    yield ImportItem(
        place=file.name,
        ident=file.name,
        name=file_stem(file.name),
        statements=statements,
        type=parse_type(front.text("type"), MemoryType.PROJECT),
        summary=summary.strip() or None,
        tags=parse_tags(front.texts("tags")),
        links=tuple(dict.fromkeys(links)),
        names=(title,) if title else (),
    )


def _read_entries(note: Note) -> list[Statement]:
    """Return the text above the entries, and each entry."""
    front = note.front
    created = parse_time(front.text("created")) or parse_time(front.text("date"))
    updated = None if note.blocks else parse_time(front.text("updated"))  # with entries, it is the time of the last one
    text = note.hand_text.strip()
    statements = [Statement(text, updated or created)] if text else []
    for block in note.blocks:
        entry = block.entry
        occurred = parse_time(entry.occurred) or parse_time(entry.time)
        statements.append(Statement(entry.text, occurred, parse_tags(entry.tags)))
    return statements


# The wiki of CLI Agent Orchestrator (CAO)


CAO_HEADER = lazy(r"^<!-- id: (?P<id>[0-9A-Za-z-]{1,64}) \|(?P<fields>[^\n]{0,2000}?)-->[ \t]*$", re.M)
_CAO_ENTRY = lazy(rf"^## ({STAMP})[ \t]*$", re.M | re.ASCII)
_CAO_SEE_ALSO = lazy(r"^##+ See[ -]Also[ \t]*$", re.M | re.I)
_CAO_RECORDED = lazy(rf"_Originally recorded: ({STAMP})_\n?", re.ASCII)
_CAO_PAGES = ("index", "readme")


def read_cao_wiki(files: Sequence[SourceFile]) -> ReadResult:
    """Read a CAO wiki: a note for each topic, at CONTAINER/wiki/SCOPE/KEY.md, with a header comment and dated entries.

        # testing-framework
        <!-- id: 3f2a | scope: project | type: feedback | tags: testing,pytest -->

        ## 2026-04-16T10:30:00Z
        Always use pytest.

    The container is `global` or one project's.
    """
    return read_each(files, _read_cao_note)


def keep_own_scopes(result: ReadResult) -> ReadResult:
    """Return the CAO notes that can go to the scope each one names, for an import without a scope.

    Notes of a session are skipped, and notes of projects, too, if there are several projects.
    """
    projects = {_find_cao_container(item.place) for item in result.items if item.scope == "project"}
    items: list[ImportItem] = []
    skipped = list(result.skipped)
    for item in result.items:
        if item.scope == "session":
            skipped.append(skip(item.place, "session", "Name a scope to import it."))
        elif item.scope == "project" and len(projects) > 1:
            skipped.append(skip(item.place, "other_project", "Import its folder alone, in that project."))
        else:
            items.append(item)
    return ReadResult(tuple(items), tuple(skipped))


def _read_cao_note(file: SourceFile) -> Iterator[ImportItem | SkippedItem]:
    stem = file_stem(file.name)
    if stem.lower() in _CAO_PAGES:
        yield skip(file.name, "index_page")
        return
    if CAO_HEADER.search(file.text) is None:
        yield skip(file.name, "other_file")
        return
    _, body = split_frontmatter(file.text)
    header = CAO_HEADER.search(body)
    text = body[header.end() :] if header is not None else ""
    see_also = _CAO_SEE_ALSO.search(text)
    statements = tuple(one for one in _read_cao_entries(text[: see_also.start()] if see_also else text) if one.text)
    if header is None or not statements:
        yield skip(file.name, "empty")
        return
    pairs = (part.partition(":") for part in header.group("fields").split("|"))
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    title = split_title(body[: header.start()])[0]
    yield ImportItem(
        place=file.name,
        ident=header.group("id"),
        name=stem,
        statements=statements,
        type=parse_type(fields.get("type"), MemoryType.PROJECT),
        tags=parse_tags(fields.get("tags", "").split(",")),
        links=find_links(text),
        names=tuple(dict.fromkeys(name for name in (title, stem) if name)),
        scope=_find_cao_scope(fields.get("scope", ""), file.name),
        author="cao",
    )


def _read_cao_entries(text: str) -> list[Statement]:
    """Return the dated entries, after the text above the first one, which has no date."""
    entries = list(_CAO_ENTRY.finditer(text))
    ends = [match.start() for match in entries[1:]] + [len(text)]
    statements = [Statement(text[: entries[0].start() if entries else len(text)].strip())]
    for entry, end in zip(entries, ends, strict=False):
        body = text[entry.end() : end].strip()
        recorded = _CAO_RECORDED.match(body)
        if recorded is not None:
            body = body[recorded.end() :].strip()
        statements.append(Statement(body, parse_time((recorded or entry).group(1))))
    return statements


def _find_cao_scope(word: str, name: str) -> str | None:
    """Return the scope of a note; an agent's profile is the folder below `agent`."""
    parts = name.split("/")
    if word == "agent":
        return f"agent:{parts[parts.index('agent') + 1]}" if "agent" in parts[:-2] else None
    return word if word in ("session", "project", "global") else None


def _find_cao_container(name: str) -> str:
    """Return the name of the folder that holds the wiki of one project."""
    parts = name.split("/")
    return parts[parts.index("wiki") - 1] if "wiki" in parts[1:] else ""
