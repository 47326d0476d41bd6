"""Read and replace files of other programs with the same care as a book's own, and tell which whole files are ours.

A link is followed where it leads to a place inside the folders that the caller allows, such as the user's home: the
link stays, and the file behind it is changed. A file is replaced in one step and keeps its mode. It is left alone when
it changed since it was read, belongs to another user, is read-only, or has a second name. New files are for the user
only. Removing a file also removes the folders that were made for it and are empty then.

A file or marked block that takes comments ends with a line that has a hash of everything above it. Many programs reject
JSON with comments or with members that they do not know, so a JSON file carries no such line: it is ours if it is, to
the byte, one that some version of ours writes, except for the path of our program, `--root` and our version. The same
goes for files from before there was a hash. `FINGERPRINTS` lists them. A word in a file never makes it ours.
`connect` calls all of these.
"""

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from commonplace.hosts.config_edit.commands import (
    COMMAND_NAMES,
    PROJECT_OPTION,
    is_root_option,
    parse_call,
    parse_member,
    split_line,
    split_program,
)
from commonplace.hosts.config_edit.json_edit import render
from commonplace.model.errors import (
    AlreadyExists,
    HostFileChanged,
    HostFileUnusable,
    LinkRefused,
    NotFound,
)
from commonplace.model.lazy import lazy
from commonplace.model.names import new_id
from commonplace.vault.disk import open_disk
from commonplace.vault.disk_port import FILE_MODE, DiskFolder, convert_os_error
from commonplace.vault.port import FileKind

_MOST_BYTES = 20_000_000
_RUN_MODE = 0o700
_WRITE_BITS = 0o222
_INSIDE = "Keep the real file inside that folder, or make the change that `--dry-run` shows by hand."
_WRITABLE = "Make it writable, or make the change that `--dry-run` shows by hand."
_BY_HAND = "Connect as its owner, or with the real file; or make the change that `--dry-run` shows by hand."


class FileSnapshot(NamedTuple):
    """A file as it was read; `text` is None where there is none."""

    base: str
    file: str
    text: str | None = None
    mode: int = FILE_MODE
    limits: tuple[str, ...] = ()  # the folders inside which links may lead
    linked_base: str = ""  # with `linked_file`, where the file really is; empty where no link leads to it
    linked_file: str = ""

    @property
    def path(self) -> str:
        """Its full path, as the host names it."""
        return os.path.join(self.base, *self.file.split("/"))

    @property
    def real_path(self) -> str:
        """The path without links."""
        return os.path.join(self.linked_base, *self.linked_file.split("/")) if self.linked_file else self.path

    def split(self) -> tuple[str, list[str], str]:
        """Return the folder to open, the names of the folders below it, and the name of the file."""
        *folders, name = (self.linked_file or self.file).split("/")
        return self.linked_base or self.base, folders, name


def read(base: str, file: str, limits: tuple[str, ...] = ()) -> FileSnapshot:
    """Return a file as it is now; raise HostFileUnusable for a folder, another encoding or a huge file.

    Links are followed where the file is inside one of the folders in `limits`; any other raises HostFileUnusable.
    """
    snapshot = _follow_links(FileSnapshot(base, file, limits=limits))
    base, folders, name = snapshot.split()
    with _as_host_errors(snapshot):
        try:
            folder = open_disk(base).open(folders)
        except (FileNotFoundError, NotADirectoryError):
            return snapshot
        with closing(folder):
            stat = folder.stat(name)
            if stat is None:
                return snapshot
            if stat.kind is not FileKind.FILE:
                message = f"{snapshot.path} is a folder, a link or no regular file; it was not changed."
                raise HostFileUnusable(message, hint=_BY_HAND)
            if stat.size > _MOST_BYTES:
                raise HostFileUnusable(f"{snapshot.path} is too large to be a configuration.")
            data, stat = folder.read(name)
    try:
        return snapshot._replace(text=data.decode("utf-8"), mode=stat.mode)
    except UnicodeDecodeError:
        raise HostFileUnusable(f"{snapshot.path} is not UTF-8 text.") from None


