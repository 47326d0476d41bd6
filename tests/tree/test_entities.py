"""Entities: what a unit mentions, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.entities import ENTITY_KINDS, choose_names, find_entities
from commonplace.tree.source import Person
from commonplace.tree.units import TreeUnit
from tests.strategies import LONG_LINES

UNIT = TreeUnit("u-1", "email", "mail", "/tree/mail/2026-11", "n", "", occurred="2026-11-12T10:00:00Z")


def labels_of(text: str, kind: str = "", **fields: Any) -> list[str]:
    """Return the labels of a unit with this text, those of one kind without it."""
    names = [label.name for label in find_entities(UNIT._replace(text=text, **fields))]
    return [name.removeprefix(f"{kind}:") for name in names if name.startswith(f"{kind}:")] if kind else names


def test_people_come_from_the_headers() -> None:
    """Author and recipients, by address or handle, by the folded name without one; only a name is shown."""
    people = (
        Person("Bob", "Bob@Example.org"),
        Person("Zoë  Ray"),
        Person("", "U123"),
        Person(),
        Person("B", "bob@example.org"),
    )
    found = find_entities(UNIT._replace(author=Person("Ann Lee", "ann@example.org"), recipients=people))
    assert [(label.name, label.surface) for label in found] == [
        ("person:ann@example.org", "Ann Lee"),
        ("person:bob@example.org", "Bob"),
        ("person:zoë ray", "Zoë Ray"),
        ("person:u123", ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "write to Help.Desk+x@Mail.Example.co.uk, or <eve@example.org>.",
            ["help.desk+x@mail.example.co.uk", "eve@example.org"],
        ),
        ("a @ b, x@y, @eve, ann@example.org", []),
        ("mailto:müller@bücher.de", ["müller@bücher.de"]),
    ],
)
def test_addresses(text: str, expected: list[str]) -> None:
    """An address in the text is one label, in lower case; that of a header is a person already."""
    assert labels_of(text, "email", author=Person("Ann", "ann@example.org")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://www.Example.org/Docs/?utm_source=x&utm_medium=y&gclid=1#top.", ["example.org/Docs"]),
        ("(http://example.org/show?id=7&fbclid=abc)", ["example.org/show?id=7"]),
        ("<https://en.example.org/wiki/Name_(thing)>", ["en.example.org/wiki/Name_(thing)"]),
        ("www.example.org, https://example.org", ["example.org"]),
        ("https://ann:pw@example.org:8443/a", ["example.org:8443/a"]),
        (f"https://example.org/a?q={'x' * 500}", ["example.org/a"]),
        (f"https://example.org/{'x' * 500}", []),
        ("http:// and https://... and nothttp://x", []),
    ],
)
def test_links(text: str, expected: list[str]) -> None:
    """A link is its host and path, and the part of its query that is not for tracking; one too long is left out."""
    assert labels_of(text, "url") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@Eve and (@bob-ray), @zoë.", ["@eve", "@bob-ray", "@zoë"]),
        ("ann@example.org, @types/node, a@b, @ 5, @1", []),
    ],
)
def test_handles(text: str, expected: list[str]) -> None:
    """A handle follows an @ that follows no word."""
    assert labels_of(text, "handle") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ABC-123, [OPS-7] and https://x.example.org/browse/DEV-42?x", ["ABC-123", "OPS-7", "DEV-42"]),
        ("fixes #123, Owner/Repo#4 (#56)", ["#123", "owner/repo#4", "#56"]),
        ("the #1 reason, #x12, &#123;, http://x.org/#123, A-1, abc-12, ABC-12-3, ABC-1.5, 12#", []),
    ],
)
def test_tickets(text: str, expected: list[str]) -> None:
    """Capitals, a hyphen and a number, also in a link; a number behind # where it is one. None is an id, too."""
    assert labels_of(text, "ticket") == expected
    assert not {ticket.lower() for ticket in expected} & {*labels_of(text, "id")}


def test_the_title_is_read_too() -> None:
    """A ticket in the subject is a label of every mail with that subject."""
    assert labels_of("Done.", "ticket", title="Re: OPS-7: the plan") == ["OPS-7"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/tree/units.py, /etc/hosts, ~/notes/a.md.", ["src/tree/units.py", "/etc/hosts", "~/notes/a.md"]),
        (r"C:\Users\ann\plan.docx or ..\b\c", [r"C:\Users\ann\plan.docx", r"..\b\c"]),
        ("and/or, km/h, 1/2, 24/7, n/a, /s, TCP/IP, 15/11/26, his/her", []),
    ],
)
def test_paths(text: str, expected: list[str]) -> None:
    """A path begins at a root or ends in a file; words that are joined by a slash are none."""
    assert labels_of(text, "path") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v2.3.1, 1.2.3, ERR2041, max_size, parseHeader", ["v2.3.1", "1.2.3", "err2041", "max_size", "parseheader"]),
        ("std::string, config.yaml, 0x80070005, 4711234", ["std::string", "config.yaml", "0x80070005", "4711234"]),
        ("Ann's user_id and user_id's", ["user_id"]),
        ("10am, 5km, 20GB, 1st, 24-hour, 10:30, 100, 3.14, e.g. i.e. on-call, so.Then, U.S., GitHub, key:value", []),
        ("x" * 100 + "1", []),
    ],
)
def test_identifiers(text: str, expected: list[str]) -> None:
    """Names of code, versions and codes are identifiers; amounts, times, short forms and joined words are not."""
    assert labels_of(text, "id") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2026-11-15 or 2026/12/01, at 2026-01-02T10:00:00Z", ["2026-11-15", "2026-12-01", "2026-01-02"]),
        ("15 November 2026, 16th of November, 2026, November 17th, 2026", ["2026-11-15", "2026-11-16", "2026-11-17"]),
        (
            "am 15. November 2026, le 1er décembre 2026, 3 de diciembre de 2026",
            ["2026-11-15", "2026-12-01", "2026-12-03"],
        ),
        ("15 ноября 2026, 2026年11月16日, 17-Nov-2026", ["2026-11-16", "2026-11-15", "2026-11-17"]),
        ("15.11.2026, 25/11/2026, 11/26/2026, 5/5/2026", ["2026-11-15", "2026-11-25", "2026-11-26", "2026-05-05"]),
        ("by Nov 20, not before 3 January", ["2026-11-20", "2027-01-03"]),
        ("05/06/2026, 31 February 2026, 2026-13-01, 12 people, the 15 of us, may 5 of you, 1.2.2026.4 x 10:30", []),
        ("version 3 march on", []),
    ],
)
def test_dates(text: str, expected: list[str]) -> None:
    """A date is what can be only one day; without a year it is the nearest to the message."""
    found = labels_of(text, "date")
    assert sorted(found) == sorted(expected)


