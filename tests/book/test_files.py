"""The book as files: list_memories, read_memory, search_memory and shell, as an embedder calls them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model import errors
from commonplace.model.names import revision_of
from commonplace.shell.view_reader import MAX_LISTED, MAX_READ_BYTES
from tests.book.opened import open_book, tick


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with open_book(tmp_path / "book", agent="scout", session="s1", role="agent") as book:
        tick(book)
        yield book


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of the book, for files that a person puts there."""
    (tmp_path / "book" / "data").mkdir(parents=True, exist_ok=True)
    return tmp_path / "book" / "data"


def test_folders_and_notes_are_listed(book: Book) -> None:
    """A listing has folders with how much they hold, notes with summary, time, entries and status, and other files."""
    path = book.store("Tests run with pytest.", "runner", "global", summary="How tests run").path
    book.store("With -n 2.", "runner", "global")
    book.data_put("prices.csv", b"tea,1\n")
    root = {item.path: item for item in book.list_memories().items}
    assert [root[name].kind for name in ("/data", "/index.md", "/memories")] == ["folder", "note", "folder"]
    (note,) = [item for item in book.list_memories("/memories/global").items if item.path == path]
    assert (note.kind, note.summary, note.entries, note.status) == ("note", "How tests run", 2, "active")
    assert note.updated == book.show("runner").meta.updated and note.size > 100
    (file,) = [item for item in book.list_memories("data").items if item.kind == "file"]
    assert (file.path, file.size, file.status, file.entries) == ("/data/prices.csv", 6, "", 0)
    assert root["/data"].entries == 2


def test_what_is_over_is_listed_on_request(book: Book) -> None:
    """Superseded and expired notes are counted and left out, and listed when asked for."""
    book.store("Old.", "old", "global")
    book.store("New.", "new", "global", decision="supersede:old")
    listed = book.list_memories("/memories/global")
    assert [item.path.split("/")[-1] for item in listed.items] == ["index.md", "new.md"] and listed.hidden == 1
    everything = book.list_memories("/memories/global", include_inactive=True)
    assert [item.status for item in everything.items] == ["", "active", "superseded"] and everything.hidden == 0


def test_a_long_listing_goes_on(book: Book, data: Path) -> None:
    """A folder with more than one answer holds is listed in pieces that are together the whole, each once."""
    for number in range(MAX_LISTED + 7):
        (data / f"f{number:04}").write_bytes(b"x")
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = book.list_memories("/data", offset=offset)
        names += [item.path for item in piece.items]
        assert piece.truncated == (piece.next_offset is not None) and len(piece.items) <= MAX_LISTED
        assert str(piece.next_offset) in piece.next if piece.truncated else piece.next == ""
        offset = piece.next_offset
    assert len(names) == len(set(names)) == MAX_LISTED + 8  # and the index page


def test_text_is_read_in_pieces_that_are_the_whole(book: Book, data: Path) -> None:
    """A text larger than one answer comes in pieces of at most the limit, which put together are the file again."""
    text = "añ€😀\n" * 20_000
    (data / "long.txt").write_text(text, "utf-8")
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = book.read_memory("/data/long.txt", offset=offset)
        assert len(piece.text.encode()) <= MAX_READ_BYTES
        pieces.append(piece.text)
        assert piece.truncated == (piece.next_offset is not None) == (piece.next != "")
        offset = piece.next_offset
    assert "".join(pieces) == text and len(pieces) == 4
    assert piece.size == len(text.encode()) and piece.revision == revision_of(text.encode())


