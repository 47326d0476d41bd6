"""The smallest MCP server: it stands in for ours in a tree that has none yet, so that hosts have something to start."""

from __future__ import annotations

import json
import sys


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer: dict[str, object] = {}
        if asked["method"] == "initialize":
            answer = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "commonplace", "version": "0"},
            }
        elif asked["method"] == "tools/list":
            answer = {"tools": [{"name": "recall", "inputSchema": {"type": "object"}}]}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)


if __name__ == "__main__":
    main()
