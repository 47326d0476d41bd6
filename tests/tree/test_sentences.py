"""Sentences: where they end, in many languages, and that no sign of a text is lost."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.sentences import split_sentences, strip_marks
from tests.strategies import LONG_LINES, hostile_text


def check(text: str) -> None:
    """Check that the sentences of a text are in it, in order, and are all of it."""
    sentences = split_sentences(text)
    spaced = " ".join(text.split())
    at = 0
    for sentence in sentences:
        assert sentence
        assert sentence == " ".join(sentence.split())
        at = spaced.index(sentence, at) + len(sentence)
    assert "".join(sentences).replace(" ", "") == "".join(text.split())


# Each line is a sentence: they are joined by spaces, and found again.
@pytest.mark.parametrize(
    "lines",
    [
        "Dr. Smith met J. R. Doe at St. Anne's.\nMr. Ray came, too!\nDid Mrs. Lee know?",
        "We need tools, e.g. a saw, i.e. something sharp.\nIt costs $3.50 vs. 2.75 before.",
        "See section No. 5 on p. 12 of vol. 3.\nIt is by Miller et al. and others.",
        "The call is at 5 p.m. on Friday.\nWe left at 6 a.m. and slept.\nIt ended at 7 p.m.\nThe rest was easy.",
        "Version 2.4.1 is out at https://example.org/a.b?c=d.\nGet it from mail.example.org today.",
        "The U.S. Army sent it.\nAcme Inc. bought Globex Corp. for 5 million.\nThe rest stays.",
        "I asked: why?\nNobody knew...\nThat was odd.\n“Go home!”\nHe went.",
        "He said no.\nBob said yes.\nI think so.\nAnn may.",
        "It rose by 3.\nThat is a lot.\nThere were 12.\nWe took five.",
        "He shouted “Stop!” and left.\nYahoo! is a company.",
        "Wir treffen uns am 3. Dezember um 10.30 Uhr.\nDas ist z. B. ein Montag.\nBis dann!",
        "Der 2. Versuch ging schief, d. h. wir warten.\nHerr Dr. Vogt kommt ca. um acht.\nDas war's.",
        "Bitte Brot, Milch usw. mitbringen.\nAm 1. Mai ist frei.\nEs kostet 1.200 Euro inkl. Versand.",
        "M. Dupont et Mme. Petit arrivent à 14 h.\nHugo vient aussi.\nC.-à-d. 3,50 euros.\nQui vient ?\nMoi !",
        "¿Quién viene el viernes?\n¡Yo no!\nEl Sr. Soto llega a las 9.30.\nLa Sra. Ferrer, p. ej. mañana.",
        "Il sig. Riva arriva alle 15.00.\nPerché no?\nLa dott. Ferri resta qui.",
        "O Dr. Matos chega às 9h.\nQuantos são?\nSão 5.000 no total.",
        "Het kost ca. 38.000 euro.\nDhr. Bakker komt om 9.15 uur, d.w.z. vroeg.\nWie nog?",
        "Spotkanie jest o godz. 10.00 przy ul. Długiej.\nPrzyjdą m.in. Anna i Jan.\nCzy ktoś jeszcze?",
        "Встреча в 10.30 на ул. Ленина.\nБудут Анна, Олег и др. коллеги.\nКто ещё?",
        "Mötet är kl. 10.00 den 3 maj.\nTa med t.ex. kaffe, bullar m.m. till alla.\nVem kommer?",
        "क्या आप आएंगे?\nहम कल मिलेंगे।\nधन्यवाद।",
        "متى الاجتماع؟\nيوم الاثنين.",
    ],
)
def test_sentences_end_where_a_reader_ends_them(lines: str) -> None:
    """Abbreviations, initials, ordinals, decimals, times and addresses end no sentence."""
    expected = lines.split("\n")
    assert split_sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我们决定用它。下周一上线！你同意吗？好", ["我们决定用它。", "下周一上线！", "你同意吗？", "好"]),
        ("「行きます。」と彼は言った。明日です。", ["「行きます。」", "と彼は言った。", "明日です。"]),
    ],
)
def test_scripts_without_spaces(text: str, expected: list[str]) -> None:
    """Chinese and Japanese sentences end at their full stops, where no space follows."""
    assert split_sentences(text) == expected


WRAPPED = """\
    Hi Ann,

    can we move the review of the budget to Thursday afternoon? Marta is away
    on Wednesday, and the numbers from Lyon will not be there before noon on
    12. May either.

    Two things are open:
    - the room, which is too small for all of us and has no window at all, so
      that nobody likes to sit there
    - the cake
    1. Call Bob.
    2) Call Eve

    # Next steps
    We wait.
    | room | seats |
    | 4.12 | 8     |

    Bob
    Head of Rooms"""


def test_lines_that_a_program_wrapped_are_joined() -> None:
    """A line is joined with the next if its first word had no room; items, headings and rows stand alone."""
    assert split_sentences(dedent(WRAPPED)) == [
        "Hi Ann,",
        "can we move the review of the budget to Thursday afternoon?",
        "Marta is away on Wednesday, and the numbers from Lyon will not be there before noon on 12. May either.",
        "Two things are open:",
        "- the room, which is too small for all of us and has no window at all, so that nobody likes to sit there",
        "- the cake",
        "1. Call Bob.",
        "2) Call Eve",
        "# Next steps",
        "We wait.",
        "| room | seats |",
        "| 4.12 | 8 |",
        "Bob",
        "Head of Rooms",
    ]


def test_a_message_in_small_letters() -> None:
    """Where an author uses no capitals, a point ends a sentence all the same, but not that of an abbreviation."""
    text = "ok, i found it. the cache locks approx. two files. can you look? thanks! see you"
    assert split_sentences(text) == [
        "ok, i found it.",
        "the cache locks approx. two files.",
        "can you look?",
        "thanks!",
        "see you",
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("- the cake", "the cake"),
        ("## Next steps", "Next steps"),
        ("> > quoted", "quoted"),
        ("- [ ] call Bob", "call Bob"),
        ("3. Dezember", "3. Dezember"),
        ("-5 degrees", "-5 degrees"),
        ("*", "*"),
    ],
)
def test_marks_are_stripped(sentence: str, expected: str) -> None:
    """The sign of an item, a quote or a heading goes; numbers stay, since some are dates."""
    assert strip_marks(sentence) == expected


@given(hostile_text)
def test_nothing_of_any_text_is_lost(text: str) -> None:
    """The sentences are in the text with single spaces, in order, and are all of it."""
    check(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "Dr",
                ".",
                "!",
                "?",
                "…",
                "。",
                " ",
                "\n",
                "\n\n",
                "3",
                "am",
                "Ann",
                "we",
                "- ",
                "> ",
                "|",
                '"',
                ")",
                "# ",
                ":",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_nothing_of_a_text_of_marks_is_lost(text: str) -> None:
    """The same for texts of what the rules look at."""
    check(text)


@pytest.mark.parametrize("text", [*LONG_LINES, "! " * 100_000, "." * 100_000 + "x", "st. " * 50_000, "- \n" * 50_000])
def test_long_lines_take_linear_time(text: str) -> None:
    """A long line of anything is split at once: a rule that goes back would take hours."""
    check(text[:200_000])
