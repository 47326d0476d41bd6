"""Scopes (who a memory is for) with their folders, and spaces (whose book it is).

The path decides the scope, so two scopes must never share a folder. An id that is already a plain lower-case name is
its own folder; any other id becomes SLUG-HASH, and an id that merely looks like SLUG-HASH is hashed too, so no id can
be chosen to land in the folder of another. `_scope.md` inside has the true id. The space is always `local/self` on one
machine; a server has one for each tenant and owner.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple, Self

from commonplace.model.errors import InvalidScope
from commonplace.model.ids import short_hash
from commonplace.model.lazy import lazy
from commonplace.model.names import is_windows_reserved, slug


class Space(NamedTuple):
    """A tenant and an owner: every call of a storage port carries one."""

    tenant: str
    owner: str

    def __str__(self) -> str:
        return f"{self.tenant}/{self.owner}"


LOCAL = Space("local", "self")
HASH_LENGTH = 12
_PLAIN = lazy(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_HASHED = lazy(rf".*-[0-9a-f]{{{HASH_LENGTH}}}", re.ASCII)


class ScopeKind(StrEnum):
    """Who a memory is for, from one session to a whole team."""

    SESSION = "session"
    AGENT = "agent"
    PROJECT = "project"
    GLOBAL = "global"
    TEAM = "team"

    @property
    def has_id(self) -> bool:
        """Whether scopes of this kind have an id."""
        return self not in (ScopeKind.GLOBAL, ScopeKind.TEAM)

    @property
    def rank(self) -> int:
        """How many readers a write here reaches: session < agent = project < global < team."""
        return {"session": 0, "agent": 1, "project": 1, "global": 2, "team": 3}[self.value]


class _Scope(NamedTuple):
    kind: ScopeKind
    id: str | None


class Scope(_Scope):
    """A kind of scope, with its id where it needs one; an invalid pair raises InvalidScope."""

    __slots__ = ()

    def __new__(cls, kind: ScopeKind, id: str | None = None) -> Self:  # noqa: A002 - the word of the specification
        if kind.has_id and not id:
            raise InvalidScope(f"The {kind} scope needs an id, and none is known here.")
        if not kind.has_id and id is not None:
            raise InvalidScope(f"The {kind} scope has no id.")
        if id is not None and (len(id) > 1000 or not id.isprintable()):
            raise InvalidScope("A scope id has at most 1,000 characters, all printable.")
        return super().__new__(cls, kind, id)

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}" if self.id else str(self.kind)

    @property
    def folder_name(self) -> str | None:
        """The name of this scope's folder below that of its kind; None for global and team, which need none."""
        if self.id is None:
            return None
        plain = _PLAIN.fullmatch(self.id) and not _HASHED.fullmatch(self.id) and not is_windows_reserved(self.id)
        if plain and self.kind is not ScopeKind.PROJECT:
            return self.id
        stem = slug(self.id.rstrip("/").rsplit("/", 1)[-1], limit=40) or "x"
        return f"{stem}-{short_hash(self.id, HASH_LENGTH)}"


GLOBAL = Scope(ScopeKind.GLOBAL)
TEAM = Scope(ScopeKind.TEAM)
