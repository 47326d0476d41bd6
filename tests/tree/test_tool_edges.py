"""The tools of the tree at the edges of what they take: the schema, the tool, the library and the command agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from commonplace import Book, toolset
from commonplace.model.errors import CommonplaceError, InvalidField, NotFound, NotPermitted
from commonplace.verbs.toolset import all_tools
from tests.cli.calls import run
from tests.tree.conftest import write_mbox
from tools.tools_page import all_verbs

TOOLS = {tool.name: tool for tool in all_tools() if tool.group == "tree"}
NEEDED: dict[str, dict[str, object]] = {
    "memory_tree_search_entities": {"query": "ann"}, "memory_tree_query_topic": {"entity_id": "person:ann@example.org"},
    "memory_tree_query_source": {}, "memory_tree_query_global": {},
    "memory_tree_drill_down": {"node_id": "digest-2026"},
    "memory_tree_fetch_leaves": {"chunk_ids": ["u-0"]}, "memory_tree_cite": {"answer": "Nothing."},
}  # fmt: skip
WORDS = {"max_depth": "--depth", "window_days": "--window", "time_window_days": "--window", "limit": "--limit"}
UNIT = "u-" + 20 * "0"


def list_edges() -> Iterator[tuple[str, str, object, bool]]:
    """Yield a tool, a field, a value at an edge of what its schema allows or just beyond, and whether it is allowed."""
    for name, tool in TOOLS.items():
        for field, schema in tool.input_schema(placed=True)["properties"].items():
            low, high = schema.get("minimum"), schema.get("maximum")
            for edge, step in ((low, -1), (high, 1)):
                if edge is not None:
                    yield name, field, edge, True
                    yield name, field, edge + step, False
            few, many = schema.get("minItems"), schema.get("maxItems")
            for edge, step in ((few, -1), (many, 1)):
                if edge is not None:
                    yield name, field, [UNIT] * edge, True
                    yield name, field, [UNIT] * (edge + step), False


EDGES = list(list_edges())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with a mail."""
    folder = tmp_path_factory.mktemp("edges")
    day = "2 Nov 2026 09:00:00 +0000"
    mail = ("1", "", "Ann Lee <ann@example.org>", "bob@example.org", day, "Move", "We decided to move on Friday.")
    with Book.open(folder / "book") as book:
        book.ingest(str(write_mbox(folder / "mail.mbox", (mail,))))
    return folder / "book"


def call_tool(book: Book, name: str, arguments: dict[str, Any]) -> Any:
    """Call a tool as an agent framework does."""
    return {tool.name: tool for tool in toolset(book)}[name](**arguments)


def call_method(book: Book, name: str, arguments: dict[str, Any]) -> Any:
    """Call the method of the library that a tool is for."""
    return getattr(book, TOOLS[name].verb)(**arguments)


def to_words(name: str, arguments: dict[str, Any]) -> list[str]:
    """Return arguments of a tool as those of its command."""
    words = []
    for field, value in arguments.items():
        values = [str(item) for item in value] if isinstance(value, list) else [str(value)]
        words += [WORDS[field], *values] if field in WORDS else values
    return words


def test_every_limit_is_tried() -> None:
    """The schemas say which depths, windows, limits and numbers of ids there are, as the spec has them."""
    allowed = {(field, str(value)[:9]) for name, field, value, is_allowed in EDGES if is_allowed and field in WORDS}
    assert {("max_depth", "1"), ("max_depth", "5"), ("window_days", "1"), ("window_days", "3660")} <= allowed
    assert {("limit", "1"), ("limit", "100")} <= allowed
    assert [len(value) for *_, value, _ in EDGES if isinstance(value, list)] == [1, 0, 20, 21]


@pytest.mark.parametrize(("name", "field", "value", "is_allowed"), EDGES)
def test_what_a_schema_allows_is_what_is_taken(
    filled: Path, name: str, field: str, value: object, *, is_allowed: bool
) -> None:
    """A number or list at the edge of what the schema says is taken, and one beyond it refused, by the tool, by the
    library and on the command line, with the same code."""
    arguments = {**NEEDED[name], field: value}
    with Book.open(filled, role="agent") as book:
        if is_allowed:
            call_tool(book, name, arguments)
            call_method(book, name, arguments)
        else:
            with pytest.raises(InvalidField):
                call_tool(book, name, arguments)
            with pytest.raises(InvalidField):
                call_method(book, name, arguments)
    done = run(
        "--root", str(filled), *all_verbs()[TOOLS[name].verb].command.split(), *to_words(name, arguments), "--json"
    )
    if is_allowed:
        assert done.status in (0, 1) and "not_found" not in done.err, done
    else:
        assert done.status in (2, 15), done


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0\u3000"])
def test_a_blank_query_ranks_nothing(filled: Path, blank: str) -> None:
    """A query of nothing but spaces finds no entity, and elsewhere is none at all."""
    with Book.open(filled, role="agent") as book:
        assert book.search_entities(blank).entities == ()
        assert book.query_source(query=blank) == book.query_source()
        assert book.drill_down("digest-2026", query=blank) == book.drill_down("digest-2026")
        assert book.query_global(3660, blank) == book.query_global(3660)
        with pytest.raises(NotFound):
            book.drill_down(blank)


