"""Wikilinks in the text of a memory, and the generated region of a page.

Links are `[[key]]` and `[[key#heading|shown]]`, as Obsidian writes them. In a page that people may write in we own what
is between the two marks, and they own the rest.
"""

from __future__ import annotations

import re

from commonplace.model.lazy import lazy

_WIKILINK = lazy(r"(?<!\\)\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
# A block of code that is never closed reaches to the end, as Markdown says.
_CODE = lazy(r"^(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*+(?:\n.*?^\1[^\n]*$|.*)|`[^`\n]+`", re.M | re.S)


def find_wikilinks(text: str) -> tuple[str, ...]:
    """The targets that the text links to, each once, in order. What stands in code is not a link."""
    prose = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    found = (match.group(1).strip().removesuffix(".md") for match in _WIKILINK.finditer(prose))
    return tuple(dict.fromkeys(target for target in found if target))


def wikilink(target: str) -> str:
    return f"[[{target}]]"


BEGIN = "<!-- commonplace:begin (generated: write above or below) -->"
END = "<!-- commonplace:end -->"
_BEGIN_HEAD = "<!-- commonplace:begin"


def put_region(page: str, generated: str) -> str:
    """The page with its generated region renewed; a page without one gets it at the end."""
    gap = "\n" if generated and not generated.endswith("\n") else ""
    region = f"{BEGIN}\n{generated}{gap}{END}"
    found = _find(page)
    if found is None:
        gap = "" if not page or page.endswith("\n\n") else "\n" if page.endswith("\n") else "\n\n"
        return f"{page}{gap}{region}\n"
    start, end = found
    if page[start:end] == region:
        return page
    return page[:start] + region + page[end:]


def get_region(page: str) -> str | None:
    """The generated part of a page; None when it has none."""
    found = _find(page)
    if found is None:
        return None
    body = page[found[0] : found[1] - len(END)]
    return body.split("\n", 1)[1] if "\n" in body else ""


def escape_comments(text: str) -> str:
    """One line of somebody's text that cannot pass for a mark of ours."""
    return text.replace("<!--", "<\\!--") if "<!--" in text else text


def _find(page: str) -> tuple[int, int] | None:
    """The last begin mark that has an end mark before the next begin: what follows a mark left alone is not ours."""
    limit = len(page)
    while limit > 0:
        start = page.rfind("\n" + _BEGIN_HEAD, 0, limit) + 1
        if start == 0 and not page.startswith(_BEGIN_HEAD, 0, limit):
            return None
        end = page.find("\n" + END, start, limit)
        if end >= 0:
            return start, end + 1 + len(END)
        limit = start
    return None
