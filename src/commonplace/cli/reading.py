"""The commands that read memories: recall, show, related, list, history, timeline, brief."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence

from commonplace import verbs
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, flags, here
from commonplace.cli.parser import Usage, add_request
from commonplace.cli.screen import Screen, scope_name, shown
from commonplace.model.memory import PIN_PROPOSED, Memory, Status
from commonplace.model.results import Hit, HitKind, MemoryItem, RecallResult, Revision
from commonplace.model.scope import ScopeKind
from commonplace.recall.query import format_total
from commonplace.text.plural import plural
from commonplace.verbs.tool import describe_later

_DIFF_STYLES = {"-": "bad", "+": "good", "@": "weak"}


def _recall(call: Call) -> int:
    request = call.make_request(verbs.recall.RecallRequest)
    with call.open() as book:
        found = verbs.recall.recall(book.context, request)
        is_weak = not any(hit.strong for hit in found.hits)
        elsewhere = verbs.recall.count_elsewhere(book.context, request) if is_weak and not call.args.json else {}
    answer: dict[str, object] = {"hits": found.hits, "total": found.total, "hidden": found.hidden}
    answer |= {"explained": found.explained} if call.args.explain else {}
    answer |= {"notice": found.notice} if found.notice else {}
    answer |= {"reason": _name_options(found.reason)} if found.reason else {}
    if not call.answer(answer):
        _print_hits(call.screen, found.hits, found.explained, names_scopes=request.everything)
        _print_what_is_missing(call, found, found.notice.removesuffix(call.notice).strip())
        _print_elsewhere(call, elsewhere, "match", "matches")
    return DONE if found.hits else NOTHING


def _name_options(reason: str) -> str:
    """Return a reason with the option as it is typed here."""
    return reason.replace("`strong`", "`--strong`")


def _print_what_is_missing(call: Call, found: RecallResult, notice: str) -> None:
    if not found.hits:
        if found.reason != verbs.recall.SWITCHED_OFF:  # which is told already
            call.remark(_name_options(found.reason), "")
    elif found.total > len(found.hits):
        call.remark(f"{format_total(len(found.hits), found.total)} --limit shows more.")
    if notice:
        call.remark(notice, "warn")
    for status, number in found.hidden.items():
        call.remark(f"Not shown: {plural(number, 'entry', 'entries')} of {status} memories.")


def _print_elsewhere(call: Call, counts: Mapping[str, int], one: str, many: str) -> None:
    """Say that other scopes than the caller's have what was not found."""
    for scope, number in counts.items():
        call.remark(
            f"{plural(number, one, many)} in {shown(scope)} (--all shows {'it' if number == 1 else 'them'}).", ""
        )


def _print_hits(
    screen: Screen,
    hits: Sequence[Hit],
    explained: Sequence[Mapping[str, float]] = (),
    *,
    names_scopes: bool = False,
) -> None:
    first_weak = next((number for number, hit in enumerate(hits) if not hit.strong), None)
    for number, hit in sorted(enumerate(hits), key=lambda item: not item[1].strong):
        if number == first_weak:
            screen.line(screen.paint("Weaker matches:", "warn"))
        source = [
            _scope_of(hit, names_scopes),
            shown(screen.minute(hit.time_start)),
            *([shown(hit.author)] if hit.author else []),
            *([f"session {shown(hit.session)}"] if hit.session and hit.session != hit.scope_id else []),
        ]
        source += ["from outside"] if hit.trust == "external" else []
        source += [hit.mark] if hit.mark else []
        name = hit.ref if hit.kind is HitKind.LEAF else hit.key  # what `show` takes
        screen.line(f"{screen.paint(shown(name), 'name')}  {screen.paint('  '.join(source), 'weak')}")
        screen.block(hit.text)
        if hit.later is not None:
            screen.block(f"later: {describe_later(hit.later)}", style="warn")
        if number < len(explained):
            screen.block(_explain(hit, explained[number]), style="weak")


