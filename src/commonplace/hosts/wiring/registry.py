"""The hosts there are: every module of the room above that has a HOST, found by its file name."""

from __future__ import annotations

import importlib
import os

from commonplace.hosts.wiring.values import Host
from commonplace.model.errors import UnknownHost

_FOLDER = os.path.dirname(os.path.dirname(__file__))


def names() -> list[str]:
    """The names of all hosts, sorted; no module is loaded for it."""
    files = (name for name in os.listdir(_FOLDER) if name.endswith(".py") and not name.startswith("_"))
    return sorted(name[:-3].replace("_", "-") for name in files)


def load(name: str) -> Host:
    known = names()
    if name not in known:
        raise UnknownHost(
            f"{name[:40]!a} is no host that Commonplace knows.",
            hint=f"Known: {', '.join(known)}. For any other: `commonplace connect agents-md`.",
        )
    host = importlib.import_module(f"commonplace.hosts.{name.replace('-', '_')}").HOST
    assert isinstance(host, Host)  # noqa: S101 - a module of this room without one is a mistake of ours
    return host


def all_hosts() -> list[Host]:
    return [load(name) for name in names()]
