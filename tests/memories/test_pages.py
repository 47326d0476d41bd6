"""Index pages: after every write they name each memory and nothing else, and what people wrote in them stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.memories import pages as keep_pages
from commonplace.memories.history import records_path
from commonplace.model.memory import Status
from commonplace.model.scope import LOCAL
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import Delete, FileKind, Vault
from tests.depth import examples
from tests.memories.reading import (
    BEGIN,
    END,
    FOLDER,
    clock,
    follow,
    forget,
    generated,
    open_keep,
    page_faults,
    pages,
    store,
    text_of,
    write,
)
from tests.strategies import FORGERIES, hostile_text
from tests.vault.memory import MemoryVault

MADE = ["a", "ab", "abc", "abd", "abe", "ac", "b", "ba", "con-1", "con-2", "nul-1", "com1-x", "zz-top", "z"]
BY_HAND = [
    "Ünï cöde",
    "UPPER Case",
    "AB",
    "日本語",
    "日本",
    "a.b",
    "x [y] (z)",
    "50% & #1",
    "cafe\u0301",
    "café",
    "con x",
]
TOPICS = ["ci", "CI/cd", "cafe\u0301", "testing", "test", "日本", "a", "con", "odd\\tag]", "<!-- x", "long" * 30]
_steps = st.one_of(
    st.tuples(st.just("store"), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.just("store"), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.sampled_from([f"{topic} by hand" for topic in TOPICS]), st.sampled_from(BY_HAND), st.booleans()),
    st.tuples(st.just("forget"), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.just("expire"), st.sampled_from(MADE), st.booleans()),
    st.tuples(st.just("by hand"), st.sampled_from(BY_HAND), st.booleans()),
    st.tuples(st.just("by hand gone"), st.sampled_from(BY_HAND), st.booleans()),
)


@contextmanager
def small(capacity: int = 3) -> Iterator[None]:
    """Pages that are full with a few memories, so that a short test splits and joins many."""
    sizes = [
        ("CAPACITY", capacity),
        ("UNFILED", 2),
        ("NEWEST", 2),
        ("FEW", min(2, capacity)),
        ("LEAST", 2),
        ("TOPICS", 3),
    ]
    with ExitStack() as stack:
        for name, value in sizes:
            stack.enter_context(mock.patch.object(keep_pages, name, value))
        yield


def rebuilt(vault: Vault) -> dict[str, bytes]:
    """The pages as a process makes them that finds none."""
    listed = [FOLDER / "index.md", *(FOLDER / "_index" / name[7:] for name in pages(vault) if name != "index.md")]
    vault.apply(LOCAL, KEEPER, [Delete(path) for path in listed])
    open_keep(vault).reconcile(FOLDER)
    return pages(vault)


@pytest.mark.parametrize("capacity", [1, 3, 6])
@examples(150, 8)
@example(steps=[("store", name, False) for name in ("com1-x", "con-1", "con-2", "z")])  # a page for `con`
@given(steps=st.lists(_steps, max_size=40))
def test_pages_after_any_changes(capacity: int, steps: list[tuple[str, str, bool]]) -> None:
    """After each store with a topic or without, forget, expiry or edit by hand, by either of two processes, the pages
    name every memory; in the end a repair has nothing to do, and once all is filed they are, byte for byte, those made
    from the files alone."""
    vault, active = MemoryVault(), set[str]()
    time = clock()
    keeps = [open_keep(vault, time), open_keep(vault, time)]
    with small(capacity):
        store(keeps[0], "first", "Something to start with.")
        active.add("first")
        for number, (what, name, second) in enumerate(steps):
            keep = keeps[second]
            if what == "store":
                store(keep, name, f"Fact {number}.", status=Status.ACTIVE, summary=f"Fact {number}")
                active.add(name)
            elif what == "forget" and vault.stat(LOCAL, KEEPER, FOLDER / f"{name}.md"):
                forget(keep, name)
                active.discard(name)
            elif what == "expire" and name in active:
                store(keep, name, "Old.", status=Status.EXPIRED)
                active.discard(name)
            elif what == "by hand":
                write(vault, FOLDER / f"{name}.md", f"By hand {number}.\n")
                keep.reconcile(FOLDER)
                active.add(name)
            elif what in TOPICS:
                store(keep, name, f"Fact {number}.", status=Status.ACTIVE, tags=(what,))
                active.add(name)
            elif what.endswith(" by hand"):
                topic = json.dumps(what.removesuffix(" by hand"))
                write(vault, FOLDER / f"{name}.md", f"---\ntags: [{topic}]\n---\nBy hand {number}.\n")
                keep.reconcile(FOLDER)
                active.add(name)
            elif what == "by hand gone" and name in active:
                vault.apply(LOCAL, KEEPER, [Delete(FOLDER / f"{name}.md")])
                keep.reconcile(FOLDER)
                active.discard(name)
            assert follow(vault) == active
            assert page_faults(open_keep(vault), FOLDER) == []
        left = pages(vault)
        open_keep(vault).reconcile(FOLDER)
        assert pages(vault) == left
        store(keeps[0], "last", "Something that goes.")
        forget(keeps[0], "last")
        assert pages(vault) == rebuilt(vault)


def test_crossing_the_capacity_of_a_page() -> None:
    """Fifty memories are one page; the next one makes sub-pages, and when it goes they go too."""
    vault = MemoryVault()
    keep = open_keep(vault)
    names = [f"{'abc'[number % 3]}-{number:02d}" for number in range(56)]
    for number, name in enumerate(names):
        store(keep, name, f"Fact {number}.")
        assert follow(vault) == set(names[: number + 1])
        assert (len(pages(vault)) > 1) == (number + 1 > keep_pages.CAPACITY)
    for number, name in enumerate(names[:10]):
        forget(keep, name)
        assert follow(vault) == set(names[number + 1 :])
        assert (len(pages(vault)) > 1) == (len(names) - number - 1 > keep_pages.CAPACITY)
    assert pages(vault) == rebuilt(vault)


def test_a_large_folder_splits_further() -> None:
    """Names with a long common start are split where they differ, each page within its capacity."""
    vault = MemoryVault()
    keep = open_keep(vault)
    names = [f"project-alpha-{first}{second}" for first in "abcdefgh" for second in range(20)]
    for name in names:
        store(keep, name, f"About {name}.")
    assert follow(vault) == set(names)
    made = pages(vault)
    assert {name for name in made if name.startswith("_index/")} == {
        f"_index/project-alpha-{ch}.md" for ch in "abcdefgh"
    }
    assert all(page.decode().count("\n- ") <= 2 * keep_pages.CAPACITY for page in made.values())


def test_a_folder_with_topics_is_split_by_them() -> None:
    """From 21 memories on, topics that gather at least four memories on average are pages of their own; memories
    without a tag go by their first letter, and a page whose memory gets another topic loses its line."""
    vault = MemoryVault()
    keep = open_keep(vault)
    names = [f"n{number:02d}" for number in range(30)]
    for number, name in enumerate(names):
        tags = () if number % 10 == 9 else (("testing", "deploy", "docs/api")[number % 3],)
        store(keep, name, f"Fact {number}.", tags=tags)
        assert follow(vault) == set(names[: number + 1])
        assert (len(pages(vault)) > 1) == (number + 1 > keep_pages.FEW)
    made = pages(vault)
    assert list(made) == [
        "index.md",
        "_index/@deploy.md",
        "_index/@docs_2f.api.md",
        "_index/@testing.md",
        "_index/n.md",
    ]
    links = generated(made["index.md"].decode()).partition("## By topic")[2]
    assert [line.partition("](")[0] for line in links.split("\n") if line.startswith("- ")] == [
        "- [deploy", "- [docs/api", "- [testing", "- [n…",
    ]  # fmt: skip
    assert made["_index/@deploy.md"].startswith(b"# global: deploy\n")
    assert pages(vault) == made and "(../n00.md)" in made["_index/@testing.md"].decode()
    write(vault, FOLDER / "n00.md", "---\ntags: [deploy]\n---\nFact 0.\n")
    keep.reconcile(FOLDER)
    made = pages(vault)
    assert b"(../n00.md)" in made["_index/@deploy.md"] and b"n00" not in made["_index/@testing.md"]
    assert pages(vault) == rebuilt(vault)


@pytest.mark.parametrize(
    "topics", [["alone-{n}"], ["", "", "", "", "", "rare"], [""]], ids=["one each", "hardly any", "none"]
)
def test_topics_that_gather_nothing_split_no_small_folder(topics: list[str]) -> None:
    """Up to 50 memories stay on one page where their topics would make pages of one or two lines."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for number in range(45):
        tag = topics[number % len(topics)].format(n=number)
        store(keep, f"{'abcdefghijklm'[number % 13]}{number:02d}", f"Fact {number}.", tags=(tag,) if tag else ())
    assert list(pages(vault)) == ["index.md"]


