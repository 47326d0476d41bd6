"""The words that parameters take, as types: an editor completes them, and a type checker refuses any other.

`Book` has them in its signatures; at run time only a program that asks for them loads them. A scope that is not the
caller's own is a `Scope`, which says its kind and its id.
"""

# Without postponed annotations: a typed dict would compile each of them at every start.
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Required, TypeAlias, TypedDict

from commonplace.model.memory import MemoryType, Relation
from commonplace.model.scope import Role, Scope, ScopeKind

SearchMode: TypeAlias = Literal["hybrid", "lexical", "semantic"]
StoreMode: TypeAlias = Literal["append", "replace"]
SortOrder: TypeAlias = Literal["score", "recency", "usage"]
KindName: TypeAlias = Literal["memory", "journal", "leaf", "summary", "digest"]
ScopeChoice: TypeAlias = Literal["session", "agent", "project", "global", "team"] | ScopeKind | Scope
PlaceChoice: TypeAlias = ScopeChoice | Literal["journal"]  # where `show` looks
TypeChoice: TypeAlias = Literal["user", "feedback", "project", "reference"] | MemoryType
RelationChoice: TypeAlias = Literal["relates_to", "supersedes", "contradicts"] | Relation
RoleChoice: TypeAlias = Literal["person", "agent", "coordinator", "orchestrator", "worker"] | Role
SourceFormat: TypeAlias = Literal[
    "claude-code", "agents-md", "scaffold", "cao-wiki", "basic-memory", "mcp-memory", "mem0"
]
Moment: TypeAlias = str | datetime  # a text in ISO 8601, or a datetime: without a time zone it is local time


class StoreItem(TypedDict, total=False):
    """One item of `Book.store_many`: the parameters of `Book.store`, by name."""

    content: Required[str]
    key: str | None
    scope: ScopeChoice | None
    type: TypeChoice | None
    tags: Sequence[str]
    summary: str | None
    mode: StoreMode
    if_revision: str | None
    author: str | None
    occurred: Moment | None
    thread: str | None
    seq: int | None
    pinned: bool
