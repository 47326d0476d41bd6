"""`commonplace COMMAND ...`: the entry point. It loads `run` only for a line that names a command."""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from commonplace.cli import GLOBALS_WITH_VALUE, INTERRUPTED, STOPPED, print_overview, report_lost_output

TYPE_CHECKING = False  # as in typing, which `--help` and `--version` do without
if TYPE_CHECKING:
    from collections.abc import Sequence

_FIRST_READS_FILES = frozenset({"list", "recall", "store", "history", "timeline"})


def main(line: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    words = list(sys.argv[1:] if line is None else line)
    _fill_closed_streams()
    try:
        status = print_overview(words)
        if status is None:
            status = _run(words, has_prestat=line is None and _reads_files_first(words))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # every other one has become an error with a code
        return report_lost_output(error, words)
    except KeyboardInterrupt:  # while loading: `run_command` does not run yet
        sys.stderr.write(f"error: {STOPPED[0]} [interrupted]\nwhat to do: {STOPPED[1]}\n")
        return INTERRUPTED
    return status


def _reads_files_first(words: Sequence[str]) -> bool:
    """Return whether a correct line would begin by checking the files. The parser is not loaded yet."""
    pairs = pairwise(["", *words])
    name = next((word for before, word in pairs if not word.startswith("-") and before not in GLOBALS_WITH_VALUE), "")
    return name in _FIRST_READS_FILES and "-" not in words  # typing may take long: by then the check is old


def _run(words: list[str], *, has_prestat: bool) -> int:
    """Run a command. If it checks the files first, a thread does that while everything else is loaded."""
    if has_prestat:
        from commonplace.vault import prestat  # noqa: PLC0415 - the overview does without

        given = dict(pairwise(words))
        root = given.get("--root") or os.environ.get("COMMONPLACE_ROOT") or os.path.join("~", ".commonplace")
        project = given.get("--project") or os.environ.get("COMMONPLACE_PROJECT") or os.environ.get("PWD", "")
        prestat.start_prestat(os.path.join(os.path.expanduser(root), "memories"), os.path.basename(project))
    try:
        from commonplace.cli.run import run_command  # noqa: PLC0415 - the overview does without

        return run_command(words)
    finally:
        if has_prestat:
            prestat.stop_prestat()


def _fill_closed_streams() -> None:
    """Give a stream that was closed at the start (`>&-`) the null device, so that no file of a book takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


if __name__ == "__main__":
    sys.exit(main())
