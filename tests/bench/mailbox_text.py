"""The people of a generated mailbox and what they write: names, small talk, signatures, quotes of several programs.

Everything is drawn from a `random.Random`, so the same seed writes the same words. A draft keeps the author's own lines
apart from what is quoted, signed or appended: they are the truth that cleaning is measured against. `mailbox_maker`
uses it; `mailbox_wire` turns drafts into bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from html import escape
from typing import NamedTuple

_FIRST_NAMES = (
    "Priya Tobias Marguerite Oskar Lucia Femi Hana Matteo Ingrid Yusuf Catalina Bram Wiebke Anselmo Nkechi Sven Leila "
    "Gaspar Rowan Zofia Henrike Idris Capucine Torben Amara Viktor Solveig Renzo Philippa Kofi Annika Duarte Mirela "
    "Casper Odile Tariq Birgit Eamon Ximena Lorenz Swantje Pavel Noor Gideon Fiammetta Jonas Thandiwe Ruben Edith "
    "Mikael Siobhan Emre Valentina Hugo Agnieszka Dev Clemence Arvid Isaura Callum Yuki Bernard Nadia Stellan Paloma "
    "Otto Ginevra Farid Liesbeth Anders Ottilie Cyril Jagoda Rafael Mathilde Sanjay Elske Bruno Katarina Wendell Sølvi "
    "Zoë Łukasz Jürgen Hélène Çağla Iñaki Håkan Björk Želmira Desmond Imogen Taavi Perpetua Osvaldo Greta Milo Akiko"
)
_LAST_NAMES = (
    "Raman Lindner Delorme Haraldsen Bianchi Oduya Suzuki Conti Bergman Demir Robles Aukema Jansen Salas Adeyemi Holm "
    "Haddad Teles Tate Zaremba Zabel Osman Abadie Krogh Nwosu Petrov Dahl Marchetti Hartnell Boateng Strand Paixao "
    "Ionescu Falk Castagne Rahman Ehlers Keane Olivares Quast Thoelke Novotny Hendriks Achterberg Loi Wirth Mokoena "
    "Etxeberria Pritchard Sandberg Kerrigan Yildiz Sbarbaro Lemoine Wrona Malhotra Montreval Hedman Figueira Bannerman "
    "Tanaka Fournier Farouk Ekdahl Ferrer Brandis Pallavicini Nasser Ottevanger Boström Vossberg Kerbrat Pietras Pires "
    "Gourvennec Iyer Terpstra Calatrava Horvat Featherstone Ødegård Núñez Wójcik Schäfer Béranger Şahin Peña Sjödin "
    "Þórsson Đurić Okafor Whitley Tamm Carvalho Duarte-Lima Almquist Rossetti Mori Vance Underwood"
)
COMPANIES = ("heron.example.org", "brackwater.example.com", "tindra.example.net", "lumen.example.org")
ROLES = ("Head of Operations", "Procurement", "Site Reliability", "Finance", "Facility Team", "Customer Care", "Legal")
STYLES = ("gmail", "gmail", "outlook", "outlook", "apple", "bottom", "bottom", "interleaved", "yahoo", "none")
_PROJECTS = (
    "Heron Basalt Juniper Meridian Kestrel Lantern Orchid Quarry Saffron Tundra Umbra Vesper Willow Zephyr Amber Birch "
    "Cobalt Delta Ember Fathom Granite Harbour Indigo Jasper Krill Larkspur Mistral Nimbus Onyx Petrel"
)
FIRST_NAMES = tuple(_FIRST_NAMES.split(" "))
LAST_NAMES = tuple(_LAST_NAMES.split(" "))
PROJECTS = tuple(_PROJECTS.split(" "))
TOPICS = (
    "open points", "notes from the call", "plan for next week", "a question", "before the visit", "status", "to do",
    "loose ends", "last details", "small correction", "after the review", "room and dates", "shopping list", "handover",
    "news from the site", "some numbers", "things to decide", "a favour", "where we are", "follow-up", "odds and ends",
)  # fmt: skip
# Small talk has no fact in it that a question could be about.
SMALL_TALK = (
    "I went through the {adjective} list on {day} and crossed out {n} lines.",
    "{first} was here on {day} and seemed {mood} about it.",
    "Could you tell {first} before {day}? I will not reach anybody until then.",
    "I am {mood} that it took us {n} weeks, but that is over.",
    "The trainee did a {adjective} job with the boxes on {day}.",
    "On {day} I am in the {adjective} meeting until {n} past two.",
    "If you see {first}, say hello from me and from {other_first}.",
    "{n} of us will be there, so bring a {adjective} cake.",
    "The rain on {day} was {adjective}, my shoes are still wet.",
    "I have a {adjective} feeling about the whole thing, to be honest.",
    "Please look at number {n} again, it seems {adjective} to me.",
    "{first} and {other_first} agree with me, which is {adjective} enough.",
    "I asked {first} the same and only got a {mood} look.",
    "As you can imagine, everybody was {mood} after {n} hours of talk.",
    "My train was {n} minutes late, so I missed the {adjective} part.",
    "We can speak about it on {day}, I am around all afternoon.",
    "By the way, {other_first} is back from holiday and {mood}.",
    "That is the {adjective} half of the story, {first} knows the rest.",
    "Let me sleep on it and write to {first} on {day}.",
    "It is a {adjective} idea, but I would wait until {day}.",
    "There were {n} answers, most of them {adjective}.",
    "Nothing else happened since {day}, apart from a {adjective} lunch.",
    "I counted them twice and got {n} both times.",
    "{other_first} drew a {adjective} picture of it, I will show you.",
    "From {day} on I am away for {n} days; {first} stands in for me.",
    "I am sorry for the {adjective} wording in my note of {day}.",
    "You were right about {first}, by the way.",
    "The {adjective} folder on my shelf is for {other_first}.",
    "I have no opinion on it, {first} probably has {n}.",
    "Would {day} morning suit you? {first} can join after lunch.",
    "My dog ate the {adjective} copy, so please send another one.",
    "We laughed about the {adjective} drawing for {n} minutes.",
    "Sorry for the silence, {n} of my colleagues were ill until {day}.",
    "{first} asked whether we are {mood} with the {adjective} version.",
    "Honestly, I expected something less {adjective}.",
    "Next time we should sit down together, perhaps on {day}.",
    "{other_first} has a {adjective} theory, but no proof.",
    "I wrote {n} words and deleted most of them.",
    "Everything else can wait until {day}.",
    "Ask {first}, who was {mood} to see it at last.",
    "It sounds {adjective}, and yet {other_first} is {mood}.",
    "Let us not repeat the {adjective} episode with {first}.",
    "I owe you a coffee for that, and {first} owes you {n}.",
    "The neighbours complained about the {adjective} noise on {day}.",
    "{first} will be on the phone with us, {other_first} will not.",
    "Half of it is {adjective}; I leave the other half to {first}.",
    "I am back at my {adjective} window seat since {day}.",
    "They gave me {n} reasons, and not one was {adjective}.",
    "{first} is expecting a child, so {other_first} does it alone for {n} weeks.",
    "Did you see the {adjective} sky on {day}?",
    "That made {first} {mood}, which I understand.",
    "Fine with me, as long as {other_first} does not mind.",
    "We tried it {n} times, always with a {adjective} result.",
    "Please do not forward this, {first} would be {mood}.",
)
ADJECTIVES = (
    "long", "short", "strange", "useful", "boring", "green", "yellow", "careful", "messy", "lovely", "slow", "decent",
    "clumsy", "splendid", "modest", "rough", "noisy", "gentle", "crooked", "shiny", "brave", "dusty", "quiet", "solid",
)  # fmt: skip
MOODS = ("happy", "tired", "worried", "relieved", "curious", "cheerful", "grumpy", "confused", "calm", "proud")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GREETINGS = ("Hi {first},", "Hello {first},", "Dear {first},", "{first},", "Hi {first}!", "")
CLOSINGS = ("Thanks,", "Best regards,", "Cheers,", "Kind regards,", "Best,", "")
FOREIGN = {
    "koi8-r": ("Добрый день, {first}!", "Пишу коротко, потому что поезд отходит через {n} минут.", "Всего доброго,"),
    "iso-2022-jp": ("{first}様", "いつもお世話になっております。資料は{n}枚あります。", "よろしくお願いします。"),
    "gb2312": ("{first}，你好！", "我们昨天讨论了{n}个问题，大家都很满意。", "祝好，"),
    "windows-1252": ("Hi {first} –", "The café was “closed”, so we paid {n} € for soup at Zoë’s.", "Cheers …"),
}


class MailPerson(NamedTuple):
    """Somebody who writes, and how."""

    number: int
    first: str
    last: str
    addresses: tuple[str, ...]
    offset: int  # minutes east of UTC
    style: str  # of quoting
    signature: tuple[str, ...]  # lines; the first one is "-- " or not

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.first} {self.last}"


class MailDraft(NamedTuple):
    """A message before it is encoded."""

    own: tuple[str, ...]  # the lines that its author wrote, without empty ones
    plain: str
    html: str


class Quotable(NamedTuple):
    """What a reply quotes: a message as its readers saw it."""

    author: MailPerson
    address: str
    to: str
    when: datetime
    title: str
    lines: tuple[str, ...]


def make_people(rng: random.Random, count: int) -> list[MailPerson]:
    """Return so many people, each with one to three addresses that nobody else has."""
    taken: set[str] = set()
    people = []
    for number in range(count):
        first = FIRST_NAMES[number % len(FIRST_NAMES)]
        last = LAST_NAMES[(number * 37 + number // len(FIRST_NAMES)) % len(LAST_NAMES)]
        company = rng.choice(COMPANIES)
        addresses = [_make_address(rng, first, last, company, taken)]
        if rng.random() < 0.3:
            addresses.append(_make_address(rng, first, last, "home.example.org", taken))
            if rng.random() < 0.3:
                addresses.append(_make_address(rng, first, last, "post.example.net", taken))
        people.append(
            MailPerson(
                number=number,
                first=first,
                last=last,
                addresses=tuple(addresses),
                offset=rng.choice((-480, -300, -180, 0, 0, 60, 60, 60, 120, 330, 345, 540)),
                style=rng.choice(STYLES),
                signature=_make_signature(rng, first, last, company),
            )
        )
    return people


def _make_address(rng: random.Random, first: str, last: str, domain: str, taken: set[str]) -> str:
    one, two = to_ascii(first), to_ascii(last)
    local = rng.choice((f"{one}.{two}", f"{one}.{two}", f"{one[0]}{two}", f"{one}_{two[0]}", f"{two}.{one}"))
    address = f"{local}@{domain}"
    while address in taken:
        address = f"{local}{rng.randint(2, 99)}@{domain}"
    taken.add(address)
    return address


def to_ascii(name: str) -> str:
    """Return a name as it is written in addresses."""
    table = str.maketrans("øöåäüéèëïñßçşğıłóøžćðþúí", "ooaaueeeinscsgiloozcdtui")
    return "".join(c for c in name.lower().translate(table) if c.isascii() and c.isalpha()) or "x"


def _make_signature(rng: random.Random, first: str, last: str, company: str) -> tuple[str, ...]:
    phone = f"+44 20 7946 0{rng.randint(100, 999)}"
    name = company.split(".")[0].title()
    role = rng.choice(ROLES)
    return rng.choice(
        (
            (),
            ("-- ", f"{first} {last}", f"{role}, {name}"),
            ("-- ", f"{first} {last} | {name} | {phone}"),
            ("", role, f"{name} Ltd", f"Tel. {phone}", f"www.{company}"),
            ("", "Sent from my iPhone"),
            ("", "Get Outlook for Android"),
        )
    )


def make_paragraphs(rng: random.Random, sentences: Sequence[str], names: Sequence[str], used: set[str]) -> list[str]:
    """Return paragraphs that say the sentences among small talk that is not in `used` yet."""
    parts = list(sentences)
    for sentence in make_small_talk(rng, rng.randint(1, 4), names, used):
        parts.insert(rng.randint(0, len(parts)), sentence)
    paragraphs: list[str] = []
    while parts:
        count = rng.randint(1, 3)
        paragraphs.append(" ".join(parts[:count]))
        del parts[:count]
    return paragraphs


def make_small_talk(rng: random.Random, number: int, names: Sequence[str], used: set[str]) -> list[str]:
    """Return so many different sentences that are not in `used`, and remember them there. `names` has two or more."""
    sentences: list[str] = []
    for template in rng.sample(SMALL_TALK, len(SMALL_TALK)):
        first, other = rng.sample(names, 2)
        text = template.format(
            first=first,
            other_first=other,
            adjective=rng.choice(ADJECTIVES),
            mood=rng.choice(MOODS),
            day=rng.choice(DAYS),
            n=rng.randint(2, 59),
        )
        if text not in used:
            used.add(text)
            sentences.append(text)
        if len(sentences) == number:
            break
    return sentences


def wrap(text: str, width: int) -> list[str]:
    """Return a paragraph as lines of at most `width` characters; of one line where width is 0."""
    if not width or len(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def full(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are not empty."""
    return tuple(line for line in lines if line.strip())


