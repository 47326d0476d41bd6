"""From a place on the disk to items: list, recognise, read. Opens files for reading and changes nothing."""

import os
from typing import NamedTuple

from commonplace.maintenance.importing import agents_md, cao_wiki
from commonplace.maintenance.importing.files import Listed, look_at, read_files
from commonplace.maintenance.importing.formats import Format, format_of
from commonplace.maintenance.importing.items import Harvest, left
from commonplace.model.results import LeftItem


class Gathered(NamedTuple):
    format: Format
    found: Harvest
    own: bool  # whether the user wrote it: a file of instructions in the user's own settings


def gather(source: str | os.PathLike[str], format_name: str | None, *, book: str, scoped: bool) -> Gathered:
    """What a source has to give. `scoped`: the caller named the scope that all of it goes to."""
    there = look_at(source, book)
    kind = format_of(there, format_name)
    wanted = [file for file in there.files if kind.wants(file.name) or not there.is_folder]
    texts, unread = read_files(wanted)
    found = kind.read(texts)
    # A file of instructions may be anybody's who wrote to the repository; in the user's own settings it is the user's.
    own = kind.name == "agents-md" and there.is_personal
    if own:
        found = agents_md.personal(found)
    if kind.name == "cao-wiki" and not scoped:
        found = cao_wiki.in_own_scopes(found)
    others = _others(there.files, wanted) if kind.is_store else []
    return Gathered(kind, Harvest(found.items, (*there.left, *unread, *found.left, *others)), own)


def _others(files: tuple[Listed, ...], wanted: list[Listed]) -> list[LeftItem]:
    names = {file.name for file in wanted}
    return [left(file.name, "other_file") for file in files if file.name not in names]
