"""Say which agent programs are connected, and whether that works.

Of each: whether it is on this machine, where it is connected, and whether what its files start is there.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.screen import shown
from commonplace.cli.wiring import find_target
from commonplace.hosts.config_edit.report import load_hosts, report_host
from commonplace.hosts.config_edit.targets import PROJECT, USER
from commonplace.model.results import HostStatus

EXAMPLES = ("commonplace hosts", "commonplace hosts --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # nothing but the common ones


def standings(call: Call) -> list[HostStatus]:
    targets = {scope: find_target(call, scope) for scope in (USER, PROJECT)}
    return [report_host(host, targets) for host in load_hosts()]


def run(call: Call) -> int:
    found = standings(call)
    if call.answer({"hosts": found}):
        return DONE
    rows = [(item.host, "here" if item.installed else "", _stands(item), item.title) for item in found]
    call.screen.table(("HOST", "", "CONNECTED", "PROGRAM"), rows, ("name", "weak", "", "weak"))
    for item in found:
        for problem in item.problems:
            call.screen.line(f"{call.screen.paint(item.host, 'name')}: {shown(problem)}")
    return DONE


def _stands(item: HostStatus) -> str:
    if not item.connected:
        return "cannot be read" if item.problems else "no"
    return ", ".join(item.connected) + ("" if item.works else " (see below)")
