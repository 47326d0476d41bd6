"""One of several processes that share a state: `python worker.py PATH put|take|use`."""

from __future__ import annotations

import sys

from commonplace.model.scope import LOCAL
from commonplace.state.sqlite import SqliteState
from tests.state.conformance import at


def main(path: str, verb: str) -> None:
    state = SqliteState(path)
    if verb == "put":
        print(state.spool_put(LOCAL, "k", "kept", at(0)), flush=True)
        sys.stdin.read()  # until it is killed
    elif verb == "take":
        print("ready", flush=True)
        sys.stdin.readline()
        while taken := state.spool_take(LOCAL, "k", 2, at(0), 60):
            for item in taken:
                print(item.id)
            state.spool_done(LOCAL, [item.id for item in taken[::2]])
    else:
        for number in range(20):
            state.record_uses(LOCAL, ["shared", f"own-{number}"], at(number * 60))
        print(state.created_at(LOCAL))
    state.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
