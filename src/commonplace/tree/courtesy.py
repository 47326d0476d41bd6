"""Tell courtesies from what a message says: greetings, thanks, wishes, closings and short reactions.

They win no place in an extract or a digest. A sentence is a courtesy if it begins like one and says little else.
"""

from __future__ import annotations

from functools import cache

from commonplace.model.lazy import lazy

_WORD = lazy(r"[^\W_]+")
_MAX_LENGTH = 160  # characters: a longer sentence says something
_MOST_OTHERS = 2  # words that say something, in a courtesy

# What a courtesy begins with, by language.
_OPENINGS = {
    "English": "hi|hey|hello|dear|good morning|good afternoon|good evening|good day|good night|morning|greetings|thanks"
    "|thank you|many thanks|big thanks|thx|ty|cheers|kind regards|best regards|warm regards|kindest regards"
    "|many regards|best wishes|all the best|best|regards|sincerely|yours|appreciate|i appreciate|we appreciate"
    "|much appreciated|really appreciate|i really appreciate|hope you|hope this|hope that|hope all|hope everyone"
    "|hope everything|hope to see|hope to hear|i hope you|i hope this|i hope all|i hope everything|hoping you"
    "|trust you|i trust you|looking forward|look forward|i look forward|we look forward|i'm looking forward"
    "|have a nice|have a good|have a great|have a lovely|have a wonderful|have a safe|have fun|enjoy your|enjoy the"
    "|see you|see ya|talk soon|talk to you|speak soon|take care|bye|goodbye|good luck|congratulations|congrats"
    "|well done|great job|great work|nice work|good job|good work|happy birthday|happy holidays|happy new year"
    "|happy easter|happy friday|happy monday|merry christmas|welcome|you're welcome|you are welcome|no worries"
    "|no problem|don't hesitate|do not hesitate|please don't hesitate|please do not hesitate|feel free"
    "|please feel free|let me know if|please let me know if|just let me know if|let us know if|let me know what you"
    "|let me know your thoughts|let me know how it goes|if you have any questions|if you have any other questions"
    "|if you have questions|any questions|should you have any|sorry for the|sorry about|sorry for my|sorry to"
    "|i'm sorry|so sorry|i'm so sorry|we're sorry|apologies|my apologies|how are you|how are things|how is it going"
    "|how's it going|how is everything|how was your|it was nice|it was great|it was good|it was lovely|nice to"
    "|pleased to|great to|good to|glad to|glad you|happy to help|sounds good|sounds great|sounds fine|looks good"
    "|looks great|please find attached|find attached|see attached|please see attached|attached please find|lgtm"
    "|i wish you|wish you|wishing you|good question|fair enough|makes sense|will do|on it|my pleasure|anytime"
    "|excuse|pardon|fingers crossed|just a quick|quick question",
    "German": "hallo|moin|servus|grüß|guten morgen|guten tag|guten abend|liebe|lieber|liebes|sehr geehrte"
    "|sehr geehrter|danke|dankeschön|vielen dank|vielen lieben dank|besten dank|herzlichen dank|lieben dank"
    "|tausend dank|mit freundlichen|mit besten|mit herzlichen|mit lieben|freundliche grüße|viele grüße|liebe grüße"
    "|beste grüße|schöne grüße|herzliche grüße|grüße|grüsse|gruß|mfg|lg|vg|bis bald|bis dann|bis später|bis gleich"
    "|schönen|schöne|schönes|schönes wochenende|ich wünsche|wünsche|wir wünschen|alles gute|alles liebe"
    "|gern geschehen|kein problem|keine ursache|ich freue mich auf|wir freuen uns auf|ich hoffe es geht"
    "|ich hoffe dir|ich hoffe ihnen|ich hoffe ihr|hoffe es geht|bei fragen|bei rückfragen|für rückfragen|melde dich"
    "|melden sie sich|meldet euch|herzlichen glückwunsch|herzlich willkommen|willkommen|wie geht|entschuldige"
    "|entschuldigung|entschuldigt|sorry|tut mir leid|frohe|frohes|viel erfolg|viel spaß|klingt gut|passt|anbei|im anhang",
    "French": "bonjour|bonsoir|salut|coucou|cher|chère|chers|chères|merci|un grand merci|cordialement|bien à vous"
    "|bien à toi|bien cordialement|amicalement|sincères salutations|meilleures salutations|bonne journée|bonne soirée"
    "|bonne semaine|bonne continuation|bonne année|bonne réception|bonnes vacances|bon week|bon courage|bon après"
    "|à bientôt|à plus|à demain|à tout|de rien|n'hésite|n'hésitez|j'espère que tu|j'espère que vous|j'espère que tout"
    "|félicitations|bravo|désolé|désolée|je vous prie|veuillez agréer|veuillez trouver|ci joint|comment allez"
    "|comment vas|comment ça|ça va|pas de souci|pas de problème|je reste à|dans l'attente|au plaisir|parfait|ça marche",
    "Spanish": "hola|buenos días|buenas tardes|buenas noches|buenas|estimado|estimada|estimados|estimadas|querido"
    "|querida|queridos|gracias|muchas gracias|mil gracias|un saludo|saludos|cordiales saludos|un cordial saludo"
    "|un abrazo|un fuerte abrazo|abrazos|atentamente|espero que estés|espero que esté|espero que estéis"
    "|espero que te|espero que se|espero que todo|quedo a|quedo atento|quedo atenta|quedamos a|que tengas|que tengan"
    "|feliz|felicidades|enhorabuena|hasta luego|hasta pronto|hasta mañana|nos vemos|de nada|perdón|perdona"
    "|disculpa|disculpe|cómo estás|cómo está|qué tal|no dudes|no dude|buen fin|adjunto|buen trabajo|suena bien",
    "Italian": "ciao|buongiorno|buonasera|buon pomeriggio|buona giornata|buona serata|buon weekend|buon lavoro|gentile"
    "|gentili|caro|cara|cari|care|salve|grazie|molte grazie|cordiali saluti|distinti saluti|un saluto|saluti|a presto"
    "|a domani|prego|spero che|congratulazioni|complimenti|scusa|scusate|mi scuso|come stai|come sta|come va"
    "|resto a disposizione|resto in attesa|non esitare|non esiti|in allegato|auguri|tanti auguri|va bene|buone",
    "Portuguese": "olá|oi|bom dia|boa tarde|boa noite|boa semana|bom fim|prezado|prezada|prezados|caro|cara|caros"
    "|obrigado|obrigada|muito obrigado|muito obrigada|atenciosamente|com os melhores|cumprimentos"
    "|melhores cumprimentos|abraço|abraços|um abraço|até logo|até breve|até amanhã|até já|espero que|parabéns"
    "|desculpa|desculpe|desculpem|tudo bem|fico à disposição|qualquer dúvida|de nada|em anexo|segue em anexo",
    "Dutch": "beste|hoi|hallo|goedemorgen|goedemiddag|goedenavond|goede morgen|geachte|bedankt|dank|dank je|dankjewel"
    "|hartelijk dank|alvast bedankt|met vriendelijke|met hartelijke|vriendelijke groet|vriendelijke groeten|groet"
    "|groeten|groetjes|mvg|fijn weekend|fijne dag|fijne avond|prettig weekend|prettige|tot ziens|tot snel|tot morgen"
    "|tot dan|graag gedaan|gefeliciteerd|hopelijk|ik hoop dat|laat me weten als|laat het me weten als|hoe gaat"
    "|veel succes|geen probleem|sorry|bijgevoegd|klinkt goed",
    "Polish": "cześć|hej|witam|dzień dobry|dobry wieczór|szanowny|szanowna|szanowni|drogi|droga|drodzy|dziękuję|dzięki"
    "|dziękujemy|z góry dziękuję|pozdrawiam|pozdrowienia|z poważaniem|serdecznie|miłego|do zobaczenia|do usłyszenia"
    "|do jutra|mam nadzieję że|nie ma za co|nie ma sprawy|gratulacje|przepraszam za|w razie pytań|co słychać|wszystkiego"
    "|w załączeniu|w załączniku|powodzenia|brzmi dobrze",
    "Russian": "привет|здравствуй|здравствуйте|добрый день|добрый вечер|доброе утро|доброго|уважаемый|уважаемая"
    "|уважаемые|дорогой|дорогая|дорогие|спасибо|большое спасибо|заранее спасибо|благодарю|с уважением|с наилучшими"
    "|всего доброго|всего хорошего|до встречи|до свидания|до завтра|надеюсь у вас|надеюсь у тебя|надеюсь что у|хорошего"
    "|хороших|удачи|поздравляю|извините за|прошу прощения|не за что|как дела|если есть вопросы|если будут вопросы"
    "|если возникнут вопросы|во вложении",
    "Swedish": "hej|hejsan|tjena|god morgon|god morgen|god kväll|god dag|god helg|godmorgon|tack|tak for|takk|mange tak"
    "|mange takk|tusen tack|stort tack|bästa|kära|kære|med vänlig|med vänliga|med venlig|med vennlig|vänliga"
    "|venlig hilsen|vennlig hilsen|hälsningar|mvh|ha en|ha det|trevlig|vi ses|vi hörs|hoppas|jag hoppas|grattis"
    "|varsågod|ingen fara|inga problem|ursäkta|förlåt|hör av|bifogat|bifogar|låter bra|lycka till",
}
# Words that add nothing to a courtesy.
_FILLERS = frozenset(
    """
    a about again ahead all and any anything are as at back be best both by can chance contact day days detailed do done
    email ever everybody everyone everything fast feedback few folks for from further get getting give good great guys
    hear hearing help helpful here i if in information input insights is it its just kind know last late later letting
    lot mail many me meet meeting message more morning much my news next nice now note of on once one opportunity our
    out patience please prompt question questions quick quickly really reading reaching reply replying response sending
    sent sharing so soon still support sure team that the their them there these things this thoughts time to today
    tomorrow too two understanding update us very was we week weekend well were while will wish with work working would
    writing yesterday you your yours ll re s ve m t d fine safe sound delay attached file document hesitate reach need
    needs should have had been has concerns comments or clear off rest evening regards care doing things going wishes
    noise confusion spam bother inconvenience trouble responding getting flight trip holiday holidays vacation talk
    das den der des deine dem die dir du es euch euer eure feedback für gute guten hilfe ich ihnen ihr ihre info
    infos ist mir mit nachricht noch nochmal rückmeldung schnelle schnellen sehr und uns vorab wir wochenende
    zusammen alle antwort ein eine einen schönen auch so bitte bei damen herren euch gut geht dass sich sie auf von zu
    gerne jederzeit rückfragen fragen verfügung stehe störung verspätete späte
    à au aux bien de du en et je la le les mon nous pour réponse retour rapide ta tes ton tout toute tous
    toutes un une vos votre vous end aide beaucoup votre disposition reste moi pas ne si avez question as
    al con del día el equipo información las lo los mensaje mi mucho muy para por que respuesta su
    te todo todos todas tu tus usted y ayuda correo rápida fin semana bien tarde buen disposición
    alla che ci da dei della di il le lei mille molto per più risposta ti tua tuo tutti
    tutto una vi aiuto giornata buona sia va tutto
    ajuda ao aos com da do dos e em mensagem muito na no o os pela pelo resposta tudo um uma você
    vocês seu sua esteja estejam
    aan bericht dat een het hulp iedereen in jullie jouw met reactie snelle van voor uw allemaal je goed gaat
    bardzo dnia i na od odpowiedź pomoc szybką w wam wiadomość za z ci państwo panie pani wszystkim wszystkich u
    большое вам вас все всем за и на ответ письмо помощь у ваш дня быстрый коллеги хорошо всё
    alla allt att av dig du en er för hjälpen i mycket och snabba svaret så till vi bra det for
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_REACTIONS = frozenset(
    """
    ok okay okey k yes yep yeah yup no nope sure fine cool great super perfect perfekt excellent awesome nice wow lol
    haha hahaha hmm hm oh ah agreed done noted understood right exactly absolutely definitely indeed true same ditto
    thanks bye amen hi hello yay oops please
    ja nein genau klar gut prima passt stimmt gerne alles sicher natürlich verstanden erledigt
    oui non parfait voilà bien entendu
    sí si vale claro perfecto genial bueno listo
    sì va bene perfetto ottimo certo esatto sim não perfeito ótimo nee goed zeker tak nie jasne dobrze
    да нет хорошо отлично ладно понятно конечно nej visst bra toppen precis
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_EAST_COURTESY = lazy(
    "\\W*(?:大家好|各位好|你好|您好|早上好|下午好|晚上好|谢谢|謝謝|感谢|感謝|多谢|辛苦|祝[你您大好商周]|此致|敬礼|顺颂|期待您的"
    "|如有(?:任何)?(?:问题|疑问)|好的|收到|了解|嗯|是的|不客气|没问题|お疲れ|お世話|いつも|よろしく|宜しく|ありがとう|有難う|こんにちは"
    "|おはよう|こんばんは|失礼|敬具|拝啓|すみません|お返事お待ち|承知|かしこまり|はい)"
)
_MAX_EAST = 22  # characters


def is_courtesy(sentence: str) -> bool:
    """Return whether a sentence is a greeting, thanks, a wish, a closing, or a short reaction, and nothing else."""
    if len(sentence) > _MAX_LENGTH:
        return False
    words = _WORD.findall(sentence[:_MAX_LENGTH])
    if not words:
        return True
    folded = [word.lower() for word in words]
    if len(words) <= 3 and all(word in _REACTIONS for word in folded):
        return True
    if not sentence.isascii() and len(sentence) <= _MAX_EAST and _EAST_COURTESY.match(sentence):
        return True
    length = max((len(phrase) for phrase in _read_openings().get(folded[0], ()) if _begins(folded, phrase)), default=0)
    if not length:
        return False
    others = 0
    for at in range(length, len(words)):
        if not words[at].isalpha():
            return False  # a number is worth reading
        others += words[at].islower() and folded[at] not in _FILLERS
    return others <= _MOST_OTHERS


def _begins(words: list[str], phrase: tuple[str, ...]) -> bool:
    return tuple(words[: len(phrase)]) == phrase


@cache
def _read_openings() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the openings by their first word."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrases in _OPENINGS.values():
        for phrase in phrases.split("|"):
            words = tuple(_WORD.findall(phrase))
            found.setdefault(words[0], []).append(words)
    return {word: tuple(phrases) for word, phrases in found.items()}
