"""Turn HTML into text: of mails, web pages, and what mammoth makes of a Word file. The readers call `html_to_text`.

It is written here because the time it takes must be linear in the size of what a stranger sent. A parser that builds
the tree of a browser takes minutes for a page of unclosed tags, or of tags in tags: those rules are quadratic. Text
needs no tree, only the elements that are open, and of these at most `_MAX_OPEN` are kept. It never raises.
"""

from __future__ import annotations

import html as html_entities
import re
from typing import NamedTuple

from commonplace.model.lazy import lazy

_MAX_OPEN = 500  # elements in each other; browsers stop near there, too
_MAX_MARGIN = 20  # marks of quotes, or levels of lists, at the start of a line
# A comment, a tag (a quote counts only after `=`), or what begins like one. What is not closed goes on to the end.
_TOKEN = lazy(
    r"""<(?:!--(?:-?>|.*?(?:--!?>|\Z))"""
    r"""|(/?)([a-zA-Z][^\s/>]*)((?:[^"'>=]++|=\s*+(?:"[^"]*"|'[^']*')?|["'])*+)(?:>|\Z)|[!?/][^>]*(?:>|\Z))""",
    re.DOTALL,
)
_ATTRIBUTE = lazy(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_SPACES = lazy(r"[ \t\n\f\r]+")
_LONG_NUMBER = lazy(r"&#(?:\d{8,}|[xX][0-9a-fA-F]{8,});?")  # no character has it
_INVISIBLE = str.maketrans("", "", "\u00ad\u034f\u200b\u200c\u200d\u2060\ufeff")
_NOT_SHOWN = lazy(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|max-height\s*:\s*0(?:px)?\s*(?:[;!]|$))", re.I
)
_NO_MARGIN = lazy(r"(?:^|[;\s])margin\s*:\s*(?:0(?:\.\d+)?[a-z]*\s*){1,4}(?:[;!]|$)", re.I)
_OUTLOOK_LINE = "msonormal"  # the class of each line that was written with Outlook: it has no margin
_AS_WRITTEN = lazy(r"(?:^|[;\s])white-space\s*:\s*(?:pre|break-spaces)", re.I)
_OUTLOOK_HEADER = "divrplyfwdmsg"  # the lines From, Sent, To that Outlook puts above what is answered or forwarded


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = _names("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")
_RAW = _names("iframe noembed noframes script style title xmp")  # what is in them is no HTML, and not shown
_NOTHING = _names("audio canvas datalist object template video xml")  # nothing in them is shown
_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_PARAGRAPHS = _HEADINGS | _names("blockquote dl hr ol p pre table ul")  # with an empty line around
_LINES = _names(
    "address article aside body caption center dd details dialog dir div dt fieldset figcaption figure footer form"
    " header hgroup html legend li main menu nav option section summary tbody td tfoot th thead tr"
)
_BLOCKS = _PARAGRAPHS | _LINES
_LISTS = _names("ul ol menu dir")
_CELLS = _names("td th")
_TABLE = _names("table tbody thead tfoot tr td th caption")
_IN_LISTS = _LISTS | _CELLS | _names("dl table blockquote")
# What an element closes when it begins, and where the search for that ends.
_CLOSES = {
    "li": (frozenset({"li"}), _IN_LISTS),
    "dt": (frozenset({"dt", "dd"}), _IN_LISTS),
    "dd": (frozenset({"dt", "dd"}), _IN_LISTS),
    "option": (frozenset({"option"}), _BLOCKS - {"option"}),
    "td": (_CELLS, frozenset({"table"})),
    "th": (_CELLS, frozenset({"table"})),
    "tr": (_CELLS | {"tr", "caption"}, frozenset({"table"})),
    **dict.fromkeys(("tbody", "thead", "tfoot"), (_TABLE - {"table"}, frozenset({"table"}))),
}
_PARAGRAPH = (frozenset({"p"}), _BLOCKS - {"p"})


class _Attributes(NamedTuple):
    """What matters of the attributes of an element."""

    is_shown: bool = True
    is_as_written: bool = False
    is_outlook_header: bool = False
    is_tight: bool = False  # a paragraph without a margin is a line


class _Element:
    """An element that is open."""

    __slots__ = ("block", "has_list", "has_row", "is_as_written", "is_outlook_header", "is_shown", "name", "quotes")

    def __init__(self, name: str, attributes: _Attributes) -> None:
        self.name = name
        self.block = _name_block(name, attributes)
        self.is_shown = attributes.is_shown and name not in _NOTHING
        self.is_as_written = attributes.is_as_written or name in ("pre", "textarea", "listing")
        self.is_outlook_header = attributes.is_outlook_header
        self.quotes = int(name == "blockquote")
        self.has_list = name in _LISTS
        self.has_row = name == "tr"


