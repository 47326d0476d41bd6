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
_MAX_PARAGRAPH = 6_000

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
_ADDRESS = lazy(r"[^\s<>@]+@[^\s<>@]+\.\w")
_DAY = lazy(r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,4} ?[./-] ?\d{1,2} ?[./-] ?\d{1,4}(?!\d)|\d[月월]")
_TIME = lazy(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)|\d ?(?:am|pm|[時时点點시])(?!\w)", re.I)
_ENDS_WITH_ADDRESS = lazy(r"[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+[>)\]] ?:\Z")
_SENTENCE_END = lazy(r"[^\W\d_]{5}[.!?] +[A-ZÀ-ÖØ-ÞА-Я]\w")  # no abbreviation is as long
QUOTE_NOISE = lazy(r"\s*[>＞]\s*(?:[>＞]|[-_=]{2})")  # a quote in a quote, or a signature in one
_COLONS = (":", "：")


def may_end_attribution(line: str) -> bool:
    """Return whether an attribution may end with a line."""
    return line.endswith(_COLONS) and len(line) <= MAX_LINE


def is_attribution(text: str) -> bool:
    """Return whether a text that ends with a colon names who wrote when, so surely that what follows needs no marks."""
    text = f"{text[:-1].rstrip()}:"
    if _SENTENCE_END.search(text):
        return False
    has_day, has_time, has_address = (bool(one.search(text)) for one in (_DAY, _TIME, _ADDRESS))
    if _VERB.search(text):
        return has_address or (has_day and has_time)
    return has_day and has_time and bool(_ENDS_WITH_ADDRESS.search(text))


def has_address(lines: Sequence[str]) -> bool:
    """Return whether lines have the address of a mailbox."""
    return any(_ADDRESS.search(line) for line in lines)


def may_be_attribution(text: str) -> bool:
    """Return whether a text that ends with a colon may be the attribution of the quote right after it."""
    text = text[:-1].rstrip()
    has_day, has_time = bool(_DAY.search(text)), bool(_TIME.search(text))
    if (has_day and has_time) or _ADDRESS.search(text):
        return True
    if not _VERB.search(text):
        return False
    names = _VERB.sub(" ", text).split()
    return has_day or has_time or (len(names) <= 5 and not any(name[0].islower() for name in names))


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
    "from": "from|von|de|da|van|från|fra|od|от|от кого|发件人|寄件者|寄件人|發件人|差出人|送信者|送信元",
    "date": "sent|date|gesendet|datum|gesendet am|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviado em"
    "|enviada em|enviada|fecha|inviato|data|verzonden|skickat|skickat den|sendt|dato|wysłano|data wysłania"
    "|отправлено|дата|发送时间|发送日期|日期|時間|寄件日期|傳送時間|送信日時|日時|日付",
    "to": "to|an|à|a|para|aan|till|til|do|кому|收件人|收件者|宛先",
    "other": "cc|kopie|copia|cópia|kopia|kopi|копия|抄送|副本|bcc|importance|wichtigkeit|importancia|importanza"
    "|priority|reply-to|attachments|anlagen|pièces jointes|organization|message-id|when|where",
    "subject": "subject|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|тема|主题|主旨|主題|件名",
}
_ROLES: dict[str, Role] = {label: role for role, labels in _LABELS.items() for label in labels.split("|")}
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
    r"|оригинальное|原始|原邮件|元のメッセージ|원본|alkuperäinen",
    re.I,
)
_FORWARDED = lazy(
    r"forwarded|weitergeleitete|transféré|réexpédié|reenviado|inoltrato|encaminhada|reencaminhada|doorgestuurd"
    r"|vidarebefordra|videresend|przekazan|пересыл|пересланн|переадресован|перенаправлен|转发|轉寄|轉發|転送|전달",
    re.I,
)
_END_FORWARDED = lazy(r"[-\s]{2,80}end forwarded message", re.I)


