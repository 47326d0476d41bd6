"""What every vault promises (commonplace.vault.port), as tests that each implementation runs.

A test class inherits VaultConformance and has a fixture `subject`. Everything goes through the port, but for `raw`:
what is really there, half-made files and all.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from commonplace.model.errors import AlreadyExists, CommonplaceError, InvalidPath, LinkRefused, NotFound
from commonplace.model.errors import RevisionMismatch as Mismatch
from commonplace.model.names import revision_of
from commonplace.model.scope import LOCAL
from commonplace.vault.paths import EVERYTHING, KEEPER, ROOT, BookPath, resolve
from commonplace.vault.port import (
    ABSENT,
    ANY,
    Change,
    Delete,
    FileKind,
    Move,
    Stat,
    Write,
)
from tests.vault.conformance_access import AccessConformance
from tests.vault.subject import Subject

A, B, C = (BookPath("data", name) for name in ("a.md", "b.md", "c.md"))
DEEP = BookPath("data", "new", "deep", "d.md")
NEVER = "0" * 32  # a revision that no file here has


REFUSED: list[tuple[Change, type[CommonplaceError]]] = [
    (Write(A, b"x", ABSENT), AlreadyExists),
    (Write(A, b"x", NEVER), Mismatch),
    (Write(C, b"x", NEVER), Mismatch),
    (Write(DEEP, b"x", NEVER), Mismatch),
    (Write(BookPath("data"), b"x"), LinkRefused),
    (Write(BookPath("data"), b"x", ABSENT), AlreadyExists),
    (Write(BookPath("data"), b"x", NEVER), LinkRefused),
    (Write(A / "below-a-file.md", b"x"), NotFound),
    (Write(A / "below-a-file.md", b"x", ABSENT), NotFound),
    (Write(A / "below-a-file.md", b"x", NEVER), NotFound),
    (Write(ROOT, b"x"), InvalidPath),
    (Write(ROOT, b"x", ABSENT), InvalidPath),
    (Write(BookPath("data", ".cp-1f-0a0b0c.tmp"), b"x"), InvalidPath),
    (Delete(C), NotFound),
    (Delete(A, NEVER), Mismatch),
    (Delete(C, NEVER), Mismatch),
    (Delete(A, ABSENT), AlreadyExists),
    (Delete(BookPath("data")), LinkRefused),
    (Delete(BookPath("data"), NEVER), LinkRefused),
    (Delete(A / "below-a-file.md"), NotFound),
    (Delete(ROOT), InvalidPath),
    (Move(C, DEEP), NotFound),
    (Move(A, B), AlreadyExists),
    (Move(A, A), AlreadyExists),
    (Move(A, BookPath("folder")), AlreadyExists),
    (Move(A, BookPath("data")), InvalidPath),
    (Move(BookPath("data"), BookPath("elsewhere")), LinkRefused),
    (Move(A, B / "below-a-file.md"), NotFound),
    (Move(A, ROOT), InvalidPath),
    (Move(ROOT, DEEP), InvalidPath),
    (Move(A, BookPath("data", ".cp-1f-0a0b0c.tmp")), InvalidPath),
]


class FileConformance:
    @pytest.mark.parametrize("data", [b"", b"text\n", bytes(range(256)), b"\r\n\0\xff" * 50_000])
    def test_bytes_come_back(self, subject: Subject, data: bytes) -> None:
        """What was written is read back byte for byte, with the revision of its bytes and its size."""
        subject.apply(Write(A, data))
        document = subject.vault.read(LOCAL, EVERYTHING, A)
        assert (document.data, document.revision) == (data, revision_of(data))
        assert (document.stat.kind, document.stat.size) == (FileKind.FILE, len(data))

    def test_a_survey_has_what_a_listing_has(self, subject: Subject) -> None:
        """A survey has the files of a folder with this ending, as their stat says, its folders, and nothing else."""
        other = A.parent / "plain.txt"
        subject.apply(Write(A, b"1"), Write(DEEP, b"22"), Write(other, b"333"))
        listed = subject.vault.list_folder(LOCAL, EVERYTHING, A.parent)
        survey = subject.vault.survey(LOCAL, EVERYTHING, A.parent, ".md")
        assert survey.files == {
            name.removesuffix(".md"): stat.signature
            for name, stat in listed
            if stat.kind is FileKind.FILE and name.endswith(".md")
        }
        assert A.name.removesuffix(".md") in survey.files and other.name not in survey.files
        assert sorted(survey.lines) == sorted(f"{looks} {name}" for name, looks in survey.files.items())
        assert survey.folders == [name for name, stat in listed if stat.kind is FileKind.FOLDER]
        with pytest.raises(NotFound):
            subject.vault.survey(LOCAL, EVERYTHING, A.parent / "nowhere", ".md")

    def test_no_prestat_unless_one_was_started(self, subject: Subject) -> None:
        """A process that started no prestat gets none, and looks for itself."""
        subject.apply(Write(A, b"1"))
        assert subject.vault.take_prestat(LOCAL, A.parent) is None

    def test_apply_answers_the_stat_that_reading_sees(self, subject: Subject) -> None:
        """The stat of each Write is the one that stat, listing and reading give afterwards; others have none."""
        subject.apply(Write(A, b"1"), Write(B, b"22"))
        changes: list[Change] = [Write(A, b"333"), Move(B, C), Write(DEEP, b"4444")]
        first, none, last = subject.vault.apply(LOCAL, EVERYTHING, changes)
        assert none is None
        assert first == subject.vault.stat(LOCAL, EVERYTHING, A) == subject.vault.read(LOCAL, EVERYTHING, A).stat
        listed = {item.name: item.stat for item in subject.vault.list_folder(LOCAL, EVERYTHING, DEEP.parent)}
        assert listed == {"d.md": last}

    def test_a_caller_can_do_something_else_meanwhile(self, subject: Subject) -> None:
        """What is done while the changes are on their way sees none of them, what is done when they are there sees all,
        with their stats; if the first fails, nothing has changed."""
        subject.apply(Write(A, b"old"))
        changes: list[Change] = [Write(A, b"new"), Write(DEEP, b"deep")]
        seen: list[object] = []

        def meanwhile() -> None:
            seen.append((subject.read(A), subject.vault.stat(LOCAL, EVERYTHING, DEEP)))

        def visible(stats: Sequence[Stat | None]) -> None:
            assert list(stats) == [subject.vault.stat(LOCAL, EVERYTHING, path) for path in (A, DEEP)]
            seen.append([subject.read(path) for path in (A, DEEP)])

        def failing() -> None:
            meanwhile()
            raise NotFound("Something else.")

        before = subject.raw()
        with pytest.raises(NotFound, match="Something else"):
            subject.vault.apply(LOCAL, EVERYTHING, changes, failing, visible)
        assert subject.raw() == before and seen == [(b"old", None)]
        subject.vault.apply(LOCAL, EVERYTHING, changes, meanwhile, visible)
        assert seen == [(b"old", None), (b"old", None), [b"new", b"deep"]]

    def test_a_write_changes_the_stat(self, subject: Subject) -> None:
        """A file that was replaced by another of the same size looks different from outside."""
        (old,) = subject.vault.apply(LOCAL, EVERYTHING, [Write(A, b"one")])
        (new,) = subject.vault.apply(LOCAL, EVERYTHING, [Write(A, b"two")])
        assert old is not None
        assert new is not None
        assert (old.mtime_ns, old.inode) != (new.mtime_ns, new.inode)

    def test_what_is_not_there(self, subject: Subject) -> None:
        """Reading or listing nothing is NotFound and its stat is None, also below a file; an empty book lists empty."""
        assert subject.names(ROOT) == []
        subject.apply(Write(A, b"x"))
        for path in (C, DEEP, A / "below.md", A / "below" / "it.md"):
            assert subject.vault.stat(LOCAL, EVERYTHING, path) is None
            with pytest.raises(NotFound):
                subject.read(path)
        for path in (BookPath("nothing"), DEEP.parent, A):
            with pytest.raises(NotFound):
                subject.names(path)

    def test_folders(self, subject: Subject) -> None:
        """Folders come with the files in them, are stated as folders, cannot be read, and stay when they are empty."""
        subject.apply(Write(DEEP, b"x"))
        for path in (ROOT, BookPath("data"), DEEP.parent):
            stat = subject.vault.stat(LOCAL, EVERYTHING, path)
            assert stat is not None
            assert stat.kind is FileKind.FOLDER
            with pytest.raises(LinkRefused):
                subject.read(path)
        subject.apply(Delete(DEEP))
        assert subject.names(DEEP.parent) == []
        assert subject.names(DEEP.parent.parent) == ["deep"]

    def test_listing(self, subject: Subject) -> None:
        """A listing has the direct children of a folder only, sorted, with their kinds."""
        subject.apply(*(Write(BookPath("data", *path.split("/")), b"") for path in ("b", "a/x/y", "B", "é", "a/z")))
        listed = subject.vault.list_folder(LOCAL, EVERYTHING, BookPath("data"))
        file, folder = FileKind.FILE, FileKind.FOLDER
        kinds = [(item.name, item.stat.kind) for item in listed]
        assert kinds == [("B", file), ("a", folder), ("b", file), ("é", file)]

    def test_write_any(self, subject: Subject) -> None:
        """ANY puts the bytes there whatever was there, in folders that it makes."""
        subject.apply(Write(DEEP, b"one", ANY))
        subject.apply(Write(DEEP, b"two", ANY))
        assert subject.read(DEEP) == b"two"

    def test_write_absent(self, subject: Subject) -> None:
        """ABSENT makes a file where there is none, and leaves the one that is there alone."""
        subject.apply(Write(DEEP, b"first", ABSENT))
        with pytest.raises(AlreadyExists):
            subject.apply(Write(DEEP, b"second", ABSENT))
        assert subject.read(DEEP) == b"first"

    def test_write_of_a_revision(self, subject: Subject) -> None:
        """A write that names a revision replaces exactly that one."""
        subject.apply(Write(A, b"one"))
        subject.apply(Write(A, b"two", revision_of(b"one")))
        with pytest.raises(Mismatch):
            subject.apply(Write(A, b"three", revision_of(b"one")))
        assert subject.read(A) == b"two"

    def test_delete(self, subject: Subject) -> None:
        """A deleted file is gone, its neighbours are not; with a revision only that one goes."""
        subject.apply(Write(A, b"a"), Write(B, b"b"), Write(C, b"c"))
        subject.apply(Delete(A))
        subject.apply(Delete(B, revision_of(b"b")))
        assert subject.names(BookPath("data")) == ["c.md"]

    def test_move(self, subject: Subject) -> None:
        """A moved file has its bytes at the new place, in folders made for it, and is nowhere else."""
        subject.apply(Write(A, b"a"))
        subject.apply(Move(A, DEEP))
        assert subject.read(DEEP) == b"a"
        assert subject.names(BookPath("data")) == ["new"]
        subject.apply(Move(DEEP, DEEP.parent / "beside.md"))
        assert subject.names(DEEP.parent) == ["beside.md"]

    @pytest.mark.parametrize(("change", "error"), REFUSED, ids=lambda value: getattr(value, "code", repr(value)))
    def test_a_refused_change_leaves_everything_as_it_was(
        self, subject: Subject, change: Change, error: type[CommonplaceError]
    ) -> None:
        """Whatever cannot be done is refused with its own error, and nothing of its group happens: not a byte, not a
        folder, not a temporary file."""
        subject.apply(Write(A, b"a"), Write(B, b"b"), Write(BookPath("folder", "x.md"), b"x"))
        before = subject.raw()
        others = [Write(BookPath("other", "e", "1.md"), b"1"), Write(BookPath("other", "f.md"), b"2", ABSENT)]
        for group in ([change], [change, *others], [*others, change], [others[0], change, others[1]]):
            with pytest.raises(CommonplaceError) as refused:
                subject.apply(*group)
            assert type(refused.value) is error
            assert subject.raw() == before

    @pytest.mark.parametrize(
        "changes",
        [
            [Write(C, b"1"), Write(C, b"2")],
            [Write(C, b"1", ABSENT), Write(C, b"2", ABSENT)],
            [Write(A, b"1"), Delete(A)],
            [Delete(A), Delete(A)],
            [Move(A, C), Move(B, C)],
            [Move(A, C), Write(A, b"1")],
            [Move(A, C), Delete(A)],
        ],
        ids=repr,
    )
    def test_a_group_names_a_path_once(self, subject: Subject, changes: list[Change]) -> None:
        """Two changes of one path in a group have no order that everybody would agree on: the group is refused."""
        subject.apply(Write(A, b"a"), Write(B, b"b"))
        before = subject.raw()
        with pytest.raises(InvalidPath):
            subject.apply(*changes)
        assert subject.raw() == before

    @pytest.mark.parametrize("order", [1, -1])
    @pytest.mark.parametrize("expected", [ANY, ABSENT])
    def test_a_name_is_a_file_or_a_folder(self, subject: Subject, order: int, expected: str) -> None:
        """A group in which one name would be both a file and a folder is refused as a whole."""
        group = [Write(C, b"1", expected), Write(C / "below.md", b"2", expected)][::order]
        before = subject.raw()
        with pytest.raises(CommonplaceError):
            subject.apply(*group)
        assert subject.raw() == before

    def test_a_large_group(self, subject: Subject) -> None:
        """A group may be larger than the number of files that are open at one time."""
        paths = [resolve(f"/data/{number % 7}/{number}.md") for number in range(300)]
        subject.apply(*(Write(path, str(path).encode(), ABSENT) for path in paths))
        assert all(subject.read(path) == str(path).encode() for path in paths)
        assert sum(data is not None for data in subject.raw().values()) == 300

    def test_an_empty_group(self, subject: Subject) -> None:
        """No changes are no work and no error."""
        assert subject.vault.apply(LOCAL, EVERYTHING, []) == []
        assert subject.raw() == {}

    def test_sweep_leaves_files_alone(self, subject: Subject) -> None:
        """Sweeping removes nothing that anybody wrote, and a folder that is not there needs none."""
        subject.apply(Write(A, b"a"), Write(BookPath("data", ".cp-notes.md"), b"mine"))
        before = subject.raw()
        assert subject.vault.sweep(LOCAL, BookPath("data")) == 0
        assert subject.vault.sweep(LOCAL, BookPath("nowhere")) == 0
        assert subject.vault.list_temp_files(LOCAL, BookPath("data")) == []
        assert subject.vault.list_temp_files(LOCAL, BookPath("nowhere")) == []
        assert subject.raw() == before

    def test_the_private_folder_is_a_folder_like_others(self, subject: Subject) -> None:
        """The keeper's own files are read, listed and changed as any other."""
        path = BookPath(".commonplace", "trash", "x.md")
        subject.vault.apply(LOCAL, KEEPER, [Write(path, b"old")])
        assert subject.vault.read(LOCAL, KEEPER, path).data == b"old"
        assert [item.name for item in subject.vault.list_folder(LOCAL, KEEPER, ROOT)] == [".commonplace"]


class VaultConformance(FileConformance, AccessConformance):
    """All of it."""
