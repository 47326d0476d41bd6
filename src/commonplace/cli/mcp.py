"""The command mcp: serve the book to an agent's host."""

from __future__ import annotations

import argparse

from commonplace import verbs
from commonplace.cli.call import DONE, Call, CliCommand, here
from commonplace.cli.parser import Usage
from commonplace.mcp.book_pool import ServerOptions

_MCP_HELP = """Serve this book to an agent, over MCP.

Speaks the Model Context Protocol on standard input and output until the input ends; an agent's host starts it. Standard
output carries the protocol and nothing else. The role decides which tools there are; --list shows them. For Claude
Code: `claude mcp add commonplace -- commonplace mcp`.
"""
_MCP_EXAMPLES = (
    "commonplace mcp --agent scout",
    "commonplace mcp --role coordinator --project github.com/acme/app",
    "commonplace mcp --list --json",
)


def _add_mcp_options(parser: argparse.ArgumentParser) -> None:
    roles = ("agent", "coordinator", "orchestrator", "worker")
    parser.add_argument("--role", choices=roles, default="agent", help="the role of the agent, which decides its tools")
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument(
        "--protocol",
        choices=("off", "guide", "strict"),
        help="how strictly agents must look before they write (setting: protocol)",
    )
    parser.add_argument(
        "--tools", metavar="GROUP", choices=("files", "pair"), action="append", default=[],
        help="also offer this group of tools: files, or pair (search and fetch)",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the tools and end")


def _mcp(call: Call) -> int:
    args = call.args
    if args.list:
        return _list_tools(call)
    if args.json:
        raise Usage("--json needs --list: standard output carries the protocol")
    options = ServerOptions(
        args.root, args.role, args.project, args.agent, args.session, args.read_only, args.protocol,
        tuple(_groups(call)), here(),
    )  # fmt: skip
    options.check()
    from commonplace.mcp.server import serve  # noqa: PLC0415 - the SDK takes half a second to load

    return serve(options)


def _groups(call: Call) -> list[str]:
    """Return the groups of tools that are offered beside those of the role."""
    return [*call.args.tools, *(["tree"] if verbs.opening.has_sources(call.args.root) else [])]


def _list_tools(call: Call) -> int:
    args = call.args
    tools = verbs.toolset.tools_for(args.role, _groups(call), read_only=args.read_only)
    if not call.answer({"tools": [{"name": tool.name, "description": tool.description} for tool in tools]}):
        call.screen.table(("TOOL", "WHAT"), [(tool.name, tool.description) for tool in tools], ("name",))
    return DONE


COMMANDS = {"mcp": CliCommand(_mcp, _add_mcp_options, _MCP_HELP, _MCP_EXAMPLES)}
