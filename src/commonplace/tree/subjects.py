"""Subjects of mails: what stays of one without "Re:", "Fwd:" and list tags, and whether it is an answer or a forward.

The labels of units and the threads compare subjects by `key`; the cleaning of mails asks whether a mail is a forward,
whose text stays. Mail programs write the prefixes in the language of their user, and some count them.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from commonplace.model.lazy import lazy

_REPLY = "re|aw|antw|antwort|sv|vs|odp|res|resp|rép|rif|ynt|vá|απ|отв|ответ|на|回复|回覆|答复|答覆|返信|回信|답장|회신"
_FORWARD = "fw|fwd|wg|tr|rv|enc|i|doorst|vb|vs|vl|pd|ilt|i̇lt|πρθ|пер|пересл|转发|轉寄|轉發|転送|전달"
# "R:" and "I:" are what Outlook writes in Italian. Only as capitals: nothing else is as short.
_REPLY_NAMES = frozenset((*_REPLY.split("|"), "r"))
_FORWARD_NAMES = frozenset(_FORWARD.split("|"))
_PREFIX = lazy(r"\s*(?P<name>[^\W\d_]{1,12})(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)|[\^*]\d{1,4}))?\s?:")
# A tag with a number names a ticket or a patch, not a list: without it, two of them would have one key.
_TAG = lazy(r"\s*\[[^\[\]\d]{1,60}\]")
_FORWARD_ENDING = lazy(r"\(fwd\)\Z")


class Subject(NamedTuple):
    """What a subject says. Its outermost prefix decides: "Re: Fwd: Lunch" answers, "Fwd: Re: Lunch" forwards.

    Both are true for "VS:", which is an answer in Finnish and a forward in Norwegian.
    """

    key: str
    is_reply: bool = False
    is_forward: bool = False


def read_subject(title: str) -> Subject:
    """Return the folded subject of a title without prefixes, list tags and spare white space, and what it marks."""
    rest, prefix = _find_rest(title)
    key = " ".join(rest.casefold().split())
    ending = _FORWARD_ENDING.search(key[-5:])
    if ending and key != "(fwd)":
        key = key[:-5].rstrip()
    return Subject(key, prefix in _REPLY_NAMES, prefix in _FORWARD_NAMES or (not prefix and ending is not None))


def strip_prefixes(title: str) -> str:
    """Return a title without prefixes, list tags and spare white space, else as it is written."""
    return " ".join(_find_rest(title)[0].split())


def _find_rest(title: str) -> tuple[str, str]:
    """Return what stands behind the prefixes and list tags of a title, and the first prefix, folded."""
    text = unicodedata.normalize("NFKC", title)
    prefix, at = "", 0
    while True:
        found = _PREFIX.match(text, at)
        name = found["name"] if found else ""
        if found and _is_prefix(name):
            prefix = prefix or name.casefold()
            at = found.end()
            continue
        tag = _TAG.match(text, at)
        if not tag or not text[tag.end() :].strip():
            break
        at = tag.end()
    return text[at:], prefix


def _is_prefix(name: str) -> bool:
    folded = name.casefold()
    return (folded in _REPLY_NAMES or folded in _FORWARD_NAMES) and (len(folded) > 1 or name in "RI")
