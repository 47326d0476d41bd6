"""What a person sees: tables that fit, colour on a terminal alone, nothing in a text that the terminal obeys."""

from __future__ import annotations

import calendar
import io
import json
import os
import re
import time
import unicodedata
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.cli.screen import Screen, columns
from tests.cli.calls import fine, process, run
from tests.cli.cases import SOURCE
from tests.cli.conftest import PROJECT
from tests.cli.terminal import COLOUR, Terminal, shown_at, without_colour

LONG = "/".join((f"{word}-" * 12)[:59] for word in ("alpha", "bravo", "delta", "gamma"))
WIDE = "記憶は本の中にある。" * 8
HOSTILE = (
    "\x1b]0;owned\x07 \x1b[2Jgone \x9b31mred \x7f \r over \u202eevil\u2066 \u200e \u2028end \x08\x08"
    " \u200b\U000e0041 \u2800\u3164"
)
TABLES = ("list", "list --all --hidden", "history staging-port", "related test-runner", "review --list", "config")


@pytest.fixture
def crowded(book: Path) -> Path:
    """The small book, with a key and summaries that no terminal is wide enough for."""
    with Book.open(book, project=PROJECT) as opened:
        opened.store(f"{WIDE}\n\tTabs\tand more", LONG, summary=f"{WIDE}\t{WIDE}")
        opened.store("Straße, café, naïve: 記憶", "words", summary="Straße 記憶 cafe\u0301")
        opened.store("Stands for many columns.", "staging-port", author=None, mode="replace")
        opened.link("test-runner", "relates_to", LONG)
        opened.configure("agent", "x" * 150)
    return book


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("line", TABLES)
def test_no_table_is_wider_than_the_terminal(line: str, width: int, crowded: Path) -> None:
    """At 80 and at 200 columns every line of a table fits, with headers, and the terminal is used."""
    status, text = shown_at(*line.split(), columns=width)
    rows = [row for row in without_colour(text).splitlines() if not row.startswith("  ")]  # a path of its own line
    assert status == 0 and rows[0].split()[0] in ("KEY", "REVISION", "SETTING")
    assert max(map(columns, rows)) <= width
    assert max(map(columns, rows)) > width - 20 or "review" in line or "history" in line
    assert "\t" not in text and len(rows) > 1


def test_wide_characters_are_aligned(crowded: Path) -> None:
    """The second column begins at the same place of every line, whatever stands in the first."""
    _, text = shown_at("list", columns=200)
    rows = without_colour(text).splitlines()
    start = columns(rows[0][: rows[0].index("UPDATED")])
    for row in rows[1:]:
        stamp = row.index("20")  # the year: no key of the book has it
        assert columns(row[:stamp]) == start


def test_columns_counts_what_a_terminal_shows() -> None:
    """Wide characters take two columns, marks that stand on another none."""
    assert [columns(text) for text in ("abc", "記憶", "cafe\u0301", "ｗ", "é", "")] == [3, 4, 4, 2, 1, 0]
    assert unicodedata.normalize("NFC", "e\u0301") == "é"


def test_colour_is_for_terminals(book: Path) -> None:
    """Colour on a terminal; none with NO_COLOR, with TERM=dumb, or piped, where there are no headers either."""
    assert "\x1b[" in shown_at("list")[1]
    for setting in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        status, text = shown_at("list", environment=setting)
        assert status == 0 and "\x1b" not in text and text.startswith("KEY ")
    piped = process("list")
    assert piped.status == 0 and "\x1b" not in piped.out and "KEY" not in piped.out
    assert [line.split()[0] for line in piped.out.splitlines()] == [item["key"] for item in fine("list")["memories"]]
    assert "\x1b[31merror:\x1b[0m" in shown_at("show", "not-there")[1]
    assert "\x1b" not in shown_at("show", "not-there", environment={"NO_COLOR": "1"})[1]


