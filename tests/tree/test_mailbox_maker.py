"""The generated mailbox is the same for the same seed, and what it calls true stands in its bytes."""

from __future__ import annotations

import email
import html
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench import mailbox_maker
from tests.bench.mailbox_facts import KINDS, all_topics, make_fact
from tests.bench.mailbox_maker import MailboxTruth, MessageTruth, make_broken, make_lines, make_mailbox
from tests.bench.mailbox_wire import FORMS
from tests.bench.sets import content

FROM_LINE = re.compile(rb"^From - \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n", re.MULTILINE)
MESSAGES, THREADS = 500, 40


class Mailbox(NamedTuple):
    """A mailbox that was made, read back with the standard library."""

    truth: MailboxTruth
    data: bytes
    read: tuple[Message, ...]

    @property
    def pairs(self) -> Iterator[tuple[MessageTruth, Message]]:
        """Each message as it should be, and as it is."""
        return zip(self.truth.messages, self.read, strict=True)


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Mailbox:
    path = tmp_path_factory.mktemp("mailbox") / "all.mbox"
    truth = make_mailbox(path, messages=MESSAGES, threads=THREADS, seed=5)
    data = path.read_bytes()
    return Mailbox(truth, data, tuple(email.message_from_bytes(record) for record in FROM_LINE.split(data)[1:]))


def read_text(message: Message) -> str:
    """Return the first text of a message; of HTML, without tags."""
    part = next(part for part in message.walk() if part.get_content_maintype() == "text")
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    charset = part.get_content_charset("utf-8")
    text = payload.decode("windows-1252" if charset == "us-ascii" else charset)
    text = re.sub("^>(>*From )", r"\1", text, flags=re.MULTILINE)
    if part.get_content_subtype() == "html":
        text = html.unescape(re.sub("<[^>]*>", "\n", text))
    if part.get_param("format") == "flowed":
        text = re.sub("(?<! ) \n ?(?=[^>\n])", " ", re.sub("^-- $", "--", text, flags=re.MULTILINE))
        text = re.sub("^ ", "", text, flags=re.MULTILINE)
    return text


def even(text: str) -> str:
    """Return a text with single blanks for all white space."""
    return " ".join(text.split())


def by_id(truth: MailboxTruth) -> dict[str, MessageTruth]:
    """Return the messages by their id."""
    return {message.message_id: message for message in truth.messages}


def test_the_same_seed_makes_the_same_mailbox(mailbox: Mailbox, tmp_path: Path) -> None:
    """The same arguments give the same bytes and truth, and another seed gives others."""
    again, other = tmp_path / "again", tmp_path / "other"
    assert make_mailbox(again, messages=MESSAGES, threads=THREADS, seed=5) == mailbox.truth
    assert again.read_bytes() == mailbox.data
    make_mailbox(other, messages=MESSAGES, threads=THREADS, seed=6)
    assert other.read_bytes() != mailbox.data


def test_every_message_is_in_the_file(mailbox: Mailbox) -> None:
    """The file has the promised records in order of the truth, with their ids and titles."""
    assert len(mailbox.read) == len(mailbox.truth.messages) == mailbox.truth.records == MESSAGES
    for truth, message in mailbox.pairs:
        assert message["Message-ID"] == truth.message_id
        assert message["Subject"] == truth.title
        assert message["X-Gmail-Labels"] == ",".join(truth.labels)
        assert truth.author in message["From"]


def test_the_lines_of_authors_are_in_their_messages(mailbox: Mailbox) -> None:
    """Each line that the truth gives to an author stands in the decoded text."""
    for truth, message in mailbox.pairs:
        lines = {line.strip() for line in read_text(message).splitlines()}
        assert truth.own
        assert {line.strip() for line in truth.own} <= lines, truth


def test_every_form_and_charset_occurs(mailbox: Mailbox) -> None:
    """Every transfer encoding, charset, kind of sender and fault of a date is in the mailbox, and From in a text."""
    messages = mailbox.truth.messages
    assert {message.form for message in messages} == set(FORMS)
    assert {message.kind for message in messages} == {"talk", "list", "bulk", "bot", "spam"}
    charsets = {part.get_content_charset() for message in mailbox.read for part in message.walk()}
    assert charsets >= {"utf-8", "us-ascii", "koi8-r", "iso-2022-jp", "gb2312"}
    assert {"missing", "future", "negative_zero", "no_such_day"} <= {message.date_fault for message in messages}
    assert b"\n>From " in mailbox.data


