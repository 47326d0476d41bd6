"""People with several addresses: the page that says so, merges, proposals, and taking back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.tree.people import PeopleBook, join_people, parse_people

ANN, LEE, NAME = "person:ann@example.org", "person:ann.lee@example.com", "person:ann lee"
PAGE = """# People

My own notes, and a = b in a sentence.

* ann@example.org = ann.lee@example.com = "Ann Lee"
- ? bob@example.org = bob@example.com
- not eve@example.org = eve@example.com
- ticket:OPS-7 = ticket:DEV-9
- a list of mine
"""
IDS = st.sampled_from(
    [ANN, LEE, NAME, "person:bob@x.org", "person:not", "person:?", "ticket:OPS-7", "path:/a = b", 'person:a "b" c']
)
ODD = st.text(max_size=8).map(lambda text: f"person:{text}") | st.text(max_size=8).map(lambda text: f"id:{text}")
LINES = st.sampled_from(
    [*PAGE.split("\n"), "- not bob@example.org = bob@example.com", '- "a', "-  = ", "- ? ="]
) | st.text(max_size=20)
PAGES = st.lists(LINES, max_size=8).map("\n".join)
STEPS = st.lists(st.tuples(st.sampled_from(["merge", "undo", "propose"]), IDS, IDS), max_size=8)


def follow(book: PeopleBook, steps: Sequence[tuple[str, str, str]]) -> PeopleBook:
    """Return a book after some changes."""
    for step, first, second in steps:
        match step:
            case "merge":
                book = book.merge(first, second)
            case "undo":
                book = book.undo(first)
            case _:
                book = book.propose(first, second)
    return book


def groups_of(book: PeopleBook) -> set[frozenset[str]]:
    """Return who is one person, in any order."""
    return set(map(frozenset, book.groups()))


def test_a_page_is_read() -> None:
    """Each kind of line says what the documentation says, and all other lines say nothing."""
    book = parse_people(PAGE)
    assert book.members(LEE) == (ANN, LEE, NAME)
    assert book.canonical(NAME) == ANN
    assert book.groups() == [(ANN, LEE, NAME), ("ticket:OPS-7", "ticket:DEV-9")]
    assert book.proposals() == [("person:bob@example.org", "person:bob@example.com")]
    assert book.canonical("person:eve@example.com") == "person:eve@example.com"


@given(PAGES | st.text())
def test_a_page_comes_back_as_it_was(text: str) -> None:
    """Every byte of a page stays, whatever it says, and two books of one page are equal."""
    book = parse_people(text)
    assert book.render() == text
    assert parse_people(book.render()) == book


SURROGATES = st.sampled_from(
    [
        '- "\\ud800" = ann@example.org',
        '- ? "\\udfff" = b@x.org',
        '- a@x.org = "id:\\udc80" = b@x.org',
        "- a\udce9 = b@x.org",
    ]
)


@pytest.mark.parametrize("item", ['"\\ud800"', '"Ann \\udfff Lee"', '"person:\\udc80"', "caf\udce9"])
def test_an_id_that_is_no_text_says_nothing(item: str) -> None:
    """A line with half of a character in an id is the user's own text, whether JSON or an old encoding wrote it."""
    page = f"- {item} = ann@example.org = b@x.org\n- ann@example.org = c@x.org"
    book = parse_people(page)
    assert book.groups() == [(ANN, "person:c@x.org")]
    assert book.undo("person:c@x.org").render().startswith(page.partition("\n")[0])


def test_an_id_that_is_no_text_is_written_nowhere() -> None:
    """No merge, proposal or rule puts half of a character on the page, which could then not be saved."""
    odd = "person:\ud800"
    book = parse_people("mine")
    assert book.merge(ANN, odd) == book.propose(odd, ANN) == book
    seen = {("Ann \ud800", "a@x.org"): 2, ("Ann \ud800", "a@y.org"): 2, ("Bob Ray", "b\ud800@x.org"): 2}
    seen |= {("Eve Low", "e\ud800@x.org"): 2, ("Eve Low", "e@y.org"): 2, ("Ann Lee", "ann@x.org"): 2}
    assert [len(group) for group in join_people(book, seen).groups()] == [2]
    assert join_people(book, seen).proposals() == []


