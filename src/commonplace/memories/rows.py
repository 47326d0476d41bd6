"""From a note to its row in the index and its line on index pages; and the texts of pages.

`unit`, `reconcile` and `context` make rows here: every column can be read back from the file. `pages` decides which
lines stand where. Parent pages list folders and rounded counts only, and may lag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from commonplace.index.values import Counts, PageLine, Row
from commonplace.model.lazy import lazy
from commonplace.model.memory import PIN_PROPOSED, Entry, Link, Relation, Status, Trust, mark_external
from commonplace.model.names import show_topic, sort_name, sort_topic
from commonplace.model.scope import ScopeKind
from commonplace.text.frontmatter import drop_stray_marks, escape_comments, get_region, put_region
from commonplace.text.naming import cut, make_summary, one_line, quote
from commonplace.text.notes import Note
from commonplace.vault.paths import INDEX_PAGE, JOURNAL, MEMORIES, ROOT, TREE, BookPath
from commonplace.vault.port import ABSENT, ANY, Change, VaultHandle, Write
from commonplace.vault.scope_pages import read_scope_page

EntriesOf = Callable[[Note], Sequence[Entry]]
"""Returns what a note says, each entry with the trust that it has here."""
Nouns = tuple[str, str]
"""The words for one thing, and for several."""
_JOURNAL_NOUNS = ("note", "notes")
_LINE = lazy(r"^- \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)[^\n]*\n", re.M)
_GENERATED = lazy(  # a line that we write on a page
    r"- \[[^\n]*\]\([^()\s]*\)|- `|## (?:Pinned|Newest|Just added|By topic|By name|Memories|Notes|Folders)\r?$"
    r"|[\d,]+ (?:memory|memories|note|notes)\b|Tags: |and [\d,]+ more\.\r?$",
    re.M,
)
ROOT_TITLE = "Commonplace"
_MOST_LOOKED_AT = 20
_PAGE_SUMMARY = 300  # a person may write a summary of any length; a page shows one line of it


def split_path(path: BookPath) -> tuple[str, str]:
    """Return a note's path as the index names it: folder, and name without .md."""
    *folders, name = path.parts
    return "/" + "/".join(folders), name.removesuffix(".md")


def split_key(place: str, key: str) -> tuple[str, str]:
    """Return where the index has the note of a key: `place` is the scope's folder, as the index names it."""
    above, _, name = key.rpartition("/")
    return f"{place}/{above}" if above else place, name


def key_of(scope_folder: BookPath, path: BookPath) -> str:
    """Return the key of a note in a scope."""
    return "/".join(path.parts[len(scope_folder.parts) :]).removesuffix(".md")


def row_of(
    path: BookPath, note: Note, revision: str, old: Row | None = None, entries_of: EntriesOf | None = None
) -> Row:
    """Return the row of a note; `old` is its row so far.

    Without `entries_of` the note counts as written here, as those of a journal are.
    """
    folder, name = split_path(path)
    meta, newest = note.meta, note.newest
    summary, status = _choose_summary(meta.summary, newest), meta.status.value
    summed_up = find_summed_up(note, summary)
    outside = entries_of is not None and path.top == MEMORIES.top and _is_outside(note, summed_up, entries_of)
    outside = outside or path.top == TREE.top
    newest_id = _printable(newest.id) if newest is not None else ""
    ident, tags = _printable(meta.id), tuple(dict.fromkeys(map(_printable, meta.tags)))
    proposed_links = len(meta.waiting_links) + (meta.pin == PIN_PROPOSED)
    line = note_line(name, mark_external(summary) if outside else summary)
    sort = f"{sort_topic(tags[0]) if tags else ''}{sort_name(name)}"
    created, updated = note.dates
    return Row(
        folder=folder,
        name=name,
        sort=sort,
        id=ident,
        type=meta.type.value,
        status=status,
        summary=summary,
        tags=tags,
        pinned=meta.pinned,
        created=created,
        updated=updated,
        revision=revision,
        line=line,
        filed=old is not None and old.filed and (old.line, old.status, old.sort) == (line, status, sort),
        proposed_links=proposed_links,
        given=summed_up is None,
        outside=outside,
        newest=newest_id,
        linked=tuple(_describe_judged_links(path, meta.links)),
    )


