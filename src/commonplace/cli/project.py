"""Show which project this folder is, or make it a known one.

A folder is known by its git remote, its marker or its path. It gets the memories of that project if it can prove that
it is the same one: by the root commit, by the marker's nonce, or because it is where it was. A shallow clone, or a
folder from an archive, cannot. If you know better, `adopt` gives it that project's memories from now on.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.parser import Usage
from commonplace.cli.screen import plural, shown
from commonplace.model.results import ProjectInfo

EXAMPLES = (
    "commonplace project",
    "commonplace project show --json",
    "commonplace project adopt github.com/acme/app",
)
_SOURCES = {
    "override": "set by hand",
    "remote": "its git remote",
    "marker": "its marker",
    "repository": "the path of its repository",
    "folder": "its path",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("show", "adopt"), default="show", help="show (default) or adopt")
    parser.add_argument("id", metavar="ID", nargs="?", help="adopt: the project's id, as `status` names it")


def run(call: Call) -> int:
    args = call.args
    if (args.id is not None) != (args.action == "adopt"):
        raise Usage("adopt takes the id of a project" if args.action == "adopt" else "show takes no id")
    call.is_about_projects = True
    with call.open() as book:
        info = book.adopt_project(args.id) if args.action == "adopt" else book.project()
    if call.answer(info):
        return DONE
    _print(call, info, adopted=args.action == "adopt")
    return DONE


def _print(call: Call, info: ProjectInfo, *, adopted: bool) -> None:
    screen, name = call.screen, shown(info.id)
    memories = plural(info.memories, "memory", "memories")
    if adopted:
        screen.line(f"This folder is now project {name} ({memories}).")
        return
    screen.line(f"{name} ({memories}; known by {_SOURCES[info.source]})")
    if info.unproved is not None:
        claimed = shown(info.unproved)
        screen.line(f"It claims to be the project {claimed} and cannot prove it, so those memories are not shown.")
        screen.line(f"If it is: commonplace project adopt {claimed}")
