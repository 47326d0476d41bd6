"""Check the citations of an answer: every marker leads to a leaf, and every quotation is in it, word for word.

    It moves "on 3 March".[^1]

    [^1]: u-5f0c1e9a7b3d2c4e6f80 · mail:<1@example.org>

A quotation is what stands in double quotes, or in lines that begin with `>`. It cites the next marker of its paragraph,
or the marker of the paragraph below a block of such lines. It begins and ends where words and numbers do. What is in
code is neither a quotation nor a citation. `verbs.cite` calls `check_citations` with a function that opens leaves.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.tree_results import CitationFault, CiteResult
from commonplace.text.words import DENSE_RUN

_MARKER = lazy(r"\[\^([^\]\s]{1,40})\](?!:)")
_FOOTNOTE = lazy(r"^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(.*)$", re.MULTILINE)
_QUOTE = lazy(
    r"“([^“”\n]+(?:\n[^“”\n]+)*)”|«([^«»\n]+(?:\n[^«»\n]+)*)»|\"([^\"\n]+(?:\n[^\"\n]+)*)\"|„([^„“”\n]+)[“”]"
    r"|「([^「」\n]+)」|『([^『』\n]+)』"
)
_EMPHASIS = lazy(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=[^\s*_])([^*_]+)(?<=[^\s*_])\1(?![\w*_])")  # in Markdown, and in chats
_BLOCK_QUOTE = lazy(r"^ {0,3}>")
_GAP = lazy(r"\s*(?:\[(?:\.\.\.|…)\]|\.\.\.|…)\s*")  # what a quotation left out
_FENCE = lazy(r" {0,3}(?:(?P<mark>`{3,})(?P<more>[^`]*)|(?P<tildes>~{3,})(?P<rest>.*))")
_INSIDE_NUMBER = ".,:"  # between digits: 3.50, 1,500 and 10:30 are one number each
_CODE = lazy(r"`[^`\n]*`")
_EDGES = " \t\n.,;:!?"
_MIN_QUOTE_WORDS = 5  # of a quotation without a citation that is a fault: fewer are often no quotation
_SHOWN = 120  # characters of what does not hold
_PLAIN_QUOTES = str.maketrans("“”„‟«»‘’‚‛", '""""""\'\'\'\'')


class CitedText(NamedTuple):
    """What a footnote leads to: its text, and the sources that it may name."""

    text: str
    sources: Sequence[str]
    is_leaf: bool = True


class _Footnote(NamedTuple):
    line: int
    node: str
    source: str


class _Quotation(NamedTuple):
    line: int
    text: str
    marker: str  # "" where none follows


def check_citations(answer: str, open_node: Callable[[str], CitedText | None]) -> CiteResult:
    """Return which citations and quotations of an answer do not hold."""
    visible = _hide_code(answer)
    footnotes: dict[str, _Footnote] = {}
    for name, note in _read_footnotes(visible):
        footnotes.setdefault(name, note)  # of two with one name, Markdown shows the first
    body = _hide_footnotes(visible)
    lines = _LineNumbers(body)
    markers = [(lines.find(match.start()), match[1]) for match in _MARKER.finditer(body)]
    faults = [
        CitationFault(line, "unknown_marker", f"[^{name}] has no footnote.")
        for line, name in markers
        if name not in footnotes
    ]
    texts: dict[str, CitedText] = {}
    for name, note in footnotes.items():
        found = open_node(note.node)
        if found is None:
            faults.append(
                CitationFault(note.line, "unknown_node", f"[^{name}] cites {note.node[:_SHOWN]!a}, which is not there.")
            )
            continue
        texts[name] = found._replace(text=_normalize(found.text))
        if note.source and not any(note.source == one or one.endswith(f"· {note.source}") for one in found.sources):
            faults.append(
                CitationFault(note.line, "wrong_source", f"{note.node} does not come from {note.source[:_SHOWN]!a}.")
            )
    quotations = list(_find_quotations(body))
    for quotation in quotations:
        faults += _check_quotation(quotation, texts, footnotes)
    return CiteResult(not faults, len(markers), len(quotations), tuple(sorted(faults)))


def _check_quotation(
    quotation: _Quotation, texts: dict[str, CitedText], footnotes: dict[str, _Footnote]
) -> list[CitationFault]:
    shown = " ".join(quotation.text.split())[:_SHOWN]
    if not quotation.marker:
        is_long = len(quotation.text.split()) >= _MIN_QUOTE_WORDS
        return [CitationFault(quotation.line, "uncited_quote", f'"{shown}" cites nothing.')] if is_long else []
    cited = texts.get(quotation.marker)
    if cited is None:  # the marker or its footnote is a fault of its own
        return []
    node = footnotes[quotation.marker].node
    if not cited.is_leaf:
        return [CitationFault(quotation.line, "not_a_leaf", f"{node} is a summary: quote the leaves below it.")]
    if not _is_verbatim(quotation.text, cited.text):
        return [CitationFault(quotation.line, "not_verbatim", f'"{shown}" is not in {node}.')]
    return []


def _is_verbatim(quoted: str, text: str) -> bool:
    """Return whether a text has a quotation word for word; `...` in it stands for what was left out.

    Words that only one of them emphasises are the same words.
    """
    return _has_pieces(quoted, text) or _has_pieces(_EMPHASIS.sub(r"\2", quoted), _EMPHASIS.sub(r"\2", text))


def _has_pieces(quoted: str, text: str) -> bool:
    pieces = [words for piece in _GAP.split(quoted) if (words := _normalize(piece).strip(_EDGES))]
    at = 0
    for words in pieces:
        at = _find_words(words, text, at)
        if at < 0:
            return False
    return bool(pieces)


def _find_words(words: str, text: str, start: int) -> int:
    """Return where words end that stand in a text behind `start`, and are not cut out of longer ones; else -1."""
    at = text.find(words, start)
    while at >= 0:
        end = at + len(words)
        if not (_is_inside(text, at) or _is_inside(text, end)):
            return end
        at = text.find(words, at + 1)
    return -1


def _is_inside(text: str, at: int) -> bool:
    """Return whether a place is inside a word or a number. Where words have no visible end, every place is between."""
    before, after = text[max(0, at - 1) : at], text[at : at + 1]
    if not before or not after:
        return False
    if _is_word_sign(before) and _is_word_sign(after):
        return True
    # The quotation may end before the point of a number, or begin behind it.
    wide = text[max(0, at - 2) : at + 2]
    around = [wide[place : place + 3] for place in range(len(wide) - 2)]
    return any(one[0].isdigit() and one[1] in _INSIDE_NUMBER and one[2].isdigit() for one in around)


def _is_word_sign(sign: str) -> bool:
    is_word = sign == "_" or unicodedata.category(sign)[0] in "LMN"
    # In Korean a particle follows the word.
    return is_word and not DENSE_RUN.match(sign) and not "\uac00" <= sign <= "\ud7a3"


def _normalize(text: str) -> str:
    """Return a text with plain quotation marks and single spaces: lines may be wrapped in another way."""
    return " ".join(text.translate(_PLAIN_QUOTES).split())


def _read_footnotes(answer: str) -> Iterator[tuple[str, _Footnote]]:
    lines = _LineNumbers(answer)
    for match in _FOOTNOTE.finditer(answer):
        node, _, source = match[2].partition("·")
        yield match[1], _Footnote(lines.find(match.start()), node.strip().strip("`"), source.strip())


class _FenceLine(NamedTuple):
    """A line that may begin a block of code, or end one."""

    sign: str
    length: int
    may_close: bool


def _read_fence(line: str) -> _FenceLine | None:
    found = _FENCE.fullmatch(line)
    if found is None:
        return None
    mark, more = (found["mark"], found["more"]) if found["mark"] else (found["tildes"], found["rest"])
    return _FenceLine(mark[0], len(mark), not more.strip())


def _hide_code(answer: str) -> str:
    """Return an answer without its blocks of code, line for line. A fence that is never closed hides nothing."""
    lines = answer.split("\n")
    fences = [(at, fence) for at, line in enumerate(lines) if (fence := _read_fence(line)) is not None]
    # The longest fence that closes a block from here on: without one, the rest need not be searched.
    longest: dict[str, int] = {}
    is_closed = [False] * len(fences)
    for place in reversed(range(len(fences))):
        fence = fences[place][1]
        is_closed[place] = longest.get(fence.sign, 0) >= fence.length
        if fence.may_close:
            longest[fence.sign] = max(longest.get(fence.sign, 0), fence.length)
    place = 0
    while place < len(fences):
        start, opener = fences[place]
        place += 1
        if not is_closed[place - 1]:
            continue
        while not _closes(fences[place][1], opener):
            place += 1
        end = fences[place][0]
        lines[start : end + 1] = [""] * (end + 1 - start)
        place += 1
    return "\n".join(lines)


def _closes(fence: _FenceLine, opener: _FenceLine) -> bool:
    return fence.may_close and fence.sign == opener.sign and fence.length >= opener.length


def _hide_footnotes(visible: str) -> str:
    """Return an answer without its footnotes and the code in its lines, line for line."""
    return "\n".join(
        "" if _FOOTNOTE.match(line) else _CODE.sub(lambda match: " " * len(match[0]), line)
        for line in visible.split("\n")
    )


class _LineNumbers:
    """The numbers of the lines of a text."""

    def __init__(self, text: str, first: int = 1) -> None:
        self._ends = [at for at, sign in enumerate(text) if sign == "\n"]
        self._first = first

    def find(self, at: int) -> int:
        """Return the number of the line that has a place."""
        return self._first + bisect_left(self._ends, at)


def _find_quotations(body: str) -> Iterator[_Quotation]:
    """Yield the quotations of an answer, each with the marker that it cites."""
    paragraphs = list(_split_paragraphs(body))
    for number, (line, text) in enumerate(paragraphs):
        rows = text.split("\n")
        if all(_BLOCK_QUOTE.match(row) for row in rows):
            plain = "\n".join(row.strip().lstrip(">").strip() for row in rows)
            below = paragraphs[number + 1][1] if number + 1 < len(paragraphs) else ""
            marker = _MARKER.search(plain) or _MARKER.match(below.strip())
            quoted = _MARKER.sub("", plain).strip()
            if quoted:
                yield _Quotation(line, quoted, marker[1] if marker else "")
            continue
        lines, markers = _LineNumbers(text, line), list(_MARKER.finditer(text))
        starts = [found.start() for found in markers]
        for match in _QUOTE.finditer(text):
            following = bisect_left(starts, match.end())
            cited = markers[following][1] if following < len(markers) else ""
            quoted = next(filter(None, match.groups()))
            yield _Quotation(lines.find(match.start()), _MARKER.sub("", quoted), cited)


def _split_paragraphs(body: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs with the numbers of their first lines; lines with `>` are a paragraph of their own."""
    start, rows = 1, list[str]()
    for number, line in enumerate(body.split("\n"), 1):
        is_other = bool(rows) and bool(_BLOCK_QUOTE.match(line)) != bool(_BLOCK_QUOTE.match(rows[-1]))
        if not line.strip() or is_other:
            if rows:
                yield start, "\n".join(rows)
            rows = []
        if line.strip():
            start = number if not rows else start
            rows.append(line)
    if rows:
        yield start, "\n".join(rows)
