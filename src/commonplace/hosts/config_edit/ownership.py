"""Tell whether a whole file, or a marked block, is one that we wrote and that has not been edited since.

A file that takes comments ends with a line that has a hash of everything above it. Many programs reject JSON with
comments or with members that they do not know, so a JSON file carries no such line: it is ours if it is, to the byte,
one that some version of ours writes, except for the path of our program, `--root` and our version. The same goes for
files from before there was a hash. `FINGERPRINTS` lists them. A word in a file never makes it ours.
"""

from __future__ import annotations

import hashlib
import json
import os

from commonplace.hosts.config_edit.commands import (
    COMMAND_NAMES,
    is_root_option,
    parse_call,
    parse_member,
    split_line,
    split_program,
)
from commonplace.hosts.config_edit.json_edit import render
from commonplace.model.lazy import lazy

_COMMENTS = {
    ".md": ("<!-- ", " -->"),
    ".mdc": ("<!-- ", " -->"),
    ".js": ("// ", ""),
    ".ps1": ("# ", ""),
    "": ("# ", ""),
}
_DIGITS = 32  # of the hash: enough to notice an edit, which is all it is for
_MASK = "\0"  # in place of what differs: no text file has it, so that no text of a user equals a masked one
_VERSION = lazy(r"\d+\.\d+\.\d+(?:-(?:dev|a|b|rc)\.\d+)?")
_MEMORY_FILTER = lazy(r"(Read|Write|Edit)\(.*/projects/\*/memory/\*\*\)")


# The files that versions of ours wrote without a hash in them, each as `fingerprint` returns it. Append to this table,
# and never remove anything: a file whose fingerprint is missing is taken for the user's own, and can then be neither
# renewed nor removed. A test says which one is missing when the shape of a JSON file changes.
FINGERPRINTS = frozenset(
    (
        "32c9ba2cb9f79f13e479f6b1dbdb51fa",  # agents-md, cline, kiro, windsurf: the rules
        "6a641a29c8db8a5dcd80d56ae16b9fa1",  # amazonq: commonplace.json
        "55bd5e5559e7e7793b4028f1ff7b8c18",  # claude-code: .mcp.json
        "5193e3555998ce55a9fff03838ff8ebc",  # claude-code, codex, gemini, opencode: SKILL.md
        "4394fc0cc18b77ca22cba600414b9962",  # claude-code: hooks.json
        "37abf5ce60215d3c456e0dbe315a6e33",  # claude-code: hooks.json with --protocol
        "592acc101378ed5e8943d0273cb3c7b2",  # claude-code: plugin.json
        "1fa72be0b156bda7110784e7184636cd",  # cline: PreCompact
        "bc8b5bbff95d636be25775857833bee2",  # cline: PreCompact.ps1
        "47604072ae62183d54c5677f376e515b",  # cline: TaskComplete
        "91be262221e66f07720f91ae0beb7575",  # cline: TaskComplete.ps1
        "a1dd886eac5fce6c244e68839d301dce",  # cline: TaskStart
        "9b008db12923750f7239bf8a8ac5f90c",  # cline: TaskStart.ps1
        "51c84130ba5633c3cc2d3e09389e5b15",  # cline: UserPromptSubmit
        "a4da9ec2aeedaadd9f40565588db9b6b",  # cline: UserPromptSubmit.ps1
        "fca9b7be90cbf15d9cee4e45236d454d",  # copilot: commonplace.json
        "736235087b8efc53b9ef4ec2f1e893ed",  # cursor: commonplace.mdc
        "36cd88b6ca03c9b3f45fd04e9c0c5a62",  # gemini: gemini-extension.json
        "c874f595ec7051bb18671910a4e0dfb1",  # gemini: hooks.json
        "97f577720657279276c428259d8411d9",  # goose: hooks.json, with Stop
        "ad99671a7479b1a70ef0394a8847dad7",  # goose: hooks.json
        "78dae061ae43911e3757503cd37414bf",  # goose: plugin.json
        "8fa9435e1daf50515e8b9aeb934258a8",  # kiro: commonplace.json, with Stop
        "eae82a5c9e78548d3fd337222b230633",  # kiro: commonplace.json
        "47844903eb482129c2d94537c6d9aeb5",  # kiro2: commonplace.json, with Stop
        "7716a31535532a212c6a82d43363650d",  # kiro2: commonplace.json
        "485081c184a1db720516131c7e6d5f94",  # opencode: commonplace.js
        "15af04263e59c3c29ac01ea40c69416b",  # vscode: commonplace-vscode.json
        "96a11a54b2186e0d852c29ab8d0c7fc6",  # windsurf: commonplace.md
    )
)


def sign(file: str, text: str) -> str:
    """Return the text with the line that makes it ours; unchanged where the file's format has no comments."""
    if _ending(file) not in _COMMENTS:
        return text
    opening, closing = _COMMENTS[_ending(file)]
    return f"{text}{opening}commonplace:owned sha256:{_digest(text)}{closing}\n"


def is_owned(file: str, text: str) -> bool:
    """Return whether a file has, unchanged, the text that some version of ours wrote."""
    plain = _with_plain_line_ends(text)
    above = plain[: plain.rfind("\n", 0, -1) + 1]
    is_signed = _ending(file) in _COMMENTS and sign(file, above) == plain
    return is_signed or fingerprint(file, plain) in FINGERPRINTS


def fingerprint(file: str, text: str) -> str:
    """Return a hash of the text without the words that differ from machine to machine."""
    try:
        masked = _mask_json(text) if _ending(file) == ".json" else "\n".join(map(_mask_line, text.split("\n")))
    except RecursionError:  # nested more deeply than anything of ours
        masked = text
    return _digest(masked)


def _mask_json(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # In another layout it was written or edited by someone else.
    return json.dumps(_mask_value(value)) if render(value) + "\n" == text else text


def _mask_value(value: object) -> object:
    if isinstance(value, list):
        return [_mask_value(item) for item in value]
    if isinstance(value, str):
        return _MEMORY_FILTER.sub(rf"\1{_MASK}", value)
    if not isinstance(value, dict):
        return value
    masked = {name: _mask_value(item) for name, item in value.items()}
    for name in COMMAND_NAMES:
        call = parse_member(value, name) if name in value else None
        if call:
            masked[name] = _MASK + " ".join(call)
            masked.pop("args", None)
    if isinstance(value.get("version"), str):
        masked["version"] = _VERSION.sub(_MASK, value["version"])
    return masked


def _mask_line(line: str) -> str:
    """Return a line of a script or of the OpenCode plugin without the path of our program."""
    for start in ("exec ", "$input | "):
        call = parse_call(split_line(line.removeprefix(start))) if line.startswith(start) else None
        if call:
            return start + _MASK + " ".join(call)
    name, _, given = line.partition(" = ")
    if name not in ("const COMMAND", "const MORE"):
        return line
    try:
        words = json.loads(given)
    except ValueError:
        return line
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or json.dumps(words) != given:
        return line
    is_known = is_root_option(words) if name == "const MORE" else split_program(words) == ("commonplace-hook", [])
    return name + _MASK if is_known else line


def _with_plain_line_ends(text: str) -> str:
    """Return the text as we wrote it, where git has made every line end one of Windows."""
    return text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text


def _ending(file: str) -> str:
    return os.path.splitext(file)[1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGITS]
