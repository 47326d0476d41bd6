"""What a user names to be ingested: its files are listed and opened, and nothing outside it, whatever lies there."""

from __future__ import annotations

import io
import os
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import CommonplaceError, NotFound, SourceRefused, TooManyFiles, Unreadable
from commonplace.tree.source import FileSet
from commonplace.vault import named_files, zip_files
from commonplace.vault.named_files import open_files
from commonplace.vault.source_files import NamedFiles

posix = pytest.mark.skipif(os.name == "nt", reason="links and pipes are made another way there")


def names(place: Path) -> list[str]:
    with open_files(str(place)) as files:
        return list(files.names)


def read(files: NamedFiles, name: str) -> bytes:
    with files.open(name) as stream:
        return stream.read()


def make_zip(place: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place, "w", compression) as made:
        for name, data in members.items():
            made.writestr(zipfile.ZipInfo(name, (2026, 11, 15, 9, 30, 0)), data, compression)
    return place


@pytest.fixture(params=["folder", "zip"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The same three files as a folder and as a zip."""
    members = {"b.txt": b"two\n", "a/c.txt": b"three\n", "a-b.txt": b"", "a/.obsidian/app.json": b"{}"}
    if request.param == "zip":
        yield make_zip(tmp_path / "source.ZIP", members)
        return
    for name, data in members.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    yield tmp_path / "source"


def test_a_folder_and_a_zip_are_the_same_files(place: Path) -> None:
    """Names are sorted and have `/`, hidden folders are passed over; sizes and bytes are those of the files."""
    with open_files(str(place)) as files:
        as_readers_see_it: FileSet = files
        assert as_readers_see_it.given == str(place)
        assert list(files.names) == ["a-b.txt", "a/c.txt", "b.txt"]
        assert [files.size(name) for name in files.names] == [0, 6, 4]
        assert [read(files, name) for name in files.names] == [b"", b"three\n", b"two\n"]
        assert files.skipped == []
        assert (files.size("none"), files.modified("none")) == (0, "")
        for missing in ("none", "../source.ZIP", "a", ""):
            with pytest.raises(Unreadable):
                files.open(missing)


def test_one_file(tmp_path: Path) -> None:
    """A single file is a source with its own name, its size and its time, and can be read from anywhere in it."""
    path = tmp_path / "mail.mbox"
    path.write_bytes(b"From x\n" * 100_000)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with open_files(str(path)) as files:
        assert list(files.names) == ["mail.mbox"]
        assert (files.size("mail.mbox"), files.modified("mail.mbox")) == (700_000, "2023-11-14T22:13:20Z")
        with files.open("mail.mbox") as stream:
            assert stream.readline() == b"From x\n"
            assert stream.seek(699_993) == stream.tell() == 699_993
            assert stream.read() == b"From x\n"


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path may begin with `~`, as users type it where no shell reads it."""
    (tmp_path / "mail.mbox").write_bytes(b"")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert names(Path("~") / "mail.mbox") == ["mail.mbox"]


@posix
def test_links_and_pipes_are_not_opened(tmp_path: Path) -> None:
    """A link to a file, to a folder, a loop and a pipe are reported, which is no link; a source that is itself a link
    is read."""
    source = tmp_path / "source"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "private.md").write_text("Nobody asked for this.\n", "utf-8")
    source.mkdir()
    (source / "a.md").write_text("Fine.\n", "utf-8")
    (source / "file.md").symlink_to(tmp_path / "outside" / "private.md")
    (source / "folder").symlink_to(tmp_path / "outside")
    (source / "loop").symlink_to(source)
    os.mkfifo(source / "pipe.md")
    (tmp_path / "named").symlink_to(source)
    with open_files(str(tmp_path / "named")) as files:
        assert list(files.names) == ["a.md"]
        links = [(name, "link") for name in ("file.md", "folder", "loop")]
        assert files.skipped == [*links, ("pipe.md", "not_a_file")]
    assert {found for found in named_files.walk_folder(str(source)) if len(found) == 2} == {*links, ("pipe.md", "link")}


@posix
def test_a_file_that_was_replaced_is_refused(tmp_path: Path) -> None:
    """What is opened must be what was listed: a link, a pipe or another file in its place is not read."""
    source, private = tmp_path / "source", tmp_path / "private.md"
    source.mkdir()
    private.write_text("Nobody asked for this.\n", "utf-8")
    for number in range(4):
        (source / f"{number}.md").write_text("Fine.\n", "utf-8")
    with open_files(str(source)) as files:
        (source / "0.md").unlink()
        (source / "0.md").symlink_to(private)
        (source / "1.md").unlink()
        os.mkfifo(source / "1.md")
        private.rename(source / "2.md")
        (source / "3.md").unlink()
        for name in files.names:
            with pytest.raises(Unreadable):
                files.open(name)
        assert files.size("3.md") == 0
        assert files.modified("3.md") == ""


def test_mail_folders_are_read_though_they_are_hidden(tmp_path: Path) -> None:
    """A mail server calls the folders of an account .Sent and .Archive; what has `cur` or `new` is one."""
    for folder in ("cur", "new", ".Sent/cur", ".Sent/new", ".Trash/cur", ".git/hooks"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "1").write_bytes(b"")
    assert names(tmp_path) == [".Sent/cur/1", ".Sent/new/1", ".Trash/cur/1", "cur/1", "new/1"]


@posix
def test_a_name_that_is_not_unicode(tmp_path: Path) -> None:
    """A file name in an old encoding is shown escaped, and the file is read."""
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb") as made:
        made.write(b"au lait")
    with open_files(str(tmp_path)) as files:
        assert list(files.names) == ["caf\\udce9.txt"]
        assert read(files, "caf\\udce9.txt") == b"au lait"
        assert files.size("caf\\udce9.txt") == 7


def test_folders_may_not_be_too_many_or_too_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of folders ends at the limit and is reported; more files than the limit are refused."""
    monkeypatch.setattr(named_files, "MAX_FILES", 2)
    (tmp_path.joinpath(*"abcdefgh")).mkdir(parents=True)
    found = list(named_files.walk_folder(str(tmp_path), 3))
    assert found == [("a/b/c", "too_deep")]
    for number in range(3):
        (tmp_path / f"{number}.txt").write_bytes(b"")
    with pytest.raises(SourceRefused, match="more than 2 files"):
        names(tmp_path)


def test_no_source(tmp_path: Path) -> None:
    """No path, one that is not there, and the book itself or what is around or in it."""
    for odd in ("", "a\0b", str(tmp_path / "nowhere")):
        with pytest.raises(NotFound):
            names(Path(odd)) if odd else open_files(odd).__enter__()
    book = tmp_path / "book"
    (book / "tree").mkdir(parents=True)
    for own in (tmp_path, book, book / "tree"):
        with pytest.raises(SourceRefused, match="this book"), open_files(str(own), str(book)):
            pass
    (tmp_path / "mail").mkdir()
    with open_files(str(tmp_path / "mail"), str(book)) as files:
        assert list(files.names) == []


def test_no_file_handles_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system has no handle left, no file is taken for unreadable: the ingest stops and says so."""
    (tmp_path / "a.txt").write_bytes(b"")

    def refuse(*given: object, **more: object) -> int:
        raise OSError(24, "Too many open files")

    with open_files(str(tmp_path)) as files:
        monkeypatch.setattr(named_files, "open_listed", refuse)
        with pytest.raises(TooManyFiles):
            files.open("a.txt")


def test_odd_names_in_a_zip(tmp_path: Path) -> None:
    """Names that lead out of a folder become labels without that; links, hidden folders and macOS's own are left."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("../../etc/passwd", b"1")
        made.writestr("/absolute.txt", b"2")
        made.writestr("folder\\windows.txt", b"3")
        made.writestr("__MACOSX/._absolute.txt", b"4")
        made.writestr(".git/config", b"5")
        made.writestr("folder/", b"")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        pipe = zipfile.ZipInfo("pipe.txt")
        pipe.external_attr = 0o010644 << 16
        made.writestr(pipe, "")
    with open_files(str(path)) as files:
        assert list(files.names) == ["absolute.txt", "etc/passwd", "folder/windows.txt"]
        assert [read(files, name) for name in files.names] == [b"2", b"1", b"3"]
        assert files.skipped == [("link.txt", "link"), ("pipe.txt", "not_a_file")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_twice_in_a_zip(tmp_path: Path) -> None:
    """The later member of a name counts, as for programs that unpack, and the other one is reported."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", b"old")
        made.writestr("./a.txt", b"new")
    with open_files(str(path)) as files:
        assert read(files, "a.txt") == b"new"
        assert files.skipped == [("a.txt", "bad_zip")]


