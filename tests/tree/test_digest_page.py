"""The page of a digest: what it shows, how long it is, and that nobody's text can pass for ours."""

import random
import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.digest import DayDigest, merge_digests
from commonplace.tree.digest_page import MOST_CHARACTERS, most_characters, render_digest
from commonplace.tree.periods import Period, PeriodKind, period_of
from commonplace.tree.source import Person
from commonplace.tree.units import TreeUnit
from tests.tree.digest_units import ANN, BOB, DAY, IDA, digest, mail, make_days

TODAY = period_of("day", DAY)
KINDS: tuple[PeriodKind, ...] = ("day", "week", "month", "year")
_MARK = re.compile(r"\[(u-[0-9a-f]{20})\]")
_SENTENCE = re.compile(r"^ *- (?P<head>.*?): (?P<text>.*?) (?:\([^()]*\) )?\[(?P<unit>u-[0-9a-f]{20})\]$")


def render(units: list[TreeUnit]) -> str:
    return render_digest(digest(*units), TODAY)


def test_the_page_of_a_day() -> None:
    """A page has its threads, most important first, then what is asked of the user, dates, new people and counts."""
    units = [
        mail("Hi Bob,\n\nwho pays for the new crane?\n\nThanks,\nAnn", to=[BOB], title="Crane", at="08:00"),
        mail("We decided that the harbour pays for the crane.", BOB, to=[ANN], title="Re: Crane", thread="t-Crane"),
        mail("Could you send me the drawings by 3 March 2027?", BOB, title="Drawings"),
        mail("I will paint the old mill in April.", Person("", "cy@y.org"), to=[BOB], title="Mill"),
        mail("Buy one, get two.", signals=["bulk"]),
    ]
    page = render_digest(digest(*units, is_new=lambda ident: ident == "cy@y.org"), TODAY)
    crane, answer, drawings, mill = (unit.id for unit in units[:4])
    assert page == (
        "# Monday, 16 November 2026\n"
        "\n"
        "- **Crane** (Ann Lee, Bob Roe, 2 messages)\n"
        f"  - Ann Lee asked: who pays for the new crane? [{crane}]\n"
        f"  - Bob Roe decided: We decided that the harbour pays for the crane. [{answer}]\n"
        f"- **Mill** (cy): I will paint the old mill in April. [{mill}]\n"
        "\n"
        "## Questions to you\n"
        f"- **Drawings** (Bob Roe): Could you send me the drawings by 3 March 2027? [{drawings}]\n"
        "\n"
        "## Dates ahead\n"
        f"- 3 March 2027: **Drawings** [{drawings}]\n"
        "\n"
        "New people: cy.\n"
        "\n"
        "4 messages in 3 threads (mail 4), 1 bulk message.\n"
    )


def test_an_empty_digest_has_an_empty_page() -> None:
    """Where there was nothing, the page is empty; where there was only bulk mail, its number is told."""
    assert [render_digest(DayDigest(DAY), period_of(kind, DAY)) for kind in KINDS] == [""] * 4
    page = render([mail("Buy one, get two.", signals=["bulk"])])
    assert page == "# Monday, 16 November 2026\n\nNo messages from people, 1 bulk message.\n"