def _scope_of(hit: Hit, names_scopes: bool) -> str:
    kind = hit.scope if hit.kind is HitKind.MEMORY else hit.kind.value
    return scope_name(kind, hit.scope_id if names_scopes or hit.scope == ScopeKind.SESSION else None)


def _explain(hit: Hit, parts: Mapping[str, float]) -> str:
    """Return what a score is made of, and what else gave the hit its place."""
    if not parts:
        return "no score: ordered by time, or by what --sort says"
    added = " + ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return f"score {hit.score:.3f}: {added}"


def _show(call: Call) -> int:
    if call.args.related:
        return _related(call)
    memory = call.run(verbs.show.show)
    if call.answer(memory):
        return DONE
    screen = call.screen
    where = scope_name(memory.scope.kind.value, memory.scope.id)
    screen.line(f"{screen.paint(shown(memory.key), 'name')}  {screen.paint(where, 'weak')}")
    labels = _labels(memory, screen.minute(memory.meta.updated), call.place(memory.path))
    column = max(9, *(len(name) for name, _ in labels))
    for name, value in labels:
        screen.label(name, value, column, indent="  ")
    for entry in memory.entries:
        session = f"session {entry.session}" if entry.session else ""
        who = "  ".join(dict.fromkeys(shown(word) for word in (entry.author, entry.trust.value, session) if word))
        screen.line()
        screen.line(screen.paint(f"{shown(screen.minute(entry.time))}  {who}", "weak"))
        screen.block(entry.text)
    return DONE


def _labels(memory: Memory, updated: str, file: str) -> list[tuple[str, str]]:
    meta = memory.meta
    labels = [("summary", meta.summary)] if meta.summary else []
    labels += [("type", meta.type.value)]
    labels += [("status", meta.status.value)] if meta.status is not Status.ACTIVE else []
    labels += [("tags", ", ".join(meta.tags))] if meta.tags else []
    labels += [("pinned", "yes")] if meta.pinned else []
    labels += [("pin", "proposed")] if meta.pin == PIN_PROPOSED and not meta.pinned else []
    labels += [("also in", ", ".join(memory.also_in))] if memory.also_in else []
    labels += [("updated", updated), ("revision", memory.revision[:12]), ("file", file)]
    return labels + [
        (link.rel, link.to if link.status == Status.ACTIVE else f"{link.to} ({link.status})") for link in meta.links
    ]


def _related(call: Call) -> int:
    found = call.run(verbs.link.related)
    return _print_list(call, found, "It links to no memory.")


def _list(call: Call) -> int:
    request = call.make_request(verbs.show.ListRequest)
    with call.open() as book:
        found = verbs.show.list_(book.context, request)
        is_person = book.context.sees_all and not request.everything and request.scope is None
        others = verbs.show.list_(book.context, request._replace(everything=True)) if is_person and not found else []
        call.warn(book.context.unusable_notice([*book.context.memories.unusable]))
    has_filter = request.outside or any((request.type, request.tag, request.since))
    nothing = "Nothing found." if has_filter or not book.context.settings.enabled else "Nothing is stored here yet."
    status = _print_list(call, found, nothing, names_scopes=request.everything)
    if not call.args.json:
        counts = Counter(scope_name(item.scope, item.scope_id) for item in others)
        _print_elsewhere(call, counts, "memory", "memories")
    return status


def _print_list(call: Call, memories: Sequence[MemoryItem], nothing: str, *, names_scopes: bool = False) -> int:
    if not call.answer({"memories": memories}):
        screen = call.screen
        rows = [
            (
                item.key,
                scope_name(item.scope, item.scope_id) if names_scopes else item.scope,
                item.type if item.status == "active" else item.status,
                screen.minute(item.updated),
                item.shown_summary,
            )
            for item in memories
        ]
        call.screen.table(("KEY", "SCOPE", "TYPE", "UPDATED", "SUMMARY"), rows, ("name", "weak", "weak", "weak"))
        if not memories:
            call.remark(nothing, "")
    return DONE if memories else NOTHING


