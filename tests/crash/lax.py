"""Vaults that leave out one step on a real disk: the power cuts must catch each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from unittest import mock

from commonplace.model.scope import Space
from commonplace.vault import disk, disk_files
from commonplace.vault.commit import Commit
from commonplace.vault.disk_port import converting_os_errors
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath, View
from commonplace.vault.port import Change, Document, FolderEntry, Stat, VisibleCallback, Write, WrittenCallback


def _nothing(_: object) -> None:
    pass


class NoFileSync(LocalVault):
    """Renames files whose content is not on the medium."""

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        with mock.patch.multiple(disk_files.OsFile, start_sync=_nothing, sync=_nothing):
            return super().apply(space, view, changes, meanwhile, visible, written)


class NoFolderSync(LocalVault):
    """Leaves the new names to the file system."""

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        with mock.patch.object(disk.PosixFolder, "sync", _nothing):
            return super().apply(space, view, changes, meanwhile, visible, written)


class NoSync(NoFileSync, NoFolderSync):
    """Neither: temporary file and rename, as most programs do it."""


class AcknowledgesEarly(LocalVault):
    """Answers as soon as the temporary files are synced; gives them their names when the next call comes."""

    _late: tuple[ExitStack, Callable[[], None]] | None = None

    def apply(
        self,
        space: Space,
        view: View,
        changes: Sequence[Change],
        meanwhile: Callable[[], None] | None = None,
        visible: VisibleCallback | None = None,
        written: WrittenCallback | None = None,
    ) -> list[Stat | None]:
        self._catch_up()
        with converting_os_errors("staging"), ExitStack() as stack:
            commit = stack.enter_context(Commit(self._disk))
            for change in changes:
                commit._check(change)
            commit._stage([change for change in changes if isinstance(change, Write)])
            if meanwhile:
                meanwhile()
            commit._end_syncing()

            def publish() -> None:
                for change in changes:
                    commit._publish(change)
                commit.sync_folders()

            stats = [commit._stats.get(change.path) for change in changes]
            if visible:
                visible(stats)  # which may read files, and must not bring on what is late
            self._late = (stack.pop_all(), publish)
            return stats

    def read(self, space: Space, view: View, path: BookPath) -> Document:
        self._catch_up()
        return super().read(space, view, path)

    def stat(self, space: Space, view: View, path: BookPath) -> Stat | None:
        self._catch_up()
        return super().stat(space, view, path)

    def list_folder(self, space: Space, view: View, path: BookPath) -> list[FolderEntry]:
        self._catch_up()
        return super().list_folder(space, view, path)

    def close(self) -> None:
        if self._late is not None:
            self._late[0].close()
        super().close()

    def _catch_up(self) -> None:
        late, self._late = self._late, None
        if late is not None:
            with converting_os_errors("publishing late"), late[0]:
                late[1]()


BUGS: dict[str, type[LocalVault]] = {
    "no sync at all": NoSync,
    "no sync of the file": NoFileSync,
    "no sync of the folder": NoFolderSync,
    "acknowledged before the rename": AcknowledgesEarly,
}
