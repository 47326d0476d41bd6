"""Show one memory with all its entries.

From the nearest of your scopes that has the key: session, agent, project, global. "also in" names the others that have
it; read one of them with --scope.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import add_key
from commonplace.cli.screen import minute, shown
from commonplace.model.memory import Memory, Status

EXAMPLES = ("commonplace show testing-framework", "commonplace show people/alice --scope global --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_key(parser)


def run(call: Call) -> int:
    with call.open() as book:
        memory = book.show(call.args.key, call.args.scope)
    if call.answer(memory):
        return DONE
    screen, meta = call.screen, memory.meta
    where = memory.scope.kind.value + (f" {memory.scope.id}" if memory.scope.id else "")
    screen.line(f"{screen.paint(shown(memory.key), 'name')}  {screen.paint(shown(where), 'weak')}")
    for name, value in _labels(memory):
        screen.line(f"  {screen.paint(f'{name:<9}', 'weak')} {shown(value)}")
    for link in meta.links:
        state = "" if link.status == Status.ACTIVE else f" ({link.status})"
        screen.line(f"  {screen.paint(f'{shown(link.rel):<9}', 'weak')} {shown(link.to)}{shown(state)}")
    for entry in memory.entries:
        who = "  ".join(dict.fromkeys(shown(word) for word in (entry.author, entry.trust.value) if word))
        screen.line()
        screen.line(screen.paint(f"{shown(minute(entry.time))}  {who}", "weak"))
        screen.block(entry.text)
    return DONE


def _labels(memory: Memory) -> list[tuple[str, str]]:
    meta = memory.meta
    labels = [("summary", meta.summary), ("type", meta.type.value)]
    labels += [("status", meta.status.value)] if meta.status is not Status.ACTIVE else []
    labels += [("tags", ", ".join(meta.tags))] if meta.tags else []
    labels += [("pinned", "yes")] if meta.pinned else []
    labels += [("also in", ", ".join(memory.also_in))] if memory.also_in else []
    return [*labels, ("updated", minute(meta.updated)), ("revision", memory.revision[:12]), ("file", memory.path)]
