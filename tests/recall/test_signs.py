"""Scripts whose words have signs in them that are no letters: a word is found as a word, and not by its consonants."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.choices import SearchMode
from commonplace.text.words import index_words, normalize_words, query_terms
from tests.recall.test_meaning import opened

HINDI = {
    "godown": "गोदाम की चाबी रमेश के पास है।",
    "office": "दफ़्तर सुबह नौ बजे खुलता है।",
    "truck": "ट्रक हर मंगलवार को सामान लाता है।",
    "bill": "बिजली का बिल महीने की पाँच तारीख को भरना है।",
    "tea": "चाय की दुकान के मालिक का नाम सुरेश है।",
}
ASKED = {
    "गोदाम की चाबी किसके पास है": "godown",
    "दफ़्तर कब खुलता है": "office",
    "ट्रक किस दिन आता है": "truck",
    "बिजली का बिल कब भरना है": "bill",
    "चाय की दुकान का मालिक कौन है": "tea",
}
ABSENT = ("हवाई जहाज का टिकट कितने का है", "कुत्ते का टीका कब लगा", "समुद्र कितना गहरा है", "बच्चे को कौन पढ़ाता है")
OTHERS = {  # a note, a question about it, one about something else
    "Tamil": ("சென்னை அலுவலகம் காலை ஒன்பது மணிக்கு திறக்கும்.", "அலுவலகம் எப்போது திறக்கும்", "விமான டிக்கெட் விலை என்ன"),
    "Bengali": ("গুদামের চাবি রহিমের কাছে আছে।", "গুদামের চাবি কার কাছে", "কুকুরের টিকা কবে"),
    "Telugu": ("గోదాము తాళం రవి దగ్గర ఉంది.", "గోదాము తాళం ఎవరి దగ్గర", "విమానం టికెట్ ధర ఎంత"),
    "Gujarati": ("ગોદામની ચાવી રમેશ પાસે છે.", "ગોદામની ચાવી કોની પાસે", "કૂતરાને રસી ક્યારે આપી"),
    "Sinhala": ("ගබඩාවේ යතුර කමල් ළඟ තිබේ.", "ගබඩාවේ යතුර කා ළඟද", "ගුවන් ටිකට් මිල කීයද"),
}
POINTED = {"Hebrew": ("מָקוֹם", "מקום"), "Arabic": ("مُحَمَّد", "محمد")}
WORDS = st.text(st.characters(min_codepoint=0x0900, max_codepoint=0x0DFF, categories=("Lo", "Mn", "Mc")), min_size=1)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    book = opened(tmp_path_factory.mktemp("hindi") / "book")
    for key, text in HINDI.items():
        book.store(text, key)
    return book


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("question", ASKED)
def test_a_question_in_hindi(book: Book, question: str, mode: SearchMode) -> None:
    """Of five notes in Hindi, which share little words and most consonants, the one that is asked for is first."""
    assert [hit.key for hit in book.recall(question, mode=mode).hits][:1] == [ASKED[question]]


@pytest.mark.parametrize("question", ABSENT)
def test_nothing_in_hindi(book: Book, question: str) -> None:
    """A question in Hindi about what no note is about has no strong hit, and none that its words did not bring."""
    hits = book.recall(question).hits
    assert not any(hit.strong for hit in hits)
    assert [hit.key for hit in hits] == [hit.key for hit in book.recall(question, mode="lexical").hits]


@pytest.mark.parametrize("language", OTHERS)
def test_other_scripts_of_india(tmp_path: Path, language: str) -> None:
    """The note is found by a question in its own script, by words alone too, and not by one about something else."""
    text, asked, other = OTHERS[language]
    with opened(tmp_path / "book") as book:
        book.store(text, "note")
        for mode in ("hybrid", "lexical"):
            assert [hit.key for hit in book.recall(asked, mode=mode).hits] == ["note"]
        assert book.recall(other).hits == ()


@pytest.mark.parametrize("language", POINTED)
def test_points_do_not_matter(tmp_path: Path, language: str) -> None:
    """What is written with the points of Hebrew or Arabic is found without them, and the other way round."""
    with opened(tmp_path / "book") as book:
        pointed, plain = POINTED[language]
        book.store(f"{pointed} 17", "pointed")
        book.store(f"{plain} 18", "plain")
        for question in (pointed, plain):
            assert {hit.key for hit in book.recall(question, mode="lexical").hits} == {"pointed", "plain"}


@example("\u09c7\u09d7")  # a vowel sign in two parts
@given(WORDS)
def test_a_word_stays_one_word(word: str) -> None:
    """What letters and signs of India's scripts stand together are one word to the index, and the same when asked."""
    letters = any(unicodedata.category(sign) == "Lo" for sign in unicodedata.normalize("NFKC", word))
    found = re.findall(r"[^\W_]+", index_words(word))
    assert len(found) <= 1 and (found or not letters)
    assert [term for term in query_terms(word).any_of if len(term) > 1] == []
    assert normalize_words(word) == normalize_words(index_words(word))
