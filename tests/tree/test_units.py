"""Units as entries of notes, and the leaves they make."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.memory import Meta
from commonplace.text.notes import new_note, parse
from commonplace.text.words import estimate_tokens
from commonplace.tree.source import Person, SourceUnit
from commonplace.tree.units import MAX_LEAF_TOKENS, TreeUnit, divide_into_leaves, make_entries, read_unit, split_text

PLACE = {"kind": "email", "folder": "/tree/mail/2026-11", "name": "lunch"}
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters=',<>"/'), max_size=20)
NAMES = WORDS.map(lambda text: " ".join(text.split()))
ADDRESSES = st.just("") | st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.org", fullmatch=True)
PEOPLE = st.builds(Person, NAMES, ADDRESSES)


@given(
    author=PEOPLE,
    recipients=st.lists(PEOPLE.filter(any), max_size=3).map(tuple),
    title=NAMES,
    text=st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=80),
    offset=st.none() | st.integers(-840, 840),
)
def test_a_unit_is_read_back_from_its_note(
    author: Person, recipients: tuple[Person, ...], title: str, text: str, offset: int | None
) -> None:
    """What a reader found of a message is what its entry in the note says, whatever characters are in it."""
    found = SourceUnit(
        "email", text, "message 1", "mail:<1@x>", title, author, recipients, "2026-11-01T09:30:00Z", offset,
        attachments=("a b.pdf",), signals=frozenset({"sent"}),
    )  # fmt: skip
    [entry] = make_entries(found, text, now="2026-11-02T00:00:00Z", thread="t", seq=3, signals=["direct"])
    note = parse(new_note(Meta(key="lunch", id="n"), [entry]).render())
    unit = read_unit(note.entries[0], **PLACE)
    assert (unit.text, unit.title, unit.offset) == (text, title, offset)
    assert unit.recipients == recipients
    assert unit.author == (author if author.name != author.address else Person("", author.address))
    assert unit.signals == {"sent", "direct"}
    assert (unit.source, unit.thread, unit.seq, unit.attachments) == ("mail", "t", 3, ("a b.pdf",))
    assert unit.native_id == "mail:<1@x>"


@given(st.lists(st.integers(1, 2 * MAX_LEAF_TOKENS), max_size=30), st.integers(0, 30))
def test_leaves_grow_and_are_never_packed_again(sizes: list[int], before: int) -> None:
    """Units that are appended to a file leave every leaf but the last as it was, and the last only grows."""
    units = [TreeUnit(f"u-{at}", "chat", "s", "/tree/s/2026-11", "n", "word " * size) for at, size in enumerate(sizes)]
    old, new = list(divide_into_leaves(units[:before])), list(divide_into_leaves(units))
    assert [leaf.id for leaf in old] == [leaf.id for leaf in new[: len(old)]]
    assert old[:-1] == new[: max(0, len(old) - 1)]
    assert [unit for leaf in new for unit in leaf.units] == units
    assert all(leaf.tokens <= MAX_LEAF_TOKENS or len(leaf.units) == 1 for leaf in new)


@given(st.lists(st.sampled_from(["word ", "A sentence ends. ", "\n\n", "\n", "x" * 70, "语" * 20]), max_size=120))
def test_a_long_text_is_cut_between_words(parts: list[str]) -> None:
    """The pieces of a long text fit into a leaf, have every word of it in order, and cut none that has room."""
    text, most = "".join(parts), 100
    pieces = split_text(text, most)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(estimate_tokens(piece) <= most for piece in pieces)
    if "x" * 140 not in text and "语" * 40 not in text:
        assert " ".join(" ".join(pieces).split()) == " ".join(text.split())
