"""Scopes (who a memory is for) with their folders, spaces (whose book it is), and callers with their roles.

The path decides the scope, so two scopes must never share a folder. An id that is already a plain lower-case name is
its own folder; any other id becomes SLUG-HASH, and an id that merely looks like SLUG-HASH is hashed too, so no id can
be chosen to land in the folder of another. `_scope.md` inside has the true id. The space is always `local/self` on one
machine; a server has one for each tenant and owner.

The verbs check every call against its caller. A scope whose id is not known is an error that says what is missing;
there is no fallback to another scope.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple, Self

from commonplace.model.errors import InvalidField, InvalidScope, NotPermitted
from commonplace.model.lazy import lazy
from commonplace.model.names import is_windows_reserved, short_hash, slug


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

    has_id: bool  # whether scopes of this kind have an id


for _kind in ScopeKind:
    _kind.has_id = _kind not in (ScopeKind.GLOBAL, ScopeKind.TEAM)


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


_MISSING = {
    ScopeKind.SESSION: "Pass session=, or set COMMONPLACE_SESSION.",
    ScopeKind.AGENT: "Pass agent=, or set COMMONPLACE_AGENT.",
    ScopeKind.PROJECT: "Pass project= or cwd=, or set COMMONPLACE_PROJECT.",
}


class Role(StrEnum):
    """What a caller is, which decides what it may do."""

    PERSON = "person"
    AGENT = "agent"
    COORDINATOR = "coordinator"
    ORCHESTRATOR = "orchestrator"
    WORKER = "worker"

    may_write: bool  # memories
    may_review: bool  # accept and reject proposals
    narrower: frozenset[Role]  # the roles that may do less, and nothing else


for _role in Role:
    _role.narrower = frozenset()
    _role.may_write = _role in (Role.PERSON, Role.AGENT)
    _role.may_review = _role not in (Role.AGENT, Role.WORKER)

Role.PERSON.narrower = frozenset(Role) - {Role.PERSON}
Role.ORCHESTRATOR.narrower = frozenset((Role.COORDINATOR, Role.WORKER))
Role.AGENT.narrower = Role.COORDINATOR.narrower = frozenset((Role.WORKER,))


def read_role(word: str) -> Role:
    """Return the role of a name. Raises InvalidField."""
    try:
        return Role(word)
    except ValueError:
        raise InvalidField(f"{word[:40]!a} is not a role.", hint=f"Use one of: {', '.join(Role)}.") from None


class Caller(NamedTuple):
    """Who calls: a role and the ids of its scopes. A sealed caller has its session and nothing else."""

    role: Role = Role.PERSON
    session: str | None = None
    agent: str | None = None
    project: str | None = None
    sealed: bool = False

    def scope(self, word: str) -> Scope:
        """Return the caller's own scope of a kind; an unsealed person may name any other as KIND:ID."""
        if not isinstance(word, str):
            raise InvalidField(f"scope must be a string, not {type(word).__name__}.")
        kind, _, other = word.partition(":")
        try:
            wanted = ScopeKind(kind)
        except ValueError:
            raise InvalidScope(f"{kind[:40]!a} is not a scope.") from None
        if self.sealed and (wanted is not ScopeKind.SESSION or (other and other != self.session)):
            raise InvalidScope(
                "This book is sealed to its session.", hint="Use scope=session, or open the book unsealed."
            )
        is_own = other == getattr(self, wanted.value, None)
        if other and not is_own and self.role is not Role.PERSON:
            raise NotPermitted("Only a person may name a scope by its id.", hint=f"Use {wanted} for your own.")
        if other and not wanted.has_id:
            raise InvalidScope(f"The {wanted} scope has no id.", hint=f"Use {wanted}.")
        if not wanted.has_id:
            return Scope(wanted)
        ident = other or getattr(self, wanted.value)
        if ident is None:
            raise InvalidScope(f"No {wanted} is known here.", hint=_MISSING[wanted])
        return Scope(wanted, ident)

    def scopes(self) -> list[Scope]:
        """Return every scope of this caller, nearest first."""
        if self.sealed:
            return [self.scope("session")]
        own = [(kind, getattr(self, kind)) for kind in ScopeKind if kind.has_id]
        return [*(Scope(kind, ident) for kind, ident in own if ident is not None), GLOBAL, TEAM]

    def check_reads(self) -> None:
        """Raise NotPermitted for a worker, which may not read memory."""
        if self.role is Role.WORKER:
            raise NotPermitted(
                "A worker may not read memory.", hint="The coordinator puts what the worker needs into its task."
            )

    def check_records(self) -> None:
        """Raise NotPermitted unless this caller may record runs."""
        if self.role not in (Role.PERSON, Role.ORCHESTRATOR):
            raise NotPermitted("Only a person or the orchestrator of a run may write to the journal.")

    def check_verdict(self, scope: Scope) -> None:
        """Raise NotPermitted unless this caller may accept or reject a proposal in the scope."""
        if not self.role.may_review:
            raise NotPermitted("Only a person, a coordinator or an orchestrator may review.")
        if scope.kind is ScopeKind.TEAM:
            self.check_write(scope)

    def check_write(self, scope: Scope) -> None:
        """Raise NotPermitted or InvalidScope unless this caller may write to the scope."""
        if scope.kind is ScopeKind.TEAM:
            raise InvalidScope("The team scope needs a server.", hint="On one machine, use global instead.")
        if not self.role.may_write:
            raise NotPermitted(f"The role {self.role} may not write to {scope.kind}.")
