"""What a digest knows of a day, a week, a month or a year."""

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.digest import MOST_LINES, MOST_THREADS, MOST_THREADS_MERGED, DayDigest, merge_digests
from commonplace.tree.digest_day import make_day_digest
from commonplace.tree.source import Person
from tests.tree.digest_units import ANN, BOB, DAY, IDA, ME, digest, mail, make_days

NEXT_DAY = DAY + timedelta(days=1)
QUESTION = "Could you send me the drawings of the crane?"


def test_a_thread_has_who_wrote_how_much_and_what_was_asked_and_said() -> None:
    """A thread of a digest names its people, counts its messages, and has its question and its answer with units."""
    ask = mail("Hi Bob,\n\nwho pays for the new crane in the harbour?\n\nThanks,\nAnn", to=[BOB], title="Crane")
    tell = mail(
        "The harbour pays for the crane from next year's budget.",
        BOB,
        to=[ANN],
        title="Re: Crane",
        thread="t-Crane",
        at="10:00",
    )
    [thread] = digest(tell, ask).threads
    assert (thread.title, thread.messages, [(one.name, one.messages) for one in thread.people]) == (
        "Crane", 2, [("Ann Lee", 1), ("Bob Roe", 1)],
    )  # fmt: skip
    assert [(line.text, line.who, line.unit) for line in thread.asked] == [
        ("who pays for the new crane in the harbour?", "Ann Lee", ask.id)
    ]
    assert [(line.text, line.who, line.unit) for line in thread.said] == [
        ("The harbour pays for the crane from next year's budget.", "Bob Roe", tell.id)
    ]
    assert (thread.first, thread.last, thread.file) == (ask.occurred, tell.occurred, "/tree/mail/2026-11/crane")


@pytest.mark.parametrize("signal", ["bulk", "bot", "spam", "trash"])
def test_bulk_mail_is_a_count(signal: str) -> None:
    """Nothing of what is not admitted is in a digest but its number, and its authors are no new people."""
    found = digest(mail("We decided to buy the crane.", signals=[signal]), is_new=lambda _: True)
    assert (found.bulk, found.messages) == (1, 0)
    assert found == DayDigest(DAY, bulk=1)


def test_a_message_in_parts_is_one_message() -> None:
    """A message that is longer than a leaf counts once, in its thread, its source and the day."""
    parts = [mail(f"Part {number} of the long report on the crane.", part=number) for number in (1, 2, 3)]
    found = digest(*parts)
    assert (found.messages, found.sources, found.threads[0].messages) == (1, (("mail", 1),), 1)


def test_greetings_signatures_code_and_quotes_are_not_shown() -> None:
    """What only greets, signs, quotes, or is for a machine, is no sentence of a digest."""
    text = (
        "Dear all,\n\nThanks a lot!\n\nThe crane stands still since Friday.\n\n> What is wrong with the crane?\n\n"
        "```\nthe crane is stopped by this code\n```\nReviewed-by: Bob Roe <bob@x.org>\n"
        "if (crane->moves) { stop(crane); }\n| crane | stands | still |\n\nBest wishes from the harbour,\nAnn Lee"
    )
    [thread] = digest(mail(text)).threads
    assert [line.text for line in (*thread.asked, *thread.said)] == ["The crane stands still since Friday."]


def test_a_patch_is_not_read() -> None:
    """Of a mail with a patch only what stands above the patch is read."""
    text = "The crane leaks memory, and this frees it.\n\ndiff --git a/c b/c\n The lock is taken before it is freed.\n"
    [thread] = digest(mail(text)).threads
    assert [line.text for line in thread.said] == ["The crane leaks memory, and this frees it."]