def test_many_topics_go_by_their_first_letter() -> None:
    """With more than 20 topics a page holds those of one letter, so that index.md stays short; with a topic more or
    less they change places."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for number in range(80):
        topic = f"{'abcd'[number % 4]}-topic-{number % 20:02d}"
        store(keep, f"n{number:02d}", f"Fact {number}.", tags=(topic,))
    assert len([name for name in pages(vault) if name.startswith("_index/@")]) == 20
    store(keep, "more", "One topic more.", tags=("zebra",))
    assert list(pages(vault))[1:] == [
        "_index/@a@.md",
        "_index/@b@.md",
        "_index/@c@.md",
        "_index/@d@.md",
        "_index/@z@.md",
    ]
    assert len(follow(vault)) == 81
    forget(keep, "more")
    assert len(follow(vault)) == 80 and pages(vault) == rebuilt(vault)


def test_a_split_that_gathers_too_little_is_undone() -> None:
    """When further topics leave less than four memories for each page, the memories stand on one page again."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for number in range(21):
        store(keep, f"n{number:02d}", f"Fact {number}.", tags=(f"topic-{number % 5}",))
    assert len(pages(vault)) == 6
    store(keep, "odd", "Another topic.", tags=("odd",))
    assert list(pages(vault)) == ["index.md"] and len(follow(vault)) == 22
    assert pages(vault) == rebuilt(vault)


