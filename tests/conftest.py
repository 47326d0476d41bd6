"""What all tests share: nothing depends on speed, so no example of a property test has a deadline.

Property tests try few examples in `make test`, so that it takes few minutes on two cores; `make deep` runs
them again with more, and `COMMONPLACE_DEEP=1 make deep` with many more (see tests/depth.py).

The folders of tests are in memory where the system has a file system for that: most of the time goes into files that
are made and removed, and on a disk the suite takes much longer. `PYTEST_DEBUG_TEMPROOT=FOLDER` runs it elsewhere.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import settings

from tests.depth import DEPTH

for _name in [name for name in os.environ if name.startswith(("CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE"))]:
    del os.environ[_name]  # an agent that runs these tests makes none of their commands an agent's

_IN_MEMORY = Path("/dev/shm")  # Linux
_ENOUGH = 4 << 30  # bytes: containers often have 64 MiB there


def _has_room(folder: Path) -> bool:
    """Return whether tests can keep their files in a folder of the system, and run programs there."""
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC and shutil.disk_usage(folder).free >= _ENOUGH


if _has_room(_IN_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))

# A sync takes a millisecond or more and shows only when the power fails: `make crash` cuts the power of a real disk.
os.fsync = lambda fd: None

_EXAMPLES = {"": 30, "1": 300}.get(DEPTH, 60)
_IN_CI = settings.get_current_profile_name() == "ci"
settings.register_profile(
    "ours", settings.get_profile("ci" if _IN_CI else "default"), deadline=None, max_examples=_EXAMPLES
)
settings.load_profile("ours")
