"""Find what a sentence does: it asks, it says what was decided, it promises or sets a deadline, it names days.

Extracts and digests ask here for every sentence they see, so most leave after a look into one set of words. The tables
hold words and phrases of twelve languages; no language is guessed, a cue counts in whichever it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.text.words import DENSE_RUN
from commonplace.tree.entities import find_dates, is_month

# --- What was decided, by language ---
_DECISIONS = {
    "English": "decided|we decide|decision|agreed|we agree|approved|approval|signed off|go with|going with|went with"
    "|settled on|chose|chosen|opted for|resolved to|confirmed|voted|rejected|declined|cancelled|canceled|postponed"
    "|rescheduled|moved to|called off|green light|go ahead|consensus|accepted|granted|vetoed|ratified|we picked"
    "|we stick with|appointed|has been moved|have been moved|final answer|turned down|dropped the|scrapped",
    "German": "entschieden|beschlossen|entscheidung|beschluss|vereinbart|geeinigt|genehmigt|freigegeben|zugestimmt"
    "|bestätigt|abgelehnt|abgesagt|verschoben|verlegt|wir nehmen|festgelegt|verabschiedet|ausgewählt|einigung"
    "|wir bleiben bei|grünes licht|zusage|absage|storniert|ernannt",
    "French": "décidé|décidée|décidons|décision|convenu|approuvé|approuvée|validé|validée|retenu|retenue|choisi|choisie"
    "|optons|opté|accepté|acceptée|refusé|refusée|rejeté|rejetée|annulé|annulée|reporté|reportée|confirmé|confirmée"
    "|feu vert|tranché|adopté|adoptée|d'accord pour|nommé|nommée",
    "Spanish": "decidido|decidió|decidimos|decisión|acordado|acordamos|acordó|acuerdo|aprobado|aprobada|aprobó"
    "|aprobaron|elegido|elegida|elegimos|confirmado|confirmada|aceptado|aceptada|rechazado|rechazada|cancelado"
    "|cancelada|aplazado|aplazada|pospuesto|pospuesta|optamos|quedamos en|visto bueno|luz verde",
    "Italian": "deciso|decisa|decisione|concordato|concordata|approvato|approvata|scelto|confermato|confermata"
    "|accettato|accettata|rifiutato|respinto|respinta|annullato|annullata|rinviato|rinviata|rimandato|rimandata|via libera"
    "|stabilito|spostato|spostata",
    "Portuguese": "decidiu|decisão|acordado|combinado|combinamos|aprovado|aprovada|aprovou|aprovaram|escolhido"
    "|escolhida|escolhemos|aceite|aceito|rejeitado|rejeitada|recusado|recusada|adiado|adiada|decidida|luz verde",
    "Dutch": "besloten|besluit|beslissing|beslist|afgesproken|akkoord|goedgekeurd|gekozen|we kiezen|bevestigd"
    "|afgewezen|geannuleerd|afgelast|uitgesteld|verplaatst|we gaan voor|vastgesteld|groen licht",
    "Polish": "zdecydowano|zdecydowaliśmy|zdecydowałyśmy|zdecydowali|zdecydował|zdecydowała|zdecydowałem"
    "|postanowiliśmy|postanowiono|decyzja|decyzję|decyzji|uzgodniliśmy|uzgodniono|ustaliliśmy|ustalono|zatwierdzono"
    "|zatwierdzony|zatwierdzona|zatwierdził|zatwierdziła|zatwierdzili|wybraliśmy|wybrano|odrzucono|odrzucili"
    "|odwołano|odwołane|odwołany|przełożono|przełożone|przełożony|przesunięto|zaakceptowano|zaakceptował"
    "|zgodziliśmy|potwierdzono|potwierdził",
    "Russian": "решили|решено|решил|решила|решение|договорились|согласовано|согласовали|утвердили|утверждено"
    "|утверждён|утверждена|одобрено|одобрили|одобрил|одобрен|одобрена|выбрали|выбрано|отклонено|отклонили"
    "|отменили|отменено|отменена|отменён|перенесли|перенесено|перенесена|перенесён|подтверждено|подтвердили"
    "|подтвердил|принято|остановились на",
    "Swedish": "beslutat|beslutade|beslut|bestämt|bestämde|överens|enades|godkänt|godkänd|godkändes|godkände|valt"
    "|vi väljer|valde|bekräftat|bekräftad|avslag|avslagit|inställt|inställd|uppskjutet|uppskjuten|flyttat|flyttas"
    "|vi kör på|grönt ljus|besluttet|vedtaget|godkendt|godkjent",
}
# --- What will be done, and until when ---
_PROMISES = {
    "English": "will|shall|i'll|we'll|you'll|he'll|she'll|they'll|it'll|won't|due|deadline|going to|need to|needs to"
    "|must|have to|has to|promise|promised|commit to|committed to|on track for|scheduled|planned for|plan to|plans to"
    "|takes over|take over|taking over|responsible for|in charge of|action item|todo|no later than|at the latest"
    "|expires|expiry|starts on|ends on|goes live|go live|launches|eta|asap|overdue|takes care of|take care of"
    "|assigned to|on call|takes effect|is to|are to|by the end of|by end of|by eod|by cob|by eow",
    "German": "ich werde|wir werden|werde ich|werden wir|wird bis|wird am|wird ab|muss|müssen|musst|soll|frist"
    "|stichtag|fällig|spätestens|verspreche|übernimmt|übernehme|übernehmen|kümmert sich|kümmere mich|kümmern uns"
    "|zuständig|verantwortlich|geplant|abgabe|abgabetermin|liefere|liefern wir|schicke|läuft ab|in kraft|bis ende",
    "French": "je vais|nous allons|on va|serai|serons|enverrai|enverrons|ferai|ferons|livrerons|livrera|doit|doivent"
    "|devons|dois|échéance|délai|date limite|au plus tard|d'ici|m'occupe|s'occupe|s'occupera|prévu|prévue|promets"
    "|m'engage|à rendre|aura lieu|avant la fin|expire",
    "Spanish": "voy a|vamos a|enviaré|enviaremos|haré|haremos|entregaré|entregaremos|tendrá lugar|debe|deben|debemos"
    "|debo|tengo que|tenemos que|tienes que|hay que|plazo|fecha límite|vence|vencimiento|a más tardar|me encargo"
    "|se encarga|se encargará|nos encargamos|previsto|prevista|prometo|antes del|antes de fin",
    "Italian": "farò|faremo|manderò|invierò|invieremo|consegneremo|consegnerò|deve|devono|dobbiamo|devo|scadenza"
    "|scade|entro|al più tardi|mi occupo|si occupa|si occuperà|prevista|prometto|si terrà|bisogna",
    "Portuguese": "vou enviar|vou fazer|vamos enviar|vamos fazer|enviarei|enviaremos|farei|faremos|entregaremos|devem"
    "|devemos|tem que|temos que|tenho que|prazo|o mais tardar|até ao dia|até o dia|fico de|encarrego|precisamos de",
    "Dutch": "zal|zullen|zult|ga ik|gaan we|moet|moeten|uiterlijk|vervaldatum|termijn|inleveren|regelt|regel ik"
    "|verantwoordelijk|gepland|beloof|neemt over|oplevering|verloopt",
    "Polish": "będzie|będą|będę|będziemy|wyślę|wyślemy|zrobię|zrobimy|przygotuję|przygotujemy|dostarczę|dostarczymy"
    "|musi|muszą|musimy|muszę|trzeba|termin|terminie|terminu|najpóźniej|do końca|zajmę się|zajmie się"
    "|odpowiedzialny|odpowiedzialna|odpowiada za|zaplanowano|obiecuję|upływa|wygasa",
    "Russian": "будет|будут|буду|будем|отправлю|отправим|сделаю|сделаем|пришлю|пришлём|подготовлю|подготовим|должен"
    "|должна|должны|нужно|необходимо|срок|срока|дедлайн|не позднее|до конца|займусь|займётся|отвечает за"
    "|запланирован|запланирована|запланировано|обещаю|истекает",
    "Swedish": "jag ska|vi ska|ska vara|skall|kommer att|måste|senast|förfaller|tar hand om|ansvarar|ansvarig|planerad"
    "|planerat|lovar|levererar|skal|ansvarlig|frist",
}
# --- What asks without a question mark: only where a sentence begins ---
_REQUESTS = {
    "English": "could you|can you|would you|will you|could we|can we|shall we|could someone|can someone|can anyone"
    "|does anyone|do you|did you|are you|have you|any idea|please confirm|please advise|please let me know"
    "|wondering whether|wondering if|i wonder|who|what about|how about|when|where can|which of",
    "German": "kannst du|könntest du|können sie|könnten sie|kann jemand|könnt ihr|könnten wir|können wir|weiß jemand"
    "|würdest du|würden sie|habt ihr|haben sie|hast du",
    "French": "pouvez vous|peux tu|pourriez vous|pourrais tu|est ce que|qu'en penses|qu'en pensez|avez vous|as tu",
    "Spanish": "puedes|puede usted|podrías|podría usted|alguien sabe|me puedes|me podrías|nos puede",
    "Italian": "puoi|potresti|potete|potrebbe|qualcuno sa|mi puoi|hai",
    "Portuguese": "podes|poderia|poderias|alguém sabe|você pode|vocês podem",
    "Dutch": "kun je|kunt u|kan iemand|zou je|zou u|kunnen we|kan je|weet iemand",
    "Polish": "czy",
    "Russian": "можешь|можете|не могли бы|не мог бы|может ли|сможешь|сможете|кто нибудь знает|есть ли",
    "Swedish": "kan du|kan ni|kan vi|skulle du|vet någon|har du|har ni|kan någon",
}
# --- Scripts without spaces: Chinese, Japanese ---
_EAST_DECISION = lazy(
    "决定|決定|确定|確定|同意|批准|达成一致|達成一致|敲定|取消|推迟|推遲|延期|确认|確認|选定|選定|定于"
    "|決ま|決め|承認|合意|採用|中止|にしました|変更にな|可決"
)
_EAST_PROMISE = lazy(
    "将在|將在|将于|將於|会在|會在|我会|我會|我们会|我們會|截止|期限|之前|必须|必須|负责|負責|到期|计划|計劃|承诺|最晚"
    "|需要|予定|締切|締め切り|までに|必要があ|担当|しなければ|いたします|提出"
)
_EAST_QUESTION = lazy(r"[吗嗎呢么][。\s]*\Z|是否|能否|可否|(?:ます|です|でしょう|せん)か[。\s]*\Z")
# --- What turns a decision around ---
_NEGATIONS = frozenset(
    """
    not no never t cannot nothing without if whether until before to once
    nicht kein keine keinen nie ob falls wenn bevor pas aucun aucune si ne jamais sin ningún ninguna non nessuna nessun
    se não nenhum nenhuma sem niet geen als nie nic jeśli czy не нет если inte ingen inget om
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_REACH = 3  # words before a decision that may turn it around
# --- Before a day, it is the last one ---
_UNTIL = frozenset(
    {"by", "until", "till", "before", "due", "bis", "avant", "antes", "entro", "até", "voor", "tegen", "do", "до", "к"}
    | {"senast", "innan", "inden"}
)