def test_a_date_without_a_year_needs_the_time_of_the_message() -> None:
    """Where it is not known when a message was, nothing is guessed."""
    assert labels_of("by Nov 20", "date", occurred="") == []
    assert labels_of("by Nov 20", "date", occurred="2027-01-05T00:00:00Z") == ["2026-11-20"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We asked Bob Ray and the Falcon team. Then Eve left.", ["bob ray", "falcon", "eve"]),
        (
            "Hi Ann,\nThe rest is with Zoë, (Bob), McDonald's and Jean-Luc",
            ["ann", "zoë", "bob", "mcdonald", "jean-luc"],
        ),
        ("we saw Иван Петров and said: Nothing else", ["иван петров"]),
        ("and NASA, I, on Monday in November, ABC-123, see Ann2, #Tag", ["tag"]),
        ("This Is A Heading\nof it", []),
        ("and So We Wrote All This In Capitals", []),
        ('they said "Never again" and went', []),
    ],
)
def test_names_are_words_with_capitals_within_a_sentence(text: str, expected: list[str]) -> None:
    """Runs of them are one name. First words of sentences, lines and quotes, headings and days are none."""
    assert labels_of(text, "name") == expected


def test_in_a_language_that_writes_nouns_with_capitals_only_runs_are_names() -> None:
    """In German, a single word with a capital says nothing."""
    text = "Wir haben die Rechnung für den Umzug von der Firma bekommen und die Zahlung an das Team von Karla Meier"
    assert labels_of(text, "name") == ["karla meier"]


def test_each_thing_is_one_label_and_a_unit_has_at_most_sixty() -> None:
    """Repeats count once; a log of many identifiers, or a crowd of recipients, leaves room for the rest."""
    crowd = tuple(Person(f"P{number}", f"p{number}@example.org") for number in range(100))
    text = "a_b a_b " + " ".join(f"code_{number}" for number in range(100)) + " see https://example.org/x"
    found = labels_of(text, recipients=crowd)
    assert len(found) == len(set(found)) == 60
    assert "url:example.org/x" in found
    assert found.count("id:a_b") == 1
    assert sum(name.startswith("person:") for name in found) == 40


@given(
    st.text() | st.text(st.sampled_from("aA1 @#./\\:-_\n2026年11月Nov15,'’(")),
    st.text(max_size=30),
    st.text(max_size=12),
)
def test_any_text_gives_labels_that_can_be_stored(text: str, title: str, occurred: str) -> None:
    """Whatever a text says: labels are of a known kind, each once, short, printable, and the same each time."""
    unit = UNIT._replace(text=text, title=title, occurred=occurred, author=Person(title, text))
    found = list(find_entities(unit))
    assert found == list(find_entities(unit))
    names = [label.name for label in found]
    assert len(names) == len(set(names)) <= 60
    for label in found:
        assert label.name.partition(":")[0] in ENTITY_KINDS
        assert label.name.isprintable()
        assert len(label.name) <= 160 >= len(label.surface) - 40
        label.name.encode()


@pytest.mark.parametrize(
    "text",
    [*LONG_LINES, "a@" * 300_000, "a.b/" * 200_000, "1 " * 300_000, "@a-" * 200_000, "x#" * 300_000, "A" * 500_000],
)
def test_long_lines_take_linear_time(text: str) -> None:
    """A megabyte without an end of a line is read; quadratic time would be hours."""
    assert len(list(find_entities(UNIT._replace(text=text)))) <= 60


def test_a_name_is_what_three_authors_use_and_no_one_alone() -> None:
    """Two authors are too few, and more than half of the uses by one is a habit of theirs."""
    uses = {
        "falcon": {"ann": 2, "bob": 1, "eve": 1},
        "two": {"ann": 1, "bob": 1},
        "habit": {"ann": 3, "bob": 1, "eve": 1},
        "nobody": {},
        "zero": {"ann": 1, "bob": 1, "eve": 0},
    }
    assert choose_names(uses) == {"falcon"}