@pytest.mark.parametrize(("read", "found"), [(1_024, 3), (200_000, 120)])
def test_the_limits_can_be_set(data: Path, tmp_path: Path, read: int, found: int) -> None:
    """`max_read_bytes` and `max_search_results`, smaller or larger than by default, hold for text, shell and search;
    what is cut says so, and a smaller number can be asked for. Senseless values are refused."""
    (data / "long.txt").write_text("needle here\n" * 12_000, "utf-8")
    with open_book(tmp_path / "book") as person:
        person.configure("max_read_bytes", str(read))
        person.configure("max_search_results", str(found))
    with open_book(tmp_path / "book") as again:
        text = again.read_memory("/data/long.txt")
        assert len(text.text.encode()) == min(read, 144_000) and text.truncated == (read < 144_000)
        ran = again.shell("cat /data/long.txt")
        assert len(ran.stdout.encode()) == min(read, 144_000) and ran.truncated == (read < 144_000)
        for limit in (None, found + 1):
            lines = again.search_memory("needle", limit=limit)
            assert len(lines.matches) == found and lines.truncated and lines.next_offset == found
        assert len(again.search_memory("needle", limit=2).matches) == 2
        for name, wrong in (("max_read_bytes", "10"), ("max_search_results", "0"), ("max_search_results", "many")):
            with pytest.raises(errors.InvalidSettings, match=name):
                again.configure(name, wrong)


def test_the_last_entries_of_a_note(book: Book) -> None:
    """tail_n gives the last entries of a note as they stand in it, and not what stands above them."""
    for number in range(4):
        path = book.store(f"Fact number {number}.", "facts", "global").path
    whole = book.read_memory(path)
    assert whole.text.startswith("---\n") and (whole.entries, whole.truncated) == (4, False)
    last = book.read_memory(path, tail_n=2)
    assert last.entries == 2 and "number 2" in last.text and "number 3" in last.text
    assert "number 1" not in last.text and "---" not in last.text and whole.text.endswith(last.text)
    assert book.read_memory(path, tail_n=99).entries == 4


def test_the_last_lines_of_a_plain_file(book: Book, data: Path) -> None:
    """tail_n gives the last lines of a file without entries, with or without an end to the last one."""
    (data / "log").write_bytes(b"one\ntwo\nthree")
    assert book.read_memory("/data/log", tail_n=2).text == "two\nthree"
    (data / "log").write_bytes(b"one\ntwo\n")
    assert book.read_memory("data/log", tail_n=1).text == "two\n"


def test_entries_by_tag(book: Book, tmp_path: Path) -> None:
    """tags choose the entries that carry all of them, themselves or by their memory."""
    path = book.store("Plain.", "tagged", "global", tags=["whole"]).path
    book.store("Special.", "tagged", "global")
    file = tmp_path / "book" / path.lstrip("/")
    at = file.read_text("utf-8").rindex(" -->")
    file.write_text(file.read_text("utf-8")[:at] + " tags=own,other" + file.read_text("utf-8")[at:], "utf-8")
    assert book.read_memory(path, tags=["own"]).entries == 1
    assert "Special." in book.read_memory(path, tags=["#own", "whole"]).text
    assert book.read_memory(path, tags=["whole"]).entries == 2
    assert book.read_memory(path, tags=["nobody"])[1:4] == ("", 0, 0)
    assert book.read_memory(path, tags=["whole"], tail_n=1).entries == 1


def test_a_binary_is_known_by_its_first_bytes(book: Book, data: Path) -> None:
    """A file that is no text is named as such and not read; a NUL, or the signature of a known format, tells."""
    for name, content in {"a": b"ab\0c", "b.md": b"%PDF-1.7\ntext", "c": b"\x89PNG\r\n\x1a\n"}.items():
        (data / name).write_bytes(content)
        read = book.read_memory(f"/data/{name}")
        assert (read.binary, read.text, read.size) == (True, "", len(content)) and "binary" in read.next
    (data / "late").write_bytes(b"x" * 9_000 + b"\0")
    assert not book.read_memory("/data/late").binary
    assert book.search_memory("PDF").matches == ()


def test_reading_counts_as_use(book: Book) -> None:
    """A memory that is read is one that is used, and is not hidden for want of use."""
    path = book.store("Seldom needed.", "rare", "project").path
    identity = book.show("rare").meta.id
    before = book.context.use_counts([identity]).get(identity, 0)
    book.read_memory(path)
    assert book.context.use_counts([identity])[identity] == before + 1


