"""Take in what other tools remember.

Copies, never moves: the source is only read, and importing again brings only what is new. What you did not write
yourself is labelled as from outside until you have looked at it: `--reviewed` says that you have, of the whole source,
and `commonplace review --accept KEY`, of one memory. docs/import.md says for each format what is taken and what not.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.parser import add_scope
from commonplace.cli.screen import Screen, plural, shown
from commonplace.model.results import ImportResult, SkippedItem

EXAMPLES = (
    "commonplace import ~/.claude/projects/-home-ann-app/memory --dry-run",
    "commonplace import ~/.claude/CLAUDE.md",
    "commonplace import memory.jsonl --from mcp-memory --scope global",
)
_FORMATS = "claude-code, agents-md, scaffold, cao-wiki, basic-memory, mcp-memory, mem0"
_MOST = 10
_QUIET = ("own_block", "index_page", "other_file")  # what nobody would miss


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="the file or folder to read")
    parser.add_argument("--from", dest="format", metavar="FORMAT", help=f"{_FORMATS}; recognised if not given")
    add_scope(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be taken and left; write nothing")
    parser.add_argument("--reviewed", action="store_true", help="you have looked at it: trust it like your own")
    parser.add_argument("--skip-secrets", action="store_true", help="leave an item with a secret instead of masking it")
    parser.add_argument("--all", action="store_true", help=f"every item, not only the first {_MOST} of each kind")


def run(call: Call) -> int:
    args = call.args
    with call.open() as book:
        done = book.import_from(
            args.source,
            args.format,
            args.scope,
            dry_run=args.dry_run,
            reviewed=args.reviewed,
            redact=not args.skip_secrets,
        )
    if not call.answer(done):
        _show(call.screen, done, everything=args.all)
    return DONE if done.items else NOTHING


def _show(screen: Screen, done: ImportResult, *, everything: bool) -> None:
    for action in ("created", "appended", "trusted"):
        done_so = [one for one in done.items if one.action == action]
        if done_so:
            screen.line(f"{screen.paint(action, 'good')}:")
            names = [f"{screen.paint(shown(one.key), 'name')} ({one.scope})" for one in done_so]
            places = [f" from {shown(one.place)}" for one in done_so]
            _rows(screen, [*map("".join, zip(names, places, strict=True))], everything)
    groups: dict[str, list[SkippedItem]] = {}
    for one in done.left:
        groups.setdefault(one.reason, []).append(one)
    for reason, group in groups.items():
        screen.line(f"{screen.paint(f'left ({reason})', 'weak' if reason in _QUIET else 'warn')}:")
        _rows(screen, [f"{shown(one.place)}: {shown(one.message)}" for one in group], everything)
    _sum_up(screen, done)


def _rows(screen: Screen, rows: Sequence[str], everything: bool) -> None:
    most = len(rows) if everything else _MOST
    for row in rows[:most]:
        screen.line(f"  {row}")
    if len(rows) > most:
        screen.line(screen.paint(f"  and {len(rows) - most:,} more; --all shows them.", "weak"))


def _sum_up(screen: Screen, done: ImportResult) -> None:
    numbers = (
        (done.created, "new"),
        (done.appended, "added to"),
        (done.trusted, "trusted"),
        (done.unchanged, "unchanged"),
    )
    parts = [f"{number:,} {word}" for number, word in numbers if number] or ["nothing taken"]
    parts += [plural(done.links, "link", "links")] if done.links else []
    parts += [f"{plural(done.redacted, 'secret', 'secrets')} removed"] if done.redacted else []
    parts += [f"{len(done.left):,} left"] if done.left else []
    screen.line(f"{done.format}: {', '.join(parts)}.{' Nothing was written.' if done.dry_run else ''}")
    if done.trust == "external" and (done.created or done.appended) and not done.dry_run:
        screen.line("It is labelled as from outside. Once you have looked at it: the same command with --reviewed.")
