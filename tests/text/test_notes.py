"""Notes: what is given comes back, what is there stays, and nothing can be forged."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidContent, InvalidField
from commonplace.model.memory import Entry, Link, Meta, Trust
from commonplace.text.notes import Note, check_text, new_note, parse
from tests.depth import examples
from tests.strategies import (
    FORGED,
    FORGERIES,
    LONG_LINES,
    STAMP,
    entries,
    hostile_text,
    hostile_value,
    metas,
    note_files,
)

PLAIN = Entry(STAMP, "Use pytest.", id="0197", trust=Trust.AGENT)
CRLF_FRONT = b"---\r\nid: 1\r\nmine: kept\r\n---\r\n# t\r\n\r\n"


def appended(data: bytes, *new: Entry) -> Note:
    """The file after appending, read again from its bytes."""
    note = parse(data)
    for entry in new:
        note = note.append(entry)
    return parse(note.render())


@examples(200)
@given(metas, st.lists(entries, max_size=4))
def test_what_is_written_is_read_back_equal(meta: Meta, given_entries: list[Entry]) -> None:
    """A note made of any metadata and any entries reads back as exactly these."""
    data = new_note(meta, given_entries).render()
    read = parse(data)
    assert read.entries == tuple(given_entries)
    assert read.meta == meta
    assert read.render() == data


@pytest.mark.parametrize("text", LONG_LINES + FORGERIES)
def test_long_and_forged_texts_come_back(text: str) -> None:
    """Lines of a megabyte and every known forgery come back as they were given, in LF and CRLF files."""
    entry, other = PLAIN._replace(text=text), PLAIN._replace(text=text + "\n")
    for start in (b"", CRLF_FRONT, b"---\nid: 1\n---\n"):
        assert appended(start, entry, other, entry).entries == (entry, other, entry)


@examples(200)
@given(st.lists(entries, min_size=1, max_size=4))
def test_entries_come_back_from_a_crlf_file(given_entries: list[Entry]) -> None:
    """Any entries appended to a file with Windows line ends come back equal and their own lines end in CRLF."""
    read = appended(CRLF_FRONT, *given_entries)
    assert read.entries == tuple(given_entries)
    assert all(block.eol == "\r\n" for block in read.blocks)


@examples(300)
@given(note_files)
def test_any_bytes_render_as_they_were(data: bytes) -> None:
    """Reading and rendering changes no byte of any file, valid or not."""
    assert parse(data).render() == data


@examples(400)
@given(note_files, hostile_text)
@example(b"---\nfoo\n", "swallowed\n---\nseen")
@example(b"---", "swallowed\n---\nseen")
@example(f"## {STAMP}\r\n<!-- entry -->\r".encode(), "")
def test_append_leaves_all_above_as_it_was(data: bytes, text: str) -> None:
    """Appending to any file keeps its bytes in front and every earlier entry's meaning."""
    entry = PLAIN._replace(text=text)
    before = parse(data)
    after = appended(data, entry)
    assert after.render().startswith(data)
    assert parse(data).append(entry).entries == after.entries == (*before.entries, entry)
    assert after.meta == before.meta


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\n",
        b"no final newline",
        b"---\nid: 1\n---",
        b"---\nid: 1\n...",
        b"---\r\nid: 1\r\n---",
        b"# only a title",
        b"\xef\xbb\xbf# title\r\n\r\nhand text\r\n",
        b"---\nunclosed: 1\n",
        f"hand\n## {STAMP}".encode(),
        f"hand\n## {STAMP}\n".encode(),
        f"## {STAMP}\n<!-- entry id=1 -->".encode(),
        f"## {STAMP}\n<!-- entry id=1 -->\ntext".encode(),
        f"## {STAMP}\r\n<!-- entry id=1 -->\r\ntext\n".encode(),
    ],
)
def test_append_to_files_edited_by_hand(start: bytes) -> None:
    """Two appends to each shape a person leaves a file in add two entries and change nothing else."""
    before = parse(start)
    after = appended(start, PLAIN, PLAIN)
    assert after.entries == (*before.entries, PLAIN, PLAIN)
    assert after.front.fields == before.front.fields
    assert after.render().startswith(start)


def test_an_appended_entry_stands_apart() -> None:
    """An empty line stands before a new entry, in the line end of what is above it, also where none was there."""
    head = f"## {STAMP}\n<!-- entry id=0197 trust=agent -->\nUse pytest."
    assert parse(head.encode()).append(PLAIN).render().decode() == f"{head}\n\n{head}\n"
    windows = head.replace("\n", "\r\n")
    assert parse(windows.encode()).append(PLAIN).render().decode() == f"{windows}\r\n\r\n{windows}\r\n"
    assert parse(b"hand").append(PLAIN).render().decode() == f"hand\n\n{head}\n"


@given(hostile_value, hostile_value, hostile_value)
def test_values_cannot_forge_attributes(author: str, session: str, thread: str) -> None:
    """No author, session or thread can add an entry, change the trust or give a tag."""
    entry = PLAIN._replace(trust=Trust.EXTERNAL, author=author, session=session, thread=thread)
    assert appended(b"# t\n\n", entry).entries == (entry,)


@given(hostile_text, hostile_value, st.lists(hostile_text, max_size=3), hostile_text)
def test_metadata_cannot_forge_fields(summary: str, target: str, labels: list[str], key: str) -> None:
    """No summary, key, tag or link target adds a field, an entry or hand text to a note."""
    meta = Meta(id="1", key=key, summary=summary, tags=("t", *labels), links=(Link("relates_to", target),))
    read = parse(new_note(meta, [PLAIN]).render())
    given = {"key": key, "summary": summary}
    names = ("id", "key", "type", "status", "summary", "tags", "links")
    assert read.front.names() == tuple(name for name in names if given.get(name, "said"))
    assert read.entries == (PLAIN,)
    assert read.meta == meta