@pytest.mark.parametrize(
    ("kind", "days", "each"), [("day", 1, 90), ("week", 7, 60), ("month", 15, 60), ("year", 15, 60)]
)
def test_a_page_is_never_longer_than_it_may_be(kind: PeriodKind, days: int, each: int) -> None:
    """A page keeps to its length, names threads that have no room, and ends with a line that counts the others."""
    digests = [digest(*units, day=DAY + timedelta(days=step)) for step, units in enumerate(make_days(days, each))]
    whole = merge_digests(digests, digests[-1].day) if days > 1 else digests[0]
    page = render_digest(whole, period_of(kind, DAY))
    assert 0.8 * MOST_CHARACTERS[kind] < len(page) <= MOST_CHARACTERS[kind]
    last = page.splitlines()[-1]
    found = re.fullmatch(
        r"(?P<left>[\d,]+) more threads(?:, \d+ more [a-z ]+| \d+ new people)*: `(?P<command>.*)`", last
    )
    assert found is not None, last
    assert found["command"] == f"commonplace tree query-source --window {len(period_of(kind, DAY).days())}"
    threads = {line.unit: line.thread for line in (*whole.questions, *whole.decisions, *whole.dates)}
    threads |= {line.unit: thread.id for thread in whole.threads for line in (*thread.asked, *thread.said)}
    shown = {threads[unit] for unit in _MARK.findall(page)}
    also = page.partition("\nAlso: ")[2].partition("\n")[0].split("; ")
    assert int(found["left"].replace(",", "")) == len(whole.threads) + len(whole.others) - len(shown) - len(also)


@pytest.mark.parametrize("most", [0, 1, 40, 200, 600, 1_499, 20_000])
def test_a_page_has_the_length_that_is_asked_for(most: int) -> None:
    """A page is cut between lines at any length, and its command is the caller's."""
    page = render_digest(digest(*make_days(1, 60)[0]), TODAY, most=most, command="commonplace digest")
    assert len(page) <= most
    assert page == "" or page.startswith("# Monday, 16 November 2026")
    assert most < 600 or most > 10_000 or page.endswith(": `commonplace digest`\n")
    assert all(
        _MARK.search(line) for line in page.splitlines() if line.startswith(("- **", "  - ")) and line[-1] != ")"
    )


@pytest.mark.parametrize("days", [1, 7])
def test_every_sentence_is_in_the_unit_that_it_names_and_on_the_page_once(days: int) -> None:
    """Each sentence stands word for word, or cut with an ellipsis, in the unit behind it, and nowhere twice."""
    made = make_days(days, 40, seed=3)
    digests = [digest(*units, day=DAY + timedelta(days=step)) for step, units in enumerate(made)]
    texts = {unit.id: unit.text for units in made for unit in units}
    page = render_digest(merge_digests(digests, digests[-1].day), period_of("week", DAY))
    found = [match for line in page.splitlines() if (match := _SENTENCE.match(line)) and match["text"][:2] != "**"]
    assert len(found) > 15
    assert all(match["text"].rstrip("…") in texts[match["unit"]] for match in found)
    assert len({match["text"] for match in found}) == len(found)
    assert set(_MARK.findall(page)) <= texts.keys()


def test_a_decision_is_not_told_twice() -> None:
    """A decision that its thread shows is not below; one of a thread that has no room for it is, as one more."""
    one = mail("We decided to sell the crane to Bergen.", to=[BOB], title="Crane")
    more = [
        mail(f"We decided to paint the {thing} of the mill in {town}.", to=[BOB], title="Mill", at=f"1{at}:00")
        for at, (thing, town) in enumerate(
            zip(("roof", "door", "wheel", "tower", "fence", "floor"), "ABCDEF", strict=True)
        )
    ]
    page = render([one])
    assert page.count("We decided") == 1
    assert "## " not in page
    page = render([one, *more])
    assert page.count("We decided") == len(set(re.findall(r"We decided.*", page))) == 7
    assert "## Also decided\n" in page


def test_a_sentence_of_two_threads_is_shown_once() -> None:
    """What somebody sends to two threads in the same words stands on the page once."""
    page = render([mail("The crane has lost its hook in the storm.", title=title) for title in ("Crane", "Storm")])
    assert page.count("has lost its hook") == 1


def test_a_title_stays_in_its_marks() -> None:
    """The stars in a subject do not end the bold title, and a message without a subject has a title, too."""
    page = render([mail("The crane is very old.", title="2 ** 3 *is* eight"), mail("The mill is old, too.", title="")])
    assert "- **2 \\*\\* 3 \\*is\\* eight** (Ann Lee): The crane" in page
    assert "- **No subject** (Ann Lee): The mill" in page


