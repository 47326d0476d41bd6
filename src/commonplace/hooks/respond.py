"""From the words of the command line and standard input to an answer, and to what is remembered of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.hooks.asked import read_asked
from commonplace.hooks.log import complain
from commonplace.hooks.shapes import EVENTS, SHAPES, shaped

if TYPE_CHECKING:
    from commonplace.hooks.opened import Opened


def respond(
    words: Sequence[str],
    environment: Mapping[str, str],
    read: Callable[[], bytes],
    write: Callable[[bytes], None],
) -> Opened | None:
    """Answer one event; the book that it was answered from stays open. Standard input is read in any case: a host may
    wait until somebody does."""
    event, host = parse(words)
    asked = read_asked(read())
    shape = SHAPES.get(host)
    if event not in EVENTS or shape is None or asked is None:
        return None
    from commonplace.hooks import events, opened  # noqa: PLC0415 - most of what a hook loads, for who has said something

    root = opened.find_root(environment)
    if root is None:
        return None
    if asked.cwd is None:
        asked = asked._replace(cwd=_here())
    where = f"{event} {host}"
    book = opened.open_book(
        root,
        environment,
        session=asked.session,
        agent=host,
        cwd=asked.cwd,
        complain=lambda what, error: complain(environment, f"{where} {what}", error),
    )
    if book is None:
        return None
    said = events.run(event, host, shape, asked, book, environment)
    answer = shaped(shape, event, said.text)
    if answer:
        write(answer)
    said.after()
    return book


def parse(words: Sequence[str]) -> tuple[str, str]:
    """The event and the host; empty where there is none. Options of a later version are passed over."""
    event = host = ""
    before = ""
    for word in words:
        if before == "--host":
            host = word
        elif word.startswith("--host="):
            host = word.partition("=")[2]
        elif not word.startswith("-") and before != "--root":
            event = event or word
        before = word
    return event, host


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