def test_a_question_to_the_user_is_open_until_they_write_in_its_thread() -> None:
    """A question goes when the user answers in the same thread, on that day or later in the window; else it stays."""
    asked = mail(QUESTION)
    assert [(line.text, line.who, line.unit) for line in digest(asked).questions] == [(QUESTION, "Ann Lee", asked.id)]
    assert digest(asked, mail("You have them by now, I think.", IDA, to=[ANN], at="10:00")).questions == ()
    assert digest(asked, mail("Here are the other drawings.", IDA, to=[ANN], at="08:00")).questions
    assert digest(asked, mail("I like the winter fair.", IDA, to=[ANN], title="Fair", at="10:00")).questions
    later = mail("You have them by now, I think.", IDA, to=[ANN], day=NEXT_DAY)
    days = [digest(asked), digest(later, day=NEXT_DAY)]
    assert merge_digests(days, NEXT_DAY).questions == ()
    assert merge_digests(days[:1], NEXT_DAY).questions == digest(asked).questions


@pytest.mark.parametrize(
    ("fields", "is_mine"),
    [
        ({}, True),
        ({"signals": ["direct", "replied"]}, False),  # the mail program says that it was answered
        ({"to": [BOB]}, False),
        ({"to": [BOB, IDA], "text": f"Hi Bob,\n\n{QUESTION}"}, False),  # Bob is asked
        ({"to": [BOB, IDA, ANN, IDA], "signals": [], "text": f"Hi Ida,\n\n{QUESTION}"}, True),
        ({"to": [BOB], "signals": ["mentioned"], "text": "Does anybody but Ida Berg have the drawings?"}, True),
        ({"author": IDA, "to": [ANN]}, False),
        ({"signals": ["direct", "bot"]}, False),
    ],
)
def test_who_is_asked(fields: dict[str, object], is_mine: bool) -> None:
    """A question is to the user if they are named or the one who gets it, and nobody else is greeted."""
    unit = mail(**{"text": QUESTION, **fields})  # type: ignore[arg-type]
    assert bool(digest(unit).questions) == is_mine


def test_decisions_and_dates_ahead_are_listed_with_their_units() -> None:
    """A decision, and the day by which something is promised, are found wherever they stand."""
    decided = mail("The weather was lovely.\n\nWe decided to sell the crane to Bergen.", title="Crane")
    due = mail("I will send the drawings by 3 March 2027.", title="Drawings")
    past = mail("The fair was opened on 2 March 2020 by the mayor.", title="Fair")
    found = digest(decided, due, past)
    assert [(line.text, line.unit) for line in found.decisions] == [
        ("We decided to sell the crane to Bergen.", decided.id)
    ]
    assert [(line.day, line.text, line.unit) for line in found.dates] == [
        ("2027-03-03", "I will send the drawings by 3 March 2027.", due.id)
    ]


def test_a_date_that_has_passed_is_no_longer_ahead() -> None:
    """The digest of a window has the dates behind its last day, and none that has passed by then."""
    units = [mail(f"I will send the drawings by {day}.", title=day) for day in ("18 November 2026", "3 March 2027")]
    monday = digest(*units)
    assert len(monday.dates) == 2
    assert [line.day for line in merge_digests([monday], DAY + timedelta(days=6)).dates] == ["2027-03-03"]


def test_what_two_messages_say_is_listed_once() -> None:
    """Of a decision that two messages tell in the same words, the first is listed."""
    units = [mail("We decided to sell the crane to Bergen.", author, to=(), title=author.name) for author in (ANN, BOB)]
    days = [digest(units[0]._replace(occurred="2026-11-17T09:00:00Z"), day=NEXT_DAY), digest(units[1])]
    assert [line.unit for line in merge_digests(days, NEXT_DAY).decisions] == [units[1].id]


def test_tomorrow_is_the_senders() -> None:
    """A day that is named from the day of a message is counted on the sender's clock."""
    unit = mail("I will send you the drawings tomorrow.", at="23:30", offset=120)
    assert [line.day for line in digest(unit).dates] == [(DAY + timedelta(days=2)).isoformat()]


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [("Ida, can you send the plan?", True), ("Can you send the plan, Ida?", True), ("@Ida, is it done?", True),
     ("Bob, can you send the plan?", False), ("Has anybody told Ida?", False), ("Can you, Ann?", False)],
)  # fmt: skip
def test_who_is_called_by_name_is_asked(text: str, *, is_asked: bool) -> None:
    """In a message to several people, a question that begins or ends with the user's first name is one to the user."""
    found = digest(mail(f"The roof leaks.\n\n{text}", to=(ANN, BOB, IDA), signals=[]))
    assert bool(found.questions) == is_asked


