"""The codes of `doctor` and `scan` with severity, meaning and hint, and the list that collects findings.

docs/doctor.md shows the same table, and a test compares the two. However broken a book is, the list stays readable: at
most LIMIT findings of a code, then one that counts the rest.
"""

from collections import Counter

from commonplace.model.errors import CommonplaceError, LinkRefused, TooLarge
from commonplace.model.results import Finding
from commonplace.vault.paths import MAX_NOTE

ERROR, WARNING, NOTE = "error", "warning", "note"
LIMIT = 200


# By code: what it means, and what to do about it.
_ERRORS = {
    "bit_rot": (
        "The disk changed the bytes of this file: its size and its time are as they were when it was written.",
        "If nothing was written to it since, `commonplace undo KEY` brings back what it said, as far as that is known."
        " Else correct it with `commonplace edit KEY`, from a backup or the text that `commonplace history KEY` names"
        " as damaged; saving it unchanged accepts it. Check the disk.",
    ),
    "unreadable": (
        "This cannot be read.",
        "Check its owner, its permissions and the disk. Until then its text cannot be found.",
    ),
    "config_invalid": (
        "config.toml has an invalid setting, so the book will not open the next time.",
        "Correct or remove the setting that the message names; `commonplace config` lists all settings.",
    ),
    "format_too_new": (
        "A newer Commonplace wrote this book, in a format that this program does not know. Nothing was checked.",
        "Upgrade Commonplace: `uv tool upgrade commonplace-memory`, or as you installed it.",
    ),
    "format_unreadable": (
        "The file that says which format this book has cannot be read. It counts as format 1.",
        "Restore it from git or a backup, or delete it: the next command writes it again.",
    ),
    "book_id": (
        "The book's id cannot be read, or is not one.",
        "Restore it from a backup. If there is none, delete the file: a new id is made. Databases that are kept outside"
        " the book are then built anew.",
    ),
    "not_opened": (
        "A part of the book could not be opened, so other commands refuse to work.",
        "Do what the message says, then run `commonplace doctor` again.",
    ),
    "key_unusable": (
        "The book's key cannot be read, so every memory counts as coming from outside, new ones included.",
        "Restore it from a backup. If there is none, move it and both databases away, check what"
        " `commonplace list --all --outside` shows, and run `commonplace config trust --memories`.",
    ),
    "merge_conflict": (
        "A merge left two texts in this file, so the memory is not shown and not written to.",
        "Run `commonplace edit KEY`, keep what is right, and delete the lines that start with <<<<<<<, ======= and"
        " >>>>>>>. `commonplace history KEY` shows what it said before.",
    ),
    "key_damaged": (
        "The book's key is not the one it was given: it was damaged or lost. What was written with the right key counts"
        " as coming from outside, and is not in the brief.",
        "Restore `.commonplace/key` from a backup. If there is none, check what `commonplace list --all --outside`"
        " shows, then run `commonplace config trust --memories`: it trusts all memories, and the key as it is now.",
    ),
    "index_differs": (
        "The index does not match the files.",
        "Run `commonplace doctor reindex`: it reads every note and changes none.",
    ),
}
_WARNINGS = {
    "page_differs": (
        "An index page does not match the files.",
        "Run `commonplace doctor reindex`, or store something in that scope: both repair its pages.",
    ),
    "not_compared": (
        "The index could not be compared with the files of this scope.",
        "Fix the other findings first, then run `commonplace doctor` again.",
    ),
    "huge_file": (
        f"This file has more bytes than a book reads of one ({MAX_NOTE >> 20} MiB of a note). It is not indexed.",
        "Move it to data/, and store a short memory that says where it is.",
    ),
    "wrong_kind": (
        "There should be a file here and there is a folder, or the other way round.",
        "Move it away; restore the right one from a backup, if there was one.",
    ),
    "tombstoned": (
        "This memory was purged, and its file came back (from a backup, a sync or git).",
        "It is quarantined. Accept it with `commonplace review`, or purge it again: `commonplace forget KEY --purge`.",
    ),
    "not_utf8": (
        "This note has bytes that are not UTF-8. They are kept, and shown as \ufffd.",
        "Open it in an editor that can read its encoding, and save it as UTF-8.",
    ),
    "frontmatter_open": (
        "The frontmatter is never closed, so all of it counts as text.",
        "Add a line with --- after its last field.",
    ),
    "frontmatter_field": (
        "A field of the frontmatter cannot be read, and is ignored.",
        "Correct the field that the message names; section 4.1 of docs/format.md says what each may contain.",
    ),
    "scope_differs": (
        "The frontmatter names another scope than the path. The path decides who sees the memory.",
        "Move the file to the folder of the right scope, or remove its scope line.",
    ),
    "duplicate_id": (
        "Several notes have the same id: one is a copy of the other.",
        "Remove the id line from the copy; it gets its own id at the next write.",
    ),
    "scope_page": (
        "`_scope.md` does not say whose folder this is, so its owner may not find these memories.",
        "Write the true id into `_scope.md` (section 3 of docs/format.md), or move the notes to the right folder.",
    ),
    "audit_unwritable": (
        "The audit log cannot be written, so calls are not recorded.",
        "Check the owner and the permissions of `.commonplace/audit`. You may move it away: a new one is created.",
    ),
    "ignored_file": (
        "This is in a memory folder but can never be a memory: it is neither indexed nor found.",
        "Rename it, or move it to data/ or out of the book.",
    ),
    "link": (
        "This is a link or a special file, and a book never follows these.",
        "Replace it with the real file or folder, or remove it.",
    ),
    "open_to_others": (
        "Other users of this machine may read or change this.",
        "Run the command in the message: it closes the whole book. A fresh clone of a book looks like this.",
    ),
    "broken_connection": (
        "An agent program is connected to this memory, and that does not work: what its files start is gone or fails,"
        " or they are not complete, or cannot be read.",
        "Do what the finding says: a command that it names writes them anew, and keeps what you changed in them.",
    ),
    "lost_hooks": (
        "Hooks of an agent program gave no answer, so the agent was told nothing there.",
        "If this goes on: where they were not done in time, set COMMONPLACE_HOOK_DEADLINE_MS (5000, for example) where"
        " the agent program runs; for any other reason, see `.commonplace/hook.log`. A few on a busy machine are no"
        " fault.",
    ),
}
_NOTES = {
    "git_files": (
        "Git is not told how to merge the pages that Commonplace makes, so they conflict at every pull.",
        "Run `commonplace init`: it adds the lines that this file lacks, and keeps yours.",
    ),
    "key_differs": (
        "The frontmatter names another key than the path. The path decides.",
        "You need not do anything: a renamed file looks like this. You may correct or remove the key line.",
    ),
    "from_outside": (
        "Memories that say they were written by a person or an agent count as coming from outside.",
        "If they came with a clone or a sync, read them (`commonplace list --all --outside`) and accept them:"
        " `commonplace config trust --memories`. If they were written here, the key was lost: restore"
        " `.commonplace/key` from a backup.",
    ),
    "broken_link": (
        "A link leads to a memory that does not exist.",
        "Correct the link, or store the missing memory.",
    ),
    "same_name": (
        "Two names here differ only in case or in how accents are encoded: macOS and Windows see one file.",
        "Rename one of them before you copy the book to such a machine.",
    ),
    "hidden_file": (
        "This is in a memory folder and is not a memory: its name starts with _ or ., or it is not a Markdown file.",
        "You need not do anything if that is intended; otherwise rename it to NAME.md.",
    ),
    "left_over": (
        "A writer that was killed, or is still running, left this partial file. It is not part of the book.",
        "You need not do anything: in a memory folder a later write removes it, elsewhere you may delete it.",
    ),
    "database_aside": (
        "An unusable database was moved here, and a new one was created. It may hold old text.",
        "Delete it once everything works: no memory is lost with it.",
    ),
    "not_scanned": (
        "`commonplace doctor scan` did not read this file.",
        "Check it yourself if it may hold a secret.",
    ),
    "old_trash": (
        "This was forgotten more than 30 days ago and is still in the trash.",
        "`commonplace forget KEY --purge` removes it for good; `commonplace restore KEY` brings it back.",
    ),
}
CODES = {  # by code: severity, meaning and hint
    code: (severity, *texts)
    for severity, codes in ((ERROR, _ERRORS), (WARNING, _WARNINGS), (NOTE, _NOTES))
    for code, texts in codes.items()
}
_CODES = [*CODES]
_SEVERITIES = (ERROR, WARNING, NOTE)


