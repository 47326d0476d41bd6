"""One project, one id, however its address is written.

    https://user:token@GitHub.com:443/acme/app.git/     ssh://git@github.com/acme/app      git@github.com:acme/app.git

are all `github.com/acme/app`. Nothing of a user name or password is ever part of an id. An id is printable whatever the
path was: what is not, and `%`, is written as `%XX`.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata

from commonplace.model.lazy import lazy
from commonplace.model.names import fold_name, short_hash
from commonplace.text.naming import unquote_to_bytes

MAX_ID = 1_000  # a scope's
_MAX_ADDRESS = 4_000
_URL = lazy(r"([a-z][a-z0-9+.-]*+)://(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_HELPER = lazy(r"[a-z0-9]++::(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_DRIVE = lazy(r"/?[a-z]:[/\\]", re.IGNORECASE | re.ASCII)
_SCP = lazy(r"(?:[^/\[]*@)?(\[[^/\]]*\]|[^/:@\[\]]+):(.*)", re.DOTALL)
_HOST = lazy(r"(\[[0-9a-f:.]+\]|[^:@/\[\]?#\\]+)(?::([0-9]{0,5}))?", re.IGNORECASE | re.ASCII)
_PORTS = {"http": 80, "https": 443, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418, "ftp": 21, "ftps": 990}


def remote_id(address: str, base: str) -> str | None:
    """Return the id of the project that an address leads to; None when it leads to none that could be named.

    A path, as an address, is the id of that folder; `base` is where a relative one starts.
    """
    address = address.strip()
    if not address or len(address) > _MAX_ADDRESS or "\0" in address:
        return None
    helper = _HELPER.fullmatch(address)
    if helper:  # hg::https://... has an address; ext::COMMAND has none
        return normalise(helper[1]) if _URL.fullmatch(helper[1]) else None
    url = _URL.fullmatch(address)
    if url and url[1].lower() == "file":
        path = _decoded(url[2])
        return _local_id(path if path.startswith("/") or _DRIVE.match(path) else f"//{path}", base)
    if url or (_SCP.fullmatch(address) and not _DRIVE.match(address)):
        return normalise(address)
    return _local_id(address, base)


def normalise(address: str) -> str | None:
    """Return host/path of a URL or of git@host:path; None for anything else."""
    url = _URL.fullmatch(address)
    if url:
        scheme, rest = url[1].lower(), url[2]
        if scheme in ("http", "https"):
            rest = re.split("[?#]", rest, maxsplit=1)[0]
        authority, _, path = rest.partition("/")
        path = _decoded(path)
    else:
        scp = _SCP.fullmatch(address)
        if not scp:
            return None
        scheme, authority, path = "ssh", scp[1], unicodedata.normalize("NFC", scp[2])
        if authority.count(":") < 2:  # [git@host:port]:path, and no IPv6 address
            authority = authority.strip("[]")
    host = _host(authority.rpartition("@")[2], scheme)
    path = _tidy(path)
    # An @ inside a name may be the end of a password with a / in it, which no URL can hold.
    if not host or not path or re.search("[^/]@", path):
        return None
    found = f"{host}/{escaped(path)}"
    return found if len(found) <= MAX_ID else None


def path_id(path: str) -> str:
    """Return the id of a folder: its real path with `/`, in one Unicode form."""
    found = escaped(unicodedata.normalize("NFC", path.replace(os.sep, "/")))
    return found if len(found) <= MAX_ID else f"{short_hash(found, 32)}/{found[-200:]}"


def escaped(text: str) -> str:
    """Return a text as a scope's id can hold it: printable, and no two texts alike."""
    return "".join(ch if ch.isprintable() and ch != "%" else _percent(ch) for ch in text)


def _percent(char: str) -> str:
    escape = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", escape))


def _decoded(text: str) -> str:
    data = unquote_to_bytes(text.encode("utf-8", "surrogateescape"))
    return unicodedata.normalize("NFC", data.decode("utf-8", "surrogateescape"))


def _host(authority: str, scheme: str) -> str | None:
    match = _HOST.fullmatch(authority)
    if not match or not authority.isprintable() or " " in authority or "%" in authority:
        return None
    host, port = fold_name(match[1]).rstrip("."), int(match[2] or 0)
    if not host or port > 65_535:
        return None
    return f"{host}:{port}" if port and port != _PORTS.get(scheme) else host


def _tidy(path: str) -> str:
    """Return a path without empty and dot names, without slashes around it, without `.git` behind it."""
    before = None
    while path != before:
        before, path = path, posixpath.normpath("/" + path.strip("/")).removesuffix(".git")
    return path.strip("/")


def _local_id(path: str, base: str) -> str | None:
    if "\0" in path:
        return None
    if _DRIVE.match(path) and os.sep == "/":  # seen from another system: a name is all it can be
        return path_id(_tidy(path.replace("\\", "/"))) or None
    try:
        real = os.path.realpath(os.path.join(base, path.lstrip("/") if _DRIVE.match(path) else path))
    except (OSError, ValueError):
        return None
    return path_id(real.removesuffix(".git").rstrip("/\\") or real)
