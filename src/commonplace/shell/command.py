"""One command: its words and options, and what it prints while it runs.

Quoting works as in a shell; whatever would start, join or redirect processes is refused. Outside quotes a backslash
takes the next character as it is; single quotes take everything; in double quotes a backslash escapes `"`, `\\`, `$`, a
backtick and a line end. There are no variables or comments: `$HOME` and `#tag` are text. Words that name files may be
patterns (`*.md`), which become the names that match; a quoted one is text.
Messages have the form of the GNU tools' (`cat: x: No such file or directory`), without any path of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Self

from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, TooLarge, Unreadable
from commonplace.model.lazy import lazy
from commonplace.shell.patterns import compile_glob
from commonplace.shell.view_reader import CommandError, LimitReached, PathItem, ViewReader
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
_WILDCARD = lazy(r"^(?:\\.|[^\\*?\[])*[*?\[]", re.DOTALL)
_IN_PATTERN = lazy(r"[]\\*?[!^-]")
_ESCAPED = lazy(r"\\(.)", re.DOTALL)
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


_REFUSED = "which this shell does not do: it runs one read-only command at a time. In quotes it is text"


class Word(str):
    """A word of a command line, which remembers whether it is a pattern of file names."""

    __slots__ = ("pattern",)
    pattern: str  # as the word, with a backslash before what was quoted; empty for a word that is no pattern

    @classmethod
    def of(cls, text: str, pattern: str) -> Self:
        """Return a word with its pattern, if that has a wildcard outside quotes."""
        word = cls(text)
        word.pattern = pattern if _WILDCARD.search(pattern) else ""
        return word


def split_words(line: str) -> list[str]:
    """Return the words of one command line, those that may be patterns as `Word`. Raises CommandError."""
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
    pattern = ""  # the word so far, with a backslash before special characters that were quoted
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
            words += [] if word is None else [Word.of(word, pattern)]
            word, pattern = None, ""
        elif kind != "escaped" or text != "\n":  # a line end after a backslash is nothing at all
            text = _ESCAPE_IN_DOUBLE.sub(r"\1", text) if kind == "double" else text
            word = (word or "") + text
            pattern += text if kind == "plain" else _IN_PATTERN.sub(r"\\\g<0>", text)
    return words if word is None else [*words, Word.of(word, pattern)]


def parse_options(
    args: Sequence[str],
    flags: str,
    valued: str = "",
    *,
    long: Mapping[str, str] = MappingProxyType({}),
    repeatable: Container[str] = (),
    takes_number: bool = False,
) -> tuple[dict[str, str], list[str]]:
    """Return the options by letter, each with its value or "", and the other words. Raises CommandError.

    As with getopt, options may be joined (`-rn`, `-A3`) and stand anywhere before `--`. `valued` lists the letters that
    take a value, `long` the letter of each long option; one with a name instead takes a value. The values of a
    `repeatable` option are joined by line ends; of another the last one counts, and is the last in the answer, too.
    With `takes_number`, `-5` is an option, under "number".
    """
    given: dict[str, str] = {}
    words: list[str] = []
    rest = list(args)

    def put(name: str, value: str) -> None:
        earlier = given.pop(name, None)
        given[name] = f"{earlier}\n{value}" if name in repeatable and earlier is not None else value

    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word == "-" or not word.startswith("-"):
            words.append(word)
        elif takes_number and word[1:].isdigit() and word.isascii():
            put("number", word[1:])
        elif word.startswith("--"):
            put(*_parse_long_option(word, rest, valued, long))
        else:
            letters = iter(word[1:])
            for letter in letters:
                if letter in valued:
                    value = "".join(letters)
                    if not value and not rest:
                        raise _refuse_option(f"option requires an argument -- '{letter}'")
                    put(letter, value or rest.pop(0))
                elif letter in flags:
                    put(letter, "")
                else:
                    raise _refuse_option(f"invalid option -- '{letter}'")
    return given, words


def _parse_long_option(word: str, rest: list[str], valued: str, long: Mapping[str, str]) -> tuple[str, str]:
    """Return the letter or name of a long option and its value, which may be the first of the other words."""
    name, equals, value = word.partition("=")
    letter = long.get(name[2:])
    if letter is None:
        raise _refuse_option(f"unrecognized option '{word}'")
    if letter not in valued and len(letter) == 1:
        if equals:
            raise _refuse_option(f"option '{name}' doesn't allow an argument")
        return letter, ""
    if not equals and not rest:
        raise _refuse_option(f"option '{name}' requires an argument")
    return letter, value if equals else rest.pop(0)


def _refuse_option(message: str) -> CommandError:
    return CommandError(f"{message}\nTry 'help' for what there is.")


class CommandRun:
    """A command while it runs: its output, its messages, its status, and the files that its words name."""

    def __init__(self, reader: ViewReader, cwd: BookPath, name: str) -> None:
        self.reader, self.cwd, self.name = reader, cwd, name
        self.out, self.err = bytearray(), bytearray()
        self.status = 0
        self.cut = ""  # what was left out, and how to go on; empty for a whole answer

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
        if len(self.err) + len(data) > MAX_ERROR_BYTES:
            self.cut = self.cut or f"Messages were cut at {MAX_ERROR_BYTES:,} bytes: name fewer files."
        self.err += data[: MAX_ERROR_BYTES - len(self.err)]

    def note_cut(self, advice: str) -> None:
        """Say that the answer is not whole, and how to go on."""
        self.cut = self.cut or advice
        self.write_message(advice)

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
            if "*" not in word and "?" not in word:
                raise CommandError(describe_error(error)) from None
            above = re.split(r"[*?]", word)[0].rpartition("/")[0]  # no name has these: a pattern that matched nothing
            is_file = above and self._stat_kind(above) is FileKind.FILE
            raise CommandError(NOT_FOLDER if is_file else NOT_FOUND) from None
        if word.rsplit("/", 1)[-1] in ("", ".") and stat.kind is not FileKind.FOLDER:
            raise CommandError(NOT_FOLDER)
        return PathItem(word, path, stat)

    def expand(self, words: Iterable[str]) -> list[str]:
        """Return words with each pattern of file names replaced by the names that match; by itself if none does."""
        return [name for word in words for name in (self._match(word) or [word])]

    def _match(self, word: str) -> list[str]:
        if not isinstance(word, Word) or not word.pattern:
            return []
        found = ["/"] if word.pattern.startswith("/") else [""]
        for level in filter(None, word.pattern.split("/")):
            found = [name for start in found for name in self._match_level(start, level)]
        if word.endswith("/"):
            found = [f"{name}/" for name in found if self._stat_kind(name) is FileKind.FOLDER]
        return sorted(name for name in found if self._stat_kind(name) is not None)

    def _match_level(self, start: str, level: str) -> list[str]:
        """Return the paths one level below a folder that match this part of a pattern."""
        above = f"{start}/" if start.strip("/") else start
        if not _WILDCARD.search(level):
            return [above + _ESCAPED.sub(r"\1", level)]
        try:
            pattern = compile_glob(level)
            names = [item.name for item in self.reader.list_folder(resolve(start, self.cwd))]
        except (CommonplaceError, CommandError):
            return []
        shown = names if level.startswith((".", "\\.")) else [name for name in names if not name.startswith(".")]
        return [above + name for name in shown if pattern.fullmatch(name.encode())]

    def _stat_kind(self, name: str) -> FileKind | None:
        try:
            stat = self.reader.stat(resolve(name, self.cwd))
        except CommonplaceError:
            return None
        return stat.kind if stat is not None else None

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
    if isinstance(error, TooLarge):
        return f"File too large: {error.message.rpartition(' has ')[2].rstrip('.')}"  # the caller names the file
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
