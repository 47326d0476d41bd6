"""A generated region inside a page that people may write in: we own what is between the marks, they own the rest."""

from __future__ import annotations

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


def neutral(text: str) -> str:
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
