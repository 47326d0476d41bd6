"""The commands about what stands above the leaves: digests, summaries, topics, and the work that makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace import verbs
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand
from commonplace.cli.screen import Screen, shown
from commonplace.model.results import Hit
from commonplace.model.tree_results import NodeHits, TreeLine
from commonplace.text.plural import plural

_INDENT = "  "


def _digest(call: Call) -> int:
    found = call.run(verbs.digest.digest)
    if not call.answer(found):
        for line in found.text.splitlines():
            is_title = line.startswith("# ")
            call.screen.line(call.screen.paint(shown(line), "name") if is_title else shown(line))
        if not found.text:
            last = max((item.last[:10] for item in call.run(verbs.tree_sources.tree_sources)), default="")
            more = f" The last messages are of {last}." if last else " First: commonplace ingest PATH"
            when = f"on {found.start}" if found.start == found.end else f"from {found.start} to {found.end}"
            call.remark(f"Nothing {when}.{more}", "")
    return DONE if found.text else NOTHING


def _nodes(call: Call) -> int:
    found: NodeHits = call.run(call.verb)
    if not call.answer(found):
        for hit in found.hits:
            _print_node(call.screen, hit)
        if not found.hits:
            call.remark("Nothing found.", "")
        if found.truncated:
            call.remark(f"{len(found.hits):,} of {found.total:,}.")
    return DONE if found.hits else NOTHING


def _print_node(screen: Screen, hit: Hit) -> None:
    first, last = screen.day(hit.time_start), screen.day(hit.time_end)
    when = first if first == last else f"{first} to {last}"
    about = "  ".join(filter(None, (hit.kind.value, shown(hit.tree), when, shown(hit.author or ""))))
    screen.line(f"{screen.paint(shown(hit.title) or shown(hit.summary), 'name')}  {screen.paint(about, 'weak')}")
    screen.block(hit.text)
    below = f"  {plural(len(hit.child_ids), 'part', 'parts')}" if hit.child_ids else ""
    screen.line(f"  {screen.paint(shown(hit.ref) + below, 'weak')}")


def _settle(call: Call) -> int:
    done = call.run(verbs.digest.tree_settle)
    if not call.answer(done):
        made = (
            plural(done.sealed, "summary", "summaries"),
            plural(done.digests, "digest page", "digest pages"),
            plural(done.topics, "topic page", "topic pages"),
        )
        call.screen.line(f"Made {', '.join(made)}." if done.sealed or done.digests or done.topics else "All is done.")
        if done.pending:
            call.remark(f"{done.pending:,} more to do: run it again.")
    return DONE


def _topics(call: Call) -> int:
    found = call.run(verbs.tree_nodes.tree_topics)
    if not call.answer({"topics": found}):
        rows = [
            (item.id, item.title, item.state, f"{item.units:,}", call.screen.day(item.last), item.entity_id)
            for item in found
        ]
        styles = ("name", "", "", "", "weak", "weak")
        call.screen.table(("ID", "TITLE", "STATE", "MESSAGES", "LAST", "ABOUT"), rows, styles)
        if not found:
            call.remark("No topics yet: ten messages in three threads on three days make one.", "")
    return DONE if found else NOTHING


def _show(call: Call) -> int:
    found = call.run(verbs.tree_nodes.tree_show)
    if not call.answer(found):
        for source, waiting in found.waiting:
            call.screen.line(call.screen.paint(shown(source), "name"))
            for row in _draw([line for line in found.nodes if line.source == source]):
                call.screen.line(row)
            if waiting:
                leaves = plural(waiting, "leaf waits", "leaves wait")
                call.screen.line(call.screen.paint(f"{_INDENT}{leaves} to be sealed", "weak"))
        if not found.waiting:
            call.remark("Nothing was ingested yet. First: commonplace ingest PATH", "")
        if found.truncated:
            call.remark("Not all is drawn. --limit draws more.")
    return DONE if found.waiting else NOTHING


def _draw(nodes: Sequence[TreeLine]) -> Iterable[str]:
    """Yield the lines that draw nodes, each below the one that has it."""
    below: dict[str, list[TreeLine]] = {}
    known = {node.id for node in nodes}
    for node in nodes:
        below.setdefault(node.parent if node.parent in known else "", []).append(node)

    def walk(parent: str, lead: str) -> Iterable[str]:
        children = below.get(parent, [])
        for at, node in enumerate(children):
            is_last = at == len(children) - 1
            mark, deeper = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            made_of = plural(node.children, "leaf", "leaves") if node.level == 1 else f"{node.children} summaries"
            size = plural(node.units, "message", "messages")
            yield f"{lead}{mark}{node.id}  {shown(node.title)}  ({size}, {made_of})"
            yield from walk(node.id, lead + deeper)

    yield from walk("", _INDENT)


COMMANDS = {
    "digest": CliCommand(_digest),
    "tree query-global": CliCommand(_nodes),
    "tree drill-down": CliCommand(_nodes),
    "tree topics": CliCommand(_topics),
    "tree show": CliCommand(_show),
    "tree settle": CliCommand(_settle),
}
