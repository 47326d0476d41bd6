"""The mailbox with planted events is the same for the same arguments, and what it calls true holds in its bytes."""

from __future__ import annotations

import email
import html
import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from tests.bench.events_maker import EventsTruth, make_events_mailbox
from tests.bench.events_text import BRANDS, EVENT_KINDS, MOSTLY_ONE, ONE_AUTHOR, ONE_DAY, PLANTED, TOPICS
from tests.bench.events_truth import (
    OWNER_ZONE,
    EventsMessage,
    PlantedDate,
    PlantedEvent,
    PlantedQuestion,
    berlin_time,
    from_berlin,
    iso_week,
)

FROM_LINE = re.compile(rb"^From - \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n", re.MULTILINE)
CUT = 160  # characters of a sentence in which its telling words stand


class EventsMailbox(NamedTuple):
    """A mailbox that was made, read back with the standard library."""

    truth: EventsTruth
    data: bytes
    read: dict[str, Message]

    @property
    def by_id(self) -> dict[str, EventsMessage]:
        """The messages by their id."""
        return {message.message_id: message for message in self.truth.messages}

    def text(self, message_id: str) -> str:
        """Return the first text of a message with single blanks for all white space; of HTML, without tags."""
        message = self.read[message_id]
        part = next(part for part in message.walk() if part.get_content_maintype() == "text")
        payload = part.get_payload(decode=True)
        assert isinstance(payload, bytes)
        text = re.sub("^>(>*From )", r"\1", payload.decode("utf-8"), flags=re.MULTILINE)
        if part.get_content_subtype() == "html":
            text = html.unescape(re.sub("<[^>]*>", "\n", text))
        return even(text)


def even(text: str) -> str:
    return " ".join(text.split())


def own_text(message: EventsMessage) -> str:
    return even(" ".join(message.own))