@pytest.fixture
def hostile(book: Path) -> Path:
    """The small book, with control characters everywhere that somebody else can write to."""
    with Book.open(book, project=PROJECT) as opened:
        kept = opened.store(f"Hostile: {HOSTILE}", "hostile", summary=f"Sum {HOSTILE}", author="an\u202ea")
        opened.store(f"Hostile again: {HOSTILE}", "hostile")
        opened.data_put("hostile.txt", HOSTILE.encode())
        opened.link("hostile", "relates_to", "test-runner")
    path = book / kept.path.lstrip("/")
    path.write_bytes(path.read_bytes().replace(b"rel: relates_to", b'rel: "\\e[35mrel"'))
    (path.parent / "od\x1b[35md.md").write_text("An odd name\x1b[35m and \x9b text.\n[[test-runner]]\n", "utf-8")
    (book / ".commonplace" / "config.toml").write_text(f'state = "{book.parent}/\\u001B[35mred\\u009B"\n', "utf-8")
    return book


HARMLESS = (
    ("recall hostile", 0), ("recall hostile --explain --related", 0), ("show hostile", 0), ("list", 0), ("timeline", 0),
    ("history hostile", 0), ("related hostile", 0), ("config", 0), ("config get state", 0), ("status", 0),
    ("data get hostile.txt", 0), ("verify", 0), ("forget hostile", 0), ("show \x1b[35mx", 12), ("\x1b[35mx", 2),
    ("list --scope \x1b[35mx", 13), ("clear agent:\x1b[35m", 13), ("review --list", 0), ("data get \x1b[35m", 16),
)  # fmt: skip


@pytest.mark.parametrize("json_too", [False, True])
def test_nothing_in_a_text_reaches_the_terminal_raw(json_too: bool, hostile: Path) -> None:
    """No control character, no change of direction is shown but our own colours, in words or as JSON."""
    wrong = []
    for line, expected in sorted(HARMLESS, key=lambda item: item[0].startswith("forget")):  # what forgets comes last
        status, text = shown_at(*line.split(" "), *(["--json"] if json_too else []))
        left = without_colour(text).replace("\n", "").replace("\t", "")
        raw = [ch for ch in left if unicodedata.category(ch) in ("Cc", "Cf", "Zl", "Zp")]
        if status != expected or not left or raw:
            wrong.append((line, status, raw))
    assert wrong == []


def test_what_is_escaped_is_still_there(hostile: Path) -> None:
    """The text is shown with escapes in place of what was hidden, and JSON has it to the letter."""
    assert "\\u{001b}[2Jgone" in shown_at("show", "hostile")[1]
    said = fine("show", "hostile")["entries"][0]["text"]
    assert said == f"Hostile: {HOSTILE}"
    printed = shown_at("show", "hostile", "--json")[1]
    assert json.loads(printed)["entries"][0]["text"] == said
    assert "\\u200b\\udb40\\udc41 \\u2800\\u3164" in printed
    assert (
        "\\u200b" in process("show", "hostile", "--json").out
        and "\u200b" in process("sh", "-c", "cat /data/hostile.txt").out
    )


def test_a_screen_of_any_width_takes_any_table() -> None:
    """From one column on, no cell is lost or raises, and a width that cannot be had is no endless loop."""

    class Narrow(io.StringIO):
        def isatty(self) -> bool:
            return True

    for width in range(1, 60):
        stream = Narrow()
        Screen(stream, {"COLUMNS": str(width), "NO_COLOR": "1"}).table(("A", "B", "C"), [("記" * 9, "b" * 30, "c")])
        assert len(stream.getvalue().splitlines()) == 2
        assert width < 7 or max(map(columns, stream.getvalue().splitlines())) <= width


def test_long_text_is_wrapped_at_words(book: Path) -> None:
    """An entry longer than the terminal is shown on several lines, none of them wider, and no word is lost."""
    words = [f"word{number}" for number in range(60)]
    fine("store", " ".join(words), "--key", "long")
    _, text = shown_at("show", "long", columns=80)
    lines = without_colour(text).partition("\n\n")[2].splitlines()
    body = [line for line in lines if "word" in line]
    assert max(map(len, body)) <= 80 and " ".join(body).split() == words
    assert " ".join(words) in run("show", "long").out


