"""Find what a unit mentions: people, addresses, links, handles, tickets, paths, dates, identifiers and names.

The index of the tree finds units by these labels, and topics are made of them. `find_labels` calls `find_entities` for
every unit that is new in the index. Each kind has a pattern that is linear in the text; what one kind takes is blanked
for the next, so that no part of a link is taken for a path. No language is assumed, except for the names of months.

A name in the text is only a candidate: `choose_names` says which of them are names, once it is known who uses them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache

from commonplace.index.units import Label
from commonplace.model.lazy import lazy
from commonplace.text.words import APOSTROPHE_ENDING, STOP_WORDS, fold_text
from commonplace.tree.source import Person
from commonplace.tree.units import TreeUnit

ENTITY_KINDS = ("person", "email", "url", "handle", "ticket", "path", "date", "id", "name")
PERSON = "person:"
_MOST, _MOST_PEOPLE, _MOST_OF_A_KIND = 60, 40, 20  # labels of a unit
_MAX_NAME, _MAX_SURFACE = 160, 200  # characters of a label, and of what is shown for it
_MIN_AUTHORS = 3  # that use a name

_URL = lazy(r"(?i)(?<![a-z])(?:(?:https?|ftp)://|www\.)[^\s<>\"“”`|\\^{}]+")
_URL_PARTS = lazy(
    r"(?i)(?:[a-z]+://)?+(?:[^/?#@]*@)?(?:www\.)?(?P<host>[^/?#]+)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?"
)
_TRACKING = lazy(r"(?i)(?:utm_\w+|\w*clid|mc_[ce]id|mkt_tok|_hs\w+|igshid)(?:=|\Z)")
_EMAIL = lazy(r"(?<![\w.+%-])[\w.+%-]{1,64}+@(?:[\w-]{1,63}+\.)+[^\W\d_]{2,24}(?![\w-])")
_HANDLE = lazy(r"(?<![\w@/.])@([^\W\d]\w*+(?:[.-]\w++)*+)(?!/)")
# A pattern that starts with a class of characters, and then looks behind, is several times as fast as the other way.
_TICKET = lazy(r"[A-Z](?<![\w-].)[A-Z0-9]{1,9}-\d{1,7}(?![\w-]|\.\d)")
_NUMBERED = lazy(r"(?<![\w./#&-])(?:[\w.-]{1,40}(?:/[\w.-]{1,60})?#\d{1,7}|#\d{2,7})(?![\w-]|[.,]\d)")
_PATH = lazy(r"(?<![\w./\\~@+%:-])(?:[A-Za-z]:)?[\w.~@+%-]*+(?:[/\\][\w.~@+%-]++)++[/\\]?")
_FILE_ENDING = lazy(r"[^/\\]\.[a-z][a-z0-9]{0,5}\Z")
_CODE = lazy(r"[^\W_]++(?:[_./:@#+-]++[^\W_]++)*+")
_HAS_DIGIT, _HAS_LETTER = lazy(r"\d"), lazy(r"[^\W\d_]")
_AMOUNT = lazy(r"\d[\d.,:/-]*(?:[^\W\d_]{1,3}|-[^\W\d_].*)\Z")  # 10am, 5km, 24-hour
_VERSION = lazy(r"\d+\.\d+(?:\.\d+)+\Z|\d{6,}\Z")  # 1.2.3, an address of a machine, a long number
_CAMEL = lazy(r"[a-z]{2,}[A-Z][a-z]")
_DOTTED = lazy(r"[^\W\d_A-Z]{2,}(?:\.[^\W\d_A-Z]{2,})+\Z")  # a module or file; "so.Then" has a capital, "e.g" is short
_MIN_CODE, _MAX_CODE = 3, 80

_MONTHS = (
    "january januar januari janvier enero gennaio janeiro stycznia января",
    "february februar februari février febrero febbraio fevereiro lutego февраля",
    "march märz mars marts maart marzo março marca марта",
    "april avril abril aprile kwietnia апреля",
    "may mai maj mei mayo maggio maio maja мая",
    "june juni juin junio giugno junho czerwca июня",
    "july juli juillet julio luglio julho lipca июля",
    "august augusti augustus août agosto sierpnia августа",
    "september septembre septiembre settembre setembro września сентября",
    "october oktober octobre octubre ottobre outubro października октября",
    "november novembre noviembre novembro listopada ноября",
    "december dezember desember décembre diciembre dicembre dezembro grudnia декабря",
)
_ALSO_WORDS = frozenset({"may", "march"})  # without a capital or a year, they are no months
_WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_MIN_MONTH = 3  # letters of a short form
_NUMBERS_DATE = lazy(
    r"(?P<first>\d(?<![\w./-].)\d{0,3})(?P<sign>[-/.])(?P<second>\d\d?)(?P=sign)(?P<last>\d{1,4})(?![./-]?\d)"
)
_EAST_DATE = lazy(r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]")
_NUMBER = lazy(r"\d(?<![\w.,:/].)\d?(?!\d)")
_YEAR = r"(?:,?[\s-]\s?(?:(?:of|de|del|di)\s)?(?P<year>\d{4})(?!\d))?"
_MONTH_AFTER = lazy(r"(?:st|nd|rd|th|er|[.ºª])?[\s-]\s?(?:(?:of|de|di)\s)?(?P<month>[^\W\d_]{3,12})\b\.?" + _YEAR)
_RANGE_BEFORE = lazy(
    r"(?<![\w.,:/])(?P<day>[12]?\d|30)(?:st|nd|rd|th|\.)?\s?(?:[-–]|to|till|until|and|bis|und|au|et|al|a|e|y|tot|en|do|i|по|и|till|och)"
    r"\s?\Z"
)
_MONTH_BEFORE = lazy(r"(?P<month>\b[^\W\d_]{3,12})\.?\s\Z")
_YEAR_AFTER = lazy(r"(?:st|nd|rd|th)?(?!\w|[:.,]\d)" + _YEAR)
_BLANK = " ; "  # no mere space: the words beside it are no neighbours
_HALF_YEAR = timedelta(days=183)

_EDGES = " .,;:!?…()[]{}<>\"'“”„‟‘’«»*_~`|/\\-–—#="
_SENTENCE_ENDS, _QUOTES = frozenset(".!?:…"), frozenset("\"“„«'‘")
_MOST_WORDS = 4  # of a name
_MOST_IN_HEADING = 3  # words without a small one in a line, as "Dear Bob Ray": more are a heading
_ENOUGH_WORDS, _MOST_CAPITALS = 15, 1 / 5  # of the words within sentences: with more, all nouns have one, as in German


class _Labels:
    """The labels of a unit so far: each once, and of each kind not too many."""

    def __init__(self) -> None:
        self.found: dict[str, Label] = {}
        self._numbers = Counter[str]()

    def add(self, kind: str, ident: str, surface: str) -> None:
        """Add a label, if there is room for it. One that is too long, or cannot be shown, is left out."""
        name = f"{kind}:{ident}"
        limit = _MOST_PEOPLE if kind == "person" else _MOST_OF_A_KIND
        if not ident or name in self.found or len(name) > _MAX_NAME or not name.isprintable():
            return
        if len(self.found) < _MOST and self._numbers[kind] < limit:
            self._numbers[kind] += 1
            self.found[name] = Label(name, " ".join(surface.split())[:_MAX_SURFACE])


def find_entities(unit: TreeUnit) -> Iterable[Label]:
    """Return what a unit mentions, at most 60 labels, each once: the people of its headers first."""
    labels = _Labels()
    for person in (unit.author, *unit.recipients):
        labels.add("person", name_person(person), person.name)
    text = f"{unit.title}\n{unit.text}" if unit.title else unit.text
    text = _take_addresses(labels, text)
    text = _take_dates(labels, text, unit.occurred)
    if "/" in text or "\\" in text:
        text = _take(text, _PATH, lambda match: _add_path(labels, match.group()))
    for token in dict.fromkeys(text.split()):
        if token.isalpha() and token.islower():
            continue  # as most are: this is faster
        for word in _CODE.findall(token):
            if _is_code(word):
                labels.add("id", fold_text(word), word)
    for name in _find_names(text):
        labels.add("name", fold_text(name), name)
    return labels.found.values()


def _take_addresses(labels: _Labels, text: str) -> str:
    """Add the tickets, links, addresses and handles in a text; return it with a blank for each."""
    tickets = list(_TICKET.finditer(text))  # before links are blanked: many have one
    for match in tickets:
        labels.add("ticket", match.group(), match.group())
    if "'" in text or "’" in text:
        text = APOSTROPHE_ENDING.sub("", text)
    if "://" in text or "www." in text:
        text = _take(text, _URL, lambda match: _add_url(labels, match.group()))
    if "@" in text:
        text = _take(text, _EMAIL, lambda match: _add_email(labels, match.group()))
        text = _take(text, _HANDLE, lambda match: _add(labels, "handle", f"@{fold_text(match[1])}", match.group()))
    if tickets:
        text = _TICKET.sub(_BLANK, text)
    if "#" in text:
        text = _take(text, _NUMBERED, lambda match: _add(labels, "ticket", match.group().lower(), match.group()))
    return text


def name_person(person: Person) -> str:
    """Return what comes behind `person:` in the label of a person: the address or handle, else the folded name."""
    return person.address.lower() or fold_text(person.name)


def find_dates(text: str, occurred: str) -> list[str]:
    """Return the days that a text names by number or with the name of a month, as YYYY-MM-DD, each once and in order.

    A day without a year is the one nearest to `occurred`.
    """
    return sorted(day for day, _ in take_dates(text, occurred)[0])


def take_dates(text: str, occurred: str) -> tuple[list[tuple[str, str]], str]:
    """Return the days that a text names, each with the words for it, and the text with a blank for every one."""
    labels = _Labels()
    rest = _take_dates(labels, text, occurred)
    return [(label.name.removeprefix("date:"), label.surface) for label in labels.found.values()], rest


@cache
def read_month_names() -> frozenset[str]:
    """Return the names of the months in lower case, and what is short for them."""
    return frozenset(_read_months())


def choose_names(uses: Mapping[str, Mapping[str, int]]) -> set[str]:
    """Return the names that at least three authors use, none of them more than half of the times.

    `uses` says how often each author uses a candidate. A word that only one person writes with a capital is a habit.
    """
    return {
        name
        for name, authors in uses.items()
        if sum(number > 0 for number in authors.values()) >= _MIN_AUTHORS
        and 2 * max(authors.values()) <= sum(authors.values())
    }


def _take(text: str, pattern: re.Pattern[str], keep: Callable[[re.Match[str]], bool]) -> str:
    """Return a text with a blank for every match that `keep` takes."""
    return pattern.sub(lambda match: _BLANK if keep(match) else match.group(), text)


def _add(labels: _Labels, kind: str, ident: str, surface: str) -> bool:
    labels.add(kind, ident, surface)
    return True


def _add_url(labels: _Labels, found: str) -> bool:
    """Add a link, named by its host and path; what only says from where one came is cut."""
    url = found.rstrip(".,;:!?'*_)]") if found.count("(") < found.count(")") else found.rstrip(".,;:!?'*_]")
    parts = _URL_PARTS.match(url)
    if parts is None or not _HAS_LETTER.search(parts["host"]):
        return True
    kept = "&".join(part for part in (parts["query"] or "").split("&") if part and not _TRACKING.match(part))
    place = parts["host"].lower() + parts["path"].rstrip("/")
    whole = f"{place}?{kept}" if kept else place
    labels.add("url", whole if len(whole) < _MAX_NAME - 4 else place, url)
    return True


def _add_email(labels: _Labels, found: str) -> bool:
    """Add an address, unless it is one of the headers."""
    address = found.lower()
    if f"{PERSON}{address}" not in labels.found:
        labels.add("email", address, found)
    return True


def _add_path(labels: _Labels, found: str) -> bool:
    """Add the path of a file; "and/or" and "km/h" are none."""
    path = found.rstrip(".-")
    parts = [part for part in path.replace("\\", "/").split("/") if part.strip(".")]
    is_rooted = path[0] in "/~\\." or path[1:3] in {":\\", ":/"}
    if not (is_rooted and len(parts) > 1 and _HAS_LETTER.search(path)) and not _FILE_ENDING.search(path):
        return False
    labels.add("path", path, path)
    return True


def _is_code(word: str) -> bool:
    """Return whether a word is a name of code, a version, a number of something, or the like.

    The notion is that of `text.words.IDENTIFIER`, without amounts, times, and words that are only joined by a sign.
    """
    if not _MIN_CODE <= len(word) <= _MAX_CODE:
        return False
    if word.isalpha():
        return _CAMEL.match(word) is not None
    if _HAS_DIGIT.search(word):
        if not _HAS_LETTER.search(word):
            return _VERSION.match(word) is not None
        return _AMOUNT.match(word) is None
    return "_" in word or "::" in word or _CAMEL.match(word) is not None or _DOTTED.match(word) is not None


def _take_dates(labels: _Labels, text: str, occurred: str) -> str:
    """Add the dates in a text; return it with a blank for each."""
    if not _HAS_DIGIT.search(text):
        return text
    text = _take(text, _NUMBERS_DATE, lambda match: _add_date(labels, _read_numbers(match), match.group()))
    if "月" in text or "월" in text:
        text = _take(text, _EAST_DATE, lambda match: _add_date(labels, _make_date(*match.groups()), match.group()))
    pieces, at = [], 0
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        after = _MONTH_AFTER.match(text, end)
        day = _read_words(number.group(), after["month"], after["year"], occurred) if after else None
        if after and day:
            end = after.end()
            first = _RANGE_BEFORE.search(text[max(at, start - 12) : start])
            if first and int(first["day"]) < int(number.group()):  # from the 4th to the 6th
                _add_date(labels, day.replace(day=int(first["day"])), first.group() + text[start:end])
        else:
            before = _MONTH_BEFORE.search(text[max(at, start - 16) : start])
            year = _YEAR_AFTER.match(text, end)
            day = _read_words(number.group(), before["month"], year["year"], occurred) if before and year else None
            if before and year:
                start, end = start - len(before.group()), year.end()
        if day and start >= at:
            _add_date(labels, day, text[start:end])
            pieces += [text[at:start], _BLANK]
            at = end
    return "".join([*pieces, text[at:]])


def _add_date(labels: _Labels, day: date | None, surface: str) -> bool:
    if day is not None:
        labels.add("date", day.isoformat(), surface)
    return day is not None


def _read_numbers(match: re.Match[str]) -> date | None:
    """Return a date in numbers; None where day and month could be either."""
    first, second, last = match["first"], match["second"], match["last"]
    if len(first) == 4 and len(last) <= 2:
        return _make_date(first, second, last)
    if len(last) != 4 or len(first) > 2:
        return None
    if match["sign"] == "." or int(first) > 12 or first == second:  # points are only written with the day first
        return _make_date(last, second, first)
    return _make_date(last, first, second) if int(second) > 12 else None


def _read_words(day: str, word: str, year: str | None, occurred: str) -> date | None:
    """Return a date with the name of a month. Without a year it is the date nearest to when the unit was."""
    month, is_whole = _read_months().get(fold_text(word), (0, False))
    if not month or year:
        return _make_date(year or "", month, day)
    moment = _make_date(*occurred[:10].split("-")) if occurred[:10].count("-") == 2 else None
    if moment is None or not (word[0].isupper() or (is_whole and word not in _ALSO_WORDS)):
        return None
    near = (_make_date(moment.year + step, month, day) for step in (-1, 0, 1))
    return next((found for found in near if found and abs(found - moment) <= _HALF_YEAR), None)


def _make_date(year: str | int, month: str | int, day: str | int) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def is_month(word: str) -> bool:
    """Return whether a word in lower case is the name of a month, or short for one."""
    return word in _read_months()


@cache
def _read_months() -> dict[str, tuple[int, bool]]:
    """Return the months by name and short form, and whether it is the whole name."""
    found: dict[str, set[int]] = {}
    whole = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
    for name, number in whole.items():
        for end in range(_MIN_MONTH, len(name) + 1):
            found.setdefault(name[:end], set()).add(number)
    found["sept"] = {9}
    return {
        name: (whole.get(name, min(numbers)), name in whole)
        for name, numbers in found.items()
        if len(numbers) == 1 or name in whole
    }


def _find_names(text: str) -> Iterator[str]:
    """Yield the words with a capital, and runs of them, but not the first word of a sentence or line, nor headings."""
    runs: list[list[str]] = []
    capitals = others = 0
    for line in text.split("\n"):
        found, inner, small = _find_runs(line)
        others += small
        capitals += inner
        if small or len(line.split(None, _MOST_IN_HEADING)) <= _MOST_IN_HEADING:
            runs += found
    total = capitals + others
    is_german = total >= _ENOUGH_WORDS and capitals > _MOST_CAPITALS * total
    for run in runs:
        folded = [word.lower() for word in run]
        is_common = all(word in STOP_WORDS or word in _WEEKDAYS or word in _read_months() for word in folded)
        if len(run) <= _MOST_WORDS and not is_common and (len(run) > 1 or not is_german):
            yield " ".join(run)


def _find_runs(line: str) -> tuple[list[list[str]], int, int]:
    """Return the runs of words with capitals in a line, how many such words begin no sentence, and how many others."""
    runs: list[list[str]] = []
    run: list[str] | None = None  # the one that the next word may go on
    capitals = others = 0
    is_start = True
    for token in line.split():
        if token.isalpha() and token.islower():
            others += 1
            is_start, run = False, None
            continue
        word = token.strip(_EDGES)
        if not word:
            is_start, run = is_start or token[-1] in _SENTENCE_ENDS, None
            continue
        is_start = is_start or token[0] in _QUOTES
        if not _has_capital(word):
            run = None
            others += not (is_start or word[0].isupper())
        else:
            if run is None or token[0] != word[0]:
                run = []
                runs.append(run)
            if not is_start:
                run.append(word)
                capitals += 1
        is_start = token[-1] in _SENTENCE_ENDS
        run = run if token[-1] == word[-1] else None
    return [run for run in runs if run], capitals, others


def _has_capital(word: str) -> bool:
    """Return whether a word is written as a name is: a capital, and small letters."""
    return (
        word[0].isupper()
        and len(word) > 1
        and not word.isupper()
        and (word.isalpha() or word.replace("-", "").replace("'", "").replace("’", "").isalpha())
    )
