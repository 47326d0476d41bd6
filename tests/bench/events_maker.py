"""Make a mailbox in which events, topics, questions, dates and new people are planted, and say where they are.

`make_events_mailbox` writes an mbox of work mail, small talk and machines, as the digests of the memory tree have to
read it. The same arguments give the same bytes. events_set.md beside this file says what is in it.

`events_plan` says who writes when, `events_text` and `events_talk` have the words, `mailbox_text` the people and their
mail programs, `mailbox_wire` the bytes; the values that it returns are in `events_truth`.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timezone
from pathlib import Path

from tests.bench.events_plan import MailboxPlan, PlannedMail, PlannedThread, named_date
from tests.bench.events_prose import MailProse
from tests.bench.events_talk import TALK, TOPIC_TALK
from tests.bench.events_text import BRANDS, MOSTLY_ONE, ONE_AUTHOR, ONE_DAY, TOPICS
from tests.bench.events_truth import (
    DecoyName,
    EventsMessage,
    EventsTruth,
    MailRole,
    NewPerson,
    PlantedDate,
    PlantedEvent,
    PlantedQuestion,
    PlantedTopic,
    berlin_offset,
    berlin_time,
    iso_week,
)
from tests.bench.mailbox_facts import MONTHS
from tests.bench.mailbox_machines import MachineMail, make_bot, make_newsletter, make_spam
from tests.bench.mailbox_text import (
    COMPANIES,
    DAYS,
    MailDraft,
    MailPerson,
    Quotable,
    full,
    local_time,
    write_html,
    write_plain,
)
from tests.bench.mailbox_wire import Headers, encode_message, encode_words, write_date, write_record, write_trace

__all__ = ["EventsTruth", "make_events_mailbox"]

_FORMS = ("utf8", "utf8", "quoted", "quoted", "base64", "flowed", "html", "alternative", "attached")
_ONE_LINE_FORMS = {"html", "alternative", "flowed"}  # a paragraph is one line there
_ANSWER_MARKS = {"en": "Re:", "de": "AW:", "fr": "RE:", "es": "Re:"}
_TOPIC_NAMES = frozenset(topic.name for topic in TOPICS)


def make_events_mailbox(
    path: Path,
    *,
    events: int = 60,
    topics: int = 12,
    noise_threads: int = 420,
    seed: int = 1,
    end: str = "2026-11-18",
    months: int = 9,
    messages: int = 2_400,
) -> EventsTruth:
    """Write an mbox with so many messages up to a day, and return its truth.

    Raises ValueError if what is planted needs more messages or days.
    """
    rng = random.Random(seed)
    plan = MailboxPlan(rng, end=date.fromisoformat(end), months=months)
    plan.plant_events(events)
    plan.plant_topics(topics)
    plan.plant_decoys()
    plan.plant_questions()
    plan.plant_dates()
    plan.plant_newcomers()
    plan.plan_machines()
    plan.fill(messages=messages, threads=noise_threads)
    writer = _MailboxWriter(rng, plan, seed)
    with path.open("wb") as file:
        file.writelines(writer.make_records())
    return writer.truth()


class _MailboxWriter:
    """The writing of a planned mailbox, mail by mail in order of time."""

    def __init__(self, rng: random.Random, plan: MailboxPlan, seed: int) -> None:
        self.rng, self.plan, self.seed = rng, plan, seed
        self.prose = MailProse(rng, [person.first for person in plan.regulars])
        self.messages: list[EventsMessage] = []
        self.events: list[PlantedEvent] = []
        self.questions: list[PlantedQuestion] = []
        self.dates: list[PlantedDate] = []
        self.newcomers: list[NewPerson] = []
        self.topics: defaultdict[str, list[str]] = defaultdict(list)

    def make_records(self) -> Iterator[bytes]:
        """Yield the records of the mbox."""
        mails: list[tuple[datetime, int, PlannedMail | None]] = [
            (mail.when, number, mail) for number, mail in enumerate(self.plan.mails)
        ]
        machines = [(when, -number, None) for number, when in enumerate(self.plan.machines, 1)]
        for when, _, mail in sorted([*mails, *machines], key=lambda one: one[:2]):
            message = self._write_machine(when) if mail is None else self._write_mail(mail)
            yield write_record(message, when)

    def _write_mail(self, mail: PlannedMail) -> bytes:
        """Return the bytes of a mail, and remember what is true of it."""
        thread, author = mail.thread, mail.author
        form = self.rng.choice(_FORMS)
        readers = [person for person in thread.members if person is not author]
        answered = thread.last.author if thread.last is not None else author
        reader = answered if answered in readers else readers[0]
        if not thread.ids and thread.title in {"", *_TOPIC_NAMES}:
            thread.title = self.prose.write_title(thread)
        own = self.prose.write_text(mail, reader.first, 0 if _has_long_lines(form, author) else 72)
        plain = "\n".join(write_plain(author, author.style, own, thread.last)) + "\n"
        html = write_html(author, own, None if author.style == "none" else thread.last)
        draft = MailDraft(full(own), plain, html)
        title = f"{_ANSWER_MARKS[thread.language]} {thread.title}" if thread.ids else thread.title
        message = self._remember(mail.when, author.addresses[0], title, draft, mail.role, author.number, thread.number)
        headers = [*self._head(mail, message.message_id, readers), ("Subject", encode_words(title)), *_link(thread)]
        thread.ids.append(message.message_id)
        lines = tuple(plain.rstrip("\n").split("\n")[:60])
        thread.last = Quotable(author, author.addresses[0], reader.name, mail.when, title, lines)
        self._record(mail, message)
        return encode_message(self.rng, headers, draft, form)

    def _head(self, mail: PlannedMail, message_id: str, readers: list[MailPerson]) -> Headers:
        """Return the headers that say who wrote to whom, and when."""
        author = mail.author
        name, label = encode_words(author.name), "Inbox"
        if self.rng.random() < 0.08 and author.name.isascii():
            name = f'"{author.last}, {author.first}"'
        local = local_time(author, mail.when)
        if author is self.plan.owner:
            local, label = mail.when.astimezone(timezone(berlin_offset(mail.when))), "Sent"
        headers = [*write_trace(mail.when, [label]), ("Message-ID", message_id)]
        headers += [("From", f"{name} <{author.addresses[0]}>"), ("Date", write_date(local))]
        headers.append(("To", ", ".join(f"{encode_words(one.name)} <{one.addresses[0]}>" for one in readers)))
        if mail.copies:
            headers.append(("Cc", ", ".join(one.addresses[0] for one in mail.copies)))
        return headers

    def _remember(
        self,
        when: datetime,
        address: str,
        title: str,
        draft: MailDraft,
        role: MailRole,
        person: int | None = None,
        thread: int = -1,
    ) -> EventsMessage:
        """Return what is true of a message, with a new id."""
        serial = len(self.messages)
        message_id = f"<{self.rng.getrandbits(48):012x}.{self.seed}.{serial}@{address.partition('@')[2]}>"
        time, day = f"{when:%Y-%m-%dT%H:%M:%SZ}", berlin_time(when).date()
        message = EventsMessage(message_id, thread, address, person, time, day, title, draft.own, draft.plain, role)
        self.messages.append(message)
        return message

    def _record(self, mail: PlannedMail, message: EventsMessage) -> None:
        """Add what is planted in a mail to the truth."""
        text, message_id, day = mail.text, message.message_id, message.day
        if mail.role == "topic":
            self.topics[mail.topic].append(message_id)
        elif mail.role == "newcomer":
            self.newcomers.append(NewPerson(mail.author.name, message.author, message_id, day))
        if text is None:
            return
        sentence = mail.sentences[0].text
        if mail.role == "event":
            event = PlantedEvent(
                kind=text.kind,
                language=text.language,
                message_id=message_id,
                thread=message.thread,
                time=message.time,
                day_utc=mail.when.astimezone(UTC).date(),
                day=day,
                week=iso_week(day),
                sentence=sentence,
                words=text.words,
                place=mail.sentences[0].place,
            )
            self.events.append(event)
        elif mail.role in {"open", "answered", "others"}:
            is_answered, is_to_owner = mail.role == "answered", mail.role != "others"
            question = PlantedQuestion(message_id, day, iso_week(day), sentence, text.words, is_answered, is_to_owner)
            self.questions.append(question)
        elif mail.role in {"dates", "past"}:
            self.dates.append(PlantedDate(message_id, day, sentence, text.words, named_date(text, mail.when)))

    def _write_machine(self, when: datetime) -> bytes:
        """Return a mail that a program sent to the owner."""
        chance = self.rng.random()
        mail: MachineMail
        if chance < 0.35:
            mail = self.prose.write_advert()
        else:
            mail = (make_newsletter if chance < 0.6 else make_bot if chance < 0.93 else make_spam)(self.rng)
        message = self._remember(when, mail.address, mail.title, mail.draft, "machine")
        headers = [*write_trace(when, [mail.label]), ("Message-ID", message.message_id)]
        headers += [("From", f"{mail.name} <{mail.address}>"), ("To", self.plan.owner.addresses[0])]
        headers += [("Subject", mail.title), ("Date", write_date(when)), *mail.headers]
        form = self.rng.choice(("html", "alternative", "quoted") if mail.kind == "bulk" else ("utf8", "base64"))
        return encode_message(self.rng, headers, mail.draft, form)

    def truth(self) -> EventsTruth:
        """Return what is true of all that was written."""
        kinds = {topic.name: topic.kind for topic in TOPICS}
        return EventsTruth(
            owner=self.plan.owner.addresses,
            owner_name=self.plan.owner.name,
            start=self.plan.start,
            end=self.plan.end,
            regulars=tuple(person.name for person in self.plan.regulars),
            events=tuple(self.events),
            topics=tuple(PlantedTopic(name, kinds[name], tuple(ids)) for name, ids in self.topics.items()),
            decoys=tuple(_list_decoys(self.plan)),
            questions=tuple(self.questions),
            dates=tuple(self.dates),
            newcomers=tuple(self.newcomers),
            messages=tuple(self.messages),
        )


def _has_long_lines(form: str, author: MailPerson) -> bool:
    return form in _ONE_LINE_FORMS or author.style == "outlook"


def _link(thread: PlannedThread) -> Headers:
    """Return the headers that say which message a reply answers."""
    if not thread.ids:
        return []
    known = dict.fromkeys([thread.ids[0], *thread.ids[-6:]])
    return [("In-Reply-To", thread.ids[-1]), ("References", "\n ".join(known))]


def _list_decoys(plan: MailboxPlan) -> Iterator[DecoyName]:
    """Yield the words that look like the names of topics."""
    yield DecoyName(ONE_AUTHOR, "one author")
    yield DecoyName(MOSTLY_ONE, "mostly one author")
    yield DecoyName(ONE_DAY, "one thread on one day")
    yield from (DecoyName(brand, "bulk mail") for brand in BRANDS)
    yield from (DecoyName(company.partition(".")[0].title(), "signatures") for company in COMPANIES)
    yield from (DecoyName(word, "a day or month") for word in (*DAYS, *MONTHS))
    people = [plan.owner, *plan.regulars, *plan.newcomers]
    yield from (DecoyName(name, "a person") for person in people for name in (person.first, person.last))
    yield from (DecoyName(word, "a common word") for word in sorted(_list_common_words()))


def _list_common_words() -> set[str]:
    """Return the words with a capital letter that begin English sentences and greetings, or are foreign nouns."""
    english = [text for part in TALK["en"] for text in part] + [text for part in TOPIC_TALK.values() for text in part]
    starts = [text[1:].partition("]")[0].split("/") if text.startswith("[") else [text] for text in english]
    first = {word for texts in starts for text in texts for word in re.findall(r"^[^\W\d_]+", text)}
    others = [text for language, table in TALK.items() if language != "en" for part in table for text in part]
    foreign = {word for text in others for word in re.findall(r"\b[^\W\d_]+", text)}
    return {word for word in first | foreign if word[0].isupper() and word not in DAYS}
