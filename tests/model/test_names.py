"""Names: what one system cannot hold, no book has; two names of one file are seen as one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.names import MAX_NAME_BYTES, find_name_fault, fold_name, is_windows_reserved, slug, sort_name
from tests.depth import examples
from tests.strategies import any_text

DEVICES = ["con", "PRN", "Aux", "nul", "COM0", "com9", "LPT1", "lpt¹", "COM³", "CONIN$", "conout$"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ending", ["", ".", ".md", ".tar.gz", " ", " .md", "  "])
def test_windows_devices_are_refused(device: str, ending: str) -> None:
    """A device of Windows is no name, in any case and with any extension or padding."""
    assert is_windows_reserved(device + ending)
    assert find_name_fault(device + ending) is not None


@pytest.mark.parametrize("name", ["console", "com", "com10", "lpt", "xcon", "con-1", "nul_", "a.con"])
def test_names_near_devices_are_fine(name: str) -> None:
    """A name that only begins or ends like a device is a name."""
    assert not is_windows_reserved(name)
    assert find_name_fault(name) is None


@examples(500)
@given(any_text | st.text("ab.-_ \\/:*", max_size=6))
def test_a_name_without_fault_works_everywhere(name: str) -> None:
    """A name that is allowed has none of the faults that any file system objects to."""
    if find_name_fault(name) is None:
        assert name.strip(". ") != ""
        assert name == name.rstrip(" .")
        assert not set(name) & set('<>:"/\\|?*\x00\n\r\t\x7f')
        assert len(name.encode()) <= MAX_NAME_BYTES


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "...", "a.", "a ", "a/b", "a\\b", "a:b", "a\x00", "a\n", "\ud800", "a?", "é" * 101, "x" * 201],
)
def test_names_that_are_refused(name: str) -> None:
    """Each fault is found and named."""
    assert find_name_fault(name)


@pytest.mark.parametrize("name", ["a", ".git", "_scope.md", "Über uns.md", "日本", "x" * 200, "é" * 100, "a-", "a_"])
def test_names_that_are_taken(name: str) -> None:
    """Names that every file system holds are allowed, in any script."""
    assert find_name_fault(name) is None


@examples(300)
@given(any_text)
def test_names_of_one_file_fold_the_same(name: str) -> None:
    """Composed or decomposed, a name folds to the same, and folding twice is folding once."""
    composed, apart = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    assert fold_name(apart) == fold_name(composed) == fold_name(name)
    assert fold_name(fold_name(name)) == fold_name(name)


@given(st.text("abcXYZ09-_ ."))
def test_ascii_names_fold_by_case(name: str) -> None:
    """Upper and lower case are one name."""
    assert fold_name(name.upper()) == fold_name(name.lower()) == name.lower()


@pytest.mark.parametrize(("one", "other"), [("É", "é"), ("Straße", "STRASSE"), ("K", "k"), ("e\u0301", "É")])
def test_names_that_are_the_same_file_somewhere(one: str, other: str) -> None:
    """Names that differ only in case or composition fold to one."""
    assert fold_name(one) == fold_name(other)


@given(any_text | st.text("ab -/_", max_size=100), st.integers(1, 80))
def test_a_slug_is_plain_words(text: str, limit: int) -> None:
    """A slug is lower-case words joined by single dashes, within the limit, and stable."""
    made = slug(text, limit)
    assert len(made) <= limit
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert "--" not in made
    assert made == made.strip("-")
    assert slug(made, limit) == made


@examples(300)
@given(any_text | st.text("ab_.5fA-", max_size=8), any_text | st.text("ab_.5fA-", max_size=8))
def test_sort_names_tell_names_apart(first: str, second: str) -> None:
    """Two names sort as one exactly when they fold to one, in plain characters and never with two underscores."""
    assert (sort_name(first) == sort_name(second)) == (fold_name(first) == fold_name(second))
    assert set(sort_name(first)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert "__" not in sort_name(first)


def test_a_slug_is_cut_at_a_word() -> None:
    """The last word that does not fit is left out; a single long word is cut."""
    assert slug("One two, three!", 9) == "one-two"
    assert slug("abcdefgh", 5) == "abcde"
    assert slug("日本") == ""
