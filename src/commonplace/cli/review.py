"""Judge what agents proposed: accept, edit, reject.

One queue for everything that waits: memories and links, proposed or quarantined. At a terminal you are asked about each
one; with --list, or where there is no terminal, the queue is only shown. --accept and --reject judge one by name.

What `capture` proposes stands in its session, whose memories go to the trash 14 days after their last use. --into moves
what is accepted to a scope that stays.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from commonplace.cli.asking import ask
from commonplace.cli.call import DONE, NOTHING, Call
from commonplace.cli.editor import discard, edit_text
from commonplace.cli.parser import Usage, add_scope
from commonplace.cli.screen import Screen, plural, shown
from commonplace.model.errors import CommonplaceError
from commonplace.model.results import Proposal, StoreResult

if TYPE_CHECKING:
    from commonplace.book import Book

EXAMPLES = (
    "commonplace review",
    "commonplace review --list --json",
    "commonplace review --accept flaky-tests --scope agent:scout",
    "commonplace review --accept index-is-sqlite --scope session:ab12 --into project",
    "commonplace review --reject deploy --rel supersedes --to old-deploy",
)
_CHOICES = {
    "a": "[a]ccept", "i": "accept [i]nto another scope", "e": "[e]dit", "r": "[r]eject", "s": "[s]kip", "q": "[q]uit",
}  # fmt: skip
_INTO = "Into which scope: project, global, agent:NAME? "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verdict = parser.add_mutually_exclusive_group()
    verdict.add_argument("--list", action="store_true", help="show the queue and ask nothing")
    verdict.add_argument("--accept", metavar="KEY", help="this one stands from now on")
    verdict.add_argument("--reject", metavar="KEY", help="this one goes to the trash; a link stays as rejected")
    parser.add_argument("--text", metavar="TEXT", help="with --accept: the text it shall have instead; - reads it")
    parser.add_argument("--into", metavar="SCOPE", help="with --accept: move it to project, global or agent[:NAME]")
    parser.add_argument("--rel", metavar="REL", help="with --to: judge this link of the memory")
    parser.add_argument("--to", metavar="TO", help="with --rel: where that link leads")
    add_scope(parser)


def run(call: Call) -> int:
    args = call.args
    if args.text is not None and args.accept is None:
        raise Usage("--text goes with --accept")
    if args.into is not None and args.accept is None:
        raise Usage("--into goes with --accept")
    if (args.rel or args.to) and args.accept is None and args.reject is None:
        raise Usage("--rel and --to go with --accept or --reject")
    with call.open() as book:
        if args.accept is not None or args.reject is not None:
            stored = _judge(call, book)
            if not call.answer(stored):
                into = f" into {shown(stored.scope)}" if args.into is not None else ""
                call.screen.line(f"{'Accepted' if args.accept else 'Rejected'} {shown(stored.key)}{into}.")
            return DONE
        waiting = book.review()
        if call.answer({"waiting": waiting}):
            return DONE if waiting else NOTHING
        asks = call.stdin.isatty() and call.screen.tty and not args.list
        return _ask_all(call, book, waiting) if asks else _show_all(call.screen, waiting)


def _judge(call: Call, book: Book) -> StoreResult:
    args = call.args
    if args.accept is None:
        return book.reject(args.reject, args.scope, rel=args.rel, to=args.to)
    content = call.text(args.text) if args.text is not None else None
    return book.accept(args.accept, args.scope, content=content, rel=args.rel, to=args.to, into=args.into)


def _show_all(screen: Screen, waiting: list[Proposal]) -> int:
    rows = [(item.key, place(item), item.status, _what(item)) for item in waiting]
    screen.table(("KEY", "SCOPE", "STATUS", "WHAT"), rows, ("name", "weak", "weak"))
    if not waiting:
        screen.line("Nothing waits.")
    return DONE if waiting else NOTHING


def place(item: Proposal) -> str:
    """A scope as --scope takes it."""
    return f"{item.scope}:{item.scope_id}" if item.scope_id else item.scope


def _what(item: Proposal) -> str:
    return f"link {item.rel} {item.to}" if item.kind == "link" else item.summary


def _ask_all(call: Call, book: Book, waiting: list[Proposal]) -> int:
    screen = call.screen
    if not waiting:
        screen.line("Nothing waits.")
        return NOTHING
    done = 0
    for number, item in enumerate(waiting, start=1):
        screen.line(screen.paint(f"{number} of {len(waiting)}  {item.status}  {shown(place(item))}", "weak"))
        screen.line(screen.paint(shown(item.key), "name"))
        if item.kind == "link":
            screen.block(_what(item))
        else:
            for entry in book.show(item.key, place(item)).entries:
                screen.block(entry.text)
        answer = _ask(call, item)
        if answer == "q":
            break
        try:
            done += _judged(call, book, item, answer)
        except CommonplaceError as error:  # one that cannot be judged does not end the review
            screen.line(f"{screen.paint('error:', 'bad')} {shown(error.message)} {shown(error.hint)}")
        screen.line()
    screen.line(f"{plural(done, 'verdict', 'verdicts')} given, {len(waiting) - done} left.")
    return DONE


def _ask(call: Call, item: Proposal) -> str:
    passing = item.kind == "memory" and item.scope == "session"  # it would go with its session
    choices = {letter: words for letter, words in _CHOICES.items() if letter != "i" or passing}
    while True:
        line = ask(f"{', '.join(choices.values())}? ", call.stdin, call.stdout)
        answer = line.strip().lower()[:1]
        if answer and answer in choices:
            return answer
        if not line:
            call.stdout.write("\n")
            return "q"


def _judged(call: Call, book: Book, item: Proposal, answer: str) -> int:
    scope = place(item)
    if answer == "s":
        return 0
    if answer == "r":
        book.reject(item.key, scope, rel=item.rel, to=item.to)
    elif answer == "i":
        into = ask(_INTO, call.stdin, call.stdout).strip()
        if not into:
            return 0
        book.accept(item.key, scope, into=into)
    elif answer == "a" or item.kind == "link":
        book.accept(item.key, scope, rel=item.rel, to=item.to)
    else:
        newest = book.show(item.key, scope).newest
        data = (newest.text if newest else "").encode("utf-8", "replace")
        text, path = edit_text(data, f"{item.key.rsplit('/', 1)[-1]}.md", call.environment)
        try:
            book.accept(item.key, scope, content=text.decode("utf-8", "replace").rstrip("\n"))
        except CommonplaceError as error:
            error.hint = f"Your text is kept in {path}. {error.hint}"
            raise
        discard(path)
    return 1
