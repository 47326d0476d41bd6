"""The schema of the index: its version, its statements, and how an earlier version becomes this one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from commonplace.index.sqlite.rows import decode_entry, decode_row
from commonplace.index.sqlite.transaction import SqliteTransaction
from commonplace.model.scope import Space
from commonplace.text.named_sql import parse_queries

APPLICATION_ID = 0x436F6D50  # "ComP": tells our file from any other database
VERSION = 9  # of the schema. Of one before, only what memories said is carried over: all else is read again
KEYED = 7  # the first version whose books have a key (memories/provenance.py)
_TABLES = "tables"


def load_queries(file: str) -> dict[str, str]:
    """Return the queries of one of this package's .sql files, by name."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return parse_queries(text.read())


def all_statements() -> list[str]:
    """Return the statements that make an empty index from whatever one of ours there was."""
    steps = load_queries("schema.sql")
    return [*_statements(steps["drop"]), *_statements(steps[_TABLES])]


def has_schema(connection: sqlite3.Connection) -> bool:
    """Return whether the tables are declared as we declare them: damage there can be an error of any kind."""
    wanted = _statements(load_queries("schema.sql")[_TABLES])
    try:
        found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    made = [statement[statement.index("CREATE") :] for statement in wanted if "CREATE" in statement]
    return all(statement.rstrip(";") in found for statement in made)


def _statements(script: str) -> list[str]:
    """Return the statements of a script; each ends with a line."""
    return script.split(";\n")


def migrate(connection: sqlite3.Connection, queries: Mapping[str, str]) -> None:
    """Make the tables where there are none, or an earlier version's; their number is in the same transaction.

    Raises DatabaseError for a database of another program or a later version.
    """
    connection.execute("BEGIN")  # what is read belongs together: another process may be making the tables just now
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("COMMIT")
    if version > VERSION or (tables and owner != APPLICATION_ID):
        raise sqlite3.DatabaseError("of another program or a later version")
    if version == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    (now,) = connection.execute("PRAGMA user_version").fetchone()
    if now < VERSION:  # another process may have been first
        steps = load_queries("schema.sql")
        for statement in [*(_statements(steps["set_apart"]) if now else ()), *all_statements()]:
            connection.execute(statement)
        if now:
            _carry_over(connection, steps, queries)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _carry_over(connection: sqlite3.Connection, steps: Mapping[str, str], queries: Mapping[str, str]) -> None:
    """Put what an earlier version knew of memories into the new tables, as rows whose files were not seen yet."""
    for space, *row in connection.execute(steps["earlier_rows"]).fetchall():
        transaction = SqliteTransaction(connection, queries, Space(*space.split("/", 1)))
        known = decode_row(row)
        entries = connection.execute(steps["earlier_entries"], (space, known.folder, known.name))
        transaction.put(known)
        transaction.set_entries(known.folder, known.name, [decode_entry(found) for found in entries])
    for statement in _statements(steps["drop_earlier"]):
        connection.execute(statement)
