"""Find text that installs or runs the distribution `commonplace`, which on PyPI is another project's package.

Ours is `commonplace-memory`; `commonplace` is right as an import, as a command and as the name of an entry, and wrong
wherever an installer looks a package up by it. tests/docs/test_install_name.py scans the repository with this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# The bare name with optional extras. `commonplace-memory`, `commonplace-hook` and `commonplace.hooks` are other words.
_BARE: Final = r"commonplace(?:\[[^\]\n]*\])?(?![\w-]|[./\\]\w)"
# What separates the words of one command: blanks, or the punctuation of a list in JSON, Python or JavaScript.
_GAP: Final = r"""(?:["']\s*,\s*(?:["']args["']\s*:\s*)?\[?\s*["']|[ \t]+["']?|\s*\\\n\s*)"""
_WORD: Final = r"""[^\s"'`;|&,()]+"""
_START: Final = r"(?<![\w-])"
_INSTALL: Final = rf"(?:install|add|download|wheel|inject|upgrade)(?:{_GAP}{_WORD})*?"
_OPTION: Final = rf"{_GAP}(?:(?:-p|--python|--index|--index-url){_GAP}{_WORD}|-(?!-from|-spec|-package){_WORD})"
_PATTERNS: Final = (
    rf"{_START}(?:pip[\d.]*x?|uv|poetry|pdm|conda|mamba|pixi)(?:{_GAP}(?:pip|tool))?{_GAP}{_INSTALL}{_GAP}{_BARE}",
    rf"{_START}(?:uvx|npx|bunx|pnpx|pipx{_GAP}run|uv{_GAP}tool{_GAP}run)(?:\.exe|\.cmd)?(?:{_OPTION})*{_GAP}{_BARE}",
    rf"""--(?:from|with|spec|package)(?:=["']?|{_GAP}){_BARE}""",
    r"(?<![\w./@-])commonplace(?:\[[\w, -]+\]|\s*(?:[=~!<>]=|[<>])\s*\d)",  # a requirement: extras, a version
    r"""(?:dependencies|requires)["']?\s*[=:]\s*\[[^\]]*["']commonplace["']""",
    r'"identifier"\s*:\s*"commonplace"',  # server.json
)
_SOURCE: Final = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_REQUIREMENT: Final = re.compile(r"^commonplace\s*(?:$|[;#@\\])", re.M)


def find_bare_sources(text: str, *, is_requirements: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of everything that takes `commonplace` for a distribution.

    With `is_requirements` each line of the text is a requirement, so that the name alone is one, too.
    """
    for match in _SOURCE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group()
    for match in _REQUIREMENT.finditer(text) if is_requirements else ():
        yield text.count("\n", 0, match.start()) + 1, match.group()
