"""docs/hosts.md: what connecting does, and for each host what is written where, from the hosts' own data."""

from __future__ import annotations

import sys

from commonplace.hooks.host_io import SHAPES
from commonplace.hosts.config_edit.commands import Commands
from commonplace.hosts.config_edit.connect import load_hosts
from commonplace.hosts.config_edit.parts import PROJECT, USER, ConfigEntry, Hook, Host, MarkedBlock, Part, Target

_MADE_BY = "<!-- Made by `make docs-write` from the code and tools/hosts_page.py. Do not edit. -->"
_INTRODUCTION = """\
# Hosts: connecting the agents you already use

`commonplace connect HOST` adds to an agent program's files what it needs to use this memory; `commonplace
disconnect HOST` takes it out again. Both take several names. `commonplace connect` alone finds the programs that are
installed and asks which to connect (in a script it only says what it found); `--all` connects them all. `--dry-run`
shows the change to every file as a diff and makes none. `--user` (the default) is for you in every project; `--project`
writes into the repository of this folder, for everybody who works in it. Connecting twice changes nothing; connecting
again after an upgrade renews what is old.

`commonplace connect --list` says for each program at which level it is connected, since when, which command its files
start, and whether that runs: the command is started with an option that only prints. A path in a project's files is
never started, only looked for. Where an installation was moved or removed, the list and `commonplace doctor` name the
command that repairs the connection. `--list --json` has the same fields.

## What a connected host gets

- **Tools**: the MCP server, `commonplace mcp --agent HOST`.
- **A brief** when a context window starts: what you asked for, whole; then facts, one line each; then the rest by name.
- **Recall at the prompt**: memories about it that the brief did not have.
- **Nudges** to save, on the prompt, where a hook there can carry text. No hook makes the agent continue a turn.
- **The rubric** of what is worth saving, as a skill or a rule.
- **Protocol enforcement** for the host's own memory files, with `connect HOST --protocol`, where the host can
  filter hooks by path. Without the flag nothing of the host's own memory is touched, and no tool call starts a
  process.

A hook is `commonplace-hook EVENT --host HOST`. It ends itself at a [deadline](hooks.md) and never stops the agent. In a
project's files it has `--project`: there it says nothing if you have connected the same program for yourself, so that
nothing is told twice.
"""
_CARE = """\
## What is done to your files

- **Only what is ours is added.** JSON is edited with its comments, order, indentation and trailing commas as they
  are; so are TOML and YAML. Text that you own (AGENTS.md, rules) gets a block between `<!-- commonplace:begin -->`
  and `<!-- commonplace:end -->`. Taking it out leaves the bytes that were there before, also where the file was
  empty, had no line end, or was not there at all: then it is removed, with the folders that are empty after it.
- **What is ours can be told from the files alone**, so a teammate can disconnect what you committed. Only the date, and
  the folders that connect made, are noted in `connections.json` in your state folder: so that empty folders of yours
  stay. Without that note every folder that is empty after disconnecting goes.
  - *An entry in a shared file* is ours if every command in it is one that connect writes for that host: `commonplace
    mcp --agent HOST` under the name `commonplace`, or `commonplace-hook EVENT --host HOST`, also as `python -m` or
    `uvx --from`, with or without `--root DIR`. `commonplace recall ...` in a hook of yours is not.
  - *What you change in an entry of ours* (a timeout, an environment, another agent's name, more options of `commonplace
    mcp`) does not make it yours and stays: connecting again renews only the command. So it does in a JSON file of ours
    that still starts all that it should. The book that an entry names (`--root`, or `COMMONPLACE_ROOT` in its
    environment) stays, too, unless you name another one.
  - *A server that `mcp add` of the program, or you, wrote* is ours, if it starts `commonplace mcp`, also through a
    Python, uv or pipx of yours, and is called `commonplace`. Under another name it is ours if it has no other agent, no
    other book and no options: connect takes it over, so that there is one server, and disconnect takes it out. If you
    gave it more than a command, such as an environment or a timeout, it stays where it is in place of ours. Claude Code
    and Gemini CLI get the server in our plugin, which then has none.
  - *A published plugin* that the program installed from a marketplace is enough: connect adds nothing to it, and takes
    out what it wrote before.
  - *A whole file, and the marked block,* end with a comment line, `commonplace:owned sha256:...`, with a hash of the
    text above it. They are ours while the hash is right. Only the line ends may differ (git may change them).
  - *A JSON file* has no such line, because many programs reject comments and unknown members. It is ours if it is
    what some version of Commonplace writes, to the byte, except for the path of the program, `--root` and the version
    number. The same holds for files that versions before this hash wrote.

  An object that we had to make holds its first entry without a blank (`{"mcpServers": {"commonplace": ...}}`), so that
  it goes with it; one that was there and empty stays. If the host lays its file out anew in between, an empty object
  may stay behind.
- **What is yours stays yours.** A file or entry that is not ours is never overwritten or removed, whatever words are in
  it: connect refuses (`not_ours`) and changes nothing anywhere. To connect, rename or remove your file. A file of ours
  that you edited keeps your text: connect leaves a skill or a rule as it is, renews the commands in a JSON file, and
  refuses for a script. Disconnect leaves every edited file, removes the rest, and says what it left. A file that cannot
  be understood is left alone (`host_file_unusable`); add by hand what `--dry-run` shows.
- **Links are followed** where they stay inside your home, or inside the project for a project's files: the link stays,
  and the file behind it is changed. A link that leads out is refused.
- **Files are replaced in one step**, keep their mode, and new ones are readable by you alone. Files of other users,
  read-only files and files with a second name are refused (`host_file_unusable`). A file that changes while we work is
  left as it is (`host_file_changed`). No copy is left behind. All files are worked out before the first is written; if
  one fails, those before it are put back.
- **Commands are absolute paths** for you (a host started from a desktop has another PATH than your shell), with
  `--root DIR` if you named a book; plain names in a project's files, because those go to other machines. Run
  through uvx (`uvx --from commonplace-memory commonplace connect HOST`), `uvx --from commonplace-memory` is written,
  since uv may empty its cache at any time.

Published plugins made from the same data are in `plugins/`, `extensions/` and `server.json`; they start
`commonplace` and `commonplace-hook` from PATH.
"""


