"""What doctor says of files without reading them: names, kinds, modes, half-made files."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.book.opened import open_book
from tests.maintenance.doctor_cases import examined, found, note, places

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has neither these names nor these modes")


@posix
def test_files_that_can_never_be_memories(root: Path) -> None:
    """A note with a name or at a level that no key can have is found, each with its reason."""
    wrong = {
        "global/con.md": "Windows reserves",
        "global/a:b.md": "forbid",
        "global/x .md": "ends in a space",
        "global/INDEX.md": "index pages",
        "global/nul/below.md": "Windows reserves",
        "loose.md": "above the folders of the scopes",
        "project/loose.md": "above the folders of the scopes",
        "planet/x.md": "no scope",
        "global/1/2/3/4/5/6/7/8/9/deep.md": "11 levels",
    }
    with open_book(root) as book:
        for name in wrong:
            note(root, name, "Text.\n")
        reasons = {finding.path: finding.message for finding in found(book, "ignored_file")}
        wanted = {name: name for name in wrong}
        wanted |= {"global/nul/below.md": "global/nul", "planet/x.md": "planet",
                   "global/1/2/3/4/5/6/7/8/9/deep.md": "global/1/2/3/4/5/6/7/8/9"}  # fmt: skip
        assert reasons.keys() == {f"/memories/{name}" for name in wanted.values()}
        for name, place in wanted.items():
            assert wrong[name] in reasons[f"/memories/{place}"]
        assert {finding.severity for finding in found(book, "ignored_file")} == {"warning"}


def test_the_deepest_note_is_a_memory(root: Path) -> None:
    """What doctor calls too deep is what the index does not see, and nothing else."""
    with open_book(root) as book:
        note(root, "global/1/2/3/4/5/6/7/8/deep.md", "Text.\n")
        book.reindex()
        assert [item.key for item in book.list()] == ["1/2/3/4/5/6/7/8/deep"] and book.doctor() == []


def test_files_that_are_left_out_on_purpose(root: Path) -> None:
    """Names with _ or . in front, and files that are no Markdown, are notes only; pages of ours are nothing."""
    with open_book(root) as book:
        for number in range(60):
            book.store(f"Number {number}.", key=f"number-{number}", scope="project")
        for name in ("global/_draft.md", "global/.hidden.md", "global/picture.png", "global/_files/x.md", ".DS_Store"):
            note(root, name, "Text.\n")
        wanted = ["/memories/.DS_Store", "/memories/global/.hidden.md", "/memories/global/_draft.md",
                  "/memories/global/_files", "/memories/global/picture.png"]  # fmt: skip
        assert sorted(places(book, "hidden_file")) == wanted
        assert {finding.code for finding in book.doctor()} == {"hidden_file"}


@posix
def test_links_and_special_files(root: Path, tmp_path: Path) -> None:
    """Links to a file, a folder and to nowhere, and a pipe, are named and never opened, in data/ too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(b"\xff")
    with open_book(root) as book:
        folder = root / "memories/global"
        (folder / "file.md").symlink_to(outside / "x.md")
        (folder / "folder").symlink_to(outside)
        (folder / "nowhere.md").symlink_to("nothing")
        (folder / "loop").symlink_to(folder)
        os.mkfifo(folder / "pipe.md")
        (root / "data/self").symlink_to(root)
        wanted = [f"/memories/global/{name}" for name in ("file.md", "folder", "loop", "nowhere.md", "pipe.md")]
        assert places(book, "link") == ["/data/self", *wanted]
        assert {finding.code for finding in book.doctor()} == {"link"}


def test_what_a_killed_writer_left(root: Path) -> None:
    """Temporary files are named, among memories and elsewhere, and stay where they are."""
    left = [root / "memories/global/.cp-1f-00.tmp", root / "data/.cp-1f-01.tmp", root / ".commonplace/.cp-1f-02.tmp"]
    with open_book(root) as book:
        for path in left:
            path.write_bytes(b"half")
            path.chmod(0o600)
        said = found(book, "left_over")
        assert [finding.path for finding in said] == [
            "/.commonplace/.cp-1f-02.tmp", "/data/.cp-1f-01.tmp", "/memories/global/.cp-1f-00.tmp",
        ]  # fmt: skip
        assert {finding.severity for finding in said} == {"note"} and all(path.exists() for path in left)


@posix
def test_files_that_others_may_read(root: Path) -> None:
    """A loose mode is a note while the folders above keep others out, and a warning once they can come and read."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        path = root / "memories/global/words.md"
        path.chmod(0o644)
        (finding,) = found(book, "open_to_others")
        assert (finding.path, finding.severity) == ("/memories/global/words.md", "note")
        for folder in (root, root / "memories", root / "memories/global"):
            folder.chmod(0o711)
        (finding,) = found(book, "open_to_others")
        assert (finding.path, finding.severity) == ("/memories/global/words.md", "warning")
        path.chmod(0o600)
        (root / "memories/global").chmod(0o733)
        (finding,) = found(book, "open_to_others")
        assert (finding.path, finding.severity) == ("/memories/global", "warning")


@posix
def test_a_fresh_clone_has_one_finding_about_modes(root: Path) -> None:
    """However many files are open to others, one finding counts them and has the command that closes all of them."""
    with open_book(root) as book:
        for number in range(5):
            book.store(f"Fact {number}.", key=f"fact-{number}", scope="global")
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (finding,) = found(book, "open_to_others")
        assert finding.severity == "warning" and "more. " in finding.message
        command = finding.message.split("`")[1]
        subprocess.run(shlex.split(command), check=True)
        assert found(book, "open_to_others") == []


@posix
def test_names_that_are_one_file_elsewhere(root: Path) -> None:
    """Two names that differ in case or composition alone are named."""
    (root.parent / "CASE").mkdir()
    if (root.parent / "case").exists():
        pytest.skip("this file system does not tell them apart")
    with open_book(root) as book:
        for name in ("caf\u00e9", "cafe\u0301", "Plan", "plan", "other"):
            note(root, f"global/{name}.md", "Text.\n")
        assert sorted(places(book, "same_name")) == ["/memories/global/caf\u00e9.md", "/memories/global/plan.md"]


def test_a_persons_own_things_at_the_root_are_theirs(root: Path) -> None:
    """What stands beside the book's folders, such as .git, is not looked into."""
    with open_book(root):
        pass
    (root / ".git").mkdir()
    (root / ".git/config").symlink_to("nowhere")
    (root / "own.txt").write_text("mine", "utf-8")
    assert examined(root) == []
