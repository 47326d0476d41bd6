"""What `connect`, `disconnect` and `hosts` share: where, with what, and how it is said."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.hosts.config_edit.commands import find_on_path, quote_for_shell
from commonplace.hosts.config_edit.connect import FileChange, apply, plan_by_hand, plan_connect, plan_disconnect
from commonplace.hosts.config_edit.report import is_installed, load_host, make_target
from commonplace.hosts.config_edit.targets import PROJECT, USER, Host, Target
from commonplace.model.errors import CommonplaceError, HostError
from commonplace.model.results import ConnectResult, HostFile
from commonplace.model.version import DISTRIBUTION


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", help="the agent program: claude-code, codex, ...; `hosts` lists them")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for you, in every project (the default where it can be)")
    place.add_argument("--project", action="store_true", help="for the repository of this folder, in files it carries")
    parser.add_argument("--print", action="store_true", help="show the change and make none")


def find_target(call: Call, scope: str, *, has_protocol: bool = False) -> Target:
    """Return the target that a call means. A book that the user named is named in the files, too."""
    root = call.args.root or call.environment.get("COMMONPLACE_ROOT")
    try:
        here = os.getcwd()
    except OSError:
        here = os.path.expanduser("~")
    return make_target(scope, call.environment, here=here, platform=sys.platform, root=root, has_protocol=has_protocol)


def run_wiring(call: Call, *, connect: bool) -> int:
    args = call.args
    host = load_host(args.host)
    try:
        done = _wired(call, host, connect=connect)
    except CommonplaceError as error:
        _note(call, host, {}, error.code, connect=connect)
        raise
    _note(call, host, {"scope": done.scope, "action": done.action, "files": _changed(done)}, "ok", connect=connect)
    if not call.answer(done):
        _say(call, host, done)
    return DONE


def _changed(done: ConnectResult) -> int:
    return sum(item.action != "unchanged" for item in done.files)


def _note(call: Call, host: Host, facts: Mapping[str, object], outcome: str, *, connect: bool) -> None:
    """A line in the book's audit; of what was only shown, none."""
    if call.args.print:
        return
    from commonplace.verbs.wiring import note_wiring  # noqa: PLC0415 - after the work, and not for --print

    verb = "connect" if connect else "disconnect"
    note_wiring(call.args.root, call.environment, verb, host.name, facts, outcome)


def _wired(call: Call, host: Host, *, connect: bool) -> ConnectResult:
    args = call.args
    scope = PROJECT if args.project else USER if args.user else host.scopes[0]
    if scope not in host.scopes:
        raise Usage(f"{host.name} can be connected only with --{host.scopes[0]}")
    target = find_target(call, scope, has_protocol=connect and args.protocol)
    if target.has_protocol and not any(hook.is_protocol for hook in host.hooks):
        raise Usage(f"{host.name} has no hooks with a filter by path, which --protocol needs")
    installed = is_installed(host, target)
    refusal = []
    try:
        changes = plan_connect(host, target) if connect else plan_disconnect(host, target)
    except HostError as error:
        if not (args.print and connect):
            raise
        refusal = [f"It cannot be done by itself: {error.message} This is what a person would add."]
        changes = plan_by_hand(host, target)
    if not args.print:
        apply(changes)
    done = _told(host, target, changes, installed, connect=connect, only_shown=args.print)
    return done._replace(notes=(*refusal, *done.notes))


def _told(
    host: Host, target: Target, changes: list[FileChange], installed: bool, *, connect: bool, only_shown: bool
) -> ConnectResult:
    verb = "connect" if connect else "disconnect"
    files = tuple(HostFile(change.snapshot.path, change.action) for change in changes)
    changed = any(item.action != "unchanged" for item in files)
    action = f"would-{verb}" if only_shown else f"{verb}ed" if changed else "unchanged"
    left = [change.left for change in changes if change.left]
    notes = [*host.notes, *_warnings(host, target)] if connect else left
    diff = "".join(change.diff() for change in changes) if only_shown else ""
    return ConnectResult(host.name, target.scope, action, installed, files, tuple(notes), diff)


def _warnings(host: Host, target: Target) -> list[str]:
    """What may keep it from working."""
    notes = []
    if not host.has_mcp:
        words = target.commands.build_mcp("NAME")
        notes.append(f"On this machine the command is: {quote_for_shell(words, target.platform)}")
    if target.scope == PROJECT and not find_on_path("commonplace", target.environment):
        notes.append("The project's files start `commonplace` by its name, and it is not on your PATH.")
    if "uvx" in os.path.basename(target.commands.program[0]):
        install = f"`uv tool install {DISTRIBUTION}`"
        notes.append(f"Each hook starts through uvx, which is slow. Run {install}, then connect again.")
    return notes


def _say(call: Call, host: Host, done: ConnectResult) -> None:
    screen = call.screen
    if done.diff:
        call.stdout.write("".join(f"{shown(line)}\n" for line in done.diff.splitlines()))
    said = {
        "connected": "is connected",
        "disconnected": "is disconnected",
        "unchanged": "is as it should be: nothing was changed",
        "would-connect": "would be connected by this; nothing was changed" if done.diff else "is connected already",
        "would-disconnect": "would be disconnected by this; nothing was changed" if done.diff else "is not connected",
    }[done.action]
    whose = "for you" if done.scope == USER else "for this project"
    screen.line(f"{screen.paint(host.title, 'strong')} {said} ({whose}).")
    for file in done.files:
        if file.action != "unchanged" and not done.diff:
            screen.line(f"  {screen.paint(f'{file.action:<8}', 'weak')} {shown(file.path)}")
    if done.action in ("connected", "would-connect") and host.programs and not done.installed:
        screen.line(f"{host.title} was not found on this machine; it will find this when it is.")
    for note in done.notes:
        screen.line(shown(note))
