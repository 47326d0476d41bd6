"""Show what an agent is told at the start, and what it costs.

The very text that a connected agent gets at the start of a context window in this folder; with --prompt also what
would be added to that prompt. The cost, in tokens, is about right. Nothing is counted as used.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call, here
from commonplace.cli.screen import plural

EXAMPLES = (
    "commonplace brief",
    'commonplace brief --prompt "Which port does staging use?"',
    "commonplace brief --json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompt", metavar="TEXT", help="also show what this prompt would be given; - reads it")


def run(call: Call) -> int:
    prompt = call.text(call.args.prompt) if call.args.prompt is not None else None
    with call.open() as book:
        found = book.brief(prompt, cwd=here())
    if call.answer(found):
        return DONE
    screen = call.screen
    _show(call, found.text)
    cost = f"{found.characters:,} characters, about {found.tokens:,} tokens"
    screen.line()
    screen.line(screen.paint(f"({plural(len(found.memories), 'memory', 'memories')}; {cost})", "weak"))
    if prompt is not None:
        screen.line()
        _show(call, found.prompt_text or "Nothing would be added to this prompt.")
        screen.line()
        screen.line(screen.paint(f"(about {found.prompt_tokens:,} tokens more)", "weak"))
    return DONE


def _show(call: Call, text: str) -> None:
    for line in text.split("\n"):
        call.screen.line(line)  # it is shown as it is told: what could harm a terminal is escaped in it already