def is_original_mark(line: str) -> bool:
    """Return whether a line says that the message below is answered: "-----Original Message-----"."""
    found = _FRAMED.match(line) if len(line) <= MAX_LINE else None
    return bool(found and _ORIGINAL.search(found[1]) and not _FORWARDED.search(found[1]))


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


# --- Signatures ---
SIGNATURE_MARK = "-- "  # as the standard has it
_DASHES = (SIGNATURE_MARK, "--", "—", "–")
_DEVICE = lazy(
    r"sent (?:from|via|with|using)\b|get outlook for|von meinem .{2,40} gesendet|gesendet (?:von|mit|über)\b"
    r"|diese nachricht wurde von meinem .{2,60} gesendet|holen sie sich outlook|envoyé (?:de|depuis|à partir de|avec)\b"
    r"|télécharge[rz] outlook|obtene?[rz] (?:o )?outlook|enviado (?:desde|do|a partir|de|con|com|via)\b"
    r"|inviato (?:da|dal|con)\b|scarica outlook|(?:verzonden|verstuurd) (?:vanaf|vanuit|met|via)\b|download outlook"
    r"|skickat från|skickades från|hämta outlook|sendt fra|hent outlook|få outlook|wysłan[eo] (?:z|za)\b"
    r"|pobierz (?:program )?outlook|отправлено (?:с|из|от)\b|(?:загрузите|скачать) outlook|发自|發自"
    r"|從我的|从我的|获取 ?outlook|取得 ?outlook",
    re.I,
)
_DEVICE_ENDING = lazy(
    r"(?:から送信|より送信|を入手|gesendet mit [\w .-]{2,30})\W*\Z"
    r"|outlook (?:für|for|pour|para|per|voor|för|til|dla|для) ",
    re.I,
)
_LINK = lazy(r"[<(\[]?https?://[^\s<>()\[\]]+[>)\]]?")
_SITE = lazy(
    r"https?://|(?<!\w)www\.\w|(?<![\w@.])[\w-]{2,40}\.(?:com|org|net|de|fr|es|it|pt|nl|se|dk|no|pl|ru|cn|jp|io|eu|uk)(?!\w)",
    re.I,
)
_PHONE = lazy(
    r"(?:\+|\(?0)\d(?:[\d\s()./-]{5,20})\d|(?<!\d)\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)"
    r"|(?<!\w)(?:tel|phone|telefon|mobile?|cell|fax|tlf|тел|电话|電話)(?!\w).{0,5}\d\d",
    re.I,
)
_REGISTER = lazy(r"\b(?:HRB ?\d|SIRET\b|P\. ?IVA\b|CNPJ\b|KvK\b|CVR\b|ИНН\b|Registered (?:in|office)\b|USt-?Id)", re.I)
_CLOSING = lazy(
    r"\W{0,3}(?:(?:with |my |many )?(?:kind|best|warm(?:est)?|kindest|many|all the)\b|regards|cheers|sincerely|yours"
    r"|respectfully|thanks|thank you|thx|rgds|(?:mit )?(?:\w{2,12}e[nr]? )?(?:grüße|gruß|grüsse|gruss)|mfg\b|lg\b|vg\b"
    r"|danke|vielen dank|cordialement|bien (?:à|cordialement)|amicalement|salutations|merci|bonne (?:journée|soirée)"
    r"|(?:un )?(?:cordial )?(?:saludos?|abrazo|abraço)|atentamente|gracias|(?:cordiali |distinti |un )?salut[io]|grazie"
    r"|atenciosamente|(?:com os melhores )?cumprimentos|obrigad[oa]|(?:met )?(?:\w{2,14}e )?groet(?:en)?|mvg\b|bedankt"
    r"|(?:med )?(?:vänliga?|venlige?n?|vennlige?|bästa|bedste|beste)\b|hälsning(?:ar)?|mvh\b|hilsen|tack\b|takk\b|tak\b"
    r"|pozdrawiam|z poważaniem|dziękuję|с уважением|спасибо|с наилучшими|此致|敬礼|祝好|谢谢|謝謝|顺颂|よろしく|敬具)",
    re.I,
)


