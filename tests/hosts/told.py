"""What a model is told of a book in use, what its user sees, and what disconnect leaves, in a real agent program.

Each host's module says how a session is held there (`Session`), and has one step "HOST: told" of `tell`: the same
prompts are given without us, then connected with the real hook and the real server, and the files are compared after
disconnect. The scripted model's requests show what arrived.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from commonplace.book import Book
from commonplace.context.nudges import NUDGE_EVERY
from commonplace.context.records import list_sessions, save_session
from commonplace.hosts.config_edit.parts import Host
from commonplace.model.scope import LOCAL
from commonplace.state.sqlite import SqliteState
from tests.bench.scratch_books import embed_whole
from tests.hosts.places import tree
from tests.hosts.scripted_model import Model, scripted
from tests.hosts.world import Ran, World

WISH = "Never say sorry; say what you will change."
BY_WORDS = "The staging database listens on port 6432 behind the pooler, not 5432."
BY_MEANING = "Nightly backups of the customer records go to the Frankfurt bucket."
ASKED_BY_MEANING = "Where are copies of client data stored overnight?"
PROMPTS = (
    "Which port does the staging database listen on?",
    "Is the staging database port open from outside?",
    ASKED_BY_MEANING,
    "Remember that the office is closed on Mondays.",
    "Which port was that of the staging database?",  # counted as the 15th
)
_SERVICES = (
    "billing", "shipping", "login", "search", "basket", "refunds", "ratings", "stock", "mail", "coupons", "tax",
    "printing", "chat", "maps", "films",
)  # fmt: skip
_FACTS = (
    "The {} service writes its log as JSON lines and rotates it weekly.",
    "Alarms of the {} service go to the team of the week.",
    "The {} service is written in Go and has no framework.",
    "Feature flags of the {} service live in a table of its own.",
    "The {} service keeps its metrics for ninety days.",
    "Somebody of the {} team reads every pull request.",
    "The {} service starts in four seconds on a cold machine.",
    "Load tests of the {} service run on the first Monday.",
    "The {} service retries a failed call three times.",
    "Secrets of the {} service come from the vault.",
)
# What we leave in a home besides the book: the folder of the sockets, empty.
_STATE = ("home/.local", "home/.local/state", "home/.local/state/commonplace", "home/.local/state/commonplace/run")

Snapshot = dict[str, tuple[int, bytes | str]]


class Session(NamedTuple):
    """How a host holds a session of several prompts.

    `settle` writes the user's own settings, with a hook of theirs that adds a line to `world.own_log` at each prompt.
    `ask` gives the prompt with a number, which goes on in the last session unless it is 0. `writes` are the files that
    the host itself writes whenever it runs, as patterns of paths, and `may_write` those that it writes now and then.
    """

    settle: Callable[[World, Model], None]
    ask: Callable[[World, Model, int, str], Ran]
    writes: Sequence[str]
    may_write: Sequence[str] = ()


class Turn(NamedTuple):
    """What one prompt brought about: the model's requests, and what the user saw."""

    requests: list[str]
    printed: str


def fill_book(world: World) -> None:
    """Give the world a book: what its user wants, 150 newer memories that no prompt asks for, and two older ones."""
    root = world.environment["COMMONPLACE_ROOT"]
    world.use_real_hook()
    with Book.open(root, cwd=world.project) as book:
        book.store(WISH, "no-apologies", "global", "feedback")
    with Book.open(root, cwd=world.project, agent="scout") as book:
        book.store(BY_WORDS, "staging-port", "global")
        book.store(BY_MEANING, "backups", "global")
        facts = [(fact.format(name), f"{name}-{n}") for name in _SERVICES for n, fact in enumerate(_FACTS)]
        book.store_many([{"content": text, "key": key, "scope": "global"} for text, key in facts])
        embed_whole(book)
        book.recall("index what was stored")
        text = book.brief().text
    assert WISH in text and BY_WORDS not in text and BY_MEANING not in text, text


