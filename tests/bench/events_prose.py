"""How the planned mails of `events_maker` are worded: ordinary sentences around what is planted, titles, greetings."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import count

from tests.bench.events_plan import PlannedMail, PlannedThread
from tests.bench.events_talk import NEWSLETTER_LINES, TALK, TOPIC_TALK, TOWNS, TalkTable
from tests.bench.events_text import BRANDS, TopicText
from tests.bench.mailbox_facts import MONTHS
from tests.bench.mailbox_machines import MachineMail
from tests.bench.mailbox_text import MailDraft, wrap

_TOWN_SHARE, _OPENER_SHARE = 0.06, 0.15  # of ordinary sentences
_QUESTION_SHARE = 0.12  # of mails
_MAX_TRIES = 1_000
_ALTERNATIVES = re.compile(r"\[([^\]]+)\]")


class MailProse:
    """The wording of the mails of one mailbox."""

    def __init__(self, rng: random.Random, names: Sequence[str]) -> None:
        self._rng, self._names = rng, names
        self._towns = rng.sample(TOWNS, len(TOWNS))  # in turn, so that none is in many mails
        self._town = count()
        self._titles: set[str] = set()

    def write_title(self, thread: PlannedThread) -> str:
        """Return a title that no other thread has. A thread may have the name of its topic as a beginning."""
        table = TALK[thread.language]
        for number in count():
            title = self._fill(table, self._rng.choice(table.titles))
            title = title if number < 50 else f"{title} ({number - 48})"
            title = f"{thread.title}: {title}" if thread.title else title[0].upper() + title[1:]
            if title not in self._titles:
                break
        self._titles.add(title)
        return title

    def write_text(self, mail: PlannedMail, reader: str, width: int) -> list[str]:
        """Return the lines that the author writes to a reader, wrapped to a width if it is not 0."""
        table = TALK[mail.thread.language]
        sentences = self._write_sentences(mail, table)
        greeting, closing = self._rng.choice(table.greetings), self._rng.choice(table.closings)
        lines = [greeting.format(first=reader), ""] if greeting else []
        while sentences:
            size = self._rng.randint(1, 3)
            lines += [*wrap(" ".join(sentences[:size]), width), ""]
            del sentences[:size]
        return [*lines, *filter(None, (closing, mail.author.first))]

    def _write_sentences(self, mail: PlannedMail, table: TalkTable) -> list[str]:
        """Return the sentences of a mail: ordinary ones, with the planted ones where they belong."""
        rng = self._rng
        least = 3 if mail.text is not None else 2
        sentences: list[str] = []
        for _ in range(rng.randint(least, 6)):
            sentences.append(self._draw(mail, table, self._choose_pool(table)))
        if mail.has_questions and rng.random() < _QUESTION_SHARE:
            sentences[rng.randrange(len(sentences))] = self._draw(mail, table, table.questions)
        for text, place, topic in mail.sentences:
            if topic is not None:
                text = self._draw(mail, table, TOPIC_TALK[topic.group], topic)
            places = {"first": 0, "last": len(sentences), "any": rng.randint(0, len(sentences))}
            sentences.insert(places.get(place, rng.randint(1, len(sentences) - 1)), text)
        return sentences

    def _choose_pool(self, table: TalkTable) -> Sequence[str]:
        has_town = self._rng.random() < _TOWN_SHARE
        return [sentence for sentence in table.sentences if ("{town}" in sentence) == has_town]

    def _draw(self, mail: PlannedMail, table: TalkTable, pool: Sequence[str], topic: TopicText | None = None) -> str:
        """Return a sentence that the thread does not have yet."""
        used = mail.thread.used
        for _ in range(_MAX_TRIES):
            template = self._rng.choice(pool)
            if template in used and len(used) < len(pool) - 3:
                continue
            text = self._fill(table, template, "" if topic is None else topic.name, mail.author.first)
            if text not in used:
                break
        used |= {template, text}
        if table.openers and template.startswith(("I ", "I'", "{first}", "{other}")):
            text = (f"{self._rng.choice(table.openers)} " if self._rng.random() < _OPENER_SHARE else "") + text
        return text

    def _fill(self, table: TalkTable, template: str, topic: str = "", author: str = "") -> str:
        rng = self._rng
        first, other = rng.sample([name for name in self._names if name != author], 2)
        thing = rng.choice(table.things)
        text = _ALTERNATIVES.sub(lambda found: rng.choice(found[1].split("/")), template).format(
            name=topic,
            first=first,
            other=other,
            thing=thing,
            bare=thing.partition(" ")[2],
            day=rng.choice(table.days),
            town=self._towns[next(self._town) % len(self._towns)] if "{town}" in template else "",
            n=rng.randint(2, 79),
            clock=f"{rng.randint(1, 6)}:{rng.choice(('00', '15', '30', '45'))}",
        )
        return text if topic and text.startswith(topic) else text[0].upper() + text[1:]

    def write_advert(self) -> MachineMail:
        """Return a newsletter that names its brand, asks questions and has dates ahead."""
        rng = self._rng
        brand = rng.choice(BRANDS)
        lines = [
            line.format(
                brand=brand,
                n=rng.randint(2, 79),
                town=rng.choice(self._towns),
                date=f"{rng.randint(1, 28)} {rng.choice(MONTHS)}",
            )
            for line in rng.sample(NEWSLETTER_LINES, 4)
        ]
        site = f"{brand.lower()}.example.com"
        footer = f"{brand} Ltd, you signed up on our site. Unsubscribe: https://{site}/bye/{rng.randint(1, 999_999)}"
        headers = [("List-Unsubscribe", f"<https://{site}/bye>"), ("Precedence", "bulk")]
        plain = "\n\n".join([*lines, footer]) + "\n"
        html = "<html><body>" + "".join(f"<p>{line}</p>" for line in [*lines, footer]) + "</body></html>"
        draft = MailDraft(tuple(lines), plain, html)
        title = f"{brand}: news for you, number {rng.randint(1, 999)}"
        return MachineMail("bulk", brand, f"hello@{site}", title, draft, headers, "Category Promotions")
