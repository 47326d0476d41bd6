"""Settings: one immutable value that each surface builds. Flag over COMMONPLACE_* over config.toml over default.

An unknown name in config.toml is an error, so that a typo never means the default in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from commonplace.model.costs import read_price
from commonplace.model.errors import InvalidSettings

PREFIX = "COMMONPLACE_"
PROTOCOLS = ("off", "guide", "strict")
_TRUTH = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off", ""), False)
CAPTURE = ("off", "nudge", "auto")
MOST_DAYS = 36_500
# The least and the most of each setting that is a whole number.
LIMITS = {
    "audit_days": (0, MOST_DAYS),
    "max_read_bytes": (1_024, 16_777_216),
    "max_search_results": (1, 1_000),
    "summary_tokens": (0, 100_000_000),
}
VOCABULARY = "protocol_vocabulary"  # a table in config.toml alone: see docs/protocol.md
INCLUDED = ("static", "model")  # embedders inside the install: they need no trust, no other package and no network
DEFAULT_EMBEDDER = "model"
KEYS = ("embedder_key", "summariser_key")  # shown as set or not, never with their value
NO_SUMMARISER = "off"
SUMMARISER_ADDRESSES = {"openai": "", "anthropic": "https://api.anthropic.com", "ollama": "http://127.0.0.1:11434"}


class Settings(NamedTuple):
    """The value of every setting; MEANINGS says what each does."""

    root: str = "~/.commonplace"
    state: str | None = None  # folder of the databases, when not in the book
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    sealed: bool = False
    enabled: bool = True
    lock_timeout: float = 10.0
    embedder: str = DEFAULT_EMBEDDER  # what turns texts into vectors; "off" means recall by words only
    embedder_key: str | None = None  # for a service that needs one; never in config.toml
    protocol: str = "guide"  # whether agents must read before they write: off, guide, strict
    capture: str = "auto"  # of conversations: off, nudge (ask the agent to save), auto (that, and propose facts)
    audit_days: int = 90  # days that audit files are kept; 0: no audit is written
    max_read_bytes: int = 65_536  # of one answer about files: read_memory, and the output of one command of the shell
    max_search_results: int = 50  # lines of one search_memory, over all its paths together
    summariser: str = NO_SUMMARISER  # the model that writes summaries of the tree, if any: see docs/tree.md
    summariser_key: str | None = None  # for a service that needs one; never in config.toml
    summary_tokens: int = 200_000  # that it may read and write in a day (UTC), together
    summary_price: str | None = None  # dollars for a million tokens in and out, such as 3/15


class SummariserName(NamedTuple):
    """What the setting `summariser` names."""

    kind: str
    model: str
    address: str

    @property
    def is_known(self) -> bool:
        """Whether there can be such a summariser."""
        return self.kind in SUMMARISER_ADDRESSES and bool(self.model) and bool(self.address)


def read_summariser(setting: str) -> SummariserName:
    """Return the parts of `KIND:MODEL@ADDRESS`; a kind may have an address of its own."""
    kind, _, name = setting.partition(":")
    model, _, address = name.partition("@")
    return SummariserName(kind, model, address or SUMMARISER_ADDRESSES.get(kind, ""))


# What each setting does, in half a line: `commonplace config --help` shows it.
MEANINGS: Mapping[str, str] = {
    "root": "the book's folder",
    "state": "the folder of the databases, if they are not in the book",
    "project": "the project, if it is not that of the folder",
    "agent": "the agent that you act for",
    "session": "the session that you act for",
    "sealed": "true: read and write one session and nothing else",
    "enabled": "false: nothing is stored or told, as if the book were empty",
    "lock_timeout": "seconds to wait while another process writes",
    "embedder": "what turns texts into vectors: model, static, off, or a service (docs/recall.md)",
    "embedder_key": "the key of that service; only from the environment",
    "protocol": "whether agents must look before they write: off, guide or strict",
    "capture": "of conversations: off, nudge or auto; nudge reminds agents to save, auto also proposes facts",
    "audit_days": "days that the audit log is kept; with 0 none is written",
    "max_read_bytes": "bytes of one answer about files",
    "max_search_results": "lines of one search of the files",
    "summariser": "the model that writes summaries of mail and chat: off, or a service (docs/tree.md)",
    "summariser_key": "the key of that service; only from the environment",
    "summary_tokens": "tokens that it may read and write in a day",
    "summary_price": "dollars for a million tokens in and out, such as 3/15",
}


class Setting(NamedTuple):
    """A setting with its value and where that comes from: flag, environment, config.toml or default."""

    name: str
    value: str
    source: str


def explain_settings(
    flags: Mapping[str, object], environment: Mapping[str, str], config: Mapping[str, object]
) -> list[Setting]:
    """Return every setting with its value and where that comes from."""
    settings = load_settings(flags, environment, config)
    found = []
    for name, value in settings._asdict().items():
        variable = f"{PREFIX}{name.upper()}"
        if flags.get(name) is not None:
            source = "flag"
        elif variable in environment:
            source = variable
        else:
            source = "config.toml" if name in config else "default"
        text = "" if value is None else str(value)
        if isinstance(value, bool):
            text = text.lower()
        found.append(Setting(name, "set, not shown" if text and name in KEYS else mask_password(text), source))
    if VOCABULARY in config:
        found.append(Setting(VOCABULARY, "set, not shown", "config.toml"))
    return found


def split_config(config: Mapping[str, object]) -> tuple[dict[str, object], list[InvalidSettings]]:
    """Return those settings of a parsed config.toml that are valid, and what is wrong with the others."""
    valid: dict[str, object] = {}
    faults: list[InvalidSettings] = []
    for name, value in config.items():
        try:
            load_settings({}, {}, {name: value})
        except InvalidSettings as error:
            faults.append(error)
        else:
            valid[name] = value
    return valid, faults


def mask_password(text: str) -> str:
    """Return an address with a password before its host, and a key after its path, replaced by `***`."""
    kind, there, rest = text.partition("://")
    rest = re.sub(r"^[^/?#]+@", "***@", rest)
    return kind + there + re.sub(r"(?<=[?#]).+", "***", rest, count=1, flags=re.S)


def load_settings(
    flags: Mapping[str, object], environment: Mapping[str, str], config: Mapping[str, object]
) -> Settings:
    """Return the settings from flags (None: not given), the environment and a parsed config.toml."""
    _check_names(config)
    values: dict[str, Any] = {}
    for name, default in Settings._field_defaults.items():
        variable = f"{PREFIX}{name.upper()}"
        if flags.get(name) is not None:
            values[name] = _typed(flags[name], default, name)
        elif environment.get(variable) or (variable in environment and default is None):
            values[name] = _typed(environment[variable], default, variable)
        elif name in config:
            values[name] = _typed(config[name], default, f"{name} in config.toml")
    settings = Settings(**values)
    if not 0 <= settings.lock_timeout <= 3600:
        raise InvalidSettings("lock_timeout must be a number of seconds from 0 to 3600.")
    if settings.protocol not in PROTOCOLS:
        raise InvalidSettings(f"protocol cannot be {settings.protocol[:40]!a}.", hint=f"Use {', '.join(PROTOCOLS)}.")
    if settings.capture not in CAPTURE:
        raise InvalidSettings(f"capture must be one of: {', '.join(CAPTURE)}.")
    read_price(settings.summary_price)
    for name, (least, most) in LIMITS.items():
        if not least <= getattr(settings, name) <= most:
            raise InvalidSettings(f"{name} must be a number from {least:,} to {most:,}.")
    return settings


def _check_names(config: Mapping[str, object]) -> None:
    for name in config:
        if name not in Settings._fields and name != VOCABULARY:
            raise InvalidSettings(
                f"config.toml has an unknown setting {name[:60]!r}.",
                hint=f"Correct its name in config.toml, or remove it: `commonplace config unset {name[:60]}`.",
            )
    if "summariser_key" in config:
        # A book that came from elsewhere could name its own account, and read there what was sent.
        raise InvalidSettings(
            "A key does not stand in config.toml: summariser_key.", hint="Set COMMONPLACE_SUMMARISER_KEY instead."
        )
    if not isinstance(config.get(VOCABULARY, {}), Mapping):
        raise InvalidSettings(f"{VOCABULARY} in config.toml must be a table.")


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _typed(value: object, default: object, name: str) -> object:
    """Return the value as the type of its default (None: a string or nothing), parsed if it is a string."""
    kind = str if default is None else type(default)
    if isinstance(value, str):
        value = _parse(value, kind)
    elif kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise InvalidSettings(f"{name} must be {_KINDS[kind]}.")
    return None if default is None and not value else value


def _parse(text: str, kind: type) -> object:
    """Return a text as a value of this type; None if it is not one."""
    if kind is bool:
        return _TRUTH.get(text.lower())
    if kind is int:
        return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None
    try:
        return kind(text)
    except ValueError:
        return None