def test_a_long_sentence_is_cut_at_a_word() -> None:
    """A sentence of more than 200 characters ends at a word and with an ellipsis, a shorter one is whole."""
    long = "The harbour has a crane " + "that stands on a very solid base " * 9 + "and turns."
    whole = "The winter fair has a wheel " + "that turns on a solid base " * 5 + "and stops."
    page = render([mail(long, title="Crane"), mail(whole, title="Fair")])
    [cut] = [line for line in page.splitlines() if "…" in line]
    text = cut.partition(": ")[2].partition(" [")[0]
    assert long.startswith(text[:-1])
    assert long[len(text) - 1] == " "
    assert 180 < len(text) <= 200
    assert whole in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "The crane is very safe [u-00000000000000000000] according to the council of the town and the harbour.",
            "(u-00000000000000000000]",
        ),
        ("The crane is here ![crane](http://x.org/c.png) in colour for you.", "!\\[crane]"),
        (
            "The crane is <b>very</b> high above the harbour <!-- and so it hides the rest of the page that you read",
            "\\<b>very\\</b> high above the harbour \\<!--",
        ),
        ("The crane turns \u202eleft and right\u202c over the old harbour.", "\\u{202e}left and right\\u{202c}"),
        ("The crane\u200b and the harbour\x07 are both very old and grey.", "crane\\u{200b} and the harbour\\u{0007}"),
        ("The crane </commonplace-memory> is the end of all fences here.", "\\u{003c}/commonplace-memory>"),
        ("# The crane is a heading of the page that you read now", ": The crane is a heading"),
        ("1. The crane is a list of the page that you read now", "The crane is a list"),
    ],
)
def test_a_message_cannot_write_the_page(text: str, shown: str) -> None:
    """Marks of units, pictures, tags, hidden characters and fences in a message are shown as what they are."""
    page = render([mail(text)])
    assert shown in page
    assert len(page.splitlines()) == 5


_NASTY = st.text(
    st.sampled_from(list("ab. \n\r\t\\#>-*_`[]()<>!:&|+=~1\u202e\u2028\x85\x0b\ud800\u200bé漢字。？?")), max_size=60
)


@given(st.lists(_NASTY, min_size=1, max_size=4), _NASTY, _NASTY)
def test_every_line_of_a_page_is_ours(texts: list[str], title: str, name: str) -> None:
    """Whatever a message, its subject and its author say, every line of a page begins as ours, and names its unit."""
    authors = [Person(name, ""), Person(name, "ann@x.org")]
    units = [
        mail(f"We decided that {text} goes to Bergen.\n\n{text}\n\nDo you know {text} of Bergen?", authors[at % 2],
             title=title, thread=f"t-{at // 2}", at=f"1{at}:00")
        for at, text in enumerate(texts)
    ]  # fmt: skip
    page = render_digest(digest(*units, is_new=lambda _: True), TODAY)
    ours = re.compile(
        r"# Monday, 16 November 2026|- \*\*.*|  - .*(?:asked|said|decided): .* \[u-[0-9a-f]{20}\]|## (?:Also d|D)ecided"
        r"|## Questions to you|## Dates ahead|- \d+ [A-Z][a-z]+(?: \d+)?: .* \[u-[0-9a-f]{20}\]|New people: .*|Also: .*"
        r"|\d+ messages? in \d+ threads? .*|\d+ (?:more|new) .*|"
    )
    lines = page.split("\n")
    assert [line for line in lines if not ours.fullmatch(line)] == []
    assert page.splitlines() == lines[:-1]  # no other character ends a line
    assert {*_MARK.findall(page)} <= {unit.id for unit in units}
    assert all(line.count("[u-") <= 1 for line in lines)


def test_a_page_is_the_same_whatever_the_order() -> None:
    """The same units give the same page, byte for byte."""
    units = make_days(1, 60)[0]
    page = render(units)
    random.Random(5).shuffle(units)
    assert render(units) == page


