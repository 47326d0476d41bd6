"""The codes of `doctor` and `scan` with severity, meaning and hint, and the list that collects findings.

docs/doctor.md shows the same table, and a test compares the two. However broken a book is, the list stays readable: at
most LIMIT findings of a code, then one that counts the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from commonplace.model.results import Finding

ERROR, WARNING, NOTE = "error", "warning", "note"
LIMIT = 200


class FindingCode(NamedTuple):
    """What every finding of one code has in common."""

    severity: str
    meaning: str
    hint: str


CODES: Mapping[str, FindingCode] = {
    "bit_rot": FindingCode(
        ERROR,
        "The bytes of this file are not those that were recorded, although nothing says that it was changed.",
        "Compare it with a backup, git or `commonplace history`, and put it right; only then run `commonplace reindex`,"
        " which takes the bytes as they are. Check the disk.",
    ),
    "unreadable": FindingCode(
        ERROR,
        "This cannot be read.",
        "Check who owns it, its permissions and the disk; what is in it is not found until then.",
    ),
    "config_invalid": FindingCode(
        ERROR,
        "config.toml has something that cannot be used, so the book will not open the next time.",
        "Correct the setting that the message names, or take it out: `commonplace config` lists what there is.",
    ),
    "key_unusable": FindingCode(
        ERROR,
        "The book's key cannot be read, so every memory counts as one from outside, also what is stored from now on.",
        "Bring it back from a backup. If there is none, take it and both databases away, look at what"
        " `commonplace list --all --outside` names, and say `commonplace trust --memories`.",
    ),
    "index_differs": FindingCode(
        ERROR,
        "The index says something else than the files.",
        "Run `commonplace reindex`: it reads every note again and changes none. See to bit_rot first, if there is any.",
    ),
    "page_differs": FindingCode(
        WARNING,
        "An index page says something else than the files.",
        "Run `commonplace reindex`, or just store something in that scope: both mend its pages.",
    ),
    "not_compared": FindingCode(
        WARNING,
        "The index could not be compared with the files of this scope.",
        "See to the other findings first, then run `commonplace doctor` again.",
    ),
    "huge_file": FindingCode(
        WARNING,
        "This note is too large to be looked into.",
        "Move it to data/, and keep a short memory that says where it is.",
    ),
    "tombstoned": FindingCode(
        WARNING,
        "This memory was purged, and its file came back (from a backup, a sync or git).",
        "It is quarantined. Accept it with `commonplace review`, or purge it again: `commonplace forget KEY --purge`.",
    ),
    "not_utf8": FindingCode(
        WARNING,
        "This note is not UTF-8 text all through; the bytes that are not are kept, and shown as \ufffd.",
        "Open it in an editor that can read its encoding, and save it as UTF-8.",
    ),
    "frontmatter_open": FindingCode(
        WARNING,
        "The frontmatter is opened and never closed, so all of it counts as text.",
        "Put a line with --- after its last field.",
    ),
    "frontmatter_field": FindingCode(
        WARNING,
        "A field of the frontmatter cannot be understood, and counts as absent.",
        "Correct the field that the message names; section 4.1 of docs/format.md says what each can be.",
    ),
    "scope_differs": FindingCode(
        WARNING,
        "The frontmatter says another scope than the path. The path decides who sees the memory.",
        "Move the file to the folder of the scope that is meant, or take out its scope line.",
    ),
    "duplicate_id": FindingCode(
        WARNING,
        "Several notes have the same id: one is a copy of the other.",
        "Take the id line out of the copy; it gets one of its own at the next write.",
    ),
    "scope_page": FindingCode(
        WARNING,
        "`_scope.md` does not say whose folder this is: its memories may be out of reach for those they belong to.",
        "Write the true id into `_scope.md` (section 3 of docs/format.md), or move the notes to where they belong.",
    ),
    "audit_unwritable": FindingCode(
        WARNING,
        "The audit cannot be written: calls leave no line in it.",
        "Check who owns `.commonplace/audit` and its permissions; it may be moved away, and a new one is begun.",
    ),
    "ignored_file": FindingCode(
        WARNING,
        "This stands where memories are, but can never be one: it is neither indexed nor found.",
        "Rename it, or move it to data/ or out of the book.",
    ),
    "link": FindingCode(
        WARNING,
        "This is a link or a special file. A book never follows one.",
        "Replace it by the real file or folder, or take it away.",
    ),
    "open_to_others": FindingCode(
        WARNING,
        "Other users of this machine may read or change this.",
        "On Linux and macOS, run `chmod -R go= FOLDER` on the book's folder (`commonplace status` names it).",
    ),
    "key_differs": FindingCode(
        NOTE,
        "The frontmatter says another key than the path. The path decides.",
        "Nothing has to be done: a renamed file looks like this. The key line may be corrected or taken out.",
    ),
    "broken_link": FindingCode(
        NOTE,
        "A link leads to a memory that is not there.",
        "Correct the link, or store what it should lead to.",
    ),
    "same_name": FindingCode(
        NOTE,
        "Two names here differ only in case or in how accents are written: on macOS and Windows they are one file.",
        "Rename one of them before the book goes to such a machine.",
    ),
    "hidden_file": FindingCode(
        NOTE,
        "This stands where memories are and is not one: its name starts with _ or ., or it is no Markdown file.",
        "Nothing has to be done, if that is meant; else rename it to NAME.md.",
    ),
    "left_over": FindingCode(
        NOTE,
        "A writer that was killed, or is at work just now, left this half-made file. It is no part of the book.",
        "Nothing has to be done: among memories it goes at a later write, elsewhere it may be deleted.",
    ),
    "database_aside": FindingCode(
        NOTE,
        "A database that could not be used was put aside here, and a new one was begun. It may hold old text.",
        "Delete it once all is well: no memory is lost with it.",
    ),
    "not_scanned": FindingCode(
        NOTE,
        "`commonplace scan` did not look into this file.",
        "Look through it yourself, if it may hold a secret.",
    ),
    "old_trash": FindingCode(
        NOTE,
        "This was forgotten more than 30 days ago and is still in the trash.",
        "`commonplace forget KEY --purge` removes it for good; `commonplace restore KEY` brings it back.",
    ),
}
_CODE_ORDER = {code: number for number, code in enumerate(CODES)}
_SEVERITY_ORDER = {ERROR: 0, WARNING: 1, NOTE: 2}


class FindingList:
    """Collects findings, at most LIMIT of a code, and counts the rest."""

    def __init__(self) -> None:
        self._findings: dict[str, list[Finding]] = {}
        self._more: Counter[str] = Counter()
        self._worst: dict[str, str] = {}  # by code, the worst severity of those that are only counted

    def add(self, code: str, path: object, message: str | None = None, *, severity: str | None = None) -> None:
        """Add a finding; message and severity are those of its code where they are not given."""
        about = CODES[code]
        severity = severity or about.severity
        findings = self._findings.setdefault(code, [])
        if len(findings) < LIMIT:
            findings.append(Finding(code, severity, _printable(path), _printable(message or about.meaning), about.hint))
        else:
            self._more[code] += 1
            self._worst[code] = min(severity, self._worst.get(code, severity), key=_SEVERITY_ORDER.__getitem__)

    def sort(self) -> list[Finding]:
        """Return the findings, worst first, then by code and path; the counts of the rest come last."""
        findings = [finding for same_code in self._findings.values() for finding in same_code]
        findings.sort(key=lambda one: (_SEVERITY_ORDER[one.severity], _CODE_ORDER[one.code], one.path, one.message))
        for code, number in self._more.items():
            message = f"And {number:,} more of this code."
            findings.append(Finding(code, self._worst[code], "/", message, CODES[code].hint))
        return findings


def _printable(value: object) -> str:
    """Return text that every surface can print: a name on disk may contain bytes that are not UTF-8."""
    return str(value).encode("utf-8", "backslashreplace").decode()
