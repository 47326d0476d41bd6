"""Split text into words for search, the same way for what is stored and for queries, and estimate its tokens.

The full-text index splits at everything that is not a letter or digit, and stems English. This module does the rest:
scripts without spaces become overlapping pairs of characters, `camelCase` is also indexed by its parts and `v2.3.1`
also as 2.3.1. A query becomes terms: words without stop words, identifiers whole and by part, and quoted phrases that
must occur. The index, recall and the write protocol use it.

Budgets of context use the estimate of tokens, which needs no tokenizer and errs on the high side. A token is about four
letters of an alphabetic script, fewer digits or punctuation marks, one character of a script without spaces, or several
white spaces.
"""

import re
import unicodedata
from datetime import datetime
from functools import cache, lru_cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.model.names import short_hash

_DENSE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
)
_HAN = lazy("[\u3400-\u4dbf\u4e00-\u9fff]")  # each of these is a word, or half of one
DENSE_RUN = lazy(f"[{_DENSE}]+")
# Signs within words that are not letters: points of Hebrew and Arabic, vowel signs of the scripts of India.
_SIGNED = lazy("[\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u0dff]")
# Question words and particles of scripts without spaces: their pairs would be most of a short query.
_ASKING = lazy(
    "什么时候|为什么|什么|怎么样|怎么|多少|多久|哪里|哪儿|哪天|哪个|哪些|几点|谁|吗|呢|的|"
    "什麼時候|為什麼|什麼|怎麼樣|怎麼|哪裡|嗎|いつ|どこ|だれ|誰|どの|なぜ|何|ですか|ますか|でしょうか"
)
_SYMBOL = lazy("[\u2190-\u2bff\U0001f000-\U0001faff]")  # arrows, dingbats, emoji: not letters for the index
_HUMP = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HUMPED = lazy(r"[A-Z](?<=[a-z0-9][A-Z])")  # starts with the capital, because capitals are rare: faster
_CAMEL = lazy(r"\b[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
# In straight or typographic quotes, closed by the same kind: “so”, „so“, »so« and «so».
_QUOTED = lazy('["\uff02]([^"\uff02\\n]+)["\uff02]|[“”„‟]([^“”„‟\\n]+)[“”‟]|[«»]([^«»\\n]+)[«»]')
_QUOTES = frozenset('"\uff02“”„‟«»')
_APART = lazy(f"(?P<dense>[{_DENSE}]+)|\\b[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*\\b")
_APOSTROPHES = dict.fromkeys((0x2018, 0x2019, 0x02BC), "'")
# A longer number after letters: people also search for v2.3.1 and ERR2041 by the number, not for S3.
_LETTERED = lazy(r"[0-9](?<=[A-Za-z][0-9])(?:[0-9]{2}|[0-9]?\.[0-9])")
_NUMBERED = lazy(r"(?<![^\W_])[A-Za-z]+([0-9]+(?:\.[0-9]+)+|[0-9]{3,})(?![^\W_])")
_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*")
APOSTROPHE_ENDING = lazy(r"(?<=\w)['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE)  # of a possessive: it is no word
# With a digit or a sign within it, or in camelCase; on-call is a word, and so are iOS and PyPI.
IDENTIFIER = lazy(r".*[\d_./:@#+]|[a-z]{2,}[A-Z][a-z]")
_MIN_IDENTIFIER = 3  # characters: a shorter one is in too many texts
_PART = lazy(r"[^\W_]+")
MOST_HASHES = 8
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    down for from get had has have having he her here hers him his how i if in into is it its just let me more most
    my no not now of off on once only or other our out over own please said same say she should so some such tell
    than that the their them then there these they this those through to too under until up us use used very was we
    were what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a list of these would be a page long
)

SHORT_FORMS = {
    "admin": "administrator", "app": "application", "apps": "application", "auth": "authentication", "cfg": "config",
    "conf": "config", "configs": "config", "configuration": "config", "configurations": "config",
    "configure": "config", "ctrl": "control", "ctx": "context", "db": "database", "dbs": "database",
    "dep": "dependency", "deps": "dependency", "dev": "development", "dir": "directory", "dirs": "directory",
    "doc": "documentation", "docs": "documentation", "env": "environment", "envs": "environment", "fn": "function",
    "func": "function", "gh": "github", "impl": "implementation", "js": "javascript", "k8s": "kubernetes",
    "lang": "language", "lib": "library", "libs": "library", "max": "maximum", "mgr": "manager", "msg": "message",
    "msgs": "message", "org": "organization", "orgs": "organization", "param": "parameter", "params": "parameter",
    "perf": "performance", "pg": "postgres", "pkg": "package", "postgresql": "postgres", "prod": "production",
    "py": "python", "repo": "repository", "repos": "repository", "s": "seconds", "spec": "specification",
    "specs": "specification", "src": "source", "srv": "server", "stg": "staging", "svc": "service", "temp": "temporary",
    "tf": "terraform", "tmp": "temporary", "ts": "typescript", "var": "variable", "vars": "variable",
}  # fmt: skip
"""Words that people write for longer ones, for telling whether two texts speak of one thing."""


class QueryTerms(NamedTuple):
    """A parsed query. A term is one word as the index splits words, or several, which are a phrase."""

    any_of: tuple[tuple[str, ...], ...]  # the more of these a text has, the better
    all_of: tuple[tuple[str, ...], ...] = ()  # quoted: a hit must have all of them
    words: tuple[tuple[str, ...], ...] = ()  # each significant word once, as the stems of its parts
    quoted: tuple[str, ...] = ()  # the quoted phrases, folded: `all_of` also matches other forms of their words

    def __bool__(self) -> bool:
        return bool(self.any_of or self.all_of)


def index_words(text: str) -> str:
    """Return a text as the full-text index gets it."""
    ready = _with_humps(append_numbers(text))
    if ready.isascii():
        return ready
    ready = _in_letters(unicodedata.normalize("NFKC", ready))
    # The last character is added alone: a query of one character then matches by prefix, a pair or this one.
    return DENSE_RUN.sub(lambda match: " " + " ".join([*_pairs(match.group()), match.group()[-1]]) + " ", ready)


def append_numbers(text: str) -> str:
    """Return a text with its numbers that follow letters added at the end, where they split no phrase."""
    return " ".join([text, *_NUMBERED.findall(text)]) if _LETTERED.search(text) else text


def date_words(stamp: str) -> str:
    """Return a timestamp in the words that a query may use; empty if it is not valid."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    return f"{stamp[:10]} {moment.day} {_MONTHS[moment.month - 1]} {moment.year} {_DAYS[moment.weekday()]}"


def take_words(text: str, words: int, *, end: bool = False) -> str:
    """Return the first words of a text or, with `end`, the last."""
    found = text[-2_000:].split() if end else text[:2_000].split()
    return " ".join(found[-words:] if end else found[:words])


@lru_cache(maxsize=20_000)
def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters and digits."""
    return _PART.findall(text.lower())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return about the stem that the index makes of an English word: enough to tell which terms a text has."""
    if not word.isalpha():  # a word with a digit in it has no other forms
        return word
    for ending in ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if (len(word) > 3 and word[-1] == word[-2]) or word.endswith(("y", "i")) else word


def cut_ending(word: str) -> str:
    """Return what the forms of a word begin with, where the index knows no endings: it stems English alone."""
    if "\uac00" <= word[:1] <= "\ud7a3":  # Korean: a syllable has two or three letters
        return word[: max(2, round(0.6 * len(word)))]
    return word[: max(4, round(0.6 * len(word)))] if "\u0370" <= word[:1] <= "\u139f" else word


def normalize_words(text: str) -> str:
    """Return a text in lower case, without accents, and with the parts of camelCase words added."""
    text = _with_humps(text)
    if text.isascii():
        return text.lower()
    whole = unicodedata.normalize("NFKC", text.lower())  # compose letters first, as the index does
    plain = unicodedata.normalize("NFKD", _in_letters(whole))
    return unicodedata.normalize("NFC", "".join(ch for ch in plain if not unicodedata.combining(ch)))


def significant_words(text: str) -> list[str]:
    """Return the words of a text without stop words, in lower case, each once and in order."""
    words = dict.fromkeys(_PART.findall(normalize_words(index_words(text))))
    # From Greek to the scripts of India there is no list of stop words: short words count as such.
    return [
        word for word in words if word not in STOP_WORDS and not (len(word) <= 2 and "\u0370" <= word[0] <= "\u0dff")
    ]


@lru_cache(maxsize=2)  # a store needs it twice: to find duplicates, and to index the text
def significant_stems(text: str) -> tuple[str, ...]:
    """Return the stems of a text's significant words, sorted. Two forms of one word give its stem twice."""
    return tuple(sorted(map(stem, significant_words(text))))


@lru_cache(maxsize=2)
def fingerprint(text: str) -> str:
    """Return a hash that is equal for texts with the same significant words, in any order and form; "" without any."""
    words = significant_stems(text)
    return short_hash(" ".join(words), 16) if words else ""


@lru_cache(maxsize=2)
def word_hashes(text: str, space: str) -> tuple[int, ...]:
    """Return the smallest hashes of a text's significant words (MinHash): texts with most words in common share some.

    Taking the smallest makes a word that two texts share as likely to be among them as any other.
    """
    from zlib import crc32  # noqa: PLC0415 - a shared library that only a store needs

    hashes = {crc32(f"{space}\n{word}".encode("utf-8", "surrogatepass")) for word in significant_stems(text)}
    return tuple(sorted(hashes)[:MOST_HASHES])


@lru_cache(maxsize=4)  # a recall parses up to four forms of its query
def query_terms(query: str) -> QueryTerms:
    """Return the terms of a query; empty when it has no words."""
    plain = query[:4_000]
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", query)[:4_000]
    quoted: dict[str, list[tuple[str, ...]]] = {}
    if not _QUOTES.isdisjoint(plain):
        phrases = ["".join(found) for found in _QUOTED.findall(plain)]
        quoted = {fold_text(phrase): cut for phrase in phrases if (cut := _phrase(phrase))}
        plain = _QUOTED.sub(lambda match: f" {match.group()[1:-1]} ", plain)
    if not plain.isascii():
        plain = _in_letters(plain)
    plain = APOSTROPHE_ENDING.sub("", plain) if "'" in plain or "\u2019" in plain else plain
    words = [match.group() for match in _TOKEN.finditer(plain)]
    if _is_dense(plain):
        words = [match.group() for match in _TOKEN.finditer(_ASKING.sub(" ", plain))] or words
    significant = [word for word in words if word.lower() not in STOP_WORDS] or words
    terms: dict[tuple[str, ...], None] = {}
    asked: dict[tuple[str, ...], None] = {}
    for word in significant[:64]:
        found = _terms_of(word)
        terms |= dict.fromkeys(found)
        smallest = found if _is_dense(word) else [_smallest(word)]
        asked |= dict.fromkeys(tuple(stem(normalize_words(part)) for part in term) for term in smallest)
    every = dict.fromkeys(term for found in quoted.values() for term in found)
    return QueryTerms(tuple(terms), tuple(every), tuple(asked), tuple(quoted))


def find_identifiers(text: str) -> list[str]:
    """Return the longer numbers, versions, paths and names of code in a text, folded."""
    tokens = _TOKEN.findall(APOSTROPHE_ENDING.sub("", text))
    return [fold_text(token) for token in tokens if len(token) >= _MIN_IDENTIFIER and IDENTIFIER.match(token)]


def blank_quotes(text: str) -> str:
    """Return a text with spaces for everything quoted, so that other characters keep their positions."""
    if _QUOTES.isdisjoint(text):
        return text
    return _QUOTED.sub(lambda match: " " * len(match.group()), text)


def fold_text(text: str) -> str:
    """Return a text without differences of case, white space, and encoding of letters and apostrophes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
        # Again: some letters compose only in lower case.
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.lower().split())


def has_phrase(text: str, phrase: str) -> bool:
    """Whether a folded text has a folded phrase as whole words."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_goes_on(text[at - 1 : at], phrase[0]) or _goes_on(text[end : end + 1], phrase[-1])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _goes_on(beside: str, edge: str) -> bool:
    """Whether two adjacent characters belong to one word.

    Never in a script without spaces, where words have no visible end, or in Korean, where a particle follows the word.
    """
    return bool(beside) and all(
        unicodedata.category(ch)[0] in "LMN" and not DENSE_RUN.match(ch) and not "\uac00" <= ch <= "\ud7a3"
        for ch in (beside, edge)
    )


def _is_dense(word: str) -> bool:
    """Whether a word contains characters of a script without spaces."""
    return not word.isascii() and DENSE_RUN.search(word) is not None


def _smallest(word: str) -> tuple[str, ...]:
    return tuple(part for piece in _PART.findall(word) for part in _humps(piece) or [piece])


def _terms_of(word: str) -> list[tuple[str, ...]]:
    """Return the terms of a word: the whole, and its parts if it has any."""
    if _is_dense(word):
        spaced = DENSE_RUN.sub(lambda match: f" {' '.join(_pairs(match.group()))} ", word)
        return [(part,) for part in [*spaced.split(), *_HAN.findall(word)]]
    pieces = _PART.findall(word)
    parts = [part for piece in pieces for part in (piece, *_humps(piece))]
    whole = [tuple(piece.lower() for piece in pieces)]
    singles = [(part.lower(),) for part in parts if len(parts) > 1 and part.lower() not in STOP_WORDS]
    return whole + [term for term in singles if term not in whole]


def _phrase(text: str) -> list[tuple[str, ...]]:
    """Return the terms that a text with this phrase must have, as the index splits it.

    camelCase words and scripts without spaces are terms of their own, because the index adds words after them.
    """
    if not text.isascii():
        text = _in_letters(text)
    terms: list[tuple[str, ...]] = []
    at = 0
    for match in _APART.finditer(text):
        terms.append(_parts_of(text[at : match.start()]))
        terms.append(tuple(_pairs(match.group())) if match.group("dense") else (match.group().lower(),))
        at = match.end()
    terms.append(_parts_of(text[at:]))
    return [term for term in terms if term]


def _parts_of(text: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(text))


def _humps(piece: str) -> list[str]:
    parts = [piece] if piece.islower() else _HUMP.split(piece)
    return parts if len(parts) > 1 else []


def _with_humps(text: str) -> str:
    """Return a text with the parts of each camelCase word added after it. A quick search skips most texts."""
    if not _HUMPED.search(text):
        return text
    return _CAMEL.sub(lambda match: f"{match.group()} {' '.join(_HUMP.split(match.group()))}", text)


def _in_letters(text: str) -> str:
    """Return a text with vowel signs replaced by letters, and symbols by words.

    In the scripts of India a vowel is a sign on its consonant, not a letter: the index and Python would split there.
    """
    text = _SYMBOL.sub(lambda match: f" u{ord(match.group()):x} ", text)
    return text.translate(_letters_of_signs()) if _SIGNED.search(text) else text


@cache
def _letters_of_signs() -> dict[int, int | None]:
    """Return for each sign the letter of the same vowel; None for a sign without one."""
    table: dict[int, int | None] = {}
    for code in (*range(0x0591, 0x05C8), *range(0x0610, 0x0671), *range(0x0900, 0x0E00)):
        if unicodedata.category(chr(code))[0] == "M":
            # The blocks of India are laid out alike, but for Sinhala's, the last.
            first, last, before = (0x4F, 0x5F, 0x49) if code >= 0x0D80 else (0x3E, 0x4C, 0x38)
            is_vowel = code >= 0x0900 and first <= code & 0x7F <= last and chr(code - before).isalpha()
            table[code] = code - before if is_vowel else None
    return table


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 1 else [run]


# Letters, digits, signs and line ends, other white space; the last are characters beyond ASCII.
_WORD = lazy(r"([A-Za-z]+)|([0-9]+)|([^\sA-Za-z0-9\x80-\U0010ffff]+|\n+)|([^\S\n]{2,})|[^\x00-\x7f]+")
_PER_TOKEN = {1: 4.5, 2: 2.5, 3: 3, 4: 16}  # characters in a token of each group


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    total = 0.0
    for match in _WORD.finditer(text):
        run = match.group()
        if match.lastindex:
            total += max(1.0, len(run) / _PER_TOKEN[match.lastindex])
        else:
            total += sum(0.5 if ord(ch) < 0x2E80 else 1.1 for ch in run)
    return max(int(total + 0.999), 1 if text else 0)
