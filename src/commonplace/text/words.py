"""Words for finding: the same cutting for what is stored and what is asked.

The full-text index splits at everything that is not a letter or digit and stems English. What it cannot do is done
here: scripts without spaces become overlapping pairs of characters, `camelCase` is also its parts, `v2.3.1` is also
2.3.1, and a question becomes terms: words without the little ones, identifiers whole and by part, quoted phrases that
must occur.
"""

import re
import unicodedata
from datetime import datetime
from functools import cache, lru_cache
from typing import NamedTuple

from commonplace.model.ids import short_hash
from commonplace.model.lazy import lazy

_DENSE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
)
_RUN = lazy(f"[{_DENSE}]+")
# Words with signs in them that are no letters: the points of Hebrew and Arabic, the vowels in the scripts of India.
_SIGNED = lazy("[\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u0dff]")
# What stands between words, or only asks, where no space tells: its pairs would be most of a short question.
_ASKING = lazy(
    "什么时候|为什么|什么|怎么样|怎么|多少|多久|哪里|哪儿|哪天|哪个|哪些|几点|谁|吗|呢|的|"
    "什麼時候|為什麼|什麼|怎麼樣|怎麼|哪裡|嗎|いつ|どこ|だれ|誰|どの|なぜ|何|ですか|ますか|でしょうか"
)
_SYMBOL = lazy("[\u2190-\u2bff\U0001f000-\U0001faff]")  # arrows, dingbats, emoji: no letters to the index
_HUMP = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HUMPED = lazy(r"[A-Z](?<=[a-z0-9][A-Z])")  # by its capital, of which there are few: that is seen faster
_CAMEL = lazy(r"\b[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
# In straight quotes, or in those of a typesetter, each kind closed by its like: “so”, „so“, »so« and «so».
_QUOTED = lazy('["\uff02]([^"\uff02\\n]+)["\uff02]|[“”„‟]([^“”„‟\\n]+)[“”‟]|[«»]([^«»\\n]+)[«»]')
_QUOTES = frozenset('"\uff02“”„‟«»')
_APART = lazy(f"(?P<dense>[{_DENSE}]+)|\\b[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*\\b")
_APOSTROPHES = dict.fromkeys((0x2018, 0x2019, 0x02BC), "'")
# A number of some length with letters before it: v2.3.1 and ERR2041 are asked for by the number as well, S3 is not.
_LETTERED = lazy(r"[0-9](?<=[A-Za-z][0-9])(?:[0-9]{2}|[0-9]?\.[0-9])")
_NUMBERED = lazy(r"(?<![^\W_])[A-Za-z]+([0-9]+(?:\.[0-9]+)+|[0-9]{3,})(?![^\W_])")
_TOKEN = lazy(r"[^\W_]+(?:[_./:@#+-]+[^\W_]+)*")
_PART = lazy(r"[^\W_]+")
MOST_HASHES = 8
_LITTLE, _UNLISTED_FROM, _UNLISTED_TO = 2, "\u0370", "\u0dff"  # from Greek to the scripts of India
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


class QueryTerms(NamedTuple):
    """A question, cut up. Every term is a run of words as the index cuts them; one of several words is a phrase."""

    any_of: tuple[tuple[str, ...], ...]  # the more of these, the better
    all_of: tuple[tuple[str, ...], ...] = ()  # quoted: without them there is no hit
    words: tuple[tuple[str, ...], ...] = ()  # each telling word once, as the stems of its parts
    quoted: tuple[str, ...] = ()  # what is quoted, folded: `all_of` finds it, and forms of it; only this is exact

    def __bool__(self) -> bool:
        return bool(self.any_of or self.all_of)


def index_words(text: str) -> str:
    """A text as the full-text index gets it."""
    ready = _with_humps(append_numbers(text))
    if ready.isascii():
        return ready
    ready = _in_letters(_SYMBOL.sub(_symbol_word, unicodedata.normalize("NFKC", ready)))
    # The last character stands alone too: a question of one character finds what begins with it, a pair or this.
    return _RUN.sub(lambda match: " " + " ".join([*_pairs(match.group()), match.group()[-1]]) + " ", ready)


def append_numbers(text: str) -> str:
    """A text, and at its end, so that phrases stay whole, the numbers in it that have letters before them."""
    return " ".join([text, *_NUMBERED.findall(text)]) if _LETTERED.search(text) else text


def date_words(stamp: str) -> str:
    """A timestamp in the words somebody may ask with."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    return f"{stamp[:10]} {moment.day} {_MONTHS[moment.month - 1]} {moment.year} {_DAYS[moment.weekday()]}"


def take_words(text: str, words: int, *, end: bool = False) -> str:
    """The first few words of a text, or the last."""
    found = text[-2_000:].split() if end else text[:2_000].split()
    return " ".join(found[-words:] if end else found[:words])


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """About what the index's stemmer makes of an English word: enough to tell which terms a text has."""
    if not word.isalpha():  # a number, or what has one in it, is only itself
        return word
    for ending in ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if (len(word) > 3 and word[-1] == word[-2]) or word.endswith(("y", "i")) else word


def normalize_words(text: str) -> str:
    """A text in small letters, with the marks over letters taken away and camelCase taken apart as well."""
    text = _with_humps(text)
    if text.isascii():
        return text.lower()
    whole = unicodedata.normalize("NFKC", text.lower())  # a sign in two parts is one letter, as in the index
    plain = unicodedata.normalize("NFKD", _in_letters(_SYMBOL.sub(_symbol_word, whole)))
    return unicodedata.normalize("NFC", "".join(ch for ch in plain if not unicodedata.combining(ch)))


def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(stem(word) for word in _PART.findall(normalize_words(index_words(text))))


def significant_words(text: str) -> list[str]:
    """A text's telling words as they stand, but for their size, each once and in order."""
    return [word for word in dict.fromkeys(_PART.findall(normalize_words(index_words(text)))) if _is_significant(word)]


def _is_significant(word: str) -> bool:
    """Not a little word: one of English, or one of two letters in a script whose little words nobody has listed."""
    return word not in STOP_WORDS and not (len(word) <= _LITTLE and _UNLISTED_FROM <= word[0] <= _UNLISTED_TO)


@lru_cache(maxsize=2)  # a store asks twice: is it there, and then to keep it
def significant_stems(text: str) -> tuple[str, ...]:
    """The stems of a text's telling words, in order. Two forms of one word are twice the same."""
    return tuple(sorted(map(stem, significant_words(text))))


@lru_cache(maxsize=2)
def fingerprint(text: str) -> str:
    """The same for texts that have the same telling words, in whatever order, form and punctuation; "" without any."""
    words = significant_stems(text)
    return short_hash(" ".join(words), 16) if words else ""


def word_hashes(text: str, space: str) -> list[int]:
    """A few of a text's telling words as numbers, the same few for texts that have most words in common.

    Of many words those with the smallest numbers: what two texts share is then as likely among them as any word.
    """
    from zlib import crc32  # noqa: PLC0415 - a library of its own, for who stores

    return sorted({crc32(f"{space}\n{word}".encode("utf-8", "surrogatepass")) for word in significant_stems(text)})[
        :MOST_HASHES
    ]


@lru_cache(maxsize=4)  # a recall asks of the whole, without its dates, without names too, and again to show passages
def query_terms(query: str) -> QueryTerms:
    """The terms of a question; empty when it has no word in it."""
    plain = query[:4_000]
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", query)[:4_000]
    quoted: dict[str, list[tuple[str, ...]]] = {}
    if not _QUOTES.isdisjoint(plain):
        phrases = ["".join(found) for found in _QUOTED.findall(plain)]
        quoted = {fold_text(phrase): cut for phrase in phrases if (cut := _phrase(phrase))}
        plain = _QUOTED.sub(lambda match: f" {match.group()[1:-1]} ", plain)
    if not plain.isascii():
        plain = _in_letters(_SYMBOL.sub(_symbol_word, plain))
    words = [match.group() for match in _TOKEN.finditer(plain)]
    if _is_dense(plain):
        words = [match.group() for match in _TOKEN.finditer(_ASKING.sub(" ", plain))] or words
    telling = [word for word in words if word.lower() not in STOP_WORDS] or words
    terms: dict[tuple[str, ...], None] = {}
    asked: dict[tuple[str, ...], None] = {}
    for word in telling[:64]:
        found = _terms_of(word)
        terms |= dict.fromkeys(found)
        dense = _is_dense(word)
        asked |= dict.fromkeys([_stems(*term) for term in found] if dense else [_stems(*_smallest(word))])
    every = dict.fromkeys(term for found in quoted.values() for term in found)
    return QueryTerms(tuple(terms), tuple(every), tuple(asked), tuple(quoted))


def blank_quotes(text: str) -> str:
    """A text with nothing but spaces for what is quoted in it: every other character stands where it stood."""
    if _QUOTES.isdisjoint(text):
        return text
    return _QUOTED.sub(lambda match: " " * len(match.group()), text)


def fold_text(text: str) -> str:
    """A text in which case, white space, and how a letter or an apostrophe is encoded make no difference."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
        # Once more: there are letters of which only the small ones can be put together.
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.lower().split())


def has_phrase(text: str, phrase: str) -> bool:
    """Whether a folded text has a folded phrase, not as a part of longer words."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_goes_on(text[at - 1 : at], phrase[0]) or _goes_on(text[end : end + 1], phrase[-1])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _goes_on(beside: str, edge: str) -> bool:
    """Whether a word goes on from one character to the next. Where scripts have no spaces nobody can tell, and in
    Korean what is behind a word is not part of it."""
    return bool(beside) and all(
        unicodedata.category(ch)[0] in "LMN" and not _RUN.match(ch) and not "\uac00" <= ch <= "\ud7a3"
        for ch in (beside, edge)
    )


def _is_dense(word: str) -> bool:
    """Whether a word has something of a script without spaces in it."""
    return not word.isascii() and _RUN.search(word) is not None


def _stems(*parts: str) -> tuple[str, ...]:
    return tuple(stem(normalize_words(part)) for part in parts)


def _smallest(word: str) -> list[str]:
    return [part for piece in _PART.findall(word) for part in _humps(piece) or [piece]]


def _terms_of(word: str) -> list[tuple[str, ...]]:
    """A word as terms: whole, and by part where it has parts."""
    if _is_dense(word):
        return [(pair,) for pair in _RUN.sub(_spaced_pairs, word).split()]
    parts = [part for piece in _PART.findall(word) for part in (piece, *_humps(piece))]
    pieces = _PART.findall(word)
    whole = [tuple(piece.lower() for piece in pieces)]
    singles = [(part.lower(),) for part in parts if len(parts) > 1 and part.lower() not in STOP_WORDS]
    return whole + [term for term in singles if term not in whole]


def _phrase(text: str) -> list[tuple[str, ...]]:
    """What a text must have to have this in it, as the index cuts it. In the index something follows what is written in
    camelCase or without spaces: such words are terms of their own."""
    if not text.isascii():
        text = _in_letters(_SYMBOL.sub(_symbol_word, text))
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
    """A text with the parts of what is written in camelCase behind each. Most texts have none: that is seen faster."""
    return _CAMEL.sub(_with_parts, text) if _HUMPED.search(text) else text


def _with_parts(match: re.Match[str]) -> str:
    return f"{match.group()} {' '.join(_HUMP.split(match.group()))}"


def _in_letters(text: str) -> str:
    """A text whose words have nothing but letters in them. In the scripts of India a vowel is a sign at its consonant,
    and no letter: the index, and Python, would cut the word there."""
    return text.translate(_letters_of_signs()) if _SIGNED.search(text) else text


@cache
def _letters_of_signs() -> dict[int, int | None]:
    """For each sign the letter of the same vowel; nothing for one that has none."""
    table: dict[int, int | None] = {}
    for code in (*range(0x0591, 0x05C8), *range(0x0610, 0x0671), *range(0x0900, 0x0E00)):
        if unicodedata.category(chr(code))[0] == "M":
            # The blocks of India are laid out alike, but for Sinhala's, the last.
            first, last, before = (0x4F, 0x5F, 0x49) if code >= 0x0D80 else (0x3E, 0x4C, 0x38)
            is_vowel = code >= 0x0900 and first <= code & 0x7F <= last and chr(code - before).isalpha()
            table[code] = code - before if is_vowel else None
    return table


def _symbol_word(match: re.Match[str]) -> str:
    return f" u{ord(match.group()):x} "


def _spaced_pairs(match: re.Match[str]) -> str:
    return f" {' '.join(_pairs(match.group()))} "


def is_prefix(word: str) -> bool:
    """True for a word that is also looked for as the beginning of others: not for a short one, which begins too many.

    A lone character of a script without spaces begins the pairs it is in; Korean puts its particles behind the word.
    """
    if word.isascii() or len(word) >= 4:
        return len(word) >= 4
    return bool(_RUN.match(word)) if len(word) == 1 else "\uac00" <= word[0] <= "\ud7a3"


def is_always_prefix(word: str) -> bool:
    """True for a word that has to be looked for as the beginning of others even where it must stand as it is."""
    return not word.isascii() and len(word) < 4 and is_prefix(word)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 1 else [run]
