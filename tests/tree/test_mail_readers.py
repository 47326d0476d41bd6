"""The readers of mbox, Maildir and .eml, on files, folders and zips as mail programs leave them."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

import pytest

from commonplace.model.errors import Unreadable
from commonplace.tree.readers import eml, maildir, mbox
from commonplace.tree.source import MAX_MESSAGE, ReadOptions, SkippedUnit, SourceUnit
from commonplace.vault.named_files import open_files

FROM = b"From ann@example.org Sun Nov 15 09:30:00 2026\n"
READERS: list[ModuleType] = [mbox, maildir, eml]
_split = mbox.split_mbox


def mail(subject: str, *headers: str, body: str = "hello") -> bytes:
    """Return a message."""
    lines = ["From: Ann <ann@example.org>", f"Subject: {subject}", "Date: Sun, 15 Nov 2026 09:30:00 +0000", *headers]
    return "\n".join([*lines, "", body, ""]).encode()


def write(root: Path, files: Mapping[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def read(reader: ModuleType, given: Path, *me: str) -> list[SourceUnit | SkippedUnit]:
    """Return what a reader yields, after it has matched."""
    with open_files(str(given)) as files:
        assert reader.matches(files)
        return list(reader.read(files, ReadOptions(me=frozenset(me))))


def units(found: list[SourceUnit | SkippedUnit]) -> list[SourceUnit]:
    """Return what was read, if nothing was skipped."""
    assert not any(isinstance(unit, SkippedUnit) for unit in found)
    return [unit for unit in found if isinstance(unit, SourceUnit)]


def test_readers_follow_the_protocol() -> None:
    """Each module is a reader of mail with a name of its own."""
    assert [(reader.NAME, reader.KIND) for reader in READERS] == [
        ("mbox", "email"),
        ("maildir", "email"),
        ("eml", "email"),
    ]


def test_an_mbox_file_is_read(tmp_path: Path) -> None:
    """Messages come in order, with the number and the byte where they are."""
    first = FROM + mail("one") + b"\n"
    path = write(tmp_path, {"all.mbox": first + FROM + mail("two")}) / "all.mbox"
    found = units(read(mbox, path, "ann@example.org"))
    assert [unit.title for unit in found] == ["one", "two"]
    assert [unit.place for unit in found] == ["message 1 at byte 0", f"message 2 at byte {len(first)}"]
    assert found[0].labels == ("all",)
    assert found[0].signals == {"sent"}


def test_takeout_labels_are_kept(tmp_path: Path) -> None:
    """Labels of Gmail are decoded and say spam, trash and sent in the user's language; the file's name is no label."""
    labels = ["Posteingang,=?UTF-8?Q?Caf=C3=A9?=", "Spam", '"a, b",Gesendet', "=?UTF-8?Q?Corbeille?="]
    data = b"\n".join(FROM + mail("x", f"X-Gmail-Labels: {label}") for label in labels)
    with zipfile.ZipFile(tmp_path / "takeout.zip", "w") as archive:
        archive.writestr("Takeout/Mail/All mail Including Spam and Trash.mbox", data)
        archive.writestr("Takeout/archive_browser.html", "<html>")
    found = units(read(mbox, tmp_path / "takeout.zip"))
    assert [unit.labels for unit in found] == [("Posteingang", "Café"), ("Spam",), ("a, b", "Gesendet"), ("Corbeille",)]
    assert [sorted(unit.signals) for unit in found] == [[], ["spam"], ["sent"], ["trash"]]


def test_folders_of_mbox_files_are_one_source(tmp_path: Path) -> None:
    """Files of Thunderbird and folders of Apple Mail are mailboxes; what is beside them is not read."""
    box = FROM + mail("x")
    write(
        tmp_path,
        {
            "Inbox": box,
            "Inbox.msf": b"// <!-- index -->",
            "Inbox.sbd/Work": box,
            "Trash": box,
            "Plans.mbox/mbox": box,
            "Plans.mbox/table_of_contents": b"\x00\x01",
            "Empty": b"",
        },
    )
    found = units(read(mbox, tmp_path))
    assert [unit.labels for unit in found] == [("Inbox",), ("Inbox/Work",), ("Plans",), ("Trash",)]
    assert found[1].place == "Inbox.sbd/Work, message 1 at byte 0"
    assert [sorted(unit.signals) for unit in found] == [[], [], [], ["trash"]]


def test_deleted_messages_of_a_mailbox_are_trash(tmp_path: Path) -> None:
    """A message that a mailbox keeps only until it is compacted is in the trash."""
    headers = ["X-Mozilla-Status: 0009", "X-Mozilla-Status: 0001", "X-Status: AD", "X-Mozilla-Status: zzz"]
    path = write(tmp_path, {"box": b"\n".join(FROM + mail("x", header) for header in headers)}) / "box"
    assert [sorted(unit.signals) for unit in units(read(mbox, path))] == [["trash"], [], ["trash"], []]


def test_a_message_without_a_date_has_that_of_its_mailbox(tmp_path: Path) -> None:
    """Without a Date and Received, the From_ line says when; without that, the time of the file does."""
    old = b"From ann@example.org Thu Jan  1 00:00:00 1970\nSubject: b\n\nb\n"
    path = write(tmp_path, {"box": FROM + b"Subject: a\n\na\n\n" + old}) / "box"
    os.utime(path, (1_600_000_000, 1_600_000_000))
    found = units(read(mbox, path))
    assert [(unit.occurred, unit.offset) for unit in found] == [
        ("2026-11-15T09:30:00Z", None),
        ("2020-09-13T12:26:40Z", None),
    ]


def test_a_message_that_is_too_large_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named with its place, in an mbox file and alone, and the rest is read."""
    monkeypatch.setattr(mbox, "split_mbox", lambda file: _split(file, 1_000))
    monkeypatch.setattr(eml, "MAX_MESSAGE", 1_000)
    large = mail("large", body="x" * 2_000)
    first = FROM + mail("one") + b"\n"
    path = write(tmp_path, {"box": first + FROM + large + b"\n" + FROM + mail("two")}) / "box"
    one, skipped, two = read(mbox, path)
    assert isinstance(one, SourceUnit)
    assert isinstance(two, SourceUnit)
    assert skipped == SkippedUnit(f"message 2 at byte {len(first)}", "too_large")
    folder = write(tmp_path / "mails", {"a.eml": large, "b.eml": mail("b")})
    assert read(eml, folder)[0] == SkippedUnit("a.eml", "too_large")