def _add_timeline_options(parser: argparse.ArgumentParser) -> None:
    add_request(parser, verbs.recall.TimelineRequest)


def _history(call: Call) -> int:
    args = call.args
    if args.key is None:
        if args.scope is not None or args.diff:
            raise Usage("--scope and --diff need a KEY")
        return _timeline(call)
    if args.since is not None or args.of_session is not None:
        raise Usage("--since and --of-session take no KEY")
    revisions = call.run(verbs.edit.history)
    if args.diff and not args.json:
        return _print_diffs(call, revisions)
    if not call.answer({"revisions": revisions}):
        screen = call.screen
        rows = [
            (
                item.revision[:12] or "-",
                screen.minute(item.time),
                item.action,
                item.author or "-",
                call.place(item.path),
            )
            for item in revisions
        ]
        headers = ("REVISION", "UNTIL", "WHAT", "WHO", "FILE")
        call.screen.table(headers, rows, ("name", "weak", "", "", "weak"), has_paths=True)
    return DONE


def _print_diffs(call: Call, revisions: Sequence[Revision]) -> int:
    """Print each change: when, what and by whom, the text that it ended, and the lines it took away and added."""
    screen, changed = call.screen, [item for item in revisions if item.diff]
    for item in changed:
        head = f"{screen.minute(item.time)}  {item.action} by {shown(item.author or 'unknown')}"
        before = f"  (revision before: {item.revision[:12]})" if item.revision else ""
        screen.line(screen.paint(head, "strong") + screen.paint(before, "weak"))
        for line in item.diff.split("\n"):
            screen.line(f"  {screen.paint(shown(line), _DIFF_STYLES.get(line[:1], ''))}")
        screen.line()
    if not changed:
        call.remark("It has not been changed since it was made.", "")
    return DONE


def _timeline(call: Call) -> int:
    hits = call.run(verbs.recall.timeline)
    if not call.answer({"hits": hits}):
        _print_hits(call.screen, hits)
        if not hits:
            call.remark("Nothing found.", "")
    return DONE if hits else NOTHING


def _brief(call: Call) -> int:
    request = call.make_request(verbs.brief.BriefRequest)
    with call.open() as book:
        found = verbs.brief.brief(book.context, request._replace(cwd=here()))
    if call.answer(found):
        return DONE
    screen = call.screen
    if found.text:
        _print_as_told(screen, found.text)
        cost = f"{found.characters:,} characters, about {found.tokens:,} tokens"
        screen.line()
        screen.line(screen.paint(f"({plural(len(found.memories), 'memory', 'memories')} in full; {cost})", "weak"))
    else:
        call.remark("Nothing is told here.", "")
    for one in found.explained:
        screen.line(f"{one['place']:<10}{one['ref']}  {one['why']}; {one['tokens']} tokens")
    if request.prompt is not None and not found.prompt_text:
        call.remark("Nothing would be added to this prompt.", "")
    elif request.prompt is not None:
        screen.line()
        _print_as_told(screen, found.prompt_text)
        screen.line()
        screen.line(screen.paint(f"(about {found.prompt_tokens:,} tokens more)", "weak"))
    return DONE


def _print_as_told(screen: Screen, text: str) -> None:
    """Print a text exactly as an agent gets it: what could harm a terminal is escaped in it already."""
    for line in text.split("\n"):
        screen.line(line)


COMMANDS = {
    "recall": CliCommand(_recall),
    "show": CliCommand(_show, flags(related="list the memories that it links to instead")),
    "related": CliCommand(_related),
    "list": CliCommand(_list),
    "history": CliCommand(_history, _add_timeline_options),
    "timeline": CliCommand(_timeline),
    "brief": CliCommand(_brief),
}
