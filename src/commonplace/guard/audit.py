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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

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
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-/"
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_SHORT_ESCAPE = lazy(r"\\[^u]")
_LONG_ESCAPES = {
    r"\"": r"\u0022", r"\\": r"\u005c", r"\b": r"\u0008", r"\f": r"\u000c", r"\n": r"\u000a", r"\r": r"\u000d",
    r"\t": r"\u0009",
}  # fmt: skip
Facts = Mapping[str, object]


class AuditLog:
    """The audit files of one book. Files older than `days` are removed when a new day begins."""

    def __init__(self, disk: Disk, days: int) -> None:
        self._disk, self._days = disk, days
        self._file: LogFile | None = None
        self._day = self._failed_minute = ""
        self._closed = False
        self._lock = Lock()  # a descriptor closed during a write could belong to another file by then

    def note(self, verb: str, who: Facts, outcome: str, facts: Facts) -> None:
        """Add a line. After a failure, the next try is a minute later."""
        time = now()
        if self._failed_minute == time[:16] or not self._lock.acquire(timeout=_WAIT):
            return
        try:
            if not self._closed:
                self._open_day(time).append(line(time, verb, who, outcome, facts))
        except Exception as error:  # noqa: BLE001 - the verb's own result counts, whatever happens here
            self._failed_minute = time[:16]
            with suppress(OSError):
                self._close_file()
            log.warning("event=audit_failed error=%s errno=%s", type(error).__name__, getattr(error, "errno", None))
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the file; later notes are dropped."""
        with self._lock:
            self._closed = True
            with suppress(OSError):
                self._close_file()

    def _open_day(self, time: str) -> LogFile:
        """Return the open file of the day, a new one if it was deleted."""
        if self._file is not None and self._day == time[:10] and not self._file.is_gone():
            return self._file
        self._close_file()
        self._day = time[:10]
        folder = self._open_folder()
        try:
            self._file = folder.open_log(f"{self._day}{ENDING}")
            if self._file.is_empty():
                self._sweep(folder, shift_time(time, -self._days * _DAY)[:10])
        finally:
            folder.close()
        return self._file

    def _open_folder(self) -> DiskFolder:
        parts = FOLDER.parts
        for depth in range(len(parts)):
            with suppress(FileNotFoundError):
                return self._disk.open(parts)
            above = self._disk.open(parts[:depth])
            try:
                with suppress(FileExistsError):
                    above.make_folder(parts[depth])
            finally:
                above.close()
        return self._disk.open(parts)

    def _sweep(self, folder: DiskFolder, before: str) -> None:
        for item in folder.scan():
            day, dot, rest = item.name.partition(".")
            ours = len(day) == len(before) and dot + rest == ENDING and not day.strip("0123456789-")
            if ours and day < before and item.stat.kind is FileKind.FILE:
                with suppress(OSError):  # another process was first
                    folder.remove(item.name)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


def mask(disk: Disk, key: str) -> None:
    """Overwrite a purged key with asterisks wherever the log names it: keys often contain words of the memory.

    In place and at the same length, so that other processes can go on adding lines meanwhile.
    """
    try:
        folder = disk.open(FOLDER.parts)
    except FileNotFoundError:
        return
    words = [_encode(word[:_KEY]).encode() for word in (key, *(f"{kind}/{key}" for kind in ScopeKind))]
    try:
        for item in folder.scan():
            if item.name.endswith(ENDING) and item.stat.kind is FileKind.FILE:
                data, _ = folder.read(item.name)
                stars = [(at, b"*" * length) for at, length in _named_at(data, words)]
                if stars:
                    folder.overwrite(item.name, stars)
    finally:
        folder.close()


def _named_at(data: bytes, words: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield position and length of these words, without quotes, in lists of keys; other fields are skipped."""
    for word in words:
        at = data.find(word)
        while at >= 0:
            end = at + len(word)
            if data[at - 1 : at] in (b"[", b",") and data[end : end + 1] in (b"]", b","):
                yield at + 1, len(word) - 2
            at = data.find(word, end)


def line(time: str, verb: str, who: Facts, outcome: str, facts: Facts) -> bytes:
    """Return a line of the audit. `who` is what `who_of` made."""
    record: dict[str, object] = {"time": time, "verb": verb, "outcome": outcome, **who}
    for name, value in facts.items():
        if isinstance(value, str):
            record[name] = value[:_WORD]
        elif isinstance(value, Iterable):  # keys are the one list
            record[name], left = _cut_keys(value)
            if left:
                record["more_keys"] = left
        elif value is not None:
            record[name] = value
    data = f"{_encode(record)}\n".encode("ascii")
    return data if len(data) <= MOST_BYTES else line(time, verb, who, outcome, {})  # odd names, and no room for more


def who_of(surface: str, **ids: str | None) -> Facts:
    """Return who calls, as every line of a caller says it: names and ids, as the caller gave them."""
    return {name: word[:_WORD] for name, word in {"surface": surface, **ids}.items() if word}


def _cut_keys(keys: Iterable[str]) -> tuple[list[str], int]:
    """Return as many keys as a line has room for, and how many are left out."""
    room, words, left = _KEYS, [], 0
    for key in keys:
        word = key[:_KEY]
        size = len(_encode(word))
        if left or size > room:
            left += 1
        else:
            words.append(word)
            room -= size + 1
    return words, left