def hosts_page() -> str:
    hosts = load_hosts()
    lines = [_MADE_BY, _INTRODUCTION, "## Which host can do what", "", *table(hosts), "", _CARE]
    for host in hosts:
        lines += section(host)
    lines += [*_PROOF.splitlines(), ""]
    return "\n".join(lines)


_PROOF = """\
## How it is checked

`make hosts` installs the programs that can be installed (Claude Code, Codex CLI, Gemini CLI, OpenCode, the
validator of agentskills) into `.venv/hosts`, connects each in an empty home, and asks the program itself what it
sees. The files for the others are compared with committed ones, and were written from their documentation.

Codex CLI and Claude Code are also connected in homes as users have them: a dotfile manager's links, a server of `mcp
add`, a plugin from the marketplace, a moved installation, an edited entry, both levels at once
(`tests/hosts/arranged.py`). The same cases run without the programs in `make test`.

In each of the four it also holds a session of five prompts against a scripted model, without us and connected to a
book of 153 memories, and resumes it for each prompt (`tests/hosts/told.py`). It checks that

- every request of the agent has the user's standing preference once, and the memory that the first prompt is about
  once; a request for a title has neither;
- the user sees the model's answer once, and nothing else, and the model gets as many requests as without us, also at
  the 15th prompt and after "remember that ...";
- a hook of the user's own still runs, and after disconnect every file has the bytes and the mode that it had before.
  Left out are the files that the host itself writes; each of these is also written without us.

Each prompt of such a session is a process of its own, and its server starts too late for it: recall is by words
there. In a session that stays open it comes by meaning a second or two after the start where hooks ran within a day,
else from the second or third prompt on; `make hosts` does not check that."""


def table(hosts: list[Host]) -> list[str]:
    rows = ["| host | MCP | brief | prompt recall | nudges | protocol |", "|---|---|---|---|---|---|"]
    for host in hosts:
        carrying = {hook.event: hook for hook in host.hooks if _can_carry(host, hook)}
        cells = [
            "yes" if host.has_mcp else "by hand",
            _event(carrying, "session-start" if "session-start" in carrying else "prompt"),
            _event(carrying, "prompt"),
            _event(carrying, "prompt"),
            "yes" if any(hook.is_protocol for hook in host.hooks) else "no",
        ]
        rows.append(f"| [{host.name}](#{host.name}) | {' | '.join(cells)} |")
    return rows


def _can_carry(host: Host, hook: Hook) -> bool:
    """Return whether what a hook prints at this event reaches the model. Kiro 2 is Kiro to the hook program."""
    return hook.event in SHAPES["kiro" if host.name == "kiro2" else host.name].carries


def _event(carrying: dict[str, Hook], event: str) -> str:
    hook = carrying.get(event)
    return f"`{hook.host_event}`" if hook is not None else "no"


def describe(host: Host) -> str:
    """Return what the docstring of a host's module says about it, after the first paragraph."""
    text = sys.modules[host.build_parts.__module__].__doc__ or ""
    return " ".join(text.partition("\n\n")[2].split())


def section(host: Host) -> list[str]:
    lines = [
        f"## {host.name}",
        "",
        f"**{host.title}.** {describe(host)}",
        "",
        "| for | file | what |",
        "|---|---|---|",
    ]
    for scope in host.scopes:
        target = Target(scope, "~", ".", {}, Commands(("commonplace",), ("commonplace-hook",)))
        seen: dict[str, list[str]] = {}
        for part in host.build_parts(target):
            place = f"{part.base}/{part.file}" if scope == USER else part.file
            seen.setdefault(place, []).append(_what(part))
        for place, what in seen.items():
            whose = "you" if scope == USER else "a project"
            lines.append(f"| {whose} | `{place}` | {', '.join(dict.fromkeys(what))} |")
    lines += ["", *_hooks(host)]
    flags = "" if USER in host.scopes else " --project"
    undo = f"Undo: `commonplace disconnect {host.name}{flags}`"
    also = ", with `--project` for a project." if len(host.scopes) > 1 and PROJECT in host.scopes else "."
    return [*lines, *(f"{note}" for note in host.notes), "", f"{undo}{also}", ""]


def _what(part: Part) -> str:
    if isinstance(part, ConfigEntry):
        return f"entry `{'.'.join(name if name is not None else '[]' for name in part.path)}`"
    return "marked block" if isinstance(part, MarkedBlock) else "file of ours"


def _hooks(host: Host) -> list[str]:
    if not host.hooks:
        return ["It has no hooks that could carry text.", ""]
    rows = ["| event | its name there | can carry |", "|---|---|---|"]
    for hook in (hook for hook in host.hooks if not hook.is_retired):
        more = " (with `--protocol`)" if hook.is_protocol else ""
        carried = "any text" if _can_carry(host, hook) else "nothing"
        if (host.name, hook.event) == ("claude-code", "pre-compact"):
            carried += " (text there would steer the compaction)"
        rows.append(f"| {hook.event}{more} | `{hook.host_event}` | {carried} |")
    return [*rows, ""]
