"""The commands that change memories: store, forget, clear, restore, move, rename, consolidate, link."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress

from commonplace import verbs
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, flags, print_change
from commonplace.cli.parser import Usage
from commonplace.cli.screen import Screen, scope_name, shown
from commonplace.model.errors import CommonplaceError
from commonplace.model.memory import Status
from commonplace.model.results import ForgottenMemory, SimilarMemory, StoreResult
from commonplace.text.plural import plural


def _store(call: Call) -> int:
    request = call.make_request(verbs.store.StoreRequest)
    with call.open() as book:
        stored = verbs.store.store(book.context, request)
        print_change(call, stored, call.place(stored.path))
        if not call.args.json:
            _print_similar(call.screen, stored.similar)
        call.stdout.flush()
        with suppress(CommonplaceError):  # it is stored, and the user was told so; retiring can wait
            book.retire(daily=True)
    return DONE


def _print_similar(screen: Screen, similar: Sequence[SimilarMemory]) -> None:
    same = [item for item in similar if item.relation == "same"]
    other = [item for item in similar if item.relation != "same"]
    for heading, found, advice in (
        ("Similar:", same, "To add to it next time: --decision update:"),
        ("May contradict:", other, "To replace it next time: --decision supersede:"),
    ):
        if found:
            screen.line(heading)
            for item in found:
                screen.line(f"  {screen.paint(shown(item.key), 'name')} ({item.scope}): {shown(item.summary)}")
            screen.line(f"  {screen.paint(advice + shown(found[0].key), 'weak')}")


_add_forget_options = flags(
    purge="remove it for good: only its id is remembered",
    all="every memory of the scope that --scope names",
    yes="do not ask",
)


def _forget(call: Call) -> int:
    args = call.args
    if args.all:
        if args.key is not None or args.purge or args.if_revision is not None or args.scope is None:
            raise Usage("--all needs --scope, and takes no KEY")
        return _clear(call)
    if args.key is None:
        raise Usage("the following arguments are required: KEY")
    question = f"Remove {shown(args.key)} for good? This cannot be undone."
    if args.purge and call.is_declined(question, "--purge"):
        return NOTHING
    with call.open() as book:
        forgotten = book.forget(args.key, args.scope, purge=args.purge, if_revision=args.if_revision)
    more = "" if args.purge else f"To bring it back: commonplace restore {forgotten.key}"
    if forgotten.action == verbs.forget.PURGING:
        more = "Another program is reading the databases: some of the text may stay in index.db until it has ended. The"
        more += " next command after that removes it."
    return print_change(call, forgotten, more)


def _clear(call: Call) -> int:
    args = call.args
    scope = shown(args.scope)
    with call.open() as book:
        count = len(book.list(args.scope, hidden=True))
        question = f"Move {plural(count, 'memory', 'memories')} in {scope} to the trash?"
        if count and call.is_declined(question, "this"):
            return NOTHING
        count = book.clear(args.scope)  # even with nothing to move: it refuses a caller who may not
    if not call.answer({"scope": args.scope, "forgotten": count}):
        call.screen.line(f"Moved to the trash: {plural(count, 'memory', 'memories')} in {scope}.")
    return DONE if count else NOTHING


def _add_restore_options(parser: argparse.ArgumentParser) -> None:
    since = verbs.trash.SINCE  # loaded for this command alone
    parser.add_argument("--since", metavar=since.metavar, help=since.help)
    parser.add_argument("--all", action="store_true", help="every memory in the trash of the scope that --scope names")


def _restore(call: Call) -> int:
    args = call.args
    if args.all and (args.key is not None or args.scope is None):
        raise Usage("--all needs --scope, and takes no KEY")
    if args.key is not None and args.since is not None:
        raise Usage("--since takes no KEY")
    if args.key is not None:
        return print_change(call, call.run(verbs.forget.restore))
    with call.open() as book:
        restored = book.restore_all(args.scope, since=args.since) if args.all else []
        forgotten = book.list_trash(args.scope, since=args.since)
    if args.all:
        return _print_restored(call, restored, forgotten)
    if not call.answer({"trash": forgotten}):
        screen = call.screen
        rows = [
            (
                item.key,
                scope_name(item.scope, item.scope_id),
                screen.minute(item.time),
                item.author or "-",
                item.summary,
            )
            for item in forgotten
        ]
        screen.table(("KEY", "SCOPE", "FORGOTTEN", "BY", "SUMMARY"), rows, ("name", "weak", "weak"))
        if forgotten:
            call.remark("To bring one back: commonplace restore KEY")
            if len(forgotten) > 1:
                scope = args.scope or "SCOPE"
                call.remark(f"To bring back all of a scope: commonplace restore --all --scope {shown(scope)}")
            _print_taken_keys(call, forgotten)
        else:
            call.remark("The trash is empty." if args.since is None else "Nothing found.", "")
    return DONE if forgotten else NOTHING


def _print_taken_keys(call: Call, forgotten: Sequence[ForgottenMemory]) -> None:
    """Say which memories cannot be restored yet, because another one has their key."""
    for key in dict.fromkeys(item.key for item in forgotten if item.is_key_taken):
        name = shown(key)
        call.remark(f"Another memory has the key {name} now. Rename that one first: commonplace move {name} --key NEW")


def _print_restored(call: Call, restored: Sequence[StoreResult], left: Sequence[ForgottenMemory]) -> int:
    if not call.answer({"restored": restored, "not_restored": left}):
        for item in restored:
            call.screen.line(f"Restored {call.screen.paint(shown(item.key), 'name')}")
        if left:
            call.remark(f"Not restored: {', '.join(dict.fromkeys(shown(item.key) for item in left))}", "warn")
            _print_taken_keys(call, left)
        elif not restored:
            call.remark("Nothing found.", "")
    return DONE if restored and not left else NOTHING


def _move(call: Call) -> int:
    moved = call.run(call.verb)
    return print_change(call, moved, call.place(moved.path))


def _consolidate(call: Call) -> int:
    return print_change(call, call.run(verbs.link.consolidate))


def _link(call: Call) -> int:
    linked = call.run(verbs.link.link)
    waits = "; it waits for `commonplace review`" if linked.action == Status.PROPOSED else ""
    return print_change(call, linked, f"{call.args.rel} {call.args.to}{waits}")


COMMANDS = {
    "store": CliCommand(_store),
    "forget": CliCommand(_forget, _add_forget_options),
    "clear": CliCommand(_clear, flags(yes="do not ask")),
    "restore": CliCommand(_restore, _add_restore_options),
    "move": CliCommand(_move),
    "rename": CliCommand(_move),
    "consolidate": CliCommand(_consolidate),
    "link": CliCommand(_link),
}
