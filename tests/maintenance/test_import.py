"""`commonplace import` on a hand-written source of each format: what is taken, again, and without writing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commonplace.maintenance.import_records import REASONS
from commonplace.maintenance.import_sources import FORMATS
from commonplace.vault.commit import Commit
from commonplace.vault.port import Change
from commonplace.verbs.import_from import ImportRequest
from commonplace.verbs.verb import read_fields
from tests.book.opened import files, open_book
from tests.maintenance.doctor_cases import whole
from tests.maintenance.import_cases import GOLDEN, SOURCES, result, source, take, touch

DOCS = Path(__file__).parents[2] / "docs" / "import.md"


def test_every_format_has_a_source_and_a_golden_result() -> None:
    """No format goes without: sources, golden files, sections of the page and the command's help name the same."""
    assert {path.name for path in SOURCES.iterdir()} == set(FORMATS)
    assert {path.stem for path in GOLDEN.iterdir()} == set(FORMATS)
    assert re.findall(r"^## .*\(`([a-z0-9-]+)`\)$", DOCS.read_text("utf-8"), re.M) == list(FORMATS)
    helps = {field.name: field.arg.help for field in read_fields(ImportRequest)}
    assert helps["format"].startswith(f"{', '.join(FORMATS)};")


def test_every_reason_is_documented() -> None:
    """The table of docs/import.md is the table of the code: the same reasons, in the same words and order."""
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCS.read_text("utf-8"), re.M) == list(REASONS.items())