def count(request: str, text: str) -> int:
    """Return how often a text stands in a request."""
    return "\n".join(_strings(json.loads(request))).count(text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def is_turn(request: str) -> bool:
    """Return whether a request is the agent's own, with its tools: not one for a title."""
    return bool(json.loads(request).get("tools"))


def tell(world: World, host: Host, session: Session) -> str:
    """Hold the session without us and connected, and compare what was asked, what was seen, and the files."""
    fill_book(world)
    with scripted(()) as model:
        session.settle(world, model)
        new = take_snapshot(world)
        alone = hold(world, session, model)
        used = take_snapshot(world)
        world.connect(host)
        assert take_snapshot(world) != used
        told = hold(world, session, model)
        world.disconnect(host)
    left = take_snapshot(world)
    check_told(told)
    for number, (bare, turn) in enumerate(zip(alone, told, strict=True)):
        assert turn.printed.strip() == f"Answer {number}." == bare.printed.strip(), (bare.printed, turn.printed)
        assert len(turn.requests) == len(bare.requests), f"prompt {number}: {len(turn.requests)} requests"
    own = world.own_log.read_text().splitlines()
    assert len(own) == 2 * len(PROMPTS), f"the user's own hook ran {len(own)} times"
    files = check_files(new, used, left, session)
    meaning = [n for n, turn in enumerate(told) if any(count(asked, BY_MEANING) for asked in turn.requests)]
    by = f"by meaning from prompt {meaning[0] + 1} on" if meaning else "by words alone: the server comes too late"
    return f"wish and recall once in {len(PROMPTS)} prompts, answers and requests as without us; recall {by}; {files}"


def hold(world: World, session: Session, model: Model) -> list[Turn]:
    """Give all prompts in one session."""
    turns = []
    for number, prompt in enumerate(PROMPTS):
        if number == len(PROMPTS) - 1:
            make_nudge_due(world)
        model.answer = f"Answer {number}."
        before = len(model.asked)
        ran = session.ask(world, model, number, prompt)
        assert ran.status == 0, ran.text
        turns.append(Turn(model.asked[before:], ran.printed))
    return turns


def make_nudge_due(world: World) -> None:
    """Make the next prompt of every session its 15th."""
    path = Path(world.environment["COMMONPLACE_ROOT"], ".commonplace", "state.db")
    with closing(SqliteState(str(path))) as state:
        for record in list_sessions(state, LOCAL):
            save_session(state, LOCAL, record._replace(quiet=NUDGE_EVERY - 1, nudged=0), lasting=True)


def check_told(turns: Sequence[Turn]) -> None:
    """Check that each context has the wish and the memory that was asked for once, and a request for a title neither.

    The last prompt has a reminder that no earlier one has.
    """
    for number, turn in enumerate(turns):
        assert any(map(is_turn, turn.requests)), f"prompt {number}: no request with tools"
        for asked in turn.requests:
            wanted = int(is_turn(asked))
            found = count(asked, WISH), count(asked, BY_WORDS)
            assert found == (wanted, wanted), f"prompt {number}: wish and recall {found} times, not {wanted}"
            assert count(asked, BY_MEANING) <= wanted, f"prompt {number}: the other memory more than once"
    reminders = [max(count(asked, "[commonplace]") for asked in turn.requests) for turn in turns]
    assert reminders[-1] == reminders[-2] + 1, reminders


def take_snapshot(world: World) -> Snapshot:
    """Return the modes and bytes of everything in the home and the project."""
    folders = (world.home, world.project)
    return {f"{place.name}/{name}": what for place in folders for name, what in tree(place).items()}


def check_files(new: Snapshot, used: Snapshot, left: Snapshot, session: Session) -> str:
    """Check that only what the host writes by itself differs: by a run without us that wrote each of these, too."""
    own = changed(new, used)
    for pattern in session.writes:
        assert any(fnmatch(name, pattern) for name in own), f"the host alone does not write {pattern}"
    for names in (own, changed(used, left)):
        of_host = (*session.writes, *session.may_write)
        strange = [name for name in sorted(names) if not any(fnmatch(name, pattern) for pattern in of_host)]
        strange = [name for name in strange if name not in _STATE or left[name][1] != "folder"]
        assert not strange, f"written by neither us nor the user: {strange}"
    same = [name for name in new if left.get(name) == new[name] and new[name][1] != "folder"]
    return f"{len(same)} files of the user as they were, {len(session.writes)} of the host left out"


def changed(before: Snapshot, after: Snapshot) -> set[str]:
    """Return the names of what is not the same in two snapshots."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
