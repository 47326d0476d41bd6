"""The commands connect, disconnect and hosts: agent programs and this memory."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping

from commonplace import verbs
from commonplace.cli.call import DONE, Call, CliCommand
from commonplace.cli.parser import Usage
from commonplace.cli.screen import shown
from commonplace.hosts.config_edit.commands import find_on_path, quote_for_shell
from commonplace.hosts.config_edit.connect import (
    connect_host,
    disconnect_host,
    find_kept_root,
    load_host,
    load_hosts,
    make_target,
    plan_by_hand,
    plan_connect,
    plan_disconnect,
)
from commonplace.hosts.config_edit.parts import PROJECT, USER, Host, InstalledPlugin, Target
from commonplace.hosts.config_edit.plan import FileChange
from commonplace.hosts.config_edit.report import is_installed, report_host
from commonplace.model import DISTRIBUTION
from commonplace.model.errors import CommonplaceError, HostError
from commonplace.model.host_results import ConnectFailure, ConnectResult, ConnectResults, HostFile, HostStatus
from commonplace.model.results import Finding
from commonplace.text.fence import is_hidden

_SPOOLING = ("stop", "session-end")  # events of hosts that name a transcript, for a hook to note
_CONNECT_HELP = """Connect an agent program to this memory.

A program gets the memory's tools (MCP) and, where it has hooks, a brief at the start, recall at the prompt and
reminders to save; what its conversations teach is proposed for review (`commonplace config set capture off` turns that
off). Only our own entries are added to its files; `disconnect` removes them exactly. Connecting twice changes nothing,
and keeps what you changed in our entries. Without a HOST it finds the programs that are installed, and asks; --all
connects them all. --list shows which are connected, since when, what they start, and whether that works.
"""
_CONNECT_EXAMPLES = (
    "commonplace connect",
    "commonplace connect claude-code codex",
    "commonplace connect --all",
    "commonplace connect codex --dry-run",
    "commonplace connect cursor --project",
    "commonplace connect claude-code --protocol",
    "commonplace connect --list",
)
_DISCONNECT_HELP = """Remove from an agent program's files what connect added.

Everything else in them stays as it is, to the byte; a file that held nothing else is removed, and so are the folders
that connect made. A server of ours that the program's own `mcp add` wrote goes, too.
"""
_DISCONNECT_EXAMPLES = ("commonplace disconnect claude-code", "commonplace disconnect cursor --project --dry-run")
_HOSTS_HELP = """Show which agent programs are connected, and whether that works.

