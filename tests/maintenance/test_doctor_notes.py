"""What doctor says of notes: of each by itself, and of several together."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.choices import ScopeChoice
from tests.book.opened import open_book
from tests.maintenance.doctor_cases import examined, found, note, places, refuse


def test_a_book_in_good_order_has_no_findings(root: Path) -> None:
    """After every verb that writes, doctor finds nothing at all."""
    with open_book(root, session="s", agent="reviewer") as book:
        for scope in ("session", "agent", "project", "global"):
            book.store(f"Words for {scope}.", key="words", scope=scope)
        book.store("Others, see [[words]].", key="others", scope="global", tags=["ci"], type="user")
        book.store("New words.", key="words", scope="global", mode="replace")
        book.link("others", "relates_to", "global/words", scope="global")
        book.consolidate(["words", "others"], "Both.", key="both", scope="global")
        book.undo("words", scope="global")
        book.data_put("prices/2026.csv", b"a,b\n")
        book.forget("words", scope="session")
        book.restore("words", scope="session")
        book.store("Gone.", key="gone", scope="global")
        book.forget("gone", scope="global", purge=True)
        for number in range(120):
            book.store(f"Number {number}.", key=f"number-{number}", scope="project")
        assert book.doctor() == []


def test_a_note_that_is_not_utf8(root: Path) -> None:
    """A note with a byte that is no UTF-8 is named, with where the byte is."""
    with open_book(root) as book:
        book.store("Words.", key="fine", scope="global")
        note(root, "global/latin.md", b"Caf\xe9\n")
        (finding,) = found(book, "not_utf8")
        assert finding.path == "/memories/global/latin.md" and "Byte 3 " in finding.message


def test_a_note_that_cannot_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that the system does not let us open is an error, in the system's words, and the others are looked at."""
    with open_book(root) as book:
        book.store("Words.", key="locked", scope="global")
        note(root, "global/latin.md", b"\xe9\n")
        refuse(monkeypatch, "locked.md")
        (finding,) = found(book, "unreadable")
        assert (finding.severity, finding.path) == ("error", "/memories/global/locked.md")
        assert "Permission denied" in finding.message
        assert places(book, "not_utf8") == ["/memories/global/latin.md"]


def test_frontmatter_that_is_never_closed(root: Path) -> None:
    """Frontmatter without an end is found, above entries too; a rule above text, or a closed block, is none."""
    with open_book(root) as book:
        book.store("Words.", key="kept", scope="global")
    entries = (root / "memories/global/kept.md").read_text("utf-8").partition("---\n# ")[2]
    note(root, "global/open.md", "---\nsummary: No end\n\nText.\n")
    note(root, "global/mark.md", "\ufeff---\r\nsummary: No end\r\n\r\nText.\r\n")
    note(root, "global/above.md", f"---\nsummary: No end\n\n# {entries}")
    note(root, "global/rule.md", "---\n\nA rule, and text: with a colon.\n")
    note(root, "global/closed.md", "---\nsummary: An end\n---\nText.\n")
    with open_book(root) as book:
        wanted = [f"/memories/global/{name}.md" for name in ("above", "mark", "open")]
        assert places(book, "frontmatter_open") == wanted


FIELDS = [
    ("type: meeting", "type 'meeting' is not one of user, feedback, project, reference"),
    ("type: [user]", "type is not one of"),
    ("status: done", "status 'done' is not one of active"),
    ("created: yesterday", "created 'yesterday' is not a time"),
    ("updated: 2026-13-40T00:00:00Z", "updated '2026-13-40T00:00:00Z' is not a time"),
    ("updated: 2026-11-15", "updated '2026-11-15' is not a time"),
    ("pinned: maybe", "pinned 'maybe' is not true or false"),
    ("tags: {a: b}", "tags is not a list of texts"),
    ("links: [a, b]", "links is not a list of {rel, to"),
    ("links: [{rel: relates_to}]", "links is not a list of {rel, to"),
    ("id: [1, 2]", "id is not text"),
    ("summary: 'no end", "'summary' is not valid YAML"),
    ("own: [a, ]]", "'own' is not valid YAML"),
    ("- a list\nkey: x", "The line '- a list' is not a field"),
]


@pytest.mark.parametrize(("field", "said"), FIELDS)
def test_a_field_that_cannot_be_understood(root: Path, field: str, said: str) -> None:
    """A field of the frontmatter with a value it cannot have is named, with what is wrong."""
    with open_book(root) as book:
        note(root, "global/x.md", f"---\n{field}\n---\nText.\n")
        (finding,) = found(book, "frontmatter_field")
        assert said in finding.message and finding.severity == "warning"


