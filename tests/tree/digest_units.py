"""Units and digests for the tests of digests: short ways to write them, with a user called Ida."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from commonplace.model.names import short_hash
from commonplace.tree.digest import DayDigest
from commonplace.tree.digest_day import make_day_digest
from commonplace.tree.source import Person
from commonplace.tree.units import TreeUnit

DAY = date(2026, 11, 16)  # a Monday
IDA, ANN, BOB = Person("Ida Berg", "ida@x.org"), Person("Ann Lee", "ann@x.org"), Person("Bob Roe", "bob@x.org")
ME = {"mail": frozenset({"ida@x.org", "ida berg"}), "talk": frozenset({"ida berg"})}
_SUBJECTS = (
    "the harbour crane",
    "the winter fair",
    "the school roof",
    "the new ferry",
    "the town archive",
    "the old mill",
)
_VERBS = (
    "needs another coat of paint", "was measured twice by the surveyor", "costs less than the council expected",
    "stands in the way of the tram", "has been empty since the summer", "gets a second door in the east",
)  # fmt: skip


def mail(
    text: str,
    author: Person = ANN,
    *,
    to: Sequence[Person] = (IDA,),
    title: str = "Crane",
    thread: str = "",
    day: date = DAY,
    at: str = "09:00",
    signals: Sequence[str] | None = None,
    **fields: object,
) -> TreeUnit:
    """Return a mail: to the user alone unless `to` says otherwise, in a thread of its title."""
    found = {"sent"} if author == IDA else {"direct"} if IDA in to and len(to) <= 3 else set[str]()
    ident = f"u-{short_hash(f'{text} {author} {title} {day} {at}', 20)}"
    place = f"/tree/mail/{day.isoformat()[:7]}"
    unit = TreeUnit(ident, "email", "mail", place, title.lower(), text, author, tuple(to), f"{day}T{at}:00Z")
    signs = frozenset(found if signals is None else signals)
    return unit._replace(thread=thread or f"t-{title}", title=title, signals=signs)._replace(**fields)  # type: ignore[arg-type]


def digest(*units: TreeUnit, day: date = DAY, is_new: Callable[[str], bool] = lambda _: False) -> DayDigest:
    """Return the digest of these units, all of one day."""
    return make_day_digest(units, day, me=ME, is_new=is_new)


def make_days(number: int, each: int, seed: int = 1) -> list[list[TreeUnit]]:
    """Return the mails of so many days, so many of each: statements, questions, decisions and dates, all different."""
    rng = random.Random(seed)
    days = []
    for step in range(number):
        day = DAY + timedelta(days=step)
        units = []
        for at in range(each):
            author = rng.choice((ANN, BOB, IDA, *(Person(f"Person {n} Smith", f"p{n}@x.org") for n in range(30))))
            name = f"{rng.choice(_SUBJECTS)} number {rng.randrange(10_000)}"
            text = rng.choice(
                (f"I saw that {name} {rng.choice(_VERBS)}.", f"Could you tell me whether {name} {rng.choice(_VERBS)}?",
                 f"We decided that {name} is moved to Bergen.",
                 f"I will send the drawings of {name} by 3 March 2027.")
            )  # fmt: skip
            title = f"About {rng.choice(_SUBJECTS)} {rng.randrange(each)}"
            units.append(mail(text, author, title=title, day=day, at=f"{at % 24:02}:{at // 24 % 60:02}"))
        days.append(units)
    return days
