"""What every way into a book asks first: its settings, its root, and where its databases are.

It changes nothing, so that hooks can use it as well as commands. The databases live in `.commonplace/` on a local file
system, and else in the platform's state folder under the book's id; `config.toml` is read as it is, comments kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from commonplace.model.errors import InvalidSettings, NotFound
from commonplace.model.scope import LOCAL
from commonplace.model.settings import Settings, load_settings
from commonplace.vault.paths import KEEPER, PRIVATE
from commonplace.vault.port import Vault

CONFIG = PRIVATE / "config.toml"


def read_config(vault: Vault) -> tuple[dict[str, object], str, str | None]:
    """What config.toml says, its text and its revision (None: there is none)."""
    try:
        document = vault.read(LOCAL, KEEPER, CONFIG)
    except NotFound:
        return {}, "", None
    try:
        text = document.data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidSettings("config.toml is not UTF-8 text.") from None
    return parse_config(text), text, document.revision


def parse_config(text: str) -> dict[str, object]:
    """Return what the text of a config.toml says. Raises InvalidSettings."""
    import tomllib  # noqa: PLC0415 - most books have no config.toml

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"config.toml cannot be read: {error}.") from None


def with_setting(text: str, name: str, value: str | None) -> tuple[str, dict[str, object]]:
    """The text with one setting changed, added or (None) taken out, and what it then says."""
    if not re.fullmatch(r"[a-z_]{1,40}", name):
        raise InvalidSettings(f"{name[:60]!a} is not a setting.")
    line = re.compile(rf"^[ \t]*{name}[ \t]*=.*(?:\n|\Z)", re.M)
    if value is None:
        new = line.sub("", text, count=1)
    else:
        setting = f"{name} = {_literal(value)}\n"
        new = line.sub(lambda _: setting, text, count=1)
        if not line.search(text):
            new = (text if not text or text.endswith("\n") else text + "\n") + setting
    return new, parse_config(new)


def _literal(value: str) -> str:
    """A value in TOML: true, false and numbers as such, anything else as a text."""
    if value in ("true", "false") or re.fullmatch(r"-?\d+(\.\d+)?", value, re.ASCII):
        return value
    escaped = "".join(
        f"\\u{ord(ch):04x}" if ord(ch) < 32 or ord(ch) == 127 else f"\\{ch}" if ch in '"\\' else ch for ch in value
    )
    return f'"{escaped}"'


BOOK_ID = PRIVATE / "book-id"


def book_root(settings: Settings) -> str:
    """The folder of the book, as an absolute path."""
    place = os.path.abspath(os.path.expanduser(settings.root))
    if os.path.isfile(place):
        raise InvalidSettings("The root is a file.", hint="Name a folder: --root, COMMONPLACE_ROOT.")
    return place


def load_book_settings(
    vault: Vault, given: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[Settings, dict[str, object]]:
    """The settings of a book that is open, and what its config.toml says."""
    config = read_config(vault)[0]
    return load_settings(given, environment, config), config


def find_database_folder(vault: Vault, root: str, settings: Settings) -> str:
    """The folder of index.db and state.db; it may have to be made. NotFound: this is no book."""
    ident = vault.read(LOCAL, KEEPER, BOOK_ID).data.decode("utf-8", "replace").strip()
    return database_location(root, PRIVATE.name, _safe(ident), settings.state)


def _safe(ident: str) -> str:
    """Return a book's id as a safe folder name, whatever its file says."""
    return "".join(ch if ch.isascii() and (ch.isalnum() or ch == "-") else "_" for ch in ident)[:64] or "book"


_NETWORK = frozenset(("cifs", "afs", "ceph", "glusterfs", "9p", "lustre", "ncpfs", "davfs"))
_LOCAL_FUSE = ("fuse.ext", "fuse.ntfs", "fuse.exfat")
_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud", "syncthing")


def database_location(root: str, private: str, book_id: str, override: str | None) -> str:
    """The folder for index.db and state.db of a book; it may have to be made."""
    if override is not None:
        return os.path.join(os.path.abspath(os.path.expanduser(override)), book_id)
    inside = os.path.join(root, private)
    if is_local(root) and os.access(inside, os.W_OK):
        return inside
    return os.path.join(user_state(), book_id)


def is_local(path: str) -> bool:
    """Whether a path is on a disk of this machine, as far as can be told, and not in a folder that something syncs."""
    real = os.path.realpath(path)
    if any(part.casefold().startswith(_SYNCED) for part in real.replace("\\", "/").split("/")):
        return False
    if os.name == "nt":
        return not real.startswith("\\\\")
    return not _is_network(_file_system(real))


def _is_network(system: str) -> bool:
    """Whether a type of file system is one of the network; through FUSE they all are, but those of disks."""
    if system in _NETWORK or system.startswith("smb") or system.rstrip("0123456789") == "nfs":
        return True
    return system.startswith("fuse.") and not system.startswith(_LOCAL_FUSE)


def user_state() -> str:
    """Where this platform wants a program's state."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "commonplace")


def _file_system(path: str) -> str:
    """The type of the file system a path is on, by Linux's table of mounts; "" where there is none."""
    best, found = "", ""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            lines = table.read(1_000_000).splitlines()
    except OSError:
        return ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = fields[4]
        if "\\" in point:
            point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), point)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, after.split(" ")[0]
    return found
