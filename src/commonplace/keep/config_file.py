"""`config.toml` of a book: read, and changed one setting at a time, so that a person's comments stay."""

from __future__ import annotations

import re

from commonplace.model.errors import InvalidSettings, NotFound
from commonplace.model.space import LOCAL
from commonplace.vault.paths import PRIVATE
from commonplace.vault.port import Vault
from commonplace.vault.view import KEEPER

CONFIG = PRIVATE / "config.toml"


def read_config(vault: Vault) -> tuple[dict[str, object], str, str | None]:
    """What config.toml says, its text and its revision (None: there is none)."""
    try:
        document = vault.read(LOCAL, KEEPER, CONFIG)
    except NotFound:
        return {}, "", None
    try:
        text = document.data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidSettings("config.toml is not UTF-8 text.") from None
    return parse_config(text), text, document.revision


def parse_config(text: str) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - most books have no config.toml

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"config.toml cannot be read: {error}.") from None


def with_setting(text: str, name: str, value: str | None) -> tuple[str, dict[str, object]]:
    """The text with one setting changed, added or (None) taken out, and what it then says."""
    if not re.fullmatch(r"[a-z_]{1,40}", name):
        raise InvalidSettings(f"{name[:60]!a} is not a setting.")
    line = re.compile(rf"^[ \t]*{name}[ \t]*=.*(?:\n|\Z)", re.M)
    if value is None:
        new = line.sub("", text, count=1)
    else:
        setting = f"{name} = {_literal(value)}\n"
        new = line.sub(lambda _: setting, text, count=1)
        if not line.search(text):
            new = (text if not text or text.endswith("\n") else text + "\n") + setting
    return new, parse_config(new)


def _literal(value: str) -> str:
    """A value in TOML: true, false and numbers as such, anything else as a text."""
    if value in ("true", "false") or re.fullmatch(r"-?\d+(\.\d+)?", value, re.ASCII):
        return value
    escaped = "".join(
        f"\\u{ord(ch):04x}" if ord(ch) < 32 or ord(ch) == 127 else f"\\{ch}" if ch in '"\\' else ch for ch in value
    )
    return f'"{escaped}"'
