"""Import readers for Markdown: instruction files, Claude Code's auto-memory, memory folders, CAO wikis, basic-memory.

`import_sources` calls them with the texts of a source, and each yields items and skipped items. docs/import.md says
what each format looks like.
"""

import re
from collections.abc import Iterator, Sequence

from commonplace.maintenance.import_records import (
    ImportItem,
    SourceFile,
    Statement,
    file_stem,
    find_links,
    parse_relation,
    parse_tags,
    parse_time,
    parse_type,
    skip,
    split_frontmatter,
    split_sections,
    split_title,
)
from commonplace.model.lazy import lazy
from commonplace.model.memory import Link, MemoryType, Status
from commonplace.model.results import SkippedItem
from commonplace.model.scope import ScopeKind
from commonplace.model.times import STAMP
from commonplace.text.naming import SUMMARY_LENGTH, cut, make_summary
from commonplace.text.notes import Note, parse

# Instruction files


AGENTS_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md")
_OWN_BLOCK = lazy(
    r"^<!-- commonplace:begin[^\n]*\n(?:(?!<!-- commonplace:begin)[^\n]*\n)*?<!-- commonplace:end[^\n]*\n", re.M
)
_OWN_MARK = lazy(r"^<!-- commonplace:(?:begin|end)[^\n]*\n", re.M)


def read_agents_md(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read CLAUDE.md, AGENTS.md and the like: each section below a heading becomes a memory, with its heading.

    `@file` lines are kept as text and no other file is read. The block that Commonplace writes itself is skipped.
    """
    for file in files:
        _, body = split_frontmatter(file.text)
        text, blocks = remove_own_blocks(body)
        yield from [skip(file.name, "own_block")] * blocks
        items = _read_sections(file, text)
        if not items and not blocks:
            yield skip(file.name, "empty")
        yield from items


def remove_own_blocks(text: str) -> tuple[str, int]:
    """Return the text without the blocks between Commonplace's marks, and how many there were.

    A mark without its other half starts no block: the text after it may be the user's.
    """
    rest, blocks = _OWN_BLOCK.subn("", f"{text}\n")
    return _OWN_MARK.sub("", rest)[:-1], blocks


def _read_sections(file: SourceFile, text: str, author: str | None = None) -> list[ImportItem]:
    """Return an item for each section of a file's text that has text of its own; dated only where it has an author."""
    file_name = file.name
    occurred = file.modified if author else None
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
                statements=(Statement(f"{section.heading}\n\n{section.body}".strip("\n"), occurred),),
                summary=cut(f"{heading}: {make_summary(section.body)}", SUMMARY_LENGTH) if section.path else None,
                links=find_links(section.body),
                author=author,
            )
        )
    return items


# Claude Code's auto-memory


CLAUDE_INDEX = "MEMORY.md"
_CLAUDE_AUTHOR = "claude-code"
_INDEX_LINE = lazy(r"\s*[-*+]\s+\[[^\]\n]*\]\(<?[^)\n]+\.md>?\).*")


