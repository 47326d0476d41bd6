"""One command while it runs: what it has printed, what went wrong, and the files its words name.

Messages have the shape of the GNU tools' (`cat: x: No such file or directory`). None has a path of the machine in it.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.model.errors import CommonplaceError, LinkRefused, NotFound, Unreadable
from commonplace.shell.limits import MAX_ERROR_BYTES, MAX_READ_BYTES, Enough
from commonplace.shell.shown import Shown
from commonplace.vault.paths import ROOT, BookPath, resolve
from commonplace.vault.port import Kind, Stat

NO_SUCH = "No such file or directory"
IS_FOLDER = "Is a directory"
NO_FOLDER = "Not a directory"
NO_INPUT = "there is no standard input here: name a file"
_SPECIAL = frozenset("!\"$&()*;<=>[^`|?\\' ")


class Trouble(Exception):
    """Why something that was named cannot be used, in the words of the system."""


class Found(NamedTuple):
    path: BookPath
    stat: Stat


class Run:
    def __init__(self, shown: Shown, cwd: BookPath, name: str) -> None:
        self.shown, self.cwd, self.name = shown, cwd, name
        self.out, self.err = bytearray(), bytearray()
        self.status = 0

    def write(self, data: bytes) -> None:
        """Print. What is more than a command may print ends it."""
        room = MAX_READ_BYTES - len(self.out)
        self.out += data[:room]
        if len(data) > room:
            raise Enough(
                f"Output was cut at {MAX_READ_BYTES:,} bytes: narrow it with head, tail or grep, or name fewer files."
            )

    def line(self, text: str) -> None:
        self.write(f"{text}\n".encode("utf-8", "backslashreplace"))

    def fail(self, said: str, status: int = 1) -> None:
        """Say what went wrong, and go on."""
        self.status = max(self.status, status)
        self.say(f"{self.name}: {said}\n")

    def say(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.err += data[: MAX_ERROR_BYTES - len(self.err)]

    def find(self, word: str) -> Found:
        """What a word names; Trouble says why it names nothing."""
        if not word:
            raise Trouble(NO_SUCH)
        try:
            path = resolve(word, self.cwd)
            stat = self.shown.look(path)
            if stat is None:
                raise Trouble(NO_FOLDER if self._below_a_file(path) else NO_SUCH)
        except CommonplaceError as error:
            raise Trouble(reason(error)) from None
        if word.rsplit("/", 1)[-1] in ("", ".") and stat.kind is not Kind.FOLDER:
            raise Trouble(NO_FOLDER)
        return Found(path, stat)

    def read(self, word: str) -> bytes:
        """The bytes of the file that a word names."""
        if word == "-":
            raise Trouble(NO_INPUT)
        found = self.find(word)
        if found.stat.kind is Kind.FOLDER:
            raise Trouble(IS_FOLDER)
        return self.contents(found.path)

    def contents(self, path: BookPath) -> bytes:
        try:
            return self.shown.read(path)
        except CommonplaceError as error:
            raise Trouble(reason(error)) from None

    def _below_a_file(self, path: BookPath) -> bool:
        while path != ROOT:
            path = path.parent
            stat = self.shown.look(path)
            if stat is not None:
                return stat.kind is not Kind.FOLDER
        return False


def reason(error: CommonplaceError) -> str:
    """An error of ours as the tools would say it."""
    if isinstance(error, NotFound):
        return NO_SUCH
    if isinstance(error, Unreadable):
        return "Permission denied"
    if isinstance(error, LinkRefused):
        return "A link or a special file, which is never opened here"
    return f"{error.message[:1].lower()}{error.message[1:]}".rstrip(".")


def quoted(word: str, *, always: bool = False) -> str:
    """A word in a message: in quotes when a shell would need them, as the GNU tools do."""
    controls = [ch for ch in word if not ch.isprintable()]
    special = not word or bool(_SPECIAL.intersection(word)) or word[0] in "#~" or word in ("{", "}") or controls
    if not special and not always:
        return word
    if "'" in word and not controls and not (_SPECIAL - {"'", " "}).intersection(word):
        return f'"{word}"'
    inner = "".join(f"'$'{_octal(ch)}''" if ch in controls else "'\\''" if ch == "'" else ch for ch in word)
    return f"'{inner}'"


def _octal(ch: str) -> str:
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return known.get(ch) or "".join(f"\\{byte:03o}" for byte in ch.encode("utf-8", "backslashreplace"))
