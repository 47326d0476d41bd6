"""What is known to be true of a generated mailbox: its messages, and questions with the messages that answer them.

`mailbox_maker` fills these values; tests and benchmarks of the memory tree compare what they find with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tests.bench.mailbox_facts import MailFact
from tests.bench.mailbox_text import MailPerson, to_ascii
from tests.bench.sets import content

MAX_ENTITY_QUESTIONS = 240
MessageKind = Literal["talk", "list", "bulk", "bot", "spam"]
DateFault = Literal["", "missing", "future", "negative_zero", "no_such_day"]
NameForm = Literal["full", "lower", "first", "handle", "reversed", "ascii"]
_FULL: NameForm = "full"


class MessageTruth(NamedTuple):
    """What is true of one message."""

    message_id: str  # with its angle brackets
    thread: int
    author: str  # address
    person: int | None  # None for machines
    recipients: tuple[str, ...]
    time: str  # UTC, with Z
    title: str
    own: tuple[str, ...]  # the lines its author wrote, without empty ones
    form: str  # how it is encoded
    kind: MessageKind = "talk"
    parent: str = ""  # the message that it answers; "" where its headers do not say so
    date_fault: DateFault = ""
    labels: tuple[str, ...] = ()
    is_copy: bool = False  # of a message that is in the mailbox already

    @property
    def is_bulk(self) -> bool:
        """Whether a machine sent it."""
        return self.kind in {"bulk", "bot", "spam"}


class MailQuestion(NamedTuple):
    """A question about one fact, and what answers it."""

    text: str
    is_paraphrase: bool  # asked in other words than those of the mail
    kind: str  # of the fact
    thing: str  # that it is about, as the mail names it
    statement: str  # the sentence of the first message that answers
    message_ids: tuple[str, ...]  # one to three, oldest first
    author: str  # address of the first one's author
    person: int
    time: str  # of the first one
    thread: int


class EntityQuestion(NamedTuple):
    """A name in one way of writing it, and the addresses of the one person that it means."""

    text: str
    form: NameForm
    person: int
    addresses: frozenset[str]  # from which the person wrote in this mailbox


class MailboxTruth(NamedTuple):
    """What is true of a mailbox."""

    owner: str  # the address of the person whose mailbox it is
    people: tuple[MailPerson, ...]
    messages: tuple[MessageTruth, ...]  # in the order of the file; empty for a large mailbox
    questions: tuple[MailQuestion, ...]
    entities: tuple[EntityQuestion, ...]
    records: int  # messages in the file, copies too
    threads: int  # of people: 0 to threads - 1; each message of a machine has a number above


@dataclass
class QuestionDraft:
    """A question while the messages that answer it are being written."""

    fact: MailFact
    text: str
    is_paraphrase: bool
    statement: str = ""
    answers: list[MessageTruth] = field(default_factory=list)

    def finish(self) -> MailQuestion:
        """Return the question with all that answers it."""
        first = self.answers[0]
        assert first.person is not None
        return MailQuestion(
            text=self.text,
            is_paraphrase=self.is_paraphrase,
            kind=self.fact.kind.name,
            thing=self.fact.thing[0],
            statement=self.statement,
            message_ids=tuple(answer.message_id for answer in self.answers),
            author=first.author,
            person=first.person,
            time=first.time,
            thread=first.thread,
        )


def count_shared(draft: QuestionDraft, texts: Sequence[str]) -> int:
    """Return how many telling words a paraphrase shares with texts; 0 for a question with the words of the mail."""
    return len(content(draft.text) & content("\n".join(texts))) if draft.is_paraphrase else 0


def ask_for_people(people: Sequence[MailPerson], seen: Mapping[int, set[str]]) -> tuple[EntityQuestion, ...]:
    """Return questions for each of the people who wrote: the full name, and two forms that mean nobody else.

    `seen` has the addresses that each person wrote from.
    """
    names = {person.number: _name_forms(person) for person in people if person.number in seen}
    meant = Counter(text for forms in names.values() for text in {text.casefold() for text in forms.values()})
    questions = []
    for number, forms in names.items():
        others = [form for form, text in forms.items() if form != _FULL and meant[text.casefold()] == 1]
        for form in (_FULL, *(others * 2)[number % len(others) :][:2]):
            questions.append(EntityQuestion(forms[form], form, number, frozenset(seen[number])))
    return tuple(questions[:MAX_ENTITY_QUESTIONS])


def _name_forms(person: MailPerson) -> dict[NameForm, str]:
    forms: dict[NameForm, str] = {
        "full": person.name,
        "lower": person.name.lower(),
        "first": person.first,
        "handle": person.addresses[0].partition("@")[0],
        "reversed": f"{person.last}, {person.first}",
    }
    if not person.name.isascii():
        forms["ascii"] = f"{to_ascii(person.first)} {to_ascii(person.last)}"
    return forms
