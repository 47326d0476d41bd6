"""Settings: one frozen value, built at the edge. Flag over COMMONPLACE_* over config.toml over default.

An unknown name in config.toml is an error, so that a typing mistake is never a silent default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from commonplace.model.errors import InvalidSettings
from commonplace.model.results import Setting

PREFIX = "COMMONPLACE_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


@dataclass(frozen=True, slots=True)
class Settings:
    root: str = "~/.commonplace"
    state: str | None = None  # where the databases are, when not in the book
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    sealed: bool = False
    enabled: bool = True
    lock_timeout: float = 10.0


def explain_settings(
    flags: Mapping[str, object], environment: Mapping[str, str], config: Mapping[str, object]
) -> list[Setting]:
    """Every setting with its value and where that comes from."""
    settings = load_settings(flags, environment, config)
    found = []
    for item in fields(Settings):
        variable = f"{PREFIX}{item.name.upper()}"
        given = (
            ("flag", flags.get(item.name) is not None),
            (variable, variable in environment),
            ("config.toml", item.name in config),
        )
        source = next((name for name, there in given if there), "default")
        value = getattr(settings, item.name)
        found.append(Setting(item.name, _text_of(value), source))
    return found


def _text_of(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_settings(
    flags: Mapping[str, object], environment: Mapping[str, str], config: Mapping[str, object]
) -> Settings:
    """Settings from a caller's flags (None: not given), the environment, and a parsed config.toml."""
    known = {item.name: item for item in fields(Settings)}
    for name in config:
        if name not in known:
            raise InvalidSettings(f"config.toml has an unknown setting {name[:60]!r}.")
    values: dict[str, Any] = {}
    for name, item in known.items():
        variable = f"{PREFIX}{name.upper()}"
        if flags.get(name) is not None:
            values[name] = _typed(flags[name], str(item.type), name)
        elif environment.get(variable) or (variable in environment and "None" in str(item.type)):
            values[name] = _typed(environment[variable], str(item.type), variable)
        elif name in config:
            values[name] = _typed(config[name], str(item.type), f"{name} in config.toml")
    settings = Settings(**values)
    if not 0 <= settings.lock_timeout <= 3600:
        raise InvalidSettings("lock_timeout is a number of seconds from 0 to 3600.")
    return settings


def _typed(value: object, kind: str, name: str) -> object:
    """The value as the setting's type; text from the environment is read, anything else must fit."""
    if kind == "bool":
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise InvalidSettings(f"{name} is true or false.")
    if kind == "float":
        try:
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                return float(value)
        except ValueError:
            pass
        raise InvalidSettings(f"{name} is a number.")
    if not isinstance(value, str):
        raise InvalidSettings(f"{name} is a text.")
    return value or (None if "None" in kind else "")
