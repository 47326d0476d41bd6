"""Connect an agent program to this memory.

It gets the memory's tools (MCP) and, where it has hooks, a brief at the start, recall at the prompt and nudges to save.
Only what is ours is added to its files; `disconnect` takes it out to the byte. Twice is the same as once.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.wiring import add_place, run_wiring

EXAMPLES = (
    "commonplace connect claude-code",
    "commonplace connect codex --print",
    "commonplace connect cursor --project",
    "commonplace connect claude-code --protocol",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--protocol", action="store_true", help="also watch the host's own memory files, where it has a filter by path"
    )


def run(call: Call) -> int:
    return run_wiring(call, connect=True)
