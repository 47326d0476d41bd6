"""The wiki of CLI Agent Orchestrator (CAO): a note for each topic, with a header comment and dated entries.

    # testing-framework
    <!-- id: 3f2a | scope: project | type: feedback | tags: testing,pytest -->

    ## 2026-04-16T10:30:00Z
    Always use pytest.

Notes lie in CONTAINER/wiki/SCOPE/KEY.md, the container being `global` or one project's. Where the caller names no
scope, each note keeps its own: those of a session are left, and those of projects, too, if there are several projects.
"""

import re
from collections.abc import Sequence

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
from commonplace.model.times import STAMP

HEADER = lazy(r"^<!-- id: (?P<id>[0-9A-Za-z-]{1,64}) \|(?P<fields>[^\n]{0,2000}?)-->[ \t]*$", re.M)
_ENTRY = lazy(rf"^## ({STAMP})[ \t]*$", re.M | re.ASCII)
_SEE_ALSO = lazy(r"^##+ See[ -]Also[ \t]*$", re.M | re.I)
_RECORDED = lazy(rf"_Originally recorded: ({STAMP})_\n?", re.ASCII)
_PAGES = ("index", "readme")
AUTHOR = "cao"


def read(files: Sequence[SourceFile]) -> Harvest:
    items: list[Item] = []
    skipped: list[LeftItem] = []
    for file in files:
        item = None
        if stem(file.name).lower() in _PAGES:
            skipped.append(left(file.name, "index_page"))
        elif HEADER.search(file.text) is None:
            skipped.append(left(file.name, "other_file"))
        elif (item := _note(file)) is None:
            skipped.append(left(file.name, "empty"))
        else:
            items.append(item)
    return Harvest(tuple(items), tuple(skipped))


def in_own_scopes(found: Harvest) -> Harvest:
    """What is taken where the caller names no scope: each note for its own, if that can be told."""
    several = len({_container(item.place) for item in found.items if item.scope == "project"}) > 1
    items: list[Item] = []
    skipped = list(found.left)
    for item in found.items:
        if item.scope == "session":
            skipped.append(left(item.place, "session", "Name a scope to take it."))
        elif item.scope == "project" and several:
            skipped.append(left(item.place, "other_project", "Import its folder alone, in that project."))
        else:
            items.append(item)
    return Harvest(tuple(items), tuple(skipped))


def _note(file: SourceFile) -> Item | None:
    _, body = opened(file.text)
    header = HEADER.search(body)
    if header is None:
        return None
    fields = _fields(header.group("fields"))
    title = without_title(body[: header.start()])[0]
    text = body[header.end() :]
    ends = _SEE_ALSO.search(text)
    links = linked(text)
    if ends is not None:
        text = text[: ends.start()]
    statements = tuple(said for said in _statements(text) if said.text)
    if not statements:
        return None
    return Item(
        place=file.name,
        ident=header.group("id"),
        name=stem(file.name),
        statements=statements,
        type=memory_type(fields.get("type"), MemoryType.PROJECT),
        tags=fitting_tags(fields.get("tags", "").split(",")),
        links=links,
        names=tuple(dict.fromkeys(name for name in (title, stem(file.name)) if name)),
        scope=_scope(fields.get("scope", ""), file.name),
        author=AUTHOR,
    )


def _statements(text: str) -> list[Statement]:
    """The dated entries; what stands above the first, or in a text without any, is one without a date."""
    starts = list(_ENTRY.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    said = [Statement(text[: starts[0].start() if starts else len(text)].strip())]
    for match, end in zip(starts, ends, strict=False):
        body = text[match.end() : end].strip()
        first = _RECORDED.match(body)
        when = first.group(1) if first else match.group(1)
        said.append(Statement(body[first.end() :].strip() if first else body, moment(when)))
    return said


def _fields(text: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in text.split("|"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _scope(word: str, name: str) -> str | None:
    """The scope of ours; an agent's is of the folder below `agent`, which is its profile."""
    parts = name.split("/")
    if word == "agent":
        return f"agent:{parts[parts.index('agent') + 1]}" if "agent" in parts[:-2] else None
    return word if word in ("session", "project", "global") else None


def _container(name: str) -> str:
    """The folder that holds the wiki of one project."""
    parts = name.split("/")
    return parts[parts.index("wiki") - 1] if "wiki" in parts[1:] else ""
