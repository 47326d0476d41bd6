"""Take out of an agent program's files what connect put in.

Everything else in them stays as it is, to the byte; a file or folder that held nothing else is removed.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import Call
from commonplace.cli.wiring import add_place, run_wiring

EXAMPLES = ("commonplace disconnect claude-code", "commonplace disconnect cursor --project --print")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)


def run(call: Call) -> int:
    return run_wiring(call, connect=False)
