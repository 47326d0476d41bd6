"""The verbs `status`, `config`, `configure`, `trust` and `vouch`: what a person asks about the book itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from commonplace import verbs
from commonplace.guard.audit import FOLDER
from commonplace.memories.layout import (
    BOOK_ID,
    CONFIG,
    TRUSTED,
    find_database_folder,
    read_config_text,
    read_format,
    with_setting,
)
from commonplace.memories.upkeep import vouch_for_all
from commonplace.model import VERSION
from commonplace.model.errors import CommonplaceError, InvalidSettings, NotPermitted
from commonplace.model.memory import Status
from commonplace.model.results import BookStatus, ScopeStatus
from commonplace.model.settings import (
    INCLUDED,
    KEYS,
    Setting,
    explain_settings,
    load_settings,
    mask_password,
    read_summariser,
)
from commonplace.tree.store import list_sources
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER
from commonplace.vault.port import ABSENT, UNUSABLE, Write
from commonplace.verbs.context import BookContext, describe_unusable
from commonplace.verbs.opening import check_ids, read_valid_config
from commonplace.verbs.show import find_unaccepted
from commonplace.verbs.verb import Access, Arg, NoRequest, verb

_NOT_IN_FILE = ("root", "session", *KEYS)  # a book cannot say where it is, nor who opens it
_NO_TOOL = "about the whole book: for a person"


class ConfigureRequest(NamedTuple):
    """What `configure` is asked."""

    name: Annotated[str, Arg()]
    value: Annotated[str | None, Arg()]


class TrustRequest(NamedTuple):
    """What `trust` is asked."""

    revoke: Annotated[bool, Arg("take the trust in the settings away")] = False


@verb(
    Access.READ,
    command="status",
    examples=("commonplace status", "commonplace status --json"),
    no_tool=_NO_TOOL,
    repairs=True,
)
def status(context: BookContext, _: NoRequest) -> BookStatus:
    """Show where things are stored and what is connected.

    The book's folder, its databases and audit log, the scopes with their memories, what waits for review or to be
    embedded, connected agent programs, and whether anything is sent over the network.
    """
    folders = context.folders_to_search(None, everything=True)
    own = set(context.own_folders().values())
    scopes = []
    with context.reading() as index:
        for folder in sorted({*folders, *own}):
            count = sum(len(index.rows(place)) for place in index.folders(str(folder)))
            scope, _key = context.locate(str(folder), "")
            if count or folder in own:
                scopes.append(ScopeStatus(scope.kind, scope.id, str(folder), count, folder in own))
        waiting = len(index.rows_to_review()) if context.sees_all else 0
    items = context.list_memories(folders) if context.sees_all else []
    outside = len(find_unaccepted(context, [item for item in items if item.status == Status.ACTIVE]))
    index_path, state_path = (os.path.join(context.database_folder, name) for name in ("index.db", "state.db"))
    return BookStatus(
        version=VERSION,
        root=context.root,
        book=_read_book_id(context),
        format=read_format(context.memories.vault),
        index_file=index_path,
        index_bytes=_file_size(index_path),
        state_file=state_path,
        state_bytes=_file_size(state_path),
        audit_folder=os.path.join(context.root, *FOLDER.parts) if context.is_audited else None,
        enabled=context.settings.enabled,
        trusted=context.is_trusted(),
        waiting=waiting,
        outside=outside,
        scopes=tuple(scopes),
        leaves_machine=_leaves_machine(context),
        can_lock=context.memories.vault.can_lock(context.memories.space),
        unembedded=_count_unembedded(context),
        problems=_find_problems(context),
        sources=len(list_sources(context.memories)),
    )


def _count_unembedded(context: BookContext) -> int | None:
    """Return how many entries have no vector yet; None where the embedder is not inside the install: a service may have
    to be asked for its dimension."""
    return context.semantic_index().count_pending() if context.settings.embedder in INCLUDED else None


def _find_problems(context: BookContext) -> tuple[str, ...]:
    """Return what is wrong with the book itself, and what to do about it."""
    unusable = [path for paths in context.memories.unusable.values() for path in paths]
    problems = [f"{error.message} {error.hint}" for error in context.faults]
    if context.memories.provenance.is_key_damaged():
        problems.append("The book's key was damaged or lost. `commonplace doctor` says what to do.")
    return (*problems, *filter(None, [describe_unusable(unusable)]))


def _read_book_id(context: BookContext) -> str:
    try:
        return (context.memories.files.read_text(BOOK_ID) or "").strip()
    except UNUSABLE:
        return ""


def _file_size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _leaves_machine(context: BookContext) -> tuple[str, ...]:
    """Return what is sent over the network: nothing, unless a person chose a service."""
    found = []
    kind, _, rest = context.settings.embedder.partition(":")
    if kind in ("openai", "ollama"):
        address = rest.partition("@")[2] or "this machine's own Ollama"
        found.append(f"texts and questions, to be embedded, to {mask_password(address)}")
    summariser = read_summariser(context.settings.summariser)
    if summariser.is_known:
        found.append(f"mail, chat and documents, to be summarised, to {mask_password(summariser.address)}")
    return tuple(found)


@verb(Access.READ, no_tool=_NO_TOOL, repairs=True)
def config(context: BookContext, _: NoRequest) -> Sequence[Setting]:
    """Return every setting with its value and where that comes from."""
    return _read_settings(context)


def _read_settings(context: BookContext) -> list[Setting]:
    return explain_settings(context.flags, os.environ, read_valid_config(context.memories.vault)[0])


@verb(
    Access.READ,
    audit=lambda _, request: {"keys": (request.name,)},
    audit_name="config",
    no_tool=_NO_TOOL,
    repairs=True,
)
def configure(context: BookContext, request: ConfigureRequest) -> Sequence[Setting]:
    """Write one setting into config.toml, or take it out. A value it cannot have is refused before anything changes."""
    name = request.name
    if not context.sees_all:
        raise NotPermitted("Only a person changes settings.")
    if name in _NOT_IN_FILE and request.value is not None:
        raise InvalidSettings(f"{name} cannot be set in a book's config.toml.", hint="Use a flag or the environment.")
    memories = context.memories
    with memories.vault.lock(memories.space, "config", memories.lock_timeout):
        text, revision = read_config_text(memories.vault)
        new_text, new_config = with_setting(text, name, request.value)
        if request.value is not None:
            _check_setting({name: new_config[name]}, context)
        memories.vault.apply(memories.space, KEEPER, [Write(CONFIG, new_text.encode(), revision or ABSENT)])
    return _read_settings(context)


def _check_setting(config: Mapping[str, object], context: BookContext) -> None:
    """Refuse a setting with which the book could not be opened."""
    settings = load_settings({}, {}, config)
    check_ids(settings)
    if settings.state is None:
        return
    try:
        LocalVault.at(find_database_folder(context.memories.vault, context.root, settings), make=True)
    except CommonplaceError as error:
        raise InvalidSettings(f"The databases cannot be there. {error.message}", hint="Name another folder.") from error


@verb(
    Access.READ,
    audit=lambda is_trusted, _: {"action": "trusted" if is_trusted else "revoked"},
    command="config trust",
    examples=("commonplace config trust", "commonplace config trust --revoke", "commonplace config trust --memories"),
    no_tool=_NO_TOOL,
)
def trust(context: BookContext, request: TrustRequest) -> bool:
    """Trust this book's settings, or the memories that came with it.

    A book can come from another person, by a clone or a sync. Its config.toml may not make Commonplace start a program
    or call an address until you have read it and trusted it here. A change to the file takes the trust away.

    Memories that another book wrote are `external`, whatever they claim: labelled, ranked lower, in no brief.
    `--memories` trusts all that are here now. To trust one of them: `commonplace review --accept KEY`.
    """
    if not context.sees_all:
        raise NotPermitted("Only a person trusts a book.")
    if not request.revoke:
        verbs.toolset.check_vocabulary(context.config)  # a hook that meets a wrong one cannot say so
    digest = "" if request.revoke else context.config_digest()
    context.state.set_fact(context.memories.space, TRUSTED, digest)
    return context.is_trusted()


@verb(Access.READ, audit=lambda count, _: {"count": count}, no_tool=_NO_TOOL)
def vouch(context: BookContext, _: NoRequest) -> int:
    """Trust all memories that are here, though another book wrote them. Return how many were not trusted before."""
    if not (context.sees_all and context.is_person):
        raise NotPermitted("Only a person trusts a book.")
    return vouch_for_all(context.memories)
