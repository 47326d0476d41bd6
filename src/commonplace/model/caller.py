"""Who is asking: which scopes are theirs, what they may see, how far their writes may reach.

A scope whose id is not known is an error that says what was missing; it never falls back to another scope.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from commonplace.model.errors import InvalidField, InvalidScope, NotPermitted
from commonplace.model.scope import GLOBAL, TEAM, Scope, ScopeKind

_MISSING = {
    ScopeKind.SESSION: "Give session=, or set COMMONPLACE_SESSION.",
    ScopeKind.AGENT: "Give agent=, or set COMMONPLACE_AGENT.",
    ScopeKind.PROJECT: "Give project=, set COMMONPLACE_PROJECT, or work inside a folder.",
}


class Role(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    COORDINATOR = "coordinator"
    ORCHESTRATOR = "orchestrator"
    WORKER = "worker"

    @property
    def max_rank(self) -> int:
        """The highest rank of scope this role may write to; below 0, none."""
        return _REACH.get(self, -1)

    @property
    def may_review(self) -> bool:
        return self in (Role.PERSON, Role.COORDINATOR, Role.ORCHESTRATOR)

    @property
    def may_record(self) -> bool:
        """Whether it may put runs into the journal."""
        return self in (Role.PERSON, Role.ORCHESTRATOR)


_REACH = {Role.PERSON: ScopeKind.TEAM.rank, Role.AGENT: ScopeKind.GLOBAL.rank}


class Caller(NamedTuple):
    role: Role = Role.PERSON
    session: str | None = None
    agent: str | None = None
    project: str | None = None
    sealed: bool = False

    def scope(self, word: str) -> Scope:
        """The caller's own scope of a kind; a person who is not sealed in may name another's, as KIND:ID."""
        if not isinstance(word, str):
            raise InvalidField(f"scope is a text, not {type(word).__name__}.")
        kind, _, other = word.partition(":")
        try:
            wanted = ScopeKind(kind)
        except ValueError:
            raise InvalidScope(f"{kind[:40]!a} is not a scope.") from None
        if self.sealed and (wanted is not ScopeKind.SESSION or (other and other != self.session)):
            raise InvalidScope("This book is sealed to its session.", hint="Use scope=session, or open it unsealed.")
        if other and self.role is not Role.PERSON:
            raise NotPermitted("Only a person may name a scope by its id.", hint=f"Say {wanted} for your own.")
        if other and not wanted.has_id:
            raise InvalidScope(f"{wanted} has no id.", hint=f"Say {wanted}.")
        if not wanted.has_id:
            return GLOBAL if wanted is ScopeKind.GLOBAL else TEAM
        ident = other or getattr(self, wanted.value)
        if ident is None:
            raise InvalidScope(f"There is no {wanted} here to store for.", hint=_MISSING[wanted])
        return Scope(wanted, ident)

    def scopes(self) -> list[Scope]:
        """Every scope of this caller, nearest first."""
        if self.sealed:
            return [self.scope("session")]
        own = [Scope(kind, ident) for kind, ident in self._own() if ident is not None]
        return [*own, GLOBAL, TEAM]

    def _own(self) -> list[tuple[ScopeKind, str | None]]:
        return [
            (ScopeKind.SESSION, self.session), (ScopeKind.AGENT, self.agent), (ScopeKind.PROJECT, self.project),
        ]  # fmt: skip

    def check_reads(self) -> None:
        if self.role is Role.WORKER:
            raise NotPermitted("A worker has no memory.", hint="The coordinator puts what it needs into its task.")

    def check_records(self) -> None:
        if not self.role.may_record:
            raise NotPermitted("The journal is written by the orchestrator of a run, or by a person.")

    def check_verdict(self, scope: Scope) -> None:
        """Who may say what becomes of something proposed: a reviewer, on all that an agent may write."""
        if not self.role.may_review:
            raise NotPermitted("Review is for a person or a coordinator.")
        if scope.kind is ScopeKind.TEAM:
            self.check_write(scope)

    def check_write(self, scope: Scope) -> None:
        """The rank check of every verb that changes something."""
        if scope.kind is ScopeKind.TEAM:
            raise InvalidScope(
                "The team scope needs a server.", hint="On one machine use global; teams run the same on PostgreSQL."
            )
        if scope.kind.rank > self.role.max_rank:
            raise NotPermitted(f"The role {self.role} may not write to {scope.kind}.")
