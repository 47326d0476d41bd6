"""Options of the commands, as getopt reads them: `-rn`, `-A3`, `-A 3`, anywhere among the words, up to `--`."""

from __future__ import annotations

from collections.abc import Sequence


class BadOption(Exception):
    """An option that a command does not have, or that lacks its value."""


class Options:
    """`given`: the letter of each option, with its value or ""; a bare number is under "number"."""

    def __init__(self, given: dict[str, str], words: list[str]) -> None:
        self.given, self.words = given, words

    def __contains__(self, letter: str) -> bool:
        return letter in self.given


def options(args: Sequence[str], flags: str, valued: str = "", *, number: bool = False) -> Options:
    """The options and the other words. `valued` options take a value; with `number`, -5 is an option, too."""
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
        elif number and word[1:].isdigit() and word.isascii():
            given["number"] = word[1:]
        elif word.startswith("--"):
            raise BadOption(f"unrecognized option '{word}'")
        else:
            _cluster(word[1:], flags, valued, given, rest)
    return Options(given, words)


def _cluster(letters: str, flags: str, valued: str, given: dict[str, str], rest: list[str]) -> None:
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :]
            if not value:
                if not rest:
                    raise BadOption(f"option requires an argument -- '{letter}'")
                value = rest.pop(0)
            given[letter] = value
            return
        if letter not in flags:
            raise BadOption(f"invalid option -- '{letter}'")
        given[letter] = ""
