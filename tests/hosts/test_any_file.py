"""A host's whole set of entries in any file that there may have been: connected, once more, and disconnected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from commonplace.hosts import cursor, gemini
from commonplace.hosts.config_edit.files import FileSnapshot
from commonplace.hosts.config_edit.parts import Host, Target
from commonplace.hosts.config_edit.plan import plan_file
from commonplace.model.errors import HostFileUnusable
from tests.depth import examples
from tests.hosts.json_files import json_files
from tests.hosts.places import COMMANDS

TARGET = Target("project", "/home", "/project", {}, COMMANDS)


@pytest.mark.parametrize(
    ("host", "file"), [(cursor.HOST, ".cursor/hooks.json"), (gemini.HOST, ".gemini/settings.json")]
)
@examples(60, 12)
@given(text=json_files())
def test_any_file_comes_back_to_the_byte(host: Host, file: str, text: str | None) -> None:
    """Whatever was in the file, all of a host's entries go in, do not change when they go in again, and come out."""
    parts = [part for part in host.build_parts(TARGET) if part.file == file]

    def snapshot(now: str | None) -> FileSnapshot:
        return FileSnapshot("/project", file, now)

    try:
        connected = plan_file(snapshot(text), parts, parts).text
    except HostFileUnusable:
        # Something else stands where a list or an object is needed: a person has to look at that.
        return
    assert connected != text
    assert plan_file(snapshot(connected), parts, parts).text == connected
    assert plan_file(snapshot(connected), [], parts).text == text


def test_what_a_version_beside_hooks_says_is_kept(tmp_path: Path) -> None:
    """Cursor wants a version beside its hooks: ours goes with ours, the user's own stays, wherever it stands."""
    parts = [part for part in cursor.HOST.build_parts(TARGET) if part.file.endswith("hooks.json")]
    for text in (
        '{"version": 1}\n',
        '{"hooks": {}, "version": 1}',
        '{"version": 1, "hooks": {"stop": [{"command": "x"}]}}',
    ):
        snapshot = FileSnapshot("/project", ".cursor/hooks.json", text)
        connected = plan_file(snapshot, parts, parts).text
        assert connected is not None
        assert connected.count("version") == 1
        assert plan_file(snapshot._replace(text=connected), [], parts).text == text
    made = plan_file(FileSnapshot("/project", ".cursor/hooks.json"), parts, parts).text
    assert made is not None
    assert '"version": 1' in made
    kept = made.replace('"stop": [', '"stop": [{"command": "mine"}, ')
    left = plan_file(FileSnapshot("/project", ".cursor/hooks.json", kept), [], parts).text
    assert left is not None
    assert '"version": 1' in left
    assert '"mine"' in left
