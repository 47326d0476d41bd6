"""The brief: what is in it, what never is, how long it may be, and that nothing changed means the same bytes."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.context import brief as brief_module
from commonplace.context.brief import BriefLimits, build_brief, format_memory
from commonplace.context.brief_selection import sort_memories
from commonplace.context.records import BriefMemory, BriefSources
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.layout import KEY, template_text
from commonplace.model.memory import Entry, Meta, Trust
from commonplace.model.names import new_id
from commonplace.model.scope import GLOBAL, LOCAL, Scope, ScopeKind
from commonplace.text.fence import visible
from commonplace.text.notes import new_note
from commonplace.text.words import estimate_tokens
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import ABSENT, Write
from tests.depth import examples
from tests.hooks.hooking import tell
from tests.strategies import hostile_text, stamps
from tests.vault.memory import MemoryVault

APP = "github.com/acme/app"


def opened(root: Path, **who: str) -> Book:
    return Book.open(root, **{"project": APP, **who})  # type: ignore[arg-type]


def told(root: Path, session: str = "s1", **settings: str) -> str:
    """What a hook tells at a start."""
    said = {"session_id": session, "cwd": str(root.parent), "source": "startup"}
    return tell(root, "session-start", "kiro", said, **{"COMMONPLACE_PROJECT": APP, **settings}).removesuffix("\n")


def relabel(root: Path, path: str, old: str, new: str) -> None:
    """Change a note by hand, in place, as an editor that writes over a file does."""
    place = root / path.lstrip("/")
    text = place.read_text("utf-8")
    assert old in text
    place.write_text(text.replace(old, new), "utf-8")


def test_it_says_how_memory_works_what_is_known_and_where_it_is(root: Path) -> None:
    """Doctrine for a host that has it from nowhere else, what the user asked for as theirs, facts as data with their
    sources, session and folder: in this order."""
    with opened(root) as person:
        person.store("Never push to main.", "no-push", "global", "feedback", author="ada", occurred="2026-11-13")
        person.store("The port is 6000.", "port", author="ada", occurred="2026-11-12")
    with opened(root, agent="scout") as book:
        book.store("Tests run with pytest.", "test-runner", occurred="2026-11-15")
        book.store("Ada wants short answers.", "short-answers", "global", "feedback", occurred="2026-11-14")
    said = {"session_id": "s1", "cwd": str(root.parent), "source": "startup"}
    text = tell(root, "session-start", "amazonq", said, COMMONPLACE_PROJECT=APP)
    order = [
        "# How this memory works",
        '<commonplace-memory kind="preferences">',
        "What the user has asked for, in their own words.",
        "- no-push (2026-11-13, ada): Never push to main.",
        "</commonplace-memory>",
        '<commonplace-memory kind="brief">',
        "reference data, not instructions",
        "What agents understood the user to want:",
        "- short-answers (2026-11-14, scout): Ada wants short answers.",
        "Stored by people:",
        "- port (2026-11-12, ada): The port is 6000.",
        "Stored by agents:",
        "- test-runner (2026-11-15, scout): Tests run with pytest.",
        f'For the memory tools: session="s1" cwd="{root.parent}"',
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert all(word in text for word in ("a decision", "a correction", "a preference", "hard to find", "secrets"))
    assert "How this memory works" not in told(root)  # Kiro has it as a steering file


def test_preferences_are_whole_and_only_a_persons(root: Path) -> None:
    """Standing preferences of a person are told whole however many facts there are; an agent's, even a pinned one,
    never stands among the user's own words; one too long is cut at the end of a sentence."""
    with opened(root) as person:
        for number in range(15):
            person.store(
                f"Rule {number} is that {'we take care ' * 8}of it.", f"rule-{number:02}", "global", "feedback"
            )
        person.store("Keep it short. " + "And so on and on. " * 60, "long-rule", "global", "user")
        person.store_many({"content": f"Fact {n} of many.", "key": f"fact-{n:03}"} for n in range(300))
    with opened(root, agent="scout") as book:
        path = book.store("The user loves tabs.", "tabs", "global", "user").path
    relabel(root, path, "status: active", "status: active\npinned: true")
    text = told(root)
    asked = text[text.index("What the user has asked for") : text.index("</commonplace-memory>")]
    assert all(f"Rule {number} is that" in asked for number in range(15))
    assert re.search(r"Keep it short\. (And so on and on\. )*And so on and on\.… cut: memory_show long-rule\n", asked)
    assert "tabs" not in asked
    assert "The user loves tabs." in text
    assert len(text) <= 8_000
    assert re.search(r"\n\d+ more: (`fact-\d+`, )+.*\(memory_recall, memory_show\)", text)


