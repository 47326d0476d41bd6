"""The plugin for OpenCode: opencode.js with the command line in it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence


def shim(hook: Sequence[str], root: str | None = None) -> str:
    with open(os.path.join(os.path.dirname(__file__), "opencode.js"), encoding="utf-8") as file:
        text = file.read()
    more = ["--root", root] if root else []
    text = text.replace(
        "const COMMAND = [] // filled in when this file is made", f"const COMMAND = {json.dumps(list(hook))}"
    )
    return text.replace("const MORE = []", f"const MORE = {json.dumps(more)}")
