"""What the verbs of a book stand on: its parts opened, the caller's scopes found, hits made from what was found.

Book has the verbs; this has what several of them need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonplace.index.port import Row
from commonplace.index.sqlite import SqliteIndex
from commonplace.keep import life, links, memories, past
from commonplace.keep.caller import Caller, Role
from commonplace.keep.rows import split_path
from commonplace.keep.scopes import find_folder, scope_pages
from commonplace.keep.unit import Keep, Unit
from commonplace.keep.verify import scope_folders
from commonplace.keep.watch import Watch
from commonplace.model.errors import Disabled, InvalidContent, InvalidField, NotFound, NotPermitted
from commonplace.model.hits import Hit, HitKind
from commonplace.model.keys import check_key
from commonplace.model.memory import Entry, Trust
from commonplace.model.results import ListedMemory, Stored
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.settings import Settings
from commonplace.model.times import read_time
from commonplace.recall.ranking import Scored
from commonplace.recall.search import HIDDEN
from commonplace.state.port import State
from commonplace.text.notes import check_text
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath, note_path, resolve
from commonplace.vault.view import EVERYTHING, View, view_of

MAX_CONTENT = 16_000_000
MAX_FIELD = 10_000
MAX_SEQ = 10**18


class Desk:
    def __init__(
        self,
        keep: Keep,
        state: State,
        settings: Settings,
        caller: Caller,
        *,
        root: str,
        database_folder: str,
        flags: Mapping[str, object],
    ) -> None:
        self.root, self.database_folder, self.flags = root, database_folder, flags
        self.keep = keep
        self.state = state
        self.settings = settings
        self.caller = caller
        self._own: dict[Scope, BookPath] | None = None
        self._folders: dict[Scope, BookPath] = {}
        self._checked: set[BookPath] = set()
        self._epoch = keep.index.epoch
        self._view: View | None = None
        self._watch: Watch | None = None

    def watch(self) -> None:
        """From now on, see outside changes to what was asked about before."""
        if self._watch is None:
            self._watch = Watch(self._look_again)

    def _look_again(self) -> None:
        for folder in list(self._checked):
            self.keep.freshen(folder)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        self.state.close()
        for part in (self.keep.index, self.keep.vault):
            if isinstance(part, (SqliteIndex, LocalVault)):
                part.close()

    # Who and where

    @property
    def sees_all(self) -> bool:
        """A person, and not sealed in: the whole book is theirs to look at."""
        return self.caller.role is Role.PERSON and not self.caller.sealed

    def own(self) -> dict[Scope, BookPath]:
        """The folders of the caller's scopes, nearest first."""
        if self._own is None:
            self._own = {scope: self.folder(scope) for scope in self.caller.scopes()}
        return self._own

    def folder(self, scope: Scope) -> BookPath:
        """The folder of a scope, with the index knowing what is in it."""
        folder = self._folders.get(scope)
        if folder is None:
            folder = self._folders[scope] = find_folder(self.keep, scope)
        return folder

    def view(self, *, everything: bool = False) -> View:
        if everything and self.sees_all:
            return EVERYTHING
        if self._view is None:
            own = frozenset(self.own().values())
            writable = own if self.caller.role.reach >= 0 else frozenset()
            self._view = view_of(own, writable, sealed=self.caller.sealed)
        return self._view

    def view_for(self, scope: Scope, *, verdict: bool = False) -> View:
        """The view for a change to one scope: a reviewer's verdict may reach where the reviewer does not write."""
        if verdict and self.caller.role.reach < 0:
            own = frozenset(self.own().values())
            return view_of(own, own, sealed=self.caller.sealed)
        return self.view(everything=scope not in self.own())

    def asked(self, scope: str | None, *, everything: bool = False) -> list[BookPath]:
        """The folders a question goes to. The first time in a process, each is checked against its files."""
        if self._watch is not None:
            self._watch.wake()
        if everything and self.sees_all:
            folders = scope_folders(self.keep)
        else:
            folders = list(self.own().values()) if scope is None else [self.folder(self.caller.scope(scope))]
        if self._epoch != self.keep.index.epoch:
            self._epoch = self.keep.index.epoch
            self._checked.clear()
        for folder in folders:
            if folder not in self._checked:
                self.keep.freshen(folder)
                self._checked.add(folder)
        return folders

    def target(self, scope: str | None, key: str | None) -> Scope:
        """Where a store goes: the scope that was named, else the project; a key in several scopes needs a name."""
        if scope is not None:
            return self.caller.scope(scope)
        if key is not None:
            self.asked(None)
            places = [split_path(note_path(folder, check_key(key))) for folder in self.own().values()]
            with self.keep.index.reading(self.keep.space) as index:
                found = [place for place in places if index.get(*place) is not None]
            if len(found) > 1:
                return memories.the_one(self.keep, self.view(), self.own(), key)
        return self.caller.scope("session" if self.caller.sealed else "project")

    def target_of(self, key: str, scope: str | None) -> Scope:
        """Where something that is there is changed."""
        if scope is not None:
            return self.caller.scope(scope)
        return memories.the_one(self.keep, self.view(), self.own(), key)

    def target_past(self, key: str, scope: str | None, *kept: BookPath, or_there: bool = False) -> Scope:
        """Where something that was put aside (in the trash, in the history) is brought back or done away with."""
        if scope is not None:
            return self.caller.scope(scope)
        own = self.own()
        there = memories.where(self.keep, self.view(), own, key)
        vault, space = self.keep.vault, self.keep.space
        found = [
            place
            for place, folder in own.items()
            if (or_there and place in there) or any(past.list_past(vault, space, where, folder, key) for where in kept)
        ]
        if not found:
            raise NotFound(f"There is no memory {key!a} in your scopes, nor in their trash.")
        return memories.only(found, key)

    def check_writes(self) -> None:
        if not self.settings.enabled:
            raise Disabled
        if self.caller.role.reach < 0:
            raise NotPermitted(f"The role {self.caller.role} does not write memories.")

    def check_reviewer(self) -> None:
        if not self.caller.role.reviews:
            raise NotPermitted("Review is for a person or a coordinator.")

    def check_sees_all(self, verb: str) -> None:
        """Refuse what goes through the whole book to anybody who may not see all of it."""
        if not self.sees_all:
            raise NotPermitted(f"{verb} is for a person, and looks at the whole book.")

    @property
    def who(self) -> str | None:
        return self.caller.agent or ("human" if self.caller.role is Role.PERSON else None)

    # Changing

    def change(self, key: str, scope: str | Scope | None, action: Callable[[Unit], life.Kept]) -> Stored:
        """One change to one memory that is there: rank, unit, commit."""
        self.check_writes()
        target = scope if isinstance(scope, Scope) else self.target_of(key, scope)
        self.caller.check_write(target)
        return self._changed(target, self.view_for(target), action)

    def judge(self, key: str, scope: str | None, action: Callable[[Unit], life.Kept]) -> Stored:
        """The same for a verdict on something proposed, which is a reviewer's to give."""
        if not self.settings.enabled:
            raise Disabled
        self.check_reviewer()
        target = self.target_of(key, scope)
        self.caller.check_verdict(target)
        return self._changed(target, self.view_for(target, verdict=True), action)

    def _changed(self, target: Scope, view: View, action: Callable[[Unit], life.Kept]) -> Stored:
        with self.keep.unit(self.folder(target), view) as unit:
            kept = action(unit)
            unit.commit()
        return stored(target, kept)

    def entry(
        self, content: str, author: str | None, occurred: str | None, thread: str | None, seq: int | None
    ) -> Entry:
        """A new entry, if its text can be kept."""
        if not content.strip():
            raise InvalidContent("There is no text to store.")
        if len(content) > MAX_CONTENT:
            raise InvalidContent(
                f"The text is longer than {MAX_CONTENT:,} characters.", hint="Store it as a data file."
            )
        if "\0" in content:
            raise InvalidContent("The text has a NUL character in it.", hint="Binary data belongs into a data file.")
        for name, word in (("author", author), ("thread", thread)):
            check_word(name, word)
        if seq is not None and abs(seq) >= MAX_SEQ:
            raise InvalidField(f"seq is a number of at most {len(str(MAX_SEQ)) - 1} digits.")
        person = self.caller.role is Role.PERSON and self.caller.agent is None
        return Entry(
            time="",
            text=check_text(content),
            trust=Trust.HUMAN if person else Trust.AGENT,
            author=author or self.who,
            session=self.caller.session,
            occurred=read_time(occurred) if occurred else None,
            thread=thread,
            seq=seq,
        )

    # Answering

    def uses(self, refs: Sequence[str]) -> Mapping[str, int]:
        return {ref: usage.times for ref, usage in self.state.usage(self.keep.space, refs).items()}

    def used(self, refs: Sequence[str]) -> None:
        self.state.used(self.keep.space, [ref for ref in refs if ref], self.keep.clock())

    def hit(self, item: Scored) -> Hit:
        candidate, row = item.candidate, item.candidate.row
        entry = candidate.recorded.entry
        scope, key = self.place_of(candidate.folder, candidate.name)
        when = entry.occurred or entry.time
        path = str(resolve(candidate.folder) / f"{candidate.name}.md")
        return Hit(
            kind=HitKind.MEMORY, ref=f"{scope.kind}/{key}", key=key, scope=scope.kind.value, scope_id=scope.id,
            path=path, entry=entry.id, text=entry.text, summary=row.summary if row else "", author=entry.author,
            trust=entry.trust.value, time_start=when, time_end=when, updated=row.updated if row else entry.time,
            score=round(item.score, 4), revision=row.revision if row else "", sources=(entry.id,),
        )  # fmt: skip

    def related(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """What the memories of some hits link to, by its newest entry, without what is among the hits already."""
        listed = [item for item in self.listing(self.asked(None)) if item.status not in HIDDEN]
        seen = {hit.path for hit in hits}
        found: list[Hit] = []
        for hit in hits:
            scope, key = self.place_of(*split_path(resolve(hit.path)))
            memory = memories.load(self.keep, self.view_for(scope), scope, self.folder(scope), key)
            for item in links.related(memory, listed) if memory is not None else ():
                if item.path not in seen and len(found) < limit:
                    seen.add(item.path)
                    found += self._newest(item, hit.entry)
        return found

    def _newest(self, item: ListedMemory, source: str) -> list[Hit]:
        """The newest entry of a listed memory as a hit that another one led to."""
        scope, key = self.place_of(*split_path(resolve(item.path)))
        memory = memories.load(self.keep, self.view_for(scope), scope, self.folder(scope), key)
        newest = memory.newest if memory is not None else None
        if newest is None:
            return []
        when = newest.occurred or newest.time
        return [
            Hit(
                kind=HitKind.MEMORY, ref=f"{item.scope}/{key}", key=key, scope=item.scope, scope_id=item.scope_id,
                path=item.path, entry=newest.id, text=newest.text, summary=item.summary, author=newest.author,
                trust=newest.trust.value, time_start=when, time_end=when, updated=item.updated, score=0.0,
                revision=item.revision, sources=(source,),
            )
        ]  # fmt: skip

    def listing(self, folders: Sequence[BookPath]) -> list[ListedMemory]:
        """Every memory of these scopes, by scope and key."""
        with self.keep.index.reading(self.keep.space) as index:
            rows = [
                row for folder in folders for place in index.folders(str(folder)) for row in index.rows(place).values()
            ]
        return sorted(map(self.listed, rows), key=lambda item: (item.scope, item.scope_id or "", item.key))

    def listed(self, row: Row) -> ListedMemory:
        scope, key = self.place_of(row.folder, row.name)
        path = str(resolve(row.folder) / f"{row.name}.md")
        return ListedMemory(
            key, scope.kind.value, scope.id, path, row.type, row.status, row.summary, row.tags, row.pinned, row.created,
            row.updated, row.revision,
        )  # fmt: skip

    def place_of(self, folder: str, name: str) -> tuple[Scope, str]:
        """The scope and the key of a note, from where it is."""
        parts = resolve(folder).parts
        kind = ScopeKind(parts[1])
        depth = 3 if kind.has_id else 2
        scope_folder = BookPath(*parts[:depth])
        key = "/".join([*parts[depth:], name])
        for scope, own in self._folders.items():
            if own == scope_folder:
                return scope, key
        if not kind.has_id:
            return Scope(kind), key
        pages = dict(scope_pages(self.keep, kind))
        page = pages.get(scope_folder)
        return Scope(kind, page.id if page is not None else parts[2]), key


def check_word(name: str, word: str | None) -> None:
    """Refuse what a field of one line or so cannot be: a text of its own, or not valid Unicode."""
    if word is None:
        return
    if len(word) > MAX_FIELD:
        raise InvalidField(f"{name} is longer than {MAX_FIELD:,} characters.")
    if "\0" in word:
        raise InvalidField(f"{name} has a NUL character in it.")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise InvalidField(f"{name} has half of a surrogate pair in it, which is not valid Unicode.") from None


def stored(scope: Scope, kept: life.Kept) -> Stored:
    return Stored(kept.key, scope.kind.value, scope.id, str(kept.path), kept.revision, kept.entry, kept.action)
