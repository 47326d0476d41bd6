"""`commonplace doctor` and `commonplace doctor scan` as a person meets them; who may ask."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commonplace.cli.main import main
from commonplace.maintenance.findings import CODES, LIMIT
from commonplace.model.errors import NotPermitted
from tests.book.opened import open_book
from tests.maintenance.doctor_cases import note

DOCS = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_nothing_wrong_is_said_shortly(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A book in good order: one line, exit status 0."""
    assert main(["init", "--root", str(root)]) == 0
    capsys.readouterr()
    assert main(["doctor", "--root", str(root)]) == 0
    assert capsys.readouterr().out == "No problems. No note was changed.\n"


def test_notes_alone_are_fine(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With nothing but notes the exit status is 0; a warning makes it 1, in words and as JSON."""
    with open_book(root) as book:
        book.store("See [[nobody]].", key="x", scope="global")
    assert main(["doctor", "--root", str(root)]) == 0
    note(root, "planet/x.md", "Text.\n")
    assert main(["doctor", "--root", str(root)]) == 1
    capsys.readouterr()
    assert main(["--json", "doctor", "--root", str(root)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert [set(finding) for finding in answer["findings"]] == [{"code", "severity", "path", "message", "hint"}] * 2
    assert [finding["severity"] for finding in answer["findings"]] == ["warning", "note"]


def test_each_code_is_explained_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings stand under their code, its hint once, then the places; long lists are cut unless all are wanted."""
    with open_book(root):
        pass
    for number in range(LIMIT // 10):
        note(root, f"global/_{number}.md", "Text.\n")
    note(root, "global/\u202e.txt", "x")
    main(["doctor", "--root", str(root)])
    said = capsys.readouterr().out
    assert said.count(CODES["hidden_file"][2]) == 1 and said.count("/memories/global/_") == 10
    assert "and 11 more; --all shows them." in said and said.endswith("21 notes. No note was changed.\n")
    main(["doctor", "--all", "--root", str(root)])
    said = capsys.readouterr().out
    assert said.count("/memories/global/_") == LIMIT // 10
    assert "\u202e" not in said and "\\u{202e}" in said


@pytest.mark.parametrize("role", ["agent", "coordinator", "orchestrator", "worker"])
def test_only_a_person_may_ask(root: Path, role: str) -> None:
    """Doctor and scan go through everybody's scopes, so no agent may ask, nor a person who is sealed in."""
    with open_book(root, role=role, session="s") as book:
        for verb in (book.doctor, book.scan):
            with pytest.raises(NotPermitted):
                verb()
    with open_book(root, sealed=True, session="s") as book:
        for verb in (book.doctor, book.scan):
            with pytest.raises(NotPermitted):
                verb()


def test_every_code_is_documented() -> None:
    """The table of docs/doctor.md is the table of the code: the same codes, severities and words, in the same order."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \| (.*) \|$", DOCS.read_text("utf-8"), re.M)
    assert rows == [(code, *about) for code, about in CODES.items()]


@pytest.mark.parametrize("verb", ["verify", "doctor"])
def test_long_work_says_how_far_it_is(root: Path, verb: str) -> None:
    """Who waits for a whole book to be read is told how many notes are done, up to the last one."""
    with open_book(root) as book:
        for number in range(4):
            book.store(f"Fact {number}.", key=f"fact-{number}", scope="global")
        seen: list[tuple[int, int]] = []
        book.on_progress(lambda done, total: seen.append((done, total)))
        getattr(book, verb)()
    assert [done for done, _ in seen[:4]] == [1, 2, 3, 4]
    assert seen[3] == (4, 4)
