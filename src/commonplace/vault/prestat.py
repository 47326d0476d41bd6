"""A look at the files of a book that another process takes while this one is still loading what it needs.

Ten thousand files are looked at in 30 ms, which is as long as a command takes to load. What is seen so is a little
older than what is asked for: it may say that nothing has changed, and of all else whoever asks makes sure for himself.
On Linux alone; elsewhere nobody looks (docs/adr/0013-a-glance-while-loading.md).
"""

from __future__ import annotations

import marshal
import os
import stat as st
import sys

TYPE_CHECKING = False  # as in typing: a command begins with this module, and has loaded nothing else yet
if TYPE_CHECKING:
    import mmap

_ENDING = ".md"
_LARGE = 1 << 16  # bytes of a folder itself: some two thousand files; fewer are sooner looked at than given to another
_AT_LEAST = 2  # processors: one to load, one to look
_ROOM = 1 << 24  # bytes for what is seen, of which only those are taken that are filled: a quarter of a million notes


def look(fd: int, ending: str) -> tuple[list[str], list[str]]:
    """A line for each file of a folder whose name ends so, and the names of its folders in order."""
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
                    add(f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino} {name[:ends]}")  # `looks`, unrolled
                    continue
            if item.is_dir(follow_symlinks=False):
                folders.append(name)
    folders.sort()
    return lines, folders


if sys.platform == "linux":
    _KILL = 9  # signal.SIGKILL: loading that module takes a file handle, and there may be none left
    _begun: tuple[int, tuple[int, int], mmap.mmap] | None = None  # the process that looks, where, and what it fills

    def begin(memories: str, project: str) -> None:
        """Have the folder looked at that most likely will be, if it is large: that of a project of this name, or else
        the one that was changed last. For a process of our own, which has one thread."""
        global _begun  # noqa: PLW0603 - a process is loaded once
        folder = _likely(memories, project.casefold()) if _can_look() else None
        if folder is None:
            return
        try:
            import mmap  # noqa: PLC0415 - few books are so large

            shared, place = mmap.mmap(-1, _ROOM), _place(folder)
            process = os.fork()
        except (ImportError, OSError):  # no more processes, files or memory: the command itself will say so, if it must
            os.close(folder)
            return
        if process:
            os.close(folder)
            _begun = process, place, shared
            return
        status = 1
        try:
            for stream in range(3):  # who waits for the end of the command's output does not wait for this
                os.close(stream)
            data = _glance(folder)
            shared[: len(data)] = data
            status = 0
        finally:
            os._exit(status)

    def taken(fd: int) -> tuple[str, list[str]] | None:
        """What was seen of a folder that is open here, once: the lines of its notes in order, and the names of its
        folders. None: nobody has looked at it."""
        global _begun  # noqa: PLW0603 - as above
        if _begun is None or _begun[1] != _place(fd):
            return None
        process, _, shared = _begun
        try:
            status = os.waitpid(process, 0)[1]  # Ctrl-C leaves it to `end`
        except ChildProcessError:  # whoever started us wants to hear of no child: nobody knows how this one ended
            status = -1
        _begun = None
        return marshal.loads(shared) if status == 0 else None  # noqa: S302 - our own process made it

    def end() -> None:
        """Nobody wants to know any more."""
        global _begun
        if _begun is not None:
            process, _begun = _begun[0], None
            try:
                if os.waitpid(process, os.WNOHANG)[0] == 0:
                    os.kill(process, _KILL)
                    os.waitpid(process, 0)
            except OSError:  # whoever started us hears of no child: this one has ended, and another may have its number
                pass

    def _can_look() -> bool:
        try:
            return len(os.sched_getaffinity(0)) >= _AT_LEAST
        except OSError:  # a sandbox that keeps it to itself
            return False

    def _place(fd: int) -> tuple[int, int]:
        found = os.fstat(fd)
        return found.st_dev, found.st_ino

    def _likely(memories: str, project: str) -> int | None:
        """The folder that a question is most likely about, open, if it is large."""
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
            if st.S_ISDIR(stat.st_mode) and stat.st_size >= _LARGE:
                found.append((named, stat.st_mtime_ns, place))
        try:
            return os.open(max(found)[-1], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) if found else None
        except OSError:
            return None

    def _glance(folder: int) -> bytes:
        lines, folders = look(folder, _ENDING)
        # Neither the book's own pages, nor a name on two lines: what is seen is handed over as lines.
        mine = (
            line
            for line in lines
            if (name := line.split(" ", 3)[3]) != "index" and name[:1] != "_" and "\n" not in name
        )
        return marshal.dumps(("\n".join(sorted(mine)), folders))

else:

    def begin(memories: str, project: str) -> None:
        """Nobody looks."""

    def taken(fd: int) -> tuple[str, list[str]] | None:
        """Nobody has looked."""

    def end() -> None:
        """Nobody looks."""