def test_a_date_with_its_number_is_told_before_a_weekday() -> None:
    """Of dates ahead those with a number come first; what stands for a picture is no sentence; who talks much in one
    channel has more lines there."""
    found = digest(mail("I will be late on Friday, sorry for that."), mail("The dinner is on 24 December in Oslo."))
    assert [line.text[:10] for line in found.dates] == ["The dinner", "I will be "]
    assert not digest(mail("[shares a photo of a red crane]")).threads[0].said
    words = ("crane", "ferry", "tower", "bridge", "harbour", "market", "school", "museum", "station", "theatre")
    talk = [
        mail(f"The {word} in {word}ville got {at} new {word}s today.", title="Talk") for at, word in enumerate(words)
    ]
    assert len(digest(*talk).threads[0].said) == 6


def test_who_writes_for_the_first_time_is_new() -> None:
    """New people are the authors that never wrote before, without the user, each with the name they use."""
    units = [
        mail("The crane stands still.", Person("Lee, Ann", "ann@x.org")),
        mail("The crane moves again.", BOB, title="Fair"),
        mail("I saw the crane move.", IDA, title="Fair", to=[BOB]),
    ]
    found = digest(*units, is_new=lambda ident: ident != "bob@x.org")
    assert [(one.id, one.name) for one in found.people] == [("ann@x.org", "Ann Lee")]
    later = digest(mail("The crane stands again.", day=NEXT_DAY), day=NEXT_DAY)
    assert [(one.id, one.name) for one in merge_digests([found, later], NEXT_DAY).people] == [("ann@x.org", "Ann Lee")]


def test_the_days_of_a_channel_are_one() -> None:
    """What was said in a channel on several days, and in threads of it, is one item of a week."""
    days = []
    for step, author in enumerate((ANN, BOB)):
        day = DAY + timedelta(days=step)
        text = f"The crane on pier {step + 4} stands still since yesterday."
        unit = mail(text, author, to=(), title="#harbour", thread=f"t-{step}", day=day, kind="chat", source="talk")
        days.append(digest(unit, day=day))
    [thread] = merge_digests(days, NEXT_DAY).threads
    assert (thread.title, thread.messages, len(thread.people), len(thread.said)) == ("#harbour", 2, 2, 2)
    assert (thread.first_day, thread.last_day) == (DAY.isoformat(), NEXT_DAY.isoformat())


def test_a_document_is_one_item_under_its_own_title() -> None:
    """The sections of a document are counted under the title that they share, and it asks nobody anything."""
    texts = ("Who owns the crane is not known to the town.", "Could you paint the crane in the colours of the town?")
    units = [
        mail(text, Person(), to=(), title=f"Harbour › Part {seq}", thread="t-doc", kind="document", seq=seq)
        for seq, text in enumerate(texts, 1)
    ]
    found = digest(*units)
    assert [(thread.title, thread.messages, thread.asked) for thread in found.threads] == [("Harbour", 2, ())]
    assert found.questions == ()


def test_threads_with_decisions_questions_and_many_people_come_first() -> None:
    """Of four threads, the one with a decision is before the one with a question to the user, before many people."""
    plain = mail("The crane has a new coat of paint.", to=[BOB], title="Paint")
    crowd = [
        mail("The fair has a new coat of paint.", person, to=[BOB], title="Fair", at=f"1{at}:00")
        for at, person in enumerate((ANN, BOB, Person("Cy Orr", "cy@x.org")))
    ]
    asking = mail("Could you paint the town archive in the winter?", title="Archive")
    deciding = mail("We decided to paint the old mill in the winter.", to=[BOB], title="Mill")
    titles = [thread.title for thread in digest(plain, *crowd, asking, deciding).threads]
    assert titles == ["Mill", "Archive", "Fair", "Paint"]


