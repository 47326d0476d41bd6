"""Keys: strict for those we make, lenient for files that exist, never a reserved name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidKey
from commonplace.model.names import check_key, check_new_key, is_key_name, is_windows_reserved
from tests.depth import examples
from tests.strategies import any_text

levels = st.from_regex(r"[a-z0-9-]{1,60}", fullmatch=True).filter(lambda s: s != "index" and not is_windows_reserved(s))
odd_names = any_text | st.text("aA1.-_ /\\:con", max_size=8)


def accepted(key: str, *, new: bool) -> bool:
    """True when the check takes the key."""
    try:
        return (check_new_key if new else check_key)(key) == key
    except InvalidKey:
        return False


@given(st.lists(levels, min_size=1, max_size=4))
def test_strict_keys_are_taken(parts: list[str]) -> None:
    """Up to four levels of a-z, 0-9 and - are a key, for new memories and existing files."""
    key = "/".join(parts)
    assert accepted(key, new=True)
    assert accepted(key, new=False)


@examples(500)
@given(odd_names)
def test_a_new_key_is_also_a_key(text: str) -> None:
    """What may be created can be read: no new key is refused as an existing one, and none is odd."""
    if accepted(text, new=True):
        assert accepted(text, new=False)
        assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-/")
        assert 0 < len(text) <= 243


@examples(500)
@given(odd_names)
def test_key_names_are_keys_of_one_level(stem: str) -> None:
    """A file name is a key's last part exactly when it is a key by itself."""
    assert is_key_name(stem) == (accepted(stem, new=False) and "/" not in stem)


@pytest.mark.parametrize(
    "key",
    ["", "/", "a/", "/a", "a//b", "A", "a b", "a_b", "a.b", "é", "a\n", "a" * 61, "a/b/c/d/e", "..", "a/../b", "١"],
)
def test_new_keys_that_are_refused(key: str) -> None:
    """Nothing but 1 to 60 of a-z, 0-9 and - in up to four levels can be created."""
    with pytest.raises(InvalidKey):
        check_new_key(key)


@pytest.mark.parametrize("name", ["index", "con", "nul", "com1", "lpt9", "aux"])
def test_reserved_names_are_refused_at_every_level(name: str) -> None:
    """The index page and the devices of Windows are no key, at the top or below, made or existing."""
    for key in (name, f"a/{name}", f"{name}/a"):
        assert not accepted(key, new=True)
        assert not accepted(key, new=False)
        assert not accepted(key.upper(), new=False)
    assert not is_key_name(name)
    assert not is_key_name(name.title())


@pytest.mark.parametrize(
    "key", ["_scope", ".hidden", "a/_b", "a/.b", "", "a//b", "..", "a\x00", "a:b", "a.", "x" * 201]
)
def test_existing_files_that_are_no_memories(key: str) -> None:
    """Names the book keeps for itself, and names some system cannot hold, are no keys."""
    assert not accepted(key, new=False)


@pytest.mark.parametrize("key", ["Über uns", "日本/メモ", "a.b", "A_b", "people/Alice B.", "x" * 200])
def test_keys_of_people(key: str) -> None:
    """A person may name a file anything that every file system can hold."""
    assert accepted(key, new=False) == (not key.endswith("."))


def test_messages_are_short_and_ascii() -> None:
    """An error quotes at most the beginning of a key, as ASCII, so that it can be logged and shown."""
    with pytest.raises(InvalidKey) as caught:
        check_new_key("\u202e\n" * 500)
    assert caught.value.message.isascii()
    assert len(caught.value.message) < 500
