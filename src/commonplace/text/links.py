"""Wikilinks in the text of a memory: `[[key]]`, `[[key#heading|shown]]`, as Obsidian writes them."""

from __future__ import annotations

import re

from commonplace.model.patterns import lazy

_WIKILINK = lazy(r"(?<!\\)\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
# A block of code that is never closed reaches to the end, as Markdown says.
_CODE = lazy(r"^(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*+(?:\n.*?^\1[^\n]*$|.*)|`[^`\n]+`", re.M | re.S)


def wikilinks(text: str) -> tuple[str, ...]:
    """The targets that the text links to, each once, in order. What stands in code is not a link."""
    prose = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    found = (match.group(1).strip().removesuffix(".md") for match in _WIKILINK.finditer(prose))
    return tuple(dict.fromkeys(target for target in found if target))


def wikilink(target: str) -> str:
    return f"[[{target}]]"
