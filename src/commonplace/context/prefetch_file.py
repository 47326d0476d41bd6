"""The file with the digest of the last days: `prefetch.md` in the folder of the databases.

`verbs/tree_settling.py` writes it, hooks and the verbs `brief` and `prefetch` read it. It is derived, of this machine
alone, and for nobody but its user. What is read is told only if it is at most two days old, and signed with the key of
the book for the sources that the user allows now: so a source that was forgotten or closed since, on this machine or
another, is told nowhere, nor is a file that came with a book from elsewhere.
"""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import date

from commonplace.context.prefetch import parse_prefetch
from commonplace.context.records import BriefSources
from commonplace.memories.layout import KEY
from commonplace.model.errors import CommonplaceError, NotFound, Unreadable
from commonplace.model.names import is_key_name
from commonplace.model.scope import LOCAL
from commonplace.vault.local import LocalVault
from commonplace.vault.paths import KEEPER, SOURCE_PAGE, TREE, BookPath
from commonplace.vault.port import UNUSABLE, Delete, FileKind, Write

PREFETCH_FILE = "prefetch.md"
_PATH = BookPath(PREFETCH_FILE)


def find_prefetch(sources: BriefSources, folder: str) -> str:
    """Return the digest to tell this caller, fenced; empty if there is none to tell.

    `folder` has the databases. Raises Unreadable for a file that is no digest, and what the vault raises for one that
    cannot be read.
    """
    if not sources.view.may_read(TREE):  # a sealed session
        return ""
    data = read_prefetch_file(folder)
    if data is None:
        return ""
    found = parse_prefetch(data)
    if found is None:
        raise Unreadable(f"{PREFETCH_FILE} is not as it was written.", hint="commonplace tree settle")
    if not found.is_recent(date.today()):  # noqa: DTZ011 - days begin by the clock of this machine
        return ""
    try:
        key = sources.vault.read(sources.space, KEEPER, KEY).data.decode("utf-8", "replace").strip()
    except NotFound:
        return ""
    return found.text if found.is_ours(list_allowed(sources), key) else ""


def list_allowed(sources: BriefSources) -> list[str]:
    """Return the ids of the sources whose pages say `brief: true`."""
    found = []
    with suppress(NotFound):
        for item in sources.vault.list_folder(sources.space, sources.view, TREE):
            if item.stat.kind is FileKind.FOLDER and is_key_name(item.name):
                with suppress(CommonplaceError):  # it has no page, or none that can be read
                    page = sources.vault.read(sources.space, sources.view, TREE / item.name / SOURCE_PAGE).data
                    found += [item.name] if _is_allowed(page) else []
    return found


def _is_allowed(page: bytes) -> bool:
    """Return whether the page of a source says `brief: true`, without the patterns of `frontmatter`, which take time to
    compile. Where it reads a page otherwise than they do, nothing is told."""
    lines = page.partition(b"\n---")[0].splitlines()
    fields = [line.partition(b"#")[0].partition(b":") for line in lines]
    return [value.strip(b" \t'\"") for name, _, value in fields if name.strip() == b"brief"] == [b"true"]


def read_prefetch_file(folder: str) -> bytes | None:
    """Return the bytes of the file; None where there is none."""
    try:
        with closing(LocalVault.at(folder)) as vault:
            return vault.read(LOCAL, KEEPER, _PATH).data
    except NotFound:
        return None


def write_prefetch_file(folder: str, text: str) -> None:
    """Write the file if it says something else now; remove it if there is nothing to say."""
    data = text.encode("utf-8") or None
    with suppress(*UNUSABLE):  # it is replaced, if that can be
        if read_prefetch_file(folder) == data:
            return
    with closing(LocalVault.at(folder)) as vault:
        vault.apply(LOCAL, KEEPER, [Write(_PATH, data) if data is not None else Delete(_PATH)])
