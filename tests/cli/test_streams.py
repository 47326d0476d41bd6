"""Standard input and output of every kind: long, empty, binary, closed, ended early, in another encoding."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calls import COMMAND, fine, process, run
from tests.cli.conftest import EDIT
from tests.depth import depths, first_quick

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and descriptors are POSIX's")
WORDS = "Straße 記憶 😀 naïve"
BAD_INPUT = [(b"", "empty"), (b"a\0b", "NUL"), (b"caf\xe9", "UTF-8"), (b"x" * 16_000_001, "long"), (b" \n", "empty")]


def test_a_text_from_standard_input(book: Path) -> None:
    """`-` reads the text: for store, consolidate and review, as it came, in any script."""
    fine("store", "-", "--key", "given", stdin=f"{WORDS}\nsecond line".encode())
    assert fine("show", "given")["entries"][0]["text"] == f"{WORDS}\nsecond line"
    fine("consolidate", "test-runner", "slow-tests", "--into", "both", "--text", "-", stdin=b"Both of them.")
    assert fine("show", "both")["entries"][0]["text"] == "Both of them."
    fine("review", "--accept", "lesson", "--text", "-", stdin=b"A better one.")
    assert fine("show", "lesson")["entries"][0]["text"] == "A better one."


@pytest.mark.parametrize(("data", "why"), BAD_INPUT, ids=[why for _, why in BAD_INPUT])
def test_input_that_is_no_text(data: bytes, why: str, root: Path) -> None:
    """Empty, NUL, not UTF-8, too long: each is refused with a code and a hint, and nothing is written."""
    outcome = run("store", "-", "--key", "x", "--json", stdin=data)
    assert (outcome.status, outcome.out, outcome.error()["code"]) == (14, "", "invalid_content")
    assert outcome.error()["hint"]
    assert run("list").status == 1


@pytest.mark.parametrize("repeats", depths(10_000, 190_000))
def test_a_long_text(root: Path, repeats: int) -> None:
    """A text of 200 kB, or of almost 4 MB in `make deep`, is taken, found by its last word, and comes back whole."""
    text = "The quick brown fox. " * repeats + "zebrafish"
    stored = fine("store", "-", "--key", "long", stdin=text.encode())
    assert stored["action"] == "created"
    assert fine("show", "long")["entries"][0]["text"] == text
    assert fine("recall", "zebrafish")["hits"][0]["key"] == "long"


def test_data_of_any_bytes(root: Path) -> None:
    """data put and get carry every byte, through a pipe or a file; JSON says text or base64."""
    every = bytes(range(256)) * 10
    fine("data", "put", "every.bin", stdin=every)
    done = subprocess.run([*COMMAND, "data", "get", "every.bin"], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (every, b"")
    assert fine("data", "get", "every.bin")["encoding"] == "base64"
    Path("given.txt").write_text(WORDS, "utf-8")
    fine("data", "put", "words.txt", "given.txt")
    said = fine("data", "get", "words.txt")
    assert (said["encoding"], said["content"]) == ("utf-8", WORDS)


@pytest.mark.parametrize(
    "environment",
    first_quick(
        [
            {"PYTHONIOENCODING": "ascii"},
            {"LC_ALL": "C", "LANG": "C"},
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "latin-1"},
        ]
    ),
    ids=["ascii", "C", "C without help", "latin-1"],
)
def test_a_stream_that_cannot_show_it(environment: dict[str, str], root: Path) -> None:
    """Where the stream has no such characters there are escapes, and JSON is still the same JSON."""
    fine("store", "-", "--key", "words", stdin=WORDS.encode())
    plain = subprocess.run([*COMMAND, "recall"], env={**os.environ, **environment}, capture_output=True, check=False)
    assert (plain.returncode, plain.stderr) == (0, b"") and b"Stra" in plain.stdout
    said = subprocess.run(
        [*COMMAND, "recall", "--json"], env={**os.environ, **environment}, capture_output=True, check=False
    )
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    assert json.loads(said.stdout.decode(encoding))["hits"][0]["text"] == WORDS
    error = process("show", "記憶", environment=environment)
    assert error.status in (1, 12) and "Traceback" not in error.err


@posix
@pytest.mark.parametrize(
    "line", first_quick(["odd", "recall --json", "--help", "store --help", "list", "data get prices.csv"], 2)
)
def test_a_reader_that_has_had_enough(line: str, book: Path) -> None:
    """A pipe whose reader is gone ends the command without a word on standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, *line.split()], stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    if line == "odd":
        assert done.returncode == 2 and b"[usage]" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, b"")


@posix
def test_the_first_line_of_much(root: Path) -> None:
    """`commonplace ... | head -1` gives one line and is quiet, when there is more than a pipe holds."""
    fine("store", "-", "--key", "much", stdin=b"One line of many.\n" * 60_000)
    shell = 'set -o pipefail; "$@" | head -1'
    done = subprocess.run(["bash", "-c", shell, "-", *COMMAND, "recall"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"much")


@posix
@pytest.mark.parametrize("stream", first_quick([">&- 2>&- <&-", "<&-", ">&-", "2>&-"]))
def test_a_closed_stream(stream: str, book: Path) -> None:
    """A command started with a stream closed works as if it led nowhere, and no file of the book becomes the stream."""
    for words in (["list"], ["store", "Kept all the same.", "--key", "kept"], ["store", "-"], ["--help"]):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {stream}', "-", *COMMAND, *words],
            input=b"Something.",
            capture_output=True,
            check=False,
        )
        expected = 14 if words == ["store", "-"] and "<" in stream else 0
        assert done.returncode == expected, done.stderr
        assert b"Traceback" not in done.stderr
    assert fine("show", "kept")["entries"][0]["text"] == "Kept all the same."
    assert fine("verify")["ok"]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A command that is started here can be interrupted, also where the tests run in the background and cannot."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


@posix
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_while_the_editor_is_open(book: Path, editor: Path) -> None:
    """SIGINT while a command waits: status 130, one sentence and no traceback, and the memory is as it was."""
    editor.write_text(EDIT + "import os, signal\npath.write_text('x')\nos.kill(os.getppid(), signal.SIGINT)\n", "utf-8")
    before = fine("show", "lesson")
    outcome = process("edit", "lesson", "--json")
    assert (outcome.status, outcome.out) == (130, "")
    assert outcome.error()["code"] == "interrupted"
    assert fine("show", "lesson") == before


@posix
def test_a_folder_that_is_gone(book: Path, tmp_path: Path) -> None:
    """A command started in a folder that somebody has removed still answers: the project is told by the environment."""
    shell = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
    words = ["sh", "-c", shell, "-", str(tmp_path / "gone"), *COMMAND, "list", "--json"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == fine("list")


def test_a_text_that_looks_like_an_option(root: Path) -> None:
    """After `--` every word is text, even --json; and a text with a dash in front and a space needs none."""
    assert run("store", "--key", "dash", "--", "--json").status == 0
    assert fine("show", "dash")["entries"][0]["text"] == "--json"
    fine("store", "- a list\n- of things", "--key", "list")
    assert run("store", "--key", "dash", "--", "--json", "more").err.startswith("error: ")
