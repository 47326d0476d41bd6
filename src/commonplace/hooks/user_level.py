"""Tell whether the user has connected a host for every project, so that a project's hooks have nothing to add.

A project's files go to everybody who works in it. Where the user's own hooks run, too, the agent would be told all of
it twice. So a hook that a project's files start, with `--project`, looks at the user's. The paths are those that
`commonplace connect HOST` writes, or that the host keeps its plugins in; a test compares them.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

_MOST_BYTES = 4_000_000
_OUR_HOOK = rb"commonplace-hook|commonplace\.hooks\.main"
# By host: the variable that names its folder, that folder in the user's, and in it the files of hooks.
FILES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", ("skills/commonplace/hooks/hooks.json",)),
    "cline": ("", "Documents/Cline/Hooks", ("TaskStart", "TaskStart.ps1")),
    "codex": ("CODEX_HOME", ".codex", ("hooks.json",)),
    "copilot": ("COPILOT_HOME", ".copilot", ("hooks/commonplace.json",)),
    "cursor": ("", ".cursor", ("hooks.json",)),
    "gemini": ("", ".gemini", ("extensions/commonplace/hooks/hooks.json",)),
    "goose": ("", ".agents", ("plugins/commonplace/hooks/hooks.json",)),
    "kiro": ("", ".kiro", ("hooks/commonplace.json",)),
    "opencode": ("XDG_CONFIG_HOME", ".config", ("opencode/plugins/commonplace.js",)),
    "vscode": ("", ".copilot", ("hooks/commonplace-vscode.json",)),
}
# The settings that list an installed plugin of ours as enabled.
_PLUGINS: Mapping[str, tuple[str, bytes]] = {
    "claude-code": ("settings.json", rb'"commonplace@(?!skills-dir)[^"]*"\s*:\s*true'),
    "codex": ("config.toml", rb'\[plugins\."commonplace@[^"]*"\]\s*enabled\s*=\s*true'),
}


def is_connected_for_user(host: str, environment: Mapping[str, str]) -> bool:
    """Return whether the user's own files of a host start our hooks."""
    if host not in FILES:
        return False
    variable, folder, names = FILES[host]
    given = environment.get(variable) if variable else None
    base = os.path.expanduser(given or os.path.join("~", *folder.split("/")))
    patterns = [(name, _OUR_HOOK) for name in names]
    patterns += [_PLUGINS[host]] if host in _PLUGINS else []
    return any(re.search(pattern, text) for name, pattern in patterns for text in _read(os.path.join(base, name)))


def _read(path: str) -> Iterator[bytes]:
    with suppress(OSError), open(path, "rb") as file:
        yield file.read(_MOST_BYTES)
