"""What each runtime dependency costs: the size of its installed files, and what its import adds to `python -c pass`.

Then what a default install is in all: our packages and everything that they need, on this platform.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import time
from pathlib import Path

PACKAGES = {"PyYAML": "yaml", "anyascii": "anyascii", "google-re2": "re2", "mcp": "mcp.server", "numpy": "numpy"}
ROUNDS = 15


def size_mb(package: str) -> float:
    paths = [Path(str(file.locate())) for file in importlib.metadata.files(package) or []]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def installed(*names: str) -> set[str]:
    """These packages and everything that they need here."""
    from packaging.requirements import Requirement  # noqa: PLC0415 - a tool of development

    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        for line in importlib.metadata.requires(name) or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                waiting.append(need.name)
    return found


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter
    return time.perf_counter() - start


def import_ms(module: str) -> float:
    """The best of several, against the best of as many empty starts in between."""
    pairs = [(seconds("pass"), seconds(f"import {module}")) for _ in range(ROUNDS)]
    return (min(pair[1] for pair in pairs) - min(pair[0] for pair in pairs)) * 1000


def main() -> None:
    for package, module in PACKAGES.items():
        needs = installed(package)
        total = sum(map(size_mb, needs))
        print(f"{package}: {size_mb(package):.1f} MB, import {import_ms(module):.0f} ms; with its needs {total:.0f} MB")
    everything = installed(*PACKAGES)
    print(f"default install: {len(everything) + 1} packages, {sum(map(size_mb, everything)):.0f} MB beside our own")


if __name__ == "__main__":
    main()
