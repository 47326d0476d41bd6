"""The generated region of a page: read and write the lines between two marks, and keep every other byte.

People may write in an index page, and in the git files of a book: only what is between the marks is ours. Hooks load
this module, so it imports almost nothing.
"""

from __future__ import annotations

from collections.abc import Callable

BEGIN = "<!-- commonplace:begin (generated: write above or below) -->"
END = "<!-- commonplace:end -->"
PAGE_MARKS = (BEGIN, END)


def put_region(page: str, generated: str, marks: tuple[str, str] = PAGE_MARKS) -> str:
    """Return the page with a new generated region; a page without one gets it at the end.

    Of several regions, as a merge of two pages leaves them, the last is renewed and the others go.
    """
    gap = "\n" if generated and not generated.endswith("\n") else ""
    region = f"{marks[0]}\n{generated}{gap}{marks[1]}"
    found = _find_region(page, marks)
    if found is None:
        gap = "" if not page or page.endswith("\n\n") else "\n" if page.endswith("\n") else "\n\n"
        return f"{page}{gap}{region}\n"
    start, end = found
    above = page[:start]
    while (other := _find_region(above, marks)) is not None:
        above = above[: other[0]] + above[other[1] :].removeprefix("\r").removeprefix("\n")
    new = above + region + page[end:]
    return page if new == page else new


def get_region(page: str) -> str | None:
    """Return what is generated on a page, of all its regions; None when it has none."""
    bodies, limit = list[str](), len(page)
    while (found := _find_region(page[:limit], PAGE_MARKS)) is not None:
        limit, end = found
        bodies.insert(0, page[limit : end - len(END)].partition("\n")[2])
    return "".join(bodies) if bodies else None


def drop_stray_marks(page: str, is_generated: Callable[[str], bool]) -> str:
    """Return a page without begin marks that have no end, and end marks that have no begin.

    A merge of two pages can leave them, with lines of ours around them: `is_generated` tells those from a person's.
    Whole regions, and a page with no more than one of each mark, stay as they are.
    """
    heads = [mark.partition(" (")[0] for mark in PAGE_MARKS]
    if all(page.count(head) <= 1 for head in heads):
        return page
    done, pending, is_open, is_ended = list[str](), list[str](), False, False
    for line in page.splitlines(keepends=True):
        if line.startswith(heads[0]):
            done += _theirs(pending, is_generated) if is_open else pending
            pending, is_open, is_ended = [line], True, False
        elif line.startswith(heads[1]):
            done += [*pending, line] if is_open else _theirs(pending, is_generated) if is_ended else pending
            pending, is_open, is_ended = [], False, True
        else:
            pending.append(line)
    return "".join([*done, *pending])


def _theirs(lines: list[str], is_generated: Callable[[str], bool]) -> list[str]:
    """Return the lines that a person wrote."""
    return [line for line in lines if not is_generated(line) and not line.startswith(BEGIN.partition(" (")[0])]


def escape_comments(text: str) -> str:
    """Return a line of text that cannot pass for one of our marks, which are comments."""
    return text.replace("<!--", "<\\!--")


def _find_region(page: str, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return start and end of the last region with both marks; text after a begin mark without end is not ours."""
    begin, limit = marks[0].partition(" (")[0], len(page)
    while limit > 0:
        start = page.rfind(f"\n{begin}", 0, limit) + 1
        if start == 0 and not page.startswith(begin, 0, limit):
            return None
        end = page.find(f"\n{marks[1]}", start, limit)
        if end >= 0:
            return start, end + 1 + len(marks[1])
        limit = start
    return None
