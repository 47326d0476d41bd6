"""The mails of machines in a generated mailbox: newsletters, bots and spam.

None of them states a fact that a question is about, but they use the names of the same things, so that a search which
does not tell people from machines finds them. `mailbox_maker` uses it.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.bench.mailbox_facts import THINGS
from tests.bench.mailbox_text import ADJECTIVES, DAYS, PROJECTS, MailDraft, full
from tests.bench.mailbox_truth import MessageKind
from tests.bench.mailbox_wire import Headers

_SENDERS = (
    ("Garden Post", "news@gardenpost.example.com"), ("Rail Offers", "offers@rail.example.net"),
    ("Weekly Byte", "weekly@byte.example.org"), ("Tea & Co", "hello@tea.example.com"),
    ("City Library", "library@city.example.org"), ("Trail Shoes", "no-reply@trail.example.com"),
    ("Museum Friends", "friends@museum.example.net"), ("Bank Notice", "service@bank.example.com"),
)  # fmt: skip
_BOTS = (
    ("Build Bot", "no-reply@builds.example.org"), ("Monitor", "alerts@monitor.example.org"),
    ("Calendar", "calendar-notification@calendar.example.org"), ("Issue Tracker", "notifications@issues.example.org"),
)  # fmt: skip


class MachineMail(NamedTuple):
    """A mail that no person wrote."""

    kind: MessageKind
    name: str
    address: str
    title: str
    draft: MailDraft
    headers: Headers
    label: str


def make_newsletter(rng: random.Random) -> MachineMail:
    """Return a newsletter: a few offers in HTML with a way to unsubscribe."""
    name, address = rng.choice(_SENDERS)
    site = address.partition("@")[2]
    items = [_make_offer(rng) for _ in range(rng.randint(3, 9))]
    own = [f"{name}: {rng.choice(ADJECTIVES)} news of the week", *items]
    footer = f"You get this mail because you signed up. Unsubscribe: https://{site}/u/{rng.randint(1, 999999)}"
    rows = "".join(f'<tr><td style="padding:12px"><p>{item}</p></td></tr>' for item in own)
    style = "<style>p { margin: 0 }</style>"
    html = f"<html><body>{style}<table>{rows}</table><p><a href='#'>{footer}</a></p></body></html>"
    headers = [
        ("List-Unsubscribe", f"<https://{site}/u>"),
        ("List-Id", f"<{address.replace('@', '.')}>"),
        ("Precedence", "bulk"),
    ]
    title = f"{rng.choice(ADJECTIVES).title()} offers, number {rng.randint(1, 999)}"
    draft = MailDraft(full(own), "\n\n".join([*own, footer]) + "\n", html)
    return MachineMail("bulk", name, address, title, draft, headers, "Category Promotions")


def _make_offer(rng: random.Random) -> str:
    thing = rng.choice(THINGS[rng.choice(tuple(THINGS))])[0].removeprefix("the ")
    return rng.choice(
        (
            f"Only until {rng.choice(DAYS)}: a {rng.choice(ADJECTIVES)} {thing} with {rng.randint(5, 70)}% off.",
            f"Our readers voted: the most {rng.choice(ADJECTIVES)} {thing} of the season.",
            f"{rng.randint(3, 20)} tips around your {thing} that are {rng.choice(ADJECTIVES)} and free.",
        )
    )


def make_bot(rng: random.Random) -> MachineMail:
    """Return the report of a program."""
    name, address = rng.choice(_BOTS)
    project, number = rng.choice(PROJECTS), rng.randint(1_000, 99_999)
    state = rng.choice(("passed", "failed", "was stopped", "is flaky"))
    own = [
        f"{project} run #{number} {state}.",
        f"Duration: {rng.randint(1, 59)} min {rng.randint(0, 59)} s",
        f"Commit: {rng.getrandbits(40):010x}",
        f"Log: https://builds.example.org/{project.lower()}/{number}",
    ]
    headers = [("Auto-Submitted", "auto-generated"), ("X-Auto-Response-Suppress", "All")]
    draft = MailDraft(tuple(own), "\n".join(own) + "\n", "<pre>" + "\n".join(own) + "</pre>")
    return MachineMail("bot", name, address, f"[{project}] run #{number} {state}", draft, headers, "Category Updates")


def make_spam(rng: random.Random) -> MachineMail:
    """Return a mail that the mail program put into Spam."""
    amount = rng.randint(2, 90) * 100_000
    own = [
        "Dear friend,",
        f"I am the widow of a {rng.choice(ADJECTIVES)} banker and wish to send you {amount} dollars.",
        f"Reply before {rng.choice(DAYS)} with your {rng.choice(ADJECTIVES)} details.",
    ]
    draft = MailDraft(tuple(own), "\n".join(own) + "\n", "".join(f"<p>{line}</p>" for line in own))
    address = f"winner{rng.randint(1, 99_999)}@lucky.example.net"
    return MachineMail("spam", "Lucky Office", address, f"YOU WON {amount}", draft, [], "Spam")
