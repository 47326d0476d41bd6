"""Cleaning of mails: what mail programs add is cut, what the author wrote stays."""

from textwrap import dedent
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.clean import CleanText, clean_text
from commonplace.tree.earlier_lines import EarlierLines
from commonplace.tree.source import SourceKind

PARENT = dedent(
    """\
    Hi Ann,

    can we move the review of the budget to Thursday afternoon? Marta is away
    on Wednesday, and the numbers from Lyon will not be there before noon.

    Which room do you want, the large one upstairs or the small one?

    Bob"""
)


class Mail(NamedTuple):
    """A mail, and what of it its author wrote."""

    name: str
    title: str
    text: str
    own: str
    earlier: tuple[str, ...] | None = None


def mail(name: str, title: str, text: str, own: str, *earlier: str, is_first: bool = False) -> Mail:
    """Return an example. An answer without earlier messages answers one that is not there."""
    return Mail(name, title, dedent(text).strip("\n"), dedent(own).strip("\n"), None if is_first else earlier)


def clean(example: Mail) -> CleanText:
    """Return an example, cleaned."""
    earlier = None if example.earlier is None else EarlierLines(example.earlier)
    return clean_text(example.text, kind="email", title=example.title, earlier=earlier)


ATTRIBUTIONS = [
    "On Thu, Nov 12, 2026 at 9:30 AM Bob Ray <bob@example.org> wrote:",
    "On Thu, Nov 12, 2026 at 9:30\u202fAM Bob Ray <bob@example.org> wrote:",
    "On Thu, Nov 12, 2026 at 9:30 AM Bob Ray of the Very Long Company <\nbob.ray@example.org> wrote:",
    "On Thu, Nov 12,\n2026 at 9:30 AM, Bob Ray\n<bob@example.org> wrote:",
    "On 12/11/2026 09:30, Bob Ray wrote:",
    "On Thu, Nov 12, 2026 at 09:30:00AM +0100, Bob Ray wrote:",
    "> On Nov 12, 2026, at 9:30 AM, Bob Ray <bob@example.org> wrote:\n>",
    "On Thursday, November 12th, 2026 at 09:30, Bob Ray <bob@example.org> wrote:",
    "------- Original Message -------\nOn Thursday, November 12th, 2026 at 9:30, Bob Ray <bob@example.org> wrote:",
    "Bob Ray <bob@example.org> writes:",
    "Bob Ray wrote:",
    "At 2026-11-12 09:30:00, \"Bob Ray\" <bob@example.org> wrote:",
    "Am 12.11.26 um 09:30 schrieb Bob Ray:",
    "Am Do., 12. Nov. 2026 um 09:30 Uhr schrieb Bob Ray <\nbob@example.org>:",
    "Bob Ray <bob@example.org> schrieb am Do., 12. Nov. 2026,\n09:30:",
    "Le jeu. 12 nov. 2026 à 09:30, Bob Ray <bob@example.org> a écrit :",
    "Le 12/11/2026 à 09:30, Bob Ray a écrit :",
    "El jue, 12 nov 2026 a las 9:30, Bob Ray (<bob@example.org>) escribió:",
    "Il giorno gio 12 nov 2026 alle ore 09:30 Bob Ray <bob@example.org>\nha scritto:",
    "Em qui., 12 de nov. de 2026 às 09:30, Bob Ray <bob@example.org> escreveu:",
    "Bob Ray <bob@example.org> escreveu no dia quinta, 12/11/2026 à(s) 09:30:",
    "Op do 12 nov 2026 om 09:30 schreef Bob Ray <bob@example.org>:",
    "Op 12 nov. 2026, om 09:30 heeft Bob Ray <bob@example.org> het volgende geschreven:",
    "Den tors 12 nov. 2026 kl 09:30 skrev Bob Ray <bob@example.org>:",
    "Den tor. 12. nov. 2026 kl. 09.30 skrev Bob Ray <bob@example.org>:",
    "tor. 12. nov. 2026 kl. 09:30 skrev Bob Ray <bob@example.org>:",
    "czw., 12 lis 2026 o 09:30 Bob Ray <bob@example.org> napisał(a):",
    "W dniu 12.11.2026 o 09:30, Bob Ray pisze:",
    "чт, 12 нояб. 2026 г. в 09:30, Bob Ray <bob@example.org>:",
    "12.11.2026 09:30, Боб Рэй пишет:",
    "Bob Ray <bob@example.org> 于2026年11月12日周四 09:30写道：",
    "在 2026-11-12 09:30:00，\"Bob Ray\" <bob@example.org> 写道：",
    "2026年11月12日(木) 9:30 Bob Ray <bob@example.org>:",
    "2026/11/12 9:30、Bob Ray <bob@example.org>のメール:",
    "---- On Thu, 12 Nov 2026 09:30:00 +0000 Bob Ray <bob@example.org> wrote ----",
    "---- Le jeu., 12 nov. 2026 09:30:00 +0100 Bob Ray <bob@example.org> a écrit ---",
]  # fmt: skip
SHORT_ATTRIBUTIONS = [
    "Bob a écrit :",
    "Bob Ray ha scritto:",
    "Bob van den Berg schreef:",
    "bob wrote:",
    "Bob Ray wrote on Thursday:",
    "Bob escribió el jueves:",
    "Bob Ray via beekeepers wrote:",
]


