"""Words and pieces: cut as BERT's uncased tokenizer cuts them, whatever is in a text."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embed import static_table
from commonplace.embed.static_table import MAX_WORD_LENGTH, WordPiece, split_words
from tests.depth import examples

PIECES = Path(static_table.__file__).parent.joinpath("table", "pieces.txt").read_text("utf-8").split("\n")
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}
CUTS = {  # what the `tokenizers` package says, with this vocabulary and without what it does not know
    "Hello, World!": "hello world",
    "unbelievably": "un ##bel ##ie ##va ##bly",
    "parse_frontmatter": "par ##se front ##mat ##ter",
    "ERR_2041 in src/app/main.py": "er ##r 204 ##1 in sr ##c app main p ##y",
    "Größe café naïve": "gr ##o ##ße cafe naive",
    "ΟΔΟΣ Σίγμα": "ο ##δ ##ο ##σ σ ##ι ##γ ##μ ##α",
    "İstanbul": "istanbul",
    "我们use数据库": "我 use",
    "日本語カタカナ": "日 本 語 カ ##タ ##カ ##ナ",
    "don't": "don t",
    "a\x00b\x1cc\td\u00a0e": "abc d e",
    "é\x00b\x1cc\td\u00a0e": "e ##bc d e",
    "£50 €5": "£5 ##0 € ##5",
    "ﬁne ½ x²": "ﬁ ##ne ½ x ##²",
    "co\u00adop \u200bzero": "coop zero",
    "[CLS] token": "cl ##s token",
    "v2.3.1": "v ##2 3 1",
    "हिन्दी": "ह ##ि ##न ##द ##ी",
    "😀 ok": "ok",
    "`tick`~^<>|": "tick",
    "x\u2028y\x85z": "x y ##z",
    "a\ud800b": "ab",
    "?!": "",
}
_marks = st.sampled_from(
    "aZ09 éßİΣς我日カ한ไह£€½ﬁ²—。、.,-_'[]\u0301\u00ad\u200b\u3000\x00\x1c\t\n\ufffd\u037e\u1fef😀👩‍🚀"
)
anything = st.one_of(st.text(st.characters()), st.text(_marks), st.lists(st.sampled_from(PIECES)).map(" ".join))


def pieces(text: str) -> str:
    return " ".join(PIECES[number] for number in WordPiece(VOCABULARY)(text))


@pytest.mark.parametrize("text", CUTS)
def test_known_cuts(text: str) -> None:
    """Each of these texts is cut as the tokenizer that everybody uses cuts it."""
    assert pieces(text) == CUTS[text]


@given(anything)
def test_any_text_is_cut_the_same_way_twice(text: str) -> None:
    """Any text is cut, into numbers of the vocabulary, and a tokenizer that has seen it before says the same."""
    cut = WordPiece(VOCABULARY)
    first = cut(text)
    assert cut(text) == first == WordPiece(VOCABULARY)(text)
    assert all(0 <= number < len(PIECES) for number in first)


@given(anything, anything)
def test_texts_are_cut_apart(one: str, other: str) -> None:
    """What stands on another line changes nothing."""
    cut = WordPiece(VOCABULARY)
    assert cut(f"{one}\n{other}") == cut(one) + cut(other)


@given(anything)
def test_pieces_make_up_their_words(text: str) -> None:
    """The pieces of a word, put together again, are the word; or it has none."""
    cut = WordPiece(VOCABULARY)
    for word in split_words(text):
        found = [PIECES[number] for number in cut[word]]
        assert "".join([found[0], *(piece.removeprefix("##") for piece in found[1:])]) == word if found else True
        assert not any(piece.startswith("##") for piece in found[:1])


@given(anything)
def test_a_word_alone_is_cut_as_in_its_text(text: str) -> None:
    """The pieces of each of a text's words, cut as a word or as a text of its own, are the pieces of the text."""
    cut = WordPiece(VOCABULARY)
    apart = [cut[word] for word in split_words(text)]
    assert [list(found) for found in apart] == [cut(word) for word in split_words(text)]
    assert [number for found in apart for number in found] == WordPiece(VOCABULARY)(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_is_the_same_way(text: str) -> None:
    """Plain ASCII, which has a quicker way, is cut as it is beside a character that is not ASCII."""
    assert [*split_words(text), "我"] == split_words(f"{text} 我")


def test_long_words_are_unknown() -> None:
    """A word of a hundred letters is cut; of a hundred and one, nothing is known, so that a blob costs nothing."""
    assert len(pieces("a" * MAX_WORD_LENGTH).split()) == 50
    assert pieces("a" * (MAX_WORD_LENGTH + 1)) == ""


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer forgets words when it has seen many, and cuts as before."""
    monkeypatch.setattr("commonplace.embed.static_table._MAX_CACHED_PIECES", 3)
    cut = WordPiece(VOCABULARY)
    text = "one two three four five one two"
    assert [PIECES[number] for number in cut(text)] == text.split()
    assert len(cut) <= 3


@cache
def reference() -> object:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordPiece(
        VOCABULARY | {"[UNK]": len(PIECES)}, unk_token="[UNK]", max_input_chars_per_word=100
    )
    found = tokenizers.Tokenizer(model)
    found.normalizer = tokenizers.normalizers.BertNormalizer()
    found.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return found


def settled(text: str) -> bool:
    """Characters that Unicode had long before either was written; the original has a slip in one block of Chinese."""
    old = unicodedata.ucd_3_2_0
    return all(
        old.category(mark) not in {"Cn", "Cs"} and old.category(mark) == unicodedata.category(mark) for mark in text
    )


@examples(2_000)
@given(anything.filter(settled))
def test_cut_as_the_original_cuts(text: str) -> None:
    """Where the `tokenizers` package is installed, it says the same of thousands of texts of every script."""
    ids = reference().encode(text, add_special_tokens=False).ids  # type: ignore[attr-defined]
    assert WordPiece(VOCABULARY)(text) == [number for number in ids if number != len(PIECES)]
