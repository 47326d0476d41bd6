"""Parts of a Markdown text that readers share: frontmatter, sections below headings, links to other files."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from commonplace.maintenance.importing.items import ItemLink
from commonplace.model.memory import Relation
from commonplace.model.patterns import lazy
from commonplace.text.frontmatter import Frontmatter, split
from commonplace.text.links import wikilinks
from commonplace.text.naming import one_line

_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})(.*)")
_FILE_LINK = lazy(r"\[[^\[\]\n]{0,300}\]\(<?([^()<>\s#]{1,300}\.md)(?:#[^()<>\s]{0,300})?>?\)", re.I)


class Section(NamedTuple):
    """A heading and what stands below it, up to the next heading of any level."""

    path: tuple[str, ...]  # the headings above it and its own; empty for what stands above the first
    level: int
    heading: str  # its line, as it stands
    body: str
    line: int


def opened(text: str) -> tuple[Frontmatter, str]:
    """The frontmatter and the rest, with one kind of line end."""
    return split(text.replace("\r\n", "\n"))


def sections(text: str) -> list[Section]:
    """A text cut at its headings; what looks like one inside a block of code is none."""
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    level, heading, start, body = 0, "", 1, list[str]()
    for number, line, match in _lines(text):
        if match is None:
            body.append(line)
            continue
        found.append(Section(tuple(name for _, name in above), level, heading, "\n".join(body).strip("\n"), start))
        level, heading, start, body = len(match.group(1)), line, number, []
        above = [*(item for item in above if item[0] < level), (level, one_line(match.group(2) or ""))]
    found.append(Section(tuple(name for _, name in above), level, heading, "\n".join(body).strip("\n"), start))
    return found


def _lines(text: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Each line with its number, and the heading that it is, if it is one."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.fullmatch(line)
        if fence:
            closes = mark is not None and mark.group(1).startswith(fence) and not mark.group(2).strip()
            fence = "" if closes else fence
            yield number, line, None
        elif mark is not None:
            fence = mark.group(1)
            yield number, line, None
        else:
            yield number, line, _HEADING.fullmatch(line)


def without_title(body: str) -> tuple[str, str]:
    """The title of a note, if it starts with one, and the text below it."""
    text = body.strip("\n")
    first, _, rest = text.partition("\n")
    match = _HEADING.fullmatch(first)
    if match is None or len(match.group(1)) != 1:
        return "", text
    return one_line(match.group(2) or ""), rest.strip("\n")


def linked(text: str) -> tuple[ItemLink, ...]:
    """Links to other notes: [[name]], and [text](file.md) by the file's name."""
    targets = [*wikilinks(text), *(stem(match.group(1)) for match in _FILE_LINK.finditer(text))]
    return tuple(ItemLink(Relation.RELATES_TO.value, target) for target in dict.fromkeys(targets))


def stem(path: str) -> str:
    """The name of a file without its folders and its `.md`."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name
