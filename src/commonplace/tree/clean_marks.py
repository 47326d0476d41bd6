"""What the lines look like that mail programs, and not the author, put into a mail, in twelve languages and more.

`clean` asks here what a line or a paragraph is, and decides what is cut. Every question looks at a bounded piece of
text, so that a long mail takes time in proportion to its length. The languages: English, German, French, Spanish,
Italian, Portuguese, Dutch, Swedish with Danish and Norwegian, Polish, Russian, Chinese, Japanese; a word of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from commonplace.model.lazy import lazy

MAX_LINE = 500  # characters; no line of a mail program is longer
MAX_PARAGRAPH = 6_000

# --- Attributions: "On 12 Nov 2026 at 09:30, Ann <ann@example.org> wrote:" ---
_WROTE = (
    r"wrote|writes|written|schrieb|schreibt|geschrieben|écrit|ecrit|escribió|escribio|escribe|escrito|escreveu|scritto|scrive"
    r"|schreef|schrijft|geschreven|skrev|skrevet|skriver|napisał|napisała|pisze|pisał|pisała|писал|писала|написал|написала"
    r"|пишет|писали|пишете|пише|kirjoitti|napsal|napsala|yazdı|írta|scris"
)
_WROTE_CJK = r"写道|寫道|写到|のメール|書きました|書いた|작성"
_VERB = lazy(rf"(?<!\w)(?:{_WROTE})(?!\w)|{_WROTE_CJK}", re.I)
_OPENER = lazy(
    r"\W{0,3}(?:on|at|am|le|el|il|em|no dia|a|op|den|dnia|w dniu|quoting|zitat von|citando|selon|в|在|--- on)\s",
    re.I,
)
ADDRESS = lazy(r"[^\s<>@]+@[^\s<>@]+\.\w")
_DAY = lazy(r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,4} ?[./-] ?\d{1,2} ?[./-] ?\d{1,4}(?!\d)|\d[月월]")
_TIME = lazy(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)|\d ?(?:am|pm|[時时点點시])(?!\w)", re.I)
_ENDS_WITHADDRESS = lazy(r"[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+[>)\]] ?:\Z")
_SENTENCE_END = lazy(r"[^\W\d_]{5}[.!?] +[A-ZÀ-ÖØ-ÞА-Я]\w")  # no abbreviation is as long
QUOTE_NOISE = lazy(r"\s*[>＞]\s*(?:[>＞]|[-_=]{2})")  # a quote in a quote, or a signature in one
_COLONS = (":", "：")
_GAP = lazy(r":[ \xa0]{2,}(?=\S)")  # some programs put the quote behind its attribution, on the same line
_MOST_WORDS = 8  # of an attribution without an address or a day: "Ann van den Berg wrote on Wednesday:"
_MOST_BEHIND = 2  # of these behind its verb


def may_end_attribution(line: str) -> bool:
    """Return whether an attribution may end with a line."""
    return line.endswith(_COLONS) and len(line) <= MAX_LINE


def is_whole_attribution(line: str) -> bool:
    """Return whether a line is an attribution between dashes, or one with the quote right behind it."""
    if line[0] in "-—–":
        framed = _FRAMED.match(line) if len(line) <= MAX_LINE else None
        return framed is not None and is_attribution(f"{framed[1]}:")
    gap = _GAP.search(line[:MAX_LINE])
    head = line[: gap.start() + 1].lstrip() if gap else ""
    return _begins_attribution(head) and bool(_VERB.search(head)) and is_attribution(head)


def is_attribution(text: str) -> bool:
    """Return whether a text that ends with a colon names who wrote when, so surely that what follows needs no marks."""
    text = f"{text[:-1].rstrip()}:"
    if _SENTENCE_END.search(text):
        return False
    has_day, has_time, has_address = (bool(one.search(text)) for one in (_DAY, _TIME, ADDRESS))
    if _VERB.search(text):
        return has_address or (has_day and has_time)
    return has_day and has_time and bool(_ENDS_WITHADDRESS.search(text))


def has_address(lines: Sequence[str]) -> bool:
    """Return whether lines have the address of a mailbox."""
    return any(ADDRESS.search(line) for line in lines)


def may_be_attribution(text: str) -> bool:
    """Return whether a text that ends with a colon may be the attribution of the quote right after it."""
    text = text[:-1].rstrip()
    has_day, has_time = bool(_DAY.search(text)), bool(_TIME.search(text))
    if (has_day and has_time) or ADDRESS.search(text):
        return True
    verb = _VERB.search(text)
    if verb is None:
        return False
    is_short = len(text.split()) <= _MOST_WORDS and len(text[verb.end() :].split()) <= _MOST_BEHIND
    return has_day or has_time or is_short


def find_attribution(lines: Sequence[str], *, is_sure: bool) -> int:
    """Return how many of the last lines of a paragraph are an attribution, which may be wrapped; 0 if none is.

    `lines` are up to five. `is_sure`: only one that is an attribution whatever follows.
    """
    is_one = is_attribution if is_sure else may_be_attribution
    count = next((count for count in range(1, min(len(lines), 4) + 1) if is_one(_join(lines, count))), 0)
    if count and not is_sure:  # a wrapped one may look whole too early
        sure = next((more for more in range(count, min(len(lines), 4) + 1) if is_attribution(_join(lines, more))), 0)
        count = sure if sure and _begins_attribution(lines[-sure]) else count
    if not count:
        return 0
    return _extend(lines, count)


def _extend(lines: Sequence[str], count: int) -> int:
    """Return how many lines an attribution has whose last ones are known: its beginning may be on the lines before."""
    if _begins_attribution(lines[-count]):
        return count
    for more in range(count + 1, min(len(lines), count + 2) + 1):
        if _begins_attribution(lines[-more]):
            return more
    if count == len(lines):
        return count
    first, before = lines[-count], lines[-count - 1]
    is_name_above = first[0] in "<([" or bool(_VERB.match(first))
    is_day_above = not _DAY.search(_join(lines, count)) and bool(_DAY.search(before))
    is_open = len(before) <= 100 and before[-1] not in ".!?:"
    return count + 1 if is_open and (is_name_above or is_day_above) else count


def _begins_attribution(line: str) -> bool:
    return bool(_OPENER.match(line)) and any(sign.isdigit() for sign in line)


def _join(lines: Sequence[str], count: int) -> str:
    return " ".join(lines[-count:])


# --- Headers of a quoted message: "From:", "Sent:", "To:", "Subject:" ---
Role = Literal["from", "date", "to", "other", "subject"]
_LABELS: dict[Role, str] = {
    "from": "from|von|de|da|van|från|fra|od|от|от кого|发件人|寄件者|寄件人|發件人|差出人|送信者|送信元"
    "|lähettäjä|feladó|kimden|gönderen|de la|από|від|보낸 사람|보낸사람",
    "date": "sent|date|gesendet|datum|gesendet am|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviado em"
    "|enviada em|enviada|fecha|inviato|data|verzonden|skickat|skickat den|sendt|dato|wysłano|data wysłania"
    "|отправлено|дата|发送时间|发送日期|日期|時間|寄件日期|傳送時間|送信日時|日時|日付"
    "|odesláno|odoslané|lähetetty|elküldve|dátum|gönderildi|tarih|trimis|στάλθηκε|ημερομηνία|надіслано|보낸 날짜|날짜",
    "to": "to|an|à|a|para|aan|till|til|do|кому|收件人|收件者|宛先"
    "|komu|pre|vastaanottaja|címzett|kime|alıcı|către|προς|받는 사람|받는사람",
    "other": "cc|kopie|copia|cópia|kopia|kopi|копия|抄送|副本|bcc|importance|wichtigkeit|importancia|importanza"
    "|priority|reply-to|attachments|anlagen|pièces jointes|organization|message-id|when|where",
    "subject": "subject|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|тема|主题|主旨|主題|件名"
    "|předmět|predmet|aihe|tárgy|konu|subiect|θέμα|제목",
}
_ROLES: dict[str, Role] = {label.casefold(): role for role, labels in _LABELS.items() for label in labels.split("|")}
_MAX_HEADERS = 12  # lines; a list of recipients may be wrapped


def find_role(line: str) -> Role | None:
    """Return what a line says if it is a header of a quoted message, as "*From:* Ann"."""
    label, colon, _ = line[:40].replace("：", ":").partition(":")
    return _ROLES.get(label.strip(" *_>\t\xa0").casefold()) if colon else None


def measure_headers(lines: Sequence[str], *, is_announced: bool) -> int:
    """Return how many lines the block of headers has that begins with the first line; 0 if there is none.

    It says who wrote and to whom, and when or about what. One that is announced, by a line of dashes,
    may leave out to whom.
    """
    roles: set[Role] = set()
    end = 0
    for at, line in enumerate(lines[:_MAX_HEADERS]):
        role = find_role(line)
        if role:
            roles.add(role)
            end = at + 1
        elif not roles or not line or len(line) > MAX_LINE or ("to" not in roles and "from" not in roles):
            break
    is_block = "from" in roles and (
        ("to" in roles and bool(roles & {"date", "subject"})) or (is_announced and {"date", "subject"} <= roles)
    )
    return end if is_block else 0


_FRAMED = lazy(r"[ >*]{0,4}[-_=—–]{2,80}[ \xa0]{0,5}(?=\S)([^-_=—–\n][^\n]{0,80}?)[ \xa0]{0,5}[-_=—–]{2,80}[ *]{0,4}\Z")
_ORIGINAL = lazy(
    r"origin[aei]|oryginaln|ursprünglich|ursprungligt|d'origine|d’origine|oorspronkelijk|oprindelig|opprinnelig|исходное"
    r"|оригинальное|原始|原邮件|元のメッセージ|원본|alkuperäinen"
    r"|původní|pôvodn|eredeti|orijinal|αρχικό|оригінал",
    re.I,
)
_FORWARDED = lazy(
    r"forwarded|weitergeleitete|transféré|réexpédié|reenviado|inoltrato|encaminhada|reencaminhada|doorgestuurd"
    r"|vidarebefordra|videresend|przekazan|пересыл|пересланн|переадресован|перенаправлен|转发|轉寄|轉發|転送|전달",
    re.I,
)
_REPLY_ABOVE = lazy(
    r"(?:repl|respon|respuest|antwort|répon|rispo|antwoord|svar|odpow).{0,40}"
    r"(?:above|oberhalb|über dies|au-dessus|encima|sobre esta|sopra|acima|boven|ovanför|over denne|powyżej).{0,20}"
    r"(?:line|zeile|linie|ligne|línea|linea|linha|regel|lijn|linje|rad\b|lini)",
    re.I,
)
_END_FORWARDED = lazy(r"[-\s]{2,80}end forwarded message", re.I)


def is_original_mark(line: str) -> bool:
    """Return whether a line says that the message below is answered: "-----Original Message-----"."""
    found = _FRAMED.match(line) if len(line) <= MAX_LINE else None
    return bool(found and _ORIGINAL.search(found[1]) and not _FORWARDED.search(found[1]))


def is_reply_mark(line: str) -> bool:
    """Return whether a line is that of a help desk: "##- Please type your reply above this line -##"."""
    return line[0] in "#-=" and len(line) <= 120 and bool(_REPLY_ABOVE.search(line))


def is_frame(line: str) -> bool:
    """Return whether a line is of dashes, or has words between dashes: headers of a quoted message may follow."""
    return len(line) >= 5 and (is_separator(line) or (len(line) <= MAX_LINE and bool(_FRAMED.match(line))))


def may_begin_forward(line: str) -> bool:
    """Return whether `is_forward_mark` is worth asking."""
    return line[0] in "-_=—–*" or line.endswith(_COLONS)


def is_forward_mark(line: str, after: str) -> bool:
    """Return whether a line says that the message below is forwarded. `after`: the next line that is not empty."""
    if len(line) > 120 or not _FORWARDED.search(line):
        return False
    if _FRAMED.match(line):
        return True
    return line.endswith(_COLONS) and find_role(after) is not None


def ends_forward(line: str) -> bool:
    """Return whether a forwarded message ends with a line."""
    return len(line) <= MAX_LINE and bool(_END_FORWARDED.match(line))


_SEPARATOR = lazy(r"(?:[-_=*—–~+#] ?){1,200}\Z")


def is_separator(line: str) -> bool:
    """Return whether a line has only dashes or the like."""
    return len(line) <= 200 and bool(_SEPARATOR.match(line))
