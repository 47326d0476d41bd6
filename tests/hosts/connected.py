"""`python -m tests.hosts.connected [NAME ...]`: the real agent programs load and run what we generate (`make hosts`).

Every module of this folder that has STEPS takes part: a step is a name and a function of a fresh World that says what
was seen, fails by an AssertionError, or raises Skipped with the reason. NEEDS names the programs to install.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.hosts.world import Skipped, Step, World, install


def modules(wanted: Sequence[str]) -> list[tuple[str, tuple[str, ...], tuple[Step, ...]]]:
    """The modules with steps, by name, with what they need."""
    found = []
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        if path.stem.startswith("test_") or "\nSTEPS" not in path.read_text("utf-8"):
            continue
        if not wanted or path.stem in wanted:
            module = importlib.import_module(f"tests.hosts.{path.stem}")
            found.append((path.stem, tuple(module.NEEDS), tuple(module.STEPS)))
    return found


def main(wanted: Sequence[str]) -> int:
    failed = skipped = passed = 0
    for name, needs, steps in modules(wanted):
        try:
            install(needs)
        except Skipped as reason:
            print(f"SKIP  {name}: {reason}", flush=True)
            skipped += len(steps)
            continue
        for title, work in steps:
            with tempfile.TemporaryDirectory(prefix="commonplace-hosts-", ignore_cleanup_errors=True) as folder:
                world = World(Path(folder))
                try:
                    said = work(world)
                except Skipped as reason:
                    print(f"SKIP  {title}: {reason}", flush=True)
                    skipped += 1
                except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
                    print(f"FAIL  {title}: {type(error).__name__}: {str(error)[-2000:]}", flush=True)
                    failed += 1
                else:
                    note = f" (a stand-in for {' and '.join(world.stand_ins)})" if world.stand_ins else ""
                    print(f"ok    {title}: {said}{note}", flush=True)
                    passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
