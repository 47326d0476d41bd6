"""Parent pages: folders and round counts, for everybody to see, and so without a word of what is in them."""

from __future__ import annotations

import pytest

from commonplace.memories.rows import rounded
from commonplace.model.scope import GLOBAL, Scope, ScopeKind
from commonplace.vault.paths import BookPath, scope_folder
from tests.memories.reading import forget, generated, open_keep, store, text_of, write
from tests.vault.memory import MemoryVault

ROOT_PAGE = BookPath("index.md")
PROJECTS = BookPath("memories", "project", "index.md")
ONE = scope_folder(Scope(ScopeKind.PROJECT, "github.com/acme/one"))
TWO = scope_folder(Scope(ScopeKind.PROJECT, "github.com/acme/two"))


def lines(vault: MemoryVault, page: BookPath) -> list[str]:
    return [line for line in generated(text_of(vault, page)).split("\n") if line]


def test_folders_and_counts() -> None:
    """The page of projects lists each with its count, the root's page the kinds, and neither has a summary or a key."""
    vault = MemoryVault()
    keep = open_keep(vault)
    store(keep, "private-key", "A private sentence.", ONE, summary="A private summary", tags=("hidden-tag",))
    for number in range(3):
        store(keep, f"fact-{number}", "A private sentence.", TWO)
    store(keep, "shared", "Another.", scope_folder(GLOBAL))
    assert lines(vault, PROJECTS) == sorted(
        [f"- [{ONE.name}]({ONE.name}/index.md): 1 memory", f"- [{TWO.name}]({TWO.name}/index.md): 3 memories"]
    )
    assert lines(vault, ROOT_PAGE) == [
        "- [memories/global](memories/global/index.md): 1 memory",
        "- [memories/project](memories/project/index.md): 2 folders",
    ]
    for page in (ROOT_PAGE, PROJECTS):
        text = text_of(vault, page)
        assert not any(word in text for word in ("private", "sentence", "hidden", "fact", "shared"))


def test_counts_are_rounded_and_include_folders_below() -> None:
    """Up to twenty a count is exact; above, it is the round number below, so that few writes change a parent."""
    vault = MemoryVault()
    keep = open_keep(vault)
    seen = []
    for number in range(60):
        store(keep, f"people/person-{number}" if number % 2 else f"fact-{number}", "x", ONE)
        (line,) = lines(vault, PROJECTS)
        seen.append(line.split(": ")[1])
    assert seen[:3] == ["1 memory", "2 memories", "3 memories"]
    assert seen[19:22] == ["20 memories", "20+ memories", "20+ memories"]
    assert seen[48:51] == ["20+ memories", "50+ memories", "50+ memories"]
    assert len(set(seen)) == 22


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 memories"),
        (1, "1 memory"),
        (20, "20 memories"),
        (21, "20+ memories"),
        (199, "100+ memories"),
        (1_999, "1,000+ memories"),
        (4_321, "2,000+ memories"),
        (99_999, "50,000+ memories"),
    ],
)
def test_round_numbers(number: int, words: str) -> None:
    """Counts are exact to 20, then one, two or five and zeros."""
    assert rounded(number, ("memory", "memories")) == words


def test_parents_follow_when_memories_go() -> None:
    """A count falls when memories are forgotten; an emptied scope says so."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for key in ("a", "b"):
        store(keep, key, "x", ONE)
    for key in ("a", "b"):
        forget(keep, key, ONE)
    assert lines(vault, PROJECTS) == [f"- [{ONE.name}]({ONE.name}/index.md): 0 memories"]


def test_what_people_wrote_on_a_parent_stays() -> None:
    """The root's page is a person's to write on, above and below the list."""
    vault = MemoryVault()
    keep = open_keep(vault)
    store(keep, "a", "x", ONE)
    write(vault, ROOT_PAGE, f"Welcome.\n\n{text_of(vault, ROOT_PAGE)}\nSee also: mine.md\n")
    store(keep, "a", "x", TWO)
    page = text_of(vault, ROOT_PAGE)
    assert page.startswith("Welcome.\n\n# ")
    assert page.endswith("\nSee also: mine.md\n")
    assert ": 2 folders" in page


def test_another_process_changes_its_own_line_only() -> None:
    """Two processes that each know one scope keep each other's lines."""
    vault = MemoryVault()
    first, second = open_keep(vault), open_keep(vault)
    store(first, "a", "x", ONE)
    store(second, "a", "x", TWO)
    store(first, "b", "x", ONE)
    assert sorted(line.split(": ")[1] for line in lines(vault, PROJECTS)) == ["1 memory", "2 memories"]
