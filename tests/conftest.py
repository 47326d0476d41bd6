"""What all tests share: nothing depends on speed, so no example of a property test has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("ci" if settings.get_current_profile_name() == "ci" else "no-deadline")