@pytest.fixture(scope="module", params=[1, 2])
def mailbox(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> EventsMailbox:
    """Mailboxes of two seeds."""
    path = tmp_path_factory.mktemp("mailbox") / "all.mbox"
    truth = make_events_mailbox(path, seed=request.param)
    data = path.read_bytes()
    read = [email.message_from_bytes(record) for record in FROM_LINE.split(data)[1:]]
    return EventsMailbox(truth, data, {str(message["Message-ID"]): message for message in read})


def test_the_same_arguments_make_the_same_mailbox(tmp_path: Path) -> None:
    """The same arguments give the same bytes and truth, and another seed or end gives others."""
    files = [tmp_path / name for name in "abcd"]
    truths = [make_events_mailbox(file, messages=1_500, seed=3) for file in files[:2]]
    make_events_mailbox(files[2], messages=1_500, seed=4)
    make_events_mailbox(files[3], messages=1_500, seed=3, end="2026-11-17")
    assert truths[0] == truths[1]
    assert len({file.read_bytes() for file in files}) == 3
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_cannot_be_planted_is_refused(tmp_path: Path) -> None:
    """Too few messages, and more events than are written, are refused and not made up."""
    with pytest.raises(ValueError, match="too few"):
        make_events_mailbox(tmp_path / "a", messages=900)
    with pytest.raises(ValueError, match="events are written"):
        make_events_mailbox(tmp_path / "a", events=90)


def test_every_message_is_in_the_file(mailbox: EventsMailbox) -> None:
    """The file has exactly the messages of the truth, in order, with their titles, authors, times and texts."""
    assert [message.message_id for message in mailbox.truth.messages] == [*mailbox.read]
    times = [message.time for message in mailbox.truth.messages]
    assert times == sorted(times)
    for known in mailbox.truth.messages:
        message = mailbox.read[known.message_id]
        assert str(make_header(decode_header(message["Subject"]))) == known.title
        assert known.author in message["From"]
        moment = datetime.fromisoformat(known.time)
        assert parsedate_to_datetime(message["Date"]) == moment
        assert parsedate_to_datetime(message["Received"].rpartition(";")[2]) == moment
        assert known.day == berlin_time(moment).date()
        assert mailbox.truth.start <= known.day <= mailbox.truth.end
        assert all(even(line) in mailbox.text(known.message_id) for line in known.own)


def test_events_stand_in_their_messages(mailbox: EventsMailbox) -> None:
    """Each event is one whole sentence of its message: a third is the first one, a third the last, a third neither."""
    for event in mailbox.truth.events:
        assert event.sentence in mailbox.text(event.message_id)
        own = mailbox.by_id[event.message_id].own
        text = own_text(mailbox.by_id[event.message_id])
        before, found, after = text.partition(event.sentence)
        assert found and event.sentence not in after
        is_first = not before or (own[0].endswith((",", "!", ":")) and before.strip() == even(own[0]))
        is_last = after.count(".") + after.count("?") == 0
        assert {"first": (True, False), "last": (False, True), "middle": (False, False)}[event.place] == (
            is_first,
            is_last,
        ), event
    assert Counter(event.place for event in mailbox.truth.events) == {"first": 20, "middle": 20, "last": 20}


def test_there_are_sixty_events_of_every_kind(mailbox: EventsMailbox) -> None:
    """60 events have seven kinds and four languages, hardly two begin alike, and few say that something was decided."""
    events = mailbox.truth.events
    assert len(events) == 60 and [event.time for event in events] == sorted(event.time for event in events)
    assert {event.kind for event in events} == set(EVENT_KINDS)
    assert Counter(event.language != "en" for event in events)[True] == 6
    assert {event.language for event in events} == {"en", "de", "fr", "es"}
    assert len({tuple(event.sentence.split()[:2]) for event in events}) >= 40
    assert sum(bool(re.search("decided|agreed", event.sentence)) for event in events) <= 3
    assert not any("{" in event.sentence for event in events)


def test_days_and_weeks_are_those_of_the_owner(mailbox: EventsMailbox) -> None:
    """The day of an event is that of the owner's clock; for some it is another one in UTC, for two another week."""
    events = mailbox.truth.events
    for event in events:
        moment = datetime.fromisoformat(event.time)
        assert event.day == berlin_time(moment).date() and event.day_utc == moment.date()
        assert event.week == iso_week(event.day)
    assert sum(event.day != event.day_utc for event in events) == 6
    assert sum(event.week != iso_week(event.day_utc) for event in events) >= 2
    assert (
        len({event.day for event in events}) >= 50 and Counter(event.day for event in events).most_common(1)[0][1] == 2
    )


def test_telling_words_mean_one_event(mailbox: EventsMailbox) -> None:
    """The two or three telling words of what is planted stand early in its sentence, and together in no other mail."""
    texts = {
        message.message_id: f"{message.title} {own_text(message)}".casefold() for message in mailbox.truth.messages
    }
    truth = mailbox.truth
    all_planted: list[PlantedEvent | PlantedQuestion | PlantedDate] = [*truth.events, *truth.questions, *truth.dates]
    for planted in all_planted:
        words = [word.casefold() for word in planted.words]
        assert 2 <= len(words) <= 3
        assert all(word in planted.sentence[:CUT].casefold() for word in words)
        having = {ident for ident, text in texts.items() if all(word in text for word in words)}
        assert having == {planted.message_id}, planted
        assert not all(word in texts[planted.message_id].partition(planted.sentence.casefold())[0] for word in words)
    firsts = [text.words[0].casefold() for texts in PLANTED.values() for text in texts]
    assert len(firsts) == len(set(firsts))


def test_days_with_events_have_more_to_choose_from(mailbox: EventsMailbox) -> None:
    """Each day with an event has 3 to 15 ordinary mails of people, and three or more of machines."""
    people: Counter[date] = Counter()
    machines: Counter[date] = Counter()
    for message in mailbox.truth.messages:
        if message.role != "event":
            (machines if message.role == "machine" else people)[message.day] += 1
    for event in mailbox.truth.events:
        assert 3 <= people[event.day] <= 15 and machines[event.day] >= 3


def test_topics_are_written_about_by_many(mailbox: EventsMailbox) -> None:
    """Each topic is in 12 mails or more, in 4 threads, on 5 days of the last 90, by 4 authors; none has half."""
    truth, known = mailbox.truth, mailbox.by_id
    assert {(topic.name, topic.kind) for topic in truth.topics} == {(topic.name, topic.kind) for topic in TOPICS}
    for topic in truth.topics:
        messages = [known[ident] for ident in topic.message_ids]
        assert [m.message_id for m in truth.messages if topic.name in own_text(m)] == [*topic.message_ids]
        authors, days = Counter(message.author for message in messages), {message.day for message in messages}
        assert len(messages) >= 12 and len({message.thread for message in messages}) >= 4
        assert len(days) >= 5 and max(days) - min(days) <= timedelta(days=60)
        assert min(days) > truth.end - timedelta(days=88)
        assert len(authors) >= 4 and max(authors.values()) * 2 <= len(messages)
        assert all(topic.name in mailbox.text(message.message_id) for message in messages if message.own)


def test_decoys_are_what_they_say(mailbox: EventsMailbox) -> None:
    """One name has one author, one mostly one, one a single thread on one day; brands stand in bulk mail alone."""
    said: defaultdict[str, list[EventsMessage]] = defaultdict(list)
    for message in mailbox.truth.messages:
        for name in (ONE_AUTHOR, MOSTLY_ONE, ONE_DAY, *BRANDS):
            if name in own_text(message):
                said[name].append(message)
    lone, most, one_day = (said[name] for name in (ONE_AUTHOR, MOSTLY_ONE, ONE_DAY))
    assert len(lone) >= 12 and len({message.author for message in lone}) == 1
    assert len({message.thread for message in lone}) >= 4 and len({message.day for message in lone}) >= 5
    counts = Counter(message.author for message in most)
    assert len(counts) >= 3 and max(counts.values()) > len(most) / 2
    assert len(one_day) >= 12 and len({(message.thread, message.day) for message in one_day}) == 1
    assert len({message.author for message in one_day}) >= 4
    for brand in BRANDS:
        assert len(said[brand]) >= 12 and {message.role for message in said[brand]} == {"machine"}
    assert {decoy.name for decoy in mailbox.truth.decoys} >= {*said}


def test_no_other_name_could_be_a_topic(mailbox: EventsMailbox) -> None:
    """Every word with a capital letter that many people use in many threads is a topic or a known decoy."""
    uses: defaultdict[str, list[EventsMessage]] = defaultdict(list)
    for message in mailbox.truth.messages:
        if message.role != "machine":
            for word in set(re.findall(r"(?<![.!?:] )(?<!^)\b[^\W\d_][\w-]+", own_text(message))):
                if word[0].isupper():
                    uses[word].append(message)
    many = {
        word
        for word, messages in uses.items()
        if len(messages) >= 10
        and len({message.thread for message in messages}) >= 3
        and len({message.day for message in messages}) >= 3
        and len({message.author for message in messages}) >= 3
    }
    topics = {part for topic in mailbox.truth.topics for part in re.findall(r"[\w-]+", topic.name)}
    decoys = {part for decoy in mailbox.truth.decoys for part in re.findall(r"[\w-]+", decoy.name)}
    assert many <= topics | decoys


def test_open_questions_have_no_answer(mailbox: EventsMailbox) -> None:
    """Open questions are to the owner alone and end their thread; others were answered that day, or are for others."""
    truth, known = mailbox.truth, mailbox.by_id
    later: defaultdict[int, list[EventsMessage]] = defaultdict(list)
    for message in truth.messages:
        later[message.thread].append(message)
    answers = {text.sentence: text.other for text in PLANTED["answered"]}
    counts: Counter[tuple[bool, bool]] = Counter()
    for question in truth.questions:
        message = known[question.message_id]
        counts[question.is_to_owner, question.is_answered] += 1
        assert question.sentence in mailbox.text(question.message_id) and question.sentence.endswith("?")
        assert own_text(message).count("?") == 1
        after = [other for other in later[message.thread] if other.time > message.time]
        answered = [other for other in after if other.author in truth.owner and other.day == question.day]
        assert bool(answered) == bool(after) == question.is_answered
        assert not answered or answers[question.sentence] in own_text(answered[0])
        header = mailbox.read[question.message_id]
        assert (truth.owner[0] in header["To"]) == question.is_to_owner == (header["Cc"] is None)
        assert question.week == iso_week(question.day) and question.day == message.day
        assert question.is_open == (question.is_to_owner and not question.is_answered)
    assert counts == {(True, False): 16, (True, True): 12, (False, False): 6}


def test_dates_are_ahead_or_past(mailbox: EventsMailbox) -> None:
    """14 messages name a day that is ahead of them, and six one that is past; the day stands in the sentence."""
    for planted in mailbox.truth.dates:
        assert planted.sentence in mailbox.text(planted.message_id)
        named = planted.named
        assert str(named) in planted.sentence or (
            re.search(rf"\b{named.day}\b", planted.sentence) and f"{named:%B}" in planted.sentence
        )
    assert Counter(planted.is_ahead for planted in mailbox.truth.dates) == {True: 14, False: 6}
    assert len({re.sub(r"\d+", "1", planted.sentence) for planted in mailbox.truth.dates}) == 20


def test_new_people_write_for_the_first_time(mailbox: EventsMailbox) -> None:
    """Twelve people write first long after the others; everybody else wrote within the first weeks."""
    truth = mailbox.truth
    first: dict[str, EventsMessage] = {}
    for message in truth.messages:
        if message.role != "machine":
            first.setdefault(message.author, message)
    assert len(truth.newcomers) == 12
    for person in truth.newcomers:
        assert first.pop(person.address).message_id == person.message_id
        assert person.name.split()[0] in own_text(mailbox.by_id[person.message_id])
        assert person.day > truth.start + timedelta(days=40)
    assert all(message.day < truth.start + timedelta(days=40) for message in first.values())
    assert len(first) == len(truth.regulars) + 1


def test_the_owner_lives_in_berlin() -> None:
    """The clock of the owner is that of the zone database, on every hour of two years, there and back."""
    try:
        zone = ZoneInfo(OWNER_ZONE)
    except ZoneInfoNotFoundError:
        pytest.skip("this machine has no zone database")
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    while moment.year < 2028:
        assert berlin_time(moment).utcoffset() == moment.astimezone(zone).utcoffset()
        moment += timedelta(hours=1)
    assert from_berlin(date(2026, 3, 29), 10) == datetime(2026, 3, 28, 23, 10, tzinfo=UTC)
    assert from_berlin(date(2026, 7, 1), 600) == datetime(2026, 7, 1, 8, 0, tzinfo=UTC)
