"""Every changelog fragment has a name that the release notes will find, and says something."""

from __future__ import annotations

import re
import sys
from pathlib import Path

NAME = re.compile(r"\d+\.(added|changed|fixed|security)(\.\d+)?\.md")


def main() -> int:
    fragments = sorted(Path("changelog.d").glob("*"))
    bad = [path for path in fragments if not NAME.fullmatch(path.name) or not path.read_text(encoding="utf-8").strip()]
    for path in bad:
        print(f"{path}: not a fragment (ISSUE.added.md, .changed.md, .fixed.md or .security.md, with a text in it)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
