"""The caller of a verb: its role, its scopes, and which scopes it may read and write.

The verbs check every call against these. A scope whose id is not known is an error that says what is missing; there is
no fallback to another scope.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from commonplace.model.errors import InvalidField, InvalidScope, NotPermitted
from commonplace.model.scope import GLOBAL, TEAM, Scope, ScopeKind

_MISSING = {
    ScopeKind.SESSION: "Pass session=, or set COMMONPLACE_SESSION.",
    ScopeKind.AGENT: "Pass agent=, or set COMMONPLACE_AGENT.",
    ScopeKind.PROJECT: "Pass project=, set COMMONPLACE_PROJECT, or work inside a folder.",
}


class Role(StrEnum):
    """What a caller is, which decides what it may do."""

    PERSON = "person"
    AGENT = "agent"
    COORDINATOR = "coordinator"
    ORCHESTRATOR = "orchestrator"
    WORKER = "worker"

    @property
    def max_rank(self) -> int:
        """The highest rank of scope that this role may write to; below 0, it may not write."""
        return _REACH.get(self, -1)

    @property
    def may_review(self) -> bool:
        """Whether this role may accept and reject proposals."""
        return self in (Role.PERSON, Role.COORDINATOR, Role.ORCHESTRATOR)

    @property
    def may_record(self) -> bool:
        """Whether this role may record runs in the journal."""
        return self in (Role.PERSON, Role.ORCHESTRATOR)


_REACH = {Role.PERSON: ScopeKind.TEAM.rank, Role.AGENT: ScopeKind.GLOBAL.rank}


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
        if other and self.role is not Role.PERSON:
            raise NotPermitted("Only a person may name a scope by its id.", hint=f"Use {wanted} for your own.")
        if other and not wanted.has_id:
            raise InvalidScope(f"The {wanted} scope has no id.", hint=f"Use {wanted}.")
        if not wanted.has_id:
            return GLOBAL if wanted is ScopeKind.GLOBAL else TEAM
        ident = other or getattr(self, wanted.value)
        if ident is None:
            raise InvalidScope(f"No {wanted} is known here.", hint=_MISSING[wanted])
        return Scope(wanted, ident)

    def scopes(self) -> list[Scope]:
        """Return every scope of this caller, nearest first."""
        if self.sealed:
            return [self.scope("session")]
        own = [Scope(kind, ident) for kind, ident in self._own() if ident is not None]
        return [*own, GLOBAL, TEAM]

    def _own(self) -> list[tuple[ScopeKind, str | None]]:
        return [
            (ScopeKind.SESSION, self.session), (ScopeKind.AGENT, self.agent), (ScopeKind.PROJECT, self.project),
        ]  # fmt: skip

    def check_reads(self) -> None:
        """Raise NotPermitted for a worker, which may not read memory."""
        if self.role is Role.WORKER:
            raise NotPermitted(
                "A worker may not read memory.", hint="The coordinator puts what the worker needs into its task."
            )

    def check_records(self) -> None:
        """Raise NotPermitted unless this caller may record runs."""
        if not self.role.may_record:
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
        if scope.kind.rank > self.role.max_rank:
            raise NotPermitted(f"The role {self.role} may not write to {scope.kind}.")
