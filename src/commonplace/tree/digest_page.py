"""Write a digest as a page in Markdown: what mattered in a day, week, month or year, most important first.

Every sentence stands on one line with the unit that says it. What has no room is counted in the last line. The text of
messages cannot look like the page's own: it begins no line, and what it could forge or hide is shown for what it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache, partial
from typing import Literal, NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.fence import visible
from commonplace.text.naming import cut
from commonplace.text.plural import plural
from commonplace.tree.digest import ASKED, DECIDED, DayDigest, DigestLine, DigestPerson, DigestThread

PeriodKind = Literal["day", "week", "month", "year", "window"]
MOST_CHARACTERS = {"day": 1_500, "week": 4_000, "month": 8_000, "year": 8_000}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MAX_NAME, _SHORT_TITLE = 40, 45  # characters
_MOST_NAMES, _MOST_SOURCES = 3, 8
_FEW_PEOPLE = (3, 1)  # new people that are named if there is no room for more
_DECIDED, _QUESTIONS, _DATES = "Decided", "Questions to you", "Dates ahead"
_VALUE_OF_PEOPLE = 40
_BELOW = 15  # points less for a date than for its sentence in the thread: then only the date is shown below
_FIRST, _QUESTION = 10, 8  # points of the first line of a thread, and of its question
_TELLING = 12  # the score of a sentence that is worth a line beside another one of its thread
_LAST_LINE = 80  # characters that are kept free for what it counts
_FORMULA = 40  # points less for a sentence that is a formula from beginning to end
_WORD = lazy(r"[^\W_]+(?:['’][^\W_]+)*")
_UNIT = lazy(r"\[(?=\s*[\w-]+-[0-9a-f]{4,}\s*\])")
_TAG = lazy(r"<(?=[A-Za-z/!?])")


class _PageLimits(NamedTuple):
    """How much of each thing a page shows."""

    sentence: int  # characters
    title: int
    new_people: int


_ROOMY = _PageLimits(200, 70, 12)
_CROWDED = (_PageLimits(140, 60, 8), _PageLimits(110, 50, 5))  # in turn, if not all is shown otherwise


class Period(NamedTuple):
    """A span of days that a digest is of: a day, an ISO week, a month, a year, or any other as a window."""

    kind: PeriodKind
    start: date
    end: date  # its last day

    @property
    def name(self) -> str:
        """What its file and scripts call it: 2026-11-15, 2026-W47, 2026-11, 2026."""
        if self.kind == "week":
            year, week, _ = self.start.isocalendar()
            return f"{year:04}-W{week:02}"
        if self.kind == "window":
            return f"{self.start}..{self.end}"
        return self.start.isoformat()[: {"day": 10, "month": 7, "year": 4}[self.kind]]

    @property
    def title(self) -> str:
        """What people call it: Sunday, 15 November 2026."""
        start, end = self.start, self.end
        month = f"{_MONTHS[start.month - 1]} {start.year}"
        if self.kind == "day":
            return f"{_WEEKDAYS[start.weekday()]}, {start.day} {month}"
        if self.kind in ("month", "year"):
            return month if self.kind == "month" else str(start.year)
        last = f"{end.day} {_MONTHS[end.month - 1]}"
        if self.kind == "window":
            return f"{_tell_start(start, end)} to {last} {end.year}"
        year, week, _ = start.isocalendar()
        ending = f" {end.year}" if start.year != end.year else ""
        return f"Week {week} of {year}: {_tell_start(start, end)} to {last}{ending}"

    def days(self) -> tuple[date, ...]:
        """Return its days, in order."""
        return tuple(self.start + timedelta(days=step) for step in range((self.end - self.start).days + 1))

    @property
    def most_characters(self) -> int:
        """How long its page may be."""
        length = (self.end - self.start).days + 1
        kind = self.kind if self.kind != "window" else "day" if length == 1 else "week" if length <= 7 else "month"
        return MOST_CHARACTERS[kind]


def period_of(kind: PeriodKind, day: date) -> Period:
    """Return the day, week, month or year that a day is in; as a window, the day alone."""
    if kind == "week":
        start = day - timedelta(days=day.weekday())
        return Period(kind, start, start + timedelta(days=min(6, (date.max - start).days)))
    if kind == "month":
        following = (day.replace(day=28) + timedelta(days=4)).replace(day=1) if day.month < 12 else None
        return Period(kind, day.replace(day=1), following - timedelta(days=1) if following else day.replace(day=31))
    if kind == "year":
        return Period(kind, day.replace(month=1, day=1), day.replace(month=12, day=31))
    return Period(kind, day, day)


def render_digest(digest: DayDigest, period: Period, *, most: int | None = None, command: str | None = None) -> str:
    """Return the page of a digest, at most so many characters (as its period has, if not given); "" of an empty one.

    What is left out is counted in its last line, with the command that shows it.
    """
    if digest.is_empty:
        return ""
    limit = period.most_characters if most is None else most
    tail = command or f"commonplace tree query-source --window {(period.end - period.start).days + 1}"
    for limits in (_ROOMY, *_CROWDED):
        page = _Page(digest, period, limits, limit - len(tail))
        page.fill()
        if not page.left_out():
            break
        page.name_others()
    return _cut_page(page.render(tail), limit)


class _Page:
    """A page while it is filled: what matters most is put on it first, as long as there is room."""

    def __init__(self, digest: DayDigest, period: Period, limits: _PageLimits, limit: int) -> None:
        self._digest, self._period, self._limits = digest, period, limits
        self._phrases = Counter(
            phrase
            for thread in digest.threads
            for phrase in {phrase for line in (*thread.asked, *thread.said) for phrase in _find_phrases(line.text)}
        )
        self._asked_me = {line.text for line in digest.questions}
        self._shown = set[str]()  # sentences
        self._named = 0  # threads of which only the title is shown
        self._threads: dict[str, list[DigestLine]] = {}  # the lines of each thread that is shown
        self._sections: dict[str, dict[int, str]] = {name: {} for name in (_DECIDED, _QUESTIONS, _DATES)}
        self._people = self._also = ""
        self._head, self._counts = f"# {period.title}", self._tell_counts()
        self._room = limit - len(self._head) - len(self._counts) - 6 - _LAST_LINE
        self._kept_free = limit // 6 if limits in _CROWDED else 0

    def fill(self) -> None:
        """Put everything on the page that has room, by turns: of each kind what matters most."""
        digest = self._digest
        tasks: list[tuple[int, int, Callable[[], None]]] = []

        def add(value: int, task: Callable[[], None]) -> None:
            tasks.append((-value, len(tasks), task))

        for thread in digest.threads:
            for rank, line in enumerate(self._list_lines(thread)):
                # A talk is told by its question and what is said to it, and a page by all of its talks.
                preferred = _FIRST * (rank == 0) + _QUESTION * (thread.messages > 1 and line in thread.asked[:1])
                value = self._value(line) + thread.weight // 6 - 5 * rank + preferred
                add(value, partial(self._add_to_thread, thread, line))
        for rank, line in enumerate(digest.questions):
            add(90 - 4 * rank, partial(self._add_line, _QUESTIONS, rank, line))
        for rank, line in enumerate(digest.decisions):
            add(self._value(line), partial(self._add_line, _DECIDED, rank, line))
        for rank, line in enumerate(digest.dates):
            add(self._value(line) - _BELOW, partial(self._add_date, rank, line))
        add(_VALUE_OF_PEOPLE, self._add_people)
        for _, _, task in sorted(tasks, key=lambda item: item[:2]):
            task()

    def _value(self, line: DigestLine) -> int:
        """Return what a line tells: less if it is made of phrases that other threads have, too."""
        phrases = _find_phrases(line.text)
        common = sum(self._phrases[phrase] > 1 for phrase in phrases)
        return line.score - (_FORMULA * common // len(phrases) if phrases else 0)

    def _list_lines(self, thread: DigestThread) -> Sequence[DigestLine]:
        """Return the lines of a thread that may be shown, what tells most first."""
        free = [line for line in thread.asked if line.text not in self._asked_me]
        return sorted((*thread.said, *free), key=lambda line: (-self._value(line), line.time, line.unit))

    def _take(self, size: int) -> bool:
        """Take so much of the room, if it is there."""
        if size > self._room - self._kept_free:
            return False
        self._room -= size
        return True

    def _add_to_thread(self, thread: DigestThread, line: DigestLine) -> None:
        """Show a line of a thread, if there is room, and none says the same."""
        lines = self._threads.get(thread.id, [])
        if line.text in self._shown or len(lines) >= _count_lines(thread) or (lines and self._value(line) < _TELLING):
            return
        before = len(self._write_thread(thread, lines)) + 1 if lines else 0
        if self._take(len(self._write_thread(thread, [*lines, line])) + 1 - before):
            self._threads[thread.id] = [*lines, line]
            self._shown.add(line.text)

    def _add_line(self, section: str, rank: int, line: DigestLine) -> None:
        if line.text not in self._shown:
            when = "" if self._period.kind == "day" else self._tell_day(line.day)
            about = ", ".join(filter(None, (_show(line.who, _MAX_NAME), when)))
            head = f"- **{self._show_title(line.title)}**{f' ({about})' if about else ''}"
            if self._put(section, rank, f"{head}: {self._write_sentence(line)}"):
                self._shown.add(line.text)

    def _add_date(self, rank: int, line: DigestLine) -> None:
        day = date.fromisoformat(line.day)
        when = f"{day.day} {_MONTHS[day.month - 1]}" + f" {day.year}" * (day.year != self._period.end.year)
        if line.text in self._shown:  # the sentence is above
            self._put(_DATES, rank, f"- {when}: **{self._show_title(line.title)}** [{line.unit}]")
        elif self._put(_DATES, rank, f"- {when}: {self._write_sentence(line, is_signed=True)}"):
            self._shown.add(line.text)

    def _put(self, section: str, rank: int, text: str) -> bool:
        lines = self._sections[section]
        if rank in lines or not self._take(len(text) + 1 + (0 if lines else len(section) + 11)):
            return False
        lines[rank] = text
        return True

    def _add_people(self) -> None:
        people = self._digest.people
        for most in (self._limits.new_people, *_FEW_PEOPLE):
            text = f"New people: {_join_names(people, most, 0)}."
            if people and not self._people and self._take(len(text) + 2):
                self._people = text

    def name_others(self) -> None:
        """Name the first of the threads that have no room, in the room that was kept for them; use what is left."""
        self._kept_free = min(self._kept_free, len("; ".join(self._list_others())) + 9)
        self.fill()
        self._kept_free = 0
        taken: list[str] = []
        for item in self._list_others():
            if not self._take(len(item) + (2 if taken else 9)):
                break
            taken.append(item)
        self._named, self._also = len(taken), f"Also: {'; '.join(taken)}" if taken else ""

    def _list_others(self) -> Sequence[str]:
        """Return the titles of the threads of which no sentence is shown."""
        shown = self._find_shown()
        return [
            f"{_show(thread.title, _SHORT_TITLE) or 'No subject'} ({_show(thread.people[0].name, _MAX_NAME)})"
            if thread.people
            else _show(thread.title, _SHORT_TITLE) or "No subject"
            for thread in self._digest.threads
            if thread.id not in shown
        ]

    def _write_thread(self, thread: DigestThread, lines: Sequence[DigestLine]) -> str:
        """Return the lines of a thread: one, if one message has one of them."""
        title = f"- **{self._show_title(thread.title)}**"
        about = ", ".join(filter(None, self._describe(thread)))
        head = f"{title} ({about})" if about else title
        ordered = sorted(lines, key=lambda line: (line.time, line.kind != ASKED))
        if len(lines) == 1 and thread.messages == 1:
            verb = "" if lines[0].kind not in (ASKED, DECIDED) else f" {lines[0].kind}"
            return f"{head}{verb}: {self._write_sentence(lines[0])}"
        rows = [head]
        for line in ordered:
            who = _show(line.who, _MAX_NAME) if thread.messages > 1 else ""
            rows.append(f"  - {f'{who} {line.kind}'.strip()}: {self._write_sentence(line)}")
        return "\n".join(rows)

    def _describe(self, thread: DigestThread) -> Iterator[str]:
        """Yield who wrote how much in a thread, and when."""
        yield _join_names(thread.people, _MOST_NAMES, thread.others)
        if thread.messages > 1:
            noun = "section" if thread.kind == "document" else "message"
            yield plural(thread.messages, noun, f"{noun}s")
        if self._period.kind != "day":
            first, last = self._tell_day(thread.first_day), self._tell_day(thread.last_day)
            yield first if first == last else f"{first} to {last}"

    def _tell_day(self, day: str) -> str:
        """Return a day of the period, as short as its length allows."""
        when = date.fromisoformat(day)
        if self._period.kind == "year":
            return _MONTHS[when.month - 1]
        if self._period.kind == "week":
            return _WEEKDAYS[when.weekday()]
        return f"{when.day} {_MONTHS[when.month - 1][:3]}"

    def _write_sentence(self, line: DigestLine, *, is_signed: bool = False) -> str:
        who = f" ({_show(line.who, _MAX_NAME)})" if is_signed and line.who else ""
        return f"{_show(line.text, self._limits.sentence)}{who} [{line.unit}]"

    def _show_title(self, title: str) -> str:
        return _show(title, self._limits.title).replace("*", "\\*") or "No subject"

    def _tell_counts(self) -> str:
        digest = self._digest
        rest = f"{plural(digest.bulk, 'bulk message', 'bulk messages')}."
        if not digest.messages:
            return f"No messages from people, {rest}"
        threads = plural(len(digest.threads) + len(digest.others), "thread", "threads")
        sources = ", ".join(f"{_show(name, _MAX_NAME)} {number:,}" for name, number in digest.sources[:_MOST_SOURCES])
        counts = f"{plural(digest.messages, 'message', 'messages')} in {threads} ({sources})"
        return f"{counts}, {rest}" if digest.bulk else f"{counts}."

    def _find_shown(self) -> set[str]:
        """Return the threads of which a sentence is shown."""
        digest, shown = self._digest, {*self._threads}
        for section, lines in ((_QUESTIONS, digest.questions), (_DECIDED, digest.decisions), (_DATES, digest.dates)):
            shown.update(lines[rank].thread for rank in self._sections[section])
        return shown

    def left_out(self) -> Sequence[str]:
        """Return what has no room, in words."""
        digest = self._digest
        shown = self._find_shown()
        threads = len({*digest.others, *(thread.id for thread in digest.threads)} - shown) - self._named
        questions = sum(line.text not in self._shown for line in digest.questions)
        decisions = sum(line.text not in self._shown for line in digest.decisions)
        dates = len(digest.dates) - len(self._sections[_DATES])
        counted = (
            (threads, "more thread", "more threads"),
            (questions, "more question to you", "more questions to you"),
            (decisions, "more decision", "more decisions"),
            (dates, "more date", "more dates"),
            (len(digest.people) * (not self._people), "new person", "new people"),
        )
        return [plural(number, one, many) for number, one, many in counted if number]

    def render(self, command: str) -> str:
        """Return the page; its last line says what is left out."""
        shown = [thread for thread in self._digest.threads if thread.id in self._threads]
        shown.sort(key=lambda thread: -thread.weight // 6 - max(map(self._value, self._threads[thread.id])))
        threads = [self._write_thread(thread, self._threads[thread.id]) for thread in shown]
        blocks = [self._head, "\n".join(threads)]
        digest = self._digest
        for section, lines in ((_DECIDED, digest.decisions), (_QUESTIONS, digest.questions), (_DATES, digest.dates)):
            rows = self._sections[section]
            order = sorted(rows, key=lambda rank: (lines[rank].day, lines[rank].time, rank))
            if rows:
                is_more = section == _DECIDED and any(
                    line.kind == DECIDED for shown in self._threads.values() for line in shown
                )
                blocks.append(
                    "\n".join([f"## {'Also decided' if is_more else section}", *(rows[rank] for rank in order)])
                )
        left = ", ".join(self.left_out())
        blocks += [self._also, self._people, self._counts, f"{left}: `{command}`" if left else ""]
        return "\n\n".join(filter(None, blocks)) + "\n"


@lru_cache(maxsize=4_000)
def _find_phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of three words in a text, without those with a name or a number."""
    words = _WORD.findall(text[:1].lower() + text[1:])
    runs = zip(words, words[1:], words[2:], strict=False)
    return frozenset(run for run in runs if all(map(str.islower, run)))