def test_names_in_a_zip_of_a_mac(tmp_path: Path) -> None:
    """UTF-8 that is not declared is read as UTF-8; other names are what the zip says."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("uber.txt", b"")
    path.write_bytes(path.read_bytes().replace(b"uber.txt", "übr.txt".encode()))
    assert names(path) == ["übr.txt"]
    path.write_bytes(path.read_bytes().replace("übr.txt".encode(), b"\x81ber.txt"))
    assert names(path) == ["über.txt"]


def test_the_time_of_a_zip_member(tmp_path: Path) -> None:
    """The time in UTC is taken where the zip has it; a date that is none gives nothing."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        exact = zipfile.ZipInfo("exact.txt", (2026, 11, 15, 9, 30, 0))
        exact.extra = struct.pack("<HHBl", 0x5455, 5, 1, 1_700_000_000)
        made.writestr(exact, b"")
        made.writestr(zipfile.ZipInfo("local.txt", (2026, 11, 15, 9, 30, 0)), b"")
        made.writestr(zipfile.ZipInfo("none.txt"), b"")
    with open_files(str(path)) as files:
        assert files.modified("exact.txt") == "2023-11-14T22:13:20Z"
        assert files.modified("local.txt").startswith("2026-11-1")
        assert files.modified("none.txt") == ""


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """A member that says it is over 200 times its size is reported as too large; a short text of one letter is read."""
    path = make_zip(tmp_path / "a.zip", {"bomb.txt": b"0" * 5_000_000, "short.txt": b"0" * 500_000})
    with open_files(str(path)) as files:
        assert len(read(files, "short.txt")) == 500_000
        assert (list(files.names), files.skipped) == (["short.txt"], [("bomb.txt", "too_large")])
        with pytest.raises(Unreadable):
            files.open("bomb.txt")


