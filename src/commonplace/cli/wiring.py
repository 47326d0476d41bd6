"""What `connect`, `disconnect` and `hosts` share: where, with what, and how it is said."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.hosts.wiring.commands import on_path, shell_line
from commonplace.hosts.wiring.connecting import Change, apply, plan_by_hand, plan_connect, plan_disconnect
from commonplace.hosts.wiring.registry import load
from commonplace.hosts.wiring.standing import is_installed, make_site
from commonplace.hosts.wiring.values import PROJECT, USER, Host, Site
from commonplace.model.errors import CommonplaceError, HostError
from commonplace.model.results import HostFile, Wired
from commonplace.model.version import DISTRIBUTION


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", help="the agent program: claude-code, codex, ...; `hosts` lists them")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for you, in every project (the default where it can be)")
    place.add_argument("--project", action="store_true", help="for the repository of this folder, in files it carries")
    parser.add_argument("--print", action="store_true", help="show the change and make none")


def site_of(call: Call, scope: str, *, protocol: bool = False) -> Site:
    """The place that a call means. A book that the user named is named in what is written, too."""
    root = call.args.root or call.environment.get("COMMONPLACE_ROOT")
    try:
        here = os.getcwd()
    except OSError:
        here = os.path.expanduser("~")
    return make_site(scope, call.environment, here=here, platform=sys.platform, root=root, protocol=protocol)


def run_wiring(call: Call, *, connect: bool) -> int:
    args = call.args
    host = load(args.host)
    try:
        done = _wired(call, host, connect=connect)
    except CommonplaceError as error:
        _note(call, host, {}, error.code, connect=connect)
        raise
    _note(call, host, {"scope": done.scope, "action": done.action, "files": _changed(done)}, "ok", connect=connect)
    if not call.answer(done):
        _say(call, host, done)
    return DONE


def _changed(done: Wired) -> int:
    return sum(item.action != "unchanged" for item in done.files)


def _note(call: Call, host: Host, facts: Mapping[str, object], outcome: str, *, connect: bool) -> None:
    """A line in the book's audit; of what was only shown, none."""
    if call.args.print:
        return
    from commonplace.verbs.wiring import note_wiring  # noqa: PLC0415 - after the work, and not for --print

    verb = "connect" if connect else "disconnect"
    note_wiring(call.args.root, call.environment, verb, host.name, facts, outcome)


def _wired(call: Call, host: Host, *, connect: bool) -> Wired:
    args = call.args
    scope = PROJECT if args.project else USER if args.user else host.scopes[0]
    if scope not in host.scopes:
        raise Usage(f"{host.name} can be connected only with --{host.scopes[0]}")
    site = site_of(call, scope, protocol=connect and args.protocol)
    if site.protocol and not any(hook.protocol for hook in host.hooks):
        raise Usage(f"{host.name} has no hooks with a filter by path, which --protocol needs")
    installed = is_installed(host, site)
    refusal = []
    try:
        changes = plan_connect(host, site) if connect else plan_disconnect(host, site)
    except HostError as error:
        if not (args.print and connect):
            raise
        refusal = [f"It cannot be done by itself: {error.message} This is what a person would add."]
        changes = plan_by_hand(host, site)
    if not args.print:
        apply(changes)
    done = _told(host, site, changes, installed, connect=connect, only_shown=args.print)
    return done._replace(notes=(*refusal, *done.notes))


def _told(host: Host, site: Site, changes: list[Change], installed: bool, *, connect: bool, only_shown: bool) -> Wired:
    verb = "connect" if connect else "disconnect"
    files = tuple(HostFile(change.held.path, change.action) for change in changes)
    changed = any(item.action != "unchanged" for item in files)
    action = f"would-{verb}" if only_shown else f"{verb}ed" if changed else "unchanged"
    left = [change.left for change in changes if change.left]
    notes = [*host.notes, *_warnings(host, site)] if connect else left
    diff = "".join(change.diff() for change in changes) if only_shown else ""
    return Wired(host.name, site.scope, action, installed, files, tuple(notes), diff)


def _warnings(host: Host, site: Site) -> list[str]:
    """What may keep it from working."""
    notes = []
    if not host.mcp:
        words = site.commands.mcp("NAME")
        notes.append(f"On this machine the command is: {shell_line(words, site.platform)}")
    if site.scope == PROJECT and not on_path("commonplace", site.environment):
        notes.append("The project's files start `commonplace` by its name, and it is not on your PATH.")
    if "uvx" in os.path.basename(site.commands.program[0]):
        install = f"`uv tool install {DISTRIBUTION}`"
        notes.append(f"Each hook starts through uvx, which is slow. Run {install}, then connect again.")
    return notes


def _say(call: Call, host: Host, done: Wired) -> None:
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