def test_a_maildir_is_read(tmp_path: Path) -> None:
    """Messages of cur and new are read, with the flags and folders that their paths say; tmp is not."""
    write(
        tmp_path,
        {
            "cur/1.host:2,S": mail("inbox"),
            "cur/2.host!2,ST": mail("deleted"),
            "new/3.host": mail("new"),
            "tmp/4.host": mail("half"),
            ".Sent/cur/5.host;2,S": mail("sent"),
            ".Archive.2026/cur/6.host": mail("old"),
            ".Entw&APw-rfe/cur/7.host": mail("umlaut"),
            "dovecot-uidlist": b"3 V1",
            "cur/.hidden": b"",
        },
    )
    for folder in (".Sent/new", ".Archive.2026/new", ".Entw&APw-rfe/new"):
        (tmp_path / folder).mkdir()
    found = {unit.title: unit for unit in units(read(maildir, tmp_path))}
    assert {title: unit.labels for title, unit in found.items()} == {
        "inbox": (),
        "deleted": (),
        "new": (),
        "sent": ("Sent",),
        "old": ("Archive/2026",),
        "umlaut": ("Entwürfe",),
    }
    assert found["deleted"].signals == {"trash"}
    assert found["sent"].signals == {"sent"}
    assert found["sent"].place == ".Sent/cur/5.host;2,S"


def test_a_folder_in_a_maildir_can_be_named(tmp_path: Path) -> None:
    """Of .Sent, or of the folder cur in it, the name of the Maildir still says that its messages were sent."""
    write(tmp_path, {"mail/.Sent/cur/1.host:2,S": mail("x"), "mail/.Sent/new/2.host": mail("y")})
    assert [unit.signals for unit in units(read(maildir, tmp_path / "mail/.Sent"))] == [{"sent"}] * 2
    assert [unit.signals for unit in units(read(maildir, tmp_path / "mail/.Sent/cur"))] == [{"sent"}]


def test_eml_files_are_read(tmp_path: Path) -> None:
    """The folder of a file is a label; a mark of Unicode before the headers, or their case, does not matter."""
    write(
        tmp_path,
        {
            "a.eml": mail("a"),
            "Projects/Sent/b.EML": b"\xef\xbb\xbf" + mail("b"),
            "c.txt": mail("c"),
            "d.eml": b"\n\n" + mail("d"),
        },
    )
    found = units(read(eml, tmp_path))
    assert [unit.title for unit in found] == ["b", "a", "d"]
    assert [unit.labels for unit in found] == [("Projects/Sent",), (), ()]
    assert found[0].signals == {"sent"}
    assert {unit.author.address for unit in found} == {"ann@example.org"}


