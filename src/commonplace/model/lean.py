"""Names of typing and threading, without loading either: that is 4 ms of every command, and a type checker's alone.

Modules that every command loads take them from here. To a type checker they are what they are called; while we run,
a protocol is a class like any other, and a lock is the one that threading hands on.
"""

from __future__ import annotations

__all__ = [
    "TYPE_CHECKING", "Any", "ClassVar", "Final", "Lock", "NoReturn", "Protocol", "RLock", "Self", "TextIO", "TypeVar",
    "cast",
]  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Lock, RLock
    from typing import Any, ClassVar, Final, NoReturn, Protocol, Self, TextIO, TypeVar, cast
else:
    from _thread import RLock
    from _thread import allocate_lock as Lock  # noqa: N812 - as threading calls it

    Any = NoReturn = Self = TextIO = object

    class ClassVar:
        """What stands in the brackets, for whoever asks typing.get_type_hints."""

        def __class_getitem__(cls, kind):
            return kind

    Final = ClassVar

    class Protocol:
        __slots__ = ()

    def TypeVar(name, **_):  # noqa: N802 - as typing calls it
        return name

    def cast(_, value):
        return value
