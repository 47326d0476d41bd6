"""Write a digest as a page in Markdown: what mattered in a day, week, month or year, most important first.

Every sentence stands on one line with the unit that says it. What has no room is counted in the last line. The text of
messages cannot look like the page's own: it begins no line, and what it could forge or hide is shown for what it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.fence import visible
from commonplace.text.naming import cut
from commonplace.text.plural import plural
from commonplace.tree.digest import ASKED, DECIDED, DayDigest, DigestLine, DigestPerson, DigestThread
from commonplace.tree.periods import MONTHS, WEEKDAYS, Period

MOST_CHARACTERS = {"day": 1_500, "week": 4_000, "month": 8_000, "year": 8_000}
_MAX_NAME, _SHORT_TITLE = 40, 45  # characters
_MOST_NAMES, _MOST_SOURCES = 3, 8
_FEW_PEOPLE = (3, 1)  # new people that are named if there is no room for more
_THREADS, _DECIDED, _QUESTIONS, _DATES, _PEOPLE = "", "Decided", "Questions to you", "Dates ahead", "New people"
_VALUE_OF_PEOPLE = 40
_BELOW = 15  # points less for a date than for its sentence in the thread: then only the date is shown below
_FIRST, _QUESTION = 10, 8  # points of the first line of a thread, and of its question
_SAME_VOICE = 6  # points less for each line that somebody has in a thread already
_TELLING = 12  # the score of a sentence that is worth a line beside another one of its thread
_MOST_LINES = 12  # of a thread
_SHORTEST = 45  # characters: what is put on a page is not shorter
_LEAST_THREAD = 100  # characters that a thread takes
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


class _PageItem(NamedTuple):
    """Something that may be put on a page."""

    value: int  # what it tells, compared with others
    section: str  # the thread's own lines: _THREADS
    rank: int  # among those of its section, or of its thread
    line: DigestLine | None = None
    thread: DigestThread | None = None
    is_telling: bool = True  # worth a line beside another one of its thread


def render_digest(digest: DayDigest, period: Period, *, most: int | None = None, command: str | None = None) -> str:
    """Return the page of a digest, at most so many characters (as its period has, if not given); "" of an empty one.

    What is left out is counted in its last line, with the command that shows it.
    """
    if digest.is_empty:
        return ""
    limit = most_characters(period) if most is None else most
    tail = command or f"commonplace tree query-source --window {period.length}"
    items = _rank_items(digest)
    is_crowded = _LEAST_THREAD * (len(digest.threads) + len(digest.others)) > limit
    for limits in _CROWDED[-1:] if is_crowded else (_ROOMY, *_CROWDED):
        page = _Page(digest, period, limits, limit - len(tail))
        page.fill(items)
        if not page.left_out():
            page.fill(items, is_ample=True)
            break
        page.name_others(items)
    return _cut_page(page.render(tail), limit)


def most_characters(period: Period) -> int:
    """Return how long the page of a period may be."""
    if period.kind != "window":
        return MOST_CHARACTERS[period.kind]
    return MOST_CHARACTERS["day" if period.length == 1 else "week" if period.length <= 7 else "month"]


def _rank_items(digest: DayDigest) -> Sequence[_PageItem]:
    """Return everything that may be put on the page of a digest, what tells most first."""
    uses = Counter(
        phrase
        for thread in digest.threads
        for phrase in {phrase for line in (*thread.asked, *thread.said) for phrase in _find_phrases(line.text)}
    )

    def value(line: DigestLine) -> int:
        # A sentence tells less if it is made of phrases that other threads have, too.
        phrases = _find_phrases(line.text)
        common = sum(uses[phrase] > 1 for phrase in phrases)
        return line.score - (_FORMULA * common // len(phrases) if phrases else 0)

    asked_me = {line.text for line in digest.questions}
    items = [_PageItem(_VALUE_OF_PEOPLE, _PEOPLE, 0)]
    places: dict[str, int] = {}  # of the sentences of threads
    for thread in digest.threads:
        lines = [(value(line), line) for line in (*thread.said, *thread.asked) if line.text not in asked_me]
        lines.sort(key=lambda item: (-item[0], item[1].time, item[1].unit))
        said_by = Counter[str]()
        for rank, (points, line) in enumerate(lines):
            # A talk is told by its question and what is said to it, and a page by all of its talks.
            preferred = _FIRST * (rank == 0) + _QUESTION * (thread.messages > 1 and line in thread.asked[:1])
            place = points + thread.weight // 6 - 5 * rank + preferred - _SAME_VOICE * said_by[line.who]
            said_by[line.who] += len(thread.people) > 1
            items.append(_PageItem(place, _THREADS, rank, line, thread, points >= _TELLING))
            places[line.text] = place
    items += [_PageItem(90 - 4 * rank, _QUESTIONS, rank, line) for rank, line in enumerate(digest.questions)]
    items += [_PageItem(value(line), _DECIDED, rank, line) for rank, line in enumerate(digest.decisions)]
    for rank, line in enumerate(digest.dates):  # a sentence stands in its thread first
        points = value(line) - _BELOW
        items.append(_PageItem(min(points, places.get(line.text, points + 1) - 1), _DATES, rank, line))
    return sorted(items, key=lambda item: -item.value)


class _Page:
    """A page while it is filled: what matters most is put on it first, as long as there is room."""

    def __init__(self, digest: DayDigest, period: Period, limits: _PageLimits, limit: int) -> None:
        self._digest, self._period, self._limits = digest, period, limits
        self._shown = set[str]()  # sentences
        self._named = 0  # threads of which only the title is shown
        self._threads: dict[str, list[DigestLine]] = {}  # the lines of each thread that is shown, best first
        self._heads: dict[str, str] = {}
        self._sections: dict[str, dict[int, str]] = {name: {} for name in (_DECIDED, _QUESTIONS, _DATES)}
        self._people = self._also = ""
        self._title, self._counts = f"# {period.title}", self._tell_counts()
        self._room = limit - len(self._title) - len(self._counts) - 6 - _LAST_LINE
        self._kept_free = limit // 6 if limits in _CROWDED else 0

    def fill(self, items: Sequence[_PageItem], *, is_ample: bool = False) -> None:
        """Put on the page what has room and is not there; of a thread as much as it tells, if there is ample room."""
        for item in items:
            if self._room - self._kept_free < _SHORTEST:
                return
            if item.line is None:
                self._add_people()
            elif item.thread is not None:
                most = _MOST_LINES if is_ample else _count_lines(item.thread)
                self._add_to_thread(item.thread, item.line, most if item.is_telling else 1)
            elif item.section == _DATES:
                self._add_date(item.rank, item.line)
            else:
                self._add_line(item.section, item.rank, item.line)

    def _take(self, size: int) -> bool:
        """Take so much of the room, if it is there."""
        if size > self._room - self._kept_free:
            return False
        self._room -= size
        return True

    def _add_to_thread(self, thread: DigestThread, line: DigestLine, most: int) -> None:
        lines = self._threads.get(thread.id, [])
        if line.text in self._shown or len(lines) >= most:
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
        when = f"{day.day} {MONTHS[day.month - 1]}" + f" {day.year}" * (day.year != self._period.end.year)
        if line.text in self._shown:  # the sentence is above
            told = f"- {when}: **{self._show_title(line.title)}** ["
            if not any(row.startswith(told) for row in self._sections[_DATES].values()):
                self._put(_DATES, rank, f"{told}{line.unit}]")
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
            text = f"{_PEOPLE}: {_join_names(people, most, 0)}."
            if people and not self._people and self._take(len(text) + 2):
                self._people = text

    def name_others(self, items: Sequence[_PageItem]) -> None:
        """Name the first of the threads that have no room, in the room that was kept for them; use what is left."""
        self._kept_free = min(self._kept_free, len("; ".join(self._list_others())) + 9)
        self.fill(items)
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
        head = self._heads.get(thread.id)
        if head is None:
            about = ", ".join(filter(None, self._describe(thread)))
            head = f"- **{self._show_title(thread.title)}**{f' ({about})' if about else ''}"
            self._heads[thread.id] = head
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
            return MONTHS[when.month - 1]
        if self._period.kind == "week":
            return WEEKDAYS[when.weekday()]
        return f"{when.day} {MONTHS[when.month - 1][:3]}"

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
        dates = sum(line.text not in self._shown for line in digest.dates)
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
        known = {thread.id: thread for thread in self._digest.threads}
        threads = [self._write_thread(known[ident], lines) for ident, lines in self._threads.items()]
        blocks = [self._title, "\n".join(threads)]
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
