"""A process that ingests and settles when it is told to, with small groups so that there is much to seal.

    python -m tests.tree.settle_worker

`test_settle_many` starts several. Each line that it reads is a JSON list: the root of a book, and the path of a source
to ingest, or nothing to settle. It answers with a line for each: what was done, or the error.
"""

from __future__ import annotations

import json
import sys

from commonplace import Book
from commonplace.model.errors import CommonplaceError
from commonplace.tree import digests, seal, topics


def use_small_groups() -> None:
    """Make several levels, and several units of work for each, of a few messages."""
    seal.MOST_CHILDREN = 3
    seal._SEALED = 2
    seal._DIVIDED = 4
    digests._WRITTEN = 5
    topics._WRITTEN = 1


def work(root: str, source: str | None) -> object:
    """Ingest a source, or settle, in a book that is opened for it; return what was done."""
    try:
        with Book.open(root) as book:
            if source is None:
                return book.tree_settle()
            [result] = book.ingest(source).sources
            return [result.added, result.known]
    except CommonplaceError as error:
        return f"{error.code}: {error}"


if __name__ == "__main__":
    use_small_groups()
    for line in sys.stdin:
        print(json.dumps(work(*json.loads(line))), flush=True)