def test_what_people_wrote_stays() -> None:
    """Text above and below the generated part of a page is kept through every renewal, a split and its undoing."""
    vault = MemoryVault()
    keep = open_keep(vault)
    with small():
        for name in ("a-1", "a-2", "b-1", "b-2"):
            store(keep, name, f"About {name}.")
        for path in (FOLDER / "index.md", FOLDER / "_index" / "a.md"):
            page = text_of(vault, path)
            write(vault, path, f"Above, mine.\n\n{page}\nBelow, mine.\n- [mine](mine.md)\n")
        store(keep, "a-3", "About a-3.")
        store(keep, "b-3", "About b-3.")
        assert follow(vault) == {"a-1", "a-2", "a-3", "b-1", "b-2", "b-3"}
        for name in ("b-1", "b-2", "b-3"):
            forget(keep, name)
        assert follow(vault) == {"a-1", "a-2", "a-3"}
    for path in (FOLDER / "index.md", FOLDER / "_index" / "a.md"):
        page = text_of(vault, path)
        assert page.startswith("Above, mine.\n\n")
        assert page.endswith("\nBelow, mine.\n- [mine](mine.md)\n")
    assert "About" not in text_of(vault, FOLDER / "_index" / "a.md")
    assert list(pages(vault)) == ["index.md", "_index/a.md"]


@pytest.mark.parametrize(
    "theirs", ["My own list.\n", f"Mine.\n\n{BEGIN}\n{END}\n"], ids=["a file of theirs", "emptied"]
)
def test_a_page_that_is_there_is_not_taken_for_complete(theirs: str) -> None:
    """A sub-page that a person made, or that lost its lines when its group shrank, is filled when the group splits."""
    vault = MemoryVault()
    keep = open_keep(vault)
    with small():
        for name in ("ab-1", "ab-2", "ac-1", "z-1", "z-2"):
            store(keep, name, f"About {name}.")
        write(vault, FOLDER / "_index" / "ab.md", theirs)
        for name in ("ac-2", "ac-3", "ac-4"):
            store(keep, name, f"About {name}.")
        assert follow(vault) == {"ab-1", "ab-2", "ac-1", "ac-2", "ac-3", "ac-4", "z-1", "z-2"}
        assert text_of(vault, FOLDER / "_index" / "ab.md").startswith(theirs.split("\n")[0])


def test_a_persons_own_file_among_the_sub_pages_is_never_deleted() -> None:
    """What has no generated part is not ours: it stays, byte for byte, whatever happens to the pages around it."""
    vault = MemoryVault()
    keep = open_keep(vault)
    mine = {"mine.md": "# Mine\n", "empty.md": "", "list.txt": "x", "q.md": "# q\n", "a-draft.md": f"{BEGIN}\nno end\n"}
    for name, text in mine.items():
        write(vault, FOLDER / "_index" / name, text)
    with small():
        for name in ("a-1", "a-2", "b-1", "b-2", "c-1"):
            store(keep, name, f"About {name}.")
        for name in ("a-1", "a-2", "b-1"):
            forget(keep, name)
        open_keep(vault).reconcile(FOLDER)
    for name, text in mine.items():
        assert text_of(vault, FOLDER / "_index" / name) == text


