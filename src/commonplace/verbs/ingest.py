"""The verb `ingest`: mail, chat and documents become units of the memory tree.

What a person names is only read. A source is known again by the path it came from, so that the same command brings what
is new; `update` does that for all sources. Which files of a source were read, and what they looked like, is kept in
state: without it everything is read again, and nothing is stored twice.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, BinaryIO, NamedTuple, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.guard.audit import Facts
from commonplace.guard.secrets import redact
from commonplace.model.errors import CommonplaceError, InvalidField, StorageError, UnknownFormat
from commonplace.model.tree_results import IngestReport, IngestResult, SkippedPlace
from commonplace.text.naming import cut, one_line
from commonplace.tree.formats import find_reader, is_read_by_file
from commonplace.tree.ingest import IngestCounts, Ingestion
from commonplace.tree.other_sources import find_other_sources
from commonplace.tree.source import FileSet, ReadOptions, SkippedUnit, SourceReader
from commonplace.tree.store import TreeSource, TreeStore
from commonplace.vault.named_files import open_files
from commonplace.vault.source_files import NamedFiles
from commonplace.verbs.context import BookContext
from commonplace.verbs.tree_opening import TreeFacts, open_tree
from commonplace.verbs.tree_settling import ignore_derived, settle_tree
from commonplace.verbs.verb import Access, Arg, verb

_MOST_AUTHORS = 5
_MAX_NAME = 80  # characters of an author in a report
_TELL_EVERY = 0.1  # seconds between two reports of progress


class IngestRequest(NamedTuple):
    """What `ingest` is asked."""

    paths: Annotated[
        Sequence[str],
        Arg("a file, folder or zip: mbox, Maildir, .eml, Slack, WhatsApp, ChatGPT, Claude, transcripts, documents",
            "PATH", is_positional=True, nargs="*"),
    ] = ()  # fmt: skip
    kind: Annotated[
        str | None, Arg("email, chat or document, or a format such as mbox; recognised if not given", "KIND")
    ] = None
    name: Annotated[str | None, Arg("the source's name, if not that of the file", "SOURCE")] = None
    me: Annotated[Sequence[str], Arg("your addresses and names there: ann@example.org,Ann", "ADDRESS")] = ()
    timezone: Annotated[str | None, Arg("of times that say none, such as Europe/Berlin", "TZ")] = None
    brief: Annotated[bool, Arg("let its text into briefs and digests that agents get unasked")] = False
    update: Annotated[bool, Arg("read what is new in every source that is known")] = False
    dry_run: Annotated[bool, Arg("say what would come in; write nothing")] = False


def _describe_ingest(report: IngestReport, _: IngestRequest) -> Facts:
    return {
        "sources": len(report.sources),
        **{
            name: sum(getattr(item, name) for item in report.sources)
            for name in ("added", "known", "replaced", "redacted")
        },
        "skipped": sum(item.skipped_count for item in report.sources),
    }


@verb(
    Access.WHOLE_BOOK,
    audit=_describe_ingest,
    command="ingest",
    examples=(
        "commonplace ingest ~/takeout/All-mail.mbox --me ann@example.org",
        "commonplace ingest slack-export.zip --name work-chat --dry-run",
        "commonplace ingest ~/notes chat/_chat.txt --timezone Europe/Berlin",
        "commonplace ingest --update",
    ),
    no_tool="reads files beyond the book: for a person",
)
def ingest(context: BookContext, request: IngestRequest) -> IngestReport:
    """Read mail, chat and documents into the memory tree.

    Agents find and cite them with the tree tools; you with `commonplace tree` and `recall --kinds leaf`. What you name
    is only read. Reading it again, or a newer export of it, adds what is new. Secrets are removed. What comes from
    outside is labelled as such, and enters no brief unless you say --brief. If a part cannot be read, the rest comes
    in, the report names it, and the exit status is 3.
    """
    context.check_enabled()
    if bool(request.paths) == request.update:
        raise InvalidField("Name what to ingest, or say update.", hint="commonplace ingest PATH, or ingest --update.")
    if request.name is not None and len(request.paths) != 1:
        raise InvalidField("A name can be given to one path only.")
    tree = open_tree(context)
    sources = tree.freshen()
    if request.update:
        results = [_update_source(context, tree, source, request) for source in sources]
    else:
        results = [_try_path(context, tree, path, request) for path in request.paths]
    if not request.dry_run:
        tree.finish()
        settle_tree(context, tree)
    return IngestReport(tuple(results))


def _try_path(context: BookContext, tree: TreeStore, path: str, request: IngestRequest) -> IngestResult:
    """Ingest one path. Of several, one that cannot be read is named, and the others come in."""
    try:
        return _ingest_path(context, tree, path, request)
    except CommonplaceError as error:
        if len(request.paths) == 1 or isinstance(error, (InvalidField, StorageError)):
            raise
        place = SkippedPlace(redact(path)[0], error.code)
        return IngestResult("", "", "", path, 0, 0, 0, 0, 0, (place,), 1, dry_run=request.dry_run)


def _update_source(context: BookContext, tree: TreeStore, source: TreeSource, request: IngestRequest) -> IngestResult:
    """Read again what a source came from; one that is not there any more is named, and the others go on."""
    again = request._replace(kind=source.format, name=source.id, timezone=request.timezone or source.timezone or None)
    try:
        return _ingest_path(context, tree, source.origin, again)
    except CommonplaceError as error:
        place = SkippedPlace(source.origin, error.code)
        return IngestResult(
            source.id, source.kind, source.format, source.origin, 0, 0, 0, 0, 0, (place,), 1, dry_run=request.dry_run
        )


def _ingest_path(context: BookContext, tree: TreeStore, path: str, request: IngestRequest) -> IngestResult:
    with open_files(path, context.root) as files:
        if files.skipped and not files.names:
            left = files.skipped[0]
            raise UnknownFormat(
                f"Nothing in {files.given!a} can be read: {redact(left.name)[0]!a} ({left.reason}).",
                hint="docs/tree.md says what the reason means.",
            )
        reader = find_reader(files, request.kind)
        # Another process may begin the same source, or one of the same name.
        with nullcontext() if request.dry_run else tree.lock():
            source = _choose_source(tree, files, reader, request)
            if not request.dry_run:
                ignore_derived(context)
                tree.save_source(source)
        options = ReadOptions(frozenset(name.casefold() for name in source.me), source.timezone)
        known = _read_signatures(context, source) if is_read_by_file(reader) else {}
        # As they are before they are read: what is added to them meanwhile is read the next time.
        signatures = {name: _signature(files, name) for name in files.names}
        changed = _CountedFiles(files, [name for name in files.names if known.get(name) != signatures[name]])
        has_survey = reader.KIND == "email"  # what comes last in a mailbox may say what belongs together
        tell = _teller(context, changed, 2 if has_survey else 1)
        ingestion = Ingestion(tree, source, redact, tell, dry=request.dry_run)
        for left in files.skipped:
            ingestion.counts.note_skipped(SkippedUnit(left.name, left.reason))
        if changed.names:
            if has_survey:
                ingestion.survey(reader.read(changed, options))
            ingestion.run(reader.read(changed, options))
        if context.memories.progress is not None:
            context.memories.progress(changed.total // 1_000, changed.total // 1_000)
        if len(files.names) > 1:
            for other in find_other_sources(files, changed.names, ingestion.counts.files, reader.NAME):
                ingestion.counts.note_skipped(other)
        unchanged = len(files.names) - len(changed.names)
        if not request.dry_run and is_read_by_file(reader):
            # What could not be read may be readable later: with an extra, or once it may be opened.
            bad = {prefix for item in ingestion.counts.skipped for prefix in _list_prefixes(item.place)}
            _write_signatures(context, source, {name: signatures[name] for name in files.names if name not in bad})
        return _report(source, ingestion.counts, unchanged, dry_run=request.dry_run)


def _list_prefixes(place: str) -> Iterator[str]:
    """Yield what may be the name of the file in a place such as `general/2026-11-01.json, message 3`."""
    parts = place.split(",")
    return (",".join(parts[:end]) for end in range(1, len(parts) + 1))


def _choose_source(tree: TreeStore, files: NamedFiles, reader: SourceReader, request: IngestRequest) -> TreeSource:
    """Return the source that a path is: the one with this name, else the one that came from it, else a new one."""
    sources = tree.sources()
    found = [source for source in sources if source.id == request.name]
    if request.name is None:
        found = [source for source in sources if (source.origin, source.format) == (files.given, reader.NAME)]
    if found and found[0].kind != reader.KIND:
        raise InvalidField(
            f"{found[0].id!a} is a source of the kind {found[0].kind}, and this is {reader.KIND}.",
            hint="Give another name.",
        )
    if found:
        source = found[0]._replace(origin=files.given, format=reader.NAME)
        return source._replace(
            me=tuple(dict.fromkeys([*source.me, *request.me])),
            timezone=_check_zone(request.timezone) or source.timezone,
            is_briefed=source.is_briefed or request.brief,
        )
    stem = os.path.basename(files.given.rstrip("/\\")).partition(".")[0]
    ident = tree.name_source(request.name or stem or reader.NAME)
    if request.name is not None and ident != request.name:
        raise InvalidField(f"{request.name[:60]!a} cannot be the name of a source.", hint=f"{ident!a} could.")
    return TreeSource(
        ident, reader.KIND, reader.NAME, files.given, tree.memories.clock(), _check_zone(request.timezone),
        tuple(request.me), request.brief,
    )  # fmt: skip


def _check_zone(name: str | None) -> str:
    """Return the name of a time zone. Raises InvalidField for one that this machine does not know."""
    if not name:
        return ""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidField(
            f"Unknown time zone {name[:60]!a}.", hint="Name it as Europe/Berlin or America/New_York."
        ) from None
    return name


def _report(source: TreeSource, counts: IngestCounts, unchanged: int, *, dry_run: bool) -> IngestResult:
    skipped = tuple(SkippedPlace(redact(item.place)[0], item.reason) for item in counts.skipped)
    most = [(who, number) for who, number in counts.authors.most_common(_MOST_AUTHORS) if who and number]
    authors = tuple((cut(one_line(counts.names[who]), _MAX_NAME), number) for who, number in most)
    return IngestResult(
        source.id, source.kind, source.format, source.origin, counts.added, counts.known, counts.replaced,
        counts.rejected, counts.redacted, skipped, counts.skipped_count, counts.cut_lines, counts.first, counts.last,
        authors, unchanged, dry_run,
    )  # fmt: skip


# Files that were read before


def _signature(files: FileSet, name: str) -> str:
    return f"{files.size(name)} {files.modified(name)}"


def _fact_name(source: TreeSource) -> str:
    return f"tree/{source.id}/files"


def _read_signatures(context: BookContext, source: TreeSource) -> Mapping[str, str]:
    try:
        known = json.loads(TreeFacts(context).get(_fact_name(source)) or "{}")
    except ValueError:
        return {}
    is_same = (
        isinstance(known, dict) and known.get("origin") == source.origin and known.get("created") == source.created
    )
    return cast("Mapping[str, str]", known["files"]) if is_same else {}


def _write_signatures(context: BookContext, source: TreeSource, files: Mapping[str, str]) -> None:
    TreeFacts(context).set(
        _fact_name(source), json.dumps({"origin": source.origin, "created": source.created, "files": files})
    )


def forget_signatures(context: BookContext, source: TreeSource) -> None:
    """Have every file of a source read again, when it comes back."""
    TreeFacts(context).set(_fact_name(source), "")


class _CountedFiles:
    """Some of the files of a source, and how much of them was read."""

    def __init__(self, files: NamedFiles, names: Sequence[str]) -> None:
        self._files, self.names, self.given = files, names, files.given
        self.total = sum(map(files.size, names))
        self._before, self._stream = 0, cast("BinaryIO | None", None)

    def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        return self._files.size(name)

    def modified(self, name: str) -> str:
        """Return when a file was changed last."""
        return self._files.modified(name)

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for reading."""
        return self._open(name)

    @property
    def done(self) -> int:
        """How many bytes were read."""
        return self._before + (self._stream.tell() if self._stream is not None else 0)

    @contextmanager
    def _open(self, name: str) -> Iterator[BinaryIO]:
        with self._files.open(name) as stream:
            self._stream = stream
            try:
                yield stream
            finally:
                self._stream = None
                self._before += self._files.size(name)


def _teller(context: BookContext, files: _CountedFiles, passes: int) -> Callable[[], None]:
    """Return what tells who waits how many kilobytes of the source are done; with several passes, over all of them."""
    last = [0.0]

    def tell() -> None:
        progress = context.memories.progress
        if progress is not None and time.monotonic() - last[0] > _TELL_EVERY:
            last[0] = time.monotonic()
            # All of it is done only when what was read last is stored, too.
            progress(max(0, min(files.done // passes, files.total - 1_000) // 1_000), files.total // 1_000)

    return tell
