"""What a person asks about the book itself: what is where, which settings hold, what is trusted."""

from __future__ import annotations

import os

from commonplace.guard.audit import FOLDER
from commonplace.memories.arrivals import vouch_for_all
from commonplace.memories.open_settings import BOOK_ID, CONFIG, read_config, with_setting
from commonplace.model.errors import InvalidSettings, NotPermitted
from commonplace.model.memory import Status
from commonplace.model.results import BookStatus, ScopeStatus
from commonplace.model.settings import Setting, explain_settings, load_settings, mask_password
from commonplace.model.version import VERSION
from commonplace.vault.paths import KEEPER
from commonplace.vault.port import ABSENT, Write
from commonplace.verbs.desk import TRUSTED, Desk
from commonplace.verbs.reading import unaccepted

_NOT_IN_FILE = ("root", "session", "embedder_key")  # a book cannot say where it is, nor who comes to it


def standing(desk: Desk) -> BookStatus:
    desk.caller.check_reads()
    keep = desk.keep
    folders = desk.asked(None, everything=True)
    own = set(desk.own().values())
    scopes = []
    with keep.index.reading(keep.space) as index:
        for folder in sorted({*folders, *own}):
            count = sum(len(index.rows(place)) for place in index.folders(str(folder)))
            scope, _ = desk.place_of(str(folder), "")
            if count or folder in own:
                scopes.append(ScopeStatus(scope.kind.value, scope.id, str(folder), count, folder in own))
        waiting = len(index.rows_to_review()) if desk.sees_all else 0
    listed = desk.listing(folders) if desk.sees_all else []
    outside = len(unaccepted(desk, [item for item in listed if item.status == Status.ACTIVE]))
    index_path, state_path = (os.path.join(desk.database_folder, name) for name in ("index.db", "state.db"))
    ident = keep.vault.read(keep.space, KEEPER, BOOK_ID).data.decode("utf-8", "replace").strip()
    return BookStatus(
        version=VERSION,
        root=desk.root,
        book=ident,
        index_file=index_path,
        index_bytes=_size(index_path),
        state_file=state_path,
        state_bytes=_size(state_path),
        audit_folder=os.path.join(desk.root, *FOLDER.parts) if desk.is_audited else None,
        enabled=desk.settings.enabled,
        trusted=desk.is_trusted(),
        waiting=waiting,
        outside=outside,
        scopes=tuple(scopes),
        leaves_machine=_leaves(desk),
    )


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def settings_of(desk: Desk) -> list[Setting]:
    return explain_settings(desk.flags, os.environ, read_config(desk.keep.vault)[0])


def configure(desk: Desk, name: str, value: str | None) -> list[Setting]:
    """Write one setting into config.toml; a value it cannot have is refused before anything is written."""
    if not desk.sees_all:
        raise NotPermitted("Settings are a person's to change.")
    if name in _NOT_IN_FILE:
        raise InvalidSettings(f"{name} cannot be set in a book's config.toml.", hint="Use a flag or the environment.")
    keep = desk.keep
    with keep.vault.lock(keep.space, "config", keep.lock_timeout):
        _, text, revision = read_config(keep.vault)
        new_text, new_config = with_setting(text, name, value)
        load_settings({}, {}, new_config)
        keep.vault.apply(keep.space, KEEPER, [Write(CONFIG, new_text.encode(), revision or ABSENT)])
    return settings_of(desk)


def trust(desk: Desk, *, revoke: bool) -> bool:
    if not desk.sees_all:
        raise NotPermitted("Trust is a person's to give.")
    desk.state.set_fact(desk.keep.space, TRUSTED, "" if revoke else desk.config_digest())
    return desk.is_trusted()


def vouch(desk: Desk) -> int:
    if not (desk.sees_all and desk.is_person):
        raise NotPermitted("Trust is a person's to give.")
    return vouch_for_all(desk.keep)


def _leaves(desk: Desk) -> tuple[str, ...]:
    """What is sent anywhere: nothing, unless a person chose a service as the embedder."""
    kind, _, rest = desk.settings.embedder.partition(":")
    if kind not in ("openai", "ollama"):
        return ()
    address = rest.partition("@")[2] or "this machine's own Ollama"
    return (f"texts and questions, to be embedded, to {mask_password(address)}",)
