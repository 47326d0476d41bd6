"""Find what a sentence does: it asks, says what was decided or what happened, promises, sets a deadline, names days.

Extracts and digests ask here for every sentence they see, so most leave after a look into one set of words. `cue_words`
has words and phrases of twelve languages; no language is guessed, a cue counts in whichever it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN
from commonplace.tree.cue_words import CUE_WORDS, EAST_DECISION, EAST_PROMISE, EAST_QUESTION, EAST_REPORT
from commonplace.tree.entities import find_dates, read_month_names

# --- What turns a decision around ---
_NEGATIONS = frozenset(
    """
    feel feels felt feeling
    not no never t cannot nothing nobody none niemand personne nadie nessuno ninguém nikt никто ingen
     without if whether until before to once
    nichts rien nada niente nulla niets ничего ingenting intet
    nicht kein keine keinen nie ob falls wenn bevor pas aucun aucune si ne jamais sin ningún ninguna non nessuna nessun
    se não nenhum nenhuma sem niet geen als nie nic jeśli czy не нет если inte ingen inget om
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_REACH = 3  # words before a decision that may turn it around
# Behind one, they say that there is none: "we agreed on nothing", "we agreed to disagree".
_NOTHING = frozenset(
    ("nothing", "disagree", "nichts", "rien", "nada", "niente", "nulla", "niets", "nic", "ничего", "ingenting", "intet")
)
_JOKE = lazy(r"(?i)[;:]-?[PD](?!\w)|;-?\)|[😂🤣😜😝😉😆]|\b(?:lol|rofl|haha\w*|hehe\w*|just kidding|jk)\b")
_QUOTED = lazy(  # of three words or more
    r"\"[^\"\s]+\s+[^\"\s]+\s+[^\"]*\"|“[^”\s]+\s+[^”\s]+\s+[^”]*”|„[^“”\s]+\s+[^“”\s]+\s+[^“”]*[“”]|«[^»]*\s[^»]*\s[^»]*»"
)
_ABOUT = frozenset({"on", "to", "upon"})
# --- Before a day, it is the last one ---
_UNTIL = frozenset(
    {"by", "until", "till", "before", "due", "bis", "avant", "antes", "entro", "até", "voor", "tegen", "do", "до", "к"}
    | {"senast", "innan", "inden"}
)

