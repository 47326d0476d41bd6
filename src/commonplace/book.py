"""The facade: a book, with one method per use case.

Every write goes the same way: role and rank, secrets, duplicates, then a unit that is durable before the answer. Every
read goes through the caller's view. Surfaces call this, and nothing below it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType

from commonplace import reporting, reviewing
from commonplace.desk import Desk
from commonplace.guard.secrets import check_secrets, find_unmarked
from commonplace.index.port import Row
from commonplace.keep import data, life, links, memories, past
from commonplace.keep.caller import Role
from commonplace.keep.retention import Retired, retire
from commonplace.keep.unit import Unit
from commonplace.keep.verify import scope_folders, verify
from commonplace.model.errors import InvalidField, NotFound
from commonplace.model.hits import Hit
from commonplace.model.memory import Memory, Status
from commonplace.model.results import (
    Finding,
    ListedMemory,
    Made,
    Proposal,
    Recall,
    Revision,
    Scanned,
    Setting,
    Standing,
    Stored,
    Verified,
)
from commonplace.model.scope import Scope
from commonplace.model.value import replace
from commonplace.opening import make_book, open_desk
from commonplace.recall.question import KINDS, Question
from commonplace.recall.search import find
from commonplace.storing import Item, check_no_secrets, decided, read_item, read_labels, similar_to, store_one
from commonplace.vault.paths import resolve


class Book:
    """One book, as one caller sees it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] | None = None,
        *,
        project: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        sealed: bool | None = None,
        role: str = "person",
        cwd: str | os.PathLike[str] | None = None,
    ) -> Book:
        """Open a book, making what is missing. `cwd` is the folder that tells the project when `project` does not."""
        flags = {"project": project, "agent": agent, "session": session, "sealed": sealed}
        return cls(open_desk(root, flags, _role(role), cwd))

    @classmethod
    def init(cls, root: str | os.PathLike[str] | None = None, *, template: str = "minimal") -> Made:
        """Make a book, or what is missing in one; what is there stays as it is."""
        return make_book(root, template)

    def close(self) -> None:
        self._desk.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def watch(self) -> None:
        """For a process that lives long: see within a second what others change in the files."""
        self._desk.watch()

    # Writing

    def store(
        self,
        content: str,
        key: str | None = None,
        scope: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the specification
        tags: Sequence[str] = (),
        summary: str | None = None,
        mode: str = "append",
        if_revision: str | None = None,
        decision: str | None = None,
        author: str | None = None,
        occurred: str | None = None,
        thread: str | None = None,
        seq: int | None = None,
    ) -> Stored:
        """Keep something. Answers where it is, what was done, and which memories say nearly the same."""
        desk = self._desk
        desk.check_writes()
        entry = desk.entry(content, author, occurred, thread, seq)
        labels = read_labels(type, tags, summary)
        check_no_secrets(entry, labels)
        key, supersedes = decided(key, decision)
        target = desk.target(scope, key)
        desk.caller.check_write(target)
        similar = similar_to(desk, content)
        with desk.keep.unit(desk.folder(target), desk.view_for(target)) as unit:
            kept = store_one(desk, unit, target, key, entry, labels, mode, if_revision)
            if supersedes is not None and supersedes != kept.key:
                links.supersede(unit, supersedes, kept.key, origin=self._origin, who=self._desk.who)
            unit.commit()
        others = tuple(item for item in similar if (item.key, item.scope) != (kept.key, kept.scope))
        return replace(kept, similar=others) if others else kept

    def store_many(self, items: Iterable[Mapping[str, object]]) -> list[Stored]:
        """Keep many: those of one scope are written, synced and acknowledged together."""
        desk = self._desk
        desk.check_writes()
        by_scope: dict[Scope, list[tuple[int, Item]]] = {}
        for number, given in enumerate(items):  # all that can be refused is refused before anything is written
            item = read_item(desk, given)
            target = desk.target(item.scope, item.key)
            desk.caller.check_write(target)
            by_scope.setdefault(target, []).append((number, item))
        answers: dict[int, Stored] = {}
        with ExitStack() as locks:
            units = []
            for target in sorted(by_scope, key=desk.folder):
                unit = locks.enter_context(desk.keep.unit(desk.folder(target), desk.view_for(target)))
                for number, item in by_scope[target]:
                    answers[number] = store_one(
                        desk, unit, target, item.key, item.entry, item.labels, item.mode, item.if_revision
                    )
                units.append(unit)
            for unit in units:
                unit.commit()
        return [answers[number] for number in sorted(answers)]

    def source(self, key: str, scope: str | None = None) -> tuple[bytes, str]:
        """The file of a memory as it is, and its revision: to be edited."""
        memory, desk = self.show(key, scope), self._desk
        document = desk.keep.vault.read(desk.keep.space, desk.view_for(memory.scope), resolve(memory.path))
        return document.data, document.revision

    def edit(self, key: str, data: bytes, scope: str | None = None, *, if_revision: str | None = None) -> Stored:
        """Put a whole new file in the place of a memory's: what a person made of it in an editor."""
        check_secrets(data.decode("utf-8", "replace"))
        who = self._desk.who
        return self._desk.change(key, scope, lambda unit: life.edit(unit, key, data, who, if_revision=if_revision))

    def undo(self, key: str, scope: str | None = None) -> Stored:
        """The revision before the last change, as a new one."""
        return self._desk.change(key, scope, lambda unit: life.undo(unit, key, self._desk.who))

    def forget(
        self, key: str, scope: str | None = None, *, purge: bool = False, if_revision: str | None = None
    ) -> Stored:
        """To the trash; with `purge`, out of the files, the history, the trash, the index and the state."""
        desk = self._desk
        desk.check_writes()
        if not purge:
            return desk.change(key, scope, lambda unit: life.forget(unit, key, desk.who, if_revision=if_revision))
        target = desk.target_past(key, scope, past.TRASH, past.HISTORY, or_there=True)
        idents: set[str] = set()

        def purged(unit: Unit) -> life.Kept:
            kept, known = life.purge(unit, key)
            idents.update(known)
            return kept

        for folder in scope_folders(desk.keep):  # where it was before somebody moved it, it is still in index and pages
            desk.keep.reconcile(folder)
        answer = desk.change(key, target, purged)
        desk.keep.index.scrub()
        desk.state.forget_refs(desk.keep.space, sorted(idents))
        return answer

    def restore(self, key: str, scope: str | None = None) -> Stored:
        """The newest of this key from the trash, byte for byte."""
        self._desk.check_writes()
        target = self._desk.target_past(key, scope, past.TRASH)
        return self._desk.change(key, target, lambda unit: life.restore(unit, key, self._desk.who))

    def clear(self, scope: str) -> int:
        """Forget everything in one scope; answers how many memories that were."""
        desk = self._desk
        desk.check_writes()
        target = desk.caller.scope(scope)
        desk.caller.check_write(target)
        with desk.keep.unit(desk.folder(target), desk.view_for(target)) as unit:
            unit.look_again()  # what somebody put there or took away by hand counts as well
            keys = [item.key for item in self.list(scope, hidden=True)]
            for key in keys:
                life.forget(unit, key, desk.who)
            unit.commit()
        return len(keys)

    def consolidate(
        self, keys: Sequence[str], content: str, key: str | None = None, scope: str | None = None
    ) -> Stored:
        """Several become one; the old ones are superseded, linked and still there."""
        desk = self._desk
        desk.check_writes()
        old = list(dict.fromkeys(keys))
        if len(old) < 2:
            raise InvalidField("Consolidating takes at least two keys.")
        check_secrets(content)
        target = desk.target_of(old[0], scope)
        desk.caller.check_write(target)
        entry = desk.entry(content, None, None, None, None)
        with desk.keep.unit(desk.folder(target), desk.view_for(target)) as unit:
            for one in old:
                unit.get(one)
            kept = store_one(desk, unit, target, key, entry, life.Labels(), "append", None)
            for one in old:
                if one != kept.key:
                    links.supersede(unit, one, kept.key, origin=self._origin, who=self._desk.who)
            unit.commit()
        return replace(kept, action="consolidated")

    def link(self, key: str, rel: str, to: str, scope: str | None = None) -> Stored:
        """Link one memory to another. An agent's link is proposed, a person's stands."""
        origin, who = self._origin, self._desk.who
        return self._desk.change(key, scope, lambda unit: links.add_link(unit, key, rel, to, origin=origin, who=who))

    def review(self) -> list[Proposal]:
        """Everything that waits for somebody's verdict: memories and links, proposed or quarantined."""
        return reviewing.queue(self._desk)

    def accept(
        self,
        key: str,
        scope: str | None = None,
        *,
        content: str | None = None,
        rel: str | None = None,
        to: str | None = None,
    ) -> Stored:
        """What waits stands from now on: a memory, edited to `content` if given, or its link `rel` to `to`."""
        return reviewing.accept(self._desk, key, scope, content, rel, to)

    def reject(self, key: str, scope: str | None = None, *, rel: str | None = None, to: str | None = None) -> Stored:
        """A memory that waits goes to the trash; a link stays, as rejected, so that nobody proposes it again."""
        return reviewing.reject(self._desk, key, scope, rel, to)

    # Data files

    def data_put(self, name: str, content: bytes) -> str:
        """Keep a file of any bytes under data/; one that is text goes through the secret gate."""
        self._desk.check_writes()
        with contextlib.suppress(UnicodeDecodeError):
            check_secrets(content.decode("utf-8"))
        return str(data.put_data(self._desk.keep, self._desk.view(), name, content))

    def data_get(self, name: str) -> bytes:
        self._desk.caller.check_reads()
        if not self._desk.settings.enabled:
            raise NotFound("There is no data file: memory is switched off here.")
        return data.get_data(self._desk.keep, self._desk.view(), name)

    def data_list(self) -> list[str]:
        self._desk.caller.check_reads()
        return data.list_data(self._desk.keep, self._desk.view()) if self._desk.settings.enabled else []

    def data_remove(self, name: str) -> None:
        self._desk.check_writes()
        data.remove_data(self._desk.keep, self._desk.view(), name)

    # Reading

    def recall(
        self,
        query: str = "",
        scope: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the specification
        tags: Sequence[str] = (),
        kinds: Sequence[str] = KINDS,
        since: str | None = None,
        until: str | None = None,
        as_of: str | None = None,
        limit: int = 10,
        mode: str = "hybrid",
        sort: str = "score",
        budget_tokens: int | None = None,
        related: bool = False,
        explain: bool = False,
        expired: bool = False,
        everything: bool = False,
    ) -> Recall:
        """What the book knows about something, best first. No good match is no hit."""
        desk = self._desk
        desk.caller.check_reads()
        if not desk.settings.enabled:
            return Recall((), 0)
        folders = tuple(str(folder) for folder in desk.asked(scope, everything=everything))
        question = Question(
            query, folders, type, tuple(tags), tuple(kinds), since, until, as_of, limit, mode, sort, budget_tokens,
            expired, explain,
        )  # fmt: skip
        now = desk.keep.clock()
        answer = find(desk.keep.index, desk.keep.space, question.checked(), now=now, uses=desk.uses)
        desk.used([item.candidate.row.id for item in answer.hits if item.candidate.row])
        self._revive([item.candidate.row for item in answer.hits if item.candidate.row])
        explained = tuple(item.parts for item in answer.hits) if explain else ()
        hits = [desk.hit(item) for item in answer.hits]
        linked = desk.related(hits, limit) if related else []
        return Recall((*hits, *linked), answer.total, answer.hidden, explained)

    def show(self, key: str, scope: str | None = None) -> Memory:
        """One memory, from the nearest scope that has it."""
        desk = self._desk
        desk.caller.check_reads()
        for place in self._read_scopes(scope):
            memory = memories.load(desk.keep, desk.view_for(place), place, desk.folder(place), key)
            if memory is not None:
                desk.used([memory.meta.id])
                return memory
        raise NotFound(f"There is no memory {key!a} in your scopes.")

    def list(self, scope: str | None = None, *, hidden: bool = False, everything: bool = False) -> list[ListedMemory]:
        """The memories of the caller's scopes, by scope and key; superseded and expired ones only on request."""
        desk = self._desk
        desk.caller.check_reads()
        folders = desk.asked(scope, everything=everything) if desk.settings.enabled else []
        return [item for item in desk.listing(folders) if hidden or item.status not in ("expired", "superseded")]

    def history(self, key: str, scope: str | None = None) -> Sequence[Revision]:
        """Every revision that is known of a memory, oldest first, with who and why."""
        desk = self._desk
        desk.caller.check_reads()
        for place in self._read_scopes(scope):
            found = memories.revisions(desk.keep, desk.view_for(place), place, desk.folder(place), key)
            if found:
                return found
        raise NotFound(f"There is no memory {key!a} in your scopes, nor in their trash.")

    def timeline(self, session: str | None = None, since: str | None = None, limit: int = 50) -> Sequence[Hit]:
        """What was stored, by time, latest first; of one session if asked."""
        desk = self._desk
        desk.caller.check_reads()
        folders = tuple(str(folder) for folder in desk.asked(None)) if desk.settings.enabled else ()
        question = Question("", folders, since=since, limit=limit, sort="recency", session=session).checked()
        answer = find(desk.keep.index, desk.keep.space, question, now=desk.keep.clock(), uses=desk.uses)
        return [desk.hit(item) for item in answer.hits]

    def related(self, key: str, scope: str | None = None) -> Sequence[ListedMemory]:
        """The memories that a memory links to, in its frontmatter or its text."""
        return links.related(self.show(key, scope), self.list(hidden=True))

    def retire(self) -> Retired:
        """Let what is too old in the caller's scopes go: session memories to the trash, unused project ones hidden."""
        desk = self._desk
        desk.check_writes()
        trashed: list[str] = []
        expired: list[str] = []
        for folder in desk.asked(None):
            with desk.keep.index.reading(desk.keep.space) as index:
                refs = [row.id for place in index.folders(str(folder)) for row in index.rows(place).values() if row.id]
            uses = desk.state.usage(desk.keep.space, refs)
            done = retire(
                desk.keep,
                folder,
                now=desk.keep.clock(),
                born=desk.state.born(desk.keep.space),
                last_uses={ref: usage.last for ref, usage in uses.items()},
            )
            trashed += done.trashed
            expired += done.expired
        return Retired(tuple(trashed), tuple(expired))

    def verify(self) -> Verified:
        """Proof that the index and the pages are what the files say."""
        return verify(self._desk.keep)

    def doctor(self) -> Sequence[Finding]:
        """Everything that is wrong in the book, worst first, with what to do. Changes no file."""
        from commonplace.care.doctor import examine  # noqa: PLC0415 - rarely asked for, and every start would pay

        desk = self._desk
        desk.check_sees_all("doctor")
        return examine(desk.keep, root=desk.root, database_folder=desk.database_folder)

    def scan(self) -> Scanned:
        """Where something that looks like a secret is stored: path, line and rule, never the value."""
        from commonplace.care.scan import scan  # noqa: PLC0415 - the same

        self._desk.check_sees_all("scan")
        return scan(self._desk.keep, find_unmarked)

    def status(self) -> Standing:
        """What is where: files, databases, scopes, and what leaves this machine."""
        return reporting.standing(self._desk)

    def config(self) -> Sequence[Setting]:
        """Every setting with its value and where that comes from."""
        return reporting.settings_of(self._desk)

    def configure(self, name: str, value: str | None) -> Sequence[Setting]:
        """Set a setting in the book's config.toml, or with None take it out."""
        return reporting.configure(self._desk, name, value)

    def trust(self, *, revoke: bool = False) -> bool:
        """Allow this book's config.toml, as it is now, to name programs and endpoints; answers whether it may."""
        return reporting.trust(self._desk, revoke=revoke)

    def reindex(self) -> int:
        """Read every note again and mend the pages; answers how many notes there are."""
        self._desk.keep.rebuild(scope_folders(self._desk.keep))
        return self.verify().files

    # What several verbs share

    def _read_scopes(self, scope: str | None) -> Sequence[Scope]:
        """Where a key is looked for, nearest first; nowhere when memory is switched off."""
        caller = self._desk.caller
        wanted = caller.scopes() if scope is None else [caller.scope(scope)]
        return wanted if self._desk.settings.enabled else []

    def _revive(self, rows: Sequence[Row]) -> None:
        """What was hidden for want of use and is used again is hidden no more."""
        for row in rows:
            if row.status == Status.EXPIRED.value and self._desk.caller.role.reach >= 0:
                scope, key = self._desk.place_of(row.folder, row.name)
                with self._desk.keep.unit(self._desk.folder(scope), self._desk.view_for(scope)) as unit:
                    life.relabel(unit, key, life.Labels(status=Status.ACTIVE), touch=False)
                    unit.commit()

    @property
    def _origin(self) -> str:
        return "human" if self._desk.caller.role is Role.PERSON and self._desk.caller.agent is None else "agent"


def _role(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise InvalidField(f"{word[:40]!a} is not a role.", hint=f"Use one of: {', '.join(Role)}.") from None