@given(st.lists(SURROGATES | LINES, max_size=8).map("\n".join), STEPS)
def test_every_page_can_be_saved(text: str, steps: list[tuple[str, str, str]]) -> None:
    """Whatever bytes a page has and whatever is changed, it can be written as it was read."""
    page = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    book = parse_people(page)
    book.render().encode("utf-8", "surrogateescape")
    for ident in {ANN, *(ident for group in (*book.groups(), *book.proposals()) for ident in group)}:
        ident.encode("utf-8")
        book = book.undo(ident)
    follow(book, steps).render().encode("utf-8", "surrogateescape")


@given(PAGES, STEPS)
def test_what_was_changed_is_read_back(text: str, steps: list[tuple[str, str, str]]) -> None:
    """After any changes the page says what the book says, and every line of the user is there, in order."""
    book = follow(parse_people(text), steps)
    again = parse_people(book.render())
    assert again == book
    assert (again.groups(), again.proposals()) == (book.groups(), book.proposals())
    prose = [line for line in text.split("\n") if line and "=" not in line]
    kept = iter(book.render().split("\n"))
    assert all(line in kept for line in prose)


@given(PAGES, STEPS, IDS)
def test_canonical_is_idempotent(text: str, steps: list[tuple[str, str, str]], ident: str) -> None:
    """The canonical id of a person stands for itself, and all members have the same."""
    book = follow(parse_people(text), steps)
    canonical = book.canonical(ident)
    assert book.canonical(canonical) == canonical
    assert ident in book.members(canonical)
    assert {book.canonical(one) for one in book.members(ident)} == {canonical}


@given(STEPS, IDS, IDS, st.booleans())
def test_undo_takes_a_merge_back(steps: list[tuple[str, str, str]], first: str, second: str, is_first: bool) -> None:
    """After a merge and its undo, of either id, everyone is who they were before."""
    before = follow(parse_people(PAGE), steps)
    merged = before.merge(first, second)
    assert merged.canonical(second) == merged.canonical(first) == before.canonical(first)
    if merged != before:
        after = merged.undo(first if is_first else second)
        assert groups_of(after) == groups_of(before)


@example('person:"', "person:")
@given(ODD | IDS, ODD | IDS)
def test_any_two_ids_can_be_merged(first: str, second: str) -> None:
    """Ids with quotes, signs, spaces and line ends are read back from the page as they were."""
    book = parse_people(PEOPLE_NOTE).merge(first, second)
    if first != second:
        assert parse_people(book.render()).members(second) == (first, second)


PEOPLE_NOTE = "# People\n\nmine\n"


def test_lines_are_short_and_stay_together() -> None:
    """A new page gets a head; new lines follow the last one that says something, in the form of the documentation."""
    book = parse_people("").merge(ANN, LEE).merge(ANN, NAME).propose("person:bob@x.org", "person:bob@y.org")
    head, _, rest = book.render().partition("\n- ")
    assert head.startswith("# People\n")
    assert rest.split("\n") == [
        "ann@example.org = ann.lee@example.com",
        '- ann@example.org = "ann lee"',
        "- ? bob@x.org = bob@y.org",
        "",
    ]
    assert (
        parse_people(PAGE)
        .merge(ANN, "person:x@y.org")
        .render()
        .endswith("- ann@example.org = x@y.org\n- a list of mine\n")
    )


def test_what_was_undone_is_never_proposed_or_merged_by_rule() -> None:
    """A line that keeps two apart holds for rules; a person who merges them again takes it away."""
    book = parse_people("- a@x.org = b@x.org = c@x.org").undo("person:b@x.org")
    assert book.render() == "- a@x.org = c@x.org\n- not a@x.org = b@x.org\n- not c@x.org = b@x.org"
    assert book.propose("person:c@x.org", "person:b@x.org") == book
    assert (
        join_people(book, {("Ann Lee", "a@x.org"): 5, ("Ann Lee", "b@x.org"): 5}).canonical("person:b@x.org")
        == "person:b@x.org"
    )
    merged = book.merge("person:a@x.org", "person:b@x.org")
    assert len(merged.members("person:c@x.org")) == 3
    assert "not" not in merged.render()


