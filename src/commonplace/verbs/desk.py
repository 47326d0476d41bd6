"""What the verbs of a book stand on: its parts opened, the caller's scopes found, hits made from what was found.

Book has the verbs; this has what several of them need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.guard import audit
from commonplace.index.port import Row
from commonplace.index.sqlite import SqliteIndex
from commonplace.memories.open_settings import read_config
from commonplace.memories.scopes import describe, journal_folders, scope_folders
from commonplace.memories.store import MemoryStore
from commonplace.model.caller import Caller, Role
from commonplace.model.errors import CommonplaceError, EmbedderMissing, NotPermitted
from commonplace.model.ids import short_hash
from commonplace.model.lazy import Log
from commonplace.model.memory import WAITING, Status, Trust, mark_external
from commonplace.model.results import Hit, HitKind, MemoryItem
from commonplace.model.scope import Scope, ScopeKind
from commonplace.model.settings import Settings
from commonplace.project.identity import Identity
from commonplace.project.matching import ProjectMatch
from commonplace.project.root_commit import gather_evidence
from commonplace.recall.fusion import cut_passage
from commonplace.recall.ranking import ScoredCandidate
from commonplace.state.port import State
from commonplace.text.words import QueryTerms
from commonplace.vault.disk import open_disk
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import (
    EVERYTHING,
    JOURNAL,
    KEEPER,
    MEMORIES,
    BookPath,
    View,
    journal_folder,
    resolve,
    view_of,
)
from commonplace.vault.port import Write
from commonplace.vault.scope_pages import SCOPE_PAGE, Evidence, find_folder, list_scope_pages

log = Log("commonplace.book")

TRUSTED = "trusted-config"
RETIRED = "retired"  # the day on which somebody last saw to what is too old
NO_TERMS = QueryTerms(())
_TOKEN = 16  # characters: no token has fewer

if TYPE_CHECKING:
    from commonplace.memories.watch import Watch
    from commonplace.recall.meaning import SemanticIndex


class Desk:
    def __init__(
        self,
        keep: MemoryStore,
        state: State,
        settings: Settings,
        caller: Caller,
        *,
        root: str,
        database_folder: str,
        flags: Mapping[str, object],
        config: Mapping[str, object],
        trail: audit.AuditLog | None = None,
        surface: str = "library",
        identity: Identity | None = None,
        match: ProjectMatch | None = None,
    ) -> None:
        self.root, self.database_folder, self.flags, self.config = root, database_folder, flags, config
        self.keep = keep
        self.state = state
        self.settings = settings
        self.caller = caller
        self.identity, self.match = identity, match
        self._own: dict[Scope, BookPath] | None = None
        self._folders: dict[Scope, BookPath] = {}
        self._checked: set[BookPath] = set()
        self._epoch = keep.index.epoch
        self._view: View | None = None
        self._watch: Watch | None = None
        self._meanings: SemanticIndex | None = None
        self._trail, self._surface = trail, surface
        self._calling: audit.Facts = {}

    def watch(self) -> None:
        """From now on, see outside changes to what was asked about before."""
        from commonplace.memories.watch import Watch  # noqa: PLC0415 - only a process that lives long needs threads

        if self._watch is None:
            self._watch = Watch(self._look_again)

    def for_role(self, role: Role) -> Desk:
        """The same parts for another role; only a person may choose one."""
        if role is self.caller.role:
            return self
        if self.caller.role is not Role.PERSON:
            raise NotPermitted(
                f"The role {self.caller.role} cannot become {role}.", hint="Open the book with that role."
            )
        caller = self.caller._replace(role=role)
        return Desk(
            self.keep, self.state, self.settings, caller, root=self.root, database_folder=self.database_folder,
            flags=self.flags, config=self.config, trail=self._trail, surface=self._surface,
            identity=self.identity, match=self.match,
        )  # fmt: skip

    def _look_again(self) -> None:
        for folder in list(self._checked):
            self.keep.freshen(folder)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._trail is not None:
            self._trail.close()
        self.state.close()
        for part in (self.keep.index, self.keep.vault):
            if isinstance(part, (SqliteIndex, LocalVault)):
                part.close()

    def is_trusted(self) -> bool:
        """Whether a person has allowed config.toml, just as it is now, to name programs and endpoints."""
        known = self.state.get_fact(self.keep.space, TRUSTED)
        return bool(known) and known == self.config_digest()

    def config_digest(self) -> str:
        return short_hash(read_config(self.keep.vault)[1], 64)

    # Who and where

    @property
    def unproved(self) -> str | None:
        """The project that the caller's folder claims to be and could not prove to be."""
        return self.match.unproved if self.match is not None else None

    @property
    def is_person(self) -> bool:
        """A person, and no agent in their name."""
        return self.caller.role is Role.PERSON and self.caller.agent is None

    @property
    def sees_all(self) -> bool:
        """A person, and not sealed in: the whole book is theirs to look at."""
        return self.caller.role is Role.PERSON and not self.caller.sealed

    @property
    def unseen(self) -> tuple[Status, ...]:
        """The statuses of what this caller is not told of unasked: what waits for a verdict is for those who judge."""
        return () if self.caller.role.may_review else WAITING

    def check_sees_all(self, verb: str) -> None:
        """For what tells of every scope: names of memories are told with it."""
        if not self.sees_all:
            raise NotPermitted(f"`{verb}` looks at the whole book, and is for a person who is not sealed in.")

    def check_all(self, everything: bool) -> None:
        """Refuse an agent that asks for all scopes: it would take its own for all there are."""
        if everything and self.caller.role is not Role.PERSON:
            raise NotPermitted("Only a person sees all scopes.", hint="Ask without `all`, for your own.")

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

    def describe(self, scope: Scope, folder: BookPath) -> Write | None:
        """Return the write that makes a scope's `_scope.md`; None where there is one. The caller's own project is told
        what its folder can be known by, so that another folder cannot claim to be it."""
        evidence = Evidence() if scope.kind is ScopeKind.PROJECT else None
        is_here = self.identity is not None and self.identity.source != "override"
        if self.identity is not None and is_here and scope.id == self.caller.project and not self._is_described(folder):
            evidence = gather_evidence(self.identity.backing)
        return describe(self.keep, scope, folder, evidence)

    def _is_described(self, folder: BookPath) -> bool:
        return self.keep.vault.stat(self.keep.space, KEEPER, folder / SCOPE_PAGE) is not None

    def view(self, *, everything: bool = False) -> View:
        if everything and self.sees_all:
            return EVERYTHING
        if self._view is None:
            own = frozenset(self.own().values())
            writable = own if self.caller.role.max_rank >= 0 else frozenset()
            self._view = view_of(own, writable, sealed=self.caller.sealed)
        return self._view

    def view_for(self, scope: Scope, *, verdict: bool = False) -> View:
        """The view for a change to one scope: a reviewer's verdict may reach where the reviewer does not write."""
        if verdict and self.caller.role.max_rank < 0:
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
            if folder not in self._checked and self.keep.freshen(folder):
                self._checked.add(folder)
        return folders

    def journal(self) -> BookPath:
        """The folder of the journal of the caller's project. InvalidScope says that no project is known here."""
        return journal_folder(self.folder(self.caller.scope("project")))

    def journals(self, scope: str | None, *, everything: bool = False) -> list[BookPath]:
        """The journals a question goes to: that of the project it is about, or all. One that the index has never seen
        is read; what others changed in it since is seen by `verify`, not by every command."""
        if everything and self.sees_all:
            folders = journal_folders(self.keep)
        elif scope is None:
            own = [] if self.caller.sealed or self.caller.project is None else [self.journal()]
            folders = [folder for folder in own if self._is_there(folder)]
        else:
            asked = self.caller.scope(scope)
            folders = [journal_folder(self.folder(asked))] if asked.kind is ScopeKind.PROJECT else []
            folders = [folder for folder in folders if self._is_there(folder)]
        with self.keep.index.reading(self.keep.space) as index:
            unseen = [folder for folder in folders if index.generation(str(folder)) is None]
        for folder in unseen:
            self.keep.freshen(folder)
        return folders

    def _is_there(self, folder: BookPath) -> bool:
        return self.keep.vault.stat(self.keep.space, KEEPER, folder) is not None

    @property
    def who(self) -> str | None:
        return self.caller.agent or ("human" if self.caller.role is Role.PERSON else None)

    def meanings(self) -> SemanticIndex:
        """What the entries mean to this book's embedder. EmbedderError says why there is none."""
        if self._meanings is None:
            from commonplace.embed.choose import choose_embedder  # noqa: PLC0415 - recall by words does without
            from commonplace.recall.meaning import SemanticIndex  # noqa: PLC0415 - the same

            setting = self.settings.embedder
            if setting == "off":
                raise EmbedderMissing("Recall by meaning is switched off here.", hint="Set embedder to static.")
            if self.config.get("embedder") == setting and setting != "static" and not self.is_trusted():
                raise EmbedderMissing(
                    "This book's own settings name an embedder, and are not trusted.",
                    hint="Look at them with `commonplace config`, then `commonplace trust`.",
                )
            embedder = choose_embedder(setting, key=self.settings.embedder_key)
            self._meanings = SemanticIndex(self.keep.index, self.keep.space, embedder)
        return self._meanings

    # The audit

    @property
    def is_audited(self) -> bool:
        return self._trail is not None

    def note(self, verb: str, given: Mapping[str, object], answer: object) -> None:
        """One line of a call, with its arguments by name, and its answer or the error that it ended in. Never raises:
        what the call did is done."""
        if self._trail is None:
            return
        try:
            outcome, facts = audit.describe(verb, given, answer, _is_secret)
            if facts is not None:
                self._trail.note("purge" if given.get("purge") else verb, self._who_calls(), outcome, facts)
        except Exception as error:  # noqa: BLE001 - see above
            log.warning("event=audit_failed error=%s", type(error).__name__)

    def mask(self, key: str) -> None:
        """A memory is purged: no line names it any more. What cannot be changed stays: the memory itself is gone."""
        try:
            audit.mask(open_disk(self.root), key)
        except OSError as error:
            log.warning("event=audit_not_masked errno=%s", error.errno)

    def _who_calls(self) -> audit.Facts:
        if not self._calling:
            caller = self.caller
            project = None
            if caller.project is not None:  # by the name of its folder: its id may be a path of the machine
                scope = Scope(ScopeKind.PROJECT, caller.project)
                folder = self._folders.get(scope)
                project = folder.name if folder is not None else scope.folder_name
            self._calling = audit.who_of(
                self._surface, role=caller.role.value, agent=caller.agent, session=caller.session, project=project
            )
        return self._calling

    # Answering

    def uses(self, refs: Sequence[str]) -> Mapping[str, int]:
        return {ref: usage.times for ref, usage in self.state.usage(self.keep.space, refs).items()}

    def used(self, refs: Sequence[str]) -> None:
        self.state.record_uses(self.keep.space, [ref for ref in refs if ref], self.keep.clock())

    def revive(self, places: Sequence[tuple[str, str]]) -> bool:
        """What was hidden for want of use, and is used again, is hidden no more; answers whether a file was changed.

        A question neither waits nor fails for it: what cannot be written now is revived by a later use."""
        if not places or self.caller.role.max_rank < 0:
            return False
        from commonplace.memories import lifecycle  # noqa: PLC0415 - a question that revives nothing does without

        revived = False
        for folder, name in places:
            try:
                scope, key = self.place_of(folder, name)
                with self.keep.unit(self.folder(scope), self.view_for(scope), timeout=0) as unit:
                    changed = lifecycle.revive(unit, key)
                    unit.commit()
                revived = revived or changed
            except CommonplaceError as error:
                log.info("event=not_revived code=%s", error.code)
        return revived

    def hit(self, item: ScoredCandidate, terms: QueryTerms = NO_TERMS, budget: int | None = None) -> Hit:
        candidate, row = item.candidate, item.candidate.row
        entry = candidate.recorded.entry
        folder = resolve(candidate.folder)
        kind = HitKind.JOURNAL if folder.is_within(JOURNAL) else HitKind.MEMORY
        scope, key = self._placed(folder, candidate.name)
        when = entry.occurred or entry.time
        path = str(folder / f"{candidate.name}.md")
        ref = f"{scope.kind}/{key}" if kind is HitKind.MEMORY else f"journal/{key}"
        summary = row.summary if row else ""
        if row is not None and row.outside and entry.trust is not Trust.EXTERNAL:
            summary = mark_external(summary)  # of a memory that somebody here only added to
        return Hit(
            kind=kind, ref=ref, key=key, scope=scope.kind.value, scope_id=scope.id,
            path=path, entry=entry.id, text=cut_passage(entry.text, terms, budget), summary=summary,
            author=entry.author, trust=entry.trust.value, time_start=when, time_end=when,
            updated=row.updated if row else entry.time,
            score=round(item.score, 4), revision=row.revision if row else "", sources=(entry.id,),
            status=candidate.status,
        )  # fmt: skip

    def listing(self, folders: Sequence[BookPath]) -> list[MemoryItem]:
        """Every memory of these scopes, by scope and key."""
        with self.keep.index.reading(self.keep.space) as index:
            rows = [
                row for folder in folders for place in index.folders(str(folder)) for row in index.rows(place).values()
            ]
        return sorted(map(self.listed, rows), key=lambda item: (item.scope, item.scope_id or "", item.key))

    def listed(self, row: Row) -> MemoryItem:
        scope, key = self.place_of(row.folder, row.name)
        path = str(resolve(row.folder) / f"{row.name}.md")
        return MemoryItem(
            key, scope.kind.value, scope.id, path, row.type, row.status, row.summary, row.tags, row.pinned, row.created,
            row.updated, row.revision, row.outside,
        )  # fmt: skip

    def place_of(self, folder: str, name: str) -> tuple[Scope, str]:
        """The scope and the key of a note, from where it is. A note of the journal is of the project it is about."""
        return self._placed(resolve(folder), name)

    def _placed(self, folder: BookPath, name: str) -> tuple[Scope, str]:
        parts = folder.parts
        if parts[0] == JOURNAL.name:
            parts = (MEMORIES.name, ScopeKind.PROJECT.value, *parts[1:])
        kind = ScopeKind(parts[1])
        depth = 3 if kind.has_id else 2
        scope_folder = BookPath(*parts[:depth])
        key = "/".join([*parts[depth:], name])
        for scope, own in self._folders.items():
            if own == scope_folder:
                return scope, key
        if not kind.has_id:
            return Scope(kind), key
        pages = dict(list_scope_pages(self.keep, kind))
        page = pages.get(scope_folder)
        return Scope(kind, page.id if page is not None else parts[2]), key


def _is_secret(word: str) -> bool:
    if len(word) < _TOKEN:
        return False
    from commonplace.guard.secrets import find_secrets  # noqa: PLC0415 - only what failed is asked about

    return bool(find_secrets(word))
