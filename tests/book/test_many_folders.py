"""A bulk write into more folders than a process may have open."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.book.opened import open_book


@pytest.mark.skipif(sys.platform == "win32", reason="the limit of open files is a POSIX one")
def test_many_folders_are_not_all_held_open(root: Path) -> None:
    """Three hundred memories replaced in one go, each with a history folder of its own, under a limit of 200 files."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with open_book(root) as book:
        book.store_many({"content": f"Fact {n}.", "key": f"fact-{n}"} for n in range(300))
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
        try:
            done = book.store_many(
                {"content": f"Other {n}.", "key": f"fact-{n}", "mode": "replace"} for n in range(300)
            )
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert {item.action for item in done} == {"replaced"}
        assert len(book.history("fact-299")) == 2 and book.verify().ok
