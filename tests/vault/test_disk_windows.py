"""The disk of Windows, as far as it can run elsewhere: its retries, its refusal of links, its order of moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commonplace.model.errors import CommonplaceError, LinkRefused
from commonplace.model.scope import LOCAL
from commonplace.vault import disk_windows
from commonplace.vault.disk_windows import WindowsDisk, with_retries
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER, BookPath
from commonplace.vault.port import ABSENT, Write
from tests.vault.conformance import VaultConformance
from tests.vault.subject import Subject
from tests.vault.test_conformance import disk_tree


class Held(OSError):
    """What Windows says, with its own number."""

    def __init__(self, winerror: int) -> None:
        super().__init__(13, "held")
        self.winerror = winerror


class Stubborn:
    """An action that fails a number of times before it works."""

    def __init__(self, failures: int, error: OSError) -> None:
        self.failures, self.error, self.calls = failures, error, 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error


@pytest.mark.parametrize("winerror", [5, 32, 33])
@pytest.mark.parametrize("failures", [0, 1, 19])
def test_a_file_that_is_held_for_a_moment(winerror: int, failures: int) -> None:
    """A sharing violation is tried again, with pauses that grow and end at about a second in all."""
    action, pauses = Stubborn(failures, Held(winerror)), list[float]()
    with_retries(action, pauses.append)
    assert action.calls == failures + 1
    assert len(pauses) == failures
    assert pauses == sorted(pauses)
    assert sum(pauses) < 1.5


def test_a_file_that_is_held_for_long() -> None:
    """After twenty attempts the error is the caller's."""
    action, pauses = Stubborn(1_000, Held(32)), list[float]()
    with pytest.raises(Held):
        with_retries(action, pauses.append)
    assert (action.calls, len(pauses)) == (20, 19)


@pytest.mark.parametrize("error", [Held(2), Held(183), OSError(13, "no winerror"), FileNotFoundError(2, "gone")])
def test_other_errors_are_not_tried_again(error: OSError) -> None:
    """What will not pass by itself is raised at once."""
    action, pauses = Stubborn(1, error), list[float]()
    with pytest.raises(OSError) as raised:
        with_retries(action, pauses.append)
    assert raised.value is error
    assert (action.calls, pauses) == (1, [])


def _move(source: str, target: str, flags: int) -> None:
    """What MoveFileEx does with these flags."""
    if flags & 1:
        os.replace(source, target)
    else:
        os.link(source, target, follow_symlinks=False)
        os.unlink(source)


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalVault:
    monkeypatch.setattr(disk_windows, "_move", _move)
    (tmp_path / "book").mkdir()
    return LocalVault(WindowsDisk(str(tmp_path / "book")))


class TestLocalVaultOnWindowsDisk(VaultConformance):
    @pytest.fixture
    def subject(self, windows: LocalVault, tmp_path: Path) -> Subject:
        return Subject(windows, lambda: disk_tree(tmp_path / "book"))


@pytest.mark.parametrize("place", ["memories/a.md", "memories", ".commonplace/locks/global.lock", ".commonplace"])
@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_links_are_refused_step_by_step(windows: LocalVault, tmp_path: Path, place: str, target: str) -> None:
    """Without descriptors of folders every step is looked at before it is taken: no link is followed."""
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_bytes(b"secret")
    (tmp_path / "book" / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "book" / place).symlink_to(outside / target)
    before = disk_tree(outside)
    path = BookPath("memories", "a.md")
    if place.startswith("memories"):
        with pytest.raises(LinkRefused):
            windows.read(LOCAL, KEEPER, path)
        for expected in ("any", ABSENT):
            with pytest.raises(CommonplaceError):
                windows.apply(LOCAL, KEEPER, [Write(path, b"x", expected)])
    else:
        with pytest.raises(LinkRefused), windows.lock(LOCAL, "global", 0):
            pass
    assert disk_tree(outside) == before