# --- Days without a number ---
_WEEKDAYS = (
    "monday montag lundi lunes lunedì segunda maandag poniedziałek poniedziałku понедельник понедельника понедельнику"
    " måndag måndagen mandag",
    "tuesday dienstag mardi martes martedì terça dinsdag wtorek wtorku вторник вторника вторнику tisdag tisdagen"
    " tirsdag",
    "wednesday mittwoch mercredi miércoles mercoledì quarta woensdag środa środę środy среду среде onsdag onsdagen",
    "thursday donnerstag jeudi jueves giovedì quinta donderdag czwartek czwartku четверг четверга четвергу torsdag"
    " torsdagen",
    "friday freitag vendredi viernes venerdì sexta vrijdag piątek piątku пятница пятницу пятницы пятнице fredag"
    " fredagen",
    "saturday samstag sonnabend samedi sábado sabato zaterdag sobota sobotę soboty суббота субботу субботы lördag"
    " lördagen lørdag",
    "sunday sonntag dimanche domingo domenica zondag niedziela niedzielę niedzieli воскресенье воскресенья söndag"
    " söndagen søndag",
)
_NEAR_DAYS = (
    "today tonight heute aujourd'hui hoy oggi hoje vandaag dziś dzisiaj сегодня idag",
    "tomorrow morgen demain mañana domani amanhã jutro завтра imorgon morgon",
    "übermorgen surlendemain dopodomani overmorgen pojutrze послезавтра",
)
# Before "morgen" and "mañana" these make it the morning.
_MORNING = frozenset(
    {"guten", "am", "heute", "gestern", "jeden", "goede", "god", "la", "esta", "una", "cada", "por", "every", "each"}
)
# With one of these a weekday is over.
_PAST = frozenset(
    """
    last yesterday was were had did went came got ago letzten letzte letzter vergangenen war waren hatte hatten wurde
    wurden gestern dernier dernière était hier pasado pasada fue ayer estaba estuvo scorso scorsa era ieri passado
    passada foi ontem afgelopen vorige gisteren zeszły zeszłym zeszłą zeszłego był była było wczoraj прошлый прошлую
    прошлой прошлого был была было были вчера förra igår sedan blev
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# "is signed on Friday" is still to come; "signed on Friday" is over.
_BEING = frozenset({"is", "are", "be", "being", "get", "gets", "s", "re", "to"})
_SHORTEST_DONE = 4  # letters: "need" and "shed" are no such words
_EAST_WEEKDAY = lazy(
    r"(?P<next>下|来|來)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])|(?P<east>[月火水木金土日])曜"
)
_EAST_NEAR = lazy("今天|今日|明天|明日|后天|後天|明後日")
_EAST_TOMORROW = lazy("明天|明日|后天|後天")
_EAST_DAYS, _JAPANESE_DAYS = "一二三四五六日天", "月火水木金土日"
_EAST_OFFSETS = {"今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2, "後天": 2, "明後日": 2}
_EAST_PAST = lazy("上周|上週|上个|上個|先週|昨天|昨日")
_EAST_DATE = lazy(r"(?<![\d年])(?<!年\s)(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号號일]")
_MONTHLY = lazy(r"\b[Tt]he (\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[.,;:!?)]|\Z)|\s(?:at|is|and|or|for|as|if|works)\b)")
_SHORT_DATE = lazy(
    r"\b(?:am|bis|vom|zum|den|der|ab|dnia|do|od|до|с|к|på|fra)\s(\d{1,2})\.(\d{1,2})(?:\.(?!\d)|(?=\s*(?:[,;:!?]|\Z)))"
)

_NUMBERS_DATE = lazy(r"\d[-/.]\d\d?[-/.]\d")
_WORD, _DIGIT = lazy(r"[^\W_]+"), lazy(r"\d")
_QUESTION_MARK = lazy(r"[?？؟](?=[\"'”’»)\]*_!?]*(?:\s|\Z))")
_MAX_SENTENCE = 2_000  # characters that are looked at: what is longer is no sentence
_DECIDES, _PROMISES, _ASKS, _REPORTS = range(4)  # the fields of CueWords


class Cues(NamedTuple):
    """What a sentence does, and the days it names as YYYY-MM-DD."""

    asks: bool = False
    decides: bool = False
    promises: bool = False  # or sets a deadline
    dates: tuple[str, ...] = ()
    reports: bool = False  # something that happened: signed, broken, delivered


_NONE = Cues()


class _Phrase(NamedTuple):
    kind: int  # the field of CueWords
    words: tuple[str, ...]
    at: int  # its longest word, by which it is found: that is rarely a small one


def find_cues(sentence: str, occurred: str) -> Cues:
    """Return what a sentence does. Days without a year or month are those next to `occurred`.

    A question decides, promises and reports nothing; it may name the day by which something is wanted.
    """
    text = sentence[:_MAX_SENTENCE]
    return read_cues(text, find_words(text), occurred)


def find_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def read_cues(text: str, words: Sequence[str], occurred: str) -> Cues:
    """Return what `find_cues` does, for a caller that has the words of the sentence."""
    dates = _find_days(text, words, occurred)
    is_question = ("?" in text or "？" in text or "؟" in text) and _QUESTION_MARK.search(text) is not None
    if not text.isascii() and DENSE_RUN.search(text):
        return _read_east(text, dates, is_question=is_question)
    phrases = _read_phrases()
    if phrases.keys().isdisjoint(words):
        promises = bool(dates) and not is_question and _is_ahead(words)
        return Cues(asks=is_question, promises=promises, dates=dates) if dates or is_question else _NONE
    found = [False, False, False, False]
    for place, word in enumerate(words):
        for kind, phrase, at in phrases.get(word, ()):
            start = place - at
            if len(phrase) > 1 and (start < 0 or tuple(words[start : start + len(phrase)]) != phrase):
                continue
            if kind == _DECIDES:
                found[kind] = found[kind] or not _is_denied(words, start, start + len(phrase))
            else:
                found[kind] = found[kind] or kind != _ASKS or start <= 1
    if is_question or found[_ASKS]:
        return Cues(asks=True, dates=dates)
    found[_DECIDES] = found[_DECIDES] and _JOKE.search(text) is None
    if found[_DECIDES] and _QUOTED.search(text):  # what is quoted, somebody else decided, or another time
        unquoted = _QUOTED.sub(" ", text)
        found[_DECIDES] = read_cues(unquoted, find_words(unquoted), occurred).decides
    promises = found[_PROMISES] or (bool(dates) and _is_ahead(words))
    return Cues(decides=found[_DECIDES], promises=promises, dates=dates, reports=found[_REPORTS])


def _is_denied(words: Sequence[str], start: int, end: int) -> bool:
    """Return whether what stands around a decision says that there is none."""
    if end < len(words) and words[end] in _ABOUT:
        end += 1
    before, behind = words[max(0, start - _REACH) : start], words[end : end + 1]
    return not (_NEGATIONS.isdisjoint(before) and _NOTHING.isdisjoint(behind))


def is_day_word(word: str) -> bool:
    """Return whether a word in lower case means a day: "friday", "morgen"."""
    return word in _read_days()


def _read_east(text: str, dates: tuple[str, ...], *, is_question: bool) -> Cues:
    if is_question or EAST_QUESTION.search(text):
        return Cues(asks=True, dates=dates)
    decides, promises, reports = (
        pattern.search(text) is not None for pattern in (EAST_DECISION, EAST_PROMISE, EAST_REPORT)
    )
    is_ahead = promises or _EAST_TOMORROW.search(text) is not None
    return Cues(decides=decides, promises=is_ahead, dates=dates, reports=reports)


def _is_ahead(words: Sequence[str]) -> bool:
    """Return whether the day that a sentence names is the last one for something, or tomorrow."""
    days = _read_days()
    for at, word in enumerate(words):
        if word in _UNTIL and any(_may_be_day(near) for near in words[at + 1 : at + 4]):
            return True
        if days.get(word) == (False, 1) and (at == 0 or words[at - 1] not in _MORNING):
            return True
    return False


def _may_be_day(word: str) -> bool:
    return word[0].isdigit() or word in _read_days() or word in read_month_names()


def _find_days(text: str, words: Sequence[str], occurred: str) -> tuple[str, ...]:
    """Return the days that a sentence names, each once and in order."""
    found = set[str]()
    has_digit = _DIGIT.search(text) is not None
    if has_digit and (_NUMBERS_DATE.search(text) or not read_month_names().isdisjoint(words) or not text.isascii()):
        found.update(find_dates(text, occurred))
    names = not _read_days().keys().isdisjoint(words)
    is_east = not text.isascii() and DENSE_RUN.search(text) is not None
    if not (names or is_east or has_digit):
        return ()
    today = _read_day(occurred)
    if today is None:
        return tuple(sorted(found))
    if has_digit and not found:  # "Friday the 20th" is that day, and not the next Friday
        found.update(_find_short(text, today))
    if names and not found:
        found.update(_find_named(words, today))
    if is_east and not found and not _EAST_PAST.search(text):
        found.update(_find_east(text, today))
    return tuple(sorted(found))


def _find_named(words: Sequence[str], today: date) -> set[str]:
    """Return the days that weekdays and words like "tomorrow" mean, counted from the day of the message."""
    found = set[str]()
    is_past = not _PAST.isdisjoint(words)
    days = _read_days()
    for at, word in enumerate(words):
        day = days.get(word)
        if day is None:
            continue
        is_weekday, number = day
        if is_weekday:
            if not is_past and not _is_done_then(words, at):
                found.add(_name_weekday(today, number))
        elif at == 0 or number != 1 or words[at - 1] not in _MORNING:
            found.add(_shift_day(today, number))
    return found - {""}


def _is_done_then(words: Sequence[str], at: int) -> bool:
    """Return whether something was done on a day: "signed on Friday", and not "is planned on Friday"."""
    before = at - 2 if at and words[at - 1] == "on" else at - 1
    is_done = before >= 0 and len(words[before]) > _SHORTEST_DONE and words[before].endswith("ed")
    return is_done and (before == 0 or words[before - 1] not in _BEING)


def _find_east(text: str, today: date) -> set[str]:
    found = {_shift_day(today, _EAST_OFFSETS[match.group()]) for match in _EAST_NEAR.finditer(text)}
    for match in _EAST_WEEKDAY.finditer(text):
        number = _JAPANESE_DAYS.index(match["east"]) if match["east"] else min(6, _EAST_DAYS.index(match["day"]))
        if match["next"] in ("下", "来", "來") and match["day"]:
            found.add(_shift_day(today, 7 - today.weekday() + number))
        else:
            found.add(_name_weekday(today, number))
    return found - {""}


def _find_short(text: str, today: date) -> set[str]:
    """Return the days that leave out the year or the month: "am 3.12.", "12月3日", "by the 14th"."""
    found = set[str]()
    for pattern, month_first in ((_SHORT_DATE, False), (_EAST_DATE, True)):
        for match in pattern.finditer(text):
            first, second = int(match[1]), int(match[2])
            found.add(_find_nearest(today, *((first, second) if month_first else (second, first))))
    for match in _MONTHLY.finditer(text):
        ahead = (
            _make_day(today.year + (today.month + step - 1) // 12, (today.month + step - 1) % 12 + 1, int(match[1]))
            for step in range(3)
        )
        found.add(next((day.isoformat() for day in ahead if day and day >= today), ""))
    return found - {""}


def _find_nearest(today: date, month: int, day: int) -> str:
    """Return the day of the calendar that is nearest to another; "" if there is none."""
    near = [found for year in (today.year - 1, today.year, today.year + 1) if (found := _make_day(year, month, day))]
    return min(near, key=lambda found: abs(found - today)).isoformat() if near else ""


def _name_weekday(today: date, number: int) -> str:
    """Return the next day with this weekday, which may be today."""
    return _shift_day(today, (number - today.weekday()) % 7)


def _shift_day(today: date, days: int) -> str:
    try:
        return (today + timedelta(days=days)).isoformat()
    except OverflowError:
        return ""


def _make_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _read_day(occurred: str) -> date | None:
    try:
        return date.fromisoformat(occurred[:10])
    except ValueError:
        return None


@cache
def _read_days() -> dict[str, tuple[bool, int]]:
    """Return the words for days: whether it is a weekday, and which, or how many days it is from today."""
    days = {word: (True, at) for at, names in enumerate(_WEEKDAYS) for word in names.split()}
    return days | {word: (False, at) for at, names in enumerate(_NEAR_DAYS) for word in names.split()}


@cache
def _read_phrases() -> dict[str, tuple[_Phrase, ...]]:
    """Return the cues by their longest word."""
    found: dict[str, list[_Phrase]] = {}
    for table in CUE_WORDS.values():
        for kind, phrases in enumerate(table):
            for phrase in phrases.split("|"):
                words = tuple(_WORD.findall(phrase))
                longest = max(words, key=len)
                found.setdefault(longest, []).append(_Phrase(kind, words, words.index(longest)))
    return {word: tuple(dict.fromkeys(phrases)) for word, phrases in found.items()}
