"""Whose book this is. On one machine always `local/self`; a server has one space per tenant and owner."""

from typing import NamedTuple


class Space(NamedTuple):
    tenant: str
    owner: str

    def __str__(self) -> str:
        return f"{self.tenant}/{self.owner}"


LOCAL = Space("local", "self")
