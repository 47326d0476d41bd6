"""The verbs `data put`, `get`, `list` and `remove`: plain files beside the memories."""

from __future__ import annotations

from commonplace.guard.secrets import check_data, check_secrets
from commonplace.memories import data
from commonplace.model.errors import InvalidField, NotFound
from commonplace.verbs.changing import check_writes
from commonplace.verbs.desk import Desk


def put_file(desk: Desk, name: str, content: bytes) -> str:
    """Write a data file; return its path. Its content and its name go through the secret gate."""
    check_writes(desk)
    if not isinstance(content, bytes):
        raise InvalidField(f"The content of a data file is bytes, not {type(content).__name__}.")
    check_secrets(name)
    check_data(content)
    return str(data.put_data(desk.keep, desk.view(), name, content))


def get_file(desk: Desk, name: str) -> bytes:
    """Return the bytes of a data file. Raises NotFound."""
    desk.caller.check_reads()
    if not desk.settings.enabled:
        raise NotFound("There is no data file: memory is switched off here.")
    return data.get_data(desk.keep, desk.view(), name)


def list_files(desk: Desk) -> list[str]:
    """Return the names of all data files."""
    desk.caller.check_reads()
    return data.list_data(desk.keep, desk.view()) if desk.settings.enabled else []


def remove_file(desk: Desk, name: str) -> None:
    """Remove a data file. Raises NotFound."""
    check_writes(desk)
    data.remove_data(desk.keep, desk.view(), name)
