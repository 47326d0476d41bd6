"""One command: its words and options, and what it prints while it runs.

Quoting works as in a shell; whatever would start, join or redirect processes is refused. Outside quotes a backslash
takes the next character as it is; single quotes take everything; in double quotes a backslash escapes `"`, `\\`, `$`, a
backtick and a line end. There are no variables, file name patterns or comments: `$HOME`, `*.md` and `#tag` are text.
Messages have the form of the GNU tools' (`cat: x: No such file or directory`), without any path of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, Unreadable
from commonplace.model.lazy import lazy
from commonplace.shell.view_reader import MAX_READ_BYTES, LimitReached, PathItem, ViewReader
from commonplace.vault.paths import ROOT, BookPath, resolve
from commonplace.vault.port import FileKind

MAX_COMMAND = 10_000  # characters of one command line
MAX_ERROR_BYTES = 8_192  # of messages of one command
NOT_FOUND = "No such file or directory"
IS_FOLDER = "Is a directory"
NOT_FOLDER = "Not a directory"
NO_INPUT = "there is no standard input here: name a file"
_SPECIAL = frozenset("!\"$&()*;<=>[^`|?\\' ")
_TOKEN = lazy(
    r"(?P<space>[ \t\r]+|\n[ \t\r\n]*\Z)"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:\\.|[^"\\])*)"'
    r"|\\(?P<escaped>.)"
    r"|(?P<plain>[^ \t\r\n'\"\\|<>;&`()$]+|\$(?!\())",
    re.DOTALL,
)
_ESCAPE_IN_DOUBLE = lazy(r'\\(?:\n|(["\\$`]))')
_UNFINISHED = {
    "'": "a single quote is not closed",
    '"': "a double quote is not closed",
    "\\": "there is nothing after the last backslash",
}
_OPERATORS = {
    "|": "`|` joins two commands",
    ">": "`>` writes to a file",
    "<": "`<` reads from a file",
    ";": "`;` joins two commands",
    "&": "`&` joins commands or leaves one running",
    "`": "a backtick runs another command",
    "$": "`$(` runs another command",
    "(": "a parenthesis starts a subshell",
    ")": "a parenthesis starts a subshell",
    "\n": "a line end joins two commands",
}


class CommandLineError(Exception):
    """A line that cannot be read as one command; the message says why."""


class CommandError(Exception):
    """Why a command cannot do what its words ask, as the GNU tools say it."""


def split_words(line: str) -> list[str]:
    """Return the words of one command line. Raises CommandLineError."""
    line = line.lstrip(" \t\r\n")
    if len(line) > MAX_COMMAND:
        raise CommandLineError(f"the command is longer than {MAX_COMMAND:,} characters")
    if "\0" in line:
        raise CommandLineError("the command has a NUL character in it")
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        raise CommandLineError("the command is not valid Unicode text") from None
    words: list[str] = []
    word: str | None = None  # None between words; "" is the word ''
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            raise _refuse_character(line[at])
        at = match.end()
        kind = match.lastgroup or ""
        text = match[kind]
        if kind == "space":
            words += [] if word is None else [word]
            word = None
        elif kind != "escaped" or text != "\n":  # a line end after a backslash is nothing at all
            text = _ESCAPE_IN_DOUBLE.sub(r"\1", text) if kind == "double" else text
            word = (word or "") + text
    return words if word is None else [*words, word]


def _refuse_character(character: str) -> CommandLineError:
    if character in _UNFINISHED:
        return CommandLineError(_UNFINISHED[character])
    reason = _OPERATORS[character]
    return CommandLineError(
        f"{reason}, which is not done here: one command at a time, reading only. In quotes it is text"
    )


def parse_options(
    args: Sequence[str], flags: str, valued: str = "", *, takes_number: bool = False
) -> tuple[dict[str, str], list[str]]:
    """Return the options by letter, each with its value or "", and the other words. Raises CommandError.

    As with getopt, options may be joined (`-rn`, `-A3`) and stand anywhere before `--`. `valued` lists the letters that
    take a value. With `takes_number`, `-5` is an option too, under "number".
    """
    given: dict[str, str] = {}
    words: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word == "-" or not word.startswith("-"):
            words.append(word)
        elif takes_number and word[1:].isdigit() and word.isascii():
            given["number"] = word[1:]
        elif word.startswith("--"):
            raise _refuse_option(f"unrecognized option '{word}'")
        else:
            _parse_letters(word[1:], flags, valued, given, rest)
    return given, words


def _parse_letters(letters: str, flags: str, valued: str, given: dict[str, str], rest: list[str]) -> None:
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :]
            if not value and not rest:
                raise _refuse_option(f"option requires an argument -- '{letter}'")
            given[letter] = value or rest.pop(0)
            return
        if letter not in flags:
            raise _refuse_option(f"invalid option -- '{letter}'")
        given[letter] = ""


def _refuse_option(message: str) -> CommandError:
    return CommandError(f"{message}\nTry 'help' for what there is.")


class CommandRun:
    """A command while it runs: its output, its messages, its status, and the files that its words name."""

    def __init__(self, reader: ViewReader, cwd: BookPath, name: str) -> None:
        self.reader, self.cwd, self.name = reader, cwd, name
        self.out, self.err = bytearray(), bytearray()
        self.status = 0

    def write(self, data: bytes) -> None:
        """Print bytes. Raises LimitReached when the command has printed as much as it may."""
        room = MAX_READ_BYTES - len(self.out)
        self.out += data[:room]
        if len(data) > room:
            raise LimitReached(
                f"Output was cut at {MAX_READ_BYTES:,} bytes: narrow it with head, tail or grep, or name fewer files."
            )

    def write_line(self, text: str) -> None:
        """Print a line of text."""
        self.write(f"{text}\n".encode("utf-8", "backslashreplace"))

    def write_message(self, text: str) -> None:
        """Print a message to standard error, up to the limit for messages."""
        data = f"{self.name}: {text}\n".encode("utf-8", "backslashreplace")
        self.err += data[: MAX_ERROR_BYTES - len(self.err)]

    def fail(self, message: str, status: int = 1) -> None:
        """Report an error, raise the status to at least this, and go on."""
        self.status = max(self.status, status)
        self.write_message(message)

    def find(self, word: str) -> PathItem:
        """Return the file or folder that a word names. Raises CommandError."""
        if not word:
            raise CommandError(NOT_FOUND)
        try:
            path = resolve(word, self.cwd)
            stat = self.reader.stat(path)
            if stat is None:
                raise CommandError(NOT_FOLDER if self._is_below_file(path) else NOT_FOUND)
        except CommonplaceError as error:
            raise CommandError(describe_error(error)) from None
        if word.rsplit("/", 1)[-1] in ("", ".") and stat.kind is not FileKind.FOLDER:
            raise CommandError(NOT_FOLDER)
        return PathItem(word, path, stat)

    def read_word(self, word: str) -> bytes:
        """Return the bytes of the file that a word names. Raises CommandError."""
        if word == "-":
            raise CommandError(NO_INPUT)
        item = self.find(word)
        if item.stat.kind is FileKind.FOLDER:
            raise CommandError(IS_FOLDER)
        return self.read_path(item.path)

    def read_path(self, path: BookPath) -> bytes:
        """Return the bytes of a file. Raises CommandError."""
        try:
            return self.reader.read(path)
        except CommonplaceError as error:
            raise CommandError(describe_error(error)) from None

    def _is_below_file(self, path: BookPath) -> bool:
        while path != ROOT:
            path = path.parent
            stat = self.reader.stat(path)
            if stat is not None:
                return stat.kind is not FileKind.FOLDER
        return False


def describe_error(error: CommonplaceError) -> str:
    """Return an error of ours in the words of the GNU tools."""
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, Unreadable):
        return "Permission denied"
    if isinstance(error, LinkRefused):
        return "A link or a special file, which is never opened here"
    return f"{error.message[:1].lower()}{error.message[1:]}".rstrip(".")


def quote(word: str, *, always: bool = False) -> str:
    """Return a word for a message, in quotes where a shell would need them, as the GNU tools print it."""
    controls = [ch for ch in word if not ch.isprintable()]
    special = not word or bool(_SPECIAL.intersection(word)) or word[0] in "#~" or word in ("{", "}") or controls
    if not special and not always:
        return word
    if "'" in word and not controls and not (_SPECIAL - {"'", " "}).intersection(word):
        return f'"{word}"'
    inner = "".join(f"'$'{_escape_control(ch)}''" if ch in controls else "'\\''" if ch == "'" else ch for ch in word)
    return f"'{inner}'"


def _escape_control(ch: str) -> str:
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return known.get(ch) or "".join(f"\\{byte:03o}" for byte in ch.encode("utf-8", "backslashreplace"))