def test_times_are_those_of_the_headers(mailbox: Mailbox) -> None:
    """The time of a message is that of Received, and of Date where that is possible."""
    for truth, message in mailbox.pairs:
        time = datetime.fromisoformat(truth.time)
        assert parsedate_to_datetime(message["Received"].rpartition(";")[2]) == time
        date = message["Date"]
        if truth.date_fault == "missing":
            assert date is None
        elif truth.date_fault == "no_such_day":
            assert "31 Feb" in date
        elif truth.date_fault == "future":
            assert "2099" in date
        elif truth.date_fault == "negative_zero":
            assert parsedate_to_datetime(date) == time.replace(tzinfo=None)
        else:
            assert parsedate_to_datetime(date) == time


def test_threads_hold_together(mailbox: Mailbox) -> None:
    """A thread has one subject, its parents are its own messages or missing, and every thread is there."""
    known = by_id(mailbox.truth)
    subjects: defaultdict[int, set[str]] = defaultdict(set)
    for truth, message in mailbox.pairs:
        subjects[truth.thread].add(truth.title.rpartition("Re: ")[2].removeprefix("RE: ").removeprefix("AW: "))
        if truth.parent in known:
            assert known[truth.parent].thread == truth.thread
        assert truth.parent == (message["References"] or "").split(" ")[-1]
        assert message["In-Reply-To"] in (None, truth.parent)
    assert {len(titles) for titles in subjects.values()} == {1}
    missing = sum(bool(truth.parent) and truth.parent not in known for truth in mailbox.truth.messages)
    assert 0 < missing < MESSAGES * 0.05
    assert len([number for number in subjects if number < THREADS]) == mailbox.truth.threads == THREADS


def test_hard_threads_occur(tmp_path: Path) -> None:
    """There are late replies, replies without References, missing parents, and equal subjects of different people."""
    truth = make_mailbox(tmp_path / "mbox", messages=3_000, threads=1_000)
    talk = [message for message in truth.messages if message.person is not None and not message.is_copy]
    known = by_id(truth)
    answers = [message for message in talk if message.title.startswith(("Re:", "RE:", "AW:"))]
    assert sum(not message.parent for message in answers) > 5
    assert sum(bool(message.parent) and message.parent not in known for message in answers) > 5
    last: dict[int, datetime] = {}
    gaps = []
    for message in talk:
        time = datetime.fromisoformat(message.time)
        gaps.append((time - last.get(message.thread, time)).days)
        last[message.thread] = time
    assert sum(gap > 60 for gap in gaps) >= 5
    people: defaultdict[str, dict[int, set[str]]] = defaultdict(dict)
    for message in talk:
        if message.title not in {answer.title for answer in answers}:
            people[message.title][message.thread] = {message.author, *message.recipients}
    twins = [list(threads.values()) for threads in people.values() if len(threads) > 1]
    owner = next(person for person in truth.people if truth.owner in person.addresses)
    assert len(twins) == 40
    for first, second in twins:
        assert first & second <= {*owner.addresses}


def test_copies_repeat_a_message(mailbox: Mailbox) -> None:
    """A copy has the id of a message that came before it, and nothing else has."""
    seen: set[str] = set()
    for message in mailbox.truth.messages:
        assert (message.message_id in seen) == message.is_copy
        seen.add(message.message_id)
    assert sum(message.is_copy for message in mailbox.truth.messages) == MESSAGES // 50


def test_questions_are_answered_by_their_messages(mailbox: Mailbox) -> None:
    """The first message of a question states the fact in its bytes, and its author, time and thread are as told."""
    known = by_id(mailbox.truth)
    texts = {truth.message_id: even(read_text(message)) for truth, message in mailbox.pairs}
    questions = mailbox.truth.questions
    assert len(questions) == len({question.text for question in questions}) == 200
    assert {len(question.message_ids) for question in questions} == {1, 2, 3}
    for question in questions:
        first = known[question.message_ids[0]]
        assert question.statement in texts[first.message_id]
        assert question.statement in even(" ".join(first.own))
        assert (question.author, question.person, question.time, question.thread) == (
            first.author, first.person, first.time, first.thread,
        )  # fmt: skip
        assert {known[message].thread for message in question.message_ids} == {first.thread}


