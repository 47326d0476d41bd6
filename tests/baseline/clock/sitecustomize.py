"""Stop the clock of a Python process, so that what the product writes does not depend on when it was run.

Python imports `sitecustomize` when it starts; `tests/baseline/product.py` puts this folder on PYTHONPATH and names the
moment in BASELINE_CLOCK, in seconds since 1970. Clocks that measure a duration (`monotonic`, `perf_counter`) go on.
"""

from __future__ import annotations

import datetime
import os
import time
from typing import Any

VARIABLE = "BASELINE_CLOCK"


def stop_clock(seconds: int) -> None:
    """Make every wall clock of this process show one moment."""
    real_gmtime, real_localtime, real_strftime = time.gmtime, time.localtime, time.strftime

    class SameType(type):
        """Lets an object of the real class pass for one of the class that replaces it."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

    class StoppedDatetime(datetime.datetime, metaclass=SameType):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(seconds, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)

    replaced = {
        "time": lambda: float(seconds),
        "time_ns": lambda: seconds * 1_000_000_000,
        "gmtime": lambda moment=None: real_gmtime(seconds if moment is None else moment),
        "localtime": lambda moment=None: real_localtime(seconds if moment is None else moment),
        "strftime": lambda pattern, moment=None: real_strftime(pattern, moment or real_localtime(seconds)),
    }
    for name, function in replaced.items():
        setattr(time, name, function)
    # `date.today` asks time.time; `datetime.now` asks the system.
    setattr(datetime, "datetime", StoppedDatetime)  # noqa: B010 - a type checker refuses the plain assignment


if VARIABLE in os.environ:
    stop_clock(int(os.environ[VARIABLE]))
