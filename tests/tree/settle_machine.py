"""A tree to which anything happens that can happen to one: the state machine of `test_settle_machine`.

It runs on the simulated disk of `crash_points`. Each command may be killed at any point, and may have any time limit.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from commonplace.model.errors import NotFound
from commonplace.model.times import shift_time
from commonplace.tree import digests, forget, ingest, seal, topics
from commonplace.tree.settle import settle as settle_tree
from commonplace.vault.paths import KEEPER, resolve
from commonplace.vault.port import ANY, Delete, Write
from commonplace.verbs.context import BookContext
from commonplace.verbs.ingest import IngestRequest
from commonplace.verbs.ingest import ingest as ingest_verb
from commonplace.verbs.tree_opening import open_tree
from commonplace.verbs.tree_sources import TreeForgetRequest, tree_forget
from tests.tree import crash_points
from tests.tree.crash_points import Command, check_index, make_place, open_place, run, tree_files
from tests.tree.settle_checks import check_rows, find_faults, node_rows
from tests.tree.settle_scenes import dated_mail, settle

SMALL = {
    (seal, "MOST_CHILDREN"): 3, (seal, "_SEALED"): 2, (seal, "_DIVIDED"): 3, (digests, "_WRITTEN"): 4,
    (digests, "_MOST_DAYS"): 5,
    (topics, "_WRITTEN"): 1, (topics, "_UNITS"): 4, (topics, "_THREADS"): 2, (topics, "_DAYS"): 2,
    (ingest, "BATCH"): 3, (forget, "BATCH"): 3,
}  # fmt: skip
MOST_STEPS = 400  # of one settle
_WORDS = (
    "The rack is warm.",
    "We agreed to move it on Friday.",
    "Who orders the parts?",
    "OPS-7 waits.",
    "It is done.",
)
ME = ("bob@example.org",)  # who answers some of the questions
_START, _EPOCH = "2026-11-15T12:00:00Z", 1_793_000_000

words = st.lists(st.sampled_from(_WORDS), min_size=0, max_size=3, unique=True)
days = st.builds(
    lambda year, month, day: f"{year}-{month:02}-{day:02}", st.sampled_from((2025, 2026, 2026)), st.integers(1, 11),
    st.integers(1, 14),
)  # fmt: skip
new_mails = st.lists(st.tuples(words, days, st.integers(0, 12)), min_size=1, max_size=9)


class Endless(Exception):
    """A settle that does not end."""


class TreeMachine(RuleBasedStateMachine):
    """What happens to a tree, and what must hold once it is settled."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tree-machine-"))
        self.place = make_place(self.folder / "databases")
        self.copies = 0
        self.mails: dict[str, list[str]] = {"mail": [], "other": []}
        self.notes: dict[str, str] = {}
        self.said: list[str] = []
        self.now = _START
        self.patches = [patch.object(module, name, value) for (module, name), value in SMALL.items()]
        for one in self.patches:
            one.start()

    def teardown(self) -> None:
        try:
            self.settle_and_check()
        finally:
            for one in self.patches:
                one.stop()
            shutil.rmtree(self.folder)

    # How things are done

    def do(self, command: Command, kill_at: int | None = None) -> None:
        """Run a command; killed at a point, if it has so many."""
        with patch.object(crash_points, "NOW", self.now):
            if kill_at is None:
                run(self.place, command)
                return
            self.copies += 1
            kept = self.folder / f"kept-{self.copies}"
            found = crash_points.record(self.place, command, kept, kill_at, most=1)
            if found.snapshots:
                self.place = found.snapshots[0].place

    def change_files(self, changes: list[Write | Delete]) -> None:
        """Change files as another program does, which the book then sees."""

        def change(context: BookContext) -> None:
            memories = context.memories
            memories.vault.apply(memories.space, KEEPER, changes)
            tree = open_tree(context)
            for folder in tree.folders():
                tree.memories.reconcile(folder)

        self.do(change)

    def paths(self, wanted: Callable[[list[str]], bool]) -> list[str]:
        """Return the paths of notes below tree/, by the parts of their paths."""
        found = sorted(path for path in tree_files(self.place) if path.endswith(".md") and "/_index/" not in path)
        return [path for path in found if wanted(path.split("/")[2:]) and not path.endswith(("index.md", "/_also.md"))]

    # What is brought in

    @rule(source=st.sampled_from(("mail", "other")), texts=new_mails, kill=st.none() | st.integers(1, 400))
    def add_mails(self, source: str, texts: list[tuple[list[str], str, int]], kill: int | None) -> None:
        """Mails come, some of which answer older ones, or are in another mailbox too."""
        mails = self.mails[source]
        for some, day, back in texts:
            number = sum(map(len, self.mails.values()))
            answered = number - back if back and number > back else None
            ref = f"n{answered}" if answered is not None else ""
            mails.append(dated_mail(number, " ".join(some), day, answers=ref, title=f"Case {(answered or number) % 5}"))
        shared = self.mails["mail" if source == "other" else "other"][:2]
        path = self.folder / f"{source}.mbox"
        path.write_text("".join([*mails, *shared]))
        self.do(lambda context: ingest_verb(context, IngestRequest((str(path),), name=source, me=ME)), kill)

    @rule(
        texts=st.dictionaries(st.sampled_from(("a", "b", "c", "d")), words, min_size=1),
        kill=st.none() | st.integers(1, 300),
    )
    def write_notes(self, texts: dict[str, list[str]], kill: int | None) -> None:
        """Documents are written, edited, or emptied."""
        folder = self.folder / "notes"
        folder.mkdir(exist_ok=True)
        for name, some in texts.items():
            path = folder / f"{name}.md"
            path.write_text(f"# Part {name}\n\n{' '.join(some)}\n" if some else "")
            os.utime(path, (_EPOCH + self.copies, _EPOCH + self.copies))  # the same whenever the test runs
        self.do(lambda context: ingest_verb(context, IngestRequest((str(folder),))), kill)

    @rule(said=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4), edited=st.none() | st.integers(0, 20),
          kill=st.none() | st.integers(1, 300))  # fmt: skip
    def chat(self, said: list[str], edited: int | None, kill: int | None) -> None:
        """Something is said in a channel, and something else there is edited."""
        folder = self.folder / "chat"
        (folder / "general").mkdir(parents=True, exist_ok=True)
        self.said += said
        if edited is not None:
            self.said[edited % len(self.said)] += " Or not."
        people = [{"id": "U1", "team_id": "T1", "name": "ann", "profile": {"real_name": "Ann Lee"}}]
        (folder / "users.json").write_text(json.dumps(people))
        (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "general", "members": ["U1"]}]))
        for day in range(0, len(self.said), 3):
            messages = [
                {"type": "message", "user": "U1", "ts": f"{1793610000 + 86_400 * day + at}.000100", "text": text}
                for at, text in enumerate(self.said[day : day + 3])
            ]
            (folder / "general" / f"2026-11-{day // 3 % 28 + 1:02}.json").write_text(json.dumps(messages))
        self.do(lambda context: ingest_verb(context, IngestRequest((str(folder),))), kill)

    # What is taken away or changed

    @rule(source=st.sampled_from(("mail", "other", "notes", "chat")), kill=st.none() | st.integers(1, 200))
    def forget(self, source: str, kill: int | None) -> None:
        """A source is forgotten."""

        def run_forget(context: BookContext) -> None:
            with suppress(NotFound):
                tree_forget(context, TreeForgetRequest(source))

        self.do(run_forget, kill)

    @rule(data=st.data())
    def delete_files(self, data: st.DataObject) -> None:
        """Somebody deletes files: of messages, summaries, topics or digests."""
        found = self.paths(lambda parts: len(parts) > 1 and parts[-1] != "_source.md")
        if found:
            some = data.draw(st.lists(st.sampled_from(found), min_size=1, max_size=4, unique=True))
            self.change_files([Delete(resolve(path)) for path in some])

    @rule(data=st.data(), is_copy=st.booleans())
    def move_file(self, data: st.DataObject, *, is_copy: bool) -> None:
        """Somebody moves a file of messages, or copies it and deletes the original."""
        found = self.paths(
            lambda parts: len(parts) == 3 and parts[1] != "summary" and parts[0] not in ("digest", "topic")
        )
        if found:
            path = data.draw(st.sampled_from(found))
            target = f"{path.rpartition('/')[0]}/moved-{self.copies}-{len(found)}.md"
            self.copies += 1
            write, delete = Write(resolve(target), tree_files(self.place)[path], ANY), Delete(resolve(path))
            if is_copy:
                self.change_files([write])
                self.settle(None, None)
                self.change_files([delete])
            else:
                self.change_files([write, delete])

    @rule(data=st.data(), new=st.sampled_from((b"cold", b"")))
    def edit_file(self, data: st.DataObject, new: bytes) -> None:
        """Somebody changes a word of a message or a summary, or the text of a page."""
        found = self.paths(lambda parts: len(parts) == 3)
        if found:
            path = data.draw(st.sampled_from(found))
            text = tree_files(self.place)[path]
            self.change_files([Write(resolve(path), text.replace(b"warm", new).replace(b"agreed", new), ANY)])

    @rule()
    @precondition(lambda self: self.copies % 3 == 0)
    def lose_databases(self) -> None:
        """The index of the tree is lost, and what the book remembers between processes."""
        for path in self.place.databases.iterdir():
            path.unlink()

    @rule(number=st.sampled_from((1, 8, 40, 100)))
    def wait(self, number: int) -> None:
        """Days go by."""
        self.now = shift_time(self.now, number * 86_400)

    # Settling

    @rule(steps=st.none() | st.integers(0, 6), kill=st.none() | st.integers(1, 300))
    def settle(self, steps: int | None, kill: int | None) -> None:
        """The tree is settled, for some time, or until it is killed."""

        def some(context: BookContext) -> None:
            tree = open_tree(context)
            tree.freshen()
            tree.finish()
            moments = chain(repeat(0.0, (steps or 0) + 2), repeat(9.0))
            with patch("commonplace.tree.settle.time.monotonic", lambda: next(moments)):
                settle_tree(tree, 1)

        self.do(settle if steps is None else some, kill)

    def settle_and_check(self) -> None:
        """Settle the tree until nothing is left; fail if that does not end, or anything is wrong then."""
        steps = 0

        def count(*_: int) -> None:
            nonlocal steps
            steps += 1
            if steps > MOST_STEPS:
                raise Endless

        def counted(context: BookContext) -> None:
            tree = open_tree(context)
            tree.freshen()
            tree.finish()
            assert settle_tree(tree, tell=count).pending == 0
            before = tree_files(self.place)
            assert settle_tree(tree) == (0, 0, 0, 0)
            assert tree_files(self.place) == before

        self.do(counted)
        files, rows = tree_files(self.place), self.read_rows()
        assert find_faults(files) == []
        self.do(lambda _: check_index(self.place) and None)  # which builds it anew
        self.do(counted)
        left = tree_files(self.place)
        differ = {
            path: (files.get(path), left.get(path))
            for path in files.keys() | left.keys()
            if "/_index/" not in path and files.get(path) != left.get(path)
        }
        assert differ == {}, differ
        known = self.read_rows()
        assert known == rows, sorted({*known} ^ {*rows})

    def read_rows(self) -> list[str]:
        """Return what the index says of nodes; fail unless the files say so, and no more waits than is too young."""
        with patch.object(crash_points, "NOW", self.now), open_place(self.place) as context:
            tree = open_tree(context)
            check_rows(tree, tree_files(self.place))
            with tree.reading() as index:
                for source in tree.sources():
                    for level, (_, waiting) in index.count_nodes(source.id).items():
                        rows = index.waiting(source.id, level, 99)
                        is_old = max((row.last for row in rows), default="") < shift_time(self.now, -7 * 86_400)
                        assert waiting <= (level > 0 if is_old else 2), (source.id, level)
            return node_rows(tree)
