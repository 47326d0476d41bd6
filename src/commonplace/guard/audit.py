"""The audit log: which verb was called, by whom, on what, with what outcome. One JSON line each, for the book's owner.

    .commonplace/audit/2026-11-15.jsonl

A line has ids (a key is one) and counts, never memory text, a summary, a query, the value of a setting or a path of the
machine. `Book` writes a line for each call that changes something or searches, from every surface; `connect`,
`disconnect` and the hook at a prompt, which open no `Book`, write their own.

The log is best effort: nothing is synced, and a failure here is never an error of the verb. It costs microseconds: one
open file per process and day, one write per line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

from commonplace.guard import find_secret_rule
from commonplace.model.errors import CommonplaceError, SecretFound
from commonplace.model.lazy import Log, lazy
from commonplace.model.scope import ScopeKind
from commonplace.model.times import now, shift_time
from commonplace.vault.paths import PRIVATE
from commonplace.vault.port import FileKind

if TYPE_CHECKING:
    from commonplace.vault.disk_port import Disk, DiskFolder, LogFile

log = Log("commonplace.guard")

FOLDER = PRIVATE / "audit"
ENDING = ".jsonl"
MOST_BYTES = 4_096  # of a line: what every system writes in one piece
_WORD = 64  # characters of a name that the caller gave
_KEY, _KEYS = 200, 1_200  # characters of a key, bytes of all keys
_WAIT = 1.0  # seconds for another thread's line
_DAY = 86_400
_JUMP_DAYS = 30  # without a line: the clock may be wrong
_TOKEN_LENGTH = 16  # characters: no secret token is shorter
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-/"
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_SHORT_ESCAPE = lazy(r"\\[^u]")
_DAY_FILE = lazy(r"[0-9-]{10}\.jsonl")
Facts = Mapping[str, object]


class AuditLog:
    """The audit files of one book. Files older than `days` are removed when a new day begins."""

    def __init__(self, disk: Disk, days: int) -> None:
        self._disk, self._days = disk, days
        self._file: LogFile | None = None
        self._day = self._failed_minute = ""
        self._closed = False
        self._lock = Lock()  # a descriptor closed during a write could belong to another file by then
        self._pid = os.getpid()

    def note(self, verb: str, who: Facts, outcome: str, facts: Facts) -> None:
        """Add a line. After a failure, the next try is a minute later."""
        time, lock = now(), self._own_lock()
        if self._failed_minute == time[:16] or not lock.acquire(timeout=_WAIT):
            return
        try:
            if not self._closed:
                data = line(time, verb, who, outcome, facts)
                self._open_day(time).append(data)
        except Exception as error:  # noqa: BLE001 - the verb's own result counts, whatever happens here
            self._failed_minute = time[:16]
            self._close_file()
            log.warning("event=audit_failed error=%s errno=%s", type(error).__name__, getattr(error, "errno", None))
        finally:
            lock.release()

    def close(self) -> None:
        """Close the file; later notes are dropped."""
        with self._own_lock():
            self._closed = True
            self._close_file()

    def _own_lock(self) -> Lock:
        """Return the lock of this process: a forked child's may be held by a thread that it does not have."""
        if self._pid != os.getpid():
            self._lock, self._pid = Lock(), os.getpid()
        return self._lock

    def _open_day(self, time: str) -> LogFile:
        """Return the open file of the day, a new one if it was deleted."""
        if self._file is not None and self._day == time[:10] and not self._file.is_gone():
            return self._file
        self._close_file()
        self._day = time[:10]
        with closing(self._open_folder()) as folder:
            self._file = folder.open_log(f"{self._day}{ENDING}")
            if self._file.is_empty():
                self._remove_old_days(folder, time)
        return self._file

    def _remove_old_days(self, folder: DiskFolder, time: str) -> None:
        """Delete the files of days that are too old; not on the first day after a jump of the clock, which may be
        wrong."""
        found = [item.name for item in folder.scan() if item.stat.kind is FileKind.FILE]
        days = sorted(name for name in found if _DAY_FILE.fullmatch(name) and name[:10] < time[:10])
        if not days or days[-1][:10] < shift_time(time, -_JUMP_DAYS * _DAY)[:10]:
            return
        oldest = shift_time(time, -self._days * _DAY)[:10]
        for name in days:
            if name < oldest:
                with suppress(OSError):  # another process was first
                    folder.remove(name)

    def _open_folder(self) -> DiskFolder:
        parts = FOLDER.parts
        for depth, name in enumerate(parts):
            with suppress(FileNotFoundError):
                return self._disk.open(parts)
            with closing(self._disk.open(parts[:depth])) as above, suppress(FileExistsError):
                above.make_folder(name)
        return self._disk.open(parts)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()


