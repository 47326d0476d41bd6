"""One command: its words, options and patterns, and what it prints while it runs.

Quoting works as in a shell; whatever would start, join or redirect processes is refused. Outside quotes a backslash
takes the next character as it is; single quotes take everything; in double quotes a backslash escapes `"`, `\\`, `$`, a
backtick and a line end. There are no variables, file name patterns or comments: `$HOME`, `*.md` and `#tag` are text.
Messages have the form of the GNU tools' (`cat: x: No such file or directory`), without any path of the machine.

Patterns of grep, find and search_memory are run by RE2: linear time, bounded memory, nothing on stderr. grep takes RE2
syntax. Without -E it reads the basic form instead, in which `( ) { } | + ?` are text and are operators after a
backslash. Where grep would mean something that RE2 cannot do, the pattern is refused by name: back-references, and
`\\<` with its relatives. grep and find match bytes, as the GNU tools do with LC_ALL=C, so a line that is not valid
UTF-8 is searched like any other.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, cast

from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, Unreadable
from commonplace.model.lazy import lazy
from commonplace.shell.view_reader import LimitReached, PathItem, ViewReader
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


_REFUSED = "which is not done here: one command at a time, reading only. In quotes it is text"
MAX_PATTERN = 2_000  # characters of one pattern
_SYMBOL = lazy(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\\{[0-9]*,?[0-9]*\\\}"  # how often, in the basic form
    r"|\\."
    r"|\[\^?+\]?+(?:\[:\^?[a-z]*:\]|\\.|[^\]\\])*\]"
    r"|.",
    re.DOTALL,
)
_GLOB_SYMBOL = lazy(r"\[[!^]?+\]?+(?:\[:[a-z]+:\]|\\.|[^\]\\])*\]|\\.|.", re.DOTALL)
_WITHIN_LINE = lazy(r"\\[Az]|\(\?")  # what may mean something else in a whole file than in one of its lines
_NO_WORD = "[^0-9A-Za-z_]"
_REPETITIONS = tuple("*+?{")
Pattern = re.Pattern[bytes]
"""A compiled pattern over bytes: RE2's patterns have the methods of re's."""


class CommandError(Exception):
    """Why a command cannot do what its words ask, as the GNU tools say it."""


def split_words(line: str) -> list[str]:
    """Return the words of one command line. Raises CommandError."""
    line = line.lstrip(" \t\r\n")
    if len(line) > MAX_COMMAND:
        raise CommandError(f"the command is longer than {MAX_COMMAND:,} characters")
    if "\0" in line:
        raise CommandError("the command has a NUL character in it")
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        raise CommandError("the command is not valid Unicode text") from None
    words: list[str] = []
    word: str | None = None  # None between words; "" is the word ''
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            reason = _UNFINISHED.get(line[at]) or f"{_OPERATORS[line[at]]}, {_REFUSED}"
            raise CommandError(reason)
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
            letters = iter(word[1:])
            for letter in letters:
                if letter in valued:
                    value = "".join(letters)
                    if not value and not rest:
                        raise _refuse_option(f"option requires an argument -- '{letter}'")
                    given[letter] = value or rest.pop(0)
                elif letter in flags:
                    given[letter] = ""
                else:
                    raise _refuse_option(f"invalid option -- '{letter}'")
    return given, words


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
        most = self.reader.max_answer
        room = most - len(self.out)
        self.out += data[:room]
        if len(data) > room:
            raise LimitReached(
                f"Output was cut at {most:,} bytes: narrow it with head, tail or grep, or name fewer files."
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

    def find_all(
        self, words: Iterable[str], prefix: str = "", *, always: bool = True, status: int = 1
    ) -> Iterator[PathItem]:
        """Yield the files and folders that words name, and report each word that names none; `always` quotes it."""
        for word in words:
            try:
                item = self.find(word)
            except CommandError as error:
                self.fail(f"{prefix}{quote(word, always=always)}: {error}", status)
                continue
            yield item

    def read_all(self, words: Sequence[str]) -> Iterator[tuple[str, bytes, str]]:
        """Yield each word, the bytes of the file that it names, and why these cannot be read: empty if they can."""
        if not words:
            self.fail(NO_INPUT)
        for word in words:
            try:
                if word == "-":
                    raise CommandError(NO_INPUT)
                item = self.find(word)
                if item.stat.kind is FileKind.FOLDER:
                    raise CommandError(IS_FOLDER)
                yield word, self.read_path(item.path), ""
            except CommandError as error:
                yield word, b"", str(error)

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


class LinePattern(NamedTuple):
    """A pattern of grep: for one line, and for a whole file to skip it when none of its lines can match."""

    line: Pattern
    file: Pattern | None  # None where the pattern cannot be tried on a whole file


def compile_line_pattern(pattern: str, options: Container[str]) -> LinePattern:
    """Compile a pattern of grep; each of its lines is an alternative. Raises CommandError with the reason.

    `options` are grep's: F fixed text, E extended form, i any case, w whole words.
    """
    check_length(pattern)
    lines = pattern.split("\n")
    parts = [re.escape(line) if "F" in options else translate(line, is_basic="E" not in options) for line in lines]
    for part in parts:
        compile_re2(part)  # each alone: joined, the parenthesis of one could close that of another
    text = "|".join(f"(?:{part})" for part in parts)
    if "w" in options:
        text = f"(?:^|{_NO_WORD})(?:{text})(?:{_NO_WORD}|$)"
    if "i" in options:
        text = f"(?i){text}"
    return LinePattern(compile_re2(text), None if _WITHIN_LINE.search(pattern) else compile_re2(f"(?m){text}"))


def translate(pattern: str, *, is_basic: bool) -> str:
    """Return one line of a grep pattern in RE2 syntax. Raises CommandError for what only grep understands."""
    symbols = _SYMBOL.findall(pattern)
    pieces: list[str] = []
    is_start = True  # nothing that can be repeated came yet: here, the basic form takes `*` as text
    for symbol, following in zip_longest(symbols, symbols[1:], fillvalue=""):
        _check_symbol(symbol)
        piece = symbol
        if symbol.startswith("\\Q"):
            piece = re.escape(symbol[2:].removesuffix("\\E"))
        elif is_basic:
            previous = pieces[-1] if pieces else ""
            piece = _translate_basic(symbol, previous, following, is_start=is_start)
        is_start = piece in ("(", "|", "^") or (is_start and piece in ("\\b", "\\B"))
        pieces.append(piece)
    return "".join(pieces)


def compile_glob(pattern: str) -> Pattern:
    """Compile a pattern for whole file names: `*`, `?`, `[...]`. Raises CommandError with the reason."""
    check_length(pattern)
    pieces = ["(?s)"]
    for symbol in _GLOB_SYMBOL.findall(pattern):
        if symbol in ("*", "?"):
            pieces.append(".*" if symbol == "*" else ".")
        elif symbol[0] == "[" and len(symbol) > 1:
            inner = f"^{symbol[2:]}" if symbol[1] == "!" else symbol[1:]
            pieces.append("[" + re.sub(r"\\(\w)", r"\1", inner))  # in RE2, \d would be any digit
        else:
            pieces.append(re.escape(symbol[-1]))
    return compile_re2("".join(pieces))


def compile_re2(pattern: str, *, is_utf8: bool = False) -> Pattern:
    """Compile RE2 syntax that matches bytes, or with `is_utf8` characters. Raises CommandError with the reason."""
    import re2  # noqa: PLC0415 - 10 ms that most commands do without

    settings = re2.Options()
    settings.log_errors = False
    settings.never_capture = True
    if not is_utf8:
        settings.encoding = re2.Options.Encoding.LATIN1
    try:
        return cast("Pattern", re2.compile(pattern.encode("utf-8", "backslashreplace"), settings))
    except re2.error as error:
        reason = error.args[0]
        words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise CommandError(f"the pattern cannot be used: {words[:200]}") from None


def check_length(pattern: str) -> None:
    """Raise CommandError for a pattern that is longer than is allowed."""
    if len(pattern) > MAX_PATTERN:
        raise CommandError(f"the pattern is longer than {MAX_PATTERN:,} characters")


def _check_symbol(symbol: str) -> None:
    """Raise CommandError for a symbol that is incomplete, or that RE2 would read as something else than grep does."""
    if symbol == "\\":
        raise CommandError("Trailing backslash")
    if symbol == "[":
        raise CommandError("Unmatched [, [^, [:, [., or [=")
    if symbol.startswith("[:") and symbol.endswith(":]"):
        raise CommandError("character class syntax is [[:space:]], not [:space:]")
    if symbol[0] == "\\" and symbol[1] in "123456789":
        raise CommandError(f"back-references are not understood here ({symbol}): patterns run in linear time")
    if symbol in ("\\<", "\\>", "\\`", "\\'"):
        raise CommandError(f"{symbol} is not understood here: use \\b, ^ or $, or grep -w")


def _translate_basic(symbol: str, previous: str, following: str, *, is_start: bool) -> str:
    """Return a symbol of the basic form in RE2 syntax, given the piece before it and the symbol after it."""
    if symbol[0] == "\\" and symbol[1] in "(){}|+?":
        piece = symbol.replace("\\", "").replace("{,", "{0,")
        if piece == "{" or (piece[0] == "{" and not piece[1].isdigit()):
            raise CommandError("Invalid content of \\{\\}")
    elif symbol in ("(", ")", "{", "}", "|", "+", "?"):
        return f"\\{symbol}"
    elif symbol == "^" and previous not in ("", "(", "|"):
        return "\\^"
    elif symbol == "$" and following not in ("", "\\)", "\\|"):
        return "\\$"
    else:
        piece = symbol
    if not piece.startswith(_REPETITIONS):
        return piece
    if is_start and piece[0] == "{":
        raise CommandError("Invalid preceding regular expression")
    if previous.startswith(_REPETITIONS):
        raise CommandError(f"{symbol} after another repetition is not understood here: put the first in \\( \\)")
    return f"\\{piece}" if is_start else piece
