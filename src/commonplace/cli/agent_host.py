"""Which agent program a command runs inside, by the variables that such programs set for the commands they start."""

from __future__ import annotations

from collections.abc import Mapping

_VARIABLES = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
    "CURSOR_AGENT": "cursor",
    "COPILOT_CLI": "copilot",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "ROO_ACTIVE": "roo",
    "AUGMENT_AGENT": "augment",
    "QWEN_CODE": "qwen-code",
}
_OFF = frozenset({"", "0", "false", "no", "off"})


def find_agent_host(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the agent program's name and the variable that tells; None when a person started the command."""
    for variable, host in _VARIABLES.items():
        if environment.get(variable, "").strip().lower() not in _OFF:
            return host, variable
    if "amazonq" in environment.get("AWS_EXECUTION_ENV", "").lower():
        return "amazonq", "AWS_EXECUTION_ENV"
    return None
