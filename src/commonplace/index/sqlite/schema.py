"""What tells our index file from any other, and the loader of named queries. For `database.py` and `reader.py`."""

from __future__ import annotations

import os
import stat as st

from commonplace.text.named_sql import parse_queries

APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
VERSION = 8  # of the schema. Of one before, only what memories said is carried over: all else is read again
KEYED = 7  # the first version whose books have a key (memories/provenance.py)
BESIDE = ("-wal", "-shm", "-journal")


def is_in_the_way(path: str) -> bool:
    """Return whether a link, a folder or a special file is where the index, or a file SQLite keeps beside it, belongs.

    SQLite would follow a link, and write the text of the notes wherever it leads.
    """
    for end in ("", *BESIDE):
        try:
            if not st.S_ISREG(os.lstat(path + end).st_mode):
                return True
        except FileNotFoundError:
            continue
    return False


def load_queries(file: str) -> dict[str, str]:
    """Return the queries of one of this package's .sql files, by name."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return parse_queries(text.read())
