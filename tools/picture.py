"""Draw docs/terminal.svg, the picture of a terminal session in the README: `make picture`.

The commands in COMMANDS are really run, one after the other, in a scratch project with an empty HOME. Each gets a
pseudo-terminal of 92 columns, so that its colours and widths are those of a terminal; so this runs on POSIX systems
only. The picture is plain SVG text, without scripts and external fonts: a dark window, readable on light and dark
pages. What differs from run to run (times, ids, the scratch folder) is replaced, so the same program gives the same
bytes.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

REPOSITORY = Path(__file__).parents[1]
PICTURE = REPOSITORY / "docs" / "terminal.svg"
PROJECT = "shop"
REMOTE = "https://github.com/acme/shop.git"  # so that the project has a name, and its folder the same one every time
COMMANDS = (
    "commonplace init",
    'commonplace store "Money is stored in cents, as integers, never as floats" --key money',
    'commonplace store "The staging database listens on port 6543" --key staging-port',
    'commonplace recall "how are prices saved?"',
    "cat ~/.commonplace/memories/project/shop-*/money.md",
)
COLUMNS = 92
_ROWS = 40
_SECONDS = 60  # that a command may print nothing

_TIME = "2026-03-02T09:30:00Z"
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SHORT_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_STYLE_CODE = re.compile(r"\x1b\[([0-9;]*)m")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")

_CELL_WIDTH, _LINE_HEIGHT, _FONT_SIZE = 8.4, 20, 14
_PADDING, _TITLE_BAR = 20, 36
_PROMPT = "$ "
_BUTTONS = ("#ff5f57", "#febc2e", "#28c840")
_CLASSES = {
    "1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta", "36": "cyan",
}  # fmt: skip
_SHEET = """
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 14px;
  fill: #d6dae0; white-space: pre; }
