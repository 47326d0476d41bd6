"""The facade: a book, with one method per use case.

Every write goes the same way: role and rank, secrets, duplicates, then a unit that is durable before the answer. Every
read goes through the caller's view. Surfaces call this, and nothing below it.

Each method loads its verbs when it is first called (see `verbs`), so that a recall starts without what a store needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING

from commonplace import verbs
from commonplace.model.caller import Role
from commonplace.model.errors import InvalidField
from commonplace.model.results import (
    BookStatus,
    BriefResult,
    CaptureResult,
    Finding,
    ImportResult,
    MemoryItem,
    ProjectInfo,
    Proposal,
    RecallResult,
    RetireResult,
    Revision,
    ScaffoldResult,
    ScanResult,
    SimilarMemory,
    StoreResult,
    VerifyResult,
)
from commonplace.recall.query import KINDS, RecallQuery
from commonplace.verbs.desk import RETIRED, Desk

if TYPE_CHECKING:
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from commonplace.guard.protocol_state import ProtocolState
    from commonplace.model.memory import Memory
    from commonplace.model.results import (
        CompactResult,
        FileList,
        FileText,
        Hit,
        JournalRun,
        Lesson,
        LineMatches,
        RecentEntries,
        RecordRunResult,
        ShellResult,
    )
    from commonplace.model.settings import Setting
    from commonplace.shell.session import ShellSession

    P = ParamSpec("P")
    R = TypeVar("R")


def _audited(verb: str) -> Callable[[Callable[Concatenate[Book, P], R]], Callable[Concatenate[Book, P], R]]:
    """Each call of the method leaves a line in the audit: this is the one place through which all surfaces come."""

    def audited(method: Callable[Concatenate[Book, P], R]) -> Callable[Concatenate[Book, P], R]:
        code = method.__code__
        names = code.co_varnames[1 : code.co_argcount]

        @wraps(method)
        def call(self: Book, /, *args: P.args, **named: P.kwargs) -> R:
            given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **named}
            try:
                answer = method(self, *args, **named)
            except (Exception, KeyboardInterrupt) as error:
                self._desk.note(verb, given, error)
                raise
            self._desk.note(verb, given, answer)
            return answer

        return call

    return audited


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
        role: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        surface: str = "library",
    ) -> Book:
        """Open a book, making what is missing. `cwd` is the folder that tells the project when `project` does not;
        `surface` is what the audit says that calls come through. Without a `role` the caller is an agent where
        `agent` or COMMONPLACE_AGENT names one, and else a person."""
        flags = {"project": project, "agent": agent, "session": session, "sealed": sealed}
        return cls(verbs.opening.open_desk(root, flags, _role(role) if role is not None else None, cwd, surface))

    @classmethod
    def launched(
        cls, root: str | os.PathLike[str] | None = None, *, session: str | None = None
    ) -> tuple[str | None, bool]:
        """The session of whoever opens this book here, and whether they are sealed in it. Nothing is opened or made."""
        settings = verbs.opening.launch_settings(root, {"session": session})
        return settings.session, settings.sealed

    @classmethod
    def init(cls, root: str | os.PathLike[str] | None = None, *, template: str = "minimal") -> ScaffoldResult:
        """Make a book, or what is missing in one; what is there stays as it is."""
        return verbs.opening.make_book(root, template)

    def close(self) -> None:
        self._desk.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def as_role(self, role: str) -> Book:
        """This book for another role, which must not be a wider one. It ends with this book, and needs no closing."""
        return Book(self._desk.for_role(_role(role)))

    @property
    def role(self) -> str:
        return self._desk.caller.role.value

    @property
    def unproved_project(self) -> str | None:
        """The project that this folder claims to be and could not prove to be; None almost always."""
        return self._desk.unproved

    @property
    def protocol(self) -> str:
        """How agents are held to the write protocol here: off, guide or strict."""
        return self._desk.settings.protocol

    def protocol_state(self, owner: int | str) -> ProtocolState:
        """What this caller, of this process or token, has read and written lately."""
        return verbs.enforcing.state_of(self._desk, owner)

    def keep_protocol_state(self, owner: int | str, state: ProtocolState) -> None:
        verbs.enforcing.keep_state(self._desk, owner, state)

    def watch(self) -> None:
        """For a process that lives long: see within a second what others change in the files."""
        self._desk.watch()

    def on_progress(self, progress: Callable[[int, int], None] | None) -> None:
        """While many notes are read or embedded, tell how many have been, and of how many."""
        self._desk.keep.progress = progress

    # Writing

    @_audited("store")
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
    ) -> StoreResult:
        """Keep something. Answers where it is, what was done, and which memories say nearly the same."""
        request = verbs.storing.StoreRequest(
            content, key, scope, type, tags, summary, mode, if_revision, decision, author, occurred, thread, seq
        )
        return verbs.storing.store(self._desk, request)

    def similar(self, content: str) -> tuple[SimilarMemory, ...]:
        """The memories a store of this would name: those that say it already, and those that say otherwise."""
        return verbs.storing.similar_to(self._desk, content)

    @_audited("store_many")
    def store_many(self, items: Iterable[Mapping[str, object]]) -> list[StoreResult]:
        """Keep many: those of one scope are written, synced and acknowledged together."""
        return verbs.storing.store_many(self._desk, items)

    @_audited("import")
    def import_from(
        self,
        source: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002 - the word of the specification
        scope: str | None = None,
        *,
        dry_run: bool = False,
        reviewed: bool = False,
        redact: bool = True,
    ) -> ImportResult:
        """Take in what another tool remembers, and tell what was taken and what was left. The source is only read.

        `reviewed`: a person has looked at it, and trusts it like their own. `redact`: an item with a secret is taken
        without it; else it is left. `dry_run`: the same answer, and nothing is written.
        """
        return verbs.import_from.import_from(
            self._desk, source, format, scope, dry_run=dry_run, reviewed=reviewed, redacting=redact
        )

    @_audited("edit")
    def edit(self, key: str, data: bytes, scope: str | None = None, *, if_revision: str | None = None) -> StoreResult:
        """Put a whole new file in the place of a memory's: what a person made of it in an editor."""
        return verbs.altering.edit(self._desk, key, data, scope, if_revision)

    @_audited("undo")
    def undo(self, key: str, scope: str | None = None) -> StoreResult:
        """The revision before the last change, as a new one."""
        return verbs.altering.undo(self._desk, key, scope)

    @_audited("forget")
    def forget(
        self, key: str, scope: str | None = None, *, purge: bool = False, if_revision: str | None = None
    ) -> StoreResult:
        """To the trash; with `purge`, out of the files, the history, the trash, the index, the state and the audit."""
        if purge:
            return verbs.altering.purge(self._desk, key, scope, if_revision)
        return verbs.altering.forget(self._desk, key, scope, if_revision)

    @_audited("restore")
    def restore(self, key: str, scope: str | None = None) -> StoreResult:
        """Bring back the newest of this key: from the trash, byte for byte, or after its file was deleted outside."""
        return verbs.altering.restore(self._desk, key, scope)

    def project(self) -> ProjectInfo:
        """Which project the caller's folder is, what it is known by, and how many memories it has."""
        return verbs.projects.show_project(self._desk)

    @_audited("adopt_project")
    def adopt_project(self, project_id: str) -> ProjectInfo:
        """Make the caller's folder one of a project's folders, though it cannot prove that it is. For a person."""
        return verbs.projects.adopt_project(self._desk, project_id)

    @_audited("clear")
    def clear(self, scope: str) -> int:
        """Forget everything in one scope; answers how many memories that were."""
        return verbs.altering.clear(self._desk, scope)

    @_audited("consolidate")
    def consolidate(
        self, keys: Sequence[str], content: str, key: str | None = None, scope: str | None = None
    ) -> StoreResult:
        """Several become one; the old ones are superseded, linked and still there."""
        return verbs.altering.consolidate(self._desk, keys, content, key, scope)

    @_audited("link")
    def link(self, key: str, rel: str, to: str, scope: str | None = None) -> StoreResult:
        """Link one memory to another. An agent's link is proposed, a person's stands."""
        return verbs.altering.link(self._desk, key, rel, to, scope)

    def review(self) -> list[Proposal]:
        """Everything that waits for somebody's verdict: memories and links, proposed or quarantined."""
        return verbs.reviewing.queue(self._desk)

    @_audited("accept")
    def accept(
        self,
        key: str,
        scope: str | None = None,
        *,
        content: str | None = None,
        rel: str | None = None,
        to: str | None = None,
        into: str | None = None,
    ) -> StoreResult:
        """What waits stands from now on: a memory, edited to `content` if given, or its link `rel` to `to`.

        With `into`, a memory moves to that scope: what was proposed in a session goes with the session otherwise.
        """
        return verbs.reviewing.accept(self._desk, key, scope, content, rel, to, into)

    @_audited("reject")
    def reject(
        self, key: str, scope: str | None = None, *, rel: str | None = None, to: str | None = None
    ) -> StoreResult:
        """A memory that waits goes to the trash; a link stays, as rejected, so that nobody proposes it again."""
        return verbs.reviewing.reject(self._desk, key, scope, rel, to)

    # The journal

    @_audited("record_run")
    def record_run(self, manifest: Mapping[str, object], *, strict: bool = False) -> RecordRunResult:
        """Put a finished run into the journal of the project, once. A failure is a warning in the answer, never an
        exception in the caller's run; with `strict` it is one. For an orchestrator or a person."""
        return verbs.recording.record_run(self._desk, manifest, strict=strict)

    def recent_memory(
        self, limit: int = 20, worker: str | None = None, status: str | None = None, cursor: str | None = None
    ) -> RecentEntries:
        """The newest entries of the project's journal, latest first: runs, or the tasks of one worker."""
        return verbs.recording.recent_memory(self._desk, limit, worker, status, cursor)

    def journal_run(self, run_id: str) -> JournalRun:
        """Everything that was recorded of one run."""
        return verbs.recording.journal_run(self._desk, run_id)

    @_audited("lessons")
    def lessons(self, *, propose: bool = True) -> Sequence[Lesson]:
        """What the project's runs taught: failures that came again, fixes that worked. New ones are proposed for review
        in the caller's agent scope, once for all times."""
        return verbs.recording.lessons(self._desk, propose=propose)

    @_audited("compact_journal")
    def compact_journal(self, days: int = 90) -> CompactResult:
        """Make summaries of the months of the project's journal that ended before so many days ago; nothing is lost."""
        return verbs.recording.compact_journal(self._desk, days)

    # Data files

    @_audited("data_put")
    def data_put(self, name: str, content: bytes) -> str:
        """Keep a file of any bytes under data/. It goes through the secret gate, and so does its name."""
        return verbs.data_files.put_file(self._desk, name, content)

    def data_get(self, name: str) -> bytes:
        """Return the bytes of a data file."""
        return verbs.data_files.get_file(self._desk, name)

    def data_list(self) -> list[str]:
        """Return the names of all data files."""
        return verbs.data_files.list_files(self._desk)

    @_audited("data_remove")
    def data_remove(self, name: str) -> None:
        """Remove a data file."""
        verbs.data_files.remove_file(self._desk, name)

    # Reading

    @_audited("recall")
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
    ) -> RecallResult:
        """What the book knows about something, best first. No good match is no hit."""
        question = RecallQuery(
            query, (), type, tuple(tags), tuple(kinds), since, until, as_of, limit, mode, sort, budget_tokens, expired,
            explain,
        )  # fmt: skip
        return verbs.reading.recall(self._desk, question, scope, everything=everything, related=related)

    def show(self, key: str, scope: str | None = None) -> Memory:
        """One memory, from the nearest scope that has it."""
        return verbs.reading.show(self._desk, key, scope)

    def source(self, key: str, scope: str | None = None) -> tuple[bytes, str]:
        """The file of a memory as it is, and its revision: to be edited."""
        return verbs.reading.source(self._desk, key, scope)

    def page(self, path: str) -> str:
        """The text of a note or an index page by its path, as the caller's view shows it."""
        return verbs.reading.page(self._desk, path)

    def list(
        self, scope: str | None = None, *, hidden: bool = False, everything: bool = False, outside: bool = False
    ) -> list[MemoryItem]:
        """The memories of the caller's scopes, by scope and key; superseded and expired ones only on request, and those
        that wait for review only for who may judge them. `outside`: only those that came from outside and that nobody
        has accepted."""
        listed = verbs.reading.listing(self._desk, scope, hidden=hidden, everything=everything)
        return verbs.reading.unaccepted(self._desk, listed) if outside else listed

    def history(self, key: str, scope: str | None = None) -> Sequence[Revision]:
        """Every revision that is known of a memory, oldest first, with who and why."""
        return verbs.reading.history(self._desk, key, scope)

    def timeline(self, session: str | None = None, since: str | None = None, limit: int = 50) -> Sequence[Hit]:
        """What was stored, and the runs of the journal, by time, latest first; what one session stored if asked."""
        return verbs.reading.timeline(self._desk, session, since, limit)

    def related(self, key: str, scope: str | None = None) -> Sequence[MemoryItem]:
        """The memories that a memory links to, in its frontmatter or its text."""
        return verbs.reading.related(self._desk, key, scope)

    def brief(self, prompt: str | None = None, *, cwd: str | None = None) -> BriefResult:
        """What an agent would be told here unasked: at the start, and with a prompt what would be added to that."""
        return verbs.briefing.build_caller_brief(self._desk, prompt, cwd)

    def session_folder(self, session: str) -> str | None:
        """The folder in which a hook saw this session begin; None when none did."""
        return verbs.briefing.find_session_folder(self._desk, session)

    @_audited("capture")
    def capture(self) -> CaptureResult:
        """Read the transcripts that hooks have named, and propose what is worth keeping, for review."""
        return verbs.capturing.capture(self._desk)

    # The book as files: read-only, as the caller's view shows it

    def list_memories(
        self, path: str = "/", include_inactive: bool = False, *, offset: int = 0, everything: bool = False
    ) -> FileList:
        """What is in a folder: folders, and notes with summary, time and entries; superseded and expired on request."""
        return verbs.files.list_memories(self._desk, path, offset, inactive=include_inactive, everything=everything)

    def read_memory(
        self,
        path: str,
        tail_n: int | None = None,
        tags: Sequence[str] = (),
        offset: int = 0,
        *,
        everything: bool = False,
    ) -> FileText:
        """The text of a file: all of it, its last entries (or lines), or the entries with these tags."""
        return verbs.files.read_memory(self._desk, path, tail_n, tags, offset, everything=everything)

    @_audited("search_memory")
    def search_memory(
        self,
        query: str,
        paths: Sequence[str] = (),
        case_sensitive: bool = False,
        regex: bool = False,
        limit: int = 50,
        offset: int = 0,
        *,
        everything: bool = False,
    ) -> LineMatches:
        """The lines that hold a text, or match a pattern, in these files and folders; the limit is for all together."""
        return verbs.searching.search_memory(
            self._desk, query, paths, limit, offset, case_sensitive=case_sensitive, regex=regex, everything=everything
        )

    @_audited("shell")
    def shell(self, command: str, cwd: str = "/", *, everything: bool = False) -> ShellResult:
        """One command of the read-only shell. Pass the answer's `cwd` to the next one to go on from there."""
        return verbs.files.shell(self._desk, command, cwd, everything=everything)

    @_audited("shell")
    def shell_session(self, cwd: str = "/", *, everything: bool = False) -> ShellSession:
        """The same shell with a memory for where it is, answering bytes: for a person at a prompt."""
        return verbs.files.session(self._desk, cwd, everything=everything)

    # The book itself

    @_audited("retire")
    def retire(self, *, daily: bool = False) -> RetireResult:
        """Let what is too old go: session memories to the trash, unused project ones hidden, the trash after 30 days.
        `daily`: unless somebody has today."""
        desk = self._desk
        if daily and desk.state.get_fact(desk.keep.space, RETIRED) == desk.keep.clock()[:10]:
            return RetireResult()
        return verbs.retiring.retire(desk)

    def verify(self) -> VerifyResult:
        """Proof that the index and the pages are what the files say."""
        return verbs.upkeep.verify_book(self._desk)

    def doctor(self) -> Sequence[Finding]:
        """Everything that is wrong in the book, worst first, with what to do. Changes no file."""
        return verbs.upkeep.find_problems(self._desk)

    def scan(self) -> ScanResult:
        """Where something that looks like a secret is stored: path, line and rule, never the value."""
        return verbs.upkeep.find_stored_secrets(self._desk)

    def reindex(self) -> int:
        """Read every note again and mend the pages; answers how many notes there are."""
        return verbs.upkeep.reindex(self._desk)

    def embed(self) -> int:
        """Embed every entry that has no vector of this book's embedder yet, however long it takes; answers how many
        these were. What was done before an error is kept."""
        return verbs.upkeep.embed(self._desk)

    def status(self) -> BookStatus:
        """What is where: files, databases, scopes, and what leaves this machine."""
        return verbs.reporting.standing(self._desk)

    def config(self) -> Sequence[Setting]:
        """Every setting with its value and where that comes from."""
        return verbs.reporting.settings_of(self._desk)

    @_audited("config")
    def configure(self, name: str, value: str | None) -> Sequence[Setting]:
        """Set a setting in the book's config.toml, or with None take it out."""
        return verbs.reporting.configure(self._desk, name, value)

    @_audited("trust")
    def trust(self, *, revoke: bool = False) -> bool:
        """Allow this book's config.toml, as it is now, to name programs and endpoints; answers whether it may."""
        return verbs.reporting.trust(self._desk, revoke=revoke)

    @_audited("vouch")
    def vouch(self) -> int:
        """Believe all memories that are here, though another book wrote them; answers how many nobody believed."""
        return verbs.reporting.vouch(self._desk)


def _role(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise InvalidField(f"{word[:40]!a} is not a role.", hint=f"Use one of: {', '.join(Role)}.") from None
