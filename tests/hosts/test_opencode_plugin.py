"""The plugin for OpenCode, called as OpenCode calls it, by whatever Node this machine has."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.hosts.opencode import shim_tells
from tests.hosts.world import World

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None or sys.platform == "win32", reason="there is no Node, or no sh")
def test_a_request_for_a_title_carries_nothing(tmp_path: Path) -> None:
    """Each request of the agent has the same brief, the prompt has its recall; a request for a title has neither."""
    assert shim_tells(World(tmp_path), NODE or "").exists()
