"""Entries in JSON files of other programs: put in, found, taken out, and not a byte else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hosts.config_edit import json_edit
from commonplace.hosts.config_edit.json_edit import InvalidJson, parse
from tests.hosts.json_files import json_files

SERVER = {"command": "/opt/bin/commonplace", "args": ["mcp", "--agent", "x"]}
HOOK = {
    "hooks": [{"type": "command", "command": "/opt/bin/commonplace-hook", "args": ["session-start", "--host", "x"]}]
}
ENTRIES: list[tuple[tuple[str | None, ...], object]] = [
    (("mcpServers", "commonplace"), SERVER),
    (("hooks", "SessionStart", None), HOOK),
    (("hooks", "Stop", None), HOOK),
    (("deep", "er", "still", "commonplace"), SERVER),
    (("commonplace",), 1),
]


def ours(value: object) -> bool:
    return value in (SERVER, HOOK, 1)


@given(json_files(), st.lists(st.sampled_from(range(len(ENTRIES))), unique=True, min_size=1))
def test_what_is_put_in_is_taken_out_to_the_byte(text: str | None, chosen: list[int]) -> None:
    """Whatever the file was, and whichever entries are put in, taking them out leaves the bytes that were there."""
    new: str | None = text
    for number in chosen:
        new = json_edit.insert(new, *ENTRIES[number])
        assert ENTRIES[number][1] in json_edit.find(new, ENTRIES[number][0])
    for number in reversed(chosen):
        assert new is not None
        new = json_edit.remove(new, ENTRIES[number][0], ours)
    assert new == text


@given(json_files(), st.sampled_from(ENTRIES))
def test_all_else_means_what_it_meant(text: str | None, entry: tuple[tuple[str | None, ...], object]) -> None:
    """Apart from our entry, a changed file says what it said before."""
    path, value = entry
    before = parse(text) if text is not None else None
    expected = before.value if before else {}
    node: Any = expected
    for name, following in pairwise(path):
        node = node.setdefault(name, [] if following is None else {})
    if path[-1] is None:
        node.append(value)
    else:
        node[path[-1]] = value
    after = parse(json_edit.insert(text, path, value))
    assert after is not None
    assert after.value == expected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"mcpServers": { "commonplace": 1}}', '{"mcpServers": {}}'),
        ('{"mcpServers": {"commonplace": 1 }}', '{"mcpServers": { }}'),
        ('{"mcpServers": {"commonplace": 1}, "a": 2}', '{ "a": 2}'),
        ('{\n  "mcpServers": {\n    "commonplace": 1\n  }\n}\n', '{\n  "mcpServers": {}\n}\n'),
        ('{"mcpServers": {"commonplace": 1, "b": 2}}', '{"mcpServers": { "b": 2}}'),
    ],
)
def test_what_somebody_laid_out_anew_is_taken_out_all_the_same(text: str, left: str) -> None:
    """Only an object with no blank around its one entry goes with it; any other stays, and every neighbour does."""
    assert json_edit.remove(text, ("mcpServers", "commonplace"), ours) == left


@pytest.mark.parametrize("text", ['{"a": }', '{"a" 1}', '{"a": 1 "b": 2}', "{,}", '{"a": 01x}', "{/* }", '{"a": "\n"}'])
def test_what_is_no_json_is_refused(text: str) -> None:
    """A file that no reader would take is not guessed at."""
    with pytest.raises(InvalidJson):
        json_edit.insert(text, ("mcpServers", "commonplace"), SERVER)