@pytest.mark.parametrize("line", ATTRIBUTIONS)
def test_an_attribution_and_the_marked_lines_below_it_are_cut(line: str) -> None:
    """The attributions of mail programs in twelve languages go with the quote below them, wrapped or not."""
    quote = "\n".join(f"> {part}".rstrip() for part in PARENT.split("\n"))
    top = clean_text(f"Thursday is fine.\n\n{line}\n{quote}\n", kind="email", title="Budget", earlier=None)
    assert top.text == "Thursday is fine."
    below = clean_text(f"{line}\n\n{quote}\n\nThursday is fine.", kind="email", title="Re: Budget", earlier=None)
    assert below.text == "Thursday is fine."
    assert below.quoted == len(f"{line}\n{quote}".split("\n"))


@pytest.mark.parametrize("line", [line for line in ATTRIBUTIONS if ">" not in line[:1] and line != "Bob Ray wrote:"])
def test_below_an_attribution_a_quote_needs_no_marks(line: str) -> None:
    """Web mails lose the marks: below a whole attribution everything is quoted, though not what a mail begins with."""
    found = clean_text(f"Thursday is fine.\n\n{line}\n\n{PARENT}\n", kind="email", title="Re: Budget", earlier=None)
    assert found.text == "Thursday is fine."


@pytest.mark.parametrize("line", SHORT_ATTRIBUTIONS)
def test_a_short_attribution_without_a_day_is_cut_where_a_quote_follows(line: str) -> None:
    """Who wrote is enough for an attribution right above a quote; elsewhere the same words are the author's."""
    text = f"Thursday is fine.\n\n{line}\n> Which day?\n\nThe large room."
    found = clean_text(text, kind="email", title="Re: Budget", earlier=None)
    assert found.text == "Thursday is fine.\n\nThe large room."
    own = f"Thursday is fine.\n\n{line}\nNo, never."
    assert clean_text(own, kind="email", title="Re: Budget", earlier=None).text == own


def test_a_quote_may_stand_behind_its_attribution() -> None:
    """A mail program that puts the quote on the line of its attribution has both cut, and what follows too."""
    line = "On Thu, 12 Nov 2026 at 9:30, Bob Ray<bob@example.org> wrote:   Which day do you want?"
    text = f"Thursday is fine.\n\n  {line}\n\nAnd which room?"
    assert clean_text(text, kind="email", title="Re: Budget", earlier=None).text == "Thursday is fine."


@pytest.mark.parametrize(
    "line",
    ["##- Please type your reply above this line -##", "=-=-= Antworten Sie bitte oberhalb dieser Zeile =-=-="],
)
def test_what_a_help_desk_repeats_below_its_line_is_cut(line: str) -> None:
    """An answer to a help desk ends where the line says; the help desk's own mail, which begins with it, stays."""
    own = f"{line}\n\nYour request was updated.\n\nWe have sent you a new jacket."
    found = clean_text(f"No, my money.\n\n{own}", kind="email", title="Re: Ticket", earlier=None)
    assert found.text == "No, my money."
    assert "a new jacket" in clean_text(own, kind="email", title="Re: Ticket", earlier=None).text