def _encode(value: object) -> str:
    """Return ASCII JSON with every escape in its long form: `mask` finds keys by their bytes, in older lines too."""
    return _SHORT_ESCAPE.sub(lambda match: _LONG_ESCAPES[match[0]], _ENCODER.encode(value))


# What a line says of a call that succeeded, by verb. None: nothing happened that is worth a line.


def _describe_change(answer: Any, given: Facts) -> Facts:
    keys = given.get("keys")
    return {
        "scope": _scope_of_path(answer.path),
        "keys": (answer.key,),
        "entry": answer.entry or None,
        "action": answer.action,
        "count": len(keys) if isinstance(keys, (list, tuple)) else None,
    }


def _describe_forget(answer: Any, given: Facts) -> Facts:
    """Like other changes, but a purge names no key: it may contain words of the memory."""
    return {**_describe_change(answer, given), "keys": None if given.get("purge") else (answer.key,)}


def _describe_recall(answer: Any, given: Facts) -> Facts:
    return {
        "scope": "all" if given.get("everything") else _scope_kind(given),
        "keys": tuple(dict.fromkeys([hit.ref for hit in answer.hits])),
        "hits": len(answer.hits),
        "total": answer.total,
        "hidden": sum(answer.hidden.values()),
    }


def _describe_import(answer: Any, given: Facts) -> Facts:
    return {
        "scope": _scope_kind(given),
        "action": "dry-run" if answer.dry_run else "imported",
        "format": answer.format,
        **{name: getattr(answer, name) for name in ("created", "appended", "trusted", "unchanged", "links")},
        "redacted": answer.redacted,
        "left": len(answer.left),
    }


def _describe_capture(answer: Any, _: Facts) -> Facts | None:
    if not (answer.transcripts or answer.failed or answer.refused):
        return None
    keys = tuple(f"{item.scope}/{item.key}" for item in answer.proposed)
    return {"keys": keys, "count": len(keys), "refused": answer.refused, "failed": answer.failed}


def _describe_retire(answer: Any, _: Facts) -> Facts | None:
    keys = (*answer.trashed, *answer.expired)
    counts = {"trashed": len(answer.trashed), "expired": len(answer.expired), "swept": answer.swept}
    return {"keys": keys, **counts} if any(counts.values()) else None


def _describe_record(answer: Any, _: Facts) -> Facts:
    done = answer.action != "not_recorded"  # else the id was not even read
    return {"run": answer.run if done else None, "action": answer.action, "keys": answer.lessons or None}


def _describe_lessons(answer: Any, given: Facts) -> Facts | None:
    return {"count": len(answer)} if given.get("propose", True) else None


def _describe_named(_: Any, given: Facts) -> Facts:
    return {"keys": (str(given["name"]),)}


_DESCRIBERS: Mapping[str, Callable[[Any, Facts], Facts | None]] = {
    **dict.fromkeys(("store", "edit", "undo", "restore", "consolidate", "link", "accept", "reject"), _describe_change),
    "store_many": lambda answer, _: {"keys": [f"{item.scope}/{item.key}" for item in answer], "count": len(answer)},
    "forget": _describe_forget,
    "clear": lambda answer, given: {"scope": _scope_kind(given), "count": answer},
    "recall": _describe_recall,
    "search_memory": lambda answer, _: {"hits": len(answer.matches), "files": answer.files},
    "shell": lambda answer, _: {"status": getattr(answer, "exit_code", None)},
    "import": _describe_import,
    "capture": _describe_capture,
    "retire": _describe_retire,
    "record_run": _describe_record,
    "lessons": _describe_lessons,
    "compact_journal": lambda answer, _: {"count": answer.runs},
    **dict.fromkeys(("data_put", "data_remove", "config"), _describe_named),
    "trust": lambda answer, _: {"action": "trusted" if answer else "revoked"},
    "vouch": lambda answer, _: {"count": answer},
    "adopt_project": lambda answer, _: {"count": answer.memories},
}


def describe(verb: str, given: Facts, answer: object, is_secret: Callable[[str], object]) -> tuple[str, Facts | None]:
    """Return the outcome of a call and the facts of its line, from its arguments and its answer or error.

    `is_secret` checks the keys of a failed call, so that only such a call loads the rules.
    """
    if not isinstance(answer, BaseException):
        return "ok", _DESCRIBERS[verb](answer, given)
    outcome = "internal_error" if isinstance(answer, Exception) else "interrupted"
    outcome = answer.code if isinstance(answer, CommonplaceError) else outcome
    many, one = given.get("keys"), given.get("key")
    words = [*(many if isinstance(many, (list, tuple)) else ()), one]
    # A caller may pass anything as a key, even a text or a secret: only what looks like a key is named.
    keys = [word for word in words if isinstance(word, str) and word and not word.strip(_KEY_CHARACTERS)]
    keys = [word for word in keys if not is_secret(word)]
    is_unnamed = isinstance(answer, SecretFound) or bool(given.get("purge")) or not keys
    return outcome, {"scope": _scope_kind(given), "keys": None if is_unnamed else keys}


def _scope_kind(given: Facts) -> str | None:
    """Return the kind of the scope in the arguments, without its id, which may be a path of the machine."""
    kind = str(given.get("scope") or "").partition(":")[0]
    return kind if kind in ScopeKind._value2member_map_ else None


def _scope_of_path(path: str) -> str:
    """Return the scope of a memory by its path in the book: `global`, `project/app-0123456789ab`."""
    kind, inner = path.split("/")[2:4]
    return f"{kind}/{inner}" if ScopeKind(kind).has_id else kind
