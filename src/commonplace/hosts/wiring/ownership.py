"""Tell whether a whole file, or a marked block, is one that we wrote and that has not been edited since.

A file that takes comments ends with a line that has a hash of everything above it. Many programs reject JSON with
comments or with members that they do not know, so a JSON file carries no such line: it is ours if it is, to the byte,
one that some version of ours writes, except for the path of our program, `--root` and our version. The same goes for
files from before there was a hash. `known_files` lists them. A word in a file never makes it ours.
"""

from __future__ import annotations

import hashlib
import json
import os

from commonplace.hosts.wiring.commands import is_root_option, parse_call, split_line, split_program
from commonplace.hosts.wiring.json_edit import render
from commonplace.hosts.wiring.known_files import FINGERPRINTS
from commonplace.hosts.wiring.recognise import COMMAND_NAMES, call_at
from commonplace.model.patterns import lazy

_COMMENTS = {
    ".md": ("<!-- ", " -->"),
    ".mdc": ("<!-- ", " -->"),
    ".js": ("// ", ""),
    ".ps1": ("# ", ""),
    "": ("# ", ""),
}
_DIGITS = 32  # of the hash: it tells an edit, and guards against nothing else
_MASK = "\0"  # in place of what differs: no text file has it, so that a masked text is never one that somebody wrote
_VERSION = lazy(r"\d+\.\d+\.\d+(?:-(?:dev|a|b|rc)\.\d+)?")
_MEMORY_FILTER = lazy(r"(Read|Write|Edit)\(.*/projects/\*/memory/\*\*\)")


def sign(file: str, text: str) -> str:
    """Return the text with the line that makes it ours; as it is where the file's format has no comments."""
    if _ending(file) not in _COMMENTS:
        return text
    opening, closing = _COMMENTS[_ending(file)]
    return f"{text}{opening}commonplace:owned sha256:{_digest(text)}{closing}\n"


def is_owned(file: str, text: str) -> bool:
    """Whether a file has the text that some version of ours wrote, and nothing was changed in it."""
    plain = _with_plain_line_ends(text)
    above = plain[: plain.rfind("\n", 0, -1) + 1]
    is_signed = _ending(file) in _COMMENTS and sign(file, above) == plain
    return is_signed or fingerprint(file, plain) in FINGERPRINTS


def fingerprint(file: str, text: str) -> str:
    """Return a hash of the text without the words that differ from machine to machine."""
    try:
        masked = _mask_json(text) if _ending(file) == ".json" else _mask_lines(text)
    except RecursionError:  # nested more deeply than anything of ours
        masked = text
    return _digest(masked)


def _mask_json(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # Laid out in another way, it was written or edited by someone else.
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
        call = call_at(value, name) if name in value else None
        if call:
            masked[name] = _MASK + " ".join(call)
            masked.pop("args", None)
    if isinstance(value.get("version"), str):
        masked["version"] = _VERSION.sub(_MASK, value["version"])
    return masked


def _mask_lines(text: str) -> str:
    return "\n".join(map(_mask_line, text.split("\n")))


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
