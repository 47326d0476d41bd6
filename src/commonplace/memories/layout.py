"""The files of a book that are not memories: config.toml, its id and key, its first pages; and where its databases are.

Every way into a book asks here first for its settings, its root and its databases. That changes nothing, so that hooks
can use it as well as commands. The databases live in `.commonplace/` on a local file system, if SQLite takes so long a
path, and else in the platform's state folder under the book's id; `config.toml` is read as it is, comments kept.

`scaffold` makes what a new book starts with. It creates what is missing, overwrites nothing, and running it again
changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import lru_cache

from commonplace.model.errors import (
    BookTooNew,
    CommonplaceError,
    InvalidField,
    InvalidSettings,
    NotFound,
)
from commonplace.model.names import new_id, new_signing_key, short_hash, sign_text
from commonplace.model.scope import LOCAL
from commonplace.model.settings import Settings, load_settings
from commonplace.text.frontmatter import put_region, quote
from commonplace.vault.paths import INDEX_PAGE, KEEPER, PRIVATE, ROOT, BookPath
from commonplace.vault.port import ABSENT, UNUSABLE, FileKind, Vault, Write

BOOK_ID = PRIVATE / "book-id"
FORMAT = PRIVATE / "format"
FORMAT_VERSION = 1  # docs/format.md says what may change without another number
CONFIG = PRIVATE / "config.toml"
KEY = PRIVATE / "key"
KEY_CHECK = PRIVATE / "vouched" / "key.txt"  # what tells that the key is the one that the book was given
TEMPLATES = ("minimal", "full")
_GIT_FILES: Mapping[BookPath, str] = {  # what git is told about a book; a person may have such files of their own
    ROOT / ".gitattributes": "book-gitattributes",
    ROOT / ".gitignore": "book-gitignore",
}
_GIT_MARKS = ("# commonplace:begin (generated: write above or below)", "# commonplace:end")
PARENT_LOCK, DATA_LOCK = "parents", "data"  # of the pages above the scopes, and of data files
TRUSTED = "trusted-config"  # the name of a fact in the state: the hash of the config.toml that a person trusts
_PAGES: Mapping[BookPath, str] = {  # what a book has from the start, by the name of its text
    ROOT / INDEX_PAGE: "index.md",
    BookPath("system", "definition.md"): "definition-{}.md",
    BookPath("memories", "global", INDEX_PAGE): "memories.md",
    BookPath("data", INDEX_PAGE): "data.md",
    PRIVATE / ".gitignore": "gitignore",
    FORMAT: "",
}
# Whoever writes such a page later holds this lock, so that one that was deleted is not made by two processes at once.
# In the order in which a writer takes them.
_LOCKS = {
    BookPath("memories", "global", INDEX_PAGE): "global",
    BookPath("data", INDEX_PAGE): DATA_LOCK,
    ROOT / INDEX_PAGE: PARENT_LOCK,
}
_NETWORK = frozenset(("nfs", "cifs", "afs", "ceph", "glusterfs", "9p", "lustre", "ncpfs", "davfs"))
_LOCAL_FUSE = ("fuse.ext", "fuse.ntfs", "fuse.exfat")
_MEND_CONFIG = "Correct .commonplace/config.toml in an editor, or move it away: then every setting has its default."
_MAX_SOCKET_PATH = 103  # bytes, on the system that takes the fewest
_MAX_DATABASE_PATH = 511  # bytes that SQLite takes, but on Windows
_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud", "syncthing")


def read_config(vault: Vault) -> tuple[dict[str, object], str, str | None]:
    """Return what config.toml says, its text and its revision (None: there is none). Raises InvalidSettings, and
    Unreadable, LinkRefused or TooLarge for a file that cannot be read."""
    text, revision = read_config_text(vault)
    return parse_config(text) if text else {}, text, revision


def read_config_text(vault: Vault) -> tuple[str, str | None]:
    """Return the text of config.toml and its revision (None: there is none). Raises as `read_config` does."""
    try:
        document = vault.read(LOCAL, KEEPER, CONFIG)
        return document.data.decode("utf-8"), document.revision
    except NotFound:
        return "", None
    except UnicodeDecodeError as error:
        line = document.data.count(b"\n", 0, error.start) + 1
        raise InvalidSettings(f"config.toml is not UTF-8 text (line {line}).", hint=_MEND_CONFIG) from None


def config_digest(vault: Vault) -> str:
    """Return the hash of config.toml: trust is given to one text of it."""
    return short_hash(read_config(vault)[1], 64)


def parse_config(text: str) -> dict[str, object]:
    """Return what the text of a config.toml says. Raises InvalidSettings."""
    import tomllib  # noqa: PLC0415 - most books have no config.toml

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"config.toml is not valid TOML: {error}.", hint=_MEND_CONFIG) from None


def with_setting(text: str, name: str, value: str | None) -> tuple[str, dict[str, object]]:
    """Return the text with one setting changed, added or (None) removed, and what it then says. A setting that is not
    known can be removed."""
    if name not in Settings._fields and value is not None:
        raise InvalidSettings(f"There is no setting {name[:60]!a}.", hint="`commonplace config` lists them all.")
    quoted = re.escape(name)
    line = re.compile(rf"""^[ \t]*(?:{quoted}|"{quoted}"|'{quoted}')[ \t]*=.*(?:\n|\Z)""", re.M)
    setting = f"{name} = {_literal(value)}\n" if value is not None else ""
    new, found = line.subn(lambda _: setting, text, count=1)
    if not found and setting:
        start = re.search(r"^[ \t]*\[", text, re.M)  # what comes after the first table would belong to it
        at = start.start() if start else len(text)
        head = text[:at]
        new = (head if not head or head.endswith("\n") else head + "\n") + setting + text[at:]
    config = parse_config(new)
    if value is None and (name in config or (not found and name not in Settings._fields)):
        why = "takes more than one line" if name in config else "is not"
        raise InvalidSettings(f"{name[:60]!a} {why} in config.toml.", hint="Look at the file in an editor.")
    return new, config


def _literal(value: str) -> str:
    """Return a value in TOML: true, false and numbers as such, anything else as a text."""
    if value in ("true", "false") or re.fullmatch(r"-?\d+(\.\d+)?", value, re.ASCII):
        return value
    return quote(value)


def book_root(settings: Settings) -> str:
    """Return the folder of the book, as an absolute path. Raises InvalidSettings for a file."""
    place = os.path.abspath(os.path.expanduser(settings.root))
    if os.path.isfile(place):
        raise InvalidSettings("The root is a file.", hint="Name a folder: --root, COMMONPLACE_ROOT.")
    return place


def load_book_settings(
    vault: Vault, given: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[Settings, dict[str, object]]:
    """Return the settings of a book that is open, and what its config.toml says. Raises BookTooNew."""
    check_format(vault)
    config = read_config(vault)[0]
    return load_settings(given, environment, config), config


def read_format(vault: Vault) -> int | None:
    """Return the format version that a book says; 1 where it says none, None where that cannot be read."""
    try:
        text = vault.read(LOCAL, KEEPER, FORMAT).data[:20].strip()
    except NotFound:
        return 1
    except CommonplaceError:
        return None
    return int(text) if text.isdigit() and int(text) > 0 else None


def check_format(vault: Vault) -> None:
    """Raise BookTooNew if this program may not read or write the book. One that cannot be read locks nobody out."""
    version = read_format(vault) or FORMAT_VERSION
    if version > FORMAT_VERSION:
        raise BookTooNew(f"This book needs Commonplace format {version}; this program reads format {FORMAT_VERSION}.")


def find_database_folder(vault: Vault, root: str, settings: Settings) -> str:
    """Return the folder of index.db and state.db; it may have to be made. Raises NotFound where there is no book."""
    try:
        ident = vault.read(LOCAL, KEEPER, BOOK_ID).data.decode("utf-8", "replace").strip()
    except UNUSABLE:
        inside = os.path.join(root, PRIVATE.name)
        if database_location(root, "", settings.state) != inside:
            raise
        return inside  # where no id is needed
    safe = "".join(ch if ch.isascii() and (ch.isalnum() or ch == "-") else "_" for ch in ident)[:64]
    return database_location(root, safe or "book", settings.state)


def database_location(root: str, book_id: str, override: str | None) -> str:
    """Return the folder for index.db and state.db of a book; it may have to be made."""
    if override is not None:
        return os.path.join(os.path.abspath(os.path.expanduser(override)), book_id)
    inside = os.path.join(root, PRIVATE.name)
    if is_local(root) and os.access(inside, os.W_OK) and _is_short_enough(inside):
        return inside
    return os.path.join(user_state(), book_id)


def _is_short_enough(folder: str) -> bool:
    """Return whether SQLite can open a database in a folder, with the files that it puts beside it."""
    longest = os.path.join(os.path.realpath(folder), "index.db-journal")
    return os.name == "nt" or len(os.fsencode(longest)) <= _MAX_DATABASE_PATH


def is_local(path: str) -> bool:
    """Return whether a path is on a disk of this machine, as far as can be told, and in no synced folder."""
    parts = os.path.realpath(path).replace("\\", "/").split("/")
    return not any(part.casefold().startswith(_SYNCED) for part in parts) and not is_network(path)


def is_network(path: str) -> bool:
    """Return whether a path is on a file system that several machines may share, as far as can be told."""
    real = os.path.realpath(path)
    if os.name == "nt":
        return real.startswith("\\\\")
    system = _file_system(real)
    if system.startswith("fuse."):  # of the network, but for those of disks
        return not system.startswith(_LOCAL_FUSE)
    return system.rstrip("0123456789") in _NETWORK or system.startswith("smb")


def user_state() -> str:
    """Return the folder in which this platform keeps a program's state."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "commonplace")


