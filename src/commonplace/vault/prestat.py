"""Prestat: another process stats the files of a book while this one is still loading its modules.

The stats of ten thousand files take 30 ms, as long as a command takes to load. The result is a little older than the
question, so it can prove only that nothing has changed; otherwise the command looks again. cli/main.py starts and stops
it; memories/reconcile.py takes the result through the vault. Linux only (docs/adr/0013).
"""

from __future__ import annotations

import marshal
import mmap
import os
import stat as st
import sys

_ENDING = ".md"
# Bytes of the folder itself, some two thousand files: below that a fork costs more than it saves.
_LARGE_FOLDER = 1 << 16
_MIN_PROCESSORS = 2  # one to load, one to stat
_RESULT_BYTES = 1 << 24  # a quarter of a million notes; only pages that are written take memory


def survey_folder(fd: int, ending: str) -> tuple[list[str], list[str]]:
    """Return the lines of a survey (vault/port.py) for the files of this ending, and the names of the folders, sorted.

    Raises OSError when the folder cannot be listed.
    """
    lines: list[str] = []
    folders: list[str] = []
    add, regular, ends = lines.append, st.S_ISREG, -len(ending)
    with os.scandir(fd) as found:
        for item in found:
            name = item.name
            if name.endswith(ending):
                try:
                    stat = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since the listing began
                if regular(stat.st_mode):
                    # This is `Stat.signature`, written out for speed.
                    add(f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino} {name[:ends]}")
                    continue
            if item.is_dir(follow_symlinks=False):
                folders.append(name)
    folders.sort()
    return lines, folders


if sys.platform == "linux":
    _SIGKILL = 9  # importing `signal` takes a file handle, and there may be none left
    _running: tuple[int, tuple[int, int], mmap.mmap] | None = None  # child process, its folder, its shared memory

    def start_prestat(memories: str, project: str) -> None:
        """Fork a process that stats the folder a command will most likely ask for, if that is large.

        That is the folder of the project of this name, or else the one that was changed last. Call it only where this
        process has one thread. Errors are ignored: the command then looks for itself.
        """
        global _running  # noqa: PLW0603 - one child per process
        folder = _open_likely_folder(memories, project.casefold()) if _has_processors() else None
        if folder is None:
            return
        try:
            shared, place = mmap.mmap(-1, _RESULT_BYTES), _device_and_inode(folder)
            process = os.fork()
        except OSError:  # no more processes, files or memory: the command itself reports it if it must
            os.close(folder)
            return
        if process:
            os.close(folder)
            _running = process, place, shared
            return
        status = 1
        try:
            for stream in range(3):  # a program that reads the command's output must not wait for this process
                os.close(stream)
            data = _survey_to_bytes(folder)
            shared[: len(data)] = data
            status = 0
        finally:
            os._exit(status)

    def take_prestat(fd: int) -> tuple[str, list[str]] | None:
        """Return, once, the sorted survey lines of an open folder's notes and its folders' names.

        None if the child did not stat this folder, or did not finish.
        """
        global _running  # noqa: PLW0603 - as above
        if _running is None or _running[1] != _device_and_inode(fd):
            return None
        process, _, shared = _running
        try:
            status = os.waitpid(process, 0)[1]  # after Ctrl-C here, `stop_prestat` ends the child
        except ChildProcessError:  # our parent made us ignore SIGCHLD, so how the child ended is unknown
            status = -1
        _running = None
        return marshal.loads(shared) if status == 0 else None  # noqa: S302 - our own process made it

    def stop_prestat() -> None:
        """End the child if its result was not taken."""
        global _running
        if _running is not None:
            process, _running = _running[0], None
            try:
                if os.waitpid(process, os.WNOHANG)[0] == 0:
                    os.kill(process, _SIGKILL)
                    os.waitpid(process, 0)
            except OSError:  # SIGCHLD is ignored: the child has ended, and another process may have its number
                pass

    def _has_processors() -> bool:
        try:
            return len(os.sched_getaffinity(0)) >= _MIN_PROCESSORS
        except OSError:  # a sandbox forbids the question
            return False

    def _device_and_inode(fd: int) -> tuple[int, int]:
        found = os.fstat(fd)
        return found.st_dev, found.st_ino

    def _open_likely_folder(memories: str, project: str) -> int | None:
        """Open the folder that a command will most likely ask for; None if there is none or it is small."""
        projects = os.path.join(memories, "project")
        try:
            names = os.listdir(projects)
        except OSError:
            names = []
        places = {os.path.join(projects, name): project in (name, name.rpartition("-")[0]) for name in names}
        places[os.path.join(memories, "global")] = False
        found: list[tuple[bool, int, str]] = []
        for place, named in places.items():
            try:
                stat = os.lstat(place)
            except OSError:
                continue
            if st.S_ISDIR(stat.st_mode) and stat.st_size >= _LARGE_FOLDER:
                found.append((named, stat.st_mtime_ns, place))
        try:
            return os.open(max(found)[-1], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) if found else None
        except OSError:
            return None

    def _survey_to_bytes(folder: int) -> bytes:
        lines, folders = survey_folder(folder, _ENDING)
        # Leave out the book's own pages, and names with a line break, which would look like two lines.
        notes = (
            line
            for line in lines
            if (name := line.split(" ", 3)[3]) != "index" and name[:1] != "_" and "\n" not in name
        )
        return marshal.dumps(("\n".join(sorted(notes)), folders))

else:

    def start_prestat(memories: str, project: str) -> None:
        """Do nothing: only Linux has a prestat."""

    def take_prestat(fd: int) -> tuple[str, list[str]] | None:
        """Return None: only Linux has a prestat."""

    def stop_prestat() -> None:
        """Do nothing: only Linux has a prestat."""
