"""The commands review, capture and edit: what agents proposed, and the verdicts and texts of a person.

A text is edited in a private folder, which is removed when the text is stored.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace import verbs
from commonplace.book import Book
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, ask, print_change
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.memories.history import MOVED
from commonplace.model.errors import CommonplaceError, InvalidContent, InvalidSettings
from commonplace.model.results import Proposal, StoreResult
from commonplace.model.scope import Scope
from commonplace.text.plural import plural

if TYPE_CHECKING:
    from commonplace.model.choices import ScopeChoice

_CHOICES = {
    "a": "[a]ccept", "i": "accept [i]nto another scope", "e": "[e]dit", "r": "[r]eject", "s": "[s]kip", "q": "[q]uit",
}  # fmt: skip
_NO_EDITOR = "Run it in a terminal, set EDITOR to a program, or use `commonplace store - --key KEY --mode replace`."
_INTO = "Into which scope: project, global, agent:NAME? "


def _add_options(parser: argparse.ArgumentParser) -> None:
    verdict = parser.add_mutually_exclusive_group()
    verdict.add_argument("--list", action="store_true", help="show the queue and ask nothing")
    verdict.add_argument("--accept", metavar="KEY", help="accept this memory")
    verdict.add_argument("--edit", metavar="KEY", help="change its text in your editor, then accept it")
    verdict.add_argument(
        "--reject", metavar="KEY", help="move this memory to the trash; with --rel and --to, reject that link"
    )
    parser.add_argument("--text", metavar="TEXT", help="with --accept: another text for it; - reads standard input")
    parser.add_argument(
        "--into", metavar="SCOPE", help="with --accept or --edit: move it to project, global or agent[:NAME]"
    )
    verdict.add_argument("--capture", action="store_true", help="propose what conversations taught since the last time")
    parser.add_argument("--pin", action="store_true", help="judge the proposal to pin the memory, not the memory")
    parser.add_argument("--rel", metavar="REL", help="with --to: judge this link of the memory")
    parser.add_argument("--to", metavar="TO", help="with --rel: where that link leads")
    parser.add_argument(
        "--scope", metavar="SCOPE", help="session, agent, project or global; or another one by its id: project:ID"
    )


def _review(call: Call) -> int:
    args = call.args
    if args.capture:
        return _capture(call)
    if args.text is not None and args.accept is None:
        raise Usage("--text needs --accept")
    if args.into is not None and args.accept is None and args.edit is None:
        raise Usage("--into needs --accept or --edit")
    if (args.rel or args.to) and args.accept is None and args.reject is None:
        raise Usage("--rel and --to need --accept or --reject")
    if args.pin and args.accept is None and args.reject is None:
        raise Usage("--pin needs --accept or --reject")
    with call.open() as book:
        if args.accept is not None or args.reject is not None or args.edit is not None:
            _name_link(call, book)
            stored = _judge(call, book)
            if not call.answer(stored):
                what = shown(f"the link {stored.key} {args.rel} {args.to}" if args.rel else stored.key)
                into = f" into {shown(stored.scope)}" if stored.action == MOVED else ""
                call.screen.line(f"{'Rejected' if args.reject else 'Accepted'} {what}{into}.")
            return DONE
        waiting = book.review()
        if call.answer({"waiting": waiting}):
            return DONE if waiting else NOTHING
        asks = call.stdin.isatty() and call.screen.tty and not args.list
        return _ask_all(call, book, waiting) if asks else _show_all(call, waiting)


def _name_link(call: Call, book: Book) -> None:
    """Where a key alone means a link of the memory, judge that one by its name, which the answer then has."""
    args = call.args
    key = args.accept or args.reject
    if key is None or args.rel or args.pin or args.text is not None or args.into is not None:
        return
    if not book.context.is_person:
        return  # the verb says first whether this caller may judge
    link = verbs.review.find_waiting_link(book.context, key, args.scope)
    if link is not None:
        args.rel, args.to = link.rel, link.to


def _judge(call: Call, book: Book) -> StoreResult:
    args = call.args
    if args.edit is not None:
        scope = verbs.review.find_proposal(book.context, args.edit, args.scope)
        return _edit_proposal(call, book, args.edit, scope, args.into)
    if args.accept is None:
        return book.reject(args.reject, args.scope, rel=args.rel, to=args.to, pin=args.pin)
    content = call.text(args.text) if args.text is not None else None
    return book.accept(args.accept, args.scope, content=content, rel=args.rel, to=args.to, into=args.into, pin=args.pin)


def _show_all(call: Call, waiting: list[Proposal]) -> int:
    rows = [(item.key, str(_place(item)), item.status, _what(item)) for item in waiting]
    call.screen.table(("KEY", "SCOPE", "STATUS", "WHAT"), rows, ("name", "weak", "weak"))
    if not waiting:
        call.remark("Nothing waits.", "")
    return DONE if waiting else NOTHING


def _place(item: Proposal) -> Scope:
    return Scope(item.scope, item.scope_id)


def _what(item: Proposal) -> str:
    if item.kind == "pin":
        return f"pin: {item.summary}"
    return f"link {item.rel} {item.to}" if item.kind == "link" else item.summary


def _ask_all(call: Call, book: Book, waiting: list[Proposal]) -> int:
    screen = call.screen
    if not waiting:
        call.remark("Nothing waits.", "")
        return NOTHING
    done = 0
    for number, item in enumerate(waiting, start=1):
        screen.line(screen.paint(f"{number} of {len(waiting)}  {item.status}  {shown(str(_place(item)))}", "weak"))
        screen.line(screen.paint(shown(item.key), "name"))
        if item.kind == "link":
            screen.block(_what(item))
        else:
            if item.kind == "pin":
                screen.line("An agent wants this memory pinned:")
            for entry in book.show(item.key, _place(item)).entries:
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
    is_memory = item.kind == "memory"
    is_text = item.kind != "pin"  # else there is nothing to edit
    choices = {
        letter: words
        for letter, words in _CHOICES.items()
        if (letter != "i" or is_memory) and (letter != "e" or is_text)
    }
    while True:
        line = ask(f"{', '.join(choices.values())}? ", call.stdin, call.stdout)
        answer = line.strip().lower()[:1]
        if answer and answer in choices:
            return answer
        if not line:
            call.stdout.write("\n")
            return "q"


def _judged(call: Call, book: Book, item: Proposal, answer: str) -> int:
    scope = _place(item)
    if answer == "s":
        return 0
    is_pin = item.kind == "pin"
    if answer == "r":
        book.reject(item.key, scope, rel=item.rel, to=item.to, pin=is_pin)
    elif answer == "i":
        into: Any = ask(_INTO, call.stdin, call.stdout).strip()  # the book says if it is no scope
        if not into:
            return 0
        book.accept(item.key, scope, into=into)
    elif answer == "a" or item.kind == "link":
        book.accept(item.key, scope, rel=item.rel, to=item.to, pin=is_pin)
    else:
        _edit_proposal(call, book, item.key, scope)
    return 1


def _edit_proposal(
    call: Call, book: Book, key: str, scope: ScopeChoice, into: ScopeChoice | None = None
) -> StoreResult:
    """Accept a proposal with the text that the user makes of it in their editor."""
    newest = book.show(key, scope).newest
    data = (newest.text if newest else "").encode("utf-8", "replace")
    text, path = edit_text(data, f"{key.rsplit('/', 1)[-1]}.md", call.environment)
    try:
        stored = book.accept(key, scope, content=text.decode("utf-8", "replace").rstrip("\n"), into=into)
    except CommonplaceError as error:
        error.hint = f"Your text is kept in {path}. {error.hint}"
        raise
    discard(path)
    return stored


def _capture(call: Call) -> int:
    found = call.run(verbs.capture.capture)
    if call.answer(found):
        return DONE
    screen = call.screen
    screen.line(
        f"{plural(found.transcripts, 'transcript', 'transcripts')} read,"
        f" {plural(len(found.proposed), 'fact', 'facts')} proposed."
    )
    for item in found.proposed:
        screen.line(f"  {screen.paint(shown(item.key), 'name')}  {screen.paint(shown(call.place(item.path)), 'weak')}")
    if found.refused:
        screen.line(f"{plural(found.refused, 'fact', 'facts')} skipped because of what looks like a secret.")
    if found.dropped:
        dropped = plural(found.dropped, "fact", "facts")
        screen.line(f"{dropped} dropped: too many of one conversation, or too many wait.")
    if found.failed:
        screen.line(f"{plural(found.failed, 'transcript', 'transcripts')} could not be read.")
    if found.proposed:
        screen.line("To accept, edit or reject them: commonplace review")
    return DONE


def _edit(call: Call) -> int:
    key, scope = call.args.key, call.args.scope
    with call.open() as book:
        data, revision = book.source(key, scope)
        new, path = edit_text(data, f"{key.rsplit('/', 1)[-1]}.md", call.environment)
        try:
            stored = book.edit(key, new, scope, if_revision=revision)
        except CommonplaceError as error:
            error.hint = f"Your text is kept in {path}. {error.hint}"
            raise
    discard(path)
    return print_change(call, stored)


COMMANDS = {
    "review": CliCommand(_review, _add_options),
    "capture": CliCommand(_capture),
    "edit": CliCommand(_edit),
}


def edit_text(data: bytes, name: str, environment: Mapping[str, str]) -> tuple[bytes, str]:
    """Return what the user made of a text, and the file it is in, which the caller removes once the text is stored."""
    folder = tempfile.mkdtemp(prefix="commonplace-edit-")  # readable by its owner alone
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    chosen = environment.get("VISUAL") or environment.get("EDITOR")
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    if not chosen and not has_terminal:
        discard(path)
        raise InvalidSettings("There is no terminal for an editor, and EDITOR names none.", hint=_NO_EDITOR)
    command = chosen or ("notepad" if os.name == "nt" else "vi")
    try:
        words = shlex.split(command, posix=os.name != "nt")
        # Without a terminal an editor that wants one has to end: it gets nothing to read, and none to look for.
        apart: dict[str, Any] = {} if has_terminal else {"stdin": subprocess.DEVNULL, "start_new_session": True}
        apart |= {} if has_terminal else {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        status = subprocess.run([*words, path], check=False, **apart).returncode  # noqa: S603 - the user's own choice
    except (OSError, ValueError) as error:
        discard(path)
        raise InvalidSettings(
            f"The editor {command!a} cannot be started: {error}.", hint="Set EDITOR to one that can."
        ) from None
    if status != 0:
        discard(path)
        raise InvalidSettings(f"The editor ended with status {status}; nothing was changed.", hint="Try again.")
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except OSError as error:
        raise InvalidContent(
            f"The editor left no file that can be read ({error.strerror}); nothing was changed.", hint="Try again."
        ) from None


def discard(path: str) -> None:
    """Remove the file and its folder."""
    for remove, place in ((os.unlink, path), (os.rmdir, os.path.dirname(path))):
        try:
            remove(place)
        except OSError:
            return  # the editor left a file of its own there: not ours to delete