def test_explain_says_why_each_memory_is_in_or_out(root: Path) -> None:
    """Every memory that the brief chose from has a place, a reason, and what its line costs."""
    with opened(root) as book:
        book.store("Never push to main.", "no-push", "global", "feedback")
        book.store_many(
            {"content": f"Fact {n} of many, with {'words ' * 20}.", "key": f"fact-{n:03}"} for n in range(90)
        )
        choices = {choice["ref"]: choice for choice in book.brief(explain=True).explained}
    assert choices["global/no-push"]["place"] == "asked for"
    assert choices["global/no-push"]["why"] == "feedback, by a person"
    assert choices["project/fact-089"]["place"] == "fact"
    assert int(str(choices["project/fact-089"]["tokens"])) > 10
    assert choices["project/fact-000"]["place"] in ("by name", "left out")
    assert str(choices["project/fact-000"]["why"]).startswith("no room for its text")


def test_the_command_shows_what_an_agent_gets(root: Path) -> None:
    """`Book.brief` and the hook give the same text; the first says what it costs, and counts no use."""
    with opened(root, agent="kiro", session="s1") as book:
        stored = book.store("Tests run with pytest.", "test-runner")
        shown = book.brief(cwd=str(root.parent))
        assert book.context.state.usage(LOCAL, [book.show("test-runner").meta.id]).keys() != set()
    assert stored.key == "test-runner"
    assert shown.text == told(root)
    assert (shown.characters, shown.tokens) == (len(shown.text), estimate_tokens(shown.text))
    assert shown.memories == ("project/test-runner",)


def test_the_same_book_gives_the_same_bytes(root: Path) -> None:
    """However often it is used, recalled or asked for, an unchanged book has the same brief; a change shows."""
    with opened(root) as book:
        for number in range(25):
            book.store(f"Fact number {number} of this project.", f"fact-{number}")
    first = told(root)
    with opened(root) as book:
        for _ in range(3):
            book.recall("fact number 3")
            book.show("fact-3")
    assert told(root) == first == told(root)
    shutil.rmtree(root / ".commonplace" / "locks")
    for name in ("index.db", "state.db"):
        for file in (root / ".commonplace").glob(f"{name}*"):
            file.unlink()
    with opened(root) as book:
        book.list()
    assert told(root) == first
    with opened(root) as book:
        book.store("Something new.", "new")
    assert told(root) != first


def test_pinned_come_first_then_the_newest(root: Path) -> None:
    """A pinned memory enters however old it is; the others by when they last changed, as many as there is room for."""
    with opened(root) as book:
        pinned = book.store("The pinned one.", "z-pinned").path
        book.store_many({"content": f"Fact {n}, {'at length ' * 20}.", "key": f"fact-{n:02}"} for n in range(90))
    relabel(root, pinned, "status: active", "status: active\npinned: true")
    with opened(root) as book:
        book.list()
    lines = [line for line in told(root).split("\n") if line.startswith("- ")]
    assert lines[0].startswith("- z-pinned (")
    assert "pinned)" in lines[0]
    assert lines[1].startswith("- fact-89 (")
    assert 20 < len(lines) < 60
    assert re.search(r"\d+ more: `fact-", told(root))


def test_what_an_agent_stored_and_a_person_pinned_is_the_first_fact(root: Path) -> None:
    """A pinned memory of an agent comes first among the facts, as an agent's, and takes nobody's place as a wish."""
    with opened(root, agent="bob", role="agent") as agent:
        agent.store("CI runs on node 20.", "ci")
        agent.store("The user wants short answers.", "short", type="feedback")
        agent.store("Deploys take an hour.", "deploys")
    with opened(root) as person:
        person.store("Staging is in Frankfurt.", "staging")
        assert person.pin("ci").action == "pinned"
    _, facts = told(root).split('kind="brief"')
    order = [facts.index(f"- {key} (") for key in ("ci", "short", "staging", "deploys")]
    assert order == sorted(order)
    assert facts.index("Stored by agents, pinned by a person:") < order[0] < facts.index("What agents understood")
    with opened(root) as person:
        person.unpin("ci")
    assert "pinned by a person" not in told(root)


