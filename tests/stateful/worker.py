"""One of several processes that use one book at once: `python worker.py ROOT NAME COUNT`.

Says every write that was acknowledged, one JSON line each, at the moment it was.
"""

from __future__ import annotations

import json
import sys

from commonplace import Book
from commonplace.model.scope import ScopeKind

PROJECT = "github.com/acme/app"
SHARED = "shared/log"


def say(verb: str, scope: ScopeKind, key: str, text: str, word: str) -> None:
    print(json.dumps({"verb": verb, "scope": scope, "key": key, "text": text, "word": word}), flush=True)


def work(book: Book, name: str, number: int) -> None:
    """One memory of this process' own, and what becomes of it."""
    scope = ScopeKind.GLOBAL if number % 2 else ScopeKind.PROJECT
    key, word = f"{name}-{number:03d}", f"word{name}{number:03d}"
    text = f"Process {name} says {word} first."
    if number % 5 == 4:
        text = f"Process {name} adds {word}."
        book.store(text, key=SHARED, scope=scope, summary="What all of them say")
        say("append", scope, SHARED, text, word)
        return
    if number % 5 == 3:
        answers = book.store_many({"content": text, "key": f"{key}/{part}", "scope": scope} for part in ("a", "b"))
        for answer in answers:
            say("store", scope, answer.key, text, word)
        return
    book.store(text, key=key, scope=scope)
    say("store", scope, key, text, word)
    if number % 5 == 1:
        text = text.replace("first", "at last")
        book.store(text, key=key, scope=scope, mode="replace")
        say("store", scope, key, text, word)
    if number % 5 == 2:
        book.forget(key, scope)
        say("forget", scope, key, "", word)
    elif [hit.text for hit in book.recall(word, mode="lexical").hits] != [text]:
        raise SystemExit(f"{key} is acknowledged and cannot be found")


def main(root: str, name: str, count: int) -> None:
    for start in range(0, count, 10):  # a process may also come back
        with Book.open(root, project=PROJECT) as book:
            for number in range(start, min(start + 10, count)):
                work(book, name, number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
