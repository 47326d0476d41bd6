"""A command line as words. Quoting works as in a shell; what would start, join or redirect processes is refused.

Outside quotes a backslash takes the next character as it is; single quotes take everything; in double quotes a
backslash escapes `"`, `\\`, `$`, a backtick and a line end. There are no variables, no patterns of file names and no
comments: `$HOME`, `*.md` and `#tag` are text, quoted or not.
"""

from __future__ import annotations

from commonplace.shell.limits import MAX_COMMAND

_REFUSED = {
    "|": "`|` joins two commands",
    ">": "`>` writes to a file",
    "<": "`<` reads from a file",
    ";": "`;` joins two commands",
    "&": "`&` joins commands or leaves one running",
    "`": "a backtick runs another command",
    "(": "a parenthesis starts a subshell",
    ")": "a parenthesis starts a subshell",
    "\n": "a line end joins two commands",
}
_ESCAPED_IN_DOUBLE = '"\\$`\n'


class BadLine(Exception):
    """A line that is no command, with the reason in words."""


def words(line: str) -> list[str]:
    """The words of one command; BadLine says what cannot be understood, or is not done here."""
    line = line.lstrip(" \t\r\n")
    if len(line) > MAX_COMMAND:
        raise BadLine(f"the command is longer than {MAX_COMMAND:,} characters")
    if "\0" in line:
        raise BadLine("the command has a NUL character in it")
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        raise BadLine("the command is not valid Unicode text") from None
    return _Lexer(line).words()


class _Lexer:
    def __init__(self, line: str) -> None:
        self._line, self._at = line, 0
        self._words: list[str] = []
        self._word: list[str] | None = None  # None between words; an empty list is the word ''

    def words(self) -> list[str]:
        while self._at < len(self._line):
            self._step(self._line[self._at])
        self._end()
        return self._words

    def _step(self, ch: str) -> None:
        if ch in " \t\r" or (ch == "\n" and not self._line[self._at :].strip(" \t\r\n")):
            self._end()
            self._at += 1
        elif ch == "'":
            self._single()
        elif ch == '"':
            self._double()
        elif ch == "\\":
            self._backslash()
        elif ch in _REFUSED:
            raise _refusal(_REFUSED[ch])
        elif self._line.startswith("$(", self._at):
            raise _refusal("`$(` runs another command")
        else:
            self._put(ch)
            self._at += 1

    def _put(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _end(self) -> None:
        if self._word is not None:
            self._words.append("".join(self._word))
            self._word = None

    def _single(self) -> None:
        close = self._line.find("'", self._at + 1)
        if close < 0:
            raise BadLine("a single quote is not closed")
        self._put(self._line[self._at + 1 : close])
        self._at = close + 1

    def _double(self) -> None:
        self._put("")
        self._at += 1
        while self._at < len(self._line):
            ch = self._line[self._at]
            if ch == '"':
                self._at += 1
                return
            following = self._line[self._at + 1 : self._at + 2]
            if ch == "\\" and following and following in _ESCAPED_IN_DOUBLE:
                self._put("" if following == "\n" else following)
                self._at += 2
            else:
                self._put(ch)
                self._at += 1
        raise BadLine("a double quote is not closed")

    def _backslash(self) -> None:
        following = self._line[self._at + 1 : self._at + 2]
        if not following:
            raise BadLine("there is nothing after the last backslash")
        if following != "\n":
            self._put(following)
        self._at += 2


def _refusal(reason: str) -> BadLine:
    return BadLine(f"{reason}, which is not done here: one command at a time, reading only. In quotes it is text")