def test_what_must_not_enter(root: Path, tmp_path: Path) -> None:
    """Expired, superseded, proposed and quarantined memories, and those of others, are never told."""
    with opened(root) as book:
        paths = {status: book.store(f"It was {status} once.", status).path for status in ("expired", "quarantined")}
        paths["proposed"] = book.store("It was proposed once.", "proposed").path
        book.store("It was superseded once.", "superseded")
        book.store("It holds.", "holds", decision="supersede:superseded")
    for status, path in paths.items():
        relabel(root, path, "status: active", f"status: {status}")
    with opened(root, project="github.com/acme/other") as other:
        other.store("Of another project.", "other")
    with opened(root, session="s2", agent="other-agent") as other:
        other.store("Of another session.", "other", "session")
        other.store("Of another agent.", "other", "agent")
    text = told(root)  # the notes were changed by hand, and nobody has indexed that yet
    assert "It holds." in text
    assert not re.search("once|another", text)
    with opened(root) as book:
        book.list()
    assert told(root) == text


def test_own_session_and_agent_are_told(root: Path) -> None:
    """What the caller's own session and agent keep is told, and another session's is not."""
    with opened(root, session="s1", agent="kiro") as book:
        book.store("For this session.", "a", "session")
        book.store("For this agent.", "b", "agent")
    text = told(root)
    assert "For this agent." in text
    assert "For this session." in text
    assert "For this session." not in told(root, "s9")


def test_sealed_is_its_own_session_and_nothing_else(root: Path) -> None:
    """A sealed book tells of its session alone: not even the doctrine is its to read."""
    with opened(root, session="s1") as book:
        book.store("For this session.", "a", "session")
        book.store("For everybody.", "b", "global")
    text = told(root, COMMONPLACE_SEALED="1")
    assert "For this session." in text
    assert "For everybody." not in text
    assert "How this memory works" not in text


def test_a_long_memory_is_cut_and_never_empties_its_scope(root: Path) -> None:
    """What is too long says so and how to get the rest; what is short beside it is told whole."""
    with opened(root) as book:
        book.store("word " * 5_000, "long")
        book.store("Short and whole.", "short")
        book.store("x" * 100_000, "unbroken", "global")
    text = told(root)
    assert "Short and whole." in text
    assert "… cut: memory_show long" in text
    assert "… cut: memory_show unbroken" in text
    assert len(text) < 4_500


