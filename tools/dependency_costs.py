"""What each runtime dependency costs: the size of its installed files, and what its import adds to `python -c pass`."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import time
from pathlib import Path

PACKAGES = {"PyYAML": "yaml", "anyascii": "anyascii", "google-re2": "re2", "numpy": "numpy"}
ROUNDS = 15


def size_mb(package: str) -> float:
    paths = [Path(str(file.locate())) for file in importlib.metadata.files(package) or []]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


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
        print(f"{package}: {size_mb(package):.1f} MB, import {import_ms(module):.0f} ms")


if __name__ == "__main__":
    main()