def _name_block(name: str, attributes: _Attributes) -> str:
    """Return the element whose empty lines an element has around it."""
    return "div" if name == "p" and attributes.is_tight else name


def html_to_text(html: str, *, is_page: bool = False) -> str:
    """Return what a browser would show, as text: a block is a line, a row has ` | `, a quote `> `, a list `- `.

    `is_page`: it is a page and no mail. Headings have Markdown's `#`, and only the main part is taken, if there is one.
    """
    html = html.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    writer = _Writer(is_page=is_page)
    at, end = 0, len(html)
    while at < end:
        token = _TOKEN.search(html, at)
        if token is None:
            writer.add_text(html[at:])
            break
        if token.start() > at:
            writer.add_text(html[at : token.start()])
        at = token.end()
        closing, name, attributes = token.groups()
        if not name:
            continue
        name = name.lower()
        if closing:
            writer.close(name)
        elif name in _RAW:
            raw_end = re.compile(rf"</{name}(?=[\s/>]|\Z)", re.I).search(html, at)
            at = raw_end.start() if raw_end else end
        else:
            writer.open_tag(name, attributes)
            if name == "pre" and html.startswith("\n", at):
                at += 1
    return writer.finish()


def _read_attributes(text: str) -> _Attributes:
    lower = text.lower()
    if not ("hidden" in lower or "style" in lower or _OUTLOOK_HEADER in lower or _OUTLOOK_LINE in lower):
        return _Attributes()
    is_shown, style, ident, classes = True, "", "", ""
    for match in _ATTRIBUTE.finditer(text):
        name, value = match[1].lower(), match[2] or match[3] or match[4] or ""
        if name == "style":
            style = html_entities.unescape(_LONG_NUMBER.sub("", value)) if "&" in value else value
        elif name == "id":
            ident = value
        elif name == "class":
            classes = value
        elif name == "hidden" or (name == "aria-hidden" and value.lower() == "true"):
            is_shown = False
    is_shown = is_shown and not _NOT_SHOWN.search(style)
    # What was quoted before has its names with x_ before them.
    is_tight = bool(_NO_MARGIN.search(style)) or (_OUTLOOK_LINE in classes.lower() and "margin" not in style.lower())
    is_outlook_header = ident.lower().endswith(_OUTLOOK_HEADER)
    return _Attributes(is_shown, bool(_AS_WRITTEN.search(style)), is_outlook_header, is_tight)