.window { fill: #15191f; stroke: #454c56; }
.prompt { fill: #8ed081; }
.typed, .bold { font-weight: bold; }
.typed { fill: #ffffff; }
.dim { fill: #8b949e; }
.red { fill: #ff7b72; }
.green { fill: #8ed081; }
.yellow { fill: #e3b341; }
.blue { fill: #79b8ff; }
.magenta { fill: #d2a8ff; }
.cyan { fill: #76d9e6; }
.cursor { fill: #d6dae0; animation: blink 1.2s steps(1) infinite; }
@keyframes blink { 50% { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { .cursor { animation: none; } }
"""


class Run(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: str  # the classes of the style sheet, with spaces between them


Line = list[Run]


class Step(NamedTuple):
    """A command as it is typed, and what it printed, with escape codes and "\\n" at line ends."""

    command: str
    output: str


def record_session(commands: Sequence[str] = COMMANDS) -> list[Step]:
    """Run the commands in a scratch project and return each with its output, without what differs between runs.

    Raises RuntimeError if a command fails or prints what the picture cannot show.
    """
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        home, project = scratch / "home", scratch / "home" / PROJECT
        project.mkdir(parents=True)
        environment = _make_environment(scratch, home)
        for words in (["init", "--quiet"], ["remote", "add", "origin", REMOTE]):
            subprocess.run(["git", *words], cwd=project, env=environment, check=True)  # noqa: S603, S607
        outputs = [_run_in_terminal(command, project, environment) for command in commands]
        known_ids: dict[str, str] = {}
        return [
            Step(command, _replace_changing(output, str(home), known_ids))
            for command, output in zip(commands, outputs, strict=True)
        ]


def _make_environment(scratch: Path, home: Path) -> dict[str, str]:
    """Return the environment of the commands, in which `commonplace` is the program of this repository."""
    programs = scratch / "bin"
    programs.mkdir()
    program = programs / "commonplace"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonplace "$@"\n', "utf-8")
    program.chmod(0o755)
    return {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONPATH": str(REPOSITORY / "src"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def _run_in_terminal(command: str, folder: Path, environment: dict[str, str]) -> str:
    """Return what a shell command prints to a terminal; raise RuntimeError if it fails."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (_ROWS, COLUMNS))
    with subprocess.Popen(  # noqa: S602 - the commands are our own
        command, shell=True, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            output = b"".join(_read_terminal(ours))
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            raise RuntimeError(f"`{command}` waits for something") from None
        finally:
            os.close(ours)
    if process.returncode:
        raise RuntimeError(f"`{command}` ended with status {process.returncode}: {output.decode()}")
    return output.decode().replace("\r\n", "\n")


def _read_terminal(terminal: int) -> Iterator[bytes]:
    """Yield what is printed to a terminal until its last program has ended; raise TimeoutError if it hangs."""
    while True:
        if not select.select([terminal], [], [], _SECONDS)[0]:
            raise TimeoutError
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # how Linux reports that the other end is closed
            return
        if not data:
            return
        yield data


def _replace_changing(output: str, home: str, known_ids: dict[str, str]) -> str:
    """Return an output with fixed times and ids, and with `~` for the home folder."""

    def replace_id(match: re.Match[str]) -> str:
        fixed = f"0195562d-6e40-7000-8000-{len(known_ids) + 1:012d}"
        return known_ids.setdefault(match.group(), fixed)

    output = _ID.sub(replace_id, output.replace(home, "~"))
    output = _TIMESTAMP.sub(_TIME, output)
    return _SHORT_TIME.sub(_TIME[:16].replace("T", " "), output)


def read_lines(output: str) -> list[Line]:
    """Return the lines of an output in styled runs; raise RuntimeError for what the picture cannot show."""
    lines: list[Line] = [[]]
    style = ""
    for place, part in enumerate(_STYLE_CODE.split(output)):
        if place % 2:  # the codes between two texts
            codes = [code for code in part.split(";") if code not in ("", "0")]
            if unknown := [code for code in codes if code not in _CLASSES]:
                raise RuntimeError(f"the style codes {', '.join(unknown)} have no class in the style sheet")
            is_reset = part in ("", "0") or part.startswith("0;")
            style = " ".join([*([] if is_reset else style.split()), *(_CLASSES[code] for code in codes)])
            continue
        if _CONTROL.search(part):
            raise RuntimeError(f"a control character is in {part!r}")
        first, *others = part.split("\n")
        lines[-1].append(Run(first, style))
        lines += [[Run(text, style)] for text in others]
    return lines[:-1] if not any(run.text for run in lines[-1]) else lines


def wrap_line(line: Line, width: int) -> Iterator[Line]:
    """Yield a line as a terminal shows it: cut where it is full."""
    row: Line = []
    room = width
    for run in line:
        text = run.text
        while len(text) > room:
            yield [*row, Run(text[:room], run.style)]
            row, text, room = [], text[room:], width
        row.append(Run(text, run.style))
        room -= len(text)
    yield row


def draw(steps: Sequence[Step]) -> str:
    """Return the picture of a session, with a prompt that waits at its end."""
    rows: list[Line] = []
    for step in steps:
        rows += wrap_line([Run(_PROMPT, "prompt"), Run(step.command, "typed")], COLUMNS)
        for line in read_lines(step.output):
            rows += wrap_line(line, COLUMNS)
        rows.append([])
    width = round(COLUMNS * _CELL_WIDTH + 2 * _PADDING)
    height = _TITLE_BAR + (len(rows) + 1) * _LINE_HEIGHT + 2 * _PADDING - _LINE_HEIGHT // 2
    first = _TITLE_BAR + _PADDING + _FONT_SIZE
    last = first + len(rows) * _LINE_HEIGHT
    texts = [text for at, row in enumerate(rows) for text in _draw_row(row, first + at * _LINE_HEIGHT)]
    cursor_left = _PADDING + len(_PROMPT) * _CELL_WIDTH
    plain = "\n".join("".join(run.text for run in row) for row in rows)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img" aria-labelledby="title session">',
            '<title id="title">Commonplace in a terminal: memories are stored, found again and shown as a file</title>',
            f'<desc id="session">{escape(plain.strip())}</desc>',
            f"<style>{_SHEET}</style>",
            f'<rect class="window" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>',
            f'<path d="M1 {_TITLE_BAR}.5h{width - 2}" stroke="#2b313a"/>',
            *(f'<circle cx="{22 + 20 * at}" cy="18" r="6" fill="{colour}"/>' for at, colour in enumerate(_BUTTONS)),
            f'<text class="dim" x="{width / 2:g}" y="23" text-anchor="middle">~/{PROJECT}</text>',
            *texts,
            *_draw_row([Run(_PROMPT, "prompt")], last),
            f'<rect class="cursor" x="{cursor_left:g}" y="{last - _FONT_SIZE + 1}" width="{_CELL_WIDTH}" height="17"/>',
            "</svg>\n",
        ]
    )


def _draw_row(row: Line, baseline: int) -> Iterator[str]:
    """Yield the text elements of one row.

    Each is stretched to its columns: fonts differ in width, and the columns of a table must not.
    """
    column = 0
    for run in row:
        text = run.text.strip(" ")
        if text:
            left = _PADDING + (column + len(run.text) - len(run.text.lstrip(" "))) * _CELL_WIDTH
            style = f' class="{run.style}"' if run.style else ""
            yield (
                f'<text{style} x="{left:.1f}" y="{baseline}" textLength="{len(text) * _CELL_WIDTH:.1f}">'
                f"{escape(text)}</text>"
            )
        column += len(run.text)


def main(words: Sequence[str] | None = None) -> None:
    """Draw the session into the file that is named, or into docs/terminal.svg."""
    parser = argparse.ArgumentParser(description="Draw the terminal session of the README.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, help="the picture to write")
    file: Path = parser.parse_args(words).file
    if shutil.which("git") is None:
        parser.error("git is needed: the scratch project is a repository")
    file.write_text(draw(record_session()), "utf-8", newline="\n")
    print(f"Wrote {file}.")


if __name__ == "__main__":
    main()