def test_lines_are_searched(book: Book, data: Path) -> None:
    """A search gives path, line number and line; in any case unless told, as text unless told, each file once."""
    (data / "a.txt").write_text("one\nPort 5432 (x)\n", "utf-8")
    (data / "b.txt").write_text("GRÖSSE port 60\r\n", "utf-8")
    assert [match[:3] for match in book.search_memory("port ", ["/data"]).matches] == [
        ("/data/a.txt", 2, "Port 5432 (x)"),
        ("/data/b.txt", 1, "GRÖSSE port 60"),
    ]
    assert len(book.search_memory("port ", ["/data", "/data/a.txt", "/"], case_sensitive=True).matches) == 1
    assert [match.line for match in book.search_memory("(X)", ["/data/a.txt"]).matches] == [2]
    assert [match.path for match in book.search_memory("grösse", ["data"]).matches] == ["/data/b.txt"]
    assert [match.path for match in book.search_memory(r"port \d{4}\b", regex=True).matches] == ["/data/a.txt"]
    assert book.search_memory(".*", ["/data/a.txt"]).matches == ()
    assert book.search_memory("port", ["/data"]).files == 3


def test_the_limit_is_for_all_paths_together(book: Book, data: Path) -> None:
    """No more matches than the limit, whatever the number of paths, and the rest by going on."""
    for name in "abc":
        (data / name).write_text("hit\n" * 30, "utf-8")
    first = book.search_memory("hit", ["/data/a", "/data/b", "/data/c"])
    assert len(first.matches) == 50 and first.truncated and first.next_offset == 50 and "offset=50" in first.next
    rest = book.search_memory("hit", ["/data/a", "/data/b", "/data/c"], offset=50)
    assert len(rest.matches) == 40 and not rest.truncated and rest.next_offset is None
    assert len(set(first.matches + rest.matches)) == 90
    assert len(book.search_memory("hit", ["/data"], limit=7).matches) == 7