@pytest.mark.parametrize("name", FORMATS)
def test_a_source_becomes_what_the_golden_file_says(name: str, root: Path, tmp_path: Path) -> None:
    """Recognised without being named; report and notes are those of the golden file; the source is untouched."""
    place = source(tmp_path, name)
    before = whole(place)
    outcome = take(root, place)
    assert result(root, outcome) == (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert whole(place) == before


@pytest.mark.parametrize("name", FORMATS)
def test_windows_line_ends_make_no_difference(name: str, root: Path, tmp_path: Path) -> None:
    """A source whose files start with a byte order mark and have CRLF is recognised and imported like the original."""
    place = source(tmp_path, name)
    for path in place.rglob("*"):
        if path.suffix in (".md", ".json", ".jsonl"):
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    touch(place)
    outcome = take(root, place)
    assert result(root, outcome) == (GOLDEN / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_twice_changes_nothing(name: str, root: Path, tmp_path: Path) -> None:
    """The second import of the same source finds all of it unchanged and writes no file; index and files agree."""
    place = source(tmp_path, name)
    first = json.loads(take(root, place, "--json").out)
    there = files(root, databases=False)
    again = json.loads(take(root, place, "--json").out)
    assert files(root, databases=False) == there
    assert again["unchanged"] == first["created"] > 1
    assert (again["created"], again["appended"], again["links"]) == (0, 0, 0)
    assert again["left"] == first["left"]
    with open_book(root) as book:
        assert book.verify().ok


@pytest.mark.parametrize("name", FORMATS)
def test_a_dry_run_says_the_same_and_writes_nothing(name: str, root: Path, tmp_path: Path) -> None:
    """--dry-run answers what the import then answers, and leaves every file of the book as it was."""
    place = source(tmp_path, name)
    with open_book(root):
        pass
    there = files(root, databases=False)
    dry = json.loads(take(root, place, "--dry-run", "--json").out)
    assert files(root, databases=False) == there
    assert dry["dry_run"] is True and dry["created"] > 1
    assert json.loads(take(root, place, "--json").out) == {**dry, "dry_run": False}


def test_a_changed_item_is_a_new_entry(root: Path, tmp_path: Path) -> None:
    """A fact that its tool has rewritten becomes one more entry of the same memory, whatever its key is by now."""
    place = source(tmp_path, "claude-code")
    take(root, place)
    (moved,) = root.glob("memories/project/*/user-role.md")
    moved.rename(moved.with_name("who-ann-is.md"))
    fact = place / "user_role.md"
    fact.write_text(fact.read_text("utf-8").replace("ten years", "eleven years"), "utf-8")
    touch(place)
    done = json.loads(take(root, place, "--json").out)
    assert [(one["key"], one["action"]) for one in done["items"] if one["action"] != "unchanged"] == [
        ("who-ann-is", "appended")
    ]
    with open_book(root) as book:
        assert ["ten years" in entry.text for entry in book.show("who-ann-is").entries] == [True, False]


def test_a_new_observation_is_one_more_entry(root: Path, tmp_path: Path) -> None:
    """An entity that learned something gets that entry, and no other again."""
    place = source(tmp_path, "mcp-memory")
    take(root, place)
    graph = place / "memory.jsonl"
    graph.write_text(graph.read_text("utf-8").replace('"Likes tea"', '"Likes coffee","Likes tea"'), "utf-8")
    take(root, place)
    with open_book(root) as book:
        texts = [entry.text for entry in book.show("default-user").entries]
    assert texts == ["Likes tea", "Works at night", "works_at Acme", "visited Nowhere", "Likes coffee"]


def test_what_a_person_corrected_stays_corrected(root: Path, tmp_path: Path) -> None:
    """A memory whose entries were replaced after the import does not get the old text back by importing again."""
    place = source(tmp_path, "mem0")
    take(root, place)
    with open_book(root) as book:
        book.store("Prefers late meetings.", "prefers-morning-meetings", mode="replace")
        assert book.import_from(place).unchanged == 2
        assert [entry.text for entry in book.show("prefers-morning-meetings").entries] == ["Prefers late meetings."]


def test_a_key_of_somebody_else_s_is_left_to_them(root: Path, tmp_path: Path) -> None:
    """A memory of the user's with the same key is not written to, unless it says just what the item says."""
    place = source(tmp_path, "mcp-memory")
    with open_book(root) as book:
        book.store("My own note on the firm.", "acme")
        book.store("Makes  anvils", "acme-2")
        there = book.show("acme").revision, book.show("acme-2").revision
        done = book.import_from(place)
        assert (book.show("acme").revision, book.show("acme-2").revision) == there
        assert [(one.key, one.action) for one in done.items if "acme" in one.key] == [("acme-2", "unchanged")]


def test_many_are_written_together(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three hundred items of one scope are one group of changes, and one more for the pages above."""
    place = tmp_path / "many.jsonl"
    lines = [
        json.dumps({"id": str(number), "memory": f"Fact number {number}.", "user_id": "a"}) for number in range(300)
    ]
    place.write_text("\n".join(lines), "utf-8")
    groups: list[int] = []
    with open_book(root) as book:
        real = Commit.run

        def counted(self: Commit, changes: Sequence[Change], *rest: Any) -> None:
            groups.append(len(changes))
            real(self, changes, *rest)

        monkeypatch.setattr(Commit, "run", counted)
        assert book.import_from(place).created == 300
        assert len(groups) <= 3 and max(groups) > 300
        assert len(book.list()) == 300


def test_a_scaffold_keeps_its_folders_and_its_data(root: Path, tmp_path: Path) -> None:
    """Notes keep their folders below the scope's, up to the levels that a key may have; data files keep their names and
    bytes. Again, nothing changes; a file that the book has already is never replaced, one with a secret not copied."""
    place = tmp_path / "old"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    for name, text in {
        "index.md": "# Index", "system/definition.md": "# How", "memories/draft.md": "Draft.",
        "memories/project/app-98d9fc12e020/team/ann.md": "Ann leads.",
        "memories/global/Über Uns/rules.md": "Be kind.", "notes/a/b/c/d/deep.md": "Deep.",
        "data/prices.csv": "tea,1\n", "data/runs/2026.jsonl": "{}\n", "data/keys.txt": token, "data/mine.txt": "theirs",
    }.items():  # fmt: skip
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, "utf-8")
    (place / "data" / "photo.bin").write_bytes(bytes(range(256)))
    with open_book(root) as book:
        book.data_put("mine.txt", b"mine")
        assert book.import_from(place, scope="global", dry_run=True).data == (
            "photo.bin",
            "prices.csv",
            "runs/2026.jsonl",
        )
        assert book.data_list() == ["mine.txt"]
        done = book.import_from(place, scope="global")
        keys = {item.key for item in done.items}
        assert keys == {"team/ann", "uber-uns/rules", "notes/a/b/deep", "memories/draft"}
        assert {(item.place, item.reason) for item in done.left} >= {
            ("data/keys.txt", "secret"), ("data/mine.txt", "data_exists"),
        }  # fmt: skip
        assert book.data_get("photo.bin") == bytes(range(256)) and book.data_get("mine.txt") == b"mine"
        again = book.import_from(place, scope="global")
        assert (again.created, again.unchanged, again.data) == (0, 4, ())
        assert token not in json.dumps([done._asdict(), again._asdict()], default=str)
    with open_book(root, agent="scout", session="s1", sealed=True, role="agent") as sealed:
        left = {item.place: item.reason for item in sealed.import_from(place).left}
        assert left["data/photo.bin"] == "not_permitted"