def test_a_zip_that_lies_about_sizes_is_stopped(tmp_path: Path) -> None:
    """A member that unpacks to more than the zip says ends in an error, and never gives more bytes than that."""
    path = make_zip(tmp_path / "a.zip", {"bomb.txt": b"0" * 5_000_000})
    data = path.read_bytes().replace(struct.pack("<L", 5_000_000), struct.pack("<L", 900_000))
    path.write_bytes(data)
    with open_files(str(path)) as files, files.open("bomb.txt") as stream, pytest.raises(Unreadable):
        while stream.read(100_000):
            assert stream.tell() <= 900_000


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    """A zip whose members overlap unpacks to far more than it is: members together may not be larger than the zip."""
    path = make_zip(tmp_path / "a.zip", {"a.txt": os.urandom(10_000)})
    data = path.read_bytes()
    at = data.rindex(b"PK\x01\x02")
    directory, end = data[at : data.rindex(b"PK\x05\x06")], data[data.rindex(b"PK\x05\x06") :]
    count = struct.pack("<HHLL", 50, 50, 50 * len(directory), at)
    path.write_bytes(data[:at] + directory * 50 + end[:8] + count + end[20:])
    with pytest.raises(SourceRefused, match="overlap"):
        names(path)


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zip with more members than the limit is refused, and so is a list of members that is too long to read."""
    path = make_zip(tmp_path / "a.zip", {f"{number}.txt": b"" for number in range(20)})
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 10)
    with pytest.raises(SourceRefused, match="more than 10 members"):
        names(path)
    monkeypatch.setattr(zip_files, "_MAX_DIRECTORY", 100)
    with pytest.raises(SourceRefused, match="list of members"):
        names(path)


def test_what_cannot_be_unpacked_is_unreadable(tmp_path: Path) -> None:
    """Encrypted members and unusual compression are listed; opening them is an error that says what to do."""
    path = make_zip(tmp_path / "a.zip", {"odd.txt": b"1" * 100}, zipfile.ZIP_LZMA)
    with open_files(str(path)) as files, pytest.raises(Unreadable, match="unusual"):
        files.open("odd.txt")
    path = make_zip(tmp_path / "b.zip", {"secret.txt": b"1" * 100})
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with open_files(str(path)) as files, pytest.raises(Unreadable, match="encrypted") as caught:
        files.open("secret.txt")
    assert "password" in caught.value.hint


def test_a_broken_zip_has_a_code_and_a_hint(tmp_path: Path) -> None:
    """A file that only ends in .zip, and half of a zip, are refused; a zip in a folder is a file like any other."""
    whole = make_zip(tmp_path / "a.zip", {"a.txt": os.urandom(1_000)})
    (tmp_path / "half.zip").write_bytes(whole.read_bytes()[:600])
    (tmp_path / "text.zip").write_bytes(b"no zip\n")
    for name in ("half.zip", "text.zip"):
        with pytest.raises(SourceRefused) as caught:
            names(tmp_path / name)
        assert (caught.value.code, "damaged" in caught.value.hint) == ("source_refused", True)
    assert names(tmp_path) == ["a.zip", "half.zip", "text.zip"]


def pack(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the bytes of a zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as packed:
        for name, data in members.items():
            packed.writestr(zipfile.ZipInfo(name, (2026, 11, 15, 9, 30, 0)), data, compression)
    return made.getvalue()


@pytest.mark.parametrize("in_memory", [0, 64_000_000])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_zips_in_a_zip_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int, compression: int
) -> None:
    """Of a zip of zips, as Notion exports it, the members of these are the files, from memory and from disk alike; two
    can be read at once, and a zip that is in these is a file like any other."""
    monkeypatch.setattr(zip_files, "_MAX_IN_MEMORY", in_memory)
    text = b"".join(b"%d\n" % number for number in range(100_000))
    one = pack({"a.md": text, "b/c.md": b"three\n", "deep.zip": pack({"d.md": b"4"}), ".git/x": b""})
    path = make_zip(tmp_path / "all.zip", {"1.zip": one, "folder/2.ZIP": pack({"a.md": b"two\n"})}, compression)
    with open_files(str(path)) as files:
        assert list(files.names) == ["1.zip/a.md", "1.zip/b/c.md", "1.zip/deep.zip", "folder/2.ZIP/a.md"]
        assert [files.size(name) for name in files.names[:2]] == [len(text), 6]
        assert files.modified("1.zip/a.md").startswith("2026-11-1")
        with files.open("1.zip/a.md") as first, files.open("folder/2.ZIP/a.md") as second:
            start = first.read(10)
            assert second.read() == b"two\n"
            assert start + first.read() == text
        assert (files.size("1.zip"), files.modified("none")) == (0, "")
        for missing in ("1.zip", "a.md", "none"):
            with pytest.raises(Unreadable):
                files.open(missing)
    assert os.listdir(tmp_path) == ["all.zip"]


def test_a_zip_with_other_files_is_read_as_it_is(tmp_path: Path) -> None:
    """A zip beside other files is not opened, and neither are zips that are in a folder."""
    path = make_zip(tmp_path / "a.zip", {"1.zip": pack({"a.md": b"1"}), "b.md": b"2"})
    assert names(path) == ["1.zip", "b.md"]
    assert names(tmp_path) == ["a.zip"]


def test_a_damaged_zip_in_a_zip_is_reported(tmp_path: Path) -> None:
    """What cannot be opened is named with the reason, in which zip it is; the rest is read."""
    good = pack({"a.md": b"1", "bomb.txt": b"0" * 5_000_000})
    path = make_zip(tmp_path / "a.zip", {"1.zip": good, "2.zip": b"no zip", "3.zip": good[:100]})
    data = bytearray(path.read_bytes())
    with open_files(str(path)) as files:
        assert list(files.names) == ["1.zip/a.md"]
        assert files.skipped == [("1.zip/bomb.txt", "too_large"), ("2.zip", "bad_zip"), ("3.zip", "bad_zip")]
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # the last member is encrypted
    path.write_bytes(data)
    with open_files(str(path)) as files:
        assert ("3.zip", "bad_zip") in files.skipped


def test_bombs_in_each_other_do_not_multiply(tmp_path: Path) -> None:
    """What a zip in a zip unpacks to is limited by its size on disk: 100 times in 20 times is too much."""
    stored = pack({f"{number}.txt": b"0" * 1_000_001 for number in range(40)}, zipfile.ZIP_STORED)
    text = os.urandom(10_000) + b"0" * 1_200_000
    same = pack({f"{number}.txt": text for number in range(40)})
    path = make_zip(tmp_path / "a.zip", {"1.zip": pack({"a.txt": text}), "2.zip": same, "3.zip": stored})
    with open_files(str(path)) as files:
        assert list(files.names) == ["1.zip/a.txt"]
        assert len(read(files, "1.zip/a.txt")) == len(text)
        assert files.skipped[0] == ("3.zip", "too_large")
        assert {(name.partition("/")[0], reason) for name, reason in files.skipped[1:]} == {("2.zip", "too_large")}


def test_members_of_all_zips_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of members is one for all the zips in a zip."""
    some = {f"{number}.md": b"" for number in range(6)}
    path = make_zip(tmp_path / "a.zip", {"1.zip": pack(some), "2.zip": pack(some)})
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 12)
    assert len(names(path)) == 12
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 11)
    with pytest.raises(SourceRefused, match="more than 11 members"):
        names(path)


