"""Make a mailbox whose truth is known: who wrote what, when, in which thread, and which message answers a question.

`make_mailbox` writes an mbox with 5,000 messages for tests of quality, or with 100,000 for benchmarks; `make_lines`
yields one of any size without truth; `make_broken` makes malformed messages. The same arguments give the same bytes.
Memory does not grow with the mailbox, except for the truth of its messages, which is kept up to MAX_TRUTH messages.

mailbox_set.md beside this file says what is in a mailbox. Facts are in `mailbox_facts`, words in `mailbox_text` and
`mailbox_machines`, bytes in `mailbox_wire`, the values that it returns in `mailbox_truth`.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.bench.mailbox_facts import MailFact, all_topics, make_fact
from tests.bench.mailbox_machines import make_bot, make_newsletter, make_spam
from tests.bench.mailbox_text import (
    CLOSINGS,
    FOREIGN,
    GREETINGS,
    PROJECTS,
    TOPICS,
    MailDraft,
    MailPerson,
    Quotable,
    full,
    local_time,
    make_paragraphs,
    make_people,
    make_small_talk,
    wrap,
    write_html,
    write_plain,
)
from tests.bench.mailbox_truth import (
    DateFault,
    MailboxTruth,
    MessageTruth,
    QuestionDraft,
    ask_for_people,
    count_shared,
)
from tests.bench.mailbox_wire import (
    FORMS,
    Headers,
    encode_message,
    encode_words,
    make_broken,
    may_encode,
    write_date,
    write_record,
    write_trace,
)

__all__ = ["MailboxTruth", "MessageTruth", "make_broken", "make_lines", "make_mailbox"]

MAX_TRUTH = 20_000
MAX_QUESTIONS = 200
START, SPAN = datetime(2023, 6, 1, tzinfo=UTC), timedelta(days=1_095)
MAX_SUBJECT_GAP = timedelta(days=25)  # of a reply without References: below the 30 days of the specification
LIST_ADDRESS = "talk@lists.example.org"
LIST_FOOTER = ("_" * 47, "Talk mailing list", LIST_ADDRESS, "https://lists.example.org/listinfo/talk")
_BULK, _BOT, _SPAM, _COPY, _TALK = range(5)
_SHARES = ((_BULK, 0.12), (_BOT, 0.08), (_SPAM, 0.03), (_COPY, 0.02))
_DATE_FAULTS: tuple[DateFault, ...] = ("missing", "future", "negative_zero", "no_such_day")
_MANY_FORMS = (*FORMS, "utf8", "utf8", "quoted", "quoted", "alternative")  # the common ones more often
_ONE_LINE_FORMS = {"html", "alternative", "flowed"}  # a paragraph is one line there


@dataclass
class _Thread:
    """A conversation of people while it is being written."""

    number: int
    title: str
    members: list[MailPerson]
    left: int  # messages to come
    is_list: bool
    ids: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # sentences, so that none is there twice
    last: Quotable | None = None
    restate: QuestionDraft | None = None


class _Post(NamedTuple):
    """Who writes a message of a thread, when and how."""

    author: MailPerson
    address: str
    recipients: tuple[str, ...]
    when: datetime
    title: str
    form: str
    charset: str


def make_mailbox(path: Path, *, messages: int = 5_000, threads: int = 400, seed: int = 1) -> MailboxTruth:
    """Write an mbox with so many messages, and so many threads of people, and return its truth."""
    maker = _MailboxMaker(messages, threads, seed)
    told: list[MessageTruth] = []
    with path.open("wb") as file:
        for record, truth in maker.make_records():
            file.write(record)
            if messages <= MAX_TRUTH:
                told.append(truth)
    return MailboxTruth(
        owner=maker.owner.addresses[0],
        people=tuple(maker.people),
        messages=tuple(told),
        questions=tuple(draft.finish() for draft in maker.questions),
        entities=ask_for_people(maker.people, maker.seen),
        records=messages,
        threads=maker.threads,
    )


def make_lines(*, size: int = 200_000_000, seed: int = 1) -> Iterator[bytes]:
    """Yield the records of an mbox of at least `size` bytes, one after the other, without their truth."""
    written = 0
    for part in count(seed):
        for record, _ in _MailboxMaker(20_000, 1_600, part).make_records():
            yield record
            written += len(record)
            if written >= size:
                return


class _MailboxMaker:
    """The making of one mailbox: the threads that go on, and what was asked so far."""

    def __init__(self, messages: int, threads: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed, self.messages = seed, messages
        self.people = make_people(self.rng, min(500, 60 + messages // 200))
        self.owner = self.people[0]
        self.kinds = bytearray(kind for kind, share in _SHARES for _ in range(int(messages * share)))
        talks = messages - len(self.kinds)
        self.kinds.extend([_TALK] * (talks - 1))
        self.rng.shuffle(self.kinds)
        self.kinds.insert(0, _TALK)  # a copy needs something before it
        self.threads = max(1, min(threads, talks))
        self.sizes = self._divide(talks)
        topics = all_topics()
        self.rng.shuffle(topics)
        wanted = min(MAX_QUESTIONS, talks * 2 // 3)
        self.asked, self.other_topics = topics[:wanted], topics[wanted:]
        self.ask_at = set(self.rng.sample(range(talks), wanted))
        self.questions: list[QuestionDraft] = []
        self.seen: defaultdict[int, set[str]] = defaultdict(set)
        self.active: list[_Thread] = []
        self.late: list[tuple[int, int, _Thread]] = []
        self.opened: _Thread | None = None
        self.recent: deque[tuple[bytes, MessageTruth]] = deque(maxlen=50)
        self.talked = 0

    def make_records(self) -> Iterator[tuple[bytes, MessageTruth]]:
        """Yield the records of the mbox in order of time, each with its truth."""
        step = SPAN / self.messages
        for index, kind in enumerate(self.kinds):
            when = (START + step * (index + self.rng.random())).replace(microsecond=0)
            if kind == _COPY:
                message, truth = self.rng.choice(self.recent)
                truth = truth._replace(is_copy=True)
            else:
                message, truth = (
                    self._make_talk(index, when) if kind == _TALK else self._make_machine(index, kind, when)
                )
                self.recent.append((message, truth))
            yield write_record(message, when, is_quoted=self.rng.random() < 0.9), truth

    def _divide(self, talks: int) -> list[int]:
        """Return how many messages each thread has: few have many."""
        weights = [self.rng.expovariate(1) for _ in range(self.threads)]
        scale = (talks - self.threads) / sum(weights)
        sizes = [1 + int(weight * scale) for weight in weights]
        for number in range(talks - sum(sizes)):
            sizes[number % self.threads] += 1
        return sizes

    def _next_thread(self, index: int) -> _Thread:
        """Return the thread that the next message belongs to: one that waits for a late reply, or one that goes on."""
        width = max(3, min(40, self.messages // 600))
        while len(self.active) < width and (self.opened is None or self.opened.number + 1 < self.threads):
            self.active.append(self._open_thread())
        if self.late and (not self.active or self.late[0][0] <= index):
            return heapq.heappop(self.late)[2]
        thread = self.rng.choice(self.active)
        if thread.left == 1:
            self.active.remove(thread)
        elif thread.left == 2 and thread.number % 10 == 3:  # its last message comes months later
            self.active.remove(thread)
            heapq.heappush(self.late, (index + self.messages // 8, thread.number, thread))
        return thread

    def _open_thread(self) -> _Thread:
        number = 0 if self.opened is None else self.opened.number + 1
        others = self.people[1:]
        is_twin = number % 25 == 24 and self.opened is not None
        if is_twin and self.opened is not None:  # the subject of the thread before, but other people
            title = self.opened.title
            others = [person for person in others if person not in self.opened.members]
        else:
            turn = number * 11 % (len(PROJECTS) * len(TOPICS))  # each one once: 11 divides neither
            round_ = number // (len(PROJECTS) * len(TOPICS))
            title = f"{PROJECTS[turn % len(PROJECTS)]}: {TOPICS[turn // len(PROJECTS)]}" + f" ({round_ + 1})" * bool(
                round_
            )
        members = [self.owner, *self.rng.sample(others, self.rng.choice((1, 1, 2, 2, 3, 4, 5)))]
        is_list = not is_twin and self.rng.random() < 0.1
        self.opened = _Thread(number, title, members, self.sizes[number], is_list)
        return self.opened

    def _make_talk(self, index: int, when: datetime) -> tuple[bytes, MessageTruth]:
        """Return the next message of a thread."""
        thread = self._next_thread(index)
        thread.left -= 1
        post = self._make_post(thread, when)
        draft, form, asked = self._write(thread, post)
        message_id = f"<{self.rng.getrandbits(48):012x}.{self.seed}.{index}@{post.address.partition('@')[2]}>"
        parent, links = self._link(thread, when)
        fault = self.rng.choice(_DATE_FAULTS) if self.rng.random() < 0.04 else ""
        labels = ["Inbox"] if post.author is not self.owner else ["Sent"]
        if not asked and self.rng.random() < 0.01:
            labels = ["Trash"]
        truth = MessageTruth(
            message_id=message_id,
            thread=thread.number,
            author=post.address,
            person=post.author.number,
            recipients=post.recipients,
            time=f"{when:%Y-%m-%dT%H:%M:%SZ}",
            title=post.title,
            own=draft.own,
            form=form,
            kind="list" if thread.is_list else "talk",
            parent=parent,
            date_fault=fault,
            labels=tuple(labels),
        )
        headers = [*self._head(truth, when, post.author), *links]
        if thread.is_list:
            headers.append(("List-Id", "Talk <talk.lists.example.org>"))
        for question in asked:
            question.answers.append(truth)
        thread.ids.append(message_id)
        body = tuple(draft.plain.rstrip("\n").split("\n")[:60])
        thread.last = Quotable(post.author, post.address, self.owner.name, when, post.title, body)
        self.seen[post.author.number].add(post.address)
        self.talked += 1
        return encode_message(self.rng, headers, draft, form, post.charset), truth

    def _make_post(self, thread: _Thread, when: datetime) -> _Post:
        rng = self.rng
        before = thread.last.author if thread.last else None
        author = rng.choice([member for member in thread.members if member is not before])
        address = rng.choice(author.addresses) if rng.random() < 0.3 else author.addresses[0]
        others = tuple(member.addresses[0] for member in thread.members if member is not author)
        title = f"{rng.choice(('Re:', 'Re:', 'RE:', 'AW:', 'Re: Re:'))} {thread.title}" if thread.ids else thread.title
        recipients = (LIST_ADDRESS, *others[:1]) if thread.is_list else others
        form = rng.choice(_MANY_FORMS)
        charset = rng.choice(("koi8-r", "iso-2022-jp", "gb2312")) if form == "foreign" else "utf-8"
        return _Post(author, address, recipients, when, title, form, charset)

    def _write(self, thread: _Thread, post: _Post) -> tuple[MailDraft, str, list[QuestionDraft]]:
        """Return what the author writes, the form that can hold it, and the questions that it answers."""
        sentences, asked = [], []
        if thread.restate is not None:
            asked.append(thread.restate)
            sentences.append(thread.restate.fact.say(len(thread.restate.answers) + 1))
            thread.restate = asked[-1] if len(asked[-1].answers) < 2 and self.rng.random() < 0.3 else None
        if self.talked in self.ask_at:
            asked.append(self._ask(len(self.questions)))
            sentences.append(asked[-1].statement)
            thread.restate = asked[-1] if self.rng.random() < 0.3 else None
        elif self.rng.random() < 0.5:
            sentences.append(self._make_other_fact().say(self.rng.randrange(3)))
        own = self._write_own(thread, post, sentences)
        while any(count_shared(draft, [post.title, *own]) > 1 for draft in asked):  # small talk gave a word away
            own = self._write_own(thread, post, sentences)
        footer = ["", *LIST_FOOTER] if thread.is_list else []
        style = post.author.style
        lines = [*write_plain(post.author, style, own, thread.last), *footer]
        html = write_html(post.author, own, None if style == "none" else thread.last)
        form = post.form if may_encode(own, post.form, post.charset) else "utf8"
        return MailDraft(full(own), "\n".join(lines) + "\n", html), form, asked

    def _ask(self, number: int) -> QuestionDraft:
        """Return the next question; every second one is in other words."""
        kind, thing = self.asked[number]
        fact = make_fact(self.rng, kind, thing, self.rng.choice(self.people).name)
        is_paraphrase = number % 2 == 1
        variant = self.rng.randrange(2)
        text = fact.ask_otherwise(variant) if is_paraphrase else fact.ask(variant)
        draft = QuestionDraft(fact, text, is_paraphrase, statement=fact.say(0))
        self.questions.append(draft)
        return draft

    def _make_other_fact(self) -> MailFact:
        """Return a fact that no question is about, of a project, so that few are the same."""
        kind, (name, other) = self.rng.choice(self.other_topics)
        return make_fact(
            self.rng, kind, (f"{name} for {self.rng.choice(PROJECTS)}", other), self.rng.choice(self.people).name
        )

    def _write_own(self, thread: _Thread, post: _Post, sentences: Sequence[str]) -> list[str]:
        rng = self.rng
        readers = [member.first for member in thread.members if member is not post.author]
        names = sorted({*readers, *(person.first for person in rng.sample(self.people, 4))} - {post.author.first})
        other = rng.choice(readers)
        foreign = "windows-1252" if post.form == "mislabelled" else post.charset
        greeting, closing = rng.choice(GREETINGS), rng.choice(CLOSINGS)
        paragraphs = make_paragraphs(rng, sentences, names, thread.used)
        if foreign in FOREIGN:
            greeting, sentence, closing = FOREIGN[foreign]
            paragraphs.insert(0, sentence.format(n=rng.randint(2, 99_999)))
        width = 0 if post.form in _ONE_LINE_FORMS or post.author.style == "outlook" else 72
        lines = [greeting.format(first=other), ""] if greeting else []
        for paragraph in paragraphs:
            lines += [*wrap(paragraph, width), ""]
        if width and rng.random() < 0.06:
            lines += self._make_block(names, thread.used)
        return [*lines, *filter(None, (closing, post.author.first))]

    def _make_block(self, names: Sequence[str], used: set[str]) -> list[str]:
        """Return lines that are no sentences: a list, a session at a prompt, or a table."""
        rng = self.rng
        number = rng.randint(100, 99_999)
        items = [f"- {sentence}" for sentence in make_small_talk(rng, 3, names, used)]
        session = [f">>> divmod({number}, 60)", f"{divmod(number, 60)}"]
        table = ["| no. | left |", *(f"| {n:3} | {rng.randint(0, 99):4} |" for n in range(1, 4))]
        return [*rng.choice((items, session, table)), ""]

    def _link(self, thread: _Thread, when: datetime) -> tuple[str, Headers]:
        """Return which message a reply answers, and the headers that say so."""
        if thread.last is None:
            return "", []
        chance = self.rng.random()
        if chance < 0.04 and not thread.is_list and when - thread.last.when < MAX_SUBJECT_GAP:
            return "", []  # only its subject says where it belongs
        parent = thread.ids[-1] if chance < 0.85 else self.rng.choice(thread.ids)
        if 0.04 <= chance < 0.06:  # it answers a message that this mailbox does not have
            parent = f"<{self.rng.getrandbits(48):012x}.gone@elsewhere.example.net>"
        links = [("In-Reply-To", parent)] if chance < 0.95 else []
        known = dict.fromkeys([thread.ids[0], *thread.ids[-6:], parent])
        known.pop(parent)
        return parent, [*links, ("References", "\n ".join([*known, parent]))]

    def _head(self, truth: MessageTruth, when: datetime, author: MailPerson) -> Headers:
        """Return the headers of a message of a person."""
        name = author.name
        chance = self.rng.random()
        if chance > 0.85:
            name = f'"{author.last}, {author.first}"' if chance > 0.93 and author.name.isascii() else author.first
        sender = (
            truth.author if 0.80 < chance <= 0.85 else f"{encode_words(name, quoted=chance < 0.4)} <{truth.author}>"
        )
        headers = [*write_trace(when, truth.labels), ("Message-ID", truth.message_id), ("From", sender)]
        headers += [("To", ", ".join(truth.recipients)), ("Subject", encode_words(truth.title))]
        if truth.date_fault == "":
            headers.append(("Date", write_date(local_time(author, when))))
        elif truth.date_fault == "future":
            headers.append(("Date", write_date(when.replace(year=2099, day=min(when.day, 28)))))
        elif truth.date_fault == "negative_zero":
            headers.append(("Date", write_date(when).replace("+0000", "-0000")))
        elif truth.date_fault == "no_such_day":
            headers.append(("Date", f"Tue, 31 Feb {when.year} {when:%H:%M:%S} +0000"))
        return headers

    def _make_machine(self, index: int, kind: int, when: datetime) -> tuple[bytes, MessageTruth]:
        """Return a mail that a program sent to the owner."""
        mail = {_BULK: make_newsletter, _BOT: make_bot, _SPAM: make_spam}[kind](self.rng)
        form = self.rng.choice(("html", "alternative", "quoted") if kind == _BULK else ("utf8", "base64"))
        truth = MessageTruth(
            message_id=f"<{self.rng.getrandbits(48):012x}.{self.seed}.{index}@{mail.address.partition('@')[2]}>",
            thread=self.threads + index,
            author=mail.address,
            person=None,
            recipients=(self.owner.addresses[0],),
            time=f"{when:%Y-%m-%dT%H:%M:%SZ}",
            title=mail.title,
            own=mail.draft.own,
            form=form,
            kind=mail.kind,
            labels=(mail.label,),
        )
        headers = [
            *write_trace(when, truth.labels),
            ("Message-ID", truth.message_id),
            ("From", f"{mail.name} <{mail.address}>"),
        ]
        headers += [("To", truth.recipients[0]), ("Subject", mail.title), ("Date", write_date(when)), *mail.headers]
        return encode_message(self.rng, headers, mail.draft, form), truth