def current_user() -> int | None:
    """Return the id of the user of this process; None on Windows, where users have no such ids."""
    user: int | None = None
    if sys.platform != "win32":
        user = os.geteuid()
    return user


def find_run_folder(state: str | None) -> str:
    """Return the folder of the sockets, below the setting `state` or the platform's state folder.

    The path of a socket has room for some hundred bytes. Where it is longer, a folder of the user's in /tmp stands for
    it.
    """
    base = os.path.abspath(os.path.expanduser(state)) if state else user_state()
    folder = os.path.join(base, "run")
    longest = os.path.join(folder, f"{'9' * 7}.sock")
    user = current_user()
    if len(os.fsencode(longest)) <= _MAX_SOCKET_PATH or user is None:
        return folder
    return f"/tmp/commonplace-{user}-{short_hash(base)}"  # noqa: S108 - used only if it is ours


@lru_cache(4)  # asked when the book is opened, and for its first lock
def _file_system(path: str) -> str:
    """Return the type of file system that a path is on, by Linux's table of mounts; "" where there is none."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            mounts = table.read(1_000_000)
    except OSError:
        return ""
    best, found = "", ""
    for match in re.finditer(r"^(?:\S+ ){4}(\S+) .*? - (\S+)", mounts, re.M):
        point = re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape[1], 8)), match[1])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, match[2]
    return found


def scaffold(
    vault: Vault, template: str = "minimal", *, lock_timeout: float = 10.0, mends: bool = False
) -> list[BookPath]:
    """Make what is missing of a book; return the paths that were made. `mends`: also what a person's own git files
    lack. A book works without those, so nothing fails because of them."""
    if template not in TEMPLATES:
        raise InvalidField(f"{template[:40]!r} is not a template.", hint=f"Use one of: {', '.join(TEMPLATES)}.")
    wants_git = mends or vault.stat(LOCAL, KEEPER, ROOT / ".gitattributes") is None
    missing = _find_missing(vault)
    if not missing and not wants_git:
        return []  # as at every opening but the first: no lock, no write, no text read
    if missing:
        missing = _make_missing(vault, missing, template, lock_timeout)
    if wants_git:
        with suppress(CommonplaceError), vault.lock(LOCAL, "scaffold", 0):
            changes = change_git_files(vault)
            vault.apply(LOCAL, KEEPER, changes)
            missing += [change.path for change in changes]
    return missing


def _make_missing(vault: Vault, missing: list[BookPath], template: str, lock_timeout: float) -> list[BookPath]:
    """Make the pages of a book that are still missing under the lock of each; return those that were made."""
    with ExitStack() as locks:
        for name in ("scaffold", *(lock for path, lock in _LOCKS.items() if path in missing)):
            locks.enter_context(vault.lock(LOCAL, name, lock_timeout))
        missing = _find_missing(vault)
        writes = [Write(path, _first_text(path, template), ABSENT) for path in missing]
        if BOOK_ID in missing and vault.stat(LOCAL, KEEPER, KEY) is None:  # one from elsewhere has an id: see opening
            writes = [*new_key_writes(), *writes]
        if writes:
            vault.apply(LOCAL, KEEPER, writes)
    return [write.path for write in writes]


def change_git_files(vault: Vault) -> list[Write]:
    """Return the changes that put our lines into the book's git files; a person's own lines stay, and so do files that
    cannot be read, such as links."""
    changes = []
    for path, name in _GIT_FILES.items():
        try:
            document = vault.read(LOCAL, KEEPER, path)
            old, expected = document.data.decode("utf-8", "surrogateescape"), document.revision
        except NotFound:
            old, expected = "", ABSENT
        except CommonplaceError:
            continue
        new = put_region(old, template_text(name), _GIT_MARKS)
        if new != old:
            changes.append(Write(path, new.encode("utf-8", "surrogateescape"), expected))
    return changes


def _find_missing(vault: Vault) -> list[BookPath]:
    """Return which of its first files a book lacks."""
    return [path for path in (BOOK_ID, *_PAGES) if _is_missing(vault, path)]


def _is_missing(vault: Vault, path: BookPath) -> bool:
    try:
        if vault.stat(LOCAL, KEEPER, path) is not None:
            return False
        above = path.parent
        while (found := vault.stat(LOCAL, KEEPER, above)) is None:
            above = above.parent
        return found.kind is FileKind.FOLDER
    except UNUSABLE:  # where its folder should be is something else: nothing can be made there
        return False


def _first_text(path: BookPath, template: str) -> bytes:
    if path == FORMAT:
        return f"{FORMAT_VERSION}\n".encode()
    return (f"{new_id()}\n" if path == BOOK_ID else template_text(_PAGES[path].format(template))).encode()


def new_key_writes() -> list[Write]:
    """Return the writes that give a book a key, and then its check value: no other key may come to have that."""
    key = new_signing_key()
    return [Write(KEY, f"{key}\n".encode(), ABSENT), check_write(key)]


def check_write(key: str) -> Write:
    """Return the write of a key's check value: it can be made from the key alone, and tells nothing of the key."""
    return Write(KEY_CHECK, f"{sign_text(key, 'key')}\n".encode())


def template_text(name: str) -> str:
    """Return the text of a page as it is made in a new book."""
    with open(os.path.join(os.path.dirname(__file__), "templates", name), encoding="utf-8") as file:
        return file.read()
