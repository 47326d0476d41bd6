"""`record_run`: an orchestrator hands over what a finished run did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.caller import Role
from commonplace.text.fence import visible
from commonplace.tools import shown
from commonplace.tools.spec import Answer, Arguments, Tool, answer, texts

if TYPE_CHECKING:
    from commonplace.book import Book

_RECORDERS = frozenset({Role.PERSON, Role.ORCHESTRATOR})


def _record(book: Book, given: Arguments) -> Answer:
    done = book.record_run(given["manifest"])
    warnings = [visible(warning) for warning in done.warnings]
    data = shown.with_known(
        run=visible(done.run), action=done.action, path=done.path, lessons=list(done.lessons), warnings=warnings,
    )  # fmt: skip
    lines = [f"{done.action}: run {visible(done.run)}", *warnings]
    lines += [f"Lessons that wait for review: {', '.join(done.lessons)}"] if done.lessons else []
    return Answer(data, "\n".join(lines))


TOOLS = (
    Tool(
        "record_run", "Record run", "record_run", "runs",
        "Put a finished run into the journal, once: run_id, goal, outcome, started, finished and tasks[] with id, "
        "worker, description, status, result, error, duration, tools, artifacts. Recording it again changes nothing.",
        {"manifest": {"type": "object"}},
        ("manifest",),
        answer("run", "action", run="string", action="string", path="string", lessons=texts(), warnings=texts()),
        _RECORDERS, _record, read_only=False,
    ),
)  # fmt: skip
