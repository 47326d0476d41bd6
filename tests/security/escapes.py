"""Ways out of a book: what hostile callers send as paths, keys, scope ids and names, and links in hostile folders.

Case ids are ASCII and unique, so that the number of cases can be counted and a failing one named.
"""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass

UPS = [
    "..",
    "...",
    ". .",
    ".. ",
    " ..",
    "..\u200b",
    "\uff0e\uff0e",
    "\u2025",
    "\u2024\u2024",
    "%2e%2e",
    "%2E.",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "..\x00",
    "..;",
    "..:",
    "~",
]
SEPARATORS = ["/", "//", "/./", "\\", "\\/", "%2f", "%5c", "%c0%af", "\u2215", "\uff0f", "\u2044"]
ABSOLUTE = [
    *("/etc/passwd", "//etc/passwd", "/proc/self/environ", "/dev/null", "~/secret.md", "~root/secret.md"),
    *("$HOME/secret.md", "${HOME}/secret.md", "%USERPROFILE%/secret.md", "file:///etc/passwd"),
    *("C:\\secret.md", "C:/secret.md", "c:secret.md", "/C:/secret.md", "/c/secret.md", "data/C:/secret.md"),
    *("\\\\server\\share\\secret.md", "//server/share/secret.md", "\\\\?\\C:\\secret.md", "//?/C:/secret.md"),
    *("\\\\.\\PhysicalDrive0", "//./pipe/x", "\\secret.md", "data\\..\\..\\outside\\secret.md"),
]
CONTROL = ["a\x00b", "secret.md\x00.txt", "\x00", "a\nb", "a\rb", "a\tb", "\x7f", "\x1b[31m", "data/\x00/x", "a\x85b"]
DEVICES = ["con", "prn", "aux", "nul", "conin$", "conout$", "com1", "com9", "lpt1", "lpt0", "com\u00b9", "lpt\u00b3"]
ODD_ENDS = ["a.", "a ", "a. .", "data./x", "data /x", " ", ".", "./", "", "/", "//", "a/", "a//b", "a/./b"]
STREAMS = [
    "a.md:stream",
    "a.md::$DATA",
    "data:evil",
    "data::$INDEX_ALLOCATION/x",
    "a*",
    "a?",
    "a<b",
    "a>b",
    "a|b",
    'a"b',
]
LONG = ["a" * 201, "\u00e9" * 101, "/".join("a" * 13), "a/" * 600, "x" * 5_000, "../" * 300, "\u4e2d" * 70]
SURROGATES = ["\ud800", "a\udcff.md", "\udc2e\udc2e/x", "data/\udfff"]
_PRIVATE = ".commonplace/config.toml"
PRIVATE = [
    _PRIVATE,
    "/" + _PRIVATE,
    "./" + _PRIVATE,
    "//.commonplace//config.toml",
    "data/../" + _PRIVATE,
    _PRIVATE.upper(),
    _PRIVATE.replace("common", "Common"),
    _PRIVATE.replace("place/", "place./"),
    _PRIVATE.replace("place/", "place /"),
    _PRIVATE.replace("common", "common\u200c"),
    _PRIVATE.replace("common", "\u202ecommon"),
    _PRIVATE.replace("/", "\\"),
    _PRIVATE.replace("c", "\uff43", 1),
    "COMMON~1/config.toml",
    "common~2/CONFIG~1.TOM",
    ".commonplace::$INDEX_ALLOCATION/config.toml",
    ".commonplace/locks/global.lock",
    ".commonplace/trash",
    ".commonplace",
]
UNICODE = [unicodedata.normalize(form, "caf\u00e9/\u212b\ufb01.md") for form in ("NFC", "NFD", "NFKC", "NFKD")]
RESERVED_KEYS = [
    "index",
    "Index",
    "INDEX",
    "_scope",
    "_index/a",
    "_index",
    ".hidden",
    "people/index",
    "people/_x",
    "\u0131ndex",
]


def _traversals() -> list[str]:
    found = [f"{up}{sep}{up}{sep}outside{sep}secret.md" for up, sep in itertools.product(UPS, SEPARATORS)]
    starts = ("/", "data/", "/data/people/", "./", "memories/global/")
    found += [f"{start}{'../' * depth}outside/secret.md" for start in starts for depth in range(1, 6)]
    return [*found, "..", "../", "/..", "data/..", "data/../..", "data/people/../../../outside"]


def _devices() -> list[str]:
    spelled = [[name, name.upper(), f"{name}.md", f"{name}.tar.gz", f"{name} .md", f"{name}."] for name in DEVICES]
    return [*itertools.chain(*spelled), "data/con/x.md", "con/x", "con-1", "console"]


def texts() -> dict[str, str]:
    """Every hostile text by its id."""
    groups = {
        "traversal": _traversals(),
        "absolute": ABSOLUTE,
        "control": CONTROL,
        "device": _devices(),
        "end": ODD_ENDS,
        "stream": STREAMS,
        "long": LONG,
        "surrogate": SURROGATES,
        "private": PRIVATE,
        "unicode": UNICODE,
        "reserved": RESERVED_KEYS,
    }
    return {f"{group}-{number}": text for group, found in groups.items() for number, text in enumerate(found)}


@dataclass(frozen=True)
class LinkCase:
    """A link at a place in the book, and where it leads."""

    place: str
    target: str


PLACES = [
    "memories",
    "memories/global",
    "memories/global/people",
    "memories/global/people/alice.md",
    "memories/global/note.md",
    "memories/global/index.md",
    "memories/global/_index",
    "memories/index.md",
    "index.md",
    "data",
    "data/table.csv",
    ".commonplace",
    ".commonplace/locks",
    ".commonplace/locks/global.lock",
    ".commonplace/trash",
    ".commonplace/history",
    ".commonplace/history/global/note",
    ".commonplace/tombstones",
]
TARGETS = ["absolute", "relative", "chain", "dangling", "itself", "pair", "up", "private", "hard"]


def links() -> dict[str, LinkCase]:
    """Every link by its id; hard links only where a file is, for the system has none to folders."""
    cases = [LinkCase(place, target) for place, target in itertools.product(PLACES, TARGETS)]
    return {
        f"{case.place.replace('/', '-')}-{case.target}": case
        for case in cases
        if case.target != "hard" or "." in case.place.rsplit("/", 1)[-1].lstrip(".")
    }
