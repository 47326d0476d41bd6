"""The formats that can be imported, and how a source is recognised as one of them.

A source is recognised by what is at its top (MEMORY.md, index.md with definition.md, CLAUDE.md) or by how its files
begin. One that looks like several formats, or like none, is refused with the list: a guess would scatter somebody's
notes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from commonplace.maintenance.importing import (
    agents_md,
    basic_memory,
    cao_wiki,
    claude_code,
    mcp_memory,
    mem0,
    scaffold,
)
from commonplace.maintenance.importing.files import Listed, Source, head_of
from commonplace.maintenance.importing.items import Harvest, SourceFile
from commonplace.maintenance.importing.json_records import first_objects
from commonplace.maintenance.importing.markdown import stem
from commonplace.model.errors import AmbiguousFormat, UnknownFormat
from commonplace.text.frontmatter import split

_LOOKED_AT = 200  # files whose beginning is read to recognise a folder


class Format(NamedTuple):
    name: str
    what: str
    wants: Callable[[str], bool]  # whether a file of this name is read
    read: Callable[[Sequence[SourceFile]], Harvest]
    is_store: bool = True  # whether a folder of this format holds nothing else: then other files are reported


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(".md")


def _is_json(name: str) -> bool:
    return name.lower().endswith((".json", ".jsonl", ".ndjson"))


def _is_agents_file(name: str) -> bool:
    return name in agents_md.NAMES


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("claude-code", "Claude Code's auto-memory folder", _is_markdown, claude_code.read),
        Format("agents-md", "CLAUDE.md or AGENTS.md", _is_agents_file, agents_md.read, is_store=False),
        Format("scaffold", "a folder with index.md and definition.md", _is_markdown, scaffold.read),
        Format("cao-wiki", "the wiki of CLI Agent Orchestrator", _is_markdown, cao_wiki.read),
        Format("basic-memory", "notes of basic-memory", _is_markdown, basic_memory.read),
        Format("mcp-memory", "memory.jsonl of the MCP reference server", _is_json, mcp_memory.read, is_store=False),
        Format("mem0", "memories of mem0 as JSON", _is_json, mem0.read, is_store=False),
    )
}
_LIST = f"The formats are: {', '.join(FORMATS)}."


def format_of(source: Source, given: str | None) -> Format:
    """The format that was named, else the one that the source looks like."""
    if given is not None:
        if given not in FORMATS:
            raise UnknownFormat(f"{given[:40]!a} is not a format.", hint=_LIST)
        return FORMATS[given]
    found = _in_folder(source.files) if source.is_folder else _of_file(source.files[0])
    if not found:
        raise UnknownFormat(hint=f"Name it with --from. {_LIST}")
    if len(found) > 1:
        names = [name for name in FORMATS if name in found]
        raise AmbiguousFormat(
            f"The source looks like {' and '.join(names)}.", hint=f"Name the one you mean with --from. {_LIST}"
        )
    return FORMATS[found.pop()]


def _in_folder(files: Sequence[Listed]) -> set[str]:
    top = {file.name for file in files if "/" not in file.name}
    names = {file.name for file in files}
    found = {"agents-md"} if top & set(agents_md.NAMES) else set()
    if claude_code.INDEX in top:
        return found | {"claude-code"}
    if "index.md" in top and names & {"definition.md", "system/definition.md"}:
        return found | {"scaffold"}
    texts = [file for file in files if _is_markdown(file.name)][:_LOOKED_AT]
    data = [file for file in files if _is_json(file.name) and "/" not in file.name][:_LOOKED_AT]
    if found:  # a repository: only what is made for it at the top counts, not whatever notes are somewhere in it
        return found
    return {name for file in (*texts, *data) for name in _of_file(file)} - {"agents-md", "claude-code"}


def _of_file(file: Listed) -> set[str]:
    """What one file looks like, by its name and how it begins."""
    if _is_agents_file(file.name):
        return {"agents-md"}
    head = head_of(file)
    if _is_json(file.name):
        objects = first_objects(head)
        looks = (("mcp-memory", mcp_memory.looks_like), ("mem0", mem0.looks_like))
        return {name for name, is_one in looks if any(map(is_one, objects))}
    if not _is_markdown(file.name):
        return set()
    if cao_wiki.HEADER.search(head):
        return {"cao-wiki"}
    front, _ = split(head)
    if front.text("permalink"):
        return {"basic-memory"}
    if stem(file.name).lower() == "memory" or (front.text("name") and front.text("description")):
        return {"claude-code"}
    return set()