def local_time(person: MailPerson, when: datetime) -> datetime:
    """Return a time on a person's clock."""
    return when.astimezone(timezone(timedelta(minutes=person.offset)))


def introduce(author: MailPerson, quoted: Quotable, style: str) -> list[str]:
    """Return the lines that a mail program writes above a quote."""
    when = local_time(author, quoted.when)
    person = f"{quoted.author.name} <{quoted.address}>"
    clock = f"{when.hour % 12 or 12}:{when.minute:02} {'PM' if when.hour >= 12 else 'AM'}"
    if style == "outlook":
        date = f"{when:%A}, {when:%B} {when.day}, {when.year} {clock}"
        return [f"From: {person}", f"Sent: {date}", f"To: {quoted.to}", f"Subject: {quoted.title}", ""]
    if style == "apple":
        return [f"On {when.day} {when:%b} {when.year}, at {when:%H:%M}, {person} wrote:", ""]
    if style == "yahoo":
        return [f"    On {when:%A}, {when:%B} {when.day}, {when.year} at {when:%H:%M:%S} GMT, {person} wrote:", "", " "]
    if style in {"bottom", "interleaved"}:
        return [f"On {when:%d/%m/%Y} {when:%H:%M}, {quoted.author.name} wrote:"]
    return [*wrap(f"On {when:%a}, {when:%b} {when.day}, {when.year} at {clock} {person} wrote:", 78), ""]