def test_nobody_else_states_the_fact(mailbox: Mailbox) -> None:
    """Outside of the messages that answer, no author states anything of that kind about that thing."""
    kinds = {kind.name: kind for kind in KINDS}
    own = {message.message_id: even(" ".join(message.own)) for message in mailbox.truth.messages if not message.is_bulk}
    for question in mailbox.truth.questions:
        slots = {"thing": question.thing, "thing_bare": question.thing.removeprefix("the ")}
        for sentence in kinds[question.kind].sentences:
            parts = re.split(r"\{(\w+)\}", sentence)
            pattern = "".join(
                ("[^.]+?" if part not in slots else re.escape(slots[part])) if number % 2 else re.escape(part)
                for number, part in enumerate(parts)
            ).replace(re.escape(question.thing), re.escape(question.thing) + r"(?: for \w+)?")
            having = {message for message, text in own.items() if re.search(pattern, text, re.IGNORECASE)}
            assert having <= set(question.message_ids), question


def test_paraphrases_share_at_most_one_word_with_the_mail(tmp_path: Path) -> None:
    """Half of the questions share no more than one telling word with all that the author wrote; most share none."""
    shared: Counter[int] = Counter()
    for seed in range(6):
        truth = make_mailbox(tmp_path / "mbox", messages=MESSAGES, threads=THREADS, seed=seed)
        known = by_id(truth)
        for question in truth.questions:
            if question.is_paraphrase:
                messages = [known[message] for message in question.message_ids]
                counts = [len(content(question.text) & content("\n".join([m.title, *m.own]))) for m in messages]
                shared[max(counts)] += 1
    print(dict(shared))
    assert shared.total() == 600
    assert set(shared) <= {0, 1}
    assert shared[0] > 420


@pytest.mark.parametrize("variant", [0, 1])
def test_every_paraphrase_is_in_other_words(variant: int) -> None:
    """A paraphrase shares no word with any sentence of its fact, and a plain question shares two with the first."""
    rng = random.Random(3)
    for kind, thing in all_topics():
        fact = make_fact(rng, kind, thing, "Thandiwe Mokoena")
        said = set().union(*(content(fact.say(number)) for number in range(3)))
        assert not content(fact.ask_otherwise(variant)) & said, fact.ask_otherwise(variant)
        assert len(content(fact.ask(variant)) & content(fact.say(0))) >= 2, fact.ask(variant)


def test_people_are_asked_for_by_names_that_mean_one(mailbox: Mailbox) -> None:
    """There are at least 95 questions for people, in six forms, each with the addresses that the person wrote from."""
    entities = mailbox.truth.entities
    wrote: defaultdict[int | None, set[str]] = defaultdict(set)
    for message in mailbox.truth.messages:
        wrote[message.person].add(message.author)
    assert len(entities) >= 95
    assert {entity.form for entity in entities} == {"full", "lower", "first", "handle", "reversed", "ascii"}
    meant: defaultdict[str, set[int]] = defaultdict(set)
    for entity in entities:
        meant[entity.text.casefold()].add(entity.person)
        assert entity.addresses == wrote[entity.person]
    assert {len(people) for people in meant.values()} == {1}
    assert any(len(entity.addresses) > 1 for entity in entities)


def test_a_large_mailbox_keeps_no_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit, the truth has questions and people, but no messages."""
    monkeypatch.setattr(mailbox_maker, "MAX_TRUTH", 100)
    truth = make_mailbox(tmp_path / "mbox", messages=400, threads=30)
    assert truth.messages == ()
    assert len(truth.questions) == 200
    assert truth.entities


def test_lines_of_any_size() -> None:
    """The maker of lines yields whole records until the size is reached, the same ones each time."""
    records = list(make_lines(size=300_000, seed=2))
    assert 300_000 <= sum(map(len, records)) < 300_000 + max(map(len, records))
    assert all(record.startswith(b"From - ") and record.endswith(b"\n\n") for record in records)
    assert list(islice(make_lines(size=300_000, seed=2), 20)) == records[:20]


@given(st.integers(min_value=0, max_value=2**32))
def test_a_broken_message_is_the_same_for_the_same_seed(seed: int) -> None:
    """Every seed makes a message that is not empty, and always the same one."""
    assert make_broken(seed) == make_broken(seed) != b""


def test_broken_messages_are_broken_in_every_way() -> None:
    """Among 200 broken messages there are deep ones, huge headers, NULs, wrong boundaries and cut ones."""
    messages = [make_broken(seed) for seed in range(200)]
    assert any(message.count(b"boundary=") >= 200 for message in messages)
    assert any(len(message) > 50_000 and b"\n\n" not in message[:50_000] for message in messages)
    assert any(b"\0" in message for message in messages)
    assert any(b"boundary=\n" in message for message in messages)
    assert any(len(message) < 100 for message in messages)
    assert any(re.search(rb"^From: [^\n]*[\x80-\xff]", message, re.MULTILINE) for message in messages)
