"""Find the commands of a transcript that worked after another form of them had failed.

Two commands are forms of one if they run the same program on the same things: with another wrapper (`uv run`), with
variables or options that the first did not have, or by another program that is given the same words. What the agent
mended in between is no lesson about the command, and neither is a search that found nothing. `context/capture.py` calls
`find_lessons`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.transcripts import AgentCommand

_LONGEST = 160  # characters of a command that is worth telling
_BACK = 8  # runs: a failure further back was about something else
_CHANGE_FOLDER = lazy(r"^\s*(?:cd\s+[^\s;&|]+\s*&&\s*)+")
_TAIL = lazy(r"(?: 2>&1)?(?: ?\| ?(?:tail|head|cat|tee)\b[^|;&]*)?$")
_COMPOUND = lazy(r"[|;&<>`\n]|\$\(")
_ASSIGNMENT = lazy(r"^[A-Za-z_]\w*=")
_WRAPPERS: Sequence[Sequence[str]] = (
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("rye", "run"),
    ("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("npx",), ("pnpm", "dlx"), ("bunx",),
    ("python", "-m"), ("python3", "-m"), ("sudo",), ("env",), ("time",), ("nice",), ("xvfb-run",), ("direnv", "exec"),
    ("mise", "exec", "--"), ("nix", "develop", "-c"),
)  # fmt: skip
# These fail because of what they look for, not of how they are called.
_LOOKING = frozenset(
    """
    [ awk cat cd curl date df diff du echo env false file find git gh grep head jq kill less ls man ping printenv ps pwd
    rg sed sleep stat tail test tree true wc wget which whoami
    """.split()  # noqa: SIM905 - a list of these would be a page long
)


class CommandLesson(NamedTuple):
    """A command that failed, and the form of it that worked."""

    failed: str
    worked: AgentCommand


class _Form(NamedTuple):
    """A command by its parts."""

    text: str
    program: str
    things: tuple[str, ...]  # what it works on: its words that are no options

    def is_form_of(self, other: _Form) -> bool:
        """Return whether both do the same in another way."""
        if self.text == other.text or self.things != other.things:
            return False
        return self.program == other.program or bool(self.things)


def find_lessons(runs: Sequence[AgentCommand]) -> Iterator[CommandLesson]:
    """Yield the commands that worked after another form of them had failed, first to last."""
    failed: list[_Form] = []
    for run in runs:
        if not run.command:
            failed.clear()
            continue
        form = _parse(run.command)
        if form is None:
            continue
        if run.has_failed:
            failed = [*failed[1 - _BACK :], form]
            continue
        before = [other for other in failed if form.is_form_of(other)]
        if before:
            yield CommandLesson(before[-1].text, run._replace(command=form.text))
        failed = [other for other in failed if other not in before and other.text != form.text]


def _parse(command: str) -> _Form | None:
    """Return a command by its parts; None if it is compound, long, or only looks at something."""
    if len(command) > 10 * _LONGEST or "\n" in command.strip():
        return None
    text = _TAIL.sub("", _CHANGE_FOLDER.sub("", " ".join(command.split())))
    if not text or len(text) > _LONGEST or _COMPOUND.search(text) or not text.isprintable():
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    words = _unwrap(words)
    if not words or words[0] in _LOOKING:
        return None
    program = words[0].rsplit("/", 1)[-1]
    things = tuple(word for word in words[1:] if not word.startswith("-") and not _ASSIGNMENT.match(word))
    return _Form(text, program, things)


def _unwrap(words: list[str]) -> list[str]:
    """Return the words of a command without the programs and variables that only lead up to it."""
    while words:
        wrapper = next((wrapper for wrapper in _WRAPPERS if tuple(words[: len(wrapper)]) == wrapper), ())
        if not wrapper and not _ASSIGNMENT.match(words[0]):
            break
        words = words[max(len(wrapper), 1) :]
    return words
