"""Wrong use of every verb: a status, a code, something to do; nothing on standard output, no traceback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli.run import SUMMARIES
from tests.cli.calls import run
from tests.cli.cases import CASES, SECRET, Line
from tests.cli.conftest import EDIT

WRONG = [
    pytest.param(name, line, status, code, id=f"{name} {' '.join(line)[:40]}")
    for name, case in CASES.items()
    for line, status, code in (*case.wrong, (("--no-such-option",), 2, "usage"), (("--limit=", "--json=x"), 2, "usage"))
]


def test_every_verb_is_misused() -> None:
    """No verb is without a wrong use of its own."""
    assert all(case.wrong for case in CASES.values())
    assert CASES.keys() >= SUMMARIES.keys()


@pytest.mark.parametrize(("name", "line", "status", "code"), WRONG)
def test_wrong_use_is_refused(name: str, line: Line, status: int, code: str, book: Path) -> None:
    """The status and the code are the documented ones; message and hint are there, and the secret is not. With --json
    the same refusal is one object on standard error."""
    outcome = run(name, *line)
    assert (outcome.status, outcome.out) == (status, "")
    what, hint = outcome.err.splitlines()
    assert re.fullmatch(rf"error: .+[.?)] \[{code}\]", what)
    assert re.fullmatch(r"what to do: .+\.", hint)
    assert SECRET not in outcome.err
    outcome = run(name, *line, "--json")
    assert (outcome.status, outcome.out) == (status, "")
    error = outcome.error()
    assert error["code"] == code and error["message"] and error["hint"]


@pytest.mark.parametrize("name", ["store", "list", "status", "verify", "init"])
def test_a_root_that_is_no_folder(name: str, tmp_path: Path) -> None:
    """A file where the book should be is a coded error, not an internal one, and the file stays as it is."""
    path = tmp_path / "file"
    path.write_text("not a book")
    outcome = run(name, *CASES[name].good[0], "--root", str(path), "--json")
    assert outcome.status not in (0, 10) and outcome.out == ""
    assert outcome.error()["code"] not in ("internal_error", "error")
    assert path.read_text() == "not a book"


def usage(*words: str) -> Any:
    outcome = run(*words, "--json")
    assert (outcome.status, outcome.out) == (2, "")
    return outcome.error()


def test_no_verb() -> None:
    """Without any word the overview comes, with status 2; with options alone, an error says what is missing."""
    outcome = run()
    assert outcome.status == 2 and outcome.out.startswith("usage: commonplace COMMAND")
    assert usage()["message"] == "name a command."
    assert usage("--root")["message"] == "name a command."


def test_an_unknown_verb_gets_a_suggestion() -> None:
    """A verb that is nearly one is named; one like none is not; and the hint names what helps."""
    assert usage("stroe", "x")["message"] == "unknown command 'stroe'; did you mean store?"
    assert usage("help", "recal")["message"] == "unknown command 'recal'; did you mean recall?"
    assert usage("xyzzy")["message"] == "unknown command 'xyzzy'."
    assert usage("--odd", "list")["message"] == "unrecognized arguments: --odd."
    assert "`commonplace show --help`" in usage("show")["hint"]


def test_what_is_not_text_on_the_line(book: Path) -> None:
    """Bytes on the line that are not UTF-8 are refused as a text, and shown as escapes in a message."""
    outcome = run("store", "caf\udce9", "--json")
    assert (outcome.status, outcome.error()["code"]) == (14, "invalid_content")
    outcome = run("sto\udce9re\x1b[31m")
    assert outcome.status == 2 and "\x1b" not in outcome.err


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ("sys.exit(3)", 17, "invalid_settings"),
        ("path.unlink()", 14, "invalid_content"),
        ("path.write_text('The token is " + SECRET + "')", 43, "secret_found"),
    ],
)
def test_an_editor_that_goes_wrong(script: str, status: int, code: str, book: Path, editor: Path) -> None:
    """An editor that fails, removes the file or leaves a secret changes nothing; a text that was made is kept."""
    editor.write_text(EDIT + script, "utf-8")
    before = run("show", "test-runner", "--json")
    outcome = run("edit", "test-runner", "--json")
    assert (outcome.status, outcome.out) == (status, "")
    error = outcome.error()
    assert error["code"] == code
    assert run("show", "test-runner", "--json") == before
    if code == "secret_found":
        kept = Path(error["hint"].removeprefix("Your text is kept in ").split(". ")[0])
        assert SECRET in kept.read_text("utf-8") and kept.parent.stat().st_mode & 0o077 == 0


def test_an_editor_that_is_not_there(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that cannot be started is a wrong setting, with the setting in the hint."""
    for command in ("/not/there", "'unbalanced"):
        monkeypatch.setenv("VISUAL", command)
        outcome = run("edit", "test-runner", "--json")
        assert (outcome.status, outcome.error()["code"]) == (17, "invalid_settings")
        assert "EDITOR" in outcome.error()["hint"]


def test_a_failure_of_our_own_is_told(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception nobody thought of is one error in words, with status 10; COMMONPLACE_DEBUG shows where it was."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("commonplace.verbs.doctor.verify_memories", broken)
    outcome = run("verify", "--json")
    assert (outcome.status, outcome.out, outcome.error()["code"]) == (10, "", "internal_error")
    assert "RuntimeError" in outcome.error()["message"]
    monkeypatch.setenv("COMMONPLACE_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run("verify")
