"""One mail as a unit of the tree: who, when, what it answers, its text, and what its source says of it.

The readers of mbox, Maildir and .eml call `read_message` with the bytes of each message. Whatever these are, it returns
a unit, or says why there is none; it raises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from commonplace.model.times import format_time
from commonplace.tree.readers.mail_dates import MailDate, is_possible, read_mail_date
from commonplace.tree.readers.mail_headers import decode_header, read_ids, read_own_id, read_people
from commonplace.tree.readers.mail_parts import LimitExceeded, MailPart, parse_mail
from commonplace.tree.readers.mail_text import read_body
from commonplace.tree.source import MAX_MESSAGE, Person, Signal, SkippedUnit, SourceUnit

_MAX_PARENTS = 50
_MAX_TITLE = 1_000  # characters
_PREFIX = "mail:"
_LABEL = re.compile(r'"([^"]*)"|([^,]+)')
_ROBOT = re.compile(
    r"(?:^|[-_.+=])(?:(?:no|do[-_.]?not|never)[-_.]?reply|mailer[-_.]?daemon|postmaster|auto[-_.]?(?:mail(?:er)?|reply|confirm)"
    r"|notifications?|notify|alerts?|bounces?)(?:[-_.+=]|$)"
)
_BULK_HEADERS = ("list-id", "list-unsubscribe", "list-post", "x-mc-user", "x-mailchimp-campaign-id", "x-campaignid")
_BULK_PRECEDENCE = frozenset({"bulk", "list", "junk"})

# What mail programs and providers call these folders, in the languages that they ship.
_FOLDERS: dict[Signal, str] = {
    "sent": "sent|sent mail|sent items|sent messages|gesendet|gesendete elemente|gesendete objekte|envoyés"
    "|messages envoyés|éléments envoyés|enviados|elementos enviados|mensajes enviados|posta inviata|inviata"
    "|itens enviados|mensagens enviadas|verzonden|verzonden items|verzonden berichten|skickat|skickade|wysłane"
    "|elementy wysłane|отправленные|送信済み|已发送|已傳送",
    "trash": "trash|bin|deleted|deleted items|deleted messages|papierkorb|gelöschte elemente|gelöschte objekte"
    "|corbeille|éléments supprimés|papelera|elementos eliminados|cestino|posta eliminata|lixeira|lixo|itens excluídos"
    "|prullenbak|verwijderde items|papperskorgen|papperskorg|kosz|elementy usunięte|корзина|удаленные|ゴミ箱"
    "|已删除|垃圾桶",
    "spam": "spam|junk|junk e-mail|junk email|junk mail|bulk mail|unerwünscht|junk-e-mail|courrier indésirable"
    "|indésirables|correo no deseado|no deseado|posta indesiderata|indesiderata|lixo eletrónico|lixo eletrônico"
    "|ongewenste e-mail|ongewenst|skräppost|wiadomości-śmieci|спам|迷惑メール|垃圾邮件",
}
_SIGNAL_OF_FOLDER: dict[str, Signal] = {name: signal for signal, names in _FOLDERS.items() for name in names.split("|")}


class MailOrigin(NamedTuple):
    """Where a message comes from, and what is known of it from outside of its bytes."""

    place: str  # in the source, for reports
    me: frozenset[str] = frozenset()  # the addresses and names of the user, in lower case
    folders: tuple[str, ...] = ()  # of the mailbox that has it: "Archive/2026"
    signals: frozenset[Signal] = frozenset()
    envelope: str = ""  # the From_ line, which has a date
    file_time: Callable[[], str] = str  # returns the timestamp of its file, or ""
    is_whole: bool = True


def read_message(data: bytes, origin: MailOrigin) -> SourceUnit | SkippedUnit:
    """Return the unit of a message, or why there is none."""
    if len(data) > MAX_MESSAGE:
        return SkippedUnit(origin.place, "too_large")
    try:
        mail = parse_mail(data)
    except LimitExceeded as limit:
        return SkippedUnit(origin.place, limit.reason)
    if not mail.headers:
        return SkippedUnit(origin.place, "unreadable" if data.strip() else "empty")
    body = read_body(mail)
    title = decode_header(mail.header("subject"))[:_MAX_TITLE].rstrip()
    if not (body.text or title or body.attachments):
        return SkippedUnit(origin.place, "empty")
    author = _find_author(mail)
    recipients = _read_recipients(mail)
    own_id = read_own_id(mail.header("message-id"))
    labels = tuple(dict.fromkeys((*_read_labels(mail), *origin.folders)))
    occurred, offset = _find_time(mail, origin)
    return SourceUnit(
        kind="email",
        text=body.text,
        place=origin.place,
        native_id=f"{_PREFIX}{own_id}" if own_id else "",
        title=title,
        author=author,
        recipients=recipients,
        occurred=occurred,
        offset=offset,
        parents=_find_parents(mail, own_id, {author.address, *(person.address for person in recipients)}),
        labels=labels,
        attachments=body.attachments,
        signals=frozenset({*origin.signals, *_find_signals(mail, author, labels, origin.me)}),
        is_whole=origin.is_whole and not any(part.is_cut for part in mail.walk()),
    )


def find_folder_signals(names: Iterable[str]) -> frozenset[Signal]:
    """Return what the names of labels and folders say of their messages: sent, trash or spam."""
    parts = (part.strip().casefold() for name in names for part in name.split("/"))
    return frozenset(_SIGNAL_OF_FOLDER[part] for part in parts if part in _SIGNAL_OF_FOLDER)


def find_source_signals(given: str) -> frozenset[Signal]:
    """Return what the name of the folder or file that the user named says of all messages in it."""
    *_, folder, name = ["", *re.split(r"[\\/]", given.rstrip("\\/"))]
    name = folder if name in ("cur", "new") else name
    return find_folder_signals([name.removeprefix(".").replace(".", "/")])


def _find_author(mail: MailPart) -> Person:
    for name in ("from", "sender", "reply-to"):
        people = read_people(mail.header(name), is_one=True)
        if people:
            return people[0]
    return Person()


def _read_recipients(mail: MailPart) -> tuple[Person, ...]:
    found: dict[str, Person] = {}
    for name in ("to", "cc", "bcc"):
        for value in mail.headers.get(name, ()):
            for person in read_people(value):
                found.setdefault(person.address or person.name.casefold(), person)
    return tuple(found.values())


def _find_parents(mail: MailPart, own_id: str, addresses: set[str]) -> tuple[str, ...]:
    """Return the native ids of the messages that a mail answers, oldest first."""
    references = read_ids(mail.header("references"), is_bare_allowed=True)
    found = dict.fromkeys((*references, *read_ids(mail.header("in-reply-to"))))
    # Old programs wrote "Your message of Monday from Ann <ann@x>" there.
    ids = [ident for ident in found if ident != own_id and ident[1:-1].lower() not in addresses]
    kept = ids if len(ids) <= _MAX_PARENTS else [ids[0], *ids[1 - _MAX_PARENTS :]]
    return tuple(f"{_PREFIX}{ident}" for ident in kept)


def _find_time(mail: MailPart, origin: MailOrigin) -> tuple[str, int | None]:
    """Return when a mail was written, and the offset of the sender's clock.

    A date that cannot be is replaced by the one at which the mail was received, or put into its mailbox or file. None
    of them may be in the future: a mail of 2099 would be the latest of all for 70 years.
    """
    now = datetime.now(UTC)
    file_time = _read_file_time(origin.file_time(), now)
    received = _first_date((value.rpartition(";")[2] for value in mail.headers.get("received", ())), now)
    latest = min(file_time or now, received.moment if received else now)
    written = _first_date([decode_header(mail.header("date"))], latest)
    if written:
        return written.timestamp, written.offset
    # What a server wrote is believed though the file seems to be older: copying a file may change its time.
    other = received or _first_date([origin.envelope], now)
    moment = other.moment if other else file_time
    return format_time(moment) if moment else "", None


def _read_file_time(timestamp: str, now: datetime) -> datetime | None:
    """Return the time of a file, if it can be that of one with mail."""
    moment = datetime.fromisoformat(timestamp) if timestamp else None
    return moment if moment and is_possible(moment, now) else None


def _first_date(texts: Iterable[str], latest: datetime) -> MailDate | None:
    dates = map(read_mail_date, texts)
    return next((date for date in dates if date and is_possible(date.moment, latest)), None)


def _read_labels(mail: MailPart) -> list[str]:
    text = decode_header(mail.header("x-gmail-labels"))
    return [label for quoted, bare in _LABEL.findall(text) if (label := (quoted or bare).strip())]


def _find_signals(mail: MailPart, author: Person, labels: Sequence[str], me: frozenset[str]) -> frozenset[Signal]:
    found = set(find_folder_signals(labels))
    if _is_deleted(mail):
        found.add("trash")
    if me & {author.address, author.name.lower()} - {""}:
        found.add("sent")
    precedence = mail.header("precedence").strip().lower()
    if precedence in _BULK_PRECEDENCE or any(name in mail.headers for name in _BULK_HEADERS):
        found.add("bulk")
    if _is_from_robot(mail, author, precedence):
        found.add("bot")
    return frozenset(found)


def _is_deleted(mail: MailPart) -> bool:
    """Return whether a mailbox keeps a mail only until it is compacted."""
    mozilla = mail.header("x-mozilla-status")
    is_expunged = bool(re.fullmatch(r"[0-9A-Fa-f]{4}", mozilla)) and int(mozilla, 16) & 8 != 0
    return is_expunged or "D" in mail.header("x-status")


def _is_from_robot(mail: MailPart, author: Person, precedence: str) -> bool:
    automatic = mail.header("auto-submitted").lower().partition(";")[0].strip()
    return (
        (automatic not in ("", "no"))
        or precedence == "auto_reply"
        or "x-auto-response-suppress" in mail.headers
        or mail.type == "multipart/report"
        or mail.header("return-path") == "<>"  # as RFC 3834 wants it: nothing may answer
        or _ROBOT.search(author.address.rpartition("@")[0]) is not None
    )