For each: whether it is installed; for each level at which it is connected: since when, the command that its files
start, and whether that runs.
"""


def _add_target_options(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    parser.add_argument(
        "hosts",
        metavar="HOST",
        nargs=nargs,
        help="the agent program: claude-code, codex, ...; `connect --list` lists them",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for you, in every project (the default where possible)")
    place.add_argument("--project", action="store_true", help="for the repository of this folder, in files inside it")
    parser.add_argument(
        "--dry-run", "--print", dest="dry_run", action="store_true", help="show the change as a diff, and make none"
    )


def _find_target(call: Call, scope: str, *, has_protocol: bool = False) -> Target:
    """Return the target that a call means. A book that the user named is named in the files, too."""
    root = call.args.root or call.environment.get("COMMONPLACE_ROOT")
    try:
        here = os.getcwd()
    except OSError:
        here = os.path.expanduser("~")
    return make_target(scope, call.environment, here=here, platform=sys.platform, root=root, has_protocol=has_protocol)


def _connect(call: Call) -> int:
    args = call.args
    if args.list:
        if args.hosts or args.all:
            raise Usage("--list takes no HOST")
        return _hosts(call)
    if args.all and args.hosts:
        raise Usage("--all takes no HOST")
    if args.hosts:
        return _change_hosts(call, [load_host(name) for name in dict.fromkeys(args.hosts)], connect=True)
    found = _find_installed(call)
    if args.all and (found or args.json):
        return _change_hosts(call, found, connect=True, is_list=True)
    return _offer(call, found)


def _disconnect(call: Call) -> int:
    return _change_hosts(call, [load_host(name) for name in dict.fromkeys(call.args.hosts)], connect=False)


def _find_installed(call: Call) -> list[Host]:
    """Return the agent programs on this machine that can be connected at the level that was asked for."""
    target = _find_target(call, PROJECT if call.args.project else USER)
    return [host for host in load_hosts() if target.scope in host.scopes and is_installed(host, target)]


def _offer(call: Call, found: list[Host]) -> int:
    """Ask a person which of the installed programs to connect; in a script, say how to."""
    screen = call.screen
    scope = PROJECT if call.args.project else USER
    reports = {item.host: item for item in find_hosts(call)} if found else {}
    done = [host for host in found if scope in reports[host.name].connected and reports[host.name].works]
    open_hosts = [host for host in found if host not in done]
    if call.answer({"hosts": [reports[host.name] for host in found]}):
        return DONE
    for host in done:
        screen.line(f"{screen.paint(host.title, 'strong')} is already connected.")
    broken = [host for host in open_hosts if scope in reports[host.name].connected]
    questions = {host: f"{'Repair' if host in broken else 'Connect'} {host.title}?" for host in open_hosts}
    chosen = [host for host in open_hosts if call.confirmed(questions[host])]
    if chosen:
        return _change_hosts(call, chosen, connect=True)
    if not found:
        screen.line("No agent program was found on this machine. To connect one that is not installed yet, name it:")
        screen.line(f"  commonplace connect HOST   ({', '.join(host.name for host in load_hosts())})")
        return DONE
    for host in open_hosts:
        is_broken = "is connected, but some of it is missing or does not work."
        state = is_broken if host in broken else "is installed and not connected."
        screen.line(f"{screen.paint(host.title, 'strong')} {state}")
    if open_hosts:
        flag = " --project" if scope == PROJECT else ""
        screen.line("Nothing was changed. To connect:")
        screen.line(f"  commonplace connect{flag} {' '.join(host.name for host in open_hosts)}")
    return DONE


def _change_hosts(call: Call, hosts: list[Host], *, connect: bool, is_list: bool = False) -> int:
    """Connect or disconnect each host. One that fails does not keep the others from it; its error comes last."""
    targets = [_choose_target(call, host, connect=connect, is_all=is_list) for host in hosts]
    changed: list[tuple[Host, ConnectResult]] = []
    failed: list[tuple[Host, CommonplaceError]] = []
    for host, target in zip(hosts, targets, strict=True):
        try:
            done = _apply_change(call, host, target, connect=connect)
        except CommonplaceError as error:
            _record(call, host, {}, error.code, connect=connect)
            if len(hosts) == 1 and not is_list:
                raise
            failed.append((host, error))
            continue
        facts = {"scope": done.scope, "action": done.action, "files": _count_changed(done)}
        _record(call, host, facts, "ok", connect=connect)
        changed.append((host, done))
    results = [done for _, done in changed]
    errors = [ConnectFailure(host.name, error.code, error.message, error.hint) for host, error in failed]
    is_one = len(hosts) == 1 and not is_list
    if not call.answer(results[0] if is_one else ConnectResults(tuple(results), tuple(errors))):
        told: set[str] = set()  # what holds for several of them is said once
        for host, done in changed:
            notes = tuple(note for note in done.notes if note not in told)
            told |= {*notes}
            _print_result(call, host, done._replace(notes=notes), is_connecting=connect)
        for host, refusal in failed:
            message = f"{shown(refusal.message)} [{refusal.code}]"
            call.screen.sentence(message, start=f"{host.title}:", start_style="strong")
            call.screen.sentence(shown(refusal.hint), indent="  ")
    return failed[0][1].exit_code if failed else DONE


def _count_changed(done: ConnectResult) -> int:
    return sum(item.action != "unchanged" for item in done.files)


def _record(call: Call, host: Host, facts: Mapping[str, object], outcome: str, *, connect: bool) -> None:
    """Write a line into the book's audit; none for a change that was only shown."""
    if call.args.dry_run:
        return
    verb = "connect" if connect else "disconnect"
    verbs.opening.record_connection(call.args.root, call.environment, verb, host.name, facts, outcome)