def is_device_line(line: str) -> bool:
    """Return whether a line is what a program adds on its own: "Sent from my iPhone", "Get Outlook for iOS"."""
    if len(line) > 250:
        return False
    text = _LINK.sub(" ", line).strip(" *_<>()[]\t\xa0")
    return len(text) <= 90 and bool(_DEVICE.match(text) or (len(text) <= 60 and _DEVICE_ENDING.search(text)))


def is_closing(line: str) -> bool:
    """Return whether a line takes leave: "Best regards,", "Mit freundlichen Grüßen"."""
    return len(line) <= 60 and len(line.split()) <= 7 and bool(_CLOSING.match(line))


def is_name(line: str) -> bool:
    """Return whether a line may be the name of a person, and nothing else."""
    words = line.split()
    if not 1 <= len(words) <= 4 or len(line) > 40 or line[-1] in "!?:;":
        return False
    is_lower = words[0][0].islower() or words[-1][0].islower()
    return line[0].isalpha() and not is_lower and all(sign.isalpha() or sign in " .,'’-()" for sign in line)


def is_contact_part(line: str) -> bool:
    """Return whether a line may be part of a block that says how to reach somebody: it is short, and no sentence."""
    return len(line) <= 100 and not (line.endswith((".", "!", "?", "。")) and len(line.split()) > 5)


def contact_kinds(line: str) -> set[str]:
    """Return the ways to reach somebody that a line says."""
    kinds = {"address"} if _ADDRESS.search(line) else set()
    if _SITE.search(_ADDRESS.sub(" ", line)):
        kinds.add("site")
    if _PHONE.search(line):
        kinds.add("phone")
    if _REGISTER.search(line):
        kinds.add("register")
    return kinds


def is_only_contact(line: str) -> bool:
    """Return whether a line says a phone number or the like, with at most two words besides."""
    return (
        bool(contact_kinds(line) - {"site"})
        and sum(word[0].isalpha() and "@" not in word for word in line.split()) <= 2
    )


# --- Footers ---
def _stems(*texts: str) -> tuple[str, ...]:
    return tuple("|".join(texts).split("|"))