def test_a_long_line_is_cut_around_the_match(book: Book, data: Path) -> None:
    """Of a line of megabytes, the part in which the match is comes back."""
    (data / "long").write_text("x" * 100_000 + "NEEDLE" + "y" * 100_000, "utf-8")
    (match,) = book.search_memory("needle", ["/data/long"]).matches
    assert "NEEDLE" in match.text and len(match.text) < 500 and match.text[0] == match.text[-1] == "…"


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)", "(", "[", "a{1,100000}", "a" * 3_000, "", "a\nb", "\ud800"])
def test_patterns_that_cannot_be_used(book: Book, pattern: str) -> None:
    """What RE2 does not do, or what is no pattern, is refused in words."""
    with pytest.raises(errors.InvalidPattern) as refused:
        book.search_memory(pattern, regex=True)
    assert refused.value.exit_code == 70


def test_values_that_cannot_be(book: Book) -> None:
    """Numbers out of range, and texts where lists belong, are refused by name."""
    book.store("x", "k", "global")
    for way in (
        lambda: book.search_memory("x", limit=0), lambda: book.search_memory("x", limit=1_001),
        lambda: book.search_memory("x", offset=-1), lambda: book.list_memories(offset=-1),
        lambda: book.read_memory("/index.md", tail_n=0), lambda: book.read_memory("/index.md", offset=-1),
        lambda: book.read_memory("/index.md", tags="ab"), lambda: book.read_memory("/index.md", tags=["a b"]),
    ):  # fmt: skip
        with pytest.raises(errors.InvalidField):
            way()
    for path in ("/nope", "/nope/x", "/memories/global/k.md/x"):
        with pytest.raises(errors.NotFound):
            book.read_memory(path)
    with pytest.raises(errors.InvalidPath):
        book.list_memories("/memories/global/k.md")
    with pytest.raises(errors.InvalidPath):
        book.read_memory("/memories")


def test_a_file_that_is_too_large(book: Book, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit is listed, passed over by a search, and refused with its size when it is read."""
    (data / "huge").write_text("needle\n" * 100, "utf-8")
    monkeypatch.setattr("commonplace.shell.view_reader.MAX_FILE_BYTES", 100)
    with pytest.raises(errors.TooLarge, match="700 bytes"):
        book.read_memory("/data/huge")
    assert book.search_memory("needle").matches == ()
    assert "/data/huge" in [item.path for item in book.list_memories("/data").items]


def test_the_shell_keeps_no_state(book: Book) -> None:
    """A call answers where it ended; the next one starts where it is told, and else at the root."""
    moved = book.shell("cd data")
    assert (moved.cwd, moved.exit_code, moved.stdout) == ("/data", 0, "")
    assert book.shell("pwd").stdout == "/\n"
    assert book.shell("pwd", moved.cwd).stdout == "/data\n"
    assert book.shell("cat nope", "/data") == ("", "cat: nope: No such file or directory\n", 1, "/data", False, "")
    session = book.shell_session("/data")
    session.run("cd ..")
    assert session.run("pwd").stdout == b"/\n"


def test_what_is_cut_ends_with_a_whole_character(book: Book, data: Path) -> None:
    """Output that is cut in the middle of a character leaves that character out; bytes that are no text are shown."""
    (data / "wide").write_text("€" * 30_000, "utf-8")
    answer = book.shell("cat /data/wide")
    assert answer.truncated and set(answer.stdout) == {"€"} and answer.next in answer.stderr
    (data / "odd").write_bytes(b"a\xffb\n")
    assert book.shell("cat /data/odd").stdout == "a\\xffb\n"


def test_switched_off_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is switched off, nothing is listed, read or found, and nobody is told what there was."""
    with open_book(tmp_path / "book") as book:
        book.store("Secretly here.", "k", "global")
    monkeypatch.setenv("COMMONPLACE_ENABLED", "false")
    with open_book(tmp_path / "book") as book:
        assert book.list_memories().items == () and book.search_memory("here").matches == ()
        assert (book.shell("find /").stdout, book.shell("grep -r here /").stdout) == ("/\n", "")
        with pytest.raises(errors.NotFound):
            book.read_memory("/memories/global/k.md")


def test_what_a_search_leaves_out_is_said(book: Book, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large, a folder that is too deep and a long line make the answer `truncated`, and say why."""
    assert not book.search_memory("needle", ["/data"]).truncated
    (data / "long.txt").write_text("x" * 500 + "needle\n", "utf-8")
    found = book.search_memory("needle", ["/data"])
    assert found.truncated and "in part" in found.next and found.skipped == ()
    (data / "big.txt").write_bytes(b"needle\n" * 1_000)
    monkeypatch.setattr("commonplace.shell.view_reader.MAX_FILE_BYTES", 5_000)
    deep = data.joinpath(*(f"l{level}" for level in range(11)))
    deep.mkdir(parents=True)
    (deep / "needle.txt").write_text("needle", "utf-8")
    found = book.search_memory("needle", ["/data"])
    assert found.skipped == ("/data/big.txt: too large",) and len(found.matches) == 1
    assert found.truncated and "/data/big.txt: too large" in found.next and "12 levels" in found.next
    assert book.list_memories(str(deep).removeprefix(str(data.parent))).truncated


def test_a_search_of_the_whole_book_says_what_it_leaves_out(book: Book, data: Path) -> None:
    """A search from / names the folder that is too deep, as one from /data does; a link and a binary are named, too."""
    deep = data.joinpath(*(f"l{level}" for level in range(15)))
    deep.mkdir(parents=True)
    (deep / "needle.txt").write_text("needle", "utf-8")
    for paths in ((), ("/",), ("/data",)):
        found = book.search_memory("nowhere", paths)
        assert found.truncated and "12 levels" in found.next and found.skipped == (), paths
    (data / "blob.bin").write_bytes(b"\0needle")
    (data / "pointer.txt").symlink_to(data / "blob.bin")
    found = book.search_memory("nowhere")
    assert found.skipped == ("/data/blob.bin: binary", "/data/pointer.txt: a link or a special file")
    assert "2 files or folders could not be searched: /data/blob.bin: binary;" in found.next


@pytest.mark.parametrize("command", ["find /", "grep -r needle /", "tree /", "ls -R /", "query / --field a --equals b"])
def test_a_command_from_the_root_says_what_is_too_deep(book: Book, data: Path, command: str) -> None:
    """A command of the shell that starts at / names the folder that is too deep."""
    data.joinpath(*(f"l{level}" for level in range(15))).mkdir(parents=True)
    ran = book.shell(command)
    assert ran.truncated and "12 levels" in ran.next