HEADERS = [
    "From: Bob Ray\nSent: Thursday, November 12, 2026 9:30 AM\nTo: Ann Lee\nSubject: Budget",
    "From: Bob Ray <bob@example.org>\nSent: Thursday, November 12, 2026 9:30 AM\nTo: Ann Lee <ann@example.org>; Marta\n"
    "<marta@example.org>\nCc: Kim\nSubject: Budget\nImportance: High",
    "*From:* Bob Ray <bob@example.org>\n*Date:* Thursday, 12 November 2026\n*To:* Ann\n*Subject:* Budget",
    "________________________________\nFrom: Bob Ray\nSent: Thursday, 9:30\nTo: Ann\nSubject: Budget",
    "________________________________\nFrom: Bob Ray\nSent: Thursday, 9:30\nSubject: Budget",
    "-----Original Message-----\nFrom: Bob Ray\nSent: Thursday, 9:30\nTo: Ann\nSubject: Budget",
    "-------- Original message --------\nFrom: Bob Ray <bob@example.org>\nDate: 12/11/2026 09:30 (GMT+01:00)\n"
    "To: Ann Lee <ann@example.org>\nSubject: Budget",
    "Von: Bob Ray\nGesendet: Donnerstag, 12. November 2026 09:30\nAn: Ann Lee\nBetreff: Budget",
    "-----Ursprüngliche Nachricht-----\nVon: Bob Ray\nGesendet: Donnerstag, 09:30\nAn: Ann\nBetreff: Budget",
    "De : Bob Ray\nEnvoyé : jeudi 12 novembre 2026 09:30\nÀ : Ann Lee\nObjet : Budget",
    "De: Bob Ray\nEnviado el: jueves, 12 de noviembre de 2026 9:30\nPara: Ann Lee\nAsunto: Budget",
    "Da: Bob Ray\nInviato: giovedì 12 novembre 2026 09:30\nA: Ann Lee\nOggetto: Budget",
    "De: Bob Ray\nEnviada em: quinta-feira, 12 de novembro de 2026 09:30\nPara: Ann Lee\nAssunto: Budget",
    "Van: Bob Ray\nVerzonden: donderdag 12 november 2026 09:30\nAan: Ann Lee\nOnderwerp: Budget",
    "Från: Bob Ray\nSkickat: den 12 november 2026 09:30\nTill: Ann Lee\nÄmne: Budget",
    "Fra: Bob Ray\nSendt: 12. november 2026 09:30\nTil: Ann Lee\nEmne: Budget",
    "Od: Bob Ray\nWysłano: czwartek, 12 listopada 2026 09:30\nDo: Ann Lee\nTemat: Budget",
    "От: Боб Рэй\nОтправлено: 12 ноября 2026 г. 9:30\nКому: Ann Lee\nТема: Budget",
    "发件人: Bob Ray\n发送时间: 2026年11月12日 9:30\n收件人: Ann Lee\n主题: Budget",
    "--------- 原始邮件 ---------\n发件人： Bob\n发送时间： 2026年11月12日\n收件人： Ann\n主题： Budget",
    "From: Bob Ray\nOdesláno: čtvrtek 12. listopadu 2026 9:30\nKomu: Ann Lee\nPředmět: Budget",
    "---------- Původní e-mail ----------\nOd: Bob Ray\nKomu: Ann Lee\nDatum: 12. 11. 2026\nPředmět: Budget",
    "Kimden: Bob Ray\nGönderildi: 12 Kasım 2026 09:30\nKime: Ann Lee\nKonu: Budget",
    "Lähettäjä: Bob Ray\nLähetetty: torstai 12. marraskuuta 2026\nVastaanottaja: Ann Lee\nAihe: Budget",
    "Feladó: Bob Ray\nElküldve: 2026. november 12.\nCímzett: Ann Lee\nTárgy: Budget",
    "De la: Bob Ray\nTrimis: joi, 12 noiembrie 2026\nCătre: Ann Lee\nSubiect: Budget",
    "Από: Bob Ray\nΣτάλθηκε: Πέμπτη, 12 Νοεμβρίου 2026\nΠρος: Ann Lee\nΘέμα: Budget",
    "보낸 사람: Bob Ray\n보낸 날짜: 2026년 11월 12일\n받는 사람: Ann Lee\n제목: Budget",
    "差出人: Bob Ray\n送信日時: 2026年11月12日 9:30\n宛先: Ann Lee\n件名: Budget",
]


@pytest.mark.parametrize("block", HEADERS)
def test_below_the_headers_of_an_answered_message_everything_is_quoted(block: str) -> None:
    """The headers that Outlook and its kin write are cut from an answer with what is below; in a forward both stay."""
    text = f"Thursday is fine.\n\n{block}\n\n{PARENT}"
    assert clean_text(text, kind="email", title="AW: Budget", earlier=None).text == "Thursday is fine."
    for title in ("FW: Budget", "WG: Budget", "TR: Re: Budget", "转发: Budget"):
        assert clean_text(text, kind="email", title=title, earlier=EarlierLines()).text == text


def test_headers_in_a_first_message_stay() -> None:
    """Who pastes headers into a first message, or forwards by hand, wants them read."""
    text = f"See what Bob says:\n\n{HEADERS[0]}\n\n{PARENT}"
    assert clean_text(text, kind="email", title="Budget", earlier=None).text == text


FORWARDS = [
    "---------- Forwarded message ---------\nFrom: Bob Ray <bob@example.org>\nDate: Thu, Nov 12, 2026\nSubject: Budget",
    "-------- Forwarded Message --------\nSubject: \tBudget\nDate: \tThu, 12 Nov 2026\nFrom: \tBob Ray",
    "Begin forwarded message:\n\nFrom: Bob Ray <bob@example.org>\nSubject: Budget\nDate: 12 November 2026\nTo: Ann",
    "-------- Weitergeleitete Nachricht --------\nBetreff: Budget\nVon: Bob Ray",
    "---------- Message transféré ---------\nDe : Bob Ray\nObjet : Budget",
    "---------- Mensaje reenviado ---------\nDe: Bob Ray\nAsunto: Budget",
    "---------- 転送メッセージ ----------\n差出人: Bob Ray",
]


@pytest.mark.parametrize("mark", FORWARDS)
def test_a_forwarded_message_stays(mark: str) -> None:
    """What is forwarded is content, with the quotes and the signature in it; the signature above it is not."""
    forwarded = (
        f"{mark}\n\n{PARENT}\n\nOn Wed, 11 Nov 2026 at 10:00, Ann <ann@example.org> wrote:\n> Hi\n\n-- \nBob Ray"
    )
    for title in ("Fwd: Budget", "Budget", "Re: Budget"):
        found = clean_text(f"Please read.\n\n-- \nAnn Lee\n\n{forwarded}", kind="email", title=title, earlier=None)
        assert found.text == f"Please read.\n\n{forwarded}"
        assert (found.quoted, found.signature) == (0, 2)


def test_below_a_forward_that_ends_the_signature_is_cut() -> None:
    """mutt says where a forwarded message ends: what is below is the author's again."""
    forwarded = (
        f"----- Forwarded message from Bob <bob@example.org> -----\n\n{PARENT}\n\n----- End forwarded message -----"
    )
    found = clean_text(f"See below.\n\n{forwarded}\n\n-- \nAnn", kind="email", title="Fwd: Budget", earlier=None)
    assert found == CleanText(f"See below.\n\n{forwarded}", signature=2)