def test_no_room_for_the_copy_of_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is an error that says what to do, and no zip is called damaged for it."""

    class FullFile(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda size: FullFile())
    path = make_zip(tmp_path / "a.zip", {"1.zip": pack({"a.md": b"1"})})
    with pytest.raises(SourceRefused, match="No space left") as caught:
        names(path)
    assert "name the folder" in caught.value.hint


def _read_everything(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        path.write_bytes(data)
        with suppress(CommonplaceError), open_files(str(path)) as files:
            for name in files.names:
                assert not {"", ".", ".."} & set(name.split("/"))
                assert files.size(name) >= 0
                assert files.modified(name) is not None
                with suppress(CommonplaceError), files.open(name) as stream:
                    while stream.read(1 << 16):
                        pass


_made = io.BytesIO()
with zipfile.ZipFile(_made, "w", zipfile.ZIP_DEFLATED) as _zip:
    for _name in ("a.txt", "folder/ü.md", "b.json"):
        _zip.writestr(zipfile.ZipInfo(_name, (2026, 11, 15, 9, 30, 0)), f"{_name} text " * 20)
SAMPLE = _made.getvalue()
changes = st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=12)


@given(changes, st.integers(0, len(SAMPLE)), st.binary(max_size=40))
def test_a_zip_with_changed_bytes_raises_only_our_errors(
    changed: list[tuple[int, int]], cut: int, added: bytes
) -> None:
    """Whatever bytes of a zip are changed, cut or put in, listing and reading give bytes or one of our errors."""
    data = bytearray(SAMPLE)
    for at, value in changed:
        data[at] = value
    _read_everything(bytes(data))
    _read_everything(bytes(data[:cut] + added + data[cut:]))
    _read_everything(pack({"1.zip": bytes(data), "2.zip": SAMPLE}))


@given(st.binary(max_size=300))
def test_random_bytes_are_no_zip(data: bytes) -> None:
    """Any bytes at all, alone or with the mark that ends a zip, raise only our errors."""
    _read_everything(data)
    _read_everything(data + b"PK\x05\x06" + data[:18].ljust(18, b"\0"))