_LIST = _stems(
    "unsubscri|mailing list|mailing-list|listinfo|list info|list archive|are receiving this|received this|newsletter",
    "abmelde|abbestell|austragen|désabonn|désinscri|liste de diffusion|darse de baja|suscripci|lista de correo",
    "cancelar a inscri|cancelar sua inscri|descadastr|disiscri|annulla l'iscrizione|annullare l'iscrizione",
    "mailinglijst|afmelden|uitschrijv|avregistrer|avprenumer|avmeld|frameld|afmeld|wypisa|rezygn|lista dyskusyjna",
    "отписат|рассылк|退订|退訂|取消订阅|取消訂閱|邮件列表|配信停止|登録解除|メーリングリスト",
)
# What a legal notice says. Three of these, or two in a text about "this message", make one.
_LEGAL = (
    _stems(
        "confident|confidenz|confidenc|confidên|vertraulich|vertrouwelijk|konfidenti|fortrolig|poufn|конфиденц",
        "保密|机密|機密|秘密|privileged|rechtlich geschützt|riservat|sekretess",
    ),
    _stems(
        "intended|recipient|addressee|adressat|empfänger|destinat|destinát|geadresseerde|ontvanger|mottagare|modtager",
        "mottaker|adresat|odbiorc|адресат|получател|收件人|受件人|接收者|受信者|宛先",
    ),
    _stems(
        "in error|by mistake|irrtümlich|versehentlich|par erreur|por error|por engano|per errore|por erro|abusievelijk",
        "ten onrechte|av misstag|ved en fejl|ved en feil|omyłk|pomyłk|ошибочно|по ошибке|误|誤",
    ),
    _stems(
        "delete|destroy|lösch|vernicht|détrui|supprim|elimin|borr|destru|apag|exclu|cancell|distrugg|verwijder|vernietig",
        "radera|förstör|slett|slet |usun|zniszcz|удалит|уничтож|删除|刪除|削除|破棄",
    ),
    _stems(
        "notify|inform the sender|informez|informieren|informeren|informar|benachrichtig|avisar|avise|avverti",
        "comunic|notific|meddela|underret|powiadom|poinform|сообщит|уведомит|通知|告知|連絡",
    ),
    _stems(
        "disclos|dissemin|distribut|unauthoris|unauthoriz|unbefugt|weitergabe|diffus|divulg|difus|openbaar|verspreid",
        "spridning|videregiv|rozpowszechn|распростран|разглаш|泄露|传播|散布|複製|転載|liable|liability",
    ),
)
_MESSAGE = _stems(
    "e-mail|email|this message|message and any|diese nachricht|diese mail|ce message|ce courriel|este mensaje",
    "este correo|esta mensagem|questo messaggio|dit bericht|deze mail|detta meddelande",
    "denne meddelelse|denne melding|denne e-post|wiadomość|сообщение|письмо|邮件|郵件|メール",
)
_ENVIRONMENT = _stems(
    "environment|umwelt|environnement|ambiente|milieu|miljö|miljø|środowisk|окружающ|природ|环境|環境"
)
_PRINT = _stems("print|druck|imprim|stamp|afdruk|utskrift|skriv|drukow|печат|打印|列印|印刷")
_VIRUS = _stems("virus|viren|вирус|wirus|病毒|ウイルス|malware|schadsoftware")
_CHECK = _stems(
    "check|scan|virus-free|virus found|geprüft|virenfrei|analys|vérifi|sin virus|libre de|analiz|comprob|verific",
    "control|livre de|gecontroleerd|virusvrij|kontroller|sprawdzon|провер|检测|扫描|檢查|チェック|確認",
)
_HEADINGS = _stems(
    "disclaimer|confidential|legal notice|privileged|haftungsausschluss|vertraulich|aviso legal|avis de confiden"
)


def _has(text: str, stems: Sequence[str]) -> bool:
    return any(stem in text for stem in stems)


def is_list_text(text: str) -> bool:
    """Return whether a paragraph is how to leave a mailing list, or where it is."""
    return len(text) <= 1_500 and _has(text.lower(), _LIST) and is_list_place(text)


def is_list_place(text: str) -> bool:
    """Return whether a paragraph has an address or a link: below a line of underscores, it is of a mailing list."""
    return len(text) <= 1_500 and bool(_SITE.search(text) or _ADDRESS.search(text))


def is_disclaimer(text: str) -> bool:
    """Return whether a paragraph is a legal notice, one of a scanner for viruses, or asks to print nothing."""
    if len(text) > _MAX_PARAGRAPH:
        return False
    folded = text.lower()
    if len(text) <= 400 and _has(folded, _ENVIRONMENT) and _has(folded, _PRINT) and _has(folded, _MESSAGE):
        return True
    if len(text) <= 400 and _has(folded, _VIRUS) and _has(folded, _CHECK):
        return _has(folded, _MESSAGE) or (len(text) <= 120 and bool(_SITE.search(text)))
    if len(text.encode("utf-8", "replace")) < 120:
        return False
    concepts = sum(_has(folded, stems) for stems in _LEGAL)
    return concepts >= 3 or (concepts >= 2 and _has(folded, _MESSAGE))


def is_legal_heading(line: str) -> bool:
    """Return whether a line heads a legal notice: "CONFIDENTIALITY NOTICE"."""
    return len(line) <= 60 and len(line.split()) <= 4 and line.lower().strip(" *_-:").startswith(_HEADINGS)