EXAMPLES = [
    mail(
        "answers between marked lines",
        "Re: Budget",
        """
        Hi Bob,

        On 12/11/2026 09:30, Bob Ray wrote:
        > can we move the review of the budget to Thursday afternoon?

        Yes, of course.

        > Which room do you want?
        The large one.
        > Bob

        Ann
        """,
        """
        Hi Bob,

        Yes, of course.

        The large one.

        Ann
        """,
    ),
    mail(
        "answers in a quote without marks, known by evidence",
        "RE: Budget",
        """
        My answers are below.

        From: Bob Ray
        Sent: Thursday, November 12, 2026 9:30 AM
        To: Ann Lee
        Subject: Budget

        Hi Ann,

        can we move the review of the budget to Thursday afternoon? Marta is away on Wednesday, and
        the numbers from Lyon will not be there before noon.

        Thursday at three is fine with me.

        Which room do you want, the large one upstairs or the small one?

        The small one.

        Bob

        Bob Ray
        Head of Finance
        +49 30 1234567
        """,
        """
        My answers are below.

        Thursday at three is fine with me.

        The small one.
        """,
        PARENT,
    ),
    mail(
        "an answer below a quote without marks",
        "Re: Budget",
        f"""
        On Thu, Nov 12, 2026 at 9:30 AM Bob Ray <bob@example.org> wrote:

        {PARENT.replace(chr(10), chr(10) + " " * 8)}

        Thursday is fine, and I take the small room.

        Ann
        """,
        """
        Thursday is fine, and I take the small room.

        Ann
        """,
        PARENT,
    ),
    mail(
        "a quote that only evidence shows, with an attribution in a language of no table",
        "Budget",
        """
        Thursday is fine.

        Bob Ray (2026-11-12, 09:30) rašė:

        can we move the review of the budget to Thursday afternoon? Marta is away
        on Wednesday, and the numbers from Lyon will not be there before noon.
        """,
        "Thursday is fine.",
        PARENT,
    ),
    mail(
        "a quote with marks of another kind",
        "Budget",
        """
        | can we move the review of the budget to Thursday afternoon? Marta is away
        | on Wednesday, and the numbers from Lyon will not be there before noon.

        Thursday is fine.
        """,
        "Thursday is fine.",
        PARENT,
    ),
    mail(
        "a greeting that an earlier message has, too",
        "Re: Budget",
        """
        Hi Ann,

        I forgot: the projector is broken.

        Bob
        """,
        """
        Hi Ann,

        I forgot: the projector is broken.

        Bob
        """,
        PARENT,
    ),
    mail(
        "nested quotes with attributions inside",
        "Re: Budget",
        """
        +1

        Ann Lee <ann@example.org> wrote:
        > On Thu, 12 Nov 2026 at 09:30, Bob Ray wrote:
        >> can we move it?
        > Yes.
        """,
        "+1",
    ),
    mail(
        "a quoted line that was wrapped again",
        "Re: Budget",
        """
        Bob Ray <bob@example.org> wrote:
        > can we move the review of the budget to Thursday afternoon, because Marta
        is away
        > on Wednesday?

        Yes.
        """,
        "Yes.",
    ),
    mail(
        "a Markdown quote in a first message",
        "What the manual says",
        """
        The manual says:

        > Never open the case while the fan runs.

        I did not know that.
        """,
        """
        The manual says:

        > Never open the case while the fan runs.

        I did not know that.
        """,
        is_first=True,
    ),
    mail(
        "a session of Python in an answer",
        "Re: rounding",
        """
        It rounds to even:

        >>> round(0.5)
        0
        >>> round(1.5)
        2

        On Thu, 12 Nov 2026 at 09:30, Bob Ray <bob@example.org> wrote:
        > why is this 0?
        """,
        """
        It rounds to even:

        >>> round(0.5)
        0
        >>> round(1.5)
        2
        """,
    ),
    mail(
        "a loop in a shell in an answer",
        "Re: renaming",
        """
        $ for file in *.txt
        > do mv "$file" "old-$file"
        > done

        That is all.
        """,
        """
        $ for file in *.txt
        > do mv "$file" "old-$file"
        > done

        That is all.
        """,
    ),
    mail(
        "a plain diff in an answer",
        "Re: config",
        """
        This is what changed:

        3c3
        < port = 80
        ---
        > port = 8080
        """,
        """
        This is what changed:

        3c3
        < port = 80
        ---
        > port = 8080
        """,
    ),
    mail(
        "a new version of a patch",
        "[PATCH v2] Count from one",
        """
        The counter starts at one now, as in every other module that we have.

        diff --git a/count.py b/count.py
        @@ -1,2 +1,2 @@
         def count_all_entries(entries: list[str], first: int = 0) -> int:
        -    return len(entries) + first - 1
        +    return len(entries) + first
        """,
        """
        The counter starts at one now, as in every other module that we have.

        diff --git a/count.py b/count.py
        @@ -1,2 +1,2 @@
         def count_all_entries(entries: list[str], first: int = 0) -> int:
        -    return len(entries) + first - 1
        +    return len(entries) + first
        """,
        "diff --git a/count.py b/count.py\n@@ -1,2 +1,2 @@\n"
        " def count_all_entries(entries: list[str], first: int = 0) -> int:\n"
        "-    return len(entries) + first - 1\n+    return len(entries)",
    ),
    mail(
        "a table, and a line of an mbox",
        "Re: Budget",
        """
        | room  | seats |
        |-------|-------|
        | large | 20    |

        >From here on it is easy.
        """,
        """
        | room  | seats |
        |-------|-------|
        | large | 20    |

        >From here on it is easy.
        """,
    ),
    mail(
        "an answer of two words above its quote",
        "Re: Budget",
        """
        see below

        Von: Bob Ray
        Gesendet: Donnerstag, 09:30
        An: Ann
        Betreff: Budget

        Wann?
        """,
        "see below",
    ),
    mail(
        "the author's own colon",
        "Re: Budget",
        """
        These are the dates for 2026, with what Bob wrote:

        12.11.2026 09:30 review
        19.11.2026 09:30 decision
        """,
        """
        These are the dates for 2026, with what Bob wrote:

        12.11.2026 09:30 review
        19.11.2026 09:30 decision
        """,
    ),
    mail(
        "an iPhone",
        "Re: Budget",
        """
        Thursday is fine

        Sent from my iPhone

        > On Nov 12, 2026, at 9:30 AM, Bob Ray <bob@example.org> wrote:
        >
        > can we move the review?
        """,
        "Thursday is fine",
    ),
    mail(
        "Outlook on a phone",
        "Re: Budget",
        """
        Thursday is fine

        Get Outlook for iOS<https://aka.ms/o0ukef>
        ________________________________
        From: Bob Ray <bob@example.org>
        Sent: Thursday, November 12, 2026 9:30:12 AM
        To: Ann Lee <ann@example.org>
        Subject: Budget

        can we move the review?
        """,
        "Thursday is fine",
    ),
    mail(
        "the standard signature",
        "Budget",
        """
        Thursday is fine.

        Ann
        --\x20
        Ann Lee
        Example Ltd., 1 High Street. We have moved to a new building this year.
        """,
        """
        Thursday is fine.

        Ann
        """,
        is_first=True,
    ),
    mail(
        "thanks and a name",
        "Budget",
        """
        Please book the room.

        Thanks,
        Ann
        """,
        """
        Please book the room.

        Thanks,
        Ann
        """,
        is_first=True,
    ),
    mail(
        "a closing, a name, and the block of a company",
        "Budget",
        """
        Please book the room.

        Kind regards,
        Ann Lee

        Head of Sales
        Example Ltd.
        Phone: +49 30 1234567
        www.example.org
        """,
        """
        Please book the room.

        Kind regards,
        Ann Lee
        """,
        is_first=True,
    ),
    mail(
        "a German closing and block",
        "Budget",
        """
        Bitte den Raum buchen.

        Mit freundlichen Grüßen

        Anna Lehmann
        Vertrieb
        Beispiel GmbH | Hauptstr. 5 | 10115 Berlin
        Tel.: +49 30 1234567
        Registergericht Berlin, HRB 12345
        """,
        """
        Bitte den Raum buchen.

        Mit freundlichen Grüßen

        Anna Lehmann
        """,
        is_first=True,
    ),
    mail(
        "who signs for somebody else keeps the name",
        "Angebot",
        """
        Wir nehmen das Angebot an.

        Mit freundlichen Grüßen
        i. A. Katrin Engel

        Einkauf
        Maschinenbau Riedl GmbH
        Tel.: +49 941 5550122
        """,
        """
        Wir nehmen das Angebot an.

        Mit freundlichen Grüßen
        i. A. Katrin Engel
        """,
        is_first=True,
    ),
    mail(
        "a block without a closing",
        "Budget",
        """
        Please book the room.

        Ann Lee
        Example Ltd.
        +49 30 1234567
        ann@example.org
        """,
        "Please book the room.",
        is_first=True,
    ),
    mail(
        "how to reach somebody else",
        "The plumber",
        """
        You can reach the plumber here:

        Karl Maier
        +49 30 1234567
        karl@example.org
        """,
        """
        You can reach the plumber here:

        Karl Maier
        +49 30 1234567
        karl@example.org
        """,
        is_first=True,
    ),
    mail(
        "a link below the name",
        "Budget",
        """
        The call is at three.

        Best,
        Ann

        https://meet.example.org/abc
        """,
        """
        The call is at three.

        Best,
        Ann

        https://meet.example.org/abc
        """,
        is_first=True,
    ),
    mail(
        "a postscript",
        "Budget",
        """
        Please book the room.

        Thanks,
        Ann

        PS: Marta has the key. You can call her on +49 30 1234567.
        """,
        """
        Please book the room.

        Thanks,
        Ann

        PS: Marta has the key. You can call her on +49 30 1234567.
        """,
        is_first=True,
    ),
    mail(
        "a list of Mailman",
        "Re: [users] Budget",
        """
        On 12/11/2026 09:30, Bob Ray wrote:
        > can we move the review?

        Yes.

        Ann
        _______________________________________________
        users mailing list
        users@example.org
        https://lists.example.org/listinfo/users
        """,
        """
        Yes.

        Ann
        """,
    ),
    mail(
        "a group of Google",
        "Budget",
        """
        Please book the room.

        --\x20
        Ann

        --\x20
        You received this message because you are subscribed to the Google Groups "users" group.
        To unsubscribe from this group and stop receiving emails from it, send an email to users+unsubscribe@x.org.
        To view this discussion visit https://groups.example.org/d/msgid/users/1.
        """,
        "Please book the room.",
        is_first=True,
    ),
    mail(
        "a notice of a forge",
        "Re: [acme/app] Crash at start (Issue #12)",
        """
        I can see it, too.

        —
        Reply to this email directly, view it on GitHub, or unsubscribe.
        You are receiving this because you were mentioned. Message ID: <acme/app/issues/12@example.org>
        """,
        "I can see it, too.",
    ),
    mail(
        "a legal notice",
        "Budget",
        """
        Please book the room.

        Ann

        CONFIDENTIALITY NOTICE

        This e-mail and any attachments are confidential and intended only for the addressee. If you have received it in
        error, please notify the sender and delete it. Unauthorised copying or disclosure is not permitted.

        This email has been checked for viruses by Avast antivirus software.
        www.avast.com
        """,
        """
        Please book the room.

        Ann
        """,
        is_first=True,
    ),
    mail(
        "a German legal notice right below the name",
        "Budget",
        """
        Bitte den Raum buchen.

        Anna
        Diese E-Mail enthält vertrauliche Informationen. Wenn Sie nicht der richtige Adressat sind oder diese E-Mail
        irrtümlich erhalten haben, informieren Sie bitte den Absender und vernichten Sie diese Mail.

        Bitte denken Sie an die Umwelt, bevor Sie diese E-Mail drucken.
        """,
        """
        Bitte den Raum buchen.

        Anna
        """,
        is_first=True,
    ),
    mail(
        "a legal notice in Russian",
        "Бюджет",
        """
        Забронируйте комнату.

        Данное сообщение и вложения являются конфиденциальными и предназначены только для адресата. Если вы получили его
        по ошибке, сообщите отправителю и удалите его.
        """,
        "Забронируйте комнату.",
        is_first=True,
    ),
    mail(
        "confidential, and the author's own",
        "Offer",
        """
        The offer is confidential. Please send it to nobody, and delete it when you are done.
        """,
        """
        The offer is confidential. Please send it to nobody, and delete it when you are done.
        """,
        is_first=True,
    ),
    mail(
        "a virus that is the subject",
        "Flu",
        """
        The virus was found in two of the samples.

        We check the rest tomorrow.
        """,
        """
        The virus was found in two of the samples.

        We check the rest tomorrow.
        """,
        is_first=True,
    ),
    mail(
        "a question about lists",
        "Re: lists",
        """
        How do I unsubscribe from the list?
        """,
        "How do I unsubscribe from the list?",
    ),
    mail(
        "dashes between two parts",
        "Budget",
        """
        The first part.

        --

        The second part, which is about something else and goes on for a while, so that it cannot be a signature at all.
        """,
        """
        The first part.

        --

        The second part, which is about something else and goes on for a while, so that it cannot be a signature at all.
        """,
        is_first=True,
    ),
    mail(
        "a quote of something else between quotes that an earlier message has",
        "Re: Budget",
        """
        On 12/11/2026 09:30, Bob Ray wrote:
        > can we move the review of the budget to Thursday afternoon? Marta is away
        > on Wednesday, and the numbers from Lyon will not be there before noon.

        Yes. The rules of the house say:

        > The large room may be booked by every team for one hour a day.

        Ann
        """,
        """
        Yes. The rules of the house say:

        > The large room may be booked by every team for one hour a day.

        Ann
        """,
        PARENT,
    ),
    mail(
        "a part of an earlier message, and an answer below it",
        "Re: Budget",
        """
        Thanks, Bob.

        In your mail of 12 November 2026 at 09:30 you wrote:

        can we move the review of the budget to Thursday afternoon? Marta is away
        on Wednesday, and the numbers from Lyon will not be there before noon.

        We cannot. Ask Kim.
        """,
        """
        Thanks, Bob.

        We cannot. Ask Kim.
        """,
        PARENT,
    ),
    mail(
        "who wrote when, said in a first message",
        "Budget",
        """
        Please read this.

        Bob wrote on 12.11.2026 at 09:30:

        we need the large room

        Ann Lee wrote on 13.11.2026 at 10:30:

        we do not
        """,
        """
        Please read this.

        Bob wrote on 12.11.2026 at 09:30:

        we need the large room

        Ann Lee wrote on 13.11.2026 at 10:30:

        we do not
        """,
        is_first=True,
    ),
    mail(
        "a sentence about who wrote when, in an answer",
        "Re: Budget",
        """
        Hi Bob,

        Please read this before Friday. Bob wrote on 12.11.2026 at 09:30:

        we need the large room
        """,
        """
        Hi Bob,

        Please read this before Friday. Bob wrote on 12.11.2026 at 09:30:

        we need the large room
        """,
    ),
    mail(
        "code between fences",
        "Re: build",
        """
        Run this:

        ```
        > npm test
        ```

        Bob Ray wrote:
        > how?
        """,
        """
        Run this:

        ```
        > npm test
        ```
        """,
    ),
    mail(
        "a block between lines of dashes",
        "Re: 予算",
        """
        木曜日で大丈夫です。

        よろしくお願いします。

        --------------------
        山田 太郎
        株式会社サンプル
        TEL: 03-1234-5678
        yamada@example.org
        --------------------
        """,
        """
        木曜日で大丈夫です。

        よろしくお願いします。
        """,
    ),
    mail(
        "a block below a line of underscores",
        "Re: Budget",
        """
        Thursday is fine, see the plan.
        _________________
        Ann Lee
        ann@example.org
        """,
        "Thursday is fine, see the plan.",
    ),
    mail(
        "a telephone number below the name",
        "Re: Budget",
        """
        Det går bra.

        Med vänlig hälsning
        Anna Svensson
        070-123 45 67
        """,
        """
        Det går bra.

        Med vänlig hälsning
        Anna Svensson
        """,
    ),
    mail(
        "a merge conflict",
        "Re: merge",
        """
        <<<<<<< main
        port = 80
        =======
        port = 8080
        >>>>>>> topic
        """,
        """
        <<<<<<< main
        port = 80
        =======
        port = 8080
        >>>>>>> topic
        """,
    ),
    mail(
        "a long signature below the standard mark",
        "Budget",
        """
        Thursday is fine.
        --\x20
        Ann Lee
        Example Ltd.
        1 High Street
        12345 Town
        Room 5
        Monday
        Tuesday
        Wednesday
        Thursday
        """,
        "Thursday is fine.",
        is_first=True,
    ),
    mail(
        "a signature below dashes whose white space is lost",
        "Budget",
        """
        Thursday is fine.
        --
        Ann Lee
        """,
        "Thursday is fine.",
        is_first=True,
    ),
    mail(
        "a block below a line of dashes",
        "Budget",
        """
        Thursday is fine.

        ---
        Ann Lee
        ann@example.org
        """,
        "Thursday is fine.",
        is_first=True,
    ),
    mail(
        "a block with a line of underscores in it",
        "Budget",
        """
        Thursday is fine.

        Best regards
        Ann Lee
        Head of Sales
        ______________________
        Example Ltd.
        T +41 44 123 45 67 | ann@example.org
        """,
        """
        Thursday is fine.

        Best regards
        Ann Lee
        """,
        is_first=True,
    ),
    mail(
        "how to leave a list, below a line of dashes",
        "Budget",
        """
        Thursday is fine.

        ----------------------------------------
        To unsubscribe, write to leave@example.org
        """,
        "Thursday is fine.",
        is_first=True,
    ),
    mail(
        "quoted headers with marks, in a mail with a subject of its own",
        "Budget",
        """
        Thursday is fine.

        > From: Bob Ray
        > Date: 12 November 2026
        > Subject: When?
        >
        > can we move it?
        """,
        "Thursday is fine.",
        is_first=True,
    ),
    mail(
        "marks in an answer with a subject of its own",
        "Budget",
        """
        > can we move it?

        Thursday is fine.
        """,
        "Thursday is fine.",
    ),
    mail(
        "a long paragraph on what is confidential",
        "Offer",
        """
        Hi Bob,

        the offer of the landlord is confidential until the end of the month, so please show it only to those who must
        know about it, and keep it out of the wiki and of the minutes of the meeting on Thursday.
        """,
        """
        Hi Bob,

        the offer of the landlord is confidential until the end of the month, so please show it only to those who must
        know about it, and keep it out of the wiki and of the minutes of the meeting on Thursday.
        """,
        is_first=True,
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_what_the_author_wrote_stays(example: Mail) -> None:
    """Of each kind of mail exactly the author's own words stay."""
    assert clean(example).text == example.own


@pytest.mark.parametrize(
    "line",
    [
        "Sent from my iPhone", "Sent from Yahoo Mail on Android", "Sent with Proton Mail secure email.",
        "Get Outlook for Android<https://aka.ms/AAb9ysg>", "Sent from my Samsung Galaxy smartphone.",
        "Von meinem iPhone gesendet", "Gesendet von Mail für Windows", "Gesendet mit der GMX Mail App",
        "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.", "Holen Sie sich Outlook für iOS",
        "Envoyé de mon iPhone", "Télécharger Outlook pour Android", "Enviado desde mi iPhone",
        "Obtener Outlook para iOS",
        "Inviato da iPhone", "Scarica Outlook per iOS", "Enviado do meu iPhone", "Obter o Outlook para iOS",
        "Verstuurd vanaf mijn iPhone", "Download Outlook voor iOS", "Skickat från min iPhone", "Sendt fra min iPhone",
        "Hent Outlook til iOS", "Wysłane z iPhone'a", "Отправлено с iPhone", "发自我的 iPhone", "從我的 iPhone 傳送",
        "iPhoneから送信", "Outlook for iOS を入手",
    ],
)  # fmt: skip
def test_the_lines_of_phones_are_cut(line: str) -> None:
    """What phones and programs put below each mail goes, in every language, and is counted as a signature."""
    for text in (f"Thursday is fine.\n\n{line}", f"Thursday is fine.\n{line}\n\n> On Thursday?"):
        found = clean_text(text, kind="email", title="Re: Budget", earlier=None)
        assert found.text == "Thursday is fine."
        assert found.signature == 1


def test_a_mail_that_only_quotes_is_kept_whole() -> None:
    """Where nothing would be left the text stays, tidied: a mail that only quotes, and one that is only a signature."""
    for text in ("> can we move it?\n> Bob", "-- \nAnn Lee", "On 12/11/2026 09:30, Bob Ray wrote:\n> hi"):
        found = clean_text(text + "\n\n\n\n\n", kind="email", title="Re: Budget", earlier=EarlierLines([PARENT]))
        assert found == CleanText(text)


@pytest.mark.parametrize("kind", ["chat", "document"])
def test_chats_and_documents_are_only_tidied(kind: SourceKind) -> None:
    """Nothing but white space goes from a chat or a document, whatever it looks like."""
    text = "  Hi  \n\n\n\n\n> quote\n\n-- \nAnn\n\n"
    assert clean_text(text, kind=kind, title="Re: x", earlier=None) == CleanText("  Hi\n\n\n> quote\n\n--\nAnn")


def test_what_is_cut_is_counted_by_reason() -> None:
    """Lines that are not empty are counted as quote, signature or footer."""
    text = (
        "Yes.\n\n-- \nAnn\n\nOn 12/11/2026 09:30, Bob Ray wrote:\n> Well?\n>\n"
        "____________________\nusers@example.org\nhttps://lists.example.org\n"
    )
    assert clean_text(text, kind="email", title="Re: x", earlier=None) == CleanText("Yes.", 3, 2, 3)


def test_evidence_grows_with_the_thread() -> None:
    """A message that is added after the first question counts, too."""
    line = "The numbers from Lyon will be there on Friday morning, I think."
    earlier = EarlierLines()
    assert clean_text(f"{line}\n\nGood.", kind="email", title="Re: x", earlier=earlier).text == f"{line}\n\nGood."
    earlier.add("Hi")
    assert clean_text(f"{line}\n\nGood.", kind="email", title="Re: x", earlier=earlier).text == f"{line}\n\nGood."
    earlier.add(line)
    assert clean_text(f"{line}\n\nGood.", kind="email", title="Re: x", earlier=earlier).text == "Good."


PIECES = [
    "", "", "Thursday is fine.", "Hi Bob,", "> quoted", ">> deeper", ">", "> -- ", "--", "-- ", "—", "Ann Lee",
    "Thanks,",
    "Best regards, Ann", "+49 30 1234567", "ann@example.org", "www.example.org", "_" * 47, "users mailing list",
    "https://lists.example.org/listinfo/users", "To unsubscribe, go to https://example.org/u", ">>> x = 1", "$ ls",
    "From: Bob Ray", "Sent: Thursday, 12 November 2026 9:30", "To: Ann Lee", "Subject: Budget", "Disclaimer",
    "-----Original Message-----", "---------- Forwarded message ---------", "Begin forwarded message:",
    "On Thu, 12 Nov 2026 at 09:30, Bob Ray <bob@example.org> wrote:", "On Thu, 12 Nov 2026 at 09:30,",
    "Bob Ray <bob@example.org> wrote:", "Bob wrote:", "on 2026-11-12 at 09:30:", "Sent from my iPhone", ">From here",
    "can we move the review of the budget to Thursday afternoon? Marta is away", "diff --git a/x b/x", "3c3", "---",
    "on Wednesday, and the numbers from Lyon will not be there before noon.", "Bob",
    "----- End forwarded message -----",
    "This email has been checked for viruses by Avast.", "The e-mail is confidential. If you are not the intended "
    "recipient, notify the sender and delete it, please, and do not disclose it to anybody at all.",
]  # fmt: skip
TITLES = st.sampled_from(["", "Budget", "Re: Budget", "Fwd: Budget", "VS: Budget"])
EARLIER = st.sampled_from([None, (), (PARENT,)])
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=25).map("\n".join)


@given(text=TEXTS, title=TITLES, texts=EARLIER)
def test_cleaning_keeps_lines_and_is_done_once(text: str, title: str, texts: tuple[str, ...] | None) -> None:
    """Whatever a mail is, what stays are lines of it, in their order; cleaning those again cuts nothing more."""
    earlier = None if texts is None else EarlierLines(texts)
    once = clean_text(text, kind="email", title=title, earlier=earlier)
    lines = iter([line if line == "-- " else line.rstrip() for line in text.split("\n")])
    assert all(line in lines for line in once.text.split("\n") if line)
    again = clean_text(once.text, kind="email", title=title, earlier=earlier)
    assert again.text == once.text


@given(text=TEXTS)
def test_only_what_is_cut_is_missing(text: str) -> None:
    """The lines that stay and the counted ones are all lines that are not empty."""
    found = clean_text(text, kind="email", title="Re: Budget", earlier=None)
    kept = sum(bool(line) for line in found.text.split("\n"))
    total = sum(bool(line.rstrip()) for line in text.split("\n"))
    assert kept + found.quoted + found.signature + found.footer == total


LONG_TEXTS = [
    ">" * 3_000_000, " " * 3_000_000, ">\n" * 300_000, "-- \n" * 100_000, "a:\n" * 100_000,
    "On 1.1.2026 1:00 a@b.cd wrote:\n" * 30_000, "x" * 1_900_000, "_" * 1_900_000 + ":",
    "> no word of this is known to us here\nSo.\n\n" * 30_000,
]  # fmt: skip


@pytest.mark.parametrize("text", LONG_TEXTS, ids=[text[:12] for text in LONG_TEXTS])
def test_long_texts_are_read_in_one_go(text: str) -> None:
    """A long text of one sign or one line takes time in proportion: a slow pattern would not come to an end."""
    assert isinstance(clean_text(text, kind="email", title="Re: x", earlier=EarlierLines([text])), CleanText)
