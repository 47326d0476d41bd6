"""Only the three disk modules of the vault change files: checked in the source of every other module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import commonplace

SOURCE = Path(commonplace.__file__).parent
WRITERS = {"vault/disk.py", "vault/disk_windows.py", "vault/disk_files.py"}
# Databases are derived or disposable, and SQLite writes them: these make the file, 0600, and move a damaged one aside.
DATABASES = {"index/sqlite/database.py", "state/database.py"}
# These touch no book: a text in the user's editor, the folder of the scratch book, and nowhere (os.devnull).
ELSEWHERE = {"cli/review.py", "cli/tour.py", "cli/main.py", "cli/__init__.py"}
# This writes to standard output, in one call.
ELSEWHERE |= {"hooks/main.py"}
# This appends to the log of hook runs: it must work before anything else of ours is loaded.
ELSEWHERE |= {"vault/hook_runs.py"}
# These only read: where a temporary folder is, and what a service answers.
ELSEWHERE |= {"embed/transformer.py", "embed/service.py"}
ELSEWHERE |= {"mcp/stdio.py"}  # writes to standard output, and opens the null device in the place of standard input
ELSEWHERE |= {"hosts/config_edit/report.py"}  # asks the programs that a host starts for their version
ELSEWHERE |= {"project/root_commit.py"}  # asks git for a commit; nothing in the repository can make it write
ELSEWHERE |= {"vault/prestat.py"}  # opens a folder to list it, and writes to memory that two processes share
ELSEWHERE |= {"context/prompt_servers.py"}  # asks macOS about a process
ELSEWHERE |= {"context/transcripts.py"}  # opens a transcript to read it, and follows no link
# This makes the socket of a running server and its record, in a folder of the user's own that is in no book.
ELSEWHERE |= {"mcp/prompt_socket.py"}
# These open what the user named, to read it, and a Word file in memory.
ELSEWHERE |= {"vault/named_files.py", "vault/source_files.py", "vault/zip_files.py", "tree/readers/docx.py"}
_OS_CALLS = re.compile(
    r"open|fdopen|p?writev?|f?truncate|posix_fallocate|sendfile|copy_file_range|splice|renames?|replace|link|symlink|unlink"
    r"|remove|mkdir|makedirs|rmdir|removedirs|mkfifo|mknod|[fl]?chmod|[fl]?chown|utime|setxattr|removexattr"
    r"|system|popen|posix_spawnp?|startfile|exec.*|spawn.*"
)
_MODULES = re.compile(r"shutil|tempfile|subprocess|mmap|gzip|bz2|lzma|zipfile|tarfile|fileinput|dbm|shelve|ctypes")
_METHODS = re.compile(r"write_(text|bytes)|touch|symlink_to|hardlink_to|mkdir|rmdir|unlink|l?chmod")


def changes_files(source: str) -> list[str]:
    """The lines that change a file, or could: what they use, and where."""
    tree = ast.parse(source)
    os_names = {"os", "io", "codecs", "posix", "nt"}
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            os_names |= {name.asname for name in node.names if name.name in os_names and name.asname}
            found += [
                f"{node.lineno}: {name.name}" for name in node.names if _MODULES.fullmatch(name.name.split(".")[0])
            ]
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[0]
            names = [name.name for name in node.names]
            if _MODULES.fullmatch(module) or (module in os_names and any(_OS_CALLS.fullmatch(name) for name in names)):
                found.append(f"{node.lineno}: from {module}")
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id in os_names and _OS_CALLS.fullmatch(node.attr):
                found.append(f"{node.lineno}: {node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and _changing_call(node, os_names):
            found.append(f"{node.lineno}: {ast.unparse(node.func)}()")
    return found


def _changing_call(call: ast.Call, os_names: set[str]) -> bool:
    if isinstance(call.func, ast.Name):
        if call.func.id in ("getattr", "__import__", "import_module", "eval", "exec"):
            return any(isinstance(arg, ast.Name) and arg.id in os_names for arg in call.args) and not _harmless(call)
        return call.func.id == "open" and not _opens_to_read(call, position=1)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "open":
        # A folder of the disk, the files of a source, which are only read, or a classmethod of ours.
        is_ours = (
            re.search(r"disk$|files$|^open_disk\(\w+\)$|^(Book|Sqlite[A-Z]\w+)$", ast.unparse(call.func.value))
            is not None
        )
        return not is_ours and not _opens_to_read(call, position=0)
    # Path.rename and Path.replace take one argument; a folder's own rename takes three, str.replace two.
    return bool(_METHODS.fullmatch(call.func.attr)) or (call.func.attr in ("rename", "replace") and len(call.args) == 1)


def _harmless(call: ast.Call) -> bool:
    """getattr(os, "O_NOFOLLOW", 0) and the like: a name of a flag."""
    name = call.args[1] if len(call.args) > 1 else None
    return isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.startswith("O_")


def _opens_to_read(call: ast.Call, position: int) -> bool:
    modes = call.args[position : position + 1] + [word.value for word in call.keywords if word.arg == "mode"]
    return all(isinstance(mode, ast.Constant) and not set("wax+") & set(str(mode.value)) for mode in modes)


def test_nothing_else_changes_files() -> None:
    """No module but the three of the disk opens a file for writing, or renames, makes or removes one."""
    modules = {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    assert len(modules) > 30
    found = {name: changes_files(text) for name, text in modules.items() if name not in WRITERS | DATABASES | ELSEWHERE}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_disk_is_seen_to_change_files() -> None:
    """The check finds what the modules of the disk do, so it is not blind."""
    for name in ("vault/disk.py", "vault/disk_windows.py"):
        found = " ".join(changes_files((SOURCE / name).read_text("utf-8")))
        assert all(f"os.{call}" in found for call in ("open", "mkdir", "unlink", "rmdir"))
    assert "os.write" in " ".join(changes_files((SOURCE / "vault/disk_files.py").read_text("utf-8")))


@pytest.mark.parametrize(
    "line",
    [
        "import os; os.open('x', os.O_WRONLY)",
        "import os as system\nsystem.rename('a', 'b')",
        "from os import replace",
        "from os import unlink as away",
        "import os; f = os.remove",
        "import os; getattr(os, 'un' + 'link')('x')",
        "open('x', 'w')",
        "open('x', mode='ab')",
        "open('x', how)",
        "open('x', 'r+')",
        "import io; io.open('x', 'w')",
        "Path('x').open('w')",
        "path.open(how)",
        "Path('x').write_text('y')",
        "p.write_bytes(b'')",
        "p.mkdir()",
        "p.rename(q)",
        "p.replace(q)",
        "import shutil",
        "from shutil import copyfile",
        "import tempfile",
        "import subprocess",
        "import os; os.execv('a', [])",
    ],
)
def test_ways_to_change_a_file_that_are_seen(line: str) -> None:
    """Each way that Python has to change a file is found."""
    assert changes_files(line)


@pytest.mark.parametrize(
    "line",
    [
        "import os; os.getpid(); os.fspath(p); os.environ.get('X')",
        "open('x'); open('x', 'rb'); open('x', mode='r', encoding='utf-8')",
        "Path('x').open(); Path('x').read_text(); p.open('rb')",
        "text.replace('a', 'b'); folder.rename(name, other, to); file.write(data)",
        "import os; getattr(os, 'O_NOFOLLOW', 0)",
        "self._disk.open(path.parts)",
        "Book.open(root); SqliteState(path)",
        "index.remove('folder', 'name')",
    ],
)
def test_reading_is_fine(line: str) -> None:
    """What only reads, or changes no file, is not found."""
    assert changes_files(line) == []