def has_footer_word(line: str) -> bool:
    """Return whether a line has a word of a footer."""
    folded = line.lower()
    return any(_has(folded, stems) for stems in (*_LEGAL, _LIST, _MESSAGE, _VIRUS, _HEADINGS))


# --- Where signatures and footers begin ---
def find_footer(lines: Sequence[str], begin: int, end: int) -> int:
    """Return where the footer begins that the last of some lines are; `end` if they are none."""
    start = end - 1
    while start > max(begin, end - 40) and lines[start - 1] and not is_separator(lines[start - 1]):
        start -= 1
    text = " ".join(line[:6_000] for line in lines[start:end])
    rule = start - 1
    while rule >= max(begin, start - 2) and not lines[rule]:
        rule -= 1
    is_below_rule = rule >= begin and lines[rule].startswith("__________") and is_separator(lines[rule])
    if is_below_rule and end - start <= 10 and is_list_place(text) and "phone" not in contact_kinds(text):
        return rule
    if not (is_list_text(text) or is_disclaimer(text) or (end - start == 1 and is_legal_heading(text))):
        return end
    while start < end - 1 and len(lines[start]) <= 60 and not has_footer_word(lines[start]):
        start += 1  # the author's name, with no empty line below it
    return start


def find_signature(lines: Sequence[str], begin: int, end: int, *, is_last: bool) -> int:
    """Return where the signature begins that the last of some lines are; `end` if they are none.

    `is_last`: nothing of the author follows.
    """
    if is_device_line(lines[end - 1]):
        return end - 1
    for at in range(end - 1, max(begin, end - 30) - 1, -1):
        if lines[at] in _DASHES:
            below = [line for line in lines[at + 1 : end] if line]
            is_standard = lines[at] == SIGNATURE_MARK and len(below) <= 20
            if is_standard or (is_last and len(below) <= 8 and all(len(line) <= 100 for line in below)):
                return at
            break
    return _find_contact(lines, begin, end) if is_last else end


def _find_ruled_contact(lines: Sequence[str], begin: int, end: int) -> int:
    """Return where the block begins that says how to reach the author, below a line of dashes."""
    for at in range(end - 1, max(begin, end - 15) - 1, -1):
        if not is_contact_part(lines[at]):
            break
        if is_separator(lines[at]) and len(lines[at]) >= 3:
            kinds = {kind for line in lines[at + 1 : end] for kind in contact_kinds(line)}
            if kinds - {"site"}:
                return at
    return end


def _find_contact(lines: Sequence[str], begin: int, end: int) -> int:
    """Return where the block begins that says how to reach the author: below a closing and her name, which stay.

    Without a closing, it begins with a name and has two ways to reach her.
    """
    top = max(begin, end - 20)
    closing = next((at for at in range(end - 1, top - 1, -1) if is_closing(lines[at])), None)
    if closing is not None:
        block = [at for at in range(closing + 1, end) if lines[at]]
        has_name = "," in lines[closing].rstrip(" ,")
        if block and not has_name and is_name(lines[block[0]]):
            block = block[1:]
        least = 1
    else:
        start = end - 1
        while start > top and lines[start - 1]:
            start -= 1
        before = next((lines[at] for at in range(start - 1, begin - 1, -1) if lines[at]), ":")
        block = list(range(start, end)) if is_name(lines[start]) and not before.endswith((":", "：")) else []
        least = 2
    is_block = len(block) <= 15 and all(is_contact_part(lines[at]) for at in block)
    kinds = {kind for at in block for kind in contact_kinds(lines[at])} if is_block else set()
    if len(block) == 1 and not is_only_contact(lines[block[0]]):
        kinds = set()
    return block[0] if len(kinds) >= least else _find_ruled_contact(lines, begin, end)