def _choose_target(call: Call, host: Host, *, connect: bool, is_all: bool) -> Target:
    """Return where a host is connected; raise Usage where it cannot be connected as the options say."""
    args = call.args
    scope = PROJECT if args.project else USER if args.user else host.scopes[0]
    if scope not in host.scopes:
        raise Usage(f"{host.name} can be connected only with --{host.scopes[0]}")
    has_filter = any(hook.is_protocol for hook in host.hooks)
    if connect and args.protocol and not has_filter and not is_all:
        raise Usage(f"{host.name} has no hooks with a filter by path, which --protocol needs")
    return _find_target(call, scope, has_protocol=connect and args.protocol and has_filter)


def _apply_change(call: Call, host: Host, target: Target, *, connect: bool) -> ConnectResult:
    args = call.args
    installed = is_installed(host, target)
    refusal: list[str] = []
    kept_root: str | None = None
    try:
        changes = plan_connect(host, target) if connect else plan_disconnect(host, target)
        kept_root = find_kept_root(host, target) if connect else None
    except HostError as error:
        if not (args.dry_run and connect):
            raise
        refusal = [f"This cannot be done automatically: {error.message} This is what you would add by hand:"]
        changes = plan_by_hand(host, target)
    if not args.dry_run:
        (connect_host if connect else disconnect_host)(host, target, changes)
    done = _describe_result(host, target, changes, installed, connect=connect, only_shown=args.dry_run)
    book = [f"It uses the book in {kept_root}, as before. To use another one, add --root DIR."] if kept_root else []
    return done._replace(notes=(*refusal, *done.notes, *book, *(_describe_capture(call, host) if connect else ())))


def _describe_capture(call: Call, host: Host) -> list[str]:
    """Return that conversations are read, and how to turn that off; nothing where they are not."""
    if not any(hook.event in _SPOOLING and not hook.is_retired for hook in host.hooks):
        return []
    if not verbs.opening.is_capturing(call.args.root, call.environment):
        return []
    return [
        "Capture is on: what you correct, prefer and decide is proposed for `commonplace review`. "
        "Turn it off: commonplace config set capture off"
    ]


def _describe_result(
    host: Host, target: Target, changes: list[FileChange], is_installed_here: bool, *, connect: bool, only_shown: bool
) -> ConnectResult:
    verb = "connect" if connect else "disconnect"
    files = tuple(HostFile(change.snapshot.path, change.action) for change in changes)
    changed = any(item.action != "unchanged" for item in files)
    action = f"would-{verb}" if only_shown else f"{verb}ed" if changed else "unchanged"
    left = [change.left for change in changes if change.left]
    plugin = host.find_plugin(target)
    notes = [*left, *host.notes, *_warnings(host, target)] if connect and plugin is None else left
    if plugin is not None:
        notes.insert(0, _describe_plugin(host, plugin))
    diff = "".join(change.diff() for change in changes) if only_shown else ""
    return ConnectResult(host.name, target.scope, action, is_installed_here, files, tuple(notes), diff)


def _describe_plugin(host: Host, plugin: InstalledPlugin) -> str:
    """Say that a plugin of ours connects the host already, and how to remove it."""
    return (
        f"{host.title} has the plugin {plugin.name}, installed by itself: it brings the server and the hooks, so that "
        f"connect adds nothing. To remove it: {plugin.remove}"
    )


def _warnings(host: Host, target: Target) -> list[str]:
    """Return what may keep it from working."""
    notes = []
    if not host.has_mcp:
        words = target.commands.build_mcp("NAME")
        notes.append(f"On this machine the command is: {quote_for_shell(words, target.platform)}")
    if target.scope == PROJECT and not find_on_path("commonplace", target.environment):
        notes.append("The project's files start `commonplace` by its name, but it is not on your PATH.")
    if "uvx" in os.path.basename(target.commands.program[0]):
        install = f"`uv tool install {DISTRIBUTION}`"
        notes.append(f"Each hook starts through uvx, which is slow. Run {install}, then connect again.")
    return notes


