"""A text in the user's own editor: in a private folder of its own, which goes when all is well."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping

from commonplace.model.errors import InvalidContent, InvalidSettings


def edit_text(data: bytes, name: str, environment: Mapping[str, str]) -> tuple[bytes, str]:
    """What the user makes of it, and the file it is in. The caller removes that file once the text is kept."""
    folder = tempfile.mkdtemp(prefix="commonplace-edit-")  # readable by its owner alone
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    command = environment.get("VISUAL") or environment.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    try:
        words = shlex.split(command, posix=os.name != "nt")
        status = subprocess.run([*words, path], check=False).returncode  # noqa: S603 - the user's own choice
    except (OSError, ValueError) as error:
        discard(path)
        raise InvalidSettings(
            f"The editor {command!a} cannot be started: {error}.", hint="Set EDITOR to one that can."
        ) from None
    if status != 0:
        discard(path)
        raise InvalidSettings(f"The editor ended with status {status}; nothing was changed.", hint="Try again.")
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except OSError as error:
        raise InvalidContent(
            f"The editor left no file that can be read ({error.strerror}); nothing was changed.", hint="Try again."
        ) from None


def discard(path: str) -> None:
    """Take the file and its folder away."""
    for remove, place in ((os.unlink, path), (os.rmdir, os.path.dirname(path))):
        try:
            remove(place)
        except OSError:
            return  # an editor left something of its own there: not ours to delete
