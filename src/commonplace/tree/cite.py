"""Check the citations of an answer: every marker leads to a leaf, and every quotation is in it, word for word.

    It moves "on 3 March".[^1]

    [^1]: u-5f0c1e9a7b3d2c4e6f80 · mail:<1@example.org>

A quotation is what stands in double quotes, or in lines that begin with `>`. It cites the next marker of its paragraph,
or the marker of the paragraph below a block of such lines. `verbs.cite` calls `check_citations` with a function that
opens leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.tree_results import CitationFault, CiteResult

_MARKER = lazy(r"\[\^([^\]\s]{1,40})\](?!:)")
_FOOTNOTE = lazy(r"^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(.*)$", re.MULTILINE)
_QUOTE = lazy(r"“([^“”\n]+(?:\n[^“”\n]+)*)”|«([^«»\n]+(?:\n[^«»\n]+)*)»|\"([^\"\n]+(?:\n[^\"\n]+)*)\"|„([^„“”\n]+)[“”]")
_BLOCK_QUOTE = lazy(r"^ {0,3}>")
_GAP = lazy(r"\s*(?:\[(?:\.\.\.|…)\]|\.\.\.|…)\s*")  # what a quotation left out
_FENCE = lazy(r"^ {0,3}(```|~~~)")
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
    footnotes = dict(_read_footnotes(answer))
    body = _blank(answer)
    markers = [(_line_of(body, match.start()), match[1]) for match in _MARKER.finditer(body)]
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
        texts[name] = found
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
    shown = quotation.text[:_SHOWN]
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
    """Return whether a text has a quotation word for word; `...` in it stands for what was left out."""
    whole, at = _normalize(text), 0
    for piece in _GAP.split(quoted):
        words = _normalize(piece).strip(_EDGES)
        if not words:
            continue
        found = whole.find(words, at)
        if found < 0:
            return False
        at = found + len(words)
    return True


def _normalize(text: str) -> str:
    """Return a text with plain quotation marks and single spaces: lines may be wrapped in another way."""
    return " ".join(text.translate(_PLAIN_QUOTES).split())


def _read_footnotes(answer: str) -> Iterator[tuple[str, _Footnote]]:
    for match in _FOOTNOTE.finditer(answer):
        node, _, source = match[2].partition("·")
        yield match[1], _Footnote(_line_of(answer, match.start()), node.strip().strip("`"), source.strip())


def _blank(answer: str) -> str:
    """Return an answer without its footnotes and its code, line for line."""
    lines, in_code = [], False
    for line in answer.split("\n"):
        is_fence = bool(_FENCE.match(line))
        in_code ^= is_fence
        hidden = in_code or is_fence or _FOOTNOTE.match(line)
        lines.append("" if hidden else _CODE.sub(lambda match: " " * len(match[0]), line))
    return "\n".join(lines)


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _find_quotations(body: str) -> Iterator[_Quotation]:
    """Yield the quotations of an answer, each with the marker that it cites."""
    paragraphs = list(_split_paragraphs(body))
    for number, (line, text) in enumerate(paragraphs):
        rows = text.split("\n")
        if all(_BLOCK_QUOTE.match(row) for row in rows):
            plain = "\n".join(row.strip().lstrip(">").strip() for row in rows)
            below = paragraphs[number + 1][1] if number + 1 < len(paragraphs) else ""
            marker = _MARKER.search(plain) or _MARKER.match(below.strip())
            yield _Quotation(line, _MARKER.sub("", plain).strip(), marker[1] if marker else "")
            continue
        for match in _QUOTE.finditer(text):
            marker = _MARKER.search(text, match.end() - 1)
            quoted = next(filter(None, match.groups()))
            yield _Quotation(
                line + text.count("\n", 0, match.start()), _MARKER.sub("", quoted), marker[1] if marker else ""
            )


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
