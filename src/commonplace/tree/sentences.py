"""Split the text of a unit into its sentences, by rules that need no language to be known.

Extracts and digests take sentences from here. Nothing is lost: the sentences, joined by spaces, are the text with every
run of white space made one space, so each can be looked up in its unit word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.model.lazy import lazy
from commonplace.text.words import STOP_WORDS
from commonplace.tree.entities import read_month_names

_MIN_WIDTH = 50  # characters: a line that a program wrapped is no shorter
# What begins a line that does not go on the one above: an item of a list, a quote, a heading, a row, a line of a log.
_STARTS_ANEW = lazy(
    r"[-*•–—·‣▪◦+$]\s|[>|]|#{1,6}\s|\(?[a-zA-Z]\)\s|\[[ xX]?\]\s|```"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[\d\d:\d\d|\d\d:\d\d:\d\d"
)
_NUMBERED = lazy(r"\(?\d{1,3}[.)]\s")
_STANDS_ALONE = lazy(r"#{1,6}\s|[|$]|```|(?:[-=_*~]\s?){3,}\Z")  # such a line is a sentence: a heading, a row, a rule
_MARKS = lazy(r"(?:[-*•–—·‣▪◦+>]+\s+|#{1,6}\s+|\[[ xX]?\]\s+|>+)+")
_END = lazy(r"(?<![.!?…؟।])[.!?…؟।]++[\"'”’»)\]*_]*+(?=\s)|[。！？｡]+[」』”’）】\"]*\s?")
_FULL_STOPS = frozenset("。！？｡")
_OPENING = "\"'“”„‘’«»([{*_¿¡"
_NEXT_WORD = lazy(r"\W*([^\W_]+)")
_DOTTED = lazy(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,3}\Z")  # z.B, p.m, U.S, Ph.D

# A point after one of these ends no sentence.
_ABBREVIATIONS = frozenset(
    """
    mr mrs messrs dr prof hrn fr mme mlle dott sigg sig srta sra dra ing dipl mgr gen col sgt capt
    e.g i.e eg ie cf vs viz ca approx esp incl excl fwd resp
    z.b d.h u.u o.g s.o s.u m.e i.d.r bzw inkl exkl zzgl evtl ggf vgl sog allg insb insbes bspw ggü
    p.ej p.ex p.es c.à.d c.-à-d núm pág ecc avda dhr mevr bijv d.w.z o.a m.b.t t.a.v m.i.v np tzn tj m.in ul os godz inż
    т.е т.к напр тел ул им стр рис гл г-н t.ex bl.a d.v.s dvs fr.o.m t.o.m
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# A point after one of these ends a sentence if a word follows that often begins one.
_MAY_END = frozenset(
    """
    st sr jr ms hr inc ltd co corp llc gmbh etc usw usf ext tel dept est min max sec hrs std tsd mio mrd str
    jan feb mar apr jun jul aug sep sept oct okt nov dec dez janv févr avr juil déc
    mon tue tues wed thu thur thurs fri
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# A point after one of these, before a number, ends no sentence.
_BEFORE_NUMBER = frozenset(
    """
    no nos nr nrs art fig figs abb tab p pp s ch vol bd kap sec abs ver v rev nº núm num n par pos z ziff kl st eq
    стр рис п ст гл табл ред
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# After one of these, a number with a point is an ordinal: "am 3. Versuch".
_BEFORE_ORDINAL = frozenset(
    """
    am vom zum bis den dem der die das des im ab beim seit jeder jedes jeden ihr sein unser mein pro
    den det dne dnia ze od do w na le
    """.split()  # noqa: SIM905 - a list of these would be a page long
)

# Words of other languages than English that often begin a sentence.
_STARTERS = frozenset(
    """
    ich wir sie er es das die der bitte wenn aber und danach dann dies hier wer wann wo wie was am im
    je nous vous il elle on le la les ce si mais qui quand où comment
    yo nosotros el los las esto eso por pero quién cuándo dónde cómo
    io noi lo gli questo per se ma chi dove o os as isto mas quem quando onde
    ik wij hij het de dat dit als maar wie waar wanneer hoe
    my ona to ten jeśli ale proszę czy kto gdzie kiedy jak мы я вы он она они это если но кто когда где как
    jag vi han hon det den om men vem när var hur
    """.split()  # noqa: SIM905 - a list of these would be a page long
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, word for word, with each run of white space as one space."""
    is_casual = text.lstrip()[:1].islower()
    return [sentence for paragraph in _find_paragraphs(text) for sentence in _split_paragraph(paragraph, is_casual)]


def strip_marks(sentence: str) -> str:
    """Return a sentence without the sign that makes it a list item, a quote or a heading."""
    found = _MARKS.match(sentence)
    return sentence[found.end() :] if found else sentence


def _find_paragraphs(text: str) -> Iterator[str]:
    """Yield what its lines say belongs together, with single spaces."""
    lines: list[str] = []
    for line in text.splitlines():
        plain = line.strip()
        if lines and (not plain or _starts_anew(plain, lines[-1].lstrip())):
            yield from _join_lines(lines)
            lines = []
        if plain:
            lines.append(line.rstrip())
    yield from _join_lines(lines)


def _starts_anew(line: str, before: str) -> bool:
    """Return whether a line never goes on the one before. "12. Mai" may: it is no item of a list."""
    if _STARTS_ANEW.match(line) or _STANDS_ALONE.match(before):
        return True
    number = _NUMBERED.match(line)
    return number is not None and not _is_ordinal(f"{before} {line}", len(before) + 1, len(before) + 1 + number.end())


def _join_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a paragraph, joined where a program wrapped them.

    It wraps a line only if the next word has no room on it. Where there was room, the author began a new line.
    """
    if len(lines) < 2:
        yield from (" ".join(line.split()) for line in lines)
        return
    width = max(_MIN_WIDTH, *map(len, lines))
    taken: list[str] = []
    for at, line in enumerate(lines):
        words = line.split()
        taken += words
        if at + 1 == len(lines):
            break
        has_room = len(line) + 1 + len(lines[at + 1].split(None, 1)[0]) <= width
        if has_room or words[-1][-1] in ":：":
            yield " ".join(taken)
            taken = []
    yield " ".join(taken)


def _split_paragraph(paragraph: str, is_casual: bool) -> Iterator[str]:
    start = 0
    for match in _END.finditer(paragraph):
        end = match.end()
        if end < len(paragraph) and _ends_sentence(paragraph, match, is_casual):
            yield paragraph[start:end].rstrip()
            start = end + (paragraph[end] == " ")
    if start < len(paragraph):
        yield paragraph[start:]


def _ends_sentence(paragraph: str, match: re.Match[str], is_casual: bool) -> bool:
    """Return whether a sentence ends with a mark within a paragraph."""
    marks = match.group()
    if marks[0] in _FULL_STOPS:
        return True
    at = match.end() + 1
    following = paragraph[at]
    if marks[0] in "!?؟":
        return not following.islower() or (is_casual and len(marks) == 1)
    if marks[:2] in ("..", "…", "….", "।") or (marks[0] == "." and "!" in marks):
        return not following.islower()
    start = paragraph.rfind(" ", 0, match.start()) + 1
    word = paragraph[start : match.start()].lstrip(_OPENING)
    folded = word.lower()
    if following.islower():
        may_end = folded in STOP_WORDS or (len(word) > 2 and word.isalpha())
        return is_casual and may_end and not (folded in _ABBREVIATIONS or folded in _MAY_END)
    if not word:
        return True
    if folded in _ABBREVIATIONS or (following.isdigit() and folded in _BEFORE_NUMBER):
        return False
    if word.isdigit() and len(word) <= 2:
        return start > 0 and not _is_ordinal(paragraph, start, at)
    if len(word) == 1 and word.islower() and start > 1 and paragraph[start - 2].isdigit():
        return True  # a unit: "16 h."
    if folded in _MAY_END or (len(word) == 1 and word.isalpha()) or _DOTTED.match(word):
        follower = _get_word(paragraph, at)
        return follower in STOP_WORDS or follower in _STARTERS
    return True


def _is_ordinal(paragraph: str, start: int, after: int) -> bool:
    """Return whether a number with a point, from `start`, counts what follows it: "am 3. Dezember"."""
    before = paragraph[:start].rsplit(None, 1)[-1].strip(_OPENING).lower()
    return before in _BEFORE_ORDINAL or _get_word(paragraph, after) in read_month_names()


def _get_word(paragraph: str, at: int) -> str:
    found = _NEXT_WORD.match(paragraph, at)
    return found[1].lower() if found else ""