def test_apple_mail_is_read(tmp_path: Path) -> None:
    """Of an .emlx file, the message is what its first line counts; below are flags. A partial one is not whole."""

    def emlx(subject: str, flags: int) -> bytes:
        data = mail(subject)
        plist = f"<plist><dict><key>flags</key><integer>{flags}</integer></dict></plist>"
        return b"%-10d\n%b%b" % (len(data), data, plist.encode())

    write(
        tmp_path,
        {
            "Work.mbox/ABC/Data/Messages/1.emlx": emlx("kept", 1),
            "Work.mbox/ABC/Data/Messages/2.emlx": emlx("deleted", 0b11),
            "Work.mbox/ABC/Data/Messages/3.partial.emlx": emlx("junk", 1 << 24),
            "Work.mbox/ABC/Data/Messages/4.emlx": mail("no length"),
        },
    )
    found = units(read(eml, tmp_path))
    assert [unit.title for unit in found] == ["kept", "deleted", "junk", "no length"]
    assert [unit.text for unit in found] == ["hello"] * 4
    assert [sorted(unit.signals) for unit in found] == [[], ["trash"], ["spam"], []]
    assert [unit.is_whole for unit in found] == [True, True, False, True]
    assert {unit.labels for unit in found} == {("Work",)}


def test_readers_leave_other_sources_alone(tmp_path: Path) -> None:
    """No reader matches what another one reads, or what is no mail."""
    sources = {
        "mbox": write(tmp_path / "1", {"box.mbox": FROM + mail("x")}),
        "maildir": write(tmp_path / "2", {"cur/1": mail("x"), "new/2": mail("y")}),
        "eml": write(tmp_path / "3", {"x.eml": mail("x")}),
        "": write(tmp_path / "4", {"notes.md": b"# From here\n", "From": b"From Russia with love\nand so on\n"}),
        "empty": write(tmp_path / "5", {"box": b"", "x.eml": b"", "cur/1": b""}),
    }
    for name, folder in sources.items():
        with open_files(str(folder)) as files:
            assert [reader.NAME for reader in READERS if reader.matches(files)] == (
                [name] if name in ("mbox", "maildir", "eml") else []
            )


class DamagedFiles:
    """Files of which the first cannot be opened, and no other can be read to its end."""

    given = "/mail"

    def __init__(self, names: list[str], start: bytes) -> None:
        self.names, self._start = names, start

    def size(self, _: str) -> int:
        """Return a size."""
        return MAX_MESSAGE

    def modified(self, _: str) -> str:
        """Return no time."""
        return ""

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a file."""
        if name == self.names[0]:
            raise Unreadable
        yield cast("BinaryIO", DamagedFile(self._start))


class DamagedFile:
    """A file that can be read to the end of its first bytes."""

    def __init__(self, start: bytes) -> None:
        self._start = start

    def read(self, _: int) -> bytes:
        """Return the first bytes, then fail."""
        start, self._start = self._start, b""
        if not start:
            raise Unreadable
        return start


def test_a_mailbox_that_breaks_off_is_named() -> None:
    """Of an mbox file that cannot be read to its end, the messages before that are kept, and the place is named."""
    start = FROM + mail("one") + b"\n" + FROM + mail("two") * 50
    cannot_open, one, breaks_off = mbox.read(DamagedFiles(["a", "b"], start), ReadOptions())
    assert cannot_open == SkippedUnit("a", "unreadable")
    assert isinstance(one, SourceUnit)
    assert breaks_off == SkippedUnit("after b, message 1 at byte 0", "unreadable")


@pytest.mark.parametrize(("reader", "names"), [(maildir, ["cur/a", "cur/b"]), (eml, ["a.eml", "b.eml"])])
def test_files_that_cannot_be_read_are_named(reader: ModuleType, names: list[str]) -> None:
    """A message whose file cannot be opened or read is skipped, and named."""
    found = list(reader.read(DamagedFiles(names, b""), ReadOptions()))
    assert found == [SkippedUnit(name, "unreadable") for name in names]
    assert not reader.matches(DamagedFiles(names, b""))
