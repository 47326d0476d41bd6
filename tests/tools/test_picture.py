"""The picture of a terminal session: the same bytes every time, well-formed, with every command and its colours."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("termios", reason="the picture is drawn from a POSIX terminal")

from tools import picture
from tools.picture import Run, Step

SVG = "{http://www.w3.org/2000/svg}"


def read_rows(text: str) -> dict[str, str]:
    """Return the text of each row of a picture by its place from the top."""
    rows: dict[str, str] = {}
    for element in ET.fromstring(text).iter(f"{SVG}text"):
        place = element.attrib["y"]
        rows[place] = f"{rows[place]} {element.text}" if place in rows else f"{element.text}"
    return rows


def test_the_picture_is_the_same_every_time(tmp_path: Path) -> None:
    """Two runs, in two scratch folders and at two times, write the same bytes, with nothing of this machine."""
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    picture.main([str(first)])
    picture.main([str(second)])
    drawn = first.read_bytes()
    assert drawn == second.read_bytes()
    assert tempfile.gettempdir().encode() not in drawn and b"\r" not in drawn
    rows = read_rows(drawn.decode())
    assert all(f"$ {command}" in rows.values() for command in picture.COMMANDS)
    assert "Created a book in ~/.commonplace" in rows.values()
    assert 'class="cyan"' in drawn.decode()  # what was printed was printed to a terminal
    recalled = rows[str(int(next(place for place, row in rows.items() if "recall" in row)) + 40)]
    assert recalled == "Money is stored in cents, as integers, never as floats"


def test_text_is_escaped_and_in_its_columns() -> None:
    """Markup in an output is text in the picture; a run has its colour and begins in its own column."""
    drawn = picture.draw([Step("x", "a <b> & \x1b[36m]]>\x1b[0m c\n")])
    texts = [element for element in ET.fromstring(drawn).iter(f"{SVG}text") if element.attrib["y"] == "90"]
    assert [(text.text, text.get("class")) for text in texts] == [("a <b> &", None), ("]]>", "cyan"), ("c", None)]
    width = float(texts[0].attrib["textLength"]) / 7
    assert [round((float(text.attrib["x"]) - 20) / width) for text in texts] == [0, 8, 12]


def test_styles_add_up_until_they_are_reset() -> None:
    """Codes are added to the style before them, over line ends too; an unknown one is an error, and so is a control."""
    assert picture.read_lines("\x1b[1mone \x1b[31mtwo\nthree\x1b[0m four\n") == [
        [Run("", ""), Run("one ", "bold"), Run("two", "bold red")],
        [Run("three", "bold red"), Run(" four", "")],
    ]
    for wrong in ("\x1b[38;5;9mx", "50%\r100%", "\x1b[2Kx"):
        with pytest.raises(RuntimeError):
            picture.read_lines(wrong)


def test_long_lines_are_cut_as_a_terminal_cuts_them() -> None:
    """A line goes on in the next row when it is full; one that just fits does not."""
    assert list(picture.wrap_line([Run("abc", "dim"), Run("defgh", "")], 4)) == [
        [Run("abc", "dim"), Run("d", "")],
        [Run("efgh", "")],
    ]
    assert list(picture.wrap_line([], 4)) == [[]]


def test_a_command_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No picture is drawn of a session in which a command failed, or waited for an answer."""
    with pytest.raises(RuntimeError, match="status 3"):
        picture.record_session(["exit 3"])
    monkeypatch.setattr(picture, "_SECONDS", 0.2)
    with pytest.raises(RuntimeError, match="waits"):
        picture.record_session(["read answer"])
