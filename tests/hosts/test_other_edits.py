"""Tables in TOML, entries in YAML, blocks in Markdown: put in, found, taken out, and not a byte else."""

from __future__ import annotations

import tomllib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hosts.config_edit.text_edit import (
    BEGIN,
    END,
    UnsupportedLayout,
    find_block,
    find_toml,
    insert_block,
    insert_toml,
    insert_yaml,
    remove_block,
    remove_toml,
    remove_yaml,
)

TABLE = {"command": 'C:\\bin\\"commonplace".exe', "args": ["mcp", "--agent", "codex"], "startup_timeout_sec": 20}
PLACE = ("mcp_servers", "commonplace")
ENTRY = {"type": "stdio", "cmd": "/opt/bin/commonplace", "args": ["mcp", "--agent", "goose"], "enabled": True}
SPOT = ("extensions", "commonplace")
_TOML_LINES = (
    "", "# a comment", "model = 'x' # why", "[mcp_servers.other]", "command = '[mcp_servers.commonplace]'",
    "[features]",
    "list = [\n  1, # [x]\n  [2],\n]", 'text = """\n[mcp_servers.commonplace]\n"""', "[[hooks.Stop]]", "  # the end",
    "raw = '''\n\\[a]'''", "[\"odd ] name\"]", "when = 2026-11-15",
)  # fmt: skip
_YAML_LINES = (
    "", "# a comment", "GOOSE_MODE: auto", "extensions:\n  other:\n    type: builtin # x\n    enabled: true",
    "extensions:", "extensions:\n    deep:\n        a: 1", "list:\n- 1\n- 2", "text: 'x: y'",
    "note: |\n  extensions:\n    commonplace: 1\nlast: 1",
)  # fmt: skip


def always(value: object) -> bool:
    return bool(value)


def files(lines: tuple[str, ...]) -> st.SearchStrategy[str | None]:
    """Files of these lines, with any line ends and with or without one at the end; None where there is none."""
    text = st.builds(
        lambda chosen, newline, end, mark: mark + newline.join("\n".join(chosen).split("\n")) + newline * end,
        st.lists(
            st.sampled_from(lines), max_size=5, unique_by=lambda line: line.split("\n")[0].split(":")[0] or object()
        ),
        st.sampled_from(("\n", "\r\n")),
        st.integers(0, 2),
        st.sampled_from(("", "\ufeff")),
    )
    return st.none() | text


@given(files(_TOML_LINES))
def test_a_table_is_put_in_and_taken_out(text: str | None) -> None:
    """Whatever valid TOML there was, the table is read as it was meant, all else as before, and the bytes come back."""
    try:
        before = tomllib.loads((text or "").removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return
    new = insert_toml(text, PLACE, TABLE)
    after = tomllib.loads(new.removeprefix("\ufeff"))
    assert after["mcp_servers"].pop("commonplace") == TABLE
    assert {**after, "mcp_servers": after["mcp_servers"] or None} == {
        **before,
        "mcp_servers": before.get("mcp_servers"),
    }
    assert find_toml(new, PLACE) == [TABLE]
    assert remove_toml(new, PLACE, always) == text


@given(files(_TOML_LINES), st.sampled_from(("[mcp_servers.commonplace.tools.store]\napproval_mode = 'auto'\n", "")))
def test_what_the_program_added_below_our_table_goes_too(text: str | None, more: str) -> None:
    """Tables below ours, and a table after them, are told apart: ours go, the other stays."""
    try:
        tomllib.loads((text or "").removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return
    new = insert_toml(text, PLACE, TABLE) + more + "[later]\nx = 1\n"
    left = remove_toml(new, PLACE, always)
    assert left is not None
    assert left == (text or "") + "[later]\nx = 1\n"


def test_toml_that_leaves_no_room_is_refused() -> None:
    """Where servers are an inline table nothing is changed; a table written as an inline one is not guessed at."""
    with pytest.raises(UnsupportedLayout):
        insert_toml("mcp_servers = {a = {command = 'x'}}\n", PLACE, TABLE)
    with pytest.raises(UnsupportedLayout):
        remove_toml("mcp_servers = {commonplace = {command = 'x'}}\n", PLACE, always)


@given(files(_YAML_LINES))
def test_an_entry_is_put_in_and_taken_out(text: str | None) -> None:
    """Whatever YAML in lines there was, the entry is read as meant, all else as before, and the bytes come back."""
    before = yaml.safe_load(text) if text is not None else None
    new = insert_yaml(text, SPOT, ENTRY)
    after = yaml.safe_load(new)
    assert after["extensions"].pop("commonplace") == ENTRY
    assert {**after, "extensions": after["extensions"] or None} == {
        **(before or {}),
        "extensions": (before or {}).get("extensions"),
    }
    assert remove_yaml(new, SPOT, always) == text


@pytest.mark.parametrize("text", ["extensions: {}\n", "{a: 1}\n", "- 1\n", "extensions: 3\n", "a: |+\n  x\n"])
def test_yaml_that_leaves_no_room_is_refused(text: str) -> None:
    """Flow style, other types, and a text that would swallow our line break are left to a person."""
    with pytest.raises(UnsupportedLayout):
        insert_yaml(text, SPOT, ENTRY)


def test_an_entry_laid_out_anew_is_still_taken_out() -> None:
    """Goose writes its file anew: our entry, now over several lines, is found and goes; the others stay."""
    ours = "  commonplace:\n    cmd: commonplace\n    args:\n    - mcp\n"
    text = f"GOOSE_MODE: auto\nextensions:\n  a:\n    x: 1\n{ours}  z:\n    y: 2\n"
    assert remove_yaml(text, SPOT, always) == "GOOSE_MODE: auto\nextensions:\n  a:\n    x: 1\n  z:\n    y: 2\n"


@given(st.none() | st.text(alphabet="ab#\n\r<!- ", max_size=30), st.booleans(), st.text(alphabet="xy\n", min_size=1))
def test_a_block_is_put_in_and_taken_out(text: str | None, windows: bool, body: str) -> None:
    """Whatever text there was, the block is found again, replaced in place, and leaves the bytes that were there."""
    if text is not None and windows:
        text = text.replace("\n", "\r\n")
    new = insert_block(text, body)
    assert (find_block(new) or "").strip("\n") == body.strip("\n")
    other = insert_block(new, "other")
    assert find_block(other) == "other\n"
    assert insert_block(other, body) == new
    assert remove_block(new) == text


@pytest.mark.parametrize(
    "text",
    [
        BEGIN,
        END,
        f"{END}{BEGIN}",
        f"{BEGIN}{END}" * 2,
    ],
)
def test_marks_that_make_no_block_are_refused(text: str) -> None:
    """Half a block, or two, are not guessed at."""
    with pytest.raises(UnsupportedLayout):
        insert_block(text, "x")
