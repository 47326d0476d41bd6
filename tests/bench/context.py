"""Measure what an agent is told unasked: `make bench-context`, or `python -m tests.bench.context`.

Stores every book of a set in a scratch folder as its people and agents would have, asks for the brief of each project,
and then for what each prompt would be given. docs/context-set.md says what is in the set and what the figures mean.

A memory counts as told when its whole text is there. What is told needlessly or misleads counts from its first words
on: half of a wrong memory misleads as well. Standing preferences at a prompt count neither way.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from commonplace.book import Book
from commonplace.model.errors import EmbedderMissing
from commonplace.model.memory import MemoryType
from commonplace.model.scope import ScopeKind
from tests.bench.context_data import OWN_SET, BookMemory, ContextBook, Prompt, is_visible, read_books
from tests.bench.context_gate import measure_gate, read_note_sets, render_gate
from tests.book.opened import at

NOW = "2026-11-15T09:00:00Z"  # of the sessions: later than every memory
BEGINNING = 12  # words of a memory that tell of it: more than there are in a key, which only names it


class SessionTold(NamedTuple):
    """One session start: what its brief tells of the memories that it sees."""

    book: str
    project: str
    characters: int
    standing: list[str]
    standing_missed: list[str]
    misleading: list[str]


class PromptTold(NamedTuple):
    """One prompt: what it got, beside what would have helped."""

    book: str
    project: str
    prompt: str
    characters: int
    helpful: list[str]
    in_brief: list[str]  # of the helpful ones
    told: list[str]  # at the prompt, without standing preferences
    told_whole: list[str]
    misleading: list[str]

    @property
    def is_helped(self) -> bool:
        """Whether a helpful memory was told by the brief or at the prompt."""
        return not {*self.helpful}.isdisjoint([*self.in_brief, *self.told_whole])


class Figures(NamedTuple):
    """What is printed. Shares are from 0 to 1, and None where there is nothing to count."""

    standing_told: float | None
    helped: float | None
    helped_at_prompt: float | None
    precision: float | None
    noise: float | None
    misleading_in_briefs: int
    misleading_at_prompts: int
    brief_characters: float
    prompt_characters: float


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.context",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", metavar="FILE", type=Path, default=OWN_SET, help="another set of the same form")
    parser.add_argument("--json", action="store_true", help="print JSON, with what each session and prompt was told")
    parser.add_argument(
        "--gate", action="store_true", help="measure what passes the gate for prompts on the sets for recall instead"
    )
    options = parser.parse_args(words)
    if options.gate:
        print(render_gate(measure_gate(read_note_sets())))
        return 0
    try:
        books = read_books(options.data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{options.data} cannot be read as a context set: {error!a}. See docs/context-set.md.", file=sys.stderr)
        return 1
    sessions: list[SessionTold] = []
    prompts: list[PromptTold] = []
    for book in books:
        with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
            fill_book(Path(folder), book)
            for session, answers in ask_sessions(Path(folder), book):
                sessions.append(session)
                prompts += answers
    figures = count(sessions, prompts)
    if options.json:
        rows = {"sessions": [row._asdict() for row in sessions], "prompts": [row._asdict() for row in prompts]}
        print(json.dumps({"figures": figures._asdict(), **rows}, ensure_ascii=False))
    else:
        print(render(figures))
    return 0


def fill_book(folder: Path, contents: ContextBook) -> None:
    """Store a book in a folder: each memory at its time, by its author, and what is from outside by an import."""
    with ExitStack() as stack:
        books: dict[tuple[str | None, str], Book] = {}
        for memory in contents["memories"]:
            is_imported = memory["trust"] == "external" or "accepted" in memory
            agent = memory["author"] if memory["trust"] == "agent" and not is_imported else None
            place = agent, memory.get("project", contents["prompts"][0]["project"])
            if place not in books:
                opened = Book.open(folder / "book", project=place[1], agent=agent)
                books[place] = stack.enter_context(opened)
            store(at(books[place], memory["time"]), memory, folder / "import" if is_imported else None)
        for book in books.values():
            with suppress(EmbedderMissing):
                book.embed()  # as the servers of earlier sessions have done


def store(book: Book, memory: BookMemory, source: Path | None) -> None:
    """Store a memory, or import it from a note in the folder of a source."""
    scope = ScopeKind.PROJECT if "project" in memory else ScopeKind.GLOBAL
    if source is None:
        book.store(
            memory["text"], memory["key"], scope, MemoryType(memory["type"]), memory["tags"], author=memory["author"]
        )
        return
    source.mkdir(exist_ok=True)
    note = source / f"{memory['key']}.md"
    head = {"title": memory["key"], "permalink": memory["key"], "type": memory["type"], "tags": memory["tags"]}
    lines = [f"{name}: {json.dumps(value)}" for name, value in (*head.items(), ("created", memory["time"]))]
    note.write_text("\n".join(("---", *lines, "---", memory["text"], "")), "utf-8")
    book.import_from(note, "basic-memory", scope)
    if "accepted" in memory:
        book.accept(memory["key"], scope)


def ask_sessions(folder: Path, contents: ContextBook) -> Iterator[tuple[SessionTold, list[PromptTold]]]:
    """Yield what a session of each project is told at its start, and at each of its prompts."""
    for project in dict.fromkeys(prompt["project"] for prompt in contents["prompts"]):
        memories = {memory["key"]: memory for memory in contents["memories"] if is_visible(memory, project)}
        standing = [key for key, memory in memories.items() if "standing" in memory]
        with Book.open(folder / "book", project=project, agent="claude-code") as book:
            at(book, NOW)
            brief = book.brief()
            told = find_told(brief.text, memories)
            session = SessionTold(
                book=contents["name"],
                project=project,
                characters=len(brief.text),
                standing=[key for key in standing if key in told],
                standing_missed=[key for key in standing if key not in told],
                misleading=[key for key in find_told(brief.text, memories, BEGINNING) if "misleading" in memories[key]],
            )
            asked = [prompt for prompt in contents["prompts"] if prompt["project"] == project]
            yield session, [_ask(book, contents["name"], prompt, memories, told) for prompt in asked]


def _ask(
    book: Book, name: str, prompt: Prompt, memories: Mapping[str, BookMemory], in_brief: Sequence[str]
) -> PromptTold:
    text = book.brief(prompt["prompt"]).prompt_text
    told = [key for key in find_told(text, memories, BEGINNING) if "standing" not in memories[key]]
    return PromptTold(
        book=name,
        project=prompt["project"],
        prompt=prompt["prompt"],
        characters=len(text),
        helpful=prompt["helpful"],
        in_brief=[key for key in prompt["helpful"] if key in in_brief],
        told=told,
        told_whole=[key for key in find_told(text, memories) if key in told],
        misleading=[key for key in told if "misleading" in memories[key]],
    )


def find_told(text: str, memories: Mapping[str, BookMemory], most: int | None = None) -> list[str]:
    """Return the keys of the memories whose text, or as much as the most words of it, is in what an agent is given."""
    words = _words(text)
    return [key for key, memory in memories.items() if _words(memory["text"], most) in words]


def _words(text: str, most: int | None = None) -> str:
    """Return the words of a text alone: how they are escaped and broken into lines does not matter."""
    words = re.findall(r"\w+", text.casefold())[:most]
    return f" {' '.join(words)} "


def count(sessions: Sequence[SessionTold], prompts: Sequence[PromptTold]) -> Figures:
    """Return the figures of all sessions and prompts."""
    helpable = [row for row in prompts if row.helpful]
    told = [key in row.helpful for row in prompts for key in row.told]
    return Figures(
        standing_told=_share(
            [key in row.standing for row in sessions for key in (*row.standing, *row.standing_missed)]
        ),
        helped=_share([row.is_helped for row in helpable]),
        helped_at_prompt=_share([not {*row.helpful}.isdisjoint(row.told_whole) for row in helpable]),
        precision=_share(told),
        noise=_share([bool(row.told) for row in prompts if not row.helpful]),
        misleading_in_briefs=sum(len(row.misleading) for row in sessions),
        misleading_at_prompts=sum(len(row.misleading) for row in prompts),
        brief_characters=fmean([row.characters for row in sessions]),
        prompt_characters=fmean([row.characters for row in prompts]),
    )


def _share(values: Sequence[bool]) -> float | None:
    return fmean(values) if values else None


def render(figures: Figures) -> str:
    """Return the figures as a table, with what is wanted of them."""
    rows = [
        ("standing preferences told in the brief", figures.standing_told, ">= 95 %"),
        ("prompts with a helpful memory that got one", figures.helped, ">= 80 %"),
        ("  at the prompt itself", figures.helped_at_prompt, ""),
        ("precision of what prompts were told", figures.precision, ">= 70 %"),
        ("prompts that need nothing and got something", figures.noise, "<= 8 %"),
    ]
    counts = [
        ("misleading memories told in briefs", figures.misleading_in_briefs),
        ("misleading memories told at prompts", figures.misleading_at_prompts),
        ("characters of a brief, on average", figures.brief_characters),
        ("characters added to a prompt, on average", figures.prompt_characters),
    ]
    lines = [f"{name:<46}{'-' if share is None else f'{share:.1%}':>9}  {wanted}" for name, share, wanted in rows]
    lines += [f"{name:<46}{number:>9.0f}" for name, number in counts]
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main())