def mask(disk: Disk, key: str) -> None:
    """Overwrite a purged key with asterisks wherever the log names it: keys often contain words of the memory.

    In place and at the same length, so that other processes can go on adding lines meanwhile.
    """
    try:
        folder = disk.open(FOLDER.parts)
    except FileNotFoundError:
        return
    words = [re.escape(_encode(word[:_KEY]).encode()) for word in (key, *(f"{kind}/{key}" for kind in ScopeKind))]
    in_list = re.compile(rb"(?<=[\[,])(?:" + b"|".join(words) + rb")(?=[\],])")  # other fields are skipped
    with closing(folder):
        for item in folder.scan():
            if item.name.endswith(ENDING) and item.stat.kind is FileKind.FILE:
                data, _ = folder.read(item.name)
                inner = [(match.start() + 1, match.end() - 1) for match in in_list.finditer(data)]  # without quotes
                stars = [(start, b"*" * (end - start)) for start, end in inner]
                if stars:
                    folder.overwrite(item.name, stars)


def line(time: str, verb: str, who: Facts, outcome: str, facts: Facts) -> bytes:
    """Return a line of the audit. `who` is what `who_of` made."""
    record: dict[str, object] = {"time": time, "verb": verb, "outcome": outcome, **who}
    for name, value in facts.items():
        if isinstance(value, str):
            record[name] = value[:_WORD]
        elif isinstance(value, Iterable):  # keys are the one list
            keys = [key[:_KEY] for key in value]
            sizes = accumulate(len(_encode(key)) + 1 for key in keys)
            shown = sum(size <= _KEYS + 1 for size in sizes)
            record[name] = keys[:shown]
            if shown < len(keys):
                record["more_keys"] = len(keys) - shown
        elif value is not None:
            record[name] = value
    data = f"{_encode(record)}\n".encode("ascii")
    return data if len(data) <= MOST_BYTES else line(time, verb, who, outcome, {})  # odd names, and no room for more


def who_of(surface: str, **ids: str | None) -> Facts:
    """Return who calls, as every line of a caller says it: names and ids, as the caller gave them."""
    return {name: word[:_WORD] for name, word in {"surface": surface, **ids}.items() if word}


def _encode(value: object) -> str:
    """Return ASCII JSON with every escape in its long form: `mask` finds keys by their bytes, in older lines too."""
    return _SHORT_ESCAPE.sub(_lengthen_escape, _ENCODER.encode(value))


def _lengthen_escape(match: re.Match[str]) -> str:
    character = json.loads(f'"{match[0]}"')
    return f"\\u{ord(character):04x}"


def describe_failure(verb: str, given: Facts, error: BaseException) -> tuple[str, Facts]:
    """Return the outcome and the facts of a call that failed, from its arguments and its error."""
    outcome = "internal_error" if isinstance(error, Exception) else "interrupted"
    outcome = error.code if isinstance(error, CommonplaceError) else outcome
    many, one = given.get("keys"), given.get("key")
    words = [*(many if isinstance(many, (list, tuple)) else ()), one]
    # A caller may pass anything as a key, even a text or a secret: only what looks like a key is named.
    keys = [
        word
        for word in words
        if isinstance(word, str) and word and not word.strip(_KEY_CHARACTERS)
        if len(word) < _TOKEN_LENGTH or find_secret_rule(word) is None  # loads the rules: only after a failure
    ]
    is_unnamed = isinstance(error, SecretFound) or verb == "purge" or not keys
    return outcome, {"scope": scope_kind(given.get("scope")), "keys": None if is_unnamed else keys}


def scope_kind(scope: object) -> str | None:
    """Return the kind of a scope that a caller named, without its id, which may be a path of the machine."""
    kind = str(scope or "").partition(":")[0]
    return kind if kind in ScopeKind._value2member_map_ else None


def scope_of_path(path: str) -> str:
    """Return the scope of a memory by its path in the book: `global`, `project/app-0123456789ab`."""
    kind, inner = path.split("/")[2:4]
    return f"{kind}/{inner}" if ScopeKind(kind).has_id else kind
