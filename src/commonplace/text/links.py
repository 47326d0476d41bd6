"""Find wikilinks in the text of a memory, and read and write the generated region of an index page.

Links are `[[key]]` and `[[key#heading|shown]]`, as Obsidian writes them. People may write in an index page: only the
text between the two marks is generated, the rest is theirs and keeps its bytes.
"""

from __future__ import annotations

import re

from commonplace.model.lazy import lazy

_WIKILINK = lazy(r"(?<!\\)\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
# As in Markdown, a code block that is never closed extends to the end.
_CODE = lazy(r"^(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*+(?:\n.*?^\1[^\n]*$|.*)|`[^`\n]+`", re.M | re.S)


def find_wikilinks(text: str) -> tuple[str, ...]:
    """Return the targets of the links in a text, each once, in order. Code contains no links."""
    prose = _CODE.sub(" ", text) if "`" in text or "~~~" in text else text
    found = (match.group(1).strip().removesuffix(".md") for match in _WIKILINK.finditer(prose))
    return tuple(dict.fromkeys(target for target in found if target))


BEGIN = "<!-- commonplace:begin (generated: write above or below) -->"
END = "<!-- commonplace:end -->"
_BEGIN_HEAD = "<!-- commonplace:begin"


def put_region(page: str, generated: str) -> str:
    """Return the page with a new generated region; a page without one gets it at the end."""
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
    """Return the generated region of a page; None when it has none."""
    found = _find(page)
    if found is None:
        return None
    body = page[found[0] : found[1] - len(END)]
    return body.split("\n", 1)[1] if "\n" in body else ""


def escape_comments(text: str) -> str:
    """Return a line of text that cannot pass for one of our marks, which are comments."""
    return text.replace("<!--", "<\\!--") if "<!--" in text else text


def _find(page: str) -> tuple[int, int] | None:
    """Return start and end of the last region with both marks; text after a begin mark without end is not ours."""
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