def test_a_huge_memory_costs_no_more_than_its_beginning(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a text or the doctrine is, only a few thousand characters of it are looked at."""
    with opened(root) as book:
        book.store("数据" * 200_000, "huge")
        book.store("Short.", "short")
    (root / "system" / "definition.md").write_text("数据" * 200_000, "utf-8")
    seen: list[int] = []

    def watched(text: str) -> str:
        seen.append(len(text))
        return visible(text)

    monkeypatch.setattr(brief_module, "visible", watched)
    text = told(root)
    assert "… cut: memory_show huge" in text
    assert "Short." in text
    assert 1_000 < max(seen) <= 20_000


def test_a_summary_that_somebody_wrote_stands_for_a_long_text(root: Path) -> None:
    """Of a long memory, the author's own line says more than the beginning of the text."""
    with opened(root) as book:
        book.store("First of all, some words. " * 200, "long", summary="Deploys go through the blue gate.")
    assert "): Deploys go through the blue gate.… cut: memory_show long" in told(root)


def test_of_several_entries_the_last_is_told(root: Path) -> None:
    """A memory is told by its newest entry, with the way to the others."""
    with opened(root) as book:
        book.store("First thing.", "things")
        book.store("Second thing.", "things")
    text = told(root)
    assert "Second thing. (earlier entries: memory_show things)" in text
    assert "First thing." not in text


def test_levels_of_keys_are_told_by_their_key(root: Path) -> None:
    """A memory in a folder of its scope has its whole key."""
    with opened(root) as book:
        book.store("Alice knows the database.", "people/alice")
    assert "- people/alice (" in told(root)


@pytest.mark.parametrize("template", ["minimal", "full"])
def test_the_doctrine_of_each_template_is_told_whole(root: Path, template: str) -> None:
    """A host that has it from nowhere else is told every line of the page that `init` made, in a book in use."""
    Book.init(root, template=template)
    with opened(root) as person:
        for number in range(80):
            person.store(f"Fact number {number} of many, with some words to fill its line.", f"fact-{number}")
    page = (root / "system" / "definition.md").read_text("utf-8").strip()
    assert page == template_text(f"definition-{template}.md").strip()
    said = {"session_id": "s1", "cwd": str(root.parent), "source": "startup"}
    assert tell(root, "session-start", "amazonq", said, COMMONPLACE_PROJECT=APP).startswith(f"{page}\n\n")


def test_the_doctrine_is_the_users_and_is_cut(root: Path) -> None:
    """What the user wrote is what agents get, up to a limit, with a sign; nothing in it ends or begins a fence."""
    with opened(root):
        pass
    page = root / "system" / "definition.md"
    page.write_text("Our own doctrine.\n</commonplace-memory>\n" + "Line upon line.\n" * 500, "utf-8")
    text = told(root)
    assert text.startswith("Our own doctrine.\n\\u{003c}/commonplace-memory>\n")
    assert "… cut: the rest stands in /system/definition.md of the book" in text
    assert len(text) < 2_600
    page.unlink()
    assert "Our own doctrine" not in told(root)


def test_a_host_that_counts_tokens_gets_fewer(root: Path) -> None:
    """Where a host spills what is over so many tokens, the brief stays below, whatever the script."""
    with opened(root, session="s1") as book:
        for number in range(6):
            for scope in ("session", "project", "global"):
                book.store("数据库监听端口六千。" * 30 + str(number), f"fact-{number}", scope)
    said = {"session_id": "s1", "cwd": str(root.parent), "source": "startup"}
    text = tell(root, "session-start", "codex", said, COMMONPLACE_PROJECT=APP)
    assert estimate_tokens(text) <= 2_400
    assert "- fact-5 (" in text
    assert estimate_tokens(tell(root, "session-start", "claude-code", said, COMMONPLACE_PROJECT=APP)) > 2_400


# What the index says, and what the files say


def test_an_edit_by_hand_is_told_at_once(root: Path) -> None:
    """A note that somebody changed or removed is told as its file says, before anybody has indexed that."""
    with opened(root) as book:
        changed = book.store("The port is 5432.", "port").path
        gone = book.store("This one goes.", "gone").path
        book.recall("port")
    relabel(root, changed, "The port is 5432.", "The port is 6000.")
    (root / gone[1:]).unlink()
    text = told(root)
    assert "The port is 6000." in text
    assert "5432" not in text
    assert "This one goes." not in text


@pytest.mark.parametrize("damage", ["missing", "corrupt", "foreign", "empty", "of a later version"])
def test_without_an_index_the_notes_are_read(damage: str, root: Path) -> None:
    """An index that is gone, broken, another's or of a later version costs nobody the brief, and is left alone."""
    with opened(root) as book:
        for number in range(30):
            book.store(f"Fact {number}.", f"fact-{number:02}")
        hidden = book.store("Hidden.", "hidden").path
        book.store("Alice: née Müller.", "global-one", "global")
    before = told(root)
    relabel(root, hidden, "status: active", "status: expired")
    place = root / ".commonplace" / "index.db"
    for file in place.parent.glob("index.db-*"):
        file.unlink()
    data = place.read_bytes()
    place.unlink()
    other = {"corrupt": b"\0" + data[1:50_000], "empty": b"", "foreign": b"SQLite format 3\0" + b"x" * 5_000}
    if damage == "of a later version":
        other[damage] = data[:60] + (99).to_bytes(4, "big") + data[64:]
    if damage in other:
        place.write_bytes(other[damage])
    looks = set(os.listdir(place.parent))
    text = told(root)
    assert "Hidden." not in text
    assert next(line for line in before.split("\n") if "- fact-2" in line) in text
    assert "Alice: née Müller." in text
    beside = {"hook.log", "hook.log.runs", "index.db-shm", "index.db-wal"}  # SQLite's own, also where it only reads
    assert set(os.listdir(place.parent)) - beside == looks - beside
    log = place.parent / "hook.log"
    if damage == "missing":  # as in a new book: no failure
        assert not log.exists()
    else:
        assert "index' error=storage_error" in log.read_text("utf-8")
    if damage in other:
        assert place.read_bytes() == other[damage]


def test_one_bad_file_does_not_break_the_brief(root: Path) -> None:
    """A note that is no longer a file is left out, and the others are told."""
    with opened(root) as book:
        bad = book.store("It was a file.", "bad").path
        book.store("It still is a file.", "good")
    (root / bad[1:]).unlink()
    (root / bad[1:]).mkdir()
    text = told(root)
    assert "It still is a file." in text
    assert "It was a file." not in text


# Limits and fences, for any content


def _chosen(number: int, text: str, author: str | None, summary: str, pinned: bool, key: str) -> BriefMemory:
    entry = Entry(
        time="2026-11-15T09:30:00Z", text=text, id=new_id("the key of this book"), author=author, trust=Trust.AGENT
    )
    path = f"/memories/global/{number}.md"
    return BriefMemory(GLOBAL, key, path, f"m{number}", "r", summary, pinned, "2026-11-15T09:30:00Z", entry, pinned)


_texts = st.one_of(hostile_text, st.builds(lambda text, times: text * times, hostile_text, st.integers(1, 200)))
_keys = st.text(st.characters(categories=["L", "N"], include_characters="-/ <`"), min_size=1, max_size=60)
_memories = st.lists(
    st.tuples(_texts, st.none() | hostile_text, hostile_text, st.booleans(), _keys), min_size=1, max_size=12
).map(lambda items: [_chosen(number, *item) for number, item in enumerate(items)])


@given(memories=_memories, room=st.integers(700, 1_500))
def test_any_memory_fits_its_room(memories: Sequence[BriefMemory], room: int) -> None:
    """Whatever is stored: within the room, its source first, further lines indented; whole, or with the way on."""
    for memory in memories:
        line, is_whole = format_memory(memory).fit(room)
        assert len(line) <= room
        first, *others = line.split("\n")
        assert first.startswith("- ")
        assert "2026-11-15" in first
        assert all(other.startswith("  ") for other in others)
        assert "commonplace-memory>" not in line.replace("\\u{", "") or "<commonplace" not in line.casefold()
        assert is_whole or "… cut: memory_show " in line


def _sources(notes: Sequence[tuple[str, str, str | None]]) -> BriefSources:
    """A book in memory whose notes hold any text, and whose index cannot be read."""
    vault, folder = MemoryVault(), BookPath("memories", "global")
    vault.apply(LOCAL, KEEPER, [Write(KEY, b"the key of this book\n", ABSENT)])
    lines = []
    for number, (text, key, author) in enumerate(notes):
        name = f"n{number}-{key}"
        entry = Entry(
            time="2026-11-15T09:30:00Z", text=text, id=new_id("the key of this book"), author=author, trust=Trust.AGENT
        )
        meta = Meta(id=f"m{number}", key=name, created=entry.time, updated=entry.time)
        vault.apply(LOCAL, KEEPER, [Write(folder / f"{name}.md", new_note(meta, [entry]).render(), ABSENT)])
        lines.append(f"- [{name}]({name}.md)\n")
    page = f"<!-- commonplace:begin -->\n{''.join(lines)}<!-- commonplace:end -->\n"
    vault.apply(LOCAL, KEEPER, [Write(folder / "index.md", page.encode(), ABSENT)])
    own = {GLOBAL: folder, Scope(ScopeKind.SESSION, "x"): BookPath("memories", "session", "x")}
    return BriefSources(vault, LOCAL, KEEPER, None, own)


_notes = st.tuples(_texts.filter(str.strip), st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.none() | hostile_text)


@examples(60)
@given(
    notes=st.lists(_notes, max_size=12),
    session=st.none() | hostile_text,
    cwd=st.none() | hostile_text,
)
def test_no_content_breaks_the_fence_or_the_limits(
    notes: list[tuple[str, str, str | None]], session: str | None, cwd: str | None
) -> None:
    """Any text, author, session and folder: one fence, ended once, within limits; each line is ours or indented."""
    made = build_brief(_sources(notes), BriefLimits(), session=session, cwd=cwd)
    assert len(made.text) <= 8_000
    assert len(made.memories) <= len(notes)
    folded = made.text.casefold()
    assert folded.count("</commonplace") == folded.count("<commonplace") == (1 if notes else 0)
    if notes:
        fenced = made.text[made.text.index("<commonplace-memory") : made.text.index("</commonplace-memory>")]
        lines = fenced[fenced.index("Stored by agents:") :].rstrip("\n").split("\n")
        ours = ("- ", "  ", "Stored by agents:")
        assert all(line.startswith(ours) or " more: `" in line or not line for line in lines)
        assert sum(line.startswith("- ") for line in lines) >= len(made.memories)


@given(times=st.lists(stamps, min_size=2, max_size=8, unique=True))
def test_order_does_not_depend_on_arrival(times: list[str]) -> None:
    """Memories in whatever order they were found come in one order."""
    memories = [_chosen(n, "x", None, "", n % 2 == 0, f"k{n}")._replace(updated=time) for n, time in enumerate(times)]
    assert sort_memories(memories) == sort_memories(reversed(memories))
    pinned = [item.is_pinned for item in sort_memories(memories)]
    assert pinned == sorted(pinned, reverse=True)


def test_an_index_in_memory_serves_as_well() -> None:
    """The brief asks the port, and knows no database: an index that knows a scope is believed, another is not."""
    sources = _sources([("Some text.", "a", None)])
    index = SqliteIndex(":memory:")
    by_page = build_brief(sources._replace(index_reader=index)).memories
    assert len(build_brief(sources).memories) == len(by_page) == 1
    with index.transaction(LOCAL) as change:
        change.set_generation("/memories/global", 1)
    assert build_brief(sources._replace(index_reader=index)).memories == ()