def mark(lines: Iterable[str]) -> list[str]:
    """Return lines with the mark of a quote."""
    return [f">{line}" if line.startswith(">") else f"> {line}".rstrip() for line in lines]


def write_plain(author: MailPerson, style: str, own: list[str], quoted: Quotable | None) -> list[str]:
    """Return the lines of a plain text: the author's, the signature, and the quote as the style places it."""
    if quoted is None or style == "none":
        return [*own, *author.signature]
    lead = introduce(author, quoted, style)
    if style == "outlook":
        return [*own, *author.signature, "", *lead, *quoted.lines]
    if style == "yahoo":
        return [*own, "", *lead, *(f"  {line}".rstrip() for line in quoted.lines)]
    if style == "apple":
        return [*own, *author.signature, "", *mark([*lead, *quoted.lines])]
    if style == "bottom":
        return [*lead, *mark(quoted.lines), "", *own, *author.signature]
    if style == "interleaved":
        gap = next((i for i, line in enumerate(own) if not line), len(own))
        quote = [line for line in quoted.lines if line and not line.startswith(">")][:6] or ["..."]
        return [
            *lead,
            *mark(quote[:3]),
            "",
            *own[:gap],
            "",
            *mark(quote[3:] or quote[:1]),
            *own[gap:],
            *author.signature,
        ]
    return [*own, *author.signature, "", *lead, *mark(quoted.lines)]


def write_html(author: MailPerson, own: Iterable[str], quoted: Quotable | None) -> str:
    """Return the same as HTML, as a mail program in a browser writes it."""
    parts = [f"<div>{escape(line) or '<br>'}</div>" for line in own]
    if author.signature:
        signature = "<br>".join(escape(line) for line in author.signature[1:])
        parts.append(f'<div class="gmail_signature" data-smartmail="gmail_signature">-- <br>{signature}</div>')
    if quoted is not None:
        lead = " ".join(filter(None, introduce(author, quoted, "gmail")))
        inner = "<br>".join(escape(line) for line in quoted.lines)
        parts.append(f'<br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">{escape(lead)}<br></div>')
        parts.append(f'<blockquote class="gmail_quote" style="margin:0 0 0 .8ex">{inner}</blockquote></div>')
    return f'<html><head><meta charset="utf-8"></head><body><div dir="ltr">{"".join(parts)}</div></body></html>'