class _Writer:
    """Writes lines, and knows which elements are open. Line ends and spaces are due, and written with the next text."""

    def __init__(self, *, is_page: bool) -> None:
        self._is_page = is_page
        self._lines: list[str] = []
        self._open: list[_Element] = []
        self._names: dict[str, int] = {}  # of the open elements
        self._hidden = self._as_written = self._quotes = 0  # how many of the open elements say so
        self._numbers: list[int | None] = []  # of the open lists: the last number, None where it has none
        self._rows: list[int] = []  # of the open rows: how many lines there were before
        self._parts: list[str] = []  # of the line that is being written
        self._margin, self._depth, self._last_depth = "", 0, 0  # of that line, and the quotes of the one before
        self._marker = ""  # of a list or heading, before the next text
        self._has_space = self._has_cell = self._has_break = False  # what is due before the next text
        self._gap = self._line_gap = (
            0  # empty lines that are due before the next line, and before the one being written
        )

    def open_tag(self, name: str, attributes: str) -> None:
        """Begin an element."""
        if name == "br":
            self._break_line()
            return
        known = _read_attributes(attributes) if attributes else _Attributes()
        if self._is_page:
            known = known._replace(is_tight=False)  # its styles may say more
        if name in _BLOCKS:
            self._close_implied(*_PARAGRAPH)
            if name in _CLOSES:
                self._close_implied(*_CLOSES[name])
            self._begin_block(_name_block(name, known))
        if name in _VOID or len(self._open) >= _MAX_OPEN:
            return
        element = _Element(name, known)
        self._open.append(element)
        self._names[name] = self._names.get(name, 0) + 1
        self._hidden += not element.is_shown
        self._as_written += element.is_as_written
        self._quotes += element.quotes
        if element.has_list:
            self._numbers.append(0 if name == "ol" else None)
        if name == "main" and self._is_page and not self._hidden:
            self._lines.clear()
            self._parts.clear()
        if element.has_row:
            self._flush()
            self._rows.append(len(self._lines))

    def close(self, name: str) -> None:
        """End an element, and those in it that were not ended."""
        if name == "br":
            self._break_line()
        if not self._names.get(name):
            return
        # An end tag reaches no further than its cell, and that of something inline no further than its block.
        ends = frozenset({"table"}) if name in _TABLE else _CELLS if name in _BLOCKS else _BLOCKS
        self._close_implied(frozenset({name}), ends - {name}, is_first=True)

    def add_text(self, text: str) -> None:
        """Add text to the line."""
        if self._hidden:
            return
        if "&" in text:
            text = html_entities.unescape(_LONG_NUMBER.sub("\ufffd", text)).replace("\r", "")
        if self._as_written:
            self._write_lines(text)
            return
        text = _SPACES.sub(" ", text)
        if text.startswith(" "):
            self._has_space = True
        if text.strip(" "):
            self._begin_text()
            self._parts.append(text.strip(" "))
            self._has_space = text.endswith(" ")

    def finish(self) -> str:
        """Return the text."""
        self._flush()
        return "\n".join(self._lines)

    def _close_implied(self, names: frozenset[str], ends: frozenset[str], *, is_first: bool = False) -> None:
        """End the outermost of these elements, or the first, that is open before the search ends."""
        if not any(map(self._names.get, names)):
            return
        found = None
        for at in range(len(self._open) - 1, -1, -1):
            name = self._open[at].name
            if name in names:
                found = at
                if is_first:
                    break
            elif name in ends:
                break
        while found is not None and len(self._open) > found:
            self._end(self._open.pop())

    def _end(self, element: _Element) -> None:
        self._names[element.name] -= 1
        self._hidden -= not element.is_shown
        self._as_written -= element.is_as_written
        self._quotes -= element.quotes
        if element.name == "main" and self._is_page:
            self._hidden += 1  # for good
        if element.has_list:
            self._numbers.pop()
        if element.has_row:
            self._has_cell = False
            if self._rows.pop() == len(self._lines):
                self._gap = 0  # rows of one line stand together, though there may be paragraphs in their cells
        if element.is_outlook_header and self._open:  # all that follows there is the mail that is answered
            self._open[-1].quotes += 1
            self._quotes += 1
        if element.name in _BLOCKS:
            if element.name == "li" or element.name in _HEADINGS:
                self._marker = ""  # there was no text in it
            self._end_block(element.block)

    def _begin_block(self, name: str) -> None:
        if self._hidden:
            return
        self._end_block(name)
        if name in _CELLS and self._parts and self._rows and self._rows[-1] == len(self._lines):
            self._has_cell, self._has_break, self._gap = True, False, 0  # each cell so far is one line
        elif name == "li":
            number = self._numbers[-1] if self._numbers else None
            if number is not None:
                number += 1
                self._numbers[-1] = number
            self._marker = "- " if number is None else f"{number}. "
        elif self._is_page and name in _HEADINGS:
            self._marker = "#" * int(name[1]) + " "

    def _end_block(self, name: str) -> None:
        if self._hidden or self._has_cell:  # at the start of a cell nothing is to be ended
            return
        self._has_break = True
        is_row_begin = self._rows and self._rows[-1] == len(self._lines) and not self._parts
        if name in _PARAGRAPHS and not is_row_begin and not (name in _LISTS and self._numbers):
            self._gap = max(self._gap, 1)

    def _break_line(self) -> None:
        if self._hidden:
            return
        if self._has_break:
            self._flush()
        if self._parts:
            self._flush()
        else:
            self._gap = max(self._gap, 1)

    def _begin_text(self) -> None:
        """Write what is due before a text: the end of the line before, a margin, a space, or the mark of a cell."""
        if self._has_break:
            self._flush()
        if not self._parts:
            self._line_gap, self._gap = self._gap, 0
            self._depth = min(self._quotes, _MAX_MARGIN)
            levels = min(len(self._numbers), _MAX_MARGIN)
            is_item = self._marker != "" and not self._marker.startswith("#")
            self._margin = "> " * self._depth + "  " * (levels - is_item) + self._marker
            self._marker = ""
        elif self._has_cell:
            self._parts.append(" | ")
        elif self._has_space:
            self._parts.append(" ")
        self._has_space = self._has_cell = False

    def _write_lines(self, text: str) -> None:
        """Add text whose spaces and line ends count."""
        for number, line in enumerate(text.split("\n")):
            if number:
                if self._has_break:
                    self._flush()
                if self._parts:
                    self._flush()
                else:
                    self._gap += 1
            if line.strip(" \t"):
                self._begin_text()
                self._parts.append(line)

    def _flush(self) -> None:
        """End the line that is being written."""
        self._has_break = self._has_space = self._has_cell = False
        if not self._parts:
            return
        text = "".join(self._parts).replace("\xa0", " ").rstrip()
        self._parts.clear()
        if not text.translate(_INVISIBLE).strip():
            self._gap = max(self._gap, self._line_gap, 1)
            return
        if self._lines:
            blank = ("> " * min(self._depth, self._last_depth)).rstrip()
            self._lines += [blank] * self._line_gap
        self._lines.append(self._margin + text)
        self._last_depth = self._depth