@example(summary="<!-- commonplace:end -->", tag="<!-- commonplace:begin")
@example(summary="one\n<!-- commonplace:end -->\n- [two](two.md)", tag="x](y.md)\n- [z](z.md)")
@given(summary=hostile_text | st.sampled_from(FORGERIES), tag=st.text(min_size=1, max_size=20))
def test_hostile_summaries_and_tags(summary: str, tag: str) -> None:
    """No summary or tag can end the generated part, begin another, or add a line or a link of its own."""
    vault = MemoryVault()
    keep = open_keep(vault)
    store(keep, "plain", "A fact.", summary="plain")
    store(keep, "evil", "Another.", summary=summary, tags=(tag,))
    store(keep, "later", "A third.", summary="- [x](../x.md)")
    page = text_of(vault, FOLDER / "index.md")
    assert follow(vault) == {"plain", "evil", "later"}
    lines = generated(page).split("\n")
    assert sum(line.startswith("- ") for line in lines) == 3
    assert sum(line.startswith("## ") for line in lines) == 1
    assert page.isprintable() or all(line.isprintable() for line in page.split("\n"))


def changed(vault: Vault, before: dict[str, int]) -> set[str]:
    return {path for path, tick in ticks(vault).items() if before.get(path) != tick}


def ticks(vault: Vault) -> dict[str, int]:
    """When each file of the book was last written."""
    found: dict[str, int] = {}
    waiting = [BookPath()]
    while waiting:
        folder = waiting.pop()
        for item in vault.list_folder(LOCAL, KEEPER, folder):
            if item.stat.kind is FileKind.FOLDER:
                waiting.append(folder / item.name)
            else:
                found[str(folder / item.name)] = item.stat.mtime_ns
    return found


def test_a_write_touches_its_note_and_its_page() -> None:
    """A store writes the note and the folder's page, and adds to the records; a second one that changes no line leaves
    the page alone."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for number in range(70):
        store(keep, f"{'abcd'[number % 4]}-{number:02d}", f"Fact {number}.")
    for number in range(25):
        store(keep, f"people/person-{number:02d}", f"Person {number}.")
    keep.reconcile(FOLDER)
    before = ticks(vault)
    store(keep, "b-new", "A new fact.")
    records = str(records_path(FOLDER))
    assert changed(vault, before) == {f"{FOLDER}/b-new.md", f"{FOLDER}/index.md", records}
    before = ticks(vault)
    store(keep, "b-new", "A new fact.")
    assert changed(vault, before) == {f"{FOLDER}/b-new.md", records}
    before = ticks(vault)
    store(keep, "people/person-00", "More.")
    assert changed(vault, before) == {f"{FOLDER}/people/person-00.md", f"{FOLDER}/people/index.md", records}
    before = ticks(vault)
    open_keep(vault).reconcile(FOLDER)
    assert changed(vault, before) == set()


def test_a_write_to_a_topic_touches_its_note_and_its_page() -> None:
    """With topics a store writes the same files: no sub-page before there are enough new lines for it, and one that
    gives a memory another first tag writes the two pages between which it moves."""
    vault = MemoryVault()
    keep = open_keep(vault)
    for number in range(70):
        store(keep, f"n-{number:02d}", f"Fact {number}.", tags=("abcd"[number % 4], "second"))
    keep.reconcile(FOLDER)
    records = str(records_path(FOLDER))
    before = ticks(vault)
    store(keep, "new", "A new fact.", tags=("b",))
    assert changed(vault, before) == {f"{FOLDER}/new.md", f"{FOLDER}/index.md", records}
    forget(keep, "new")  # which files all that waits
    write(vault, FOLDER / "n-00.md", "---\ntags: [b]\n---\nFact 0.\n")
    before = ticks(vault)
    keep.reconcile(FOLDER)
    pages_of_topics = {f"{FOLDER}/_index/@a.md", f"{FOLDER}/_index/@b.md"}
    assert changed(vault, before) >= pages_of_topics
    assert not any(path.endswith(("@c.md", "@d.md")) for path in changed(vault, before))
