"""The facade: a book, with one method for each verb.

Programs call these methods; `verbs` does the work. Every write checks the role, the scope and secrets, looks for
duplicates, and is durable before the method returns. Every read goes through the caller's view. A verb's module is
loaded when it is first used, so that a recall starts without what a store needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace import verbs
from commonplace.book_tree import BookTree, to_plain
from commonplace.recall.query import KINDS

if TYPE_CHECKING:
    from commonplace.model.choices import (
        KindName,
        Moment,
        PlaceChoice,
        RelationChoice,
        ScopeChoice,
        SearchMode,
        SortOrder,
        SourceFormat,
        StoreItem,
        StoreMode,
        TypeChoice,
    )
    from commonplace.model.file_results import FileList, FileText, LineMatches, ShellResult
    from commonplace.model.journal_results import CompactResult, JournalRun, Lesson, RecentEntries, RecordRunResult
    from commonplace.model.memory import Memory
    from commonplace.model.projects import ProjectChange, ProjectInfo, ProjectItem
    from commonplace.model.results import (
        BookStatus,
        BriefResult,
        CaptureResult,
        Finding,
        ForgottenMemory,
        Hit,
        ImportResult,
        MemoryItem,
        Proposal,
        RecallResult,
        RetireResult,
        Revision,
        ScanResult,
        SimilarMemory,
        StoreResult,
        VerifyResult,
    )
    from commonplace.model.settings import Setting
    from commonplace.shell.session import ShellSession


def _plain_item(item: object) -> object:
    """Return an item of `store_many` with its fields as requests have them."""
    return {name: to_plain(value) for name, value in item.items()} if isinstance(item, dict) else item


class Book(BookTree):
    """One book, as one caller sees it: how it is opened and closed is in OpenBook, what it can do with mail, chat and
    documents in BookTree, and here is the rest."""

    @property
    def project_hint(self) -> str | None:
        """One line about memories of another project that this folder may be; None almost always."""
        return verbs.project.describe_hint(self._context)

    # Writing

    def store(
        self,
        content: str,
        key: str | None = None,
        scope: ScopeChoice | None = None,
        type: TypeChoice | None = None,  # noqa: A002 - the word of the specification
        tags: Sequence[str] = (),
        summary: str | None = None,
        mode: StoreMode = "append",
        if_revision: str | None = None,
        decision: str | None = None,
        author: str | None = None,
        occurred: Moment | None = None,
        thread: str | None = None,
        seq: int | None = None,
        *,
        pinned: bool = False,
    ) -> StoreResult:
        """Store a text as an entry of a memory. It is on disk when the method returns.

        `key` names the memory; without it, one is made from the text. `scope` is session, agent, project (the default)
        or global; `type` is user, feedback, project or reference. `mode` is append or replace. `if_revision` refuses
        the write if the memory has changed since. `decision` settles a similar memory: create, update:KEY or
        supersede:KEY. `occurred` is when it happened, if not now. `pinned` shows it first in every brief; an agent's
        waits for review.

        The result has the key, the path and the revision, what was done (created, appended, replaced, unchanged), and
        in `similar` the memories that say nearly the same or contradict it. Raises SecretFound, RevisionMismatch,
        InvalidInput or NotPermitted, and then nothing is written.
        """
        return self._run(
            verbs.store.store, content, key, scope, type, tags, summary, mode, if_revision, decision, author, occurred,
            thread, seq, pinned,
        )  # fmt: skip

    def similar(self, content: str) -> tuple[SimilarMemory, ...]:
        """Return the memories that a store of this text would name as similar."""
        return self._run(verbs.store.similar, content)

    def store_many(self, items: Iterable[StoreItem]) -> list[StoreResult]:
        """Store many texts; an item has the parameters of `store` by name. Those of one scope are synced together."""
        return self._run(verbs.store.store_many, tuple(map(_plain_item, items)))

    def import_from(
        self,
        source: str | os.PathLike[str],
        format: SourceFormat | None = None,  # noqa: A002 - the word of the specification
        scope: ScopeChoice | None = None,
        *,
        dry_run: bool = False,
        reviewed: bool = False,
        redact: bool = True,
    ) -> ImportResult:
        """Import memories from another tool, and return what was imported and skipped. The source is only read.

        `reviewed`: a person has read it, and trusts it like their own. `redact`: an item with a secret is imported
        without it, else skipped. `dry_run`: the same result, but nothing is written.
        """
        path = os.fspath(source)
        return self._run(verbs.import_from.import_from, path, format, scope, dry_run, reviewed, not redact)

    def edit(
        self, key: str, data: bytes, scope: ScopeChoice | None = None, *, if_revision: str | None = None
    ) -> StoreResult:
        """Replace the whole file of a memory. For a person."""
        return self._run(verbs.edit.edit, key, data, scope, if_revision)

    def move(
        self, key: str, to: str | None = None, scope: ScopeChoice | None = None, *, new_key: str | None = None
    ) -> StoreResult:
        """Move a memory to another scope or project, or another key, with its history and the links that lead to it."""
        return self._run(verbs.move.move, key, to, scope, new_key)

    def rename(self, key: str, new_key: str, scope: ScopeChoice | None = None) -> StoreResult:
        """Give a memory another key, with its history and the links that lead to it."""
        return self._run(verbs.move.rename, key, new_key, scope)

    def undo(self, key: str, scope: ScopeChoice | None = None, *, steps: int = 1, to: str | None = None) -> StoreResult:
        """Undo the last change to a memory: the text before it becomes a new revision.

        `steps` undoes more changes; `to` brings back a revision of its history.
        """
        return self._run(verbs.edit.undo, key, scope, steps, to)

    def pin(self, key: str, scope: ScopeChoice | None = None) -> StoreResult:
        """Show a memory first in every brief of its scope. For a person."""
        return self._run(verbs.pin.pin, key, scope)

    def unpin(self, key: str, scope: ScopeChoice | None = None) -> StoreResult:
        """Stop showing a memory first in every brief, and reject a proposal to. For a person."""
        return self._run(verbs.pin.unpin, key, scope)

    def forget(
        self, key: str, scope: ScopeChoice | None = None, *, purge: bool = False, if_revision: str | None = None
    ) -> StoreResult:
        """Move a memory to the trash; with `purge`, remove it from files, history, trash, index, state and audit."""
        return self._run(verbs.forget.purge if purge else verbs.forget.forget, key, scope, if_revision)

    def restore(self, key: str, scope: ScopeChoice | None = None) -> StoreResult:
        """Bring a memory back from the trash, byte for byte, or after its file was deleted outside."""
        return self._run(verbs.forget.restore, key, scope)

    def list_trash(self, scope: ScopeChoice | None = None, *, since: Moment | None = None) -> list[ForgottenMemory]:
        """Return what can be restored in the caller's scopes, the last forgotten first."""
        return self._run(verbs.trash.list_trash, scope, since)

    def restore_all(self, scope: ScopeChoice, *, since: Moment | None = None) -> list[StoreResult]:
        """Bring back all memories of a scope that can be restored, or those that were forgotten since a time."""
        return self._run(verbs.trash.restore_all, scope, since)

    def project(self) -> ProjectInfo:
        """Return which project the caller's folder is, why, and how many memories it has."""
        return self._run(verbs.project.project)

    def list_projects(self) -> list[ProjectItem]:
        """Return the projects of the book, the last changed first; for an agent, its own."""
        return self._run(verbs.project.list_projects)

    def adopt_project(self, project_id: str) -> ProjectChange:
        """Make the caller's folder one of a project's, when the book is next opened. For a person."""
        return self._run(verbs.project_change.adopt_project, project_id)

    def merge_projects(self, other: str, into: str | None = None) -> ProjectChange:
        """Move the memories of a project into another, or into the caller's. For a person."""
        return self._run(verbs.project_change.merge_projects, other, into)

    def split_project(self) -> ProjectChange:
        """Make the caller's folder a project of its own, when the book is next opened. For a person."""
        return self._run(verbs.project_change.split_project)

    def undo_project(self) -> ProjectChange:
        """Take back the last adopt, merge or split. For a person."""
        return self._run(verbs.project_change.undo_project)

    def clear(self, scope: ScopeChoice) -> int:
        """Move every memory of one scope to the trash, and return how many."""
        return self._run(verbs.forget.clear, scope)

    def consolidate(
        self, keys: Sequence[str], content: str, key: str | None = None, scope: ScopeChoice | None = None
    ) -> StoreResult:
        """Merge several memories into one. The old ones are superseded and linked, not deleted."""
        return self._run(verbs.link.consolidate, keys, content, key, scope)

    def link(self, key: str, rel: RelationChoice, to: str, scope: ScopeChoice | None = None) -> StoreResult:
        """Link a memory to another one: relates_to, supersedes or contradicts. An agent's link waits for review."""
        return self._run(verbs.link.link, key, rel, to, scope)

    def review(self) -> list[Proposal]:
        """Return everything that waits for review: memories and links, proposed or quarantined."""
        return self._run(verbs.review.review)

    def accept(
        self,
        key: str,
        scope: ScopeChoice | None = None,
        *,
        content: str | None = None,
        rel: str | None = None,
        to: str | None = None,
        into: ScopeChoice | None = None,
        pin: bool = False,
    ) -> StoreResult:
        """Accept a proposed memory, with the text `content` if given; its link `rel` to `to`; or, with `pin`, its pin.

        With `into`, the memory moves to that scope: a session's memories expire with it. A memory that does not wait
        itself needs no `pin`.
        """
        return self._run(verbs.review.accept, key, scope, content, rel, to, into, pin)

    def reject(
        self,
        key: str,
        scope: ScopeChoice | None = None,
        *,
        rel: str | None = None,
        to: str | None = None,
        pin: bool = False,
    ) -> StoreResult:
        """Move a proposed memory to the trash; or reject its link `rel` to `to`, or the proposal to pin it."""
        return self._run(verbs.review.reject, key, scope, rel, to, pin)

    # The journal

    def record_run(self, manifest: Mapping[str, object], *, strict: bool = False) -> RecordRunResult:
        """Record a finished run in the project's journal, once. For an orchestrator or a person.

        A failure is a warning in the result and never an exception in the caller's run, unless `strict`.
        """
        return self._run(verbs.journal.record_run, manifest, strict)

    def recent_memory(
        self, limit: int = 20, worker: str | None = None, status: str | None = None, cursor: str | None = None
    ) -> RecentEntries:
        """Return the newest entries of the project's journal, latest first: runs, or the tasks of one worker."""
        return self._run(verbs.journal.recent_memory, limit, worker, status, cursor)

    def journal_run(self, run_id: str) -> JournalRun:
        """Return everything that was recorded of one run."""
        return self._run(verbs.journal.journal_run, run_id)

    def lessons(self, *, propose: bool = True) -> Sequence[Lesson]:
        """Return what the project's runs taught: repeated failures, and fixes that worked.

        New lessons are proposed for review in the caller's agent scope, each once.
        """
        return self._run(verbs.journal.lessons, propose)

    def compact_journal(self, days: int = 90) -> CompactResult:
        """Summarise the months of the project's journal that ended before so many days ago; nothing is lost."""
        return self._run(verbs.journal.compact_journal, days)

    # Data files

    def data_put(self, name: str, content: bytes) -> str:
        """Store a file of any bytes under data/, and return its path. Its content and name are checked for secrets."""
        return self._run(verbs.data.data_put, name, content)

    def data_get(self, name: str) -> bytes:
        """Return the bytes of a data file."""
        return self._run(verbs.data.data_get, name)

    def data_list(self) -> list[str]:
        """Return the names of all data files."""
        return self._run(verbs.data.data_list)

    def data_remove(self, name: str) -> None:
        """Remove a data file."""
        self._run(verbs.data.data_remove, name)

    # Reading

    def recall(
        self,
        query: str = "",
        scope: ScopeChoice | None = None,
        type: TypeChoice | None = None,  # noqa: A002 - the word of the specification
        tags: Sequence[str] = (),
        kinds: Sequence[KindName] = KINDS,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        limit: int = 10,
        mode: SearchMode = "hybrid",
        sort: SortOrder = "score",
        budget_tokens: int | None = None,
        related: bool = False,
        explain: bool = False,
        expired: bool = False,
        strong: bool = False,
        everything: bool = False,
    ) -> RecallResult:
        """Search memories and the journal by meaning and by words, and return hits, best first.

        Each hit is strong or not, and `strong` leaves out those that are not. `later` of a hit names a later memory
        that may contradict it. Without a query: everything, latest first. `scope`, `type`, `tags`, `kinds` (memory,
        journal), `since` and `until` filter. `as_of` searches the book as it was then. `mode` is hybrid, lexical or
        semantic; `sort` is score, recency or usage. `budget_tokens` limits the text of the hits. `related` adds what
        the hits link to, `explain` what each score is made of, `expired` memories hidden for want of use, `everything`
        all scopes (for a person).
        """
        return self._run(
            verbs.recall.recall, query, scope, type, tags, kinds, since, until, as_of, limit, mode, sort,
            budget_tokens, related, explain, expired, strong, everything,
        )  # fmt: skip

    def show(self, key: str, scope: PlaceChoice | None = None, *, revision: str | None = None) -> Memory:
        """Return one memory with all its entries, from the nearest scope that has it; or as it was at a revision."""
        return self._run(verbs.show.show, key, scope, revision)

    def source(self, key: str, scope: ScopeChoice | None = None) -> tuple[bytes, str]:
        """Return the file of a memory as it is, and its revision."""
        return self._run(verbs.edit.source, key, scope)

    def page(self, path: str) -> str:
        """Return the text of a note or an index page by its path."""
        return self._run(verbs.show.page, path)

    def list(
        self,
        scope: ScopeChoice | None = None,
        *,
        type: TypeChoice | None = None,  # noqa: A002 - the word of the specification
        tag: str | None = None,
        hidden: bool = False,
        outside: bool = False,
        everything: bool = False,
        since: Moment | None = None,
    ) -> list[MemoryItem]:
        """Return the memories of the caller's scopes, by scope and key.

        Superseded and expired ones only with `hidden`; proposed ones only for a caller that may review them. `outside`:
        only those that came from outside and were never accepted. `everything`: all scopes, for a person. `since`: only
        those that were changed then or later.
        """
        return self._run(verbs.show.list_, scope, type, tag, hidden, outside, everything, since)

    def history(self, key: str, scope: ScopeChoice | None = None, *, diff: bool = False) -> Sequence[Revision]:
        """Return every known revision of a memory, oldest first, with who changed it and when; with `diff`, also what
        each change took away and added."""
        return self._run(verbs.edit.history, key, scope, diff)

    def timeline(self, session: str | None = None, since: Moment | None = None, limit: int = 50) -> Sequence[Hit]:
        """Return what was stored and the runs of the journal, latest first; or only what one session stored."""
        return self._run(verbs.recall.timeline, since, session, limit)

    def related(self, key: str, scope: ScopeChoice | None = None) -> Sequence[MemoryItem]:
        """Return the memories that a memory links to, in its frontmatter or its text."""
        return self._run(verbs.link.related, key, scope)

    def brief(self, prompt: str | None = None, *, cwd: str | None = None, explain: bool = False) -> BriefResult:
        """Return what an agent is told at the start of a session here, and what would be added to a prompt."""
        return self._run(verbs.brief.brief, prompt, cwd, explain)

    def prefetch(self) -> str:
        """Return the digest of the last seven days of the sources that the user allowed, fenced; empty if none is."""
        return self._run(verbs.brief.prefetch)

    def capture(self) -> CaptureResult:
        """Read the transcripts that hooks have named, and propose what is worth keeping, for review."""
        return self._run(verbs.capture.capture)

    # The book as files: read-only, as the caller's view shows it

    def list_memories(
        self, path: str = "/", include_inactive: bool = False, *, offset: int = 0, everything: bool = False
    ) -> FileList:
        """Return what is in a folder: folders, and notes with their summary, time and number of entries."""
        return self._run(verbs.files.list_memories, path, include_inactive, offset, everything)

    def read_memory(
        self,
        path: str,
        tail_n: int | None = None,
        tags: Sequence[str] = (),
        offset: int = 0,
        *,
        everything: bool = False,
    ) -> FileText:
        """Return the text of a file: all of it, its last entries (or lines), or the entries with these tags."""
        return self._run(verbs.files.read_memory, path, tail_n, tags, offset, everything)

    def search_memory(
        self,
        query: str,
        paths: Sequence[str] = (),
        case_sensitive: bool = False,
        regex: bool = False,
        limit: int | None = None,
        offset: int = 0,
        *,
        everything: bool = False,
    ) -> LineMatches:
        """Return the lines that contain a text, or match a pattern, in these files and folders.

        At most `limit`, and never more than the setting `max_search_results`.
        """
        wanted = [paths] if isinstance(paths, str) else paths
        return self._run(verbs.search.search_memory, query, wanted, case_sensitive, regex, limit, offset, everything)

    def shell(self, command: str, cwd: str = "/", *, everything: bool = False) -> ShellResult:
        """Run one command of the read-only shell. Pass the result's `cwd` to the next call to continue there."""
        return self._run(verbs.files.shell, command, cwd, everything)

    def shell_session(self, cwd: str = "/", *, everything: bool = False) -> ShellSession:
        """Return a shell that remembers its folder and answers bytes, for a prompt."""
        return self._run(verbs.files.open_session, None, cwd, everything)

    # The book itself

    def retire(self, *, daily: bool = False) -> RetireResult:
        """Move old session memories to the trash, hide unused project memories, and empty trash older than 30 days.

        `daily`: only if it was not done today.
        """
        return self._run(verbs.forget.retire, daily)

    def verify(self) -> VerifyResult:
        """Compare the index and the pages with the files, and return the differences."""
        return self._run(verbs.doctor.verify)

    def doctor(self) -> Sequence[Finding]:
        """Return every problem in the book, worst first, with what to do. Changes no file."""
        return self._run(verbs.doctor.doctor)

    def scan(self) -> ScanResult:
        """Return where something that looks like a secret is stored: path, line and rule, never the value."""
        return self._run(verbs.doctor.scan)

    def reindex(self) -> int:
        """Rebuild the index from the files and repair the pages. Return the number of notes."""
        return self._run(verbs.doctor.reindex)

    def embed(self) -> int:
        """Embed every entry that has no vector of this book's embedder yet, and return how many."""
        return self._run(verbs.doctor.embed)

    def status(self) -> BookStatus:
        """Return where things are stored, the scopes with their memories, and what is sent over the network."""
        return self._run(verbs.status.status)

    def config(self) -> Sequence[Setting]:
        """Return every setting with its value and where that comes from."""
        return self._run(verbs.status.config)

    def configure(self, name: str, value: str | None) -> Sequence[Setting]:
        """Set a setting in the book's config.toml; None removes it."""
        return self._run(verbs.status.configure, name, value)

    def trust(self, *, revoke: bool = False) -> bool:
        """Allow this book's config.toml, as it is now, to name programs and endpoints. Return whether it may."""
        return self._run(verbs.status.trust, revoke)

    def vouch(self) -> int:
        """Trust all memories that are here, though another book wrote them. Return how many were not trusted before."""
        return self._run(verbs.status.vouch)