def name_link_target(kind: str, to: str) -> str:
    """Return where a link of a memory in a scope of this kind leads, as SCOPE/KEY: it may be written in two ways. A
    link to a scope that is not the reader's is a path, and stays one."""
    named, slash, _ = to.partition("/")
    return to if slash and named in ("", *ScopeKind) else f"{kind}/{to}"


def _describe_judged_links(path: BookPath, links: Sequence[Link]) -> Iterator[str]:
    """Yield what accepted and rejected links say of contradictions, as a row has it.

    Of a `contradicts` that was rejected, as of a `relates_to`, both memories hold.
    """
    for link in links:
        is_active, contradicts = link.status == Status.ACTIVE, link.rel == Relation.CONTRADICTS
        if (is_active and link.rel == Relation.RELATES_TO) or (
            contradicts and link.status in (Status.ACTIVE, "rejected")
        ):
            rel = Relation.CONTRADICTS if contradicts and is_active else Relation.RELATES_TO
            yield _printable(f"{rel} {name_link_target(path.parts[1], link.to)}")


def _is_outside(note: Note, summed_up: int | None, entries_of: EntriesOf) -> bool:
    """Return whether the entry that a note's summary is made from came from outside; for a given one, the first entry.
    Only that one is read: a note may have thousands."""
    if len(note.blocks) > 1:
        place = summed_up or 0
        note = note.replace(blocks=note.blocks[place : place + 1])
    entries = entries_of(note)
    return bool(entries) and entries[0 if summed_up is None else -1].trust is Trust.EXTERNAL


def find_summed_up(note: Note, summary: str) -> int | None:
    """Return the place of the entry that a summary is made from, the newest that begins with it; None for a summary
    that says something else. Of many entries, the first and the last few are looked at."""
    blocks = note.blocks
    if not blocks:
        newest = note.newest
        return 0 if _sums_up(summary, newest.text if newest is not None else "") else None
    places = dict.fromkeys((*range(len(blocks) - 1, max(len(blocks) - _MOST_LOOKED_AT, 0) - 1, -1), 0))
    return next((place for place in places if _sums_up(summary, blocks[place].entry.text)), None)


def _printable(text: str) -> str:
    return text if text.isprintable() else one_line(text)


def _choose_summary(given: str, newest: Entry | None) -> str:
    """Return the summary that a page shows: as given, or made from the newest entry."""
    if given:
        return given if given.isprintable() and len(given) <= _PAGE_SUMMARY else cut(one_line(given), _PAGE_SUMMARY)
    return make_summary(newest.text) if newest is not None else ""


def _sums_up(summary: str, text: str) -> bool:
    """Return whether a summary says no more than the beginning of a text."""
    return text.startswith(summary.removesuffix("…").rstrip()) or make_summary(text) == summary


def change_page(path: BookPath, page: str | None, title: str, lines: str, was: str | None = None) -> list[Change]:
    """Return the change, if any, that puts our lines on a page; `page` is its text, None for one that is not there.

    `was` is the text of the file, where that is another one.
    """
    text = drop_stray_marks(page, _is_generated) if page is not None else f"# {title}\n\n"
    new = put_region(text, lines)
    if new == (page if was is None else was):
        return []
    return [Write(path, new.encode("utf-8", "surrogateescape"), ABSENT if page is None else ANY)]


def _is_generated(line: str) -> bool:
    return _GENERATED.match(line) is not None


def note_line(name: str, summary: str) -> str:
    """Return the line of a memory on the page of its own folder."""
    link = f"- [{_label(name)}]({_target(name)}.md)"
    return f"{link}: {escape_comments(summary)}\n" if summary else f"{link}\n"


def part_line(prefix: str, name: str, up: str = "") -> str:
    """Return the line that links to a sub-page; `up` is the way to its folder."""
    return f"- [{escape_comments(_label(part_label(prefix)))}]({up}{_target(name)})\n"


