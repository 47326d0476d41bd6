"""Run the command line, and kill it with SIGKILL when it has put so many files in place.

    python -m tests.tree.crash_killed NUMBER --root BOOK ingest mail.mbox

`test_ingest_many` starts it. A process that comes to its end says on standard error how many files it put in place.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

from commonplace.cli.main import main
from commonplace.vault.disk import PosixFolder


def run_and_kill(most: int, words: list[str]) -> int:
    """Run a command; return its exit status if it puts no more than so many files in place."""
    numbers = itertools.count()

    def count(real: Callable[..., Any]) -> Callable[..., Any]:
        def put(*given: Any) -> Any:
            if next(numbers) >= most:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given)

        return put

    rename, link = count(PosixFolder.rename), count(PosixFolder.link)
    with mock.patch.object(PosixFolder, "rename", rename), mock.patch.object(PosixFolder, "link", link):
        status = main(words)
    print(next(numbers), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(run_and_kill(int(sys.argv[1]), sys.argv[2:]))
