"""What every way into a book asks first: which settings, which folder, where the databases are, which project.

It changes nothing, so that a hook can stand on it as well as a command; verbs.opening makes what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from commonplace.keep.config_file import read_config
from commonplace.keep.identity import Identity, identify
from commonplace.keep.places import database_folder
from commonplace.model.errors import InvalidSettings
from commonplace.model.settings import Settings, load_settings
from commonplace.model.space import LOCAL
from commonplace.state.port import State
from commonplace.vault.paths import PRIVATE
from commonplace.vault.port import Vault
from commonplace.vault.view import KEEPER

BOOK_ID = PRIVATE / "book-id"


def root_of(settings: Settings) -> str:
    """The folder of the book, as an absolute path."""
    place = os.path.abspath(os.path.expanduser(settings.root))
    if os.path.isfile(place):
        raise InvalidSettings("The root is a file.", hint="Name a folder: --root, COMMONPLACE_ROOT.")
    return place


def settings_of(
    vault: Vault, given: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[Settings, dict[str, object]]:
    """The settings of a book that is open, and what its config.toml says."""
    config = read_config(vault)[0]
    return load_settings(given, environment, config), config


def databases_of(vault: Vault, root: str, settings: Settings) -> str:
    """The folder of index.db and state.db; it may have to be made. NotFound: this is no book."""
    ident = vault.read(LOCAL, KEEPER, BOOK_ID).data.decode("utf-8", "replace").strip()
    return database_folder(root, PRIVATE.name, _safe(ident), settings.state)


def project_of(
    state: State | None, settings: Settings, root: str, cwd: str | os.PathLike[str] | None
) -> Identity | None:
    """Return the project that the caller's folder claims to be; None when nothing says so."""
    if settings.sealed or (settings.project is None and cwd is None):
        return None
    place = cwd if cwd is not None else root
    if state is None:
        return identify(place, override=settings.project)
    return identify(
        place,
        override=settings.project,
        known_path=lambda nonce: state.remembered(LOCAL, f"marker/{nonce}"),
    )


def _safe(ident: str) -> str:
    """A book's id as a folder name, whatever somebody wrote into its file."""
    return "".join(ch if ch.isascii() and (ch.isalnum() or ch == "-") else "_" for ch in ident)[:64] or "book"
