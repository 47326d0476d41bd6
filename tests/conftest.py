"""What all tests share: nothing depends on speed, so no example of a property test has a deadline.

Property tests try fewer examples than usual, so that the suite stays within its five minutes on two cores;
`COMMONPLACE_DEEP=1` makes them try many more.
"""

from __future__ import annotations

import os

from hypothesis import settings

for _name in [name for name in os.environ if name.startswith(("CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE"))]:
    del os.environ[_name]  # an agent that runs these tests makes none of their commands an agent's

_EXAMPLES = 300 if os.environ.get("COMMONPLACE_DEEP") == "1" else 60
_IN_CI = settings.get_current_profile_name() == "ci"
settings.register_profile(
    "ours", settings.get_profile("ci" if _IN_CI else "default"), deadline=None, max_examples=_EXAMPLES
)
settings.load_profile("ours")