def _follow_links(snapshot: FileSnapshot) -> FileSnapshot:
    """Return the snapshot with the place that links below its base lead to."""
    folders = snapshot.file.split("/")
    paths = [os.path.join(snapshot.base, *folders[:depth]) for depth in range(1, len(folders) + 1)]
    links = [path for path in paths if os.path.islink(path)]
    if not links:
        return snapshot
    real = os.path.realpath(snapshot.path)
    within = next((root for root in map(os.path.realpath, snapshot.limits) if _is_inside(real, root)), None)
    if within is None:
        where = f" outside {snapshot.limits[0]}" if snapshot.limits else ""
        raise HostFileUnusable(f"{links[0]} is a link to a place{where}; nothing was changed.", hint=_INSIDE)
    folder = os.path.dirname(real) if links[-1] == snapshot.path else os.path.realpath(links[-1])
    if not os.path.isdir(folder):
        raise HostFileUnusable(f"{links[-1]} is a link to a place that does not exist.", hint=_BY_HAND)
    file = os.path.relpath(real, within).replace(os.sep, "/")
    return snapshot._replace(linked_base=within, linked_file=file)


def _is_inside(path: str, folder: str) -> bool:
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def write(snapshot: FileSnapshot, text: str | None, *, is_executable: bool = False) -> list[str]:
    """Replace a file by this text, or remove it (None), and return the folders that were made for it.

    Raises HostFileChanged where the file is not as it was read.
    """
    refuse_unwritable(snapshot)
    made: list[str] = []
    with _as_host_errors(snapshot):
        if text is None:
            _remove(snapshot)
        else:
            _replace(snapshot, text.encode("utf-8"), _RUN_MODE if is_executable else snapshot.mode, made)
    return made


def _replace(snapshot: FileSnapshot, data: bytes, mode: int, made: list[str]) -> None:
    base, folders, name = snapshot.split()
    draft = f".{name}.{new_id()[:12]}.tmp"
    with closing(_open_or_make(base, folders, made)) as folder:
        with closing(folder.create(draft, mode)) as file:
            file.write(data)
            file.sync()
        try:
            if snapshot.text is not None:
                _require_same(snapshot, folder, name)
                folder.rename(draft, folder, name)
            elif folder.link(draft, folder, name):  # it has both names now
                folder.remove(draft)
        except BaseException as error:
            folder.remove(draft)
            if isinstance(error, FileExistsError):
                raise HostFileChanged(f"{snapshot.path} was created by another program in the meantime.") from None
            raise
        folder.sync()


def _remove(snapshot: FileSnapshot) -> None:
    base, folders, name = snapshot.split()
    with closing(open_disk(base).open(folders)) as folder:
        _require_same(snapshot, folder, name)
        folder.remove(name)
        folder.sync()


def remove_empty_folders(snapshot: FileSnapshot, made: Collection[str] | None) -> None:
    """Remove the folders above a file that are empty, up to its base or to a link; of these only what is in `made`.

    With None every empty one counts as made by us.
    """
    folders = snapshot.file.split("/")[:-1]
    while folders:
        path = os.path.join(snapshot.base, *folders)
        real = os.path.realpath(path)
        if os.path.islink(path) or (made is not None and real not in made):
            return
        *folders, _ = folders
        try:
            disk = open_disk(os.path.dirname(real))
            with closing(disk.open(())) as folder:
                folder.remove_folder(os.path.basename(real))
        except FileNotFoundError:  # it is gone already; the one above may be empty
            continue
        except OSError:  # something else is in it
            return


def _require_same(snapshot: FileSnapshot, folder: DiskFolder, name: str) -> None:
    try:
        data, _ = folder.read(name)
    except FileNotFoundError:
        data = b""
    if data != (snapshot.text or "").encode("utf-8"):
        raise HostFileChanged(f"{snapshot.path} was changed by another program in the meantime.")


def _open_or_make(base: str, folders: list[str], made: list[str]) -> DiskFolder:
    """Return the folder at the end of a path; folders that are missing are made, and added to `made`."""
    disk = open_disk(base)
    folder = disk.open([])
    for depth, name in enumerate(folders, 1):
        with closing(folder), suppress(FileExistsError):  # another program may make it first
            if folder.stat(name) is None:
                folder.make_folder(name)
                made.append(os.path.realpath(os.path.join(base, *folders[:depth])))
                folder.sync()
        folder = disk.open(folders[:depth])
    return folder


