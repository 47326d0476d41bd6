"""Everything that `doctor` can find (and `scan` besides secrets), by code, and the list in which findings are gathered.

The table is the one place where a code gets its severity and what to do; docs/doctor.md shows it, and a test holds the
two together. However broken a book is, the list stays short enough to be read: LIMIT of a code, and how many more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from commonplace.model.results import Finding

ERROR, WARNING, NOTE = "error", "warning", "note"
LIMIT = 200


class Code(NamedTuple):
    severity: str
    meaning: str
    hint: str


CODES: Mapping[str, Code] = {
    "bit_rot": Code(
        ERROR,
        "The bytes of this file are not those that were recorded, although nothing says that it was changed.",
        "Compare it with a backup, git or `commonplace history`, and put it right; only then run `commonplace reindex`,"
        " which takes the bytes as they are. Check the disk.",
    ),
    "unreadable": Code(
        ERROR,
        "This cannot be read.",
        "Check who owns it, its permissions and the disk; what is in it is not found until then.",
    ),
    "config_invalid": Code(
        ERROR,
        "config.toml has something that cannot be used, so the book will not open the next time.",
        "Correct the setting that the message names, or take it out: `commonplace config` lists what there is.",
    ),
    "key_unusable": Code(
        ERROR,
        "The book's key cannot be read, so every memory counts as one from outside, also what is stored from now on.",
        "Bring it back from a backup. If there is none, take it and both databases away, look at what"
        " `commonplace list --all --outside` names, and say `commonplace trust --memories`.",
    ),
    "index_differs": Code(
        ERROR,
        "The index says something else than the files.",
        "Run `commonplace reindex`: it reads every note again and changes none. See to bit_rot first, if there is any.",
    ),
    "page_differs": Code(
        WARNING,
        "An index page says something else than the files.",
        "Run `commonplace reindex`, or just store something in that scope: both mend its pages.",
    ),
    "not_compared": Code(
        WARNING,
        "The index could not be compared with the files of this scope.",
        "See to the other findings first, then run `commonplace doctor` again.",
    ),
    "huge_file": Code(
        WARNING,
        "This note is too large to be looked into.",
        "Move it to data/, and keep a short memory that says where it is.",
    ),
    "tombstoned": Code(
        WARNING,
        "This memory was purged, and its file came back (from a backup, a sync or git).",
        "It is quarantined. Accept it with `commonplace review`, or purge it again: `commonplace forget KEY --purge`.",
    ),
    "not_utf8": Code(
        WARNING,
        "This note is not UTF-8 text all through; the bytes that are not are kept, and shown as \ufffd.",
        "Open it in an editor that can read its encoding, and save it as UTF-8.",
    ),
    "frontmatter_open": Code(
        WARNING,
        "The frontmatter is opened and never closed, so all of it counts as text.",
        "Put a line with --- after its last field.",
    ),
    "frontmatter_field": Code(
        WARNING,
        "A field of the frontmatter cannot be understood, and counts as absent.",
        "Correct the field that the message names; section 4.1 of docs/format.md says what each can be.",
    ),
    "scope_differs": Code(
        WARNING,
        "The frontmatter says another scope than the path. The path decides who sees the memory.",
        "Move the file to the folder of the scope that is meant, or take out its scope line.",
    ),
    "duplicate_id": Code(
        WARNING,
        "Several notes have the same id: one is a copy of the other.",
        "Take the id line out of the copy; it gets one of its own at the next write.",
    ),
    "scope_page": Code(
        WARNING,
        "`_scope.md` does not say whose folder this is: its memories may be out of reach for those they belong to.",
        "Write the true id into `_scope.md` (section 3 of docs/format.md), or move the notes to where they belong.",
    ),
    "audit_unwritable": Code(
        WARNING,
        "The audit cannot be written: calls leave no line in it.",
        "Check who owns `.commonplace/audit` and its permissions; it may be moved away, and a new one is begun.",
    ),
    "ignored_file": Code(
        WARNING,
        "This stands where memories are, but can never be one: it is neither indexed nor found.",
        "Rename it, or move it to data/ or out of the book.",
    ),
    "link": Code(
        WARNING,
        "This is a link or a special file. A book never follows one.",
        "Replace it by the real file or folder, or take it away.",
    ),
    "open_to_others": Code(
        WARNING,
        "Other users of this machine may read or change this.",
        "On Linux and macOS, run `chmod -R go= FOLDER` on the book's folder (`commonplace status` names it).",
    ),
    "key_differs": Code(
        NOTE,
        "The frontmatter says another key than the path. The path decides.",
        "Nothing has to be done: a renamed file looks like this. The key line may be corrected or taken out.",
    ),
    "broken_link": Code(
        NOTE,
        "A link leads to a memory that is not there.",
        "Correct the link, or store what it should lead to.",
    ),
    "same_name": Code(
        NOTE,
        "Two names here differ only in case or in how accents are written: on macOS and Windows they are one file.",
        "Rename one of them before the book goes to such a machine.",
    ),
    "hidden_file": Code(
        NOTE,
        "This stands where memories are and is not one: its name starts with _ or ., or it is no Markdown file.",
        "Nothing has to be done, if that is meant; else rename it to NAME.md.",
    ),
    "left_over": Code(
        NOTE,
        "A writer that was killed, or is at work just now, left this half-made file. It is no part of the book.",
        "Nothing has to be done: among memories it goes at a later write, elsewhere it may be deleted.",
    ),
    "database_aside": Code(
        NOTE,
        "A database that could not be used was put aside here, and a new one was begun. It may hold old text.",
        "Delete it once all is well: no memory is lost with it.",
    ),
    "not_scanned": Code(
        NOTE,
        "`commonplace scan` did not look into this file.",
        "Look through it yourself, if it may hold a secret.",
    ),
    "old_trash": Code(
        NOTE,
        "This was forgotten more than 30 days ago and is still in the trash.",
        "`commonplace forget KEY --purge` removes it for good; `commonplace restore KEY` brings it back.",
    ),
}
_ORDER = {code: number for number, code in enumerate(CODES)}
_RANK = {ERROR: 0, WARNING: 1, NOTE: 2}


class Findings:
    def __init__(self) -> None:
        self._kept: dict[str, list[Finding]] = {}
        self._more: Counter[str] = Counter()
        self._worst: dict[str, str] = {}  # of those that are only counted

    def add(self, code: str, path: object, message: str | None = None, *, severity: str | None = None) -> None:
        about = CODES[code]
        severity = severity or about.severity
        kept = self._kept.setdefault(code, [])
        if len(kept) >= LIMIT:
            self._more[code] += 1
            self._worst[code] = min(severity, self._worst.get(code, severity), key=_RANK.__getitem__)
            return
        kept.append(Finding(code, severity, _text(path), _text(message or about.meaning), about.hint))

    def answer(self) -> list[Finding]:
        """All that was found, worst first, then by code and path."""
        kept = [finding for found in self._kept.values() for finding in found]
        kept.sort(key=lambda finding: (_RANK[finding.severity], _ORDER[finding.code], finding.path, finding.message))
        rest = [
            Finding(code, self._worst[code], "/", f"And {number:,} more of this code.", CODES[code].hint)
            for code, number in self._more.items()
        ]
        return kept + rest


def _text(value: object) -> str:
    """Words that every surface can print: a name on disk may have bytes in it that are no UTF-8."""
    return str(value).encode("utf-8", "backslashreplace").decode()