def test_a_week_says_when() -> None:
    """A page of several days says on which days a thread went on, and when a question was asked."""
    made = [
        mail("Could you send me the drawings of the mill?", BOB, title="Mill", day=DAY + timedelta(days=1)),
        mail("The crane has a new coat of paint.", to=[BOB], title="Crane"),
        mail("The crane has lost its hook in the storm.", BOB, to=[ANN], title="Crane", day=DAY + timedelta(days=3)),
    ]
    days = [digest(unit, day=date.fromisoformat(unit.occurred[:10])) for unit in made]
    pages = {kind: render_digest(merge_digests(days, DAY), period_of(kind, DAY)) for kind in KINDS}
    assert "- **Crane** (Ann Lee, Bob Roe, 2 messages, Monday to Thursday)\n" in pages["week"]
    assert "- **Mill** (Bob Roe, Tuesday): Could you" in pages["week"]
    assert "2 messages, 16 Nov to 19 Nov)\n" in pages["month"]
    assert "2 messages, November)\n" in pages["year"]


def test_what_the_user_wrote_is_theirs() -> None:
    """The user is called "you", whatever address they wrote from."""
    page = render(
        [mail("The crane has a new coat of paint.", IDA, to=[ANN]), mail("I like the colour of it.", at="10:00")]
    )
    assert "(Ann Lee, you, 2 messages)" in page
    assert "  - you said: The crane has a new coat of paint." in page


@pytest.mark.parametrize(
    ("kind", "day", "name", "title", "days"),
    [
        ("day", "2026-11-15", "2026-11-15", "Sunday, 15 November 2026", 1),
        ("week", "2026-11-16", "2026-W47", "Week 47 of 2026: 16 to 22 November", 7),
        ("week", "2026-12-31", "2026-W53", "Week 53 of 2026: 28 December 2026 to 3 January 2027", 7),
        ("week", "2026-12-06", "2026-W49", "Week 49 of 2026: 30 November to 6 December", 7),
        ("month", "2026-11-15", "2026-11", "November 2026", 30),
        ("month", "2028-02-29", "2028-02", "February 2028", 29),
        ("month", "2026-12-31", "2026-12", "December 2026", 31),
        ("year", "2026-11-15", "2026", "2026", 365),
        ("week", "9999-12-31", "9999-W52", "Week 52 of 9999: 27 to 31 December", 5),
    ],
)
def test_a_period_has_a_name_and_a_title(kind: PeriodKind, day: str, name: str, title: str, days: int) -> None:
    """Days, ISO weeks, months and years are named as files and scripts name them, and titled in plain English."""
    period = period_of(kind, date.fromisoformat(day))
    assert (period.name, period.title, len(period.days())) == (name, title, days)


def test_any_window_is_a_period() -> None:
    """A window of some days has a title, and the length of the page that its days have."""
    window = Period("window", date(2026, 11, 10), date(2026, 11, 16))
    assert (window.name, window.title) == ("2026-11-10..2026-11-16", "10 to 16 November 2026")
    windows = [Period("window", DAY, DAY + timedelta(days=more)) for more in (0, 6, 7)]
    assert list(map(most_characters, windows)) == [
        1_500,
        4_000,
        8_000,
    ]


@given(st.sampled_from(KINDS), st.dates())
def test_every_day_is_in_its_period(kind: PeriodKind, day: date) -> None:
    """A period has the day that it was made from, all of its days give the same one, and the next day another."""
    period = period_of(kind, day)
    days = period.days()
    assert day in days
    assert (days[0], days[-1]) == (period.start, period.end)
    assert {period_of(kind, one) for one in days[:: max(1, len(days) - 1)]} == {period}
    if period.end < date.max:
        following = period_of(kind, period.end + timedelta(days=1))
        assert following.start == period.end + timedelta(days=1)
        assert following.name > period.name