def part_label(prefix: str) -> str:
    """Return what a sub-page has: a topic, or what its names or topics start with."""
    topic, _, name = prefix[1:].partition("@") if prefix.startswith("@") else ("", "", prefix)
    if not topic:
        return f"{name}…"
    if name:
        return f"{show_topic(topic)}: {name}…"
    return show_topic(topic) + ("" if prefix.endswith("@") else "…")


def note_lines(rows: Iterable[PageLine]) -> str:
    """Return the lines of a folder's own page. The index has them ready, because every store writes a page."""
    return "".join([row.line for row in rows])


def folder_line(names: Sequence[str], size: str, title: str = "") -> str:
    """Return the line of a folder on a page above it; `title` stands for its name."""
    label, target = title or "/".join(names), "/".join(_target(name) for name in names)
    return f"- [{_label(label)}]({target}/index.md): {size}\n"


def nouns_of(folder: BookPath) -> Nouns:
    """Return the words for what a folder holds."""
    return _JOURNAL_NOUNS if folder.top in (JOURNAL.top, TREE.top) else ("memory", "memories")


def head(counts: Counts, nouns: Nouns) -> str:
    """Return the lines that say how much there is, by type and by tag; notes of the journal have no type."""
    line = amount(counts.active, nouns)
    if counts.types and nouns != _JOURNAL_NOUNS:
        line += " (" + ", ".join(f"{number} {name}" for name, number in counts.types.items()) + ")"
    if counts.hidden:
        line += f"; {counts.hidden} more not shown here"
    text = line + ".\n"
    if counts.tags:
        text += "Tags: " + ", ".join(f"{escape_comments(tag)} {number}" for tag, number in counts.tags) + ".\n"
    return text


def section(title: str, body: str) -> str:
    """Return a section of a page, nothing if its body is empty."""
    return f"\n## {title}\n\n{body}" if body else ""


def amount(number: int, nouns: Nouns) -> str:
    """Return a number with the word for what it counts."""
    return f"{number:,} {nouns[number != 1]}"


def rounded(number: int, nouns: Nouns) -> str:
    """Return a count for a parent page, which must not change at every write: exact to 20, then rounded down."""
    if number <= 20:
        return amount(number, nouns)
    size = 10 ** (len(str(number)) - 1)
    leading = number // size
    return f"{(5 if leading >= 5 else 2 if leading >= 2 else 1) * size:,}+ {nouns[1]}"


@lru_cache  # every store writes the links to all sub-pages of a folder
def _target(name: str) -> str:
    return quote(name, safe="!,;@+")


def _label(name: str) -> str:
    return name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def change_parents(files: VaultHandle, scope_folder: BookPath, size: str) -> list[Change]:
    """Return the changes to the pages above a scope that is now this large. Needs the lock of parent pages."""
    kind = scope_folder.parent
    if kind == MEMORIES:  # global and team: the scope is the kind
        return _set_folder_line(files, ROOT, ROOT_TITLE, scope_folder, size)[1]
    is_journal = kind == JOURNAL  # which has the project's name for its folder
    page = read_scope_page(
        files, MEMORIES / ScopeKind.PROJECT.value / scope_folder.name if is_journal else scope_folder
    )
    name = escape_comments(one_line(page.id)) if page is not None else ""
    number, changes = _set_folder_line(files, kind, f"{kind.name} folders", scope_folder, size, name)
    return changes + _set_folder_line(files, ROOT, ROOT_TITLE, kind, rounded(number, ("folder", "folders")))[1]


def _set_folder_line(
    files: VaultHandle, parent: BookPath, title: str, folder: BookPath, size: str, name: str = ""
) -> tuple[int, list[Change]]:
    """Set the line of a folder on a page above it; return how many lines the page then has, and the change, if any."""
    line = folder_line(folder.parts[len(parent.parts) :], size, name)
    path = parent / INDEX_PAGE
    page = files.read_text(path)
    ours = get_region(page) or ""
    lines = {match[1]: match[0] for match in _LINE.finditer(ours + line)}  # the last one with a target counts
    text = "".join([lines[target] for target in sorted(lines)])
    return len(lines), change_page(path, page, title, text) if text != ours else []