def refuse_unwritable(snapshot: FileSnapshot) -> None:
    """Raise HostFileUnusable for a file that is not to be replaced.

    Replacing a file of another user, or one with a second name, would make it another file; a read-only one is so on
    purpose.
    """
    if snapshot.text is None:
        return
    with _as_host_errors(snapshot):
        found = os.lstat(snapshot.real_path)
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise HostFileUnusable(f"{snapshot.path} belongs to another user.", hint=_BY_HAND)
    if found.st_nlink > 1:
        raise HostFileUnusable(f"{snapshot.path} has a second name (a hard link); replacing it would separate them.")
    if not snapshot.mode & _WRITE_BITS:
        raise HostFileUnusable(f"{snapshot.path} is read-only; it was not changed.", hint=_WRITABLE)


@contextmanager
def _as_host_errors(snapshot: FileSnapshot) -> Iterator[None]:
    """Turn errors of the system into ours, with the file's path."""
    try:
        yield
    except OSError as error:
        ours = convert_os_error(error, f"changing {snapshot.path}")
        if isinstance(ours, (LinkRefused, NotFound, AlreadyExists)):
            message = f"{snapshot.path} cannot be used: a link or something else is in the way."
            raise HostFileUnusable(message, hint=_BY_HAND) from None
        raise ours from None


# Ownership


_COMMENTS = {
    ".md": ("<!-- ", " -->"),
    ".mdc": ("<!-- ", " -->"),
    ".js": ("// ", ""),
    ".ps1": ("# ", ""),
    "": ("# ", ""),
}
_OWNED_PROSE = "<!-- commonplace:owned sha256:"
_DIGITS = 32  # of the hash: enough to notice an edit, which is all it is for
_MASK = "\0"  # in place of what differs: no text file has it, so that no text of a user equals a masked one
_VERSION = lazy(r"\d+\.\d+\.\d+(?:-(?:dev|a|b|rc)\.\d+)?")
_MEMORY_FILTER = lazy(r"(Read|Write|Edit)\(.*/projects/\*/memory/\*\*\)")


# The files that versions of ours wrote without a hash in them, each as `fingerprint` returns it. Append to this table,
# and never remove anything: a file whose fingerprint is missing is taken for the user's own, and can then be neither
# renewed nor removed. A test says which one is missing when the shape of a JSON file changes.
_WRITTEN_FILES = """\
32c9ba2cb9f79f13e479f6b1dbdb51fa agents-md, cline, kiro, windsurf: the rules
6a641a29c8db8a5dcd80d56ae16b9fa1 amazonq: commonplace.json
55bd5e5559e7e7793b4028f1ff7b8c18 claude-code: .mcp.json
5193e3555998ce55a9fff03838ff8ebc claude-code, codex, gemini, opencode: SKILL.md
4394fc0cc18b77ca22cba600414b9962 claude-code: hooks.json
37abf5ce60215d3c456e0dbe315a6e33 claude-code: hooks.json with --protocol
592acc101378ed5e8943d0273cb3c7b2 claude-code: plugin.json
1fa72be0b156bda7110784e7184636cd cline: PreCompact
bc8b5bbff95d636be25775857833bee2 cline: PreCompact.ps1
47604072ae62183d54c5677f376e515b cline: TaskComplete
91be262221e66f07720f91ae0beb7575 cline: TaskComplete.ps1
a1dd886eac5fce6c244e68839d301dce cline: TaskStart
9b008db12923750f7239bf8a8ac5f90c cline: TaskStart.ps1
51c84130ba5633c3cc2d3e09389e5b15 cline: UserPromptSubmit
a4da9ec2aeedaadd9f40565588db9b6b cline: UserPromptSubmit.ps1
fca9b7be90cbf15d9cee4e45236d454d copilot: commonplace.json
736235087b8efc53b9ef4ec2f1e893ed cursor: commonplace.mdc
36cd88b6ca03c9b3f45fd04e9c0c5a62 gemini: gemini-extension.json
c874f595ec7051bb18671910a4e0dfb1 gemini: hooks.json
97f577720657279276c428259d8411d9 goose: hooks.json, with Stop
ad99671a7479b1a70ef0394a8847dad7 goose: hooks.json
78dae061ae43911e3757503cd37414bf goose: plugin.json
8fa9435e1daf50515e8b9aeb934258a8 kiro: commonplace.json, with Stop
eae82a5c9e78548d3fd337222b230633 kiro: commonplace.json
47844903eb482129c2d94537c6d9aeb5 kiro2: commonplace.json, with Stop
7716a31535532a212c6a82d43363650d kiro2: commonplace.json
485081c184a1db720516131c7e6d5f94 opencode: commonplace.js
15af04263e59c3c29ac01ea40c69416b vscode: commonplace-vscode.json
96a11a54b2186e0d852c29ab8d0c7fc6 windsurf: commonplace.md
76756be2fcd3a9aeaa46aea8af83a2e2 claude-code: hooks.json, with SessionEnd
d486860e36c1805272aab92ce286998f claude-code: hooks.json, with SessionEnd and --protocol
f433ed0cde6b5a16f588d3a423a0d56a gemini: gemini-extension.json without a server
"""
FINGERPRINTS = frozenset(line.partition(" ")[0] for line in _WRITTEN_FILES.splitlines())


