"""Conversions between SQLite and the values of the port: rows of a result, lists of tags, full-text expressions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from commonplace.index.port import EntryCandidate, EntryInterval, Row
from commonplace.model.memory import Entry, Trust
from commonplace.model.names import find_name_fault
from commonplace.text.words import QueryTerms, is_always_prefix, is_prefix

_TRUST = {trust.value: trust for trust in Trust}


class DamagedRow(sqlite3.DatabaseError):
    """The file can be read, but we never wrote what is in it."""


def encode_tags(tags: Sequence[str]) -> str:
    """Return tags as the text of a column."""
    return json.dumps(tags) if tags else "[]"


def decode_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a column. Raises DamagedRow."""
    if text == "[]":
        return ()
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):
        raise DamagedRow("a list of tags") from None


def decode_row(found: tuple[object, ...]) -> Row:
    """Return the memory in a row of a result, whose columns are in the order of the fields. Raises DamagedRow."""
    values = list(found)
    if find_name_fault(str(values[1])):
        raise DamagedRow("a memory's name")
    values[7] = decode_tags(str(values[7]))
    values[8], values[13], values[15], values[16] = (bool(values[at]) for at in (8, 13, 15, 16))
    return Row(*values)  # type: ignore[arg-type]  # see above


def match_expression(terms: QueryTerms, *, whole: bool = False) -> str:
    """Return terms as an FTS5 expression: each word in quotes, so that nothing in it is an operator.

    `whole` finds the words alone, and not what only begins with one.
    """
    any_of = " OR ".join(quote_term(term, whole=whole) for term in terms.any_of)
    all_of = " AND ".join(
        quote_term(term, whole=True) + (" *" if is_always_prefix(term[-1]) else "") for term in terms.all_of
    )
    if all_of:  # a quotation must be in the entry itself, not in its neighbours, and not as the start of another word
        all_of = f"{{text about}} : ({all_of})"
    if any_of and all_of:
        return f"({all_of}) AND ({any_of})"
    return all_of or any_of


def quote_term(term: Sequence[str], *, whole: bool = False) -> str:
    """Return one term in quotes. A single longer word also finds what it begins, unless `whole`."""
    words = " ".join(word.replace('"', "") for word in term)
    finds_longer = len(term) == 1 and is_prefix(words) and not whole  # `front` finds `frontmatter`
    return f'"{words}" *' if finds_longer else f'"{words}"'


def decode_candidate(found: tuple[Any, ...]) -> EntryCandidate:
    """Return the entry and its memory, if there is one, in a row of a result. Raises DamagedRow."""
    row = decode_row(found[16:]) if found[16] is not None else None
    return EntryCandidate(found[0], found[1], decode_entry(found[3:16]), row, found[2])


def decode_entry(found: tuple[object, ...]) -> EntryInterval:
    """Return the entry in a row of a result. Raises DamagedRow."""
    ident, time, text, trust, author, host, session, occurred, thread, seq, tags, start, end = found
    trusted = _TRUST.get(trust)  # type: ignore[call-overload]  # of any type: the file may be damaged
    if trusted is None:
        raise DamagedRow("an entry's trust")
    labels = decode_tags(str(tags))
    # By position, which is faster than by name: a recall makes a hundred of them.
    values = (str(time), str(text), str(ident), trusted, author, host, session, occurred, thread, seq, labels, ())
    return EntryInterval(Entry._make(values), str(start), end)  # type: ignore[arg-type]