def _print_result(call: Call, host: Host, done: ConnectResult, *, is_connecting: bool) -> None:
    screen = call.screen
    if done.diff:
        call.stdout.write("".join(f"{_show_line(line)}\n" for line in done.diff.splitlines()))
    outcome = {
        "connected": "is connected",
        "disconnected": "is disconnected",
        "unchanged": "is already connected" if is_connecting else "is not connected",
        "would-connect": "would be connected like this; nothing was changed" if done.diff else "is already connected",
        "would-disconnect": "would be disconnected like this; nothing was changed" if done.diff else "is not connected",
    }[done.action]
    whose = "user level" if done.scope == USER else "this project"
    screen.line(f"{screen.paint(host.title, 'strong')} {outcome} ({whose}).")
    for file in done.files:
        if file.action != "unchanged" and not done.diff:
            screen.line(f"  {screen.paint(f'{file.action:<8}', 'weak')} {shown(file.path)}")
    if done.action in ("connected", "would-connect") and host.programs and not done.installed:
        screen.line(f"{host.title} is not installed on this machine; it will be connected once it is.")
    for note in done.notes:
        screen.sentence(shown(note))


def _show_line(line: str) -> str:
    """Return a line of a diff with nothing in it that a terminal would obey; brackets stay, for a person to copy."""
    return "".join(f"\\u{{{ord(ch):04x}}}" if ch != "\t" and is_hidden(ch) else ch for ch in line)


def _add_connect_options(parser: argparse.ArgumentParser) -> None:
    _add_target_options(parser, nargs="*")
    parser.add_argument("--all", action="store_true", help="connect every agent program that is installed")
    parser.add_argument(
        "--protocol", action="store_true", help="also watch the host's own memory files, if it can filter by path"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the agent programs: which are connected, and whether that works"
    )


def find_hosts(call: Call, *, is_quick: bool = False) -> list[HostStatus]:
    """Return every known agent program, and whether it is connected; to be quick, no program is started to try it."""
    targets = {scope: _find_target(call, scope) for scope in (USER, PROJECT)}
    checked: dict[tuple[str, ...], str] | None = None if is_quick else {}
    lost = {found.host: found for found in verbs.doctor.lost_hooks(call.args.root, call.environment)}
    return [report_host(host, targets, checked)._replace(lost_hooks=lost.get(host.name)) for host in load_hosts()]


def _hosts(call: Call) -> int:
    found = find_hosts(call)
    if call.answer({"hosts": found}):
        return DONE
    rows = [row for item in found for row in _list_connections(call, item)]
    headers = ("HOST", "", "CONNECTED", "SINCE", "WORKS", "STARTS")
    call.screen.table(headers, rows, ("name", "weak", "", "weak"), has_paths=True)
    for item in found:
        for problem in item.problems:
            call.screen.sentence(shown(problem), start=f"{item.host}:", start_style="name")
        for one in item.connections:
            if one.repair or one.hint:
                call.screen.sentence(one.repair or shown(one.hint), start="to repair:", indent="  ")
        if item.lost_hooks:
            call.screen.sentence(shown(item.lost_hooks.message), start=f"{item.title}:")
            call.screen.sentence(shown(item.lost_hooks.hint), indent="  ")
    return DONE


def _list_connections(call: Call, item: HostStatus) -> list[tuple[str, ...]]:
    """Return a row for each level at which a host is connected, or one that says that it is not."""
    installed = "installed" if item.installed else ""
    if not item.connections:
        return [(item.host, installed, "cannot be read" if item.problems else "no", "", "", "")]
    return [
        (
            item.host,
            installed,
            one.scope if one.source == "connect" else f"{one.scope} ({one.source})",
            call.screen.minute(one.since) if one.since else "unknown",
            "yes" if one.works else "no (see below)",
            call.home_path(shlex.join(one.command)),
        )
        for one in item.connections
    ]


def find_broken(call: Call) -> list[Finding]:
    """Return a finding for each connection of an agent program that does not work, for `doctor`."""
    return [
        verbs.doctor.describe_connection(item.host, one)
        for item in find_hosts(call)
        for one in item.connections
        if one.problems
    ]


COMMANDS = {
    "connect": CliCommand(_connect, _add_connect_options, _CONNECT_HELP, _CONNECT_EXAMPLES),
    "disconnect": CliCommand(_disconnect, _add_target_options, _DISCONNECT_HELP, _DISCONNECT_EXAMPLES),
    "hosts": CliCommand(_hosts, None, _HOSTS_HELP, ("commonplace connect --list", "commonplace connect --list --json")),
}
