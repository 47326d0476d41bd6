"""Whatever arrives is answered, and every end is a clean one: bytes in, bytes out, with a real process between."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from commonplace import Book
from tests.depth import first_quick
from tests.mcp.raw import HANGS, Raw

PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}


def alive(raw: Raw) -> bool:
    raw.send(PING)
    return bool(raw.answer("p")["result"] == {})


@pytest.mark.parametrize(
    "frame",
    [b"{not json", b"\xff\xfe\x00garbage", b'{"jsonrpc":"2.0","id":', b"[" * 20_000, b'"text"', b"\0", b"9" * 10_000],
    ids=["broken", "bytes", "cut", "deep", "text", "nul", "digits"],
)
def test_a_broken_frame_is_answered(shared: Raw, frame: bytes) -> None:
    """A line that is no message gets an error without an id, and the next one is answered as if nothing were."""
    shared.send_bytes(frame + b"\n")
    answer = shared.answer(None)
    assert answer["error"]["code"] in (-32700, -32600) and answer["error"]["message"]
    assert alive(shared)


@pytest.mark.parametrize(
    ("message", "ident"),
    [
        ({"id": 71, "method": "ping"}, 71),
        ({"jsonrpc": "1.0", "id": 72, "method": "ping"}, 72),
        ({"jsonrpc": "2.0", "id": 73, "method": 5}, 73),
        ({"jsonrpc": "2.0", "id": 74, "method": "ping", "params": "x"}, 74),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, None),
        ([PING, PING], None),
        ({}, None),
    ],
)
def test_a_wrong_message_is_answered_by_its_id(shared: Raw, message: object, ident: object) -> None:
    """JSON that is no message of the protocol gets an error, with its id where it has one that can be."""
    shared.send(message)
    assert shared.answer(ident)["error"]["code"] in (-32600, -32602)
    assert alive(shared)


@pytest.mark.parametrize("method", ["memory/teleport", "", "tools/callx", "completion/complete"])
def test_an_unknown_method_is_answered(shared: Raw, method: str) -> None:
    """A method that is not served is 'method not found', or wrong parameters for one the SDK knows."""
    assert shared.request(method)["error"]["code"] in (-32601, -32602)


def test_an_answer_to_nothing_is_not_answered(shared: Raw) -> None:
    """A result or an error that nobody asked for is dropped: the next line we get is that of the ping after it."""
    shared.send({"jsonrpc": "2.0", "id": 5, "result": {}})
    shared.send({"id": 5, "result": 3})
    shared.send(PING)
    assert shared.line() == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":81,"method":"tools/call","params":{"name":"memory_store","arguments":{"content":"a\\ud800b"}}}',
        '{"jsonrpc":"2.0","id":81,"method":"tools/call","params":{"name":"memory_recall","arguments":{"\\udfff":"x"}}}',
        '{"jsonrpc":"2.0","id":81,"method":"tools/call","params":{"name":"memory_show","arguments":{"key":"x","cwd":"/\\ud800"}}}',
    ],
    ids=["value", "name", "cwd"],
)
def test_half_a_surrogate_pair_is_answered(shared: Raw, line: str) -> None:
    """Text that is no Unicode gets an error of the tool, in words, and nothing is stored."""
    shared.send_bytes(line.encode() + b"\n")
    answer = shared.answer(81)
    assert answer["result"]["isError"] is True
    assert answer["result"]["_meta"]["commonplace/error"]["code"] == "invalid_field"
    assert shared.fine("memory_list")["total"] == 0


def test_half_a_surrogate_pair_anywhere_else_is_answered(shared: Raw) -> None:
    """The same in the name of a tool, of a method or in an address is an error of the protocol."""
    for method, params in (
        ('"tools/call"', '{"name":"\\ud800"}'), ('"\\ud800"', "{}"), ('"resources/read"', '{"uri":"book:///\\ud800"}'),
        ('"prompts/get"', '{"name":"\\ud800"}'),
    ):  # fmt: skip
        shared.send_bytes(f'{{"jsonrpc":"2.0","id":82,"method":{method},"params":{params}}}\n'.encode())
        assert "error" in shared.answer(82)
    assert alive(shared)


@pytest.mark.deep
def test_ten_megabytes_are_answered(shared: Raw) -> None:
    """An argument of ten megabytes, wherever it stands, is refused in words."""
    big = "x" * 10_000_000
    assert "10,000,000 characters" in shared.error("memory_store", content=big)["message"]
    assert shared.error("memory_recall", query=big)["code"] == "invalid_field"
    assert shared.error("memory_show", key=big)["code"] == "invalid_key"
    assert shared.error("memory_show", key="k", cwd="/" + big)["code"] == "invalid_field"
    assert alive(shared)


def test_a_frame_that_never_ends_is_refused(shared: Raw) -> None:
    """A line beyond what a frame may be is dropped as it comes, and answered."""
    for _ in range(35):
        shared.send_bytes(b"x" * 1_000_000)
    shared.send_bytes(b"\n")
    assert shared.answer(None)["error"]["code"] == -32700
    assert alive(shared)


@pytest.mark.deep
def test_a_ping_is_answered_while_the_book_is_busy(root: Path) -> None:
    """A call that takes long does not keep the server from answering a ping."""
    with Raw(root, "--project", "acme/app") as raw:
        slow = [
            raw.begin("tools/call", {"name": "memory_store", "arguments": {"content": f"Fact {n}."}}) for n in range(40)
        ]
        raw.send(PING)
        first = [raw.line() for _ in range(41)]
        assert {item["id"] for item in first} == {*slow, "p"}
        assert first[-1]["id"] != "p"


def test_the_end_of_the_input_is_the_end(root: Path) -> None:
    """When the input ends, every call is answered, done or not, what was done is kept, and the process ends with 0."""
    with Raw(root, "--project", "acme/app", "--protocol", "off") as raw:
        raw.fine("memory_list")
        asked = [
            raw.begin(
                "tools/call", {"name": "memory_store", "arguments": {"content": f"Fact {n}.", "key": f"fact-{n}"}}
            )
            for n in range(3)
        ]
        assert raw.end() == (0, "")
        answers = [raw.answer(ident) for ident in asked]
    assert all(("result" in answer) != ("error" in answer) for answer in answers)
    done = {answer["result"]["structuredContent"]["key"] for answer in answers if "result" in answer}
    with Book.open(root, project="acme/app") as book:
        assert done <= {item.key for item in book.list()}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process can answer")
@pytest.mark.parametrize("number", first_quick([signal.SIGTERM, signal.SIGINT]))
def test_a_signal_is_a_clean_end(root: Path, number: int) -> None:
    """SIGTERM and Ctrl-C end a server that waits for input, with 0 and without a traceback."""
    with Raw(root, "--project", "acme/app") as raw:
        raw.fine("memory_store", content="A fact.")
        raw.process.send_signal(number)
        assert raw.process.wait(HANGS) == 0
        assert raw.process.stderr is not None and raw.process.stderr.read() == b""


@pytest.mark.deep
def test_a_closed_pipe_is_a_clean_end(root: Path) -> None:
    """When nobody reads the answers any more, the process ends with 0 and without a traceback, input or not."""
    with Raw(root, "--project", "acme/app", deaf=True) as raw:
        raw.send(PING)
        assert raw.process.stderr is not None
        assert raw.process.wait(HANGS) == 0
        assert raw.process.stderr.read() == b""


@pytest.mark.deep
def test_nothing_else_gets_onto_standard_output(root: Path, tmp_path: Path) -> None:
    """What a library prints, or writes to descriptor 1, goes to standard error while the server runs."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, threading\n"
        "def shout():\n"
        "    import commonplace.verbs.recall as verb\n"
        "    ask = verb.TOOLS[0].run\n"
        "    def loud(context, given):\n"
        "        print('printed'); os.write(1, b'written\\n'); os.system('echo spawned')\n"
        "        return ask(context, given)\n"
        "    verb.TOOLS = (verb.TOOLS[0]._replace(run=loud), *verb.TOOLS[1:])\n"
        "shout()\n",
        encoding="utf-8",
    )
    with Raw(root, "--project", "acme/app", PYTHONPATH=str(tmp_path)) as raw:
        assert raw.fine("memory_recall")["total"] == 0
        status, said = raw.end()
    assert status == 0
    assert {"printed", "written", "spawned"} <= set(said.split())


def test_a_line_of_spaces_is_nothing(shared: Raw) -> None:
    """Empty lines are not answered, and a carriage return before the end of a line is no part of it."""
    shared.send_bytes(b"\n  \n\r\n" + json.dumps(PING).encode() + b"\r\n")
    assert shared.line()["id"] == "p"
