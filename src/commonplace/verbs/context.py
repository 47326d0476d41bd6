"""What every verb works on: the open parts of a book, the caller with its scopes and view, and the audit.

`opening` makes one for each caller; `Book` holds it and hands it to the verbs. It promises that nothing is read or
written outside the caller's view, and that a folder is compared with its files before the first answer about it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from commonplace import verbs
from commonplace.guard import audit
from commonplace.guard.audit import Facts
from commonplace.index.port import Transaction
from commonplace.index.values import Row
from commonplace.memories.layout import TRUSTED, config_digest
from commonplace.memories.lookup import describe, journal_folders, scope_folders
from commonplace.memories.store import MemoryStore, Watch
from commonplace.model.errors import CommonplaceError, Disabled, EmbedderMissing, NotPermitted, TooManyFiles
from commonplace.model.lazy import Log
from commonplace.model.memory import WAITING, Status
from commonplace.model.results import MemoryItem
from commonplace.model.scope import Caller, Role, Scope, ScopeKind
from commonplace.model.settings import DEFAULT_EMBEDDER, INCLUDED, Settings
from commonplace.project.identity import Identity
from commonplace.project.matching import KnownRepositories, ProjectMatch
from commonplace.project.root_commit import ask_root_commit, gather_evidence
from commonplace.state.port import State
from commonplace.vault.disk import open_disk
from commonplace.vault.paths import (
    EVERYTHING,
    JOURNAL,
    MEMORIES,
    BookPath,
    View,
    journal_folder,
    resolve,
    view_of,
)
from commonplace.vault.port import UNUSABLE, Write
from commonplace.vault.scope_pages import SCOPE_PAGE, Evidence, find_folder, list_scope_pages
from commonplace.verbs.embedding import BookEmbedding, SharedParts

if TYPE_CHECKING:
    from commonplace.recall.meaning import SemanticIndex

log = Log("commonplace.book")


class BookContext:
    """An open book as one caller sees it."""

    def __init__(
        self,
        memories: MemoryStore,
        state: State,
        settings: Settings,
        caller: Caller,
        *,
        root: str,
        database_folder: str,
        flags: Mapping[str, object],
        config: Mapping[str, object],
        audit_log: audit.AuditLog | None = None,
        surface: str = "library",
        identity: Identity | None = None,
        match: ProjectMatch | None = None,
        faults: Sequence[CommonplaceError] = (),
    ) -> None:
        self.root, self.database_folder, self.flags, self.config = root, database_folder, flags, config
        self.memories = memories
        self.state = state
        self.settings = settings
        self.caller = caller
        self.identity, self.match = identity, match
        self.faults = faults  # what could not be used when the book was opened for repair
        self._own_folders: dict[Scope, BookPath] | None = None
        self._folders: dict[Scope, BookPath] = {}
        if match is not None and match.stored_as != match.id:  # it could not be renamed yet
            stored = find_folder(memories.files, Scope(ScopeKind.PROJECT, match.stored_as))
            self._folders[Scope(ScopeKind.PROJECT, match.id)] = stored
        self._checked: set[BookPath] = set()
        self._epoch = memories.index.epoch
        self._view: View | None = None
        self._watch: Watch | None = None
        goes_on = surface != "cli" and settings.embedder in INCLUDED  # a command ends with its answer
        self.embedding = BookEmbedding(memories, goes_on=goes_on)
        self.shared = SharedParts()
        self._audit_log, self._surface = audit_log, surface
        self._audit_caller: Facts = {}

    def watch(self) -> None:
        """See outside changes, from now on, to the folders that were searched before."""
        if self._watch is None:
            self._watch = Watch(self._check_again)

    def _check_again(self) -> None:
        for folder in list(self._checked):
            self.memories.freshen(folder)

    def for_role(self, role: Role) -> BookContext:
        """Return the same book for another role: any for a person, and else one that may do less."""
        if role is self.caller.role:
            return self
        if role not in self.caller.role.narrower:
            raise NotPermitted(
                f"The role {self.caller.role} cannot become {role}.", hint="Open the book with that role."
            )
        return self._for_caller(self.caller._replace(role=role))

    def for_session(self, session: str | None, agent: str) -> BookContext:
        """Return the same book for another session; for an agent of this name, if it was opened for none."""
        caller = self.caller._replace(session=session, agent=self.caller.agent or agent)
        return self if caller == self.caller else self._for_caller(caller)

    def _for_caller(self, caller: Caller) -> BookContext:
        other = BookContext.__new__(BookContext)
        other.__dict__.update(self.__dict__, caller=caller)
        other._own_folders, other._view, other._audit_caller = None, None, {}
        return other

    def free_handles(self, error: TooManyFiles) -> bool:
        """Read the databases from memory, so that a reader has handles for the notes; return whether that is new."""
        if self.memories.index.problem is not None:
            return False
        self.memories.index.detach(error)
        self.state.detach()
        return True

    def close(self) -> None:
        """Close the files and databases, also for the callers that share them."""
        self.memories.is_closed = True
        self.embedding.close()
        for part in (self._watch, self._audit_log, self.shared, self.state, self.memories.index, self.memories.vault):
            close = getattr(part, "close", None)
            if close is not None:
                close()

    @property
    def is_closed(self) -> bool:
        """Whether the book was closed."""
        return self.memories.is_closed

    def resolve(self, path: str) -> BookPath:
        """Return a path of the book, which may be given as it is on the disk. Raises InvalidPath."""
        root = os.path.join(self.root, "")
        return resolve(path[len(root) - 1 :].replace(os.sep, "/") if path.startswith(root) else path)

    def is_trusted(self) -> bool:
        """Return whether a person has allowed config.toml, just as it is now, to name programs and endpoints."""
        known = self.state.get_fact(self.memories.space, TRUSTED)
        return bool(known) and known == self.config_digest()

    def config_digest(self) -> str:
        """Return the hash of config.toml: trust is given to one text of it."""
        return config_digest(self.memories.vault)

    @property
    def notice(self) -> str:
        """What the caller should know of the answers: why the index could not be used or brought up to date."""
        lines, problem = [], self.memories.problem
        if problem is not None:
            is_stale = self.memories.is_stale
            missing = "What changed since its last update is missing from this answer."
            lines.append(f"{problem.message} {missing if is_stale else 'This answer was made from the files instead.'}")
        if self.state.problem is not None:
            lines.append(f"{self.state.problem.message} What was used before does not count in this answer.")
        return " ".join(lines)

    # Who calls, and what they may see

    @property
    def repositories(self) -> KnownRepositories:
        """What this machine remembers of repositories."""
        return KnownRepositories(self.state, ask_root_commit)

    @property
    def unproved(self) -> str | None:
        """The project that the caller's folder may be and does not prove to be."""
        return self.match.unproved if self.match is not None else None

    @property
    def is_person(self) -> bool:
        """Whether a person calls, and no agent in their name."""
        return self.caller.role is Role.PERSON and self.caller.agent is None

    @property
    def sees_all(self) -> bool:
        """Whether the whole book is the caller's to read: a person who is not sealed."""
        return self.caller.role is Role.PERSON and not self.caller.sealed

    @property
    def author(self) -> str | None:
        """The name that the caller's entries and changes carry."""
        return self.caller.agent or ("human" if self.caller.role is Role.PERSON else None)

    @property
    def unseen_statuses(self) -> tuple[Status, ...]:
        """The statuses of memories that the caller is not shown unasked: only reviewers see what waits for review."""
        return () if self.caller.role.may_review else WAITING

    def check_enabled(self) -> None:
        """Raise Disabled if memory is switched off here."""
        if not self.settings.enabled:
            raise Disabled

    def check_all(self, everything: bool) -> None:
        """Refuse an agent that asks for all scopes: it would take its own for all there are."""
        if everything and self.caller.role is not Role.PERSON:
            raise NotPermitted("Only a person sees all scopes.", hint="Ask without `all`, for your own.")

    def view(self, *, everything: bool = False) -> View:
        """Return what the caller may read and write."""
        if everything and self.sees_all:
            return EVERYTHING
        if self._view is None:
            own = frozenset(self.own_folders().values())
            writable = own if self.caller.role.may_write else frozenset()
            self._view = view_of(own, writable, sealed=self.caller.sealed)
        return self._view

    def view_for(self, scope: Scope, *, is_verdict: bool = False) -> View:
        """Return the view for a change to one scope. A reviewer may judge in scopes that it does not write to."""
        if is_verdict and not self.caller.role.may_write:
            own = frozenset(self.own_folders().values())
            return view_of(own, own, sealed=self.caller.sealed)
        return self.view(everything=scope not in self.own_folders())

    def limit_file(self, path: BookPath, data: bytes) -> bytes:
        """Return a file as this caller may see it: for an agent, without claims of trust and other sessions' ids."""
        if self.is_person:
            return data
        provenance = self.memories.provenance
        return provenance.hide_sessions(provenance.limit_file_trust(path, data), self.caller.session)

    # Folders

    def own_folders(self) -> dict[Scope, BookPath]:
        """Return the folders of the caller's scopes, nearest first."""
        if self._own_folders is None:
            self._own_folders = {scope: self.folder(scope) for scope in self.caller.scopes()}
        return self._own_folders

    def folder(self, scope: Scope) -> BookPath:
        """Return the folder of a scope."""
        folder = self._folders.get(scope)
        if folder is None:
            folder = self._folders[scope] = find_folder(self.memories.files, scope)
        return folder

    def scope_page(self, scope: Scope, folder: BookPath) -> Write | None:
        """Return the write that makes a scope's `_scope.md`, or None where there is one.

        The page of the caller's own project records what its folder can be known by, so that no other folder can claim
        to be it.
        """
        evidence = Evidence() if scope.kind is ScopeKind.PROJECT else None
        related: tuple[str, ...] | None = None
        identity = self.identity
        is_own = scope.kind is ScopeKind.PROJECT and scope.id == self.caller.project
        if identity is not None and identity.source != "override" and is_own and not self._exists(folder / SCOPE_PAGE):
            evidence = gather_evidence(identity.backing, self.repositories)
            related = self.match.hints or None if self.match is not None else None
        return describe(self.memories, scope, folder, evidence, related)

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open the index to read it."""
        return self.memories.index.reading(self.memories.space)

    def _exists(self, path: BookPath) -> bool:
        try:
            return self.memories.files.stat(path) is not None
        except UNUSABLE:  # a folder above it cannot be read: whoever reads it finds out
            return True

    def folders_to_search(self, scope: str | None, *, everything: bool = False) -> list[BookPath]:
        """Return the folders that a question is about. The first time in a process, each is compared with its files."""
        if self._watch is not None:
            self._watch.wake()
        if everything and self.sees_all:
            folders = scope_folders(self.memories)
        elif scope is None:
            folders = list(self.own_folders().values())
        else:
            folders = [self.folder(self.caller.scope(scope))]
        if self._epoch != self.memories.index.epoch:
            self._epoch = self.memories.index.epoch
            self._checked.clear()
        for folder in folders:
            if folder not in self._checked and self.memories.freshen(folder):
                self._checked.add(folder)
        return folders

    def unusable_notice(self, folders: Sequence[BookPath]) -> str:
        """Return what to tell about notes and folders that could not be read when these scopes were looked at."""
        return describe_unusable([path for folder in folders for path in self.memories.unusable.get(folder, ())])

    def journal(self) -> BookPath:
        """Return the folder of the journal of the caller's project. Raise InvalidScope where no project is known."""
        return journal_folder(self.folder(self.caller.scope("project")))

    def journals_to_search(self, scope: str | None, *, everything: bool = False) -> list[BookPath]:
        """Return the journals that a question is about: that of one project, or all.

        A journal that the index has never seen is read. Later outside changes to it are seen by `verify`, not by every
        command.
        """
        if everything and self.sees_all:
            folders = journal_folders(self.memories)
        elif scope is None:
            folders = [] if self.caller.sealed or self.caller.project is None else [self.journal()]
        else:
            wanted = self.caller.scope(scope)
            folders = [journal_folder(self.folder(wanted))] if wanted.kind is ScopeKind.PROJECT else []
        folders = [folder for folder in folders if self._exists(folder)]
        with self.reading() as index:
            unseen = [folder for folder in folders if index.generation(folder) is None]
        for folder in unseen:
            self.memories.freshen(folder)
        return folders

    def locate(self, folder: str, name: str) -> tuple[Scope, str]:
        """Return the scope and the key of a note, from where it is. A journal's note belongs to its project."""
        journal = f"{JOURNAL}/"
        place = f"{MEMORIES}/project/{folder.removeprefix(journal)}" if folder.startswith(journal) else folder
        path = f"{place}/{name}"
        for scope, known in self._folders.items():
            if path.startswith(f"{known}/"):
                return scope, path[len(known) + 1 :]
        _, _, word, *parts = path.split("/")
        kind = ScopeKind(word)
        if not kind.has_id:
            return Scope(kind), "/".join(parts)
        page = dict(list_scope_pages(self.memories.files, kind)).get(MEMORIES / word / parts[0])
        return Scope(kind, page.id if page is not None else parts[0]), "/".join(parts[1:])

    def list_memories(self, folders: Sequence[BookPath]) -> list[MemoryItem]:
        """Return every memory of these scopes, by scope and key."""
        with self.reading() as index:
            rows = [row for folder in folders for place in index.folders(folder) for row in index.rows(place).values()]
        return sorted(map(self.memory_item, rows), key=lambda item: (item.scope, item.scope_id or "", item.key))

    def memory_item(self, row: Row) -> MemoryItem:
        """Return an index row as an item of a list."""
        scope, key = self.locate(row.folder, row.name)
        return MemoryItem(
            key, scope.kind, scope.id, f"{row.folder}/{row.name}.md", row.type, row.status, row.summary, row.tags,
            row.pinned, row.created, row.updated, row.revision, row.outside,
        )  # fmt: skip

    # Meaning and use

    def semantic_index(self) -> SemanticIndex:
        """Return the vectors of this book's embedder. Raise EmbedderError where there is no embedder."""
        if self.embedding.semantic is None:
            from commonplace.embed import choose_embedder  # noqa: PLC0415 - recall by words does without
            from commonplace.recall.meaning import SemanticIndex  # noqa: PLC0415 - the same

            setting = self.settings.embedder
            if setting == "off":
                hint = f"Set embedder to {DEFAULT_EMBEDDER}."
                raise EmbedderMissing("Recall by meaning is switched off here.", hint=hint)
            is_own = self.config.get("embedder") == setting
            if is_own and setting not in INCLUDED and not self.is_trusted():
                raise EmbedderMissing(
                    "This book's own settings name an embedder, and are not trusted.",
                    hint="Look at them with `commonplace config`, then `commonplace config trust`.",
                )
            embedder = choose_embedder(setting, key=self.settings.embedder_key)
            self.embedding.semantic = SemanticIndex(self.memories.index, self.memories.space, embedder)
        return self.embedding.semantic

    def use_counts(self, refs: Sequence[str]) -> Mapping[str, int]:
        """Return how many times each of some memories was used."""
        return {ref: usage.times for ref, usage in self.state.usage(self.memories.space, refs).items()}

    def record_uses(self, refs: Sequence[str]) -> None:
        """Count one use of each of some memories."""
        self.state.record_uses(self.memories.space, [ref for ref in refs if ref], self.memories.clock())

    def revive(self, places: Sequence[tuple[str, str]]) -> bool:
        """Make memories active again that expired for want of use, and are used now. Return whether a file changed."""
        return bool(places) and verbs.changing.revive(self, places)

    # The audit. Nothing here raises: what the call did is done.

    @property
    def is_audited(self) -> bool:
        """Whether calls leave a line in the audit."""
        return self._audit_log is not None

    def record_call(self, name: str, describe_result: Callable[[], Facts | None]) -> None:
        """Write the audit line of a call that succeeded; none if there are no facts."""
        self._record(name, lambda: ("ok", describe_result()))

    def record_failure(self, name: str, given: Facts, error: BaseException) -> None:
        """Write the audit line of a call that failed."""
        self._record(name, lambda: audit.describe_failure(name, given, error))

    def _record(self, name: str, describe_outcome: Callable[[], tuple[str, Facts | None]]) -> None:
        if self._audit_log is None:
            return
        try:
            who = self._describe_caller()
            outcome, facts = describe_outcome()
            if facts is not None:
                self._audit_log.note(name, who, outcome, facts)
        except Exception as error:  # noqa: BLE001 - see above
            log.warning("event=audit_failed error=%s", type(error).__name__)

    def mask_in_audit(self, key: str) -> None:
        """Take the key of a purged memory out of every audit line. What cannot be changed stays: the memory is gone."""
        try:
            audit.mask(open_disk(self.root), key)
        except OSError as error:
            log.warning("event=audit_not_masked errno=%s", error.errno)

    def _describe_caller(self) -> Facts:
        if not self._audit_caller:
            caller = self.caller
            project = None
            if caller.project is not None:  # by the name of its folder: its id may be a path of the machine
                scope = Scope(ScopeKind.PROJECT, caller.project)
                folder = self._folders.get(scope)
                project = folder.name if folder is not None else scope.folder_name
            self._audit_caller = audit.who_of(
                self._surface, role=caller.role.value, agent=caller.agent, session=caller.session, project=project
            )
        return self._audit_caller


def describe_unusable(paths: Sequence[BookPath]) -> str:
    """Return what a reader should know of notes and folders that could not be read; empty if there are none."""
    if not paths:
        return ""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"Cannot be read, and left out: {paths[0]}{more}. `commonplace doctor` says why."