def sign(file: str, text: str) -> str:
    """Return the text with the line that makes it ours; unchanged where the file's format has no comments."""
    if _ending(file) not in _COMMENTS:
        return text
    opening, closing = _COMMENTS[_ending(file)]
    return f"{text}{opening}commonplace:owned sha256:{_digest(text)}{closing}\n"


def is_owned(file: str, text: str) -> bool:
    """Return whether a file has, unchanged, the text that some version of ours wrote."""
    # git may have made every line end one of Windows
    plain = text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text
    above = plain[: plain.rfind("\n", 0, -1) + 1]
    is_signed = _ending(file) in _COMMENTS and sign(file, above) == plain
    return is_signed or fingerprint(file, plain) in FINGERPRINTS


def is_edited_prose(file: str, text: str) -> bool:
    """Return whether a text without commands, as rules and a skill are, is one of ours that a person edited."""
    has_mark = any(line.startswith(_OWNED_PROSE) for line in text.splitlines())
    return _ending(file) in (".md", ".mdc") and has_mark and not is_owned(file, text)


def fingerprint(file: str, text: str) -> str:
    """Return a hash of the text without the words that differ from machine to machine."""
    try:
        if _ending(file) != ".json":
            return _digest("\n".join(map(_mask_line, text.split("\n"))))
        value = json.loads(text)
        # In another layout it was written or edited by someone else.
        return _digest(json.dumps(_mask_value(value)) if render(value) + "\n" == text else text)
    except (ValueError, RecursionError):  # not JSON, or nested more deeply than anything of ours
        return _digest(text)


def _mask_value(value: object) -> object:
    if isinstance(value, list):
        return [_mask_value(item) for item in value]
    if isinstance(value, str):
        return _MEMORY_FILTER.sub(rf"\1{_MASK}", value)
    if not isinstance(value, dict):
        return value
    masked = {name: _mask_value(item) for name, item in value.items()}
    for name in COMMAND_NAMES:
        call = parse_member(value, name) if name in value else None
        if call:
            masked[name] = _MASK + " ".join(call)
            masked.pop("args", None)
    if isinstance(value.get("version"), str):
        masked["version"] = _VERSION.sub(_MASK, value["version"])
    return masked


def _mask_line(line: str) -> str:
    """Return a line of a script or of the OpenCode plugin without the path of our program."""
    for start in ("exec ", "$input | "):
        call = parse_call(split_line(line.removeprefix(start))) if line.startswith(start) else None
        if call:
            return start + _MASK + " ".join(call)
    name, _, given = line.partition(" = ")
    if name not in ("const COMMAND", "const MORE"):
        return line
    try:
        words = json.loads(given)
    except ValueError:
        return line
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or json.dumps(words) != given:
        return line
    more = words[words[:1] == [PROJECT_OPTION] :]
    is_known = is_root_option(more) if name == "const MORE" else split_program(words) == ("commonplace-hook", [])
    return name + _MASK if is_known else line


def _ending(file: str) -> str:
    return os.path.splitext(file)[1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGITS]