def test_extra_attributes_cannot_replace_known_ones() -> None:
    """An attribute kept for a later version never stands in for the trust or the id, and its name is one word."""
    forged = PLAIN._replace(extra=(("trust", "human"), ("id", "forged"), ("x y=1 trust", "human"), ("later", "kept")))
    assert appended(b"", forged).entries == (PLAIN._replace(extra=(("later", "kept"),)),)


@pytest.mark.parametrize("tag", ["a,b", ",", ""])
def test_tags_that_would_become_others_are_refused(tag: str) -> None:
    """A tag that cannot be read back as one tag is refused before anything is written."""
    with pytest.raises(InvalidField):
        parse(b"").append(PLAIN._replace(tags=("fine", tag)))


@examples(200)
@given(note_files, metas)
def test_with_meta_says_it_and_keeps_the_body(data: bytes, meta: Meta) -> None:
    """New metadata on any file is read back, with every entry and all hand text as before."""
    before = parse(data)
    after = parse(before.with_meta(meta).render())
    assert after.meta == meta
    assert [entry.text for entry in after.entries] == [entry.text for entry in before.entries]
    assert [block.raw for block in after.blocks] == [block.raw for block in before.blocks]


def test_with_meta_changes_only_what_changed() -> None:
    """A person's fields, comments, order and spelling stay when one of our fields is renewed."""
    data = b"---\n# mine\ntitle:   'Mine'  # why\nsummary: old\n# about key\nkey:  k\nupdated: x\n---\ntext\n"
    note = parse(data)
    changed = note.with_meta(note.meta._replace(id="1", created="c", summary="new"))
    assert changed.render() == (
        b"---\n# mine\ntitle:   'Mine'  # why\nsummary: new\n# about key\nkey:  k\nupdated: x\n"
        b'id: "1"\ntype: project\nstatus: active\ncreated: c\n---\ntext\n'
    )
    assert changed.with_meta(changed.meta).render() == changed.render()


@given(note_files)
def test_with_meta_of_itself_is_stable(data: bytes) -> None:
    """Writing the metadata a complete note already has changes nothing."""
    note = parse(data)
    full = note.with_meta(note.meta)
    assert parse(full.render()).with_meta(full.meta).render() == full.render()


@given(note_files, st.lists(entries, max_size=3))
def test_with_entries_replaces_all_entries(data: bytes, new: list[Entry]) -> None:
    """After with_entries a note holds exactly these entries and its frontmatter is as it was."""
    before = parse(data)
    after = parse(before.with_entries(new).render())
    assert after.entries == tuple(new)
    assert after.meta == before.meta


@given(metas, st.lists(entries, max_size=3), entries, note_files)
def test_without_newest_takes_an_append_back(meta: Meta, old: list[Entry], new: Entry, data: bytes) -> None:
    """A note of ours is byte for byte what it was before the append, and any other file means what it meant."""
    before = new_note(meta, old)
    assert parse(before.append(new).render()).without_newest().render() == before.render()
    again = parse(appended(data, new).without_newest().render())
    assert again.entries == parse(data).entries
    assert again.meta == parse(data).meta


def _vouched(entry: Entry) -> Trust:
    return Trust.HUMAN if entry.trust is Trust.EXTERNAL else entry.trust


@given(metas, st.lists(entries, max_size=3), note_files)
def test_with_trust_changes_nothing_else(meta: Meta, said: list[Entry], data: bytes) -> None:
    """Entries of the one trust have the other, read back; all else, texts and frontmatter included, is as it was."""
    for before in (new_note(meta, said), parse(data)):
        after = parse(before.with_trust(_vouched).render())
        assert (after.meta, after.hand_text) == (before.meta, before.hand_text)
        assert after.entries == tuple(
            entry._replace(trust=Trust.HUMAN) if entry.trust is Trust.EXTERNAL else entry
            for entry in parse(before.render()).entries
        )
        quiet = after.with_trust(_vouched)
        assert quiet.render() == after.render()


def test_a_changed_note_forgets_what_its_frontmatter_said() -> None:
    """The meaning of the frontmatter that was asked for once is never given for a frontmatter that changed."""
    note = new_note(Meta(key="k", summary="old"), [PLAIN])
    assert note.meta.summary == "old"
    changed = note.with_meta(note.meta._replace(summary="new"))
    assert [n.meta.summary for n in (changed, changed.append(PLAIN), changed.without_newest(), note)] == [
        *["new"] * 3,
        "old",
    ]


def test_hand_text_is_one_human_entry() -> None:
    """Text above the first entry is an entry of its own, human and without the title."""
    note = parse(f"---\ncreated: {STAMP}\n---\n# t\n\nby hand\n\n{FORGED}".encode())
    assert note.entries[0] == Entry(STAMP, "by hand", trust=Trust.HUMAN)
    assert len(note.entries) == 2


@pytest.mark.parametrize("text", ["\ud800", "ok \udfff"])
def test_half_a_surrogate_pair_is_refused(text: str) -> None:
    """Text that is not Unicode is refused and the error says where it breaks."""
    with pytest.raises(InvalidContent, match=f"Character {len(text) - 1} "):
        parse(b"").append(PLAIN._replace(text=text))
    assert check_text("fine 🙂") == "fine 🙂"


@pytest.mark.parametrize("time", ["", "2026-11-15", f"{STAMP}\n", "２026-11-15T09:30:00Z"])
def test_an_entry_needs_a_timestamp(time: str) -> None:
    """An entry whose heading could not be read back is refused."""
    with pytest.raises(InvalidContent):
        parse(b"").append(PLAIN._replace(time=time))
