"""What all tests share: nothing depends on speed, so no example of a property test has a deadline.

Property tests try few examples in `make test`, so that it stays within its two minutes on two cores; `make deep` runs
them again with more, and `COMMONPLACE_DEEP=1 make deep` with many more (see tests/depth.py).
"""

from __future__ import annotations

import os

from hypothesis import settings

from tests.depth import DEPTH

for _name in [name for name in os.environ if name.startswith(("CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE"))]:
    del os.environ[_name]  # an agent that runs these tests makes none of their commands an agent's

# A sync takes a millisecond or more and shows only when the power fails: `make crash` cuts the power of a real disk.
os.fsync = lambda fd: None

_EXAMPLES = {"": 30, "1": 300}.get(DEPTH, 60)
_IN_CI = settings.get_current_profile_name() == "ci"
settings.register_profile(
    "ours", settings.get_profile("ci" if _IN_CI else "default"), deadline=None, max_examples=_EXAMPLES
)
settings.load_profile("ours")