@pytest.mark.parametrize(
    "ident",
    ["L1-nothing", f"L1-{20 * '0'}", "L0-" + 20 * "0", "digest-2026-13-01", "digest-2026-W60", "digest-0000",
     "digest-2026-11-15..2026-11-01", "digest-1999", "topic-none", UNIT, "leaf-" + 20 * "0", "../../etc/passwd", "*",
     "\ud800", "digest-2026-11-02 ", "DIGEST-2026-11-02", "x" * 500],
)  # fmt: skip
def test_an_unknown_id_is_not_found(filled: Path, ident: str) -> None:
    """An id that names nothing is not found below, and missing among leaves; nothing else goes wrong with it."""
    with Book.open(filled, role="agent") as book:
        with pytest.raises(NotFound):
            book.drill_down(ident)
        assert book.fetch_leaves([ident]).missing == (ident,)
        assert book.query_topic(ident).hits == ()


ZONES = {
    "Europe/Berlin": date(2026, 10, 25), "America/New_York": date(2026, 3, 8), "Australia/Lord_Howe": date(2026, 4, 5),
    "Asia/Kathmandu": date(2026, 1, 1), "Pacific/Apia": date(2025, 12, 31),
}  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_a_day_is_the_day_of_this_clock(root: Path, tmp_path: Path, zone: str, set_zone: Callable[[str], None]) -> None:
    """Every message around midnight is in the digest of the day that it is here, and in no other, also where the clocks
    change; a window has exactly the messages of its days. In another zone as well, to which this machine is moved: at
    once where it is asked, and on the pages with the next settle."""
    clock, middle = ZoneInfo(zone), ZONES[zone]
    set_zone(zone)
    start = datetime(middle.year, middle.month, middle.day, tzinfo=clock).astimezone(UTC) - timedelta(days=1, hours=2)
    moments = [start + timedelta(days=day, minutes=17 * step) for day in range(3) for step in range(16)]
    mails = [
        (str(at), "", "Ann Lee <ann@example.org>", "bob@example.org", moment.strftime("%d %b %Y %H:%M:%S +0000"),
         f"Case {at}", f"Box {at} was counted.")
        for at, moment in enumerate(moments)
    ]  # fmt: skip
    with Book.open(root) as book:
        book.ingest(str(write_mbox(tmp_path / "mail.mbox", tuple(mails))))
    for other in (zone, "Pacific/Honolulu"):
        set_zone(other)
        days = Counter(moment.astimezone(ZoneInfo(other)).date() for moment in moments)
        with Book.open(root) as book:
            for day in (min(days) - timedelta(days=1), *days, max(days) + timedelta(days=1)):
                page = book.digest(date=day.isoformat()).hits
                hits = book.drill_down(page[0].ref, limit=100).hits if page else ()
                assert sum(hit.kind == "leaf" for hit in hits) == days[day], (other, day)
            for length in (1, 2, 3):
                last = sorted(days)[1]
                window = f"digest-{last - timedelta(days=length - 1)}..{last}"
                hits = book.drill_down(window, 2, limit=100).hits
                wanted = sum(days[last - timedelta(days=back)] for back in range(length))
                assert sum(hit.kind == "leaf" for hit in hits) == wanted, (other, window)
            book.tree_settle()
        found = {path.name: path.read_bytes() for path in (root / "tree" / "digest").rglob("20*.md")}
        assert {name for name in found if name.count("-") == 2} == {f"{day}.md" for day in days}
        for database in root.rglob("tree.db*"):
            database.unlink()
        with Book.open(root) as book:
            assert book.tree_settle().digests == 0


@pytest.mark.parametrize("name", TOOLS)
def test_who_may_see_no_tree_is_told_nothing(filled: Path, name: str) -> None:
    """A sealed session and a worker get an error from every tool of the tree; where the book is switched off the
    answer is empty."""
    with Book.open(filled, role="agent", session="s1", sealed=True) as sealed, pytest.raises(NotPermitted):
        call_method(sealed, name, NEEDED[name])
    with Book.open(filled, role="worker") as worker, pytest.raises(NotPermitted):
        call_method(worker, name, NEEDED[name])
    with Book.open(filled, session="s1", sealed=True) as sealed:
        assert not [tool.name for tool in toolset(sealed) if tool.name in TOOLS]
    with Book.open(filled) as person:
        assert toolset(person, "worker") == []


@pytest.mark.parametrize("name", TOOLS)
def test_a_book_that_is_switched_off_says_nothing(filled: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the book is switched off, no tool of the tree tells anything of it."""
    monkeypatch.setenv("COMMONPLACE_ENABLED", "false")
    with Book.open(filled, role="agent") as book:
        try:
            found = call_method(book, name, NEEDED[name])
        except CommonplaceError as error:
            assert error.code == "disabled"
            return
    assert "Ann" not in repr(found) and "Friday" not in repr(found)
