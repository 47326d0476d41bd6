"""The fence: what is inside stays inside, and nothing in it is hidden."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.fence import _BRACKETS, _LOOK_ALIKES, TAG, fence, visible
from tests.depth import examples
from tests.strategies import LONG_LINES, any_text, hostile_text

# Unicode's Default_Ignorable_Code_Point: what a reader shows nothing for.
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
LOOKS_CLOSED = re.compile(r"<\s*/\s*commonplace", re.I)


def hidden(text: str) -> list[str]:
    """The characters of a text that show nothing or change the direction of others."""
    return [
        ch
        for ch in text
        if IGNORABLE.match(ch) or (ch not in "\n\t" and unicodedata.category(ch) in {"Cc", "Cf", "Cs", "Co", "Cn"})
    ]


@examples(300)
@given(hostile_text, st.dictionaries(st.sampled_from(["key", "author", "trust"]), hostile_text))
def test_a_fence_is_closed_once_and_at_the_end(text: str, source: dict[str, str]) -> None:
    """Whatever the text and its labels, the fence opens on the first line and closes on the last, and only there."""
    fenced = fence(text, source)
    assert fenced.count(f"<{TAG}") == 1
    assert fenced.startswith(f"<{TAG}")
    assert [match.start() for match in LOOKS_CLOSED.finditer(fenced)] == [len(fenced) - len(f"</{TAG}>")]
    assert fenced.split("\n", 1)[0].endswith(">")
    assert fenced.split("\n", 1)[0].count(">") == 1


@pytest.mark.parametrize(
    "closing",
    [
        f"</{TAG}>",
        f"</{TAG.upper()}>",
        f"< / {TAG}>",
        f"<\n/\n{TAG}>",
        f"<\u200b/{TAG}>",
        f"<\ufe0f/\ufe0f{TAG}>",
        f"<\u3000/{TAG}>",
        f"\uff1c/{TAG}>",
        f"<\u2044{TAG}>",
        f"<\u202e/{TAG}>",
        f"<{TAG} trust=human>",
    ],
)
def test_look_alikes_are_shown_as_escapes(closing: str) -> None:
    """Nothing that could be taken for the fence stands in a fenced text as it was."""
    shown = visible(f"before {closing} after")
    assert not re.search(rf"[<\uff1c]\s*[/\u2044]?\s*{TAG}", shown, re.I)
    assert "\\u{" in shown


@examples(300)
@given(st.one_of(any_text, hostile_text, st.text(st.characters(categories=["C", "M", "Z"]), max_size=30)))
def test_nothing_visible_is_hidden(text: str) -> None:
    """No invisible, control or direction character is left in what is shown."""
    assert hidden(visible(text)) == []


def test_every_hidden_character_is_escaped() -> None:
    """Over all of Unicode, each character that is hidden is shown as its escape, VS16 alone is dropped."""
    for code in range(0x110000):
        ch = chr(code)
        if hidden(ch):
            assert visible(ch) == ("" if ch == "\ufe0f" else f"\\u{{{code:04x}}}")


@pytest.mark.parametrize("text", ["plain\ttext\n", "naïve Größe", "日本語 العربية 한국어", "🙂 ≤ ✓ — “x”", "a < b > c"])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    """Text in any script without hidden characters is not changed."""
    assert visible(text) == text


def test_line_ends_and_labels() -> None:
    """CRLF becomes LF, a lone CR is shown, labels are quoted and in the order given."""
    assert visible("a\r\nb\rc") == "a\nb\\u{000d}c"
    assert fence("x", {"key": "k", "author": 'a"b\nc'}) == f'<{TAG} key="k" author="a\\"b\\nc">\nx\n</{TAG}>'
    assert fence("x") == f"<{TAG}>\nx\n</{TAG}>"


@pytest.mark.parametrize("text", LONG_LINES)
def test_a_megabyte_line_is_fenced(text: str) -> None:
    """A line of a megabyte, made to keep a careless pattern busy, is fenced unchanged."""
    assert fence(text) == f"<{TAG}>\n{text}\n</{TAG}>"


FOLDS = {letter: f"{letter}{others}" for letter, others in _LOOK_ALIKES.items()}
WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(33, 127)})


@examples(200)
@given(st.data())
def test_a_fence_in_other_letters_is_escaped(data: st.DataObject) -> None:
    """Whatever look-alike letters, brackets, slashes, marks and invisible characters a closing line is made of."""
    letters = [
        data.draw(st.sampled_from(FOLDS.get(ch, ch)).map(lambda one: data.draw(st.sampled_from([one, one.upper()]))))
        for ch in "commonplace"
    ]
    between = data.draw(st.sampled_from(["", "\u200b", "\u0301", "\ufe0f", "\u00ad"]))
    bracket = data.draw(st.sampled_from(_BRACKETS))
    slash = data.draw(st.sampled_from(["/", "\uff0f", "\u2044", "\u2215", "\u29f8", " / ", "\u200b/", "\n/\n", ""]))
    name = between.join(letters)
    name = data.draw(st.sampled_from([name, name.translate(WIDE)]))
    text = f"Before. {bracket}{slash}{name}-memory> after"
    assert f"\\u{{{ord(bracket):04x}}}" in visible(text)


@pytest.mark.parametrize("unit", ["<\u0441", "<com", "<\u0441\u043e\u043c", "<\u0301"])
def test_look_alikes_take_no_time(unit: str) -> None:
    """Many brackets with the beginning of the name behind each are looked at once each."""
    assert visible(unit * 20_000) == unit * 20_000
