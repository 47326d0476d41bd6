"""Whatever is in a book's folders, doctor and scan come to an end and say something of ours."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from commonplace.vault.paths import MAX_NOTE
from tests.book.opened import files, open_book
from tests.depth import first_quick
from tests.maintenance.doctor_cases import codes, found, note, places, refuse

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")


@pytest.mark.parametrize("seed", first_quick(range(8), 2))
def test_random_bytes_as_notes(root: Path, seed: int) -> None:
    """Notes, pages, scope pages and trash made of random bytes: both answer, and nothing is changed."""
    rnd = random.Random(seed)
    with open_book(root, project=None) as book:
        book.store("Words.", key="words", scope="global")
        book.forget("words", scope="global")
        (trashed,) = (root / ".commonplace/trash").rglob("*.md")
        trashed.write_bytes(rnd.randbytes(300))
        heads = [
            b"",
            b"---\n",
            b"---\nid: [",
            b"---\nlinks: [{rel: a, to: b}, *x]\n---\n",
            b"## 2026-01-01T00:00:00Z\n<!-- entry ",
        ]
        for number in range(40):
            note(root, f"global/n{number}.md", rnd.choice(heads) + rnd.randbytes(rnd.randrange(3_000)))
            note(root, f"agent/a{number}/_scope.md", rnd.choice(heads) + rnd.randbytes(200))
            note(
                root,
                f"agent/a{number}/x.md",
                b"---\nid: " + rnd.randbytes(20) + b"\n---\n[[" + rnd.randbytes(9) + b"]]",
            )
        note(root, "global/index.md", rnd.randbytes(2_000))
        before = files(root, databases=False)
        said = {finding.code for finding in book.doctor()}
        assert {"not_utf8", "bit_rot"} <= said
        assert book.scan().files > 100
        assert files(root, databases=False) == before


@posix
def test_odd_names_and_kinds(root: Path) -> None:
    """Names that are no text, kinds in each other's place, loops of links, very many levels: all are looked at."""
    with open_book(root, project=None) as book:
        memories = os.fsencode(root / "memories")
        for name in (
            b"global/\xff\xfe.md",
            b"global/\n.md",
            b"global/" + b"x" * 250,
            b"project/\xff",
            b"global/\x1b[2J.md",
        ):
            os.makedirs(os.path.join(memories, name))
        deep = root / "memories/global"
        for number in range(150):
            deep = deep / f"d{number}"
        deep.mkdir(parents=True)
        (deep / "x.md").write_text("x", "utf-8")
        (root / "memories/agent").mkdir(exist_ok=True)
        (root / "memories/agent/a").symlink_to("b")
        (root / "memories/agent/b").symlink_to("a")
        (root / "memories/session").write_text("a file", "utf-8")
        (root / "memories/global/folder.md").mkdir()
        (root / ".commonplace/history").write_text("a file", "utf-8")
        said = {finding.code for finding in book.doctor()}
        assert {"ignored_file", "link"} <= said
        assert places(book, "link") == ["/memories/agent/a", "/memories/agent/b"]
        assert any("\\udcff" in path for path in places(book, "ignored_file"))
        assert book.scan().ok


def test_a_huge_note(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note larger than any store makes is named and not read; the rest of its scope still is."""
    with open_book(root) as book:
        path = note(root, "global/huge.md", b"")
        note(root, "global/latin.md", b"\xff\n")
        os.truncate(path, MAX_NOTE + 1)
        refuse(monkeypatch, "huge.md")  # reading it would show as unreadable
        said = {finding.code: finding.path for finding in book.doctor()}
        assert said["huge_file"] == "/memories/global/huge.md" and "not_compared" not in said
        assert said["not_utf8"] == "/memories/global/latin.md" and "unreadable" not in said
        assert [finding.path for finding in book.scan().skipped] == ["/memories/global/huge.md"]


def test_a_folder_in_the_place_of_a_file(root: Path) -> None:
    """An index page, a scope page or settings that are folders are named by doctor, and survived by scan."""
    with open_book(root, project=None) as book:
        book.store("Words.", key="words", scope="global")
        note(root, "agent/a/x.md", "Words.\n")
        for place in ("memories/global/index.md", "memories/agent/a/_scope.md", ".commonplace/config.toml"):
            path = root / place
            path.unlink(missing_ok=True)
            path.mkdir()
        said = {finding.path for finding in book.doctor() if finding.code == "wrong_kind"}
        assert said == {"/memories/global/index.md", "/memories/agent/a/_scope.md", "/.commonplace/config.toml"}
        assert book.scan().ok


def test_a_damaged_index_under_an_open_book(root: Path) -> None:
    """An index that is overwritten while the book is open does not keep doctor from reading the notes."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        note(root, "global/latin.md", b"\xff\n")
    index = root / ".commonplace/index.db"
    data = bytearray(index.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    index.write_bytes(data)
    assert "not_utf8" in codes(root)
    with open_book(root) as book:
        assert found(book, "not_utf8")
