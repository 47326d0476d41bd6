"""docs/shell.md says what the shell is."""

from __future__ import annotations

from pathlib import Path

from commonplace.model.settings import Settings
from commonplace.shell import view_reader as limits
from commonplace.shell.command import MAX_ERROR_BYTES
from commonplace.shell.session import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")


def test_every_command_is_on_the_page_as_it_is_used() -> None:
    """Each command's usage, as `help` prints it, stands on the page."""
    shown = PAGE.replace("\\|", "|")
    assert [command.usage for command in COMMANDS.values() if command.usage not in shown] == []


def test_every_limit_is_on_the_page() -> None:
    """The numbers of the page are those of the code."""
    for number in (limits.MAX_READ_BYTES, limits.MAX_ENTRIES, MAX_ERROR_BYTES, limits.BINARY_CHECK_BYTES):
        assert f"{number:,}" in PAGE
    for size in (limits.MAX_FILE_BYTES, limits.MAX_COMMAND_BYTES):
        assert f"{size >> 20} MiB" in PAGE
    for count in (Settings().max_search_results, limits.MAX_LISTED):
        assert f"| {count} |" in PAGE
