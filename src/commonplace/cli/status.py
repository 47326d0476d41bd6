"""Say what is where, and what leaves this machine.

The book's folder, its databases and audit, the scopes with their memories, what waits for a verdict, connected agent
programs.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import plural, shown
from commonplace.model.results import BookStatus, HostStatus

EXAMPLES = ("commonplace status", "commonplace status --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def _connected(item: HostStatus) -> str:
    return item.host if item.works else f"{item.host} (does not work: see `commonplace hosts`)"


def _outside(number: int) -> str:
    return f"{plural(number, 'memory', 'memories')} that nobody has accepted: `commonplace list --all --outside`"


def _audit(standing: BookStatus) -> str:
    return f"{standing.audit_folder} (who called what; ids, no texts)" if standing.audit_folder else "none is written"


def run(call: Call) -> int:
    with call.open() as book:
        standing = book.status()
    from commonplace.cli.hosts import standings  # noqa: PLC0415 - after the book, which may not open

    hosts = [item for item in standings(call) if item.connected or item.problems]
    if call.answer({**standing._asdict(), "hosts": hosts}):
        return DONE
    screen = call.screen
    lines = (
        ("book", standing.root),
        ("index", f"{standing.index_file} ({standing.index_bytes:,} bytes; derived, may be deleted)"),
        ("state", f"{standing.state_file} ({standing.state_bytes:,} bytes)"),
        ("audit", _audit(standing)),
        ("memory is", "on" if standing.enabled else "off (enabled = false)"),
        ("waiting", f"{plural(standing.waiting, 'memory', 'memories')} for `commonplace review`"),
        *([("from outside", _outside(standing.outside))] if standing.outside else []),
        ("connected", ", ".join(map(_connected, hosts)) or "no agent program: `commonplace connect HOST`"),
        ("leaves here", ", ".join(standing.leaves_machine) or "nothing: no model, no network, no daemon"),
        ("version", standing.version),
    )
    for name, value in lines:
        screen.line(f"{screen.paint(f'{name:<12}', 'weak')} {shown(value)}")
    screen.line()
    rows = [
        (f"{item.scope}{' ' + item.scope_id if item.scope_id else ''}", str(item.memories),
         "yours here" if item.own else "", item.path)
        for item in standing.scopes
    ]  # fmt: skip
    screen.table(("SCOPE", "MEMORIES", "", "FOLDER"), rows, ("name", "", "weak", "weak"))
    return DONE