def _cut_page(page: str, limit: int) -> str:
    """Return a page without its last lines, should it be too long because there is room for nothing but the head."""
    while len(page) > limit:
        page = page.rstrip("\n").rpartition("\n")[0]
    return page


def _count_lines(thread: DigestThread) -> int:
    """Return how many lines of a thread may be shown: more of a long one, and all that was decided."""
    return 2 + thread.messages.bit_length() // 2 + sum(line.kind == DECIDED for line in thread.said[1:])


def _join_names(people: Sequence[DigestPerson], most: int, others: int) -> str:
    """Return the names of people, each once: "Ann Lee, Bob Roe and 3 more"."""
    names = list(dict.fromkeys(_show(person.name, _MAX_NAME) for person in people))
    more = len(names) - most + others if len(names) > most else others
    listed = ", ".join(names[:most])
    return f"{listed} and {more} more" if more > 0 else listed


@lru_cache(maxsize=4_000)
def _show(text: str, most: int) -> str:
    """Return the text of a message on one line, cut at a word, so that it cannot pass for ours.

    What is hidden is shown as an escape; a mark of a unit, a tag and a picture lose their meaning.
    """
    line = cut(" ".join(visible(text).split()), most)
    if "[" in line:
        line = _UNIT.sub("(", line.replace("![", "!\\["))
    return _TAG.sub("\\<", line) if "<" in line else line


def _tell_start(start: date, end: date) -> str:
    """Return the first day of a window, with as much of its date as its last day does not say."""
    if start.year != end.year:
        return f"{start.day} {_MONTHS[start.month - 1]} {start.year}"
    return str(start.day) if start.month == end.month else f"{start.day} {_MONTHS[start.month - 1]}"
