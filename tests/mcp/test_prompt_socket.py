"""The socket of a server, as a client finds it that keeps to no rules; and which servers have one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat as st
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.context.prompt_servers import DECLINED, PromptRequest
from commonplace.memories.layout import find_run_folder
from tests.mcp.raw import HANGS, LEGACY, MODERN, Raw

pytestmark = [
    pytest.mark.deep,  # it starts many processes
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets"),
]


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the user's state, at a path that is short enough for a socket."""
    short = tempfile.mkdtemp(prefix="cp", dir="/tmp")
    monkeypatch.setenv("XDG_STATE_HOME", short)
    yield Path(short)
    shutil.rmtree(short)


def find_socket(raw: Raw) -> Path:
    """The socket of a server, once it has one."""
    path, end = Path(find_run_folder(None)) / f"{raw.process.pid}.sock", time.monotonic() + HANGS
    raw.request("tools/list")
    while not path.with_suffix(".json").exists():
        assert time.monotonic() < end, "there never was one"
    return path


def send(path: Path, data: bytes, *, ends: bool = True) -> bytes:
    """What a server says to these bytes before it hangs up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(HANGS)
        connection.connect(str(path))
        parts = []
        try:
            connection.sendall(data)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                parts.append(part)
        except (ConnectionResetError, BrokenPipeError):  # it did not wait for the rest
            pass
    return b"".join(parts)


def request(**fields: object) -> bytes:
    known = PromptRequest("prompt", "s1", "/tmp", "scout", sealed=False, folders=(), told={})
    return json.dumps({**known._asdict(), **fields}).encode() + b"\n"


@pytest.mark.usefixtures("state")
def test_nothing_that_is_sent_ends_the_server(root: Path) -> None:
    """What is no request is declined or hung up on, whatever it is and wherever it stops; the tools go on."""
    lines = [
        b"", b"\n", b"{", b"{}\n", b"[]\n", b"null\n", b"\xff\n", b"\0" * 1_000 + b"\n", b"[" * 50_000 + b"\n",
        b"x" * 5_000_000, b'{"v":1}\n', request(v=2), request(more=1), request(prompt=1), request(session=[]),
        request(cwd={}), request(agent=None), request(sealed=0), request(folders="x"), request(folders=[1]),
        request(told=[]), request(told={"x": 1}), request(cwd="relative"), request(cwd="/no/such/folder"),
        request(cwd="/tmp\0"), request(session="\ud800"), request(session="s" * 2_000),
        request(folders=["/memories/project/other-0123456789ab"]),
    ]  # fmt: skip
    with Raw(root, "--agent", "scout") as raw:
        path = find_socket(raw)
        assert {send(path, line) for line in [*lines, *lines]} <= {b"", DECLINED}
        assert raw.fine("memory_list") is not None
        assert raw.end()[0] == 0


@pytest.mark.usefixtures("state")
def test_clients_that_say_nothing_hold_nobody_up(root: Path) -> None:
    """Sixty silent connections keep neither the tools nor another client from an answer, and are hung up on."""
    with Raw(root, "--agent", "scout") as raw:
        path = find_socket(raw)
        silent = [socket.socket(socket.AF_UNIX) for _ in range(60)]
        for connection in silent:
            connection.connect(str(path))
        assert send(path, request()) == DECLINED
        assert raw.fine("memory_list") is not None
        for connection in silent:
            connection.settimeout(HANGS)
            assert connection.recv(1) == b""
            connection.close()


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_the_record_says_whose_server_it_is(root: Path, era: str) -> None:
    """The record names the client in both eras of the protocol, the book, the folder, and the processes above it."""
    with Raw(root, "--agent", "scout", era=era) as raw:
        record = json.loads(find_socket(raw).with_suffix(".json").read_text("utf-8"))
    assert (record["pid"], record["host"], record["agent"]) == (raw.process.pid, "raw", "scout")
    assert (record["root"], record["folder"]) == (os.path.realpath(root), os.path.realpath(root.parent))
    if sys.platform == "linux":
        assert record["ancestors"][0].startswith(f"{os.getpid()} ")


def test_a_server_that_may_not_recall_has_no_socket(root: Path, state: Path) -> None:
    """A worker reads no memory, so its server listens to no hook."""
    with Raw(root, "--role", "worker") as raw:
        raw.request("tools/list")
        raw.request("ping")
        assert raw.end()[0] == 0
    assert list(state.rglob("*")) == []


def test_a_folder_that_is_open_to_others_gets_no_socket(root: Path, state: Path) -> None:
    """Where the folder of the sockets could be another user's, there is none, and the tools work."""
    folder = Path(find_run_folder(None))
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    with Raw(root, "--agent", "scout") as raw:
        raw.request("tools/list")
        assert raw.fine("memory_list") is not None
        assert raw.end()[0] == 0
    assert list(folder.iterdir()) == []
    assert st.S_IMODE(folder.stat().st_mode) == 0o755
    assert [path.name for path in state.iterdir()] == ["commonplace"]


def test_a_socket_has_a_short_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is below the state folder, or a short one of the user's where a socket's path would be too long."""
    assert find_run_folder("/var/ada") == os.path.join("/var/ada", "run")
    deep = find_run_folder("/var/" + "deep/" * 40)
    assert deep.startswith(f"/tmp/commonplace-{os.geteuid()}-") and len(deep) < 60
    monkeypatch.setenv("XDG_STATE_HOME", "/var/" + "deep/" * 40)
    monkeypatch.setenv("HOME", "/var/" + "deep/" * 40)
    assert find_run_folder(None).startswith(f"/tmp/commonplace-{os.geteuid()}-")
