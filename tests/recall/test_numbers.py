"""An identifier with a number behind letters is found by that number too."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.choices import SearchMode
from tests.recall.test_meaning import opened

NOTES = {
    "library": "The client library is pinned to v2.3.1 in all services.",
    "server": "The server runs release v3.1.4-rc2 since May.",
    "token": "ERR2041 means that the token has expired.",
    "disk": "ERR2042 means that the disk is full.",
    "room": "Room 3 has a beamer.",
    "backups": "Backups go to S3 every night.",
}
ASKED = {
    "v2.3.1": ["library"],
    "2.3.1": ["library"],
    "2.3": ["library"],
    "3.1.4": ["server"],
    "v3.1.4-rc2": ["server"],
    "ERR2041": ["token"],
    "2041": ["token"],
    "2042": ["disk"],
    "2043": [],
    "2.3.2": [],
    "v2.3.2": [],
    "1.3.2": [],
    "10.3.2": [],
    "S3": [],
    '"to v2.3.1 in all"': ["library"],
    '"ERR2042 means"': ["disk"],
}


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_a_number_finds_what_has_letters_before_it(tmp_path: Path, mode: SearchMode) -> None:
    """What has a version or an error code is known by it, first and strong: whole, without its letters and by its first
    parts; others are not, even with the same parts in another order; a phrase stays whole, and S3 is no 3."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": text, "key": key} for key, text in NOTES.items())
        for question, wanted in ASKED.items():
            found = book.recall(question, mode=mode, explain=True)
            named = [hit.key for hit, parts in zip(found.hits, found.explained, strict=True) if "named" in parts]
            assert named == wanted, question
            assert [hit.key for hit in found.hits if hit.strong][: len(wanted)] == wanted, question
        assert [hit.key for hit in book.recall("room 3", mode=mode).hits][:1] == ["room"]
        assert "backups" not in [hit.key for hit in book.recall("room 3", mode="lexical").hits]