def test_the_order_of_units_and_days_does_not_matter() -> None:
    """The same units give the same digest, and the same days the same week, in whatever order they come."""
    days, rng = make_days(7, 60), random.Random(2)
    first = [digest(*units, day=DAY + timedelta(days=step)) for step, units in enumerate(days)]
    shuffled = []
    for step, units in enumerate(days):
        other = [*units, units[0]]  # one comes twice
        rng.shuffle(other)
        shuffled.append(digest(*other, day=DAY + timedelta(days=step)))
    assert shuffled == first
    week = merge_digests(first, DAY + timedelta(days=6))
    rng.shuffle(shuffled)
    assert merge_digests(shuffled, DAY + timedelta(days=6)).to_json() == week.to_json()


def test_a_digest_has_a_bounded_size() -> None:
    """A day with 1,440 threads, and 60 such days, keep a fixed number of threads and lines, and count the rest."""
    units = [unit._replace(thread=f"t-{at}") for at, unit in enumerate(make_days(1, 1_440)[0])]
    day = digest(*units)
    assert (day.messages, len(day.threads), len(day.others)) == (1_440, MOST_THREADS, 1_000)
    assert max(map(len, (day.decisions, day.questions, day.dates, day.people))) <= MOST_LINES
    days = [
        day._replace(
            day=DAY + timedelta(days=step),
            threads=tuple(thread._replace(id=f"{thread.id}-{step}") for thread in day.threads),
        )
        for step in range(60)
    ]
    merged = merge_digests(days, DAY + timedelta(days=59))
    assert (merged.messages, len(merged.threads)) == (60 * 1_440, MOST_THREADS_MERGED)
    assert len(merged.to_json()) < 400_000
    assert len(day.to_json()) < 100_000


def test_a_week_has_what_its_days_have() -> None:
    """The counts of a week are those of its days, its best sentences are theirs, and it can be merged again."""
    days = [digest(*units, day=DAY + timedelta(days=step)) for step, units in enumerate(make_days(14, 6))]
    week = merge_digests(days[:7], days[6].day)
    assert (week.messages, week.sources) == (42, (("mail", 42),))
    assert {line.unit for line in week.decisions} <= {line.unit for day in days[:7] for line in day.decisions}
    both = merge_digests([week, merge_digests(days[7:], days[13].day)], days[13].day)
    assert (both.messages, both.day) == (84, days[13].day)
    assert {thread.id for thread in both.threads} == {thread.id for day in days for thread in day.threads}


@given(
    st.lists(st.text(max_size=60), max_size=4),
    st.text(max_size=20),
    st.text(max_size=20),
    st.sampled_from(["email", "chat", "document"]),
)
def test_a_digest_is_read_back_from_json(texts: list[str], title: str, name: str, kind: str) -> None:
    """Whatever was written, and by whom, a digest comes back from its JSON, which can be stored as UTF-8."""
    author = Person(name, "")
    units = [
        mail(f"{text}\n\n{QUESTION}", author, title=title, kind=kind, at=f"1{at}:00") for at, text in enumerate(texts)
    ]
    found = make_day_digest(units, DAY, me=ME, is_new=lambda _: True)
    stored = found.to_json().encode()
    assert DayDigest.from_json(stored.decode()) == found


def test_a_digest_of_another_version_is_refused() -> None:
    """A digest that was stored by a version with other fields raises ValueError."""
    with pytest.raises(ValueError, match="another format"):
        DayDigest.from_json(digest(mail("The crane stands still.")).to_json().replace("[1,", "[2,", 1))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "[1]", "[0,1,2,3,4,5,6,7,8,9,10,11]", "null", "[1,2,3,4,5,6,7,8,9,10,11,12]"]
)
def test_what_is_no_digest_is_refused(text: str) -> None:
    """JSON of another version, or something else, raises ValueError, so that the digest is made anew."""
    with pytest.raises(ValueError, match=r"digest|Expecting|unpack|format"):
        DayDigest.from_json(text)


def test_an_empty_day_is_an_empty_digest() -> None:
    """A day without units, and a week of such days, are empty."""
    assert digest().is_empty
    assert merge_digests([digest(), digest(day=NEXT_DAY)], NEXT_DAY).is_empty
    assert merge_digests([], date(2026, 1, 1)) == DayDigest(date(2026, 1, 1))
