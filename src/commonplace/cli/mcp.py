"""Serve this book to an agent, over MCP.

Speaks the Model Context Protocol on standard input and output until the input ends; an agent's host starts it. Standard
output carries the protocol and nothing else. Which tools there are depends on the role; --list shows them. For Claude
Code: `claude mcp add commonplace -- commonplace mcp`.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call, here
from commonplace.cli.parser import Usage

EXAMPLES = (
    "commonplace mcp --agent scout",
    "commonplace mcp --role coordinator --project github.com/acme/app",
    "commonplace mcp --list --json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    roles = ("agent", "coordinator", "orchestrator", "worker")
    parser.add_argument("--role", choices=roles, default="agent", help="who is served: decides the tools")
    parser.add_argument("--read-only", action="store_true", help="only the tools that change nothing")
    parser.add_argument(
        "--protocol", choices=("off", "guide", "strict"), help="how the write protocol is held to (setting: protocol)"
    )
    parser.add_argument(
        "--tools", metavar="GROUP", choices=("files",), action="append", default=[],
        help="a group of tools that the role has only on request: files",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the tools that would be served, and end")


def run(call: Call) -> int:
    args = call.args
    if args.list:
        return _list(call)
    if args.json:
        raise Usage("standard output carries the protocol: --json goes with --list")
    from commonplace.mcp.book_pool import ServerOptions  # noqa: PLC0415 - opening a book takes time to load
    from commonplace.mcp.server import serve  # noqa: PLC0415 - the SDK takes half a second to load

    options = ServerOptions(
        args.root, args.role, args.project, args.agent, args.session, args.read_only, args.protocol,
        tuple(args.tools), here(),
    )  # fmt: skip
    options.check()
    return serve(options)


def _list(call: Call) -> int:
    from commonplace.tools import tools_for  # noqa: PLC0415 - serving loads them by itself

    args = call.args
    tools = tools_for(args.role, args.tools, read_only=args.read_only)
    if not call.answer({"tools": [{"name": tool.name, "description": tool.description} for tool in tools]}):
        call.screen.table(("TOOL", "WHAT"), [(tool.name, tool.description) for tool in tools], ("name",))
    return DONE
