"""Scan finds planted secrets wherever they are kept, and never says what they are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commonplace.cli.main import main
from commonplace.maintenance import book_files
from tests.book.opened import open_book
from tests.guard.planted import plant
from tests.maintenance.doctor_cases import note, refuse

RULE = "github-token"


def token(seed: int) -> str:
    return plant("github classic", "line end", random.Random(seed)).text.split()[-1]


def line(seed: int) -> str:
    return f"The deploy token is {token(seed)}\n"


def planted(root: Path) -> dict[str, int]:
    """A book with a secret in every place where text can be; by path, in which line."""
    with open_book(root) as book:
        book.store("Words.", key="words", scope="global")
        past: list[int] = []
        for key in ("replaced", "forgotten"):
            book.store("Before.", key=key, scope="global")
            path = root / f"memories/global/{key}.md"
            path.write_bytes(path.read_bytes() + line(len(past)).encode())
            past.append(path.read_text("utf-8").count("\n"))
        book.store("After.", key="replaced", scope="global", mode="replace")
        book.forget("forgotten", scope="global")
    (history,) = (root / ".commonplace/history").rglob("*.replaced.*.md")
    (trash,) = (root / ".commonplace/trash").rglob("*.md")
    note(root, "global/hand.md", f"---\nsummary: {token(2)}\n---\nText.\n{line(3)}")
    page = root / "memories/global/index.md"
    page.write_text(f"{line(4)}{page.read_text('utf-8')}", "utf-8")
    files = {"data/table.csv": line(5).encode(), "data/windows.txt": line(6).encode("utf-16"),
             "system/definition.md": f"# How\n\n{line(7)}".encode(), "data/old.txt": b"caf\xe9\n" + line(8).encode(),
             "memories/global/_ignored.md": b"\0\n\n" + line(9).encode()}  # fmt: skip
    for name, data in files.items():
        (root / name).write_bytes(data)
    return {
        f"/{history.relative_to(root).as_posix()}": past[0], f"/{trash.relative_to(root).as_posix()}": past[1],
        "/memories/global/index.md": 1, "/data/table.csv": 1, "/data/windows.txt": 1, "/system/definition.md": 3,
        "/data/old.txt": 2, "/memories/global/_ignored.md": 3,
    }  # fmt: skip


def test_planted_secrets_are_found_in_every_place(root: Path) -> None:
    """In a note's fields and text, a page, data, history, trash and the doctrine each one is found, with its line."""
    wanted = planted(root)
    with open_book(root) as book:
        answer = book.scan()
    places = {(place.path, place.line) for place in answer.places}
    assert places == {*wanted.items(), ("/memories/global/hand.md", 2), ("/memories/global/hand.md", 5)}
    assert {place.rule for place in answer.places} == {RULE} and not answer.ok


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_secret_is_never_printed(root: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    """The command shows places and rules, exits with 1, and prints nothing of any secret, in a file's name either."""
    planted(root)
    (root / f"data/{token(10)}.txt").write_text("x", "utf-8")
    (root / f"data/{token(11)}").mkdir()
    (root / f"data/{token(11)}/x.txt").write_text(line(12), "utf-8")
    assert main(["scan", "--root", str(root), *options]) == 1
    said = capsys.readouterr()
    assert RULE in said.out and "/data/table.csv" in said.out and "/data/[secret].txt" in said.out
    assert "/data/[secret]/x.txt" in said.out
    assert not [seed for seed in range(13) if token(seed)[6:20] in said.out + said.err]


def test_a_line_may_say_that_it_has_none(root: Path) -> None:
    """The mark that the gate honours is honoured here: on its own line, and on no other."""
    mark = "commonplace:not-a-secret"
    with open_book(root) as book:
        note(root, "global/x.md", f"{line(1).strip()} {mark}\n{line(2)}{mark}\n")
        assert [(place.path, place.line) for place in book.scan().places] == [("/memories/global/x.md", 2)]


def test_a_book_without_secrets(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing found is exit status 0, and binary data is not taken for text."""
    with open_book(root) as book:
        book.store("The token is in the vault under deploy/github.", key="where", scope="global")
        (root / "data/picture").write_bytes(b"\x89PNG\0\0" + line(1).encode())
        answer = book.scan()
        assert answer.ok and answer.places == () and answer.files > 5
    assert main(["scan", "--root", str(root)]) == 0
    assert "0 places" in capsys.readouterr().out


def test_what_is_not_read_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is too large or cannot be read, and a database that was put aside, are named as not read."""
    with open_book(root):
        pass
    (root / "data/large.txt").write_bytes(b"x" * (book_files.MAX_BYTES + 1))
    (root / "data/fits.txt").write_bytes(b"x\n" * (book_files.MAX_BYTES // 2 - 50) + line(1).encode())
    (root / "data/locked.txt").write_bytes(b"x")
    (root / ".commonplace/index.db.unusable-20260101T000000Z").write_text(line(2), "utf-8")
    refuse(monkeypatch, "locked.txt")
    with open_book(root) as book:
        answer = book.scan()
    assert {finding.path: finding.code for finding in answer.skipped} == dict.fromkeys(
        ("/data/large.txt", "/data/locked.txt", "/.commonplace/index.db.unusable-20260101T000000Z"), "not_scanned"
    )
    assert [place.path for place in answer.places] == ["/data/fits.txt"]
    main(["scan", "--root", str(root)])
    assert f"not read: {root}/data/large.txt: It has 16,000,001 bytes" in capsys.readouterr().out
