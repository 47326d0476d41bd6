"""The verbs that look after the book: `doctor`, `verify`, `scan`, `reindex` and `embed`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing

from commonplace import verbs
from commonplace.guard.secrets import find_unmarked
from commonplace.index.sqlite import SqliteIndex
from commonplace.index.sqlite.reader import KEYED, is_from_before
from commonplace.maintenance.book_files import scan as scan_files
from commonplace.maintenance.doctor import examine
from commonplace.maintenance.findings import CODES
from commonplace.maintenance.lost_hooks import find_lost_hooks
from commonplace.memories.layout import book_root
from commonplace.memories.lookup import journal_folders, scope_folders
from commonplace.memories.store import MemoryStore
from commonplace.memories.upkeep import create_book_key
from commonplace.memories.upkeep import verify as verify_memories
from commonplace.model.errors import CommonplaceError, StorageError
from commonplace.model.host_results import HostConnection, LostHooks
from commonplace.model.results import Finding, ScanResult, VerifyResult
from commonplace.model.settings import Settings, load_settings
from commonplace.model.times import now
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import BookPath
from commonplace.verbs.context import BookContext, log
from commonplace.verbs.verb import Access, NoRequest, verb

BROKEN = "broken_connection"
_NO_TOOL = "about the whole book: for a person"


@verb(
    Access.WHOLE_BOOK,
    command="doctor",
    examples=("commonplace doctor", "commonplace doctor --all", "commonplace doctor --json"),
    no_tool=_NO_TOOL,
    repairs=True,
)
def doctor(context: BookContext, _: NoRequest) -> list[Finding]:
    """Check the book for problems, and say what to do.

    Reads every note and checks every name, mode and record in the book. Changes nothing and deletes nothing. The exit
    status is 1 if there is an error or a warning; notes alone are fine. docs/doctor.md explains every code.
    """
    return examine(context.memories, root=context.root, database_folder=context.database_folder, faults=context.faults)


@verb(
    Access.WHOLE_BOOK,
    command="doctor verify",
    examples=("commonplace doctor verify", "commonplace doctor verify --json"),
    no_tool=_NO_TOOL,
)
def verify(context: BookContext, _: NoRequest) -> VerifyResult:
    """Prove that the index says what the files say.

    Reads every note and compares it with its row, its entries and its index pages. Changes nothing. The exit status is
    1 if anything differs; `commonplace doctor reindex` repairs that.
    """
    found = verify_memories(context.memories, _folders(context.memories))
    if not verbs.tree_opening.has_tree(context):
        return found
    tree = verbs.tree_opening.open_tree(context)
    in_tree = verify_memories(tree.memories, tree.folders())
    return VerifyResult(
        found.ok and in_tree.ok, found.files + in_tree.files, (*found.differences, *in_tree.differences)
    )


def _folders(memories: MemoryStore) -> list[BookPath]:
    """Return the folders that the index of memories knows: scopes and journals."""
    return [*scope_folders(memories), *journal_folders(memories)]


@verb(
    Access.WHOLE_BOOK,
    command="doctor scan",
    examples=("commonplace doctor scan", "commonplace doctor scan --json"),
    no_tool=_NO_TOOL,
)
def scan(context: BookContext, _: NoRequest) -> ScanResult:
    """Look for secrets in everything that is stored.

    Searches notes, pages, data files that are text, history and trash. Shows where and by which rule, never the secret
    itself. A line that contains commonplace:not-a-secret is skipped. The exit status is 1 if anything was found.
    """
    return scan_files(context.memories, find_unmarked)


@verb(
    Access.WHOLE_BOOK,
    command="doctor reindex",
    examples=("commonplace doctor reindex", "commonplace doctor reindex --vectors"),
    no_tool=_NO_TOOL,
)
def reindex(context: BookContext, _: NoRequest) -> int:
    """Rebuild the index from the files.

    Reads every note and repairs the index pages. No note is changed. Text that only the old index has, because a note
    was replaced or deleted outside, is saved to the history first. With an embedder other than the static table, every
    entry is embedded again: minutes for ten thousand. `--vectors` only embeds what is not embedded yet, as after a
    change of embedder.
    """
    memories = context.memories
    memories.rebuild(_folders(memories))
    number = verify_memories(memories, _folders(memories)).files
    if verbs.tree_opening.has_tree(context):
        number += verbs.tree_opening.open_tree(context).rebuild(memories.progress)
    return number


@verb(Access.READ, no_tool=_NO_TOOL)
def embed(context: BookContext, _: NoRequest) -> int:
    """Embed every entry that has no vector of the book's embedder yet, and return how many these were."""
    if not context.settings.enabled:
        return 0
    context.folders_to_search(None, everything=True)
    context.journals_to_search(None, everything=True)
    return context.embedding.embed_all(context.semantic_index())


def lost_hooks(root: str | None, environment: Mapping[str, str]) -> list[LostHooks]:
    """Return the hosts whose hooks gave no answer lately, for `connect --list`, which opens no book."""
    try:
        place = book_root(load_settings({"root": root}, environment, {}))
    except CommonplaceError:  # of a setting, which every other command names
        return []
    return find_lost_hooks(place, now())


def describe_connection(host: str, connection: HostConnection) -> Finding:
    """Return the finding for an agent program whose connection does not work."""
    severity, _, default_hint = CODES[BROKEN]
    message = f"{host} ({connection.scope}): {' '.join(connection.problems)}"
    hint = f"Run `{connection.repair}`." if connection.repair else connection.hint or default_hint
    return Finding(BROKEN, severity, connection.path, message, hint)


def create_key(vault: LocalVault, database_folder: str, settings: Settings) -> None:
    """Give a key to a book that has none, once. `opening` calls it.

    A book whose index is older than keys was written here, by a version without keys. A newer index proves nothing: it
    may come from a process that was killed before it made a key, from a time when the book was read-only, or, outside
    the book, from another book with the same id.
    """
    is_own = is_from_before(os.path.join(database_folder, "index.db"), KEYED)
    with closing(SqliteIndex(":memory:")) as no_index:  # opening the book's own index now would upgrade it
        try:
            create_book_key(MemoryStore(vault, no_index, lock_timeout=settings.lock_timeout), own=is_own)
        except StorageError as error:  # a book that cannot be written now gets its key later
            log.warning("event=no_key code=%s", error.code)
