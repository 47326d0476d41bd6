"""Which links lead to nothing: those in the frontmatter of notes, and the wikilinks in their text.

`doctor` adds every note that it reads, and reports at the end, when it knows all files of the book.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from commonplace.maintenance.book_files import NotesByScope
from commonplace.maintenance.findings import FindingList, cut_words
from commonplace.memories.relations import REJECTED
from commonplace.memories.rows import key_of
from commonplace.model.names import fold_name
from commonplace.model.scope import ScopeKind
from commonplace.text.notes import Note, find_wikilinks
from commonplace.vault.paths import ROOT, BookPath


class LinkCheck:
    """The links of a book. Of each note only these are kept: a book may have a hundred thousand."""

    def __init__(self) -> None:
        self._links: list[tuple[BookPath, BookPath, str]] = []  # the scope and the note of each, and where it leads
        self._in_text: list[tuple[BookPath, str]] = []

    def add(self, scope: BookPath, path: BookPath, note: Note) -> None:
        """Add the links of a note."""
        links = dict.fromkeys(link.to for link in note.meta.links if link.status != REJECTED)
        self._links += [(scope, path, to) for to in links]
        words = [to for entry in note.entries if "[[" in entry.text for to in find_wikilinks(entry.text)]
        self._in_text += [(path, to) for to in dict.fromkeys(words) if to not in links]

    def report(self, findings: FindingList, notes_by_scope: NotesByScope, others: Iterable[str]) -> None:
        """Report links to nothing. A link may name a file by its path, the end of it, its name alone, or SCOPE/KEY.

        In the frontmatter, a name leads to no other project, agent or session than that of the note: only a whole path
        does.
        """
        wanted = {_fold(to) for *_, to in (*self._links, *self._in_text)} - {""}
        places = _find_places(wanted, notes_by_scope, others)
        broken = [(path, to) for path, to in self._in_text if _fold(to) and not places[_fold(to)]]
        for scope, path, to in self._links:
            is_whole = to.startswith("/") or not ScopeKind(scope.parts[1]).has_id
            found = places[_fold(to)]
            if _fold(to) and not any(is_whole or at in (ROOT, scope) or not at.is_within(scope.parent) for at in found):
                broken.append((path, to))
        for path, to in broken:
            findings.add("broken_link", path, f"A link leads to {cut_words(to)}, which does not exist.")


def _find_places(
    wanted: Iterable[str], notes_by_scope: NotesByScope, others: Iterable[str]
) -> defaultdict[str, set[BookPath]]:
    """Return in which scopes there is a file that each of some links may lead to; empty for one in none."""
    missing, places = {*wanted}, defaultdict[str, set[BookPath]](set)
    for scope, notes in notes_by_scope.items() if missing else ():
        for path in notes:
            for name in missing & {*_names_of(path), fold_name(f"{scope.parts[1]}/{key_of(scope, path)}")}:
                places[name].add(scope)
    for other in others if missing else ():
        for name in missing.intersection(_names_of(other)):
            places[name].add(ROOT)
    return places


def _fold(target: str) -> str:
    return fold_name(target.strip()).removesuffix(".md").lstrip("./")


def _names_of(path: str) -> list[str]:
    """Return what a link may call a file: its path, and each end of it."""
    parts = fold_name(path).removesuffix(".md").strip("/").split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]
