"""Where the two databases are: in the book, if that is local and can be written; else in the user's state folder.

Databases on a network share or in a synced folder get damaged by it; the notes do not mind.
"""

from __future__ import annotations

import os
import re
import sys

_NETWORK = frozenset(("cifs", "afs", "ceph", "glusterfs", "9p", "lustre", "ncpfs", "davfs"))
_LOCAL_FUSE = ("fuse.ext", "fuse.ntfs", "fuse.exfat")
_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud", "syncthing")


def database_folder(root: str, private: str, book_id: str, override: str | None) -> str:
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