def test_paths_and_times_on_a_terminal(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows paths from ~ on and the time of this machine's clock; a pipe and JSON have UTC with a Z."""
    monkeypatch.setenv("HOME", str(book.parent))
    monkeypatch.setenv("TZ", "Etc/GMT-5")  # five hours ahead of UTC
    with Terminal("show", "test-runner") as terminal:  # a process of its own, which reads TZ
        text = COLOUR.sub("", terminal.end()[1])
    assert re.search(r"file +~/book/memories/project/\S+/test-runner.md\n", text)
    stored = fine("show", "test-runner")["updated"]
    assert stored.endswith("Z")
    here = time.strftime("%Y-%m-%d %H:%M", time.gmtime(_seconds(stored) + 5 * 3600))
    assert re.search(rf"updated +{here}\n", text)
    assert re.search(rf"updated +{stored[:10]} {stored[11:16]}Z\n", run("show", "test-runner").out)


@pytest.mark.parametrize("line", ["history staging-port", "status", "connect --list"])
def test_no_path_is_cut(line: str, book: Path) -> None:
    """A path that does not fit beside the rest stands on a line of its own, whole, so that it can be opened."""
    fine("connect", "codex")
    for columns_there in (60, 80):
        lines = without_colour(shown_at(*line.split(), columns=columns_there)[1]).splitlines()
        assert "…" not in "".join(row for row in lines if "/" in row)
        paths = [row.strip() for row in lines if row.startswith("  ") and os.path.isabs(row.strip())]
        assert paths and all(Path(path).exists() for path in paths)


def test_sentences_are_wrapped_at_words(book: Path) -> None:
    """An error, what to do about it, a note and a remark end their lines between words at a terminal, and a command in
    them is not divided; piped, each is one line."""
    cases = [
        (["show", "stagin-port"], 1),
        (["recall", "port", "--scope", "nowhere"], 14),
        (["undo", "test-runner", "--steps", "9"], 30),
        (["review", "--accept", "lesson", "--agent", "scout"], 44),
    ]
    for words, _ in cases:
        piped = run(*words)
        _, text = shown_at(*words, columns=50)
        lines = without_colour(text).splitlines()
        assert " ".join(lines).split() == f"{piped.out}{piped.err}".split()
        assert max(map(len, lines)) <= 50, lines
        assert all(line.count("`") % 2 == 0 for line in lines), lines


def test_labels_of_a_memory_are_aligned(book: Path) -> None:
    """All that `show` says of a memory begins in one column, also where a link has a long name."""
    fine("store", "Tests run with tox.", "--key", "runner", "--decision", "supersede:test-runner")
    text = run("show", "test-runner").out
    labels = text.partition("\n\n")[0].splitlines()[1:]
    assert any("superseded_by" in line for line in labels)
    starts = {len("".join(re.findall(r"^  \S+ +", line))) for line in labels}
    assert len(starts) == 1, labels


def _seconds(stamp: str) -> int:
    return calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))


@pytest.mark.parametrize("line", ["doctor", "doctor verify", "import {} --from mem0"])
def test_progress_is_shown_and_erased(line: str, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work at a terminal says how far it is, and takes that off the screen; a pipe gets nothing of it."""
    monkeypatch.setattr("commonplace.cli.screen._SHOW_AFTER", 0.0)
    monkeypatch.setattr("commonplace.cli.screen._DRAW_EVERY", 0.0)
    words = line.format(SOURCE).split()
    _, text = shown_at(*words)
    bars = re.findall(r"\r\x1b\[K  \[[#.]+\] [\d,]+ of [\d,]+", text)
    assert bars
    assert "\r\x1b[K" in text.rpartition(bars[-1])[2]
    piped = run(*words)
    assert "\x1b" not in piped.out + piped.err and "#" not in piped.err


def test_an_empty_table_has_no_headers(book: Path) -> None:
    """At a terminal, a list without rows is a remark, and no line of headers stands above it."""
    _, text = shown_at("list", "--tag", "no-such-tag")
    assert without_colour(text) == "Nothing found.\n"