class FindingList:
    """Collects findings, at most LIMIT of a code, and counts the rest."""

    def __init__(self) -> None:
        self._findings: dict[str, list[Finding]] = {}
        self._more: Counter[str] = Counter()
        self._worst: dict[str, str] = {}  # by code, the worst severity of those that are only counted

    def add(self, code: str, path: object, message: str | None = None, *, severity: str | None = None) -> None:
        """Add a finding; message and severity are those of its code where they are not given."""
        usual, meaning, hint = CODES[code]
        severity = severity or usual
        findings = self._findings.setdefault(code, [])
        if len(findings) < LIMIT:
            findings.append(Finding(code, severity, _printable(path), _printable(message or meaning), hint))
        else:
            self._more[code] += 1
            self._worst[code] = min(severity, self._worst.get(code, severity), key=_SEVERITIES.index)

    def add_unreadable(self, path: object, error: CommonplaceError, code: str = "unreadable") -> None:
        """Add something that cannot be read, with the operating system's words where it gave some."""
        if isinstance(error, (LinkRefused, TooLarge)) and code == "unreadable":
            self.add("link" if isinstance(error, LinkRefused) else "huge_file", path)
            return
        cause = error.__cause__
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else error.message
        self.add(code, path, f"This cannot be read: {reason}.")

    def sort(self) -> list[Finding]:
        """Return the findings, worst first, then by code and path; the counts of the rest come last."""
        findings = [finding for same_code in self._findings.values() for finding in same_code]
        findings.sort(key=lambda one: (_SEVERITIES.index(one.severity), _CODES.index(one.code), one.path, one.message))
        for code, number in self._more.items():
            message = f"And {number:,} more of this code."
            findings.append(Finding(code, self._worst[code], "/", message, CODES[code][2]))
        return findings


def _printable(value: object) -> str:
    """Return text that every surface can print: a name on disk may contain bytes that are not UTF-8."""
    return str(value).encode("utf-8", "backslashreplace").decode()


_SHOWN = 60  # characters of a note's own words in a message


def cut_words(text: str) -> str:
    """Return a note's own words as a message shows them."""
    return ascii(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