def test_fields_that_are_fine(root: Path) -> None:
    """Every value the format allows, empty ones and a person's own fields are no finding."""
    text = (
        "---\n# mine\ntype: user\nstatus: proposed\ncreated: 2026-11-15T09:30:00Z\nupdated:\npinned: Yes\ntags: one\n"
    )
    text += "links: []\nmood: [good, 'very']\nmap: {a: [b]}\nscope: global\nkey: x\nid: mine\n---\nText.\n"
    with open_book(root) as book:
        note(root, "global/x.md", text)
        book.reindex()
        assert book.doctor() == []


def test_a_key_that_the_path_contradicts(root: Path) -> None:
    """A file that was renamed says another key: a note, since the path decides."""
    with open_book(root) as book:
        book.store("Words.", key="before", scope="global")
        (root / "memories/global/before.md").rename(root / "memories/global/after.md")
        (finding,) = found(book, "key_differs")
        assert (finding.path, finding.severity) == ("/memories/global/after.md", "note")
        assert "'before'" in finding.message and "'after'" in finding.message


def test_a_scope_that_the_path_contradicts(root: Path) -> None:
    """A scope line is compared with the path: kind, and id where it gives one, aliases included."""
    with open_book(root) as book:
        path = Path(book.store("Words.", key="kept").path[1:])
        folder = "/".join(path.parent.parts[1:])
        for name, scope in (("a", "global"), ("b", "'project:other'"), ("c", "project"),
                            ("d", "'project:github.com/acme/app'")):  # fmt: skip
            note(root, f"{folder}/{name}.md", f"---\nscope: {scope}\n---\nText.\n")
        assert places(book, "scope_differs") == [f"/memories/{folder}/a.md", f"/memories/{folder}/b.md"]


def test_two_notes_with_one_id(root: Path) -> None:
    """A copied file is named, with the note whose id it has, in whatever scope it is."""
    with open_book(root) as book:
        book.store("Words.", key="first", scope="global")
        data = (root / "memories/global/first.md").read_bytes()
        note(root, "global/people/copy.md", data)
        note(root, "team/again.md", data)
        copies = found(book, "duplicate_id")
        assert [finding.path for finding in copies] == ["/memories/global/people/copy.md", "/memories/team/again.md"]
        assert all("/memories/global/first.md" in finding.message for finding in copies)


def test_a_purged_memory_that_came_back(root: Path) -> None:
    """A note whose id has a tombstone is named: a sync or a backup brought it back."""
    with open_book(root) as book:
        book.store("Words.", key="gone", scope="global")
        data = (root / "memories/global/gone.md").read_bytes()
        book.forget("gone", scope="global", purge=True)
        assert places(book, "tombstoned") == []
        note(root, "global/gone.md", data)
        assert places(book, "tombstoned") == ["/memories/global/gone.md"]


def test_links_that_lead_nowhere(root: Path) -> None:
    """A link to nothing is a note; by key, scope and key, path or name, in any case, what is there is found."""
    with open_book(root) as book:
        book.store("Words.", key="people/alice", scope="global")
        book.store("Old words.", key="old", scope="global")
        book.data_put("prices.csv", b"")
        note(root, "global/Bob.md", "By hand.\n")
        fine = "[[bob]] [[people/Alice]] [[global/people/alice.md|her]] [[../global/old#top]] [[prices.csv]] `[[x]]`"
        book.store(f"See {fine} and [[nobody]].", key="links", scope="global")
        places: tuple[tuple[str, ScopeChoice], ...] = (("nothing", "global"), ("away", "project"))
        for key, scope in places:
            book.store("Soon gone.", key=key, scope=scope)
        book.link("links", "relates_to", "global/nothing", scope="global")
        book.link("links", "supersedes", "project/away", scope="global")
        book.reject("links", "global", rel="supersedes", to="project/away")
        for key, scope in places:
            book.forget(key, scope)
        broken = found(book, "broken_link")
        assert {finding.message for finding in broken} == {
            "A link leads to 'global/nothing', which does not exist.",
            "A link leads to 'nobody', which does not exist.",
        }
        assert {(finding.path, finding.severity) for finding in broken} == {("/memories/global/links.md", "note")}


def test_no_more_than_200_of_a_kind(root: Path) -> None:
    """Of one code 200 findings are given, and then one that says how many more there are."""
    with open_book(root):
        pass
    for number in range(215):
        note(root, f"global/n{number:03}.md", b"\xff\n")
    said = [finding for finding in examined(root) if finding.code == "not_utf8"]
    assert len(said) == 201 and said[-1].message == "And 15 more of this code."
    assert {finding.severity for finding in said} == {"warning"}
