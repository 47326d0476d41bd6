"""The generated region: ours is renewed, a person's text around it stays."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.frontmatter import BEGIN, END, drop_stray_marks, escape_comments, get_region, put_region
from tests.depth import examples
from tests.project.repositories import git, needs_git
from tests.strategies import hostile_text

generated = st.lists(hostile_text.map(lambda text: escape_comments(text) + "\n"), max_size=4).map("".join)
_pieces = st.sampled_from(
    [BEGIN, END, "<!-- commonplace:begin -->", "\n", "\r\n", "hand", "\n" + END, BEGIN + "\n", "x"]
)
pages = st.one_of(hostile_text, st.lists(_pieces, max_size=12).map("".join))


@examples(300)
@given(pages, generated, generated)
def test_a_region_put_is_the_region_got(page: str, first: str, second: str) -> None:
    """After any page gets a region, and a new one, the page has exactly the newest, and a repeat changes nothing."""
    once = put_region(page, first)
    twice = put_region(once, second)
    assert get_region(once) == first
    assert get_region(twice) == second
    assert put_region(twice, second) == twice


@examples(300)
@given(hostile_text.map(escape_comments), hostile_text.map(escape_comments), generated, generated)
def test_text_outside_stays(above: str, below: str, old: str, new: str) -> None:
    """Renewing a region keeps every character above and below it."""
    page = f"{above}\n{BEGIN}\n{old}{END}{below}"
    assert put_region(page, new) == f"{above}\n{BEGIN}\n{new}{END}{below}"


@examples(300)
@given(pages, generated, generated)
def test_a_page_without_a_region_keeps_all_its_text(page: str, first: str, second: str) -> None:
    """A page that has no complete region gets one below its text, and later renewals touch that one alone."""
    if get_region(page) is None:
        once = put_region(page, first)
        assert once.startswith(page)
        kept = once[: len(once) - len(f"{BEGIN}\n{first}{END}\n")]
        assert put_region(once, second) == f"{kept}{BEGIN}\n{second}{END}\n"


def test_text_below_a_lost_end_mark_is_not_swallowed() -> None:
    """A person who deleted an end mark does not lose what they wrote below the begin mark."""
    page = f"mine\n{BEGIN}\nstill mine\n"
    page = put_region(put_region(page, "one\n"), "two\n")
    assert page == f"mine\n{BEGIN}\nstill mine\n\n{BEGIN}\ntwo\n{END}\n"


@given(hostile_text)
def test_neutral_text_has_no_mark(text: str) -> None:
    """Neutral text has no comment in it, and text without one is as it was."""
    assert "<!--" not in escape_comments(text)
    assert escape_comments(text) == text or "<!--" in text


@pytest.mark.parametrize(("page", "gap"), [("", ""), ("a", "\n\n"), ("a\n", "\n"), ("a\n\n", "")])
def test_a_new_region_stands_apart(page: str, gap: str) -> None:
    """The first region comes after an empty line, at the end of the page."""
    assert put_region(page, "x\n") == f"{page}{gap}{BEGIN}\nx\n{END}\n"


@pytest.mark.parametrize("page", ["", "x", BEGIN, END, f"{END}\n{BEGIN}", f"x {BEGIN}\n{END}", f"{BEGIN} {END}"])
def test_half_a_region_is_none(page: str) -> None:
    """Without a begin mark and, below it, an end mark, both at the start of a line, there is no region."""
    assert get_region(page) is None


def test_a_region_with_windows_line_ends_is_found() -> None:
    """A page that a tool turned to CRLF has its region renewed, not a second one added."""
    page = f"top\r\n{BEGIN}\r\nold\r\n{END}\r\nbelow\r\n"
    assert get_region(page) == "old\r\n"
    assert put_region(page, "new\n") == f"top\r\n{BEGIN}\nnew\n{END}\r\nbelow\r\n"


def test_generated_text_without_a_final_newline_keeps_its_end_mark() -> None:
    """The end mark stands on a line of its own even when the generated text does not end its last line."""
    page = put_region(put_region("", "one"), "two")
    assert page == f"{BEGIN}\ntwo\n{END}\n"


_ours = st.lists(
    st.sampled_from(["", "## Memories", "- [a](a.md): A", "- [b](b.md)", "2 memories.", "Tags: x 1."]), max_size=5
)
_theirs = st.lists(st.sampled_from(["", "mine one", "mine two", "mine three"]), max_size=3)
_page = st.tuples(_theirs, _ours, _theirs)


def _write_page(above: list[str], lines: list[str], below: list[str]) -> str:
    return "".join(f"{line}\n" for line in ["# title", *above, BEGIN, *lines, END, *below])


@needs_git
@given(st.none() | _page, _page, _page)
def test_a_union_merge_is_healed(
    base: tuple[list[str], ...] | None, here: tuple[list[str], ...], there: tuple[list[str], ...]
) -> None:
    """However git puts the lines of two pages together, renewing the region leaves one region, every line that a person
    wrote on both sides, and no generated line outside of it; but where git left just one pair of marks, all that it put
    around them counts as a person's."""
    texts = ["" if base is None else _write_page(*base), _write_page(*here), _write_page(*there)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip(("base", "here", "there"), texts, strict=True):
            Path(folder, name).write_text(text, "utf-8")
        merged = git(Path(folder), "merge-file", "--union", "--stdout", "here", "base", "there")
    healed = put_region(drop_stray_marks(merged, lambda line: not line.startswith(("mine", "# title", "\n"))), "new\n")
    assert healed.count(BEGIN) == healed.count(END) == 1 and get_region(healed) == "new\n"
    around = healed.replace(f"{BEGIN}\nnew\n{END}\n", "").split("\n")
    if merged.count(BEGIN) > 1 or merged.count(END) > 1:
        assert {line for line in around if line} <= {"# title", "mine one", "mine two", "mine three"}
    # A line that each side took out at another place is gone, as git merges.
    both = ({*here[0]} & {*there[0]}) | ({*here[2]} & {*there[2]})
    assert {line for line in both if line} <= {*around}