# --- Days without a number ---
_WEEKDAYS = (
    "monday montag lundi lunes lunedì segunda maandag poniedziałek poniedziałku понедельник понедельника понедельнику"
    " måndag måndagen mandag",
    "tuesday dienstag mardi martes martedì terça dinsdag wtorek wtorku вторник вторника вторнику tisdag tisdagen"
    " tirsdag",
    "wednesday mittwoch mercredi miércoles mercoledì quarta woensdag środa środę środy среду среде onsdag onsdagen",
    "thursday donnerstag jeudi jueves giovedì quinta donderdag czwartek czwartku четверг четверга четвергу torsdag"
    " torsdagen",
    "friday freitag vendredi viernes venerdì sexta vrijdag piątek piątku пятница пятницу пятницы пятнице fredag"
    " fredagen",
    "saturday samstag sonnabend samedi sábado sabato zaterdag sobota sobotę soboty суббота субботу субботы lördag"
    " lördagen lørdag",
    "sunday sonntag dimanche domingo domenica zondag niedziela niedzielę niedzieli воскресенье воскресенья söndag"
    " söndagen søndag",
)
_NEAR_DAYS = (
    "today tonight heute aujourd'hui hoy oggi hoje vandaag dziś dzisiaj сегодня idag",
    "tomorrow morgen demain mañana domani amanhã jutro завтра imorgon",
    "übermorgen surlendemain dopodomani overmorgen pojutrze послезавтра",
)
# Before "morgen" and "mañana" these make it the morning.
_MORNING = frozenset(
    {"guten", "am", "heute", "gestern", "jeden", "goede", "god", "la", "esta", "una", "cada", "por", "every", "each"}
)
# With one of these a weekday is over.
_PAST = frozenset(
    """
    last yesterday was were had did went came got ago letzten letzte letzter vergangenen war waren hatte hatten wurde
    wurden gestern dernier dernière était hier pasado pasada fue ayer estaba estuvo scorso scorsa era ieri passado
    passada foi ontem afgelopen vorige gisteren zeszły zeszłym zeszłą zeszłego był była było wczoraj прошлый прошлую
    прошлой прошлого был была было были вчера förra igår sedan blev
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_EAST_WEEKDAY = lazy(
    r"(?P<next>下|来|來)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])|(?P<east>[月火水木金土日])曜"
)
_EAST_NEAR = lazy("今天|今日|明天|明日|后天|後天|明後日")
_EAST_DAYS, _JAPANESE_DAYS = "一二三四五六日天", "月火水木金土日"
_EAST_OFFSETS = {"今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2, "後天": 2, "明後日": 2}
_EAST_PAST = lazy("上周|上週|上个|上個|先週|昨天|昨日")
_EAST_DATE = lazy(r"(?<![\d年])(?<!年\s)(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号號일]")
_MONTHLY = lazy(r"\b[Tt]he (\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[.,;:!?)]|\Z)|\s(?:at|is|and|or|for|as|if|works)\b)")
_SHORT_DATE = lazy(
    r"\b(?:am|bis|vom|zum|den|der|ab|dnia|do|od|до|с|к|på|fra)\s(\d{1,2})\.(\d{1,2})(?:\.(?!\d)|(?=\s*(?:[,;:!?]|\Z)))"
)

_WORD = lazy(r"[^\W_]+")
_QUESTION_MARK = lazy(r"[?？؟](?=[\"'”’»)\]*_!?]*(?:\s|\Z))")
_MAX_SENTENCE = 2_000  # characters that are looked at: what is longer is no sentence
_ASKS, _DECIDES, _PROMISES_IT = "asks", "decides", "promises"


class Cues(NamedTuple):
    """What a sentence does, and the days it names as YYYY-MM-DD."""

    asks: bool = False
    decides: bool = False
    promises: bool = False
    dates: tuple[str, ...] = ()


_NONE = Cues()


class _Phrase(NamedTuple):
    kind: str
    words: tuple[str, ...]


def find_cues(sentence: str, occurred: str) -> Cues:
    """Return what a sentence does. Days without a year or month are those next to `occurred`.

    A question decides and promises nothing: it may still name the day by which something is wanted.
    """
    text = sentence[:_MAX_SENTENCE]
    words = _WORD.findall(text.lower())
    dates = _find_days(text, words, occurred)
    if not text.isascii() and DENSE_RUN.search(text):
        return _read_east(text, dates)
    phrases = _read_phrases()
    if phrases.keys().isdisjoint(words):
        if "?" not in text and "؟" not in text:
            return _NONE._replace(dates=dates) if dates else _NONE
        return Cues(asks=_QUESTION_MARK.search(text) is not None, dates=dates)
    asks = decides = promises = False
    for at, word in enumerate(words):
        for kind, phrase in phrases.get(word, ()):
            if len(phrase) > 1 and tuple(words[at : at + len(phrase)]) != phrase:
                continue
            if kind == _DECIDES:
                decides = decides or _NEGATIONS.isdisjoint(words[max(0, at - _REACH) : at])
            elif kind == _PROMISES_IT:
                promises = True
            else:
                asks = asks or at <= 1
    promises = promises or (bool(dates) and not _UNTIL.isdisjoint(words) and _has_deadline(words))
    asks = asks or (("?" in text or "؟" in text) and _QUESTION_MARK.search(text) is not None)
    return Cues(asks, decides and not asks, promises and not asks, dates)


def _read_east(text: str, dates: tuple[str, ...]) -> Cues:
    asks = _QUESTION_MARK.search(text) is not None or _EAST_QUESTION.search(text) is not None
    decides = not asks and _EAST_DECISION.search(text) is not None
    return Cues(asks, decides, not asks and _EAST_PROMISE.search(text) is not None, dates)


def _has_deadline(words: Sequence[str]) -> bool:
    """Return whether a day follows a word like "by" closely."""
    for at, word in enumerate(words):
        if word in _UNTIL and any(_may_be_day(near) for near in words[at + 1 : at + 4]):
            return True
    return False


def _may_be_day(word: str) -> bool:
    return word[0].isdigit() or word in _read_days() or is_month(word)


def _find_days(text: str, words: Sequence[str], occurred: str) -> tuple[str, ...]:
    """Return the days that a sentence names, each once and in order."""
    found = set[str]()
    has_digit = any(not word.isalpha() for word in words)
    if has_digit:
        found.update(find_dates(text, occurred))
    days = _read_days()
    names = days.keys() & set(words)
    is_east = not text.isascii() and DENSE_RUN.search(text) is not None
    if not (names or is_east or has_digit):
        return ()
    today = _read_day(occurred)
    if today is None:
        return tuple(sorted(found))
    if names and not found:
        found.update(_find_named(words, today))
    if is_east and not found and not _EAST_PAST.search(text):
        found.update(_find_east(text, today))
    if has_digit and not found:
        found.update(_find_short(text, today))
    return tuple(sorted(found))


def _find_named(words: Sequence[str], today: date) -> set[str]:
    """Return the days that weekdays and words like "tomorrow" mean, counted from the day of the message."""
    found = set[str]()
    is_past = not _PAST.isdisjoint(words)
    for at, word in enumerate(words):
        day = _read_days().get(word)
        if day is None:
            continue
        is_weekday, number = day
        if is_weekday:
            if not is_past:
                found.add(_name_weekday(today, number))
        elif at == 0 or number != 1 or words[at - 1] not in _MORNING:
            found.add(_shift_day(today, number))
    return found - {""}


def _find_east(text: str, today: date) -> set[str]:
    found = {_shift_day(today, _EAST_OFFSETS[match.group()]) for match in _EAST_NEAR.finditer(text)}
    for match in _EAST_WEEKDAY.finditer(text):
        number = _JAPANESE_DAYS.index(match["east"]) if match["east"] else min(6, _EAST_DAYS.index(match["day"]))
        if match["next"] in ("下", "来", "來") and match["day"]:
            found.add(_shift_day(today, 7 - today.weekday() + number))
        else:
            found.add(_name_weekday(today, number))
    return found - {""}


def _find_short(text: str, today: date) -> set[str]:
    """Return the days that leave out the year or the month: "am 3.12.", "12月3日", "by the 14th"."""
    found = set[str]()
    for pattern, month_first in ((_SHORT_DATE, False), (_EAST_DATE, True)):
        for match in pattern.finditer(text):
            first, second = int(match[1]), int(match[2])
            found.add(_find_nearest(today, *((first, second) if month_first else (second, first))))
    for match in _MONTHLY.finditer(text):
        ahead = (
            _make_day(today.year + (today.month + step - 1) // 12, (today.month + step - 1) % 12 + 1, int(match[1]))
            for step in range(3)
        )
        found.add(next((day.isoformat() for day in ahead if day and day >= today), ""))
    return found - {""}


def _find_nearest(today: date, month: int, day: int) -> str:
    """Return the day of the calendar that is nearest to another; "" if there is none."""
    near = [found for year in (today.year - 1, today.year, today.year + 1) if (found := _make_day(year, month, day))]
    return min(near, key=lambda found: abs(found - today)).isoformat() if near else ""


def _name_weekday(today: date, number: int) -> str:
    """Return the next day with this weekday, which may be today."""
    return _shift_day(today, (number - today.weekday()) % 7)


def _shift_day(today: date, days: int) -> str:
    try:
        return (today + timedelta(days=days)).isoformat()
    except OverflowError:
        return ""


def _make_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _read_day(occurred: str) -> date | None:
    try:
        return date.fromisoformat(occurred[:10])
    except ValueError:
        return None


@cache
def _read_days() -> dict[str, tuple[bool, int]]:
    """Return the words for days: whether it is a weekday, and which, or how many days it is from today."""
    days = {word: (True, at) for at, names in enumerate(_WEEKDAYS) for word in names.split()}
    return days | {word: (False, at) for at, names in enumerate(_NEAR_DAYS) for word in names.split()}


@cache
def _read_phrases() -> dict[str, tuple[_Phrase, ...]]:
    """Return the cues by their first word."""
    found: dict[str, list[_Phrase]] = {}
    for kind, table in ((_DECIDES, _DECISIONS), (_PROMISES_IT, _PROMISES), (_ASKS, _REQUESTS)):
        for phrases in table.values():
            for phrase in phrases.split("|"):
                words = tuple(_WORD.findall(phrase))
                found.setdefault(words[0], []).append(_Phrase(kind, words))
    return {word: tuple(dict.fromkeys(phrases)) for word, phrases in found.items()}
