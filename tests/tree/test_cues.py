"""Cues: what a sentence does, the days it names, and what is only courtesy."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.courtesy import is_courtesy
from commonplace.tree.cues import Cues, find_cues
from tests.strategies import LONG_LINES, hostile_text

OCCURRED = "2026-11-12T10:00:00Z"  # a Thursday


class JudgedSentence(NamedTuple):
    """A sentence, and what a colleague says that it does."""

    kind: str
    text: str

    @property
    def is_found(self) -> bool:
        """Whether the rules say the same."""
        cues = find_cues(self.text, OCCURRED)
        if self.kind == "c":
            return is_courtesy(self.text)
        does = {"d": cues.decides, "p": cues.promises, "q": cues.asks, "r": cues.reports}
        return not is_courtesy(self.text) and does.get(self.kind, not any(list(does.values())[:3]))


LINES = (Path(__file__).parent / "cue_set.txt").read_text("utf-8").splitlines()
JUDGED = [JudgedSentence(line[0], line[2:]) for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize("kind", ["d", "p", "q", "r", ".", "c"])
def test_what_a_sentence_does_in_twelve_languages(kind: str) -> None:
    """Of decisions, promises, questions, reports, plain sentences and courtesies, nine in ten are known each."""
    asked = [one for one in JUDGED if one.kind == kind]
    missed = [one.text for one in asked if not one.is_found]
    print(kind, f"{len(asked) - len(missed)} of {len(asked)}", *missed, sep="\n")
    assert len(asked) >= 18
    assert len(missed) <= 0.1 * len(asked)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We have not decided yet.", Cues()),
        ("We decided nothing.", Cues()),
        ("In the end we agreed on nothing and ordered pizza.", Cues()),
        ("We agreed to disagree about the login page.", Cues()),
        ("Am Ende haben wir nichts entschieden.", Cues()),
        ("No decidimos nada.", Cues()),
        ("On n'a rien décidé.", Cues()),
        ("Мы ничего не решили.", Cues()),
        ("We decided not to renew the lease.", Cues(decides=True)),
        ("We decided that nothing changes.", Cues(decides=True)),
        ("We decided that Mondays are cancelled ;-)", Cues()),
        ("LOL, we decided to elect the coffee machine.", Cues()),
        ("I felt accepted there.", Cues()),
        ('The minutes of 2024 have "We decided to stop funding sprints" in them.', Cues()),
        ('We decided to call it "Blue Ocean".', Cues(decides=True)),
        ("„Wir haben das so beschlossen“, sagte er.", Cues()),
        ("If we agreed to it, Bob would leave.", Cues()),
        ("Can you send it by Friday?", Cues(asks=True, dates=("2026-11-13",))),
        ("Did we decide to go with Postgres?", Cues(asks=True)),
        ("Read https://example.org/?q=1 before noon.", Cues()),
        ("The tickets cost 5 to 12 euros.", Cues()),
        ("We cut it by 5 people.", Cues()),
        ("Guten Morgen, am 3. Dezember ist Ruhetag.", Cues(dates=("2026-12-03",))),
        ("Ci vogliono due settimane.", Cues()),
        ("Es una cosa de todo el mundo.", Cues()),
        ("", Cues()),
    ],
)
def test_what_only_looks_like_a_cue(sentence: str, expected: Cues) -> None:
    """Denied and imagined decisions, questions about them, addresses, and words of another language."""
    assert find_cues(sentence, OCCURRED) == expected


@pytest.mark.parametrize(
    ("sentence", "dates"),
    [
        ("It is due on 2026-12-01.", ["2026-12-01"]),
        ("See you on 3 December or on Dec. 5th.", ["2026-12-03", "2026-12-05"]),
        ("The 12/31/2026 release.", ["2026-12-31"]),
        ("Send it by Monday.", ["2026-11-16"]),
        ("Today is Thursday.", ["2026-11-12"]),
        ("On Monday I was at the dentist.", []),
        ("Last Friday it broke.", []),
        ("Rashid signed on Friday and takes over.", []),
        ("The wall collapsed Sunday.", []),
        ("It is planned on Friday.", ["2026-11-13"]),
        ("We need it on Friday.", ["2026-11-13"]),
        ("November 17: photo session.", ["2026-11-17"]),
        ("It starts November 17:30.", []),
        ("Friday the 20th works.", ["2026-11-20"]),
        ("La sala è prenotata dal 4 al 6 dicembre.", ["2026-12-04", "2026-12-06"]),
        ("3-5 December, or 9 and 10 December.", ["2026-12-03", "2026-12-05", "2026-12-09", "2026-12-10"]),
        ("30 November to 2 December.", ["2026-11-30", "2026-12-02"]),
        ("That makes 3 of 5 December issues.", ["2026-12-05"]),
        ("I will call you tomorrow.", ["2026-11-13"]),
        ("Please reply by the 14th.", ["2026-11-14"]),
        ("Reply by the 3rd.", ["2026-12-03"]),
        ("The 3rd attempt failed.", []),
        ("Guten Morgen, bis übermorgen!", ["2026-11-14"]),
        ("Heute Morgen war es kalt.", ["2026-11-12"]),
        ("Abgabe bis 3.12. bei Ann", ["2026-12-03"]),
        ("Version 3.12. ist da", []),
        ("Le 3 janvier, sinon vendredi.", ["2027-01-03"]),
        ("Nos vemos mañana por la mañana.", ["2026-11-13"]),
        ("Ci vediamo lunedì.", ["2026-11-16"]),
        ("Até sexta-feira.", ["2026-11-13"]),
        ("Tot zondag!", ["2026-11-15"]),
        ("Do piątku.", ["2026-11-13"]),
        ("Жду до среды или до 1 декабря.", ["2026-12-01"]),
        ("Vi ses på lördag.", ["2026-11-14"]),
        ("下周三之前完成。", ["2026-11-18"]),
        ("周五见", ["2026-11-13"]),
        ("12月3日に行きます。", ["2026-12-03"]),
        ("2027年1月5日", ["2027-01-05"]),
        ("月曜日までに", ["2026-11-16"]),
        ("明日", ["2026-11-13"]),
        ("昨天是周三", []),
        ("Call 555-1234, room 4.12, at 10:30.", []),
    ],
)
def test_days(sentence: str, dates: list[str]) -> None:
    """Days by date, weekday and distance, counted from the day of the message; a past weekday is none."""
    assert list(find_cues(sentence, OCCURRED).dates) == dates


def test_days_need_the_time_of_the_message() -> None:
    """Without it, a day is only known from a whole date."""
    assert find_cues("By Friday or tomorrow, at least by 3 May.", "").dates == ()
    assert find_cues("By 3 May 2027.", "").dates == ("2027-05-03",)


@pytest.mark.parametrize(
    "sentence",
    [
        "Thanks, the contract is signed.",
        "Thanks to Bob we found the leak in the pool.",
        "Thanks for approving the budget of 4,000 euros.",
        "Hi Ann, we moved the call to Friday.",
        "Hope you can send the report soon.",
        "Best option is Postgres.",
        "Great results from the Lyon test.",
        "Perfect, I will send it tomorrow.",
        "No problem was found in the pump.",
        "Sorry, the server is down again.",
        "Sorry but we cannot accept the offer of the bank.",
        "Let me know if Friday works.",
        "Welcome desk moves to hall 4.",
        "Deadline: Friday",
        "OK, Friday.",
        "Yes, 12 boxes.",
        "Danke, die Rechnung ist bezahlt.",
        "Gut, dann kaufen wir die Pumpe.",
        "Dank der neuen Pumpe läuft die Heizung wieder.",
        "Merci de livrer avant vendredi.",
        "Gracias al seguro recuperamos el dinero.",
        "Tak, zgadzam się na piątek.",
        "Tack vare Erik fick vi pengarna tillbaka.",
        "好的，合同已经签了，明天寄出。",
    ],
)
def test_what_begins_like_a_courtesy_may_say_something(sentence: str) -> None:
    """A courtesy that goes on with news, or that is no courtesy at all, is kept."""
    assert not is_courtesy(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Great, thanks!",
        "Ann, thank you so much for the quick reply.",
        "Hello everyone!",
        "Dear Ms Oyelaran,",
        "See you on Friday!",
        "Thanks, Bob",
        "Thanks, Ann, for letting me join your journey.",
        "Ok",
        "Haha so true",
        "Ich hoffe, ihr hattet ein schönes Wochenende.",
        "Надеюсь, у всех всё хорошо.",
        "Mit freundlichen Grüßen",
        "佐藤さん、お疲れ様です。",
        "👍",
        "",
    ],
)
def test_courtesies(sentence: str) -> None:
    """Greetings, thanks, closings and reactions, with names or among each other."""
    assert is_courtesy(sentence)


@given(
    st.one_of(hostile_text, st.lists(st.sampled_from([one.text for one in JUDGED]), max_size=4).map(" ".join)),
    hostile_text,
)
def test_any_text_has_cues(text: str, occurred: str) -> None:
    """No text and no time is refused; days are real days in order, and a question does nothing else."""
    cues = find_cues(text, occurred)
    assert list(cues.dates) == sorted(set(cues.dates))
    assert all(len(day) == 10 for day in cues.dates)
    assert not (cues.asks and (cues.decides or cues.promises or cues.reports))
    assert is_courtesy(text) in (True, False)


@pytest.mark.parametrize("text", [*LONG_LINES, "by friday " * 50_000, "thanks, " * 50_000])
def test_long_lines_take_linear_time(text: str) -> None:
    """A long line of anything is read at once: a rule that goes back would take hours."""
    find_cues(text, OCCURRED)
    is_courtesy(text)