def read_claude_code(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read Claude Code's auto-memory: a folder with an index, MEMORY.md, and a file for each fact.

    A fact file has frontmatter with name, description and metadata.type (in older ones, type). Older versions wrote
    into MEMORY.md itself: text there that is not a link to a fact file is read by its sections.
    """
    for file in files:
        if file_stem(file.name).lower() == "memory":
            lines = split_frontmatter(file.text)[1].split("\n")
            prose = "\n".join(line for line in lines if not _INDEX_LINE.fullmatch(line))
            items = _read_sections(file, prose, _CLAUDE_AUTHOR)
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
        names=tuple(filter(None, (front.text("name"), split_title(body)[0]))),
        author=_CLAUDE_AUTHOR,
        session=session if isinstance(session, str) and session else None,
    )


# A memory folder with an index and a definition; also another Commonplace book


_WITH_ID = (ScopeKind.SESSION, ScopeKind.AGENT, ScopeKind.PROJECT)
_SCAFFOLD_PAGES = ("index", "definition", "readme")


def read_scaffold(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read a folder with index.md and definition.md, as agents are told to keep one, or another Commonplace book.

    Every other Markdown file is a note, at the key that its path gives; of another book, below the folder of its scope.
    Its frontmatter may have title, type, tags, summary and dates. A note with entries, as Commonplace writes them, is
    read entry by entry. What a file claims about trust is dropped. Files in `data/` are no notes: they are copied.
    """
    for file in files:
        is_private = any(part.startswith("_") for part in file.name.split("/"))
        if is_private or file_stem(file.name).lower() in _SCAFFOLD_PAGES:
            yield skip(file.name, "index_page")
            continue
        note = parse(file.text.encode("utf-8", "surrogateescape"))
        front = note.front
        statements = tuple(one for one in _read_entries(note) if one.text.strip())
        if not statements:
            yield skip(file.name, "empty")
            continue
        if note.meta.status is not Status.ACTIVE:
            yield skip(file.name, "not_active")
            continue
        title = front.text("title") or front.text("name") or split_title(note.lead)[0]
        summary = front.text("summary") or front.text("description")
        links = [Link(parse_relation(link.rel), link.to) for link in note.meta.links if link.rel != "superseded_by"]
        links += [link for one in statements for link in find_links(one.text)]
        yield ImportItem(
            place=file.name,
            ident=file.name,
            name=file_stem(file.name),
            statements=statements,
            type=parse_type(front.text("type"), MemoryType.PROJECT),
            summary=summary.strip() or None,
            tags=parse_tags(front.texts("tags")),
            links=links,
            names=(title,) if title else (),
            folders=_find_folders(file.name),
        )


def _find_folders(name: str) -> Sequence[str]:
    """Return the folders of a note: of one in another book, those below the folder of its scope."""
    folders = name.split("/")[:-1]
    if folders[:1] == ["memories"] and folders[1:2] and folders[1] in tuple(ScopeKind):
        return folders[3 if folders[1] in _WITH_ID else 2 :]
    return folders


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


def read_cao_wiki(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read a CAO wiki: a note for each topic, at CONTAINER/wiki/SCOPE/KEY.md, with a header comment and dated entries.

        # testing-framework
        <!-- id: 3f2a | scope: project | type: feedback | tags: testing,pytest -->

        ## 2026-04-16T10:30:00Z
        Always use pytest.

    The container is `global` or one project's.
    """
    for file in files:
        stem = file_stem(file.name)
        if stem.lower() in _CAO_PAGES:
            yield skip(file.name, "index_page")
            continue
        if CAO_HEADER.search(file.text) is None:
            yield skip(file.name, "other_file")
            continue
        _, body = split_frontmatter(file.text)
        header = CAO_HEADER.search(body)
        text = body[header.end() :] if header else ""
        see_also = _CAO_SEE_ALSO.search(text)
        statements = tuple(one for one in _read_cao_entries(text[: see_also.start()] if see_also else text) if one.text)
        if header is None or not statements:
            yield skip(file.name, "empty")
            continue
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
            names=tuple(filter(None, (title, stem))),
            scope=_find_cao_scope(fields.get("scope", ""), file.name),
            author="cao",
        )


def keep_own_scopes(items: Sequence[ImportItem]) -> Iterator[ImportItem | SkippedItem]:
    """Yield the CAO notes that can go to the scope each one names, for an import without a scope.

    Notes of a session are skipped, and notes of projects, too, if there are several projects.
    """
    projects = set()
    for item in items:
        parts = item.place.split("/")
        if item.scope == "project":  # its wiki is in the folder of its project
            projects.add(parts[parts.index("wiki") - 1] if "wiki" in parts[1:] else "")
    for item in items:
        if item.scope == "session":
            yield skip(item.place, "session", "Name a scope to import it.")
        elif item.scope == "project" and len(projects) > 1:
            yield skip(item.place, "other_project", "Import its folder alone, in that project.")
        else:
            yield item


def _read_cao_entries(text: str) -> list[Statement]:
    """Return the dated entries, after the text above the first one, which has no date."""
    lead, *parts = _CAO_ENTRY.split(text)
    statements = [Statement(lead.strip())]
    for time, part in zip(parts[::2], parts[1::2], strict=True):
        body = part.strip()
        recorded = _CAO_RECORDED.match(body)
        if recorded:
            body = body[recorded.end() :].strip()
        statements.append(Statement(body, parse_time(recorded.group(1) if recorded else time)))
    return statements


def _find_cao_scope(word: str, name: str) -> str | None:
    """Return the scope of a note; an agent's profile is the folder below `agent`."""
    parts = name.split("/")
    if word == "agent":
        return f"agent:{parts[parts.index('agent') + 1]}" if "agent" in parts[:-2] else None
    return word if word in ("session", "project", "global") else None


# basic-memory


# Neither the box of a task list nor a Markdown link is an observation.
_OBSERVATION = lazy(r"[ \t]*[-*][ \t]+\[(?![ xX-]\])([^\[\]\n]{1,80})\](?!\()[ \t]+(\S[^\n]*)")
_RELATION = lazy(r"[ \t]*[-*][ \t]+([^\[\]\n]{0,80}?)[ \t]*\[\[([^\[\]\n]{1,300})\]\][ \t]*([^\n]*)")
_TAG = lazy(r"(?<!\S)#([^\s#(),.;:]+)")
_FENCE = lazy(r"[ ]{0,3}(?:```|~~~)")
_EMPTIED_HEADINGS = ("observations", "relations")  # what is below them becomes entries


def read_basic_memory(files: Sequence[SourceFile]) -> Iterator[ImportItem | SkippedItem]:
    """Read notes of basic-memory: frontmatter with title, type, permalink and tags, and lines with a meaning.

    `- [category] text #tag (context)` is an observation and becomes an entry. `- relation [[Target]]` becomes an entry,
    too, and a link where the target is imported. All other text is the first entry of the note.
    """
    for file in files:
        front, body = split_frontmatter(file.text)
        heading, text = split_title(body)
        title = front.text("title") or heading or file_stem(file.name)
        times = (parse_time(front.text(name)) for name in ("modified", "updated", "date", "created"))
        occurred = next(filter(None, times), None)
        lines, observations, relations, links = _sort_lines(text)
        prose = _drop_emptied_sections("\n".join(lines))
        statements = [*([Statement(prose)] if prose else ()), *observations, *relations]
        if not statements:
            yield skip(file.name, "empty")
            continue
        permalink = front.text("permalink")
        yield ImportItem(
            place=file.name,
            ident=permalink or file.name,
            name=title,
            statements=tuple(one._replace(occurred=occurred) for one in dict.fromkeys(statements)),
            type=parse_type(front.text("type"), MemoryType.REFERENCE),
            summary=front.text("description") or None,
            tags=parse_tags(word for tag in front.texts("tags") for word in tag.split(",")),
            links=[*links, *find_links(prose)],
            names=tuple(filter(None, (title, permalink, file_stem(file.name)))),
        )


def _sort_lines(text: str) -> tuple[list[str], list[Statement], list[Statement], list[Link]]:
    """Return the lines of prose, the observations, the relations, and the links that these make."""
    prose: list[str] = []
    observations: list[Statement] = []
    relations: list[Statement] = []
    links: list[Link] = []
    in_code = False
    for line in text.split("\n"):
        in_code ^= _FENCE.match(line) is not None
        observation = None if in_code else _OBSERVATION.fullmatch(line)
        relation = None if in_code or observation else _RELATION.fullmatch(line)
        if observation:
            category, words = observation.group(1).strip(), observation.group(2).rstrip()
            tags = parse_tags([category, *_TAG.findall(words)])
            observations.append(Statement(f"[{category}] {words}", tags=tags))
        elif relation:
            name, target = relation.group(1).strip() or "relates_to", relation.group(2).split("|")[0].strip()
            relations.append(Statement(f"{name} {target} {relation.group(3)}".strip()))
            links.append(Link(parse_relation(name), target))
        else:
            prose.append(line)
    return prose, observations, relations, links


def _drop_emptied_sections(text: str) -> str:
    """Return the text without the headings Observations and Relations where nothing else was below them."""
    sections = split_sections(text)
    if not any(one.body.strip() for one in sections):
        return ""
    kept = [one for one in sections if one.body.strip() or (one.path and one.path[-1].lower() not in _EMPTIED_HEADINGS)]
    return "\n\n".join(f"{one.heading}\n\n{one.body}".strip("\n") for one in kept).strip()
