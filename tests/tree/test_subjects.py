"""Subjects without prefixes and list tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.subjects import Subject, read_subject, strip_prefixes

REPLIES = [
    "Re: ", "RE:", "re : ", "Re[2]: ", "Re(3): ", "Re^2: ", "AW: ", "Antw: ", "Antwort: ", "SV: ", "Odp: ", "R: ",
    "RES: ", "Ynt: ", "Отв: ", "答复: ", "回复：", "回覆: ", "返信: ", "Re: Re: RE: AW: ", "Re: Fwd: ",
]  # fmt: skip
FORWARDS = [
    "Fwd: ", "FW: ", "WG: ", "TR: ", "RV: ", "VB: ", "ENC: ", "I: ", "PD: ", "Doorst: ", "转发: ", "轉寄：",
    "転送: ", "Fwd: Re: ",
]  # fmt: skip


@pytest.mark.parametrize("prefix", REPLIES)
def test_an_answer_has_the_key_of_what_it_answers(prefix: str) -> None:
    """Prefixes of answers go, in every language, however many there are; the outermost one says what a mail is."""
    assert read_subject(f"{prefix}Lunch  on Friday") == Subject("lunch on friday", is_reply=True)


@pytest.mark.parametrize("prefix", FORWARDS)
def test_a_forward_has_the_key_of_what_it_forwards(prefix: str) -> None:
    """Prefixes of forwards go as well."""
    assert read_subject(f"{prefix}Lunch on Friday") == Subject("lunch on friday", is_forward=True)


def test_a_prefix_of_two_meanings_may_be_either() -> None:
    """VS: is an answer in Finnish and a forward in Norwegian."""
    assert read_subject("VS: Lunch") == Subject("lunch", is_reply=True, is_forward=True)


def test_an_old_forward_says_so_at_the_end() -> None:
    """Some programs write (fwd) behind the subject."""
    assert read_subject("Lunch (fwd)") == Subject("lunch", is_forward=True)
    assert read_subject("Re: Lunch (fwd)") == Subject("lunch", is_reply=True)
    assert read_subject("(fwd)") == Subject("(fwd)", is_forward=True)


@pytest.mark.parametrize(
    "title", ["[users] Lunch", "Re: [users] Lunch", "[users] Re: [Users] lunch", "AW: [EXT] WG: Lunch"]
)
def test_tags_of_lists_do_not_count(title: str) -> None:
    """A list puts its name into subjects, before or behind a prefix."""
    assert read_subject(title).key == "lunch"


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("[PATCH 1/2] Count from one", "[patch 1/2] count from one"),
        ("Re: [Ticket #12] Your request", "[ticket #12] your request"),
        ("[users]", "[users]"),
        ("Regarding: lunch", "regarding: lunch"),
        ("Note: lunch at 12:30", "note: lunch at 12:30"),
        ("i: lower case", "i: lower case"),
        ("Research: results", "research: results"),
        ("ＲＥ：　Ｌｕｎｃｈ", "lunch"),
        ("Re:", ""),
        ("", ""),
    ],
)
def test_what_else_a_subject_says_stays(title: str, key: str) -> None:
    """Tags with a number tell two subjects apart, and a word with a colon need not be a prefix."""
    assert read_subject(title).key == key


@given(st.text(max_size=60), st.sampled_from([*REPLIES, *FORWARDS, "[users] "]))
def test_a_prefix_never_changes_the_key(title: str, prefix: str) -> None:
    """Whatever a title is, the key of an answer to it is its own; and a key has no spare white space."""
    key = read_subject(title).key
    assert key == " ".join(key.split())
    if title.strip():
        assert read_subject(f"{prefix}{title}").key == key


@pytest.mark.parametrize("piece", ["Re:", "[a]", "[", " ", "Re"])
def test_long_titles_are_read_in_one_go(piece: str) -> None:
    """A very long title takes time in proportion."""
    title = piece * 100_000
    assert len(read_subject(title).key) <= len(title)


@pytest.mark.parametrize("prefix", [*REPLIES, *FORWARDS])
def test_a_title_is_shown_without_its_prefixes(prefix: str) -> None:
    """What is shown of a subject has no prefixes and list tags, and is else as its author wrote it."""
    assert strip_prefixes(f"{prefix}Lunch  on Friday") == "Lunch on Friday"
    assert strip_prefixes(f"{prefix}[talk] {prefix}Über PATCH-3: Lunch") == "Über PATCH-3: Lunch"
    assert strip_prefixes(prefix + "[PATCH 1/2] Lunch") == "[PATCH 1/2] Lunch"