def test_a_line_that_keeps_apart_is_stronger_than_one_that_merges() -> None:
    """Of two lines that contradict each other, wherever they are, the careful one counts."""
    book = parse_people("- a@x = b@x = c@x\n- not a@x = b@x")
    assert book.members("person:a@x") == ("person:a@x", "person:c@x")
    assert parse_people("- a@x = b@x\n- not a@x = b@x").groups() == []


def test_undo_of_nobody_changes_nothing() -> None:
    """An id that no line merges has nothing to take back."""
    assert parse_people(PAGE).undo("person:bob@example.org") == parse_people(PAGE)


def test_an_address_and_a_name_seen_twice_are_one_person() -> None:
    """Once is chance; a first name alone is no full name, and an address as a name is none."""
    book = join_people(
        PeopleBook(),
        {
            ("Ann  Lee", "Ann@Example.org"): 1,
            ("Lee, Ann", "ann@example.org"): 1,
            ("Bob Ray", "bob@example.org"): 1,
            ("Eve", "eve@example.org"): 9,
            ("zed@example.org", "zed@example.org"): 9,
            ("zed@example.net", "zed@example.org"): 9,
            ("Ann Lee", ""): 9,
            ("王伟", "wei@example.org"): 2,
        },
    )
    assert book.groups() == [(ANN, NAME, "person:lee, ann"), ("person:wei@example.org", "person:王伟")]
    assert book.proposals() == []
    assert '"Ann Lee"' in book.render()


def test_one_name_at_one_domain_is_merged_and_at_two_is_proposed() -> None:
    """Two addresses of a company with one name are one person; a namesake elsewhere may be another."""
    one = join_people(PeopleBook(), {("Ann Lee", "ann@x.org"): 2, ("Ann Lee", "ann.lee@x.org"): 3})
    assert one.groups() == [("person:ann.lee@x.org", "person:ann@x.org", NAME)]
    two = join_people(PeopleBook(), {("Ann Lee", "ann@x.org"): 2, ("Ann Lee", "ann@y.org"): 3})
    assert two.groups() == []
    assert two.proposals() == [("person:ann@y.org", "person:ann@x.org")]
    assert two.propose("person:ann@x.org", "person:ann@y.org") == two


def test_an_address_of_several_people_is_nobodys() -> None:
    """A shared mailbox does not make one person of all who write from it; a middle name is no other person."""
    shared = {("Ann Lee", "info@x.org"): 5, ("Bob Ray", "info@x.org"): 5}
    assert join_people(PeopleBook(), shared) == PeopleBook()
    book = join_people(PeopleBook(), {("Ann Lee", "a@x.org"): 5, ("Ann Mary Lee", "a@x.org"): 2})
    assert len(book.members("person:a@x.org")) == 3


SEEN = st.dictionaries(
    st.tuples(
        st.sampled_from(["Ann Lee", "Lee, Ann", "Bob Ray", "Ann Mary Lee", "王伟", "Eve", ""]),
        st.sampled_from(["a@x.org", "b@x.org", "c@y.org", "u123", ""]),
    ),
    st.integers(0, 4),
)


@given(PAGES, SEEN)
def test_rules_add_nothing_twice(text: str, seen: dict[tuple[str, str], int]) -> None:
    """What is said on the page, by rule or by hand, is not said again; what rules join, undo takes apart for good."""
    book = join_people(parse_people(text), seen)
    assert join_people(book, seen) == book
    for group in book.groups():
        apart = book.undo(group[-1])
        assert join_people(apart, seen).groups() == apart.groups()


@pytest.mark.parametrize(
    "text", ["- " + "a = " * 3_000, "- " + '"' * 9_000 + " = b", "- " + '"\\' * 4_000 + " = b", "=" * 1_000_000]
)
def test_long_lines_are_read(text: str) -> None:
    """A long or broken line takes a moment at most, and stays."""
    assert parse_people(text).render() == text
