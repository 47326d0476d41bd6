"""RE2, compiled with our limits: linear time, bounded memory, nothing on stderr."""

from __future__ import annotations

from typing import Any, Protocol, cast

from commonplace.shell.limits import MAX_PATTERN
from commonplace.shell.run import Trouble


class Pattern(Protocol):
    def search(self, text: bytes) -> Any: ...
    def fullmatch(self, text: bytes) -> Any: ...


def compiled(pattern: bytes, *, latin: bool = True) -> Pattern:
    """A pattern over bytes, or with `latin` false over UTF-8. Trouble says what is wrong with it."""
    import re2  # noqa: PLC0415 - 10 ms that most commands do without

    settings = re2.Options()
    settings.log_errors = False
    settings.never_capture = True
    if latin:
        settings.encoding = re2.Options.Encoding.LATIN1
    try:
        return cast("Pattern", re2.compile(pattern, settings))
    except re2.error as error:
        said = error.args[0] if error.args else b""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise Trouble(f"the pattern cannot be used: {words[:200]}") from None


def checked(text: str) -> bytes:
    if len(text) > MAX_PATTERN:
        raise Trouble(f"the pattern is longer than {MAX_PATTERN:,} characters")
    return text.encode("utf-8", "backslashreplace")
