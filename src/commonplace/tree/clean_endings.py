"""Where the signature and the footer of a mail begin, and what their lines look like.

`clean` asks here, after quotes are found. A signature is what stands below its mark, below a closing and a name, or is
nothing but the ways to reach somebody; a footer is what a mailing list, a company or a virus scanner adds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from commonplace.model.lazy import lazy
from commonplace.tree.clean_marks import ADDRESS, MAX_PARAGRAPH, is_separator

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
    r"|respectfully|thanks|thank you|thx|rgds|(?:mit )?(?:\w{2,12}e[nrm]? )?(?:grüße|gruß|grüsse|gruss)|mfg\b|lg\b|vg\b"
    r"|danke|vielen dank|cordialement|bien (?:à|cordialement)|amicalement|salutations|merci|bonne (?:journée|soirée)"
    r"|(?:un )?(?:cordial )?(?:saludos?|abrazo|abraço)|atentamente|gracias|(?:cordiali |distinti |un )?salut[io]|grazie"
    r"|atenciosamente|(?:com os melhores )?cumprimentos|obrigad[oa]|(?:met )?(?:\w{2,14}e )?groet(?:en)?|mvg\b|bedankt"
    r"|(?:med )?(?:vänliga?|venlige?n?|vennlige?|bästa|bedste|beste)\b|hälsning(?:ar)?|mvh\b|hilsen|tack\b|takk\b|tak\b"
    r"|pozdrawiam|z poważaniem|dziękuję|с уважением|спасибо|с наилучшими|此致|敬礼|祝好|谢谢|謝謝|顺颂|よろしく|敬具"
    r"|(?:s|se) (?:\w{3,14}m )?pozdrav\w+|děkuji|ďakujem|üdvözlettel|üdv\b|köszönettel|(?:ystävällisin )?terveisin"
    r"|saygılar|iyi çalışmalar|teşekkür|cu (?:stimă|respect)|mulțumesc|з повагою|дякую|με εκτίμηση|감사합니다|드림\b)",
    re.I,
)
_FULL_STOP = lazy(r"[^\W_]{4}\.\Z")  # "Ltd." and "sp. z o.o." end no sentence
_FOR_ANOTHER = lazy(r"(?:i\. ?[av]\.|p\. ?p\.|p\. ?o\.|ppa\.|gez\.)\s+", re.I)  # "i. A. Jo" signs for somebody


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
    line = _FOR_ANOTHER.sub("", line, count=1) or line
    words = line.split()
    if not 1 <= len(words) <= 4 or len(line) > 40 or line[-1] in "!?:;":
        return False
    is_lower = words[0][0].islower() or words[-1][0].islower()
    return line[0].isalpha() and not is_lower and all(sign.isalpha() or sign in " .,'’-()" for sign in line)


def is_contact_part(line: str) -> bool:
    """Return whether a line may be part of a block that says how to reach somebody: it is short, and no sentence."""
    is_sentence = line.endswith(("!", "?", "。")) or bool(_FULL_STOP.search(line))
    return len(line) <= 100 and not (is_sentence and len(line.split()) > 5)


def contact_kinds(line: str) -> set[str]:
    """Return the ways to reach somebody that a line says."""
    kinds = {"address"} if ADDRESS.search(line) else set()
    if _SITE.search(ADDRESS.sub(" ", line)):
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
    return len(text) <= 1_500 and bool(_SITE.search(text) or ADDRESS.search(text))


def is_disclaimer(text: str) -> bool:
    """Return whether a paragraph is a legal notice, one of a scanner for viruses, or asks to print nothing."""
    if len(text) > MAX_PARAGRAPH:
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
