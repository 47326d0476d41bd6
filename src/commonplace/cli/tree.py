"""The commands about mail, chat and documents: ingest, and the questions to the memory tree."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence

from commonplace import verbs
from commonplace.book import Book
from commonplace.cli import tree_nodes
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, flags
from commonplace.cli.screen import Screen, shown
from commonplace.model.results import Hit
from commonplace.model.tree_results import EntityMerge, IngestReport, IngestResult, TreeHits
from commonplace.text.plural import plural

_PARTLY = 3  # the exit status of an ingest that could not read everything
_MOST_PLACES = 5  # of one reason that a report names
_REASONS = {
    "unreadable": "could not be read",
    "too_large": "too large",
    "too_many_parts": "too many parts",
    "too_deep": "nested too deep",
    "empty": "empty",
    "bad_zip": "damaged in the zip",
    "unknown_format": "of an unknown format",
    "other_format": "of another kind: ingest them by themselves, or say --kind",
    "extra_missing": "need `pip install 'commonplace-memory[documents]'`",
    "link": "links, which are not followed",
    "not_found": "not there",
    "not_a_file": "neither a file nor a folder",
}


def _ingest(call: Call) -> int:
    request = call.make_request(verbs.ingest.IngestRequest)
    with call.open() as book:
        if call.progress is not None:
            call.progress.noun, call.progress.next_step = "kB", "now the index, summaries and digests"
        if not request.brief and not request.dry_run and _is_new(book, request):
            request = request._replace(
                brief=call.confirmed("May text from it stand in briefs and digests that agents get without asking?")
            )
        report = verbs.ingest.ingest(book.context, request)
    if not call.answer(_report_data(report)):
        for result in report.sources:
            _print_ingest(call.screen, result)
        if not report.sources:
            call.remark("There is no source to update. First: commonplace ingest PATH", "")
    return _PARTLY if report.is_partial else DONE


def _is_new(book: Book, request: verbs.ingest.IngestRequest) -> bool:
    """Return whether there is no source yet of one of the paths: what may stand in briefs is asked once."""
    known = {name for source in book.tree_sources() for name in (source.id, source.origin)}
    paths = [os.path.abspath(os.path.expanduser(path)) for path in request.paths]
    return request.name not in known and any(path not in known and os.path.exists(path) for path in paths)


def _report_data(report: IngestReport) -> object:
    """Return a report as scripts read it: of one source flat, of several as a list with the sums beside it."""
    if len(report.sources) == 1:
        return report.sources[0]
    names = ("added", "known", "replaced", "rejected", "redacted", "skipped_count")
    sums = {name: sum(getattr(item, name) for item in report.sources) for name in names}
    skipped = [place for item in report.sources for place in item.skipped]
    return {"source": [item.source for item in report.sources], **sums, "skipped": skipped, "sources": report.sources}


def _print_ingest(screen: Screen, result: IngestResult) -> None:
    if not result.source:
        screen.line(f"{screen.paint('Not read', 'bad')}: {shown(result.origin)}")
        _print_skipped(screen, result)
        return
    verb, name = "Would read" if result.dry_run else "Read", screen.paint(shown(result.source), "name")
    read = f"{screen.paint(verb, 'good')} {shown(result.origin)} ({result.format}) as {name}"
    if not (result.added or result.replaced or result.skipped_count):
        screen.line(f"{read}: nothing new")
        return
    screen.line(read)
    noun = ("section", "sections") if result.kind == "document" else ("message", "messages")
    added = f"  {plural(result.added, *noun)} added"
    first, last = (screen.day(moment) if moment else "" for moment in (result.first, result.last))
    if first:
        added += f", all of {first}" if first == last else f", from {first} to {last}"
    screen.line(added)
    if result.authors:
        screen.line(f"  most by {', '.join(f'{shown(name)} ({number:,})' for name, number in result.authors)}")
    facts = (
        (result.known, "known already"),
        (result.replaced, "changed: the new text is kept, the old one is in the history"),
        (result.rejected, "from lists, machines, spam or trash: searchable, and kept out of digests and briefs"),
    )
    for number, text in facts:
        if number:
            screen.line(f"  {number:,} {text}")
    if result.unchanged:
        screen.line(f"  {plural(result.unchanged, 'file has', 'files have')} not changed since the last time")
    is_changed = bool(result.added or result.replaced)  # else these are of messages that were known already
    if result.cut_lines and is_changed:
        screen.line(f"  {plural(result.cut_lines, 'line', 'lines')} of quotes, signatures and footers cut")
    if result.redacted and is_changed:
        screen.line(f"  {plural(result.redacted, 'secret', 'secrets')} removed")
    _print_skipped(screen, result)
    if not result.dry_run and result.added:
        screen.line(
            screen.paint(f'  Ask: commonplace tree query-source --source {result.source} --query "..."', "weak")
        )


def _print_skipped(screen: Screen, result: IngestResult) -> None:
    counts = Counter(item.reason for item in result.skipped)
    for reason, number in counts.most_common():
        screen.line(f"  {screen.paint(f'{number:,} skipped', 'warn')}: {_REASONS.get(reason, reason)}")
        places = [item.place for item in result.skipped if item.reason == reason]
        for place in places[:_MOST_PLACES]:
            screen.line(f"    {shown(place)}")
        if number > _MOST_PLACES:
            screen.line(screen.paint(f"    and {number - _MOST_PLACES:,} more; --json names them", "weak"))


def _print_hits(screen: Screen, hits: Sequence[Hit]) -> None:
    first_weak = next((hit for hit in hits if not hit.strong), None)
    for hit in sorted(hits, key=lambda hit: not hit.strong):
        if hit is first_weak:
            screen.line(screen.paint("Weaker matches:", "warn"))
        source = [shown(hit.tree), shown(screen.minute(hit.time_start)), *([shown(hit.author)] if hit.author else [])]
        source.append("from outside")
        title = shown(hit.title) or shown(hit.summary)
        screen.line(f"{screen.paint(title, 'name')}  {screen.paint('  '.join(source), 'weak')}")
        screen.block(hit.text)
        screen.line(f"  {screen.paint(shown(hit.ref), 'weak')}")


def _hits(call: Call) -> int:
    found: TreeHits = call.run(call.verb)
    if not call.answer(found):
        _print_hits(call.screen, found.hits)
        if not found.hits and found.nearest:
            call.remark(f"Unknown id. Like it: {', '.join(map(shown, found.nearest))}", "")
        elif not found.hits:
            call.remark("Nothing found.", "")
        if found.truncated:
            call.remark(f"{len(found.hits):,} of {found.total:,}. --limit shows more.")
        if found.authors:
            most = ", ".join(f"{shown(item.author)} ({item.units:,})" for item in found.authors[:5])
            call.remark(f"Most by: {most}")
        if found.notice:
            call.remark(found.notice, "warn")
    return DONE if found.hits else NOTHING


def _entities(call: Call) -> int:
    found = call.run(verbs.tree_search.search_entities)
    if not call.answer(found):
        rows = [
            (item.canonical_id, item.surface, f"{item.mention_count:,}", call.screen.day(item.last_seen))
            for item in found.entities
        ]
        call.screen.table(("ID", "NAME", "MENTIONS", "LAST"), rows, ("name", "", "", "weak"))
        if not found.entities:
            call.remark("No person or thing of that name is mentioned.", "")
    return DONE if found.entities else NOTHING


def _leaves(call: Call) -> int:
    found = call.run(verbs.tree_search.fetch_leaves)
    if not call.answer(found):
        _print_hits(call.screen, found.hits)
        for ident in found.missing:
            call.remark(f"Not there: {shown(ident)}", "warn")
    return DONE if found.hits else NOTHING


def _sources(call: Call) -> int:
    found = call.run(verbs.tree_sources.tree_sources)
    if not call.answer({"sources": found}):
        rows = [
            (
                item.id,
                item.format,
                f"{item.units:,}",
                f"{call.screen.day(item.first)} - {call.screen.day(item.last)}" if item.first else "",
                item.origin,
            )
            for item in found
        ]
        call.screen.table(("ID", "FORMAT", "UNITS", "WHEN", "FROM"), rows, ("name", "", "", "weak", "weak"))
        if not found:
            call.remark("Nothing was ingested yet. First: commonplace ingest PATH", "")
    return DONE if found else NOTHING


def _status(call: Call) -> int:
    status = call.run(verbs.tree_sources.tree_status)
    if not call.answer(status):
        for name, number in status._asdict().items():
            call.screen.line(f"{name:<10} {number:,}")
    return DONE


def _cost(call: Call) -> int:
    cost = call.run(verbs.tree_cost.tree_cost)
    totals = {name: value for name, value in cost._asdict().items() if name != "rows"}
    if not call.answer(totals):
        table = [(row.day, row.model, row.calls, row.tokens_in, row.tokens_out, row.usd) for row in cost.rows]
        table.append(("total", "", cost.calls, cost.tokens_in, cost.tokens_out, cost.usd))
        rows = [
            (day, model, *(f"{number:,}" for number in numbers), f"{usd:,.4f}") for day, model, *numbers, usd in table
        ]
        call.screen.table(("DAY", "MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "USD"), rows, ("weak", "name"))
    return DONE


def _forget(call: Call) -> int:
    request = call.make_request(verbs.tree_sources.TreeForgetRequest)
    question = f"Remove the source {shown(request.source)} with everything that came from it alone?"
    if call.is_declined(question, "tree forget"):
        return NOTHING
    with call.open() as book:
        done = verbs.tree_sources.tree_forget(book.context, request)
    if not call.answer(done):
        size = f"{plural(done.units, 'unit', 'units')} in {plural(done.files, 'file', 'files')}"
        call.screen.line(f"Removed {shown(done.source)}: {size}.")
        if done.moved:
            call.screen.line(f"{plural(done.moved, 'unit', 'units')} moved to another source that has them too.")
        if not done.is_clean:
            call.remark("Another program is reading the index: some text stays in tree.db until it has ended.", "warn")
    return DONE


def _merge(call: Call) -> int:
    merge: EntityMerge = call.run(call.verb)
    if not call.answer(merge):
        words = "Merged" if merge.state == "merged" else "Separate now"
        call.screen.line(f"{words}: {' = '.join(map(shown, merge.members)) or shown(merge.canonical_id)}")
    return DONE


def _merges(call: Call) -> int:
    found = call.run(verbs.tree_sources.list_merges)
    if not call.answer({"entities": found}):
        for merge in found:
            call.screen.line(f"{merge.state:<9} {' = '.join(map(shown, merge.members))}")
        if not found:
            call.remark("No person has two addresses yet.", "")
    return DONE if found else NOTHING


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the answer, as Markdown; - for standard input")


def _cite(call: Call) -> int:
    data = call.read_bytes(call.args.file)
    with call.open() as book:
        result = verbs.cite.cite(book.context, verbs.cite.CiteRequest(data.decode("utf-8", "replace")))
    if not call.answer(result):
        for fault in result.faults:
            call.screen.line(f"line {fault.line}: {shown(fault.text)} [{fault.code}]")
        if result.ok:
            quotes = plural(result.quotes, "quotation", "quotations")
            call.screen.line(f"{plural(result.citations, 'citation', 'citations')} and {quotes}: all hold.")
    return DONE if result.ok else NOTHING


COMMANDS = {
    **tree_nodes.COMMANDS,
    "ingest": CliCommand(_ingest),
    "tree search-entities": CliCommand(_entities),
    "tree query-topic": CliCommand(_hits),
    "tree query-source": CliCommand(_hits),
    "tree fetch-leaves": CliCommand(_leaves),
    "tree cite": CliCommand(_cite, _add_file),
    "tree sources": CliCommand(_sources),
    "tree status": CliCommand(_status),
    "tree cost": CliCommand(_cost),
    "tree forget": CliCommand(_forget, flags(yes="do not ask")),
    "tree entity list": CliCommand(_merges),
    "tree entity merge": CliCommand(_merge),
    "tree entity undo": CliCommand(_merge),
}
