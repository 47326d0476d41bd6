"""Tell courtesies from what a message says: greetings, thanks, wishes, closings and short reactions.

They win no place in an extract or a digest. A sentence is a courtesy if it begins like one in one of twelve languages,
and what follows says little else: "Thanks for the quick reply, Ann", but not "Thanks, the contract is signed".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from commonplace.model.lazy import lazy
from commonplace.tree.cues import find_words, is_day_word

_WORD = lazy(r"[^\W_]+")
_CLAUSE_END = lazy(
    r"[,;:!?.…–—()，；！？。、]|\s-+\s|\s(?:but|however|aber|jedoch|mais|pero|però|ma|mas|maar|ale|но|men)(?=\s)",
    re.IGNORECASE,
)
# A clause that begins so belongs to the thanks before it.
_GOES_ON = frozenset(
    {"dass", "daß", "que", "che", "że", "что", "that", "dat", "att"}
    | {"for", "für", "pour", "por", "per", "voor", "za", "за", "för"}
)
_MAX_LENGTH = 200  # characters: a longer sentence says something
_MAX_GREETING = 4  # words to those who are greeted
_MOST_LATER = 1  # words that say something, in the clauses after the first

# To whom one writes: a name may follow, or "all".
_GREETINGS = {
    "English": "hi|hey|hello|dear|good morning|good afternoon|good evening|good day|morning|greetings|welcome back",
    "German": "hallo|moin|servus|grüß|guten morgen|guten tag|guten abend|liebe|lieber|liebes|sehr geehrte|sehr geehrter"
    "|mahlzeit|hi zusammen|grüezi",
    "French": "bonjour|bonsoir|salut|coucou|cher|chère|chers|chères|rebonjour|madame|monsieur|re bonjour",
    "Spanish": "hola|buenos días|buen día|buenas tardes|buenas noches|buenas|estimado|estimada|estimados|estimadas"
    "|querido|querida|queridos|queridas|muy buenas",
    "Italian": "ciao|buongiorno|buonasera|buon pomeriggio|gentile|gentili|caro|cara|cari|salve|egregio|buondì",
    "Portuguese": "olá|oi|bom dia|boa tarde|boa noite|prezado|prezada|prezados|caros|caras|viva",
    "Dutch": "beste|hoi|dag|goedemorgen|goedemiddag|goedenavond|goede morgen|geachte|hé",
    "Polish": "cześć|hej|witam|dzień dobry|dobry wieczór|szanowny|szanowna|szanowni|drogi|droga|drodzy|siema",
    "Russian": "привет|здравствуй|здравствуйте|добрый день|добрый вечер|доброе утро|доброго времени|уважаемый|уважаемая"
    "|уважаемые|дорогой|дорогая|дорогие|всем привет",
    "Swedish": "hejsan|tjena|god morgon|god morgen|god kväll|god dag|godmorgon|kära|kære|kjære|hallå|käre",
}
# Thanks, excuses, offers: what they are for is courtesy, too, unless it names a number, a day or a decision.
_THANKS = {
    "English": "thanks|thank you|many thanks|big thanks|huge thanks|thx|ty|cheers|appreciate|i appreciate|we appreciate"
    "|much appreciated|really appreciate|i really appreciate|sorry for|sorry about"
    "|sorry to|sorry that|i'm sorry|so sorry|i'm so sorry|i am sorry|we're sorry|we are sorry|apologies|my apologies"
    "|i apologize|i apologise|we apologize|we apologise|let me know if|please let me know if|just let me know if"
    "|let us know if|please let us know if|let me know what|let me know how|let me know your|if you have any"
    "|if you have questions|any questions|should you have|please find attached|please find enclosed|find attached"
    "|see attached|please see attached|attached please find|attached is|attached are|feel free|please feel free"
    "|don't hesitate|do not hesitate|please don't hesitate|please do not hesitate",
    "German": "danke|dankeschön|vielen dank|vielen lieben dank|besten dank|herzlichen dank|lieben dank|tausend dank"
    "|ich danke|wir danken|sorry|entschuldige|entschuldigung|entschuldigt|entschuldigen sie|tut mir leid|bei fragen"
    "|bei rückfragen|für rückfragen|für fragen|melde dich|melden sie sich|meldet euch|anbei|im anhang|falls du fragen"
    "|falls sie fragen|wenn du fragen|wenn sie fragen|wenn ihr fragen|sag bescheid|sagt bescheid",
    "French": "merci|un grand merci|mille mercis|je vous remercie|je te remercie|nous vous remercions|je tenais à vous"
    "|désolé|désolée|je suis désolé|je suis désolée|toutes mes excuses|veuillez m'excuser|n'hésite|n'hésitez"
    "|je reste à|nous restons à|dans l'attente|en vous remerciant|veuillez trouver|ci joint|vous trouverez",
    "Spanish": "gracias|muchas gracias|muchísimas gracias|mil gracias|te agradezco|le agradezco|les agradezco"
    "|agradezco|perdón|perdona|perdonad|disculpa|disculpe|disculpen|lamento|siento|lo siento|quedo a|quedo atento"
    "|quedo atenta|quedamos a|no dudes|no dude|no duden|adjunto|si tienes alguna|si tienen alguna|cualquier duda",
    "Italian": "grazie|molte grazie|grazie mille|ti ringrazio|la ringrazio|vi ringrazio|scusa|scusate|scusami|mi scuso"
    "|mi dispiace|chiedo scusa|resto a|rimango a|resto in|non esitare|non esiti|non esitate|in allegato"
    "|se hai domande|se avete domande|per qualsiasi",
    "Portuguese": "obrigado|obrigada|muito obrigado|muito obrigada|agradeço|agradecemos|desculpa|desculpe|desculpem"
    "|peço desculpa|lamento|fico à|ficamos à|qualquer dúvida|se tiver alguma|se tiverem|em anexo|segue em anexo"
    "|valeu|não hesite",
    "Dutch": "bedankt|dank|dank je|dank u|dankjewel|dankuwel|hartelijk dank|heel erg bedankt|alvast bedankt|sorry"
    "|excuses|mijn excuses|het spijt me|bijgevoegd|in de bijlage|mocht je|mocht u|laat me weten als"
    "|laat het me weten als|laat maar weten|als je vragen|als u vragen|neem gerust",
    "Polish": "dziękuję|dzięki|dziękujemy|z góry dziękuję|bardzo dziękuję|wielkie dzięki|przepraszam|przepraszamy"
    "|w razie pytań|w razie wątpliwości|w załączeniu|w załączniku|daj znać jeśli|dajcie znać jeśli|proszę dać znać"
    "|gdyby były",
    "Russian": "спасибо|большое спасибо|огромное спасибо|заранее спасибо|благодарю|благодарим|извините|прошу прощения"
    "|простите|прости|если есть вопросы|если будут вопросы|если возникнут вопросы|во вложении|дайте знать|дай знать",
    "Swedish": "tack|tak|takk|mange tak|mange takk|tusen tack|tusen takk|stort tack|hjärtligt tack|ursäkta|förlåt"
    "|beklagar|undskyld|bifogat|bifogar|hör av|säg till|om du har frågor|om ni har frågor",
}
# Wishes, closings, and what one says for politeness.
_WISHES = {
    "English": "regards|sincerely|yours|kind regards|best regards|warm regards|kindest regards|many regards|best wishes"
    "|warm wishes|with best|with kind|with warm|all the best|hope you are|hope you're|hope you have|hope you had"
    "|hope you all|hope you and|hope you enjoyed|hope this helps|hope this finds|hope that helps|hope this email"
    "|hope this message|hope this mail|hope this note|hope this letter|hope all|hope everyone|hope everybody"
    "|hope everything|hope to see|hope to hear|i hope you are"
    "|i hope you're|i hope you have|i hope you had|i hope you all|i hope you and|i hope this helps|i hope this finds"
    "|i hope that helps|i hope this email|i hope this message|i hope this mail|i hope this note|i hope all"
    "|i hope everyone|i hope everybody"
    "|i hope everything|i trust you are|trust you are|looking forward|look forward|i look forward|we look forward"
    "|i'm looking forward|we're looking forward|i am looking forward|have a nice|have a good|have a great"
    "|have a lovely|have a wonderful|have a safe|have fun|enjoy your|enjoy the rest|see you|see ya|talk soon"
    "|talk to you|speak soon|catch you|take care|stay safe|bye|goodbye|good night|good luck|best of luck"
    "|congratulations|congrats|well done|great job|great work|nice work|good job|good work|nice one|happy birthday"
    "|happy holidays|happy new year|happy easter|happy friday|happy monday|merry christmas|you're welcome"
    "|you are welcome|welcome to the team|welcome aboard|how are you|how are things"
    "|how is it going|how's it going|how is everything|how have you|how was your|it was nice|it was great to"
    "|it was good to|it was lovely|it was a pleasure|nice to|pleased to|great to hear|great to see|great to meet"
    "|good to see|good to meet|glad to hear|glad you|so glad"
    "|hope you survived|hope you slept|hope you made it|we wish you|i wish you|wish you|wishing you"
    "|my pleasure|fingers crossed"
    "|that's good to",
    "German": "mit freundlichen|mit besten|mit herzlichen|mit lieben|freundliche grüße|viele grüße|liebe grüße"
    "|beste grüße|schöne grüße|herzliche grüße|sonnige grüße|grüße|grüsse|gruß|gruss|mfg|lg|vg|bis bald|bis dann"
    "|bis später|bis gleich|bis nachher|schönen|schönes|schöne woche|schöne feiertage|ich wünsche|wünsche|wir wünschen"
    "|alles gute|alles liebe|gern geschehen|keine ursache|ich freue mich auf|wir freuen uns auf"
    "|freue mich auf|ich hoffe es geht|ich hoffe dir|ich hoffe ihnen|ich hoffe ihr|ich hoffe du hattest"
    "|ich hoffe sie hatten|hoffe es geht|hoffe dir geht|hoffe ihr|herzlichen glückwunsch|glückwunsch"
    "|herzlich willkommen|willkommen|wie geht|frohe|frohes|guten rutsch|viel erfolg|viel spaß|viel glück|gute besserung"
    "|gute reise|bleibt gesund|bleiben sie gesund|tschüss|ciao",
    "French": "cordialement|bien à vous|bien à toi|bien cordialement|très cordialement|amicalement|bien amicalement"
    "|sincères salutations|meilleures salutations|salutations|bonne journée|bonne soirée|bonne fin|bonne semaine"
    "|bonne continuation|bonne année|bonne réception|bonne lecture|bonne chance|bonnes vacances|bonnes fêtes|bon week"
    "|bon courage|bon après|bon voyage|bon anniversaire|joyeux|belle journée|très bonne|excellente journée|à bientôt"
    "|à plus|à très|à demain|à tout|de rien|j'espère que tu|j'espère que vous|j'espère que tout|en espérant que"
    "|félicitations|bravo|je vous prie|je vous souhaite|je te souhaite|veuillez agréer|veuillez recevoir|comment allez"
    "|comment vas|comment ça|ça va|au plaisir|bises|bisous"
    "|au revoir|bienvenue",
    "Spanish": "un saludo|saludos|cordiales saludos|un cordial saludo|reciba|reciban|un abrazo|un fuerte abrazo|abrazos"
    "|besos|atentamente|cordialmente|espero que estés|espero que esté|espero que estén|espero que estéis"
    "|espero que te|espero que se|espero que os|espero que todo|espero que hayas|que tengas|que tengan|que tenga"
    "|que pases|que paséis|feliz|felices|felicidades|enhorabuena|hasta luego|hasta pronto|hasta mañana|hasta la"
    "|nos vemos|de nada|no hay de|cómo estás|cómo está|cómo están|cómo va|qué tal|buen fin|buen trabajo|buen viaje"
    "|buena suerte|mucha suerte|bienvenido|bienvenida|cuídate|adiós|chao",
    "Italian": "cordiali saluti|distinti saluti|un saluto|un caro|saluti|un abbraccio|cordialmente|buona giornata"
    "|buona serata|buona domenica|buona settimana|buona fortuna|buon weekend|buon lavoro|buon viaggio|buon fine"
    "|buone vacanze|buone feste|buon compleanno|a presto|a domani|a dopo|alla prossima|prego|di niente|figurati"
    "|spero che tu|spero che stia|spero che stiate|spero che lei|spero che tutto|spero tutto|congratulazioni"
    "|complimenti|come stai|come sta|come va|come state|auguri|tanti auguri|benvenuto|benvenuta|ci vediamo"
    "|ci sentiamo|arrivederci|in bocca",
    "Portuguese": "atenciosamente|com os melhores|cumprimentos|melhores cumprimentos|cordialmente|abraço|abraços"
    "|um abraço|beijos|beijinhos|boa semana|boa sorte|boa viagem|bom fim|bom trabalho|bom feriado|até logo|até breve"
    "|até amanhã|até já|até à|espero que esteja|espero que estejam|espero que estejas|espero que tudo|espero que tenha"
    "|parabéns|feliz|tudo bem|tudo bom|como vai|como está|como estás|de nada|bem vindo|bem vinda|às ordens",
    "Dutch": "met vriendelijke|met hartelijke|vriendelijke groet|vriendelijke groeten|hartelijke groet|groet|groeten"
    "|groetjes|mvg|fijn weekend|fijne|prettig weekend|prettige|goed weekend|tot ziens|tot snel|tot morgen|tot dan"
    "|tot straks|graag gedaan|gefeliciteerd|hopelijk hebben|hopelijk heb|hopelijk gaat|ik hoop dat je|ik hoop dat u"
    "|ik hoop dat jullie|ik hoop dat alles|hoe gaat|hoe is het|alles goed|veel succes|veel plezier"
    "|welkom|doei|beterschap|succes",
    "Polish": "pozdrawiam|pozdrowienia|z poważaniem|z wyrazami|serdecznie|serdeczności|miłego|miłej|do zobaczenia"
    "|do usłyszenia|do jutra|mam nadzieję że u|mam nadzieję że masz|mam nadzieję że weekend|mam nadzieję że wszystko"
    "|nie ma za co|gratulacje|gratuluję|co słychać|jak się masz|jak leci|wszystkiego|powodzenia"
    "|trzymaj się|trzymam kciuki|na razie|witamy|życzę|życzymy",
    "Russian": "с уважением|с наилучшими|с благодарностью|всего доброго|всего хорошего|до встречи|до свидания|до завтра"
    "|до связи|надеюсь у вас|надеюсь у тебя|надеюсь у всех|надеюсь что у|надеюсь вы|надеюсь ты|хорошего|хороших|удачи"
    "|поздравляю|поздравляем|не за что|как дела|как ты|как вы|как поживаете|пожалуйста|добро пожаловать|желаю|пока",
    "Swedish": "med vänlig|med vänliga|med venlig|med vennlig|med bästa|vänliga|vänlig hälsning|venlig hilsen"
    "|vennlig hilsen|bästa hälsningar|hälsningar|hilsen|mvh|ha en|ha det|ha en bra|trevlig|vi ses|vi hörs|vi høres"
    "|hoppas|jag hoppas att du|jag hoppas att ni|jag hoppas att allt|grattis|varsågod"
    "|lycka till|hur mår|hur är det|god helg|god jul|glad påsk|kram|hej då|välkommen|velkommen|skön helg",
}
# Answers without news, and what thanks a cause or asks for an opinion: with more words, these say something.
_REPLIES = {
    "English": "no worries|no problem|not a problem|sounds good|sounds great|sounds fine|sounds like a plan"
    "|sounds perfect|looks good|looks great|lgtm|good question|great question|good point|fair enough|makes sense"
    "|will do|on it|anytime|take your time|same here|same to you|you too|you are the best|you're the best|love it"
    "|that's great"
    "|that's awesome|that's amazing|that's wonderful|that is great|good to know|thanks to|what do you think"
    "|what do you all think|what do you guys think|what are your thoughts|any thoughts|thoughts|any ideas"
    "|any feedback|let me think|quick question|one more thing|is there anything else|anything else"
    "|by the way|long time no see",
    "German": "kein problem|klingt gut|hört sich gut|dank der|dank dem|dank des|was meint ihr|was meinst du"
    "|was denkst du|was denkt ihr|was meinen sie|wie seht ihr das|guter punkt|gute frage|mach ich|geht klar",
    "French": "pas de souci|pas de problème|ça marche|avec plaisir|merci de|merci à|merci au|qu'en penses tu"
    "|qu'en pensez vous|bonne idée|bonne question|entendu|d'accord",
    "Spanish": "suena bien|con gusto|gracias a|gracias al|qué te parece|qué os parece|qué les parece|qué opinas"
    "|qué opináis|qué opinan|buena idea|buena pregunta|de acuerdo|sin problema|me parece bien",
    "Italian": "nessun problema|volentieri|grazie a|grazie al|grazie alla|che ne pensi|che ne pensate|cosa ne pensi"
    "|cosa ne pensate|buona idea|bella domanda|d'accordo|va bene",
    "Portuguese": "sem problema|graças a|graças ao|graças à|o que acham|o que achas|o que acha|boa ideia"
    "|boa pergunta|de acordo|com certeza",
    "Dutch": "geen probleem|klinkt goed|wat vinden jullie|wat vind je|wat denken jullie|wat denk je|goed idee"
    "|goede vraag|is goed|komt goed",
    "Polish": "brzmi dobrze|nie ma sprawy|dzięki temu|co sądzicie|co myślicie|co o tym|dobry pomysł|dobre pytanie",
    "Russian": "что думаете|что думаешь|как думаете|как считаете|хорошая идея|хороший вопрос|без проблем|не проблема",
    "Swedish": "låter bra|inga problem|ingen fara|tack vare|vad tycker ni|vad tycker du|bra idé|bra fråga|det går bra",
}
# Words that add nothing to a courtesy, besides those above.
_FILLERS = frozenset(
    """
    a about again ahead all also and any anything are as at back be been being best better both bother but by can chance
    clear comments concerns contact could day days delay detailed do doing done email ever everybody everyone everything
    fast feedback few fine flight folks for from further get getting give going got great guys had happy has have hear
    hearing help helpful here holiday holidays hope how i if in inconvenience information input insights is it its just
    kind know last late later letting looking lot mail many me meet meeting message more morning much my need needs news
    next nice noise now of off on once one opportunity or our out patience please prompt question questions quick
    quickly reach reading reaching really reply replying responding response rest safe sending sent sharing should so
    soon spam still sure talk team that the their them there these they things this thoughts time to today together
    tomorrow too trip trouble two understanding update updates us vacation very was we week weekend weeks well were
    while will wish with work would writing yesterday you your yours ll re s ve m t d
    das dem den der deine die dir dich du es euch euer eure feedback für gut gute guten hilfe ich ihnen ihr ihre info
    infos ist mir mit nachricht noch nochmal rückmeldung schnelle schnellen sehr und uns vorab wir wochenende zusammen
    alle antwort ein eine einen schönen auch so bitte bei damen herren geht dass sich sie auf von zu gerne jederzeit
    rückfragen fragen verfügung stehe tag woche abend späte verspätete dafür gleich
    à au aux bien de des du en et je la le les moi mon nous pour réponse retour rapide ta tes ton tout toute tous toutes
    un une vos votre vous aide avance beaucoup disposition reste pas ne si avez avec par week end encore très ce cette
    al con del día el equipo los lo las mensaje mi mucho muy no para por que respuesta su sus te todo todos todas tu tus
    usted ustedes y ayuda correo rápida rápido fin semana tarde buen buena aquí allí
    alla che ci da dei della di il le lei molto per più risposta ti tua tuo tutti tutto una vi aiuto giornata sia va ed
    ajuda ao aos as com da do dos e em mensagem muito na o os pela pelo resposta tudo um uma você vocês seu sua esteja
    aan bericht dat een het hulp iedereen in jullie jouw met reactie snelle van voor uw allemaal je goed gaat weer ook
    bardzo dnia i na od odpowiedź pomoc szybką w wam wiadomość za z ci państwo panie pani panowie wszystkim wszystkich u
    że się jest wszystko dobrze weekend udał
    большое вам вас все всем всех за и на ответ письмо помощь у ваш дня быстрый коллеги хорошо всё вы что в с новости
    alla allt att av dig du er för hjälpen mycket och snabba svaret så till vi bra det kväll helg dag
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
# Alone, or with a name, each of these is an answer and no news.
_REACTIONS = frozenset(
    """
    ok okay okey okk k yes yep yeah yup no nope sure fine cool great super perfect perfekt excellent awesome nice wow
    lol haha hahaha hmm hm oh ah aww ugh yay oops whoa agreed done noted understood right exactly absolutely definitely
    indeed true same ditto thanks bye amen hi hello hey please best cheers brilliant lovely wonderful amazing fantastic
    ja jo nein genau klar gut prima passt stimmt gerne alles sicher natürlich verstanden erledigt jawohl mega
    oui non parfait voilà bien entendu d accord ouais génial
    sí si vale claro perfecto genial bueno listo hecho jaja jajaja estupendo
    sì va bene perfetto ottimo certo esatto sim não perfeito ótimo nee goed zeker top mooi tak nie jasne dobrze
    dokładnie да нет хорошо отлично ладно понятно конечно точно супер nej visst bra toppen precis absolut jepp
    """.split()  # noqa: SIM905 - a list of these would be a page long
)
_EAST_COURTESY = lazy(
    r"(?:.{0,4}(?=你好|您好|大家好|早上好))?(?:[^\s，。、！]{0,8}(?:さん|様|老师|经理|总)?[，、：\s]\s?)?(?:大家好|各位好|你好|您好|早上好|下午好|晚上好|早安|谢谢|謝謝"
    "|(?:非常|十分|衷心|再次)?感[谢謝]"
    r"|多谢|辛苦|祝|此致|敬礼|顺颂|期待|如有|好的|收到|了解|嗯|是的|不客气|没问题|抱歉|对不起|不好意思|打扰|希望.{0,6}(?:一切|周末|顺利)"
    r"|お疲れ|お世話|いつも|よろしく|宜しく|どうぞ|(?:ご.{1,4})?ありがとう|有難う|誠に|こんにちは|おはよう|こんばんは|はじめまして|失礼|敬具|拝啓|すみません"
    r"|申し訳|ご連絡ありがとう|ご返信|お返事|お忙しい|以上|承知|かしこまり|はい|ご確認)"
)
_MAX_EAST, _MAX_EAST_NAME = 24, 4  # characters
_MAX_OPENING = 6  # words
_MAX_NAME = 24  # characters


_LAUGHTER = lazy(r"(?:a?ha|he|ja|je|hi|ха|хе){2,}h?\Z|lo+l\Z|lmao\Z|哈{2}", re.IGNORECASE)
_MAX_LAUGHED = 3  # words, with the laughter


class _Kind(IntEnum):
    GREETING, THANKS, WISH, REPLY = 1, 2, 3, 4


_MOST_OTHERS = {_Kind.GREETING: 1, _Kind.THANKS: 5, _Kind.WISH: 4, _Kind.REPLY: 1}
"""How many words of its own clause may say something."""


class _Opening(NamedTuple):
    kind: _Kind
    words: tuple[str, ...]


def is_courtesy(sentence: str, words: Sequence[str] | None = None) -> bool:
    """Return whether a sentence is a greeting, thanks, a wish, a closing, or a short reaction, and nothing else.

    `words` are its words in lower case, from a caller that has them.
    """
    if len(sentence) > _MAX_LENGTH:
        return False
    return _may_be_courtesy(sentence, find_words(sentence) if words is None else words) and _is_empty(sentence)


def _may_be_courtesy(sentence: str, words: Sequence[str]) -> bool:
    if len(words) <= 2 or words[0] in _REACTIONS or not (words[0].isascii() or len(sentence) > _MAX_EAST):
        return True
    # A name may stand before it: "Ann Lee, thanks".
    starts = (0, 1, 2) if "," in sentence[:_MAX_NAME] else (0,)
    openings = _read_openings()
    return any(words[at] in openings and _find_opening(words[at:]) for at in starts)


@lru_cache(maxsize=2_000)  # in a mailbox, a few people write the same greetings again and again
def _is_empty(sentence: str) -> bool:
    """Return whether a sentence that may be a courtesy says nothing else."""
    if not sentence.isascii() and len(sentence) <= _MAX_EAST and _EAST_COURTESY.match(sentence):
        parts = [part.strip() for part in _CLAUSE_END.split(sentence)]
        return all(len(part) <= _MAX_EAST_NAME or _EAST_COURTESY.match(part) for part in parts)
    clauses = [words for clause in _CLAUSE_END.split(sentence) if (words := _WORD.findall(clause))]
    return not clauses or _say_nothing(clauses)


def _say_nothing(clauses: Sequence[Sequence[str]]) -> bool:
    """Return whether the clauses of a sentence, as their words, are one courtesy or several."""
    first, later = clauses[0], clauses[1:]
    if _find_opening(first) is None and _is_reaction(first):  # "Great, thanks"
        return not later or (len(later) == 1 and _is_name(later[0])) or _say_nothing(later)
    if len(first) > 1 and first[0].lower() in _REACTIONS and _find_opening(first) is None:
        if _LAUGHTER.match(first[0]) and len(first) <= _MAX_LAUGHED and not later:
            return all(map(str.isalpha, first))
        first = first[1:]  # "Wow thanks"
    opening = _find_opening(first)
    if opening is None and later and (opening := _find_opening([*first, *later[0]])):
        first, later = [*first, *later[0]], later[1:]  # "Ich hoffe, ihr hattet"
    if opening is None:
        return bool(later) and _is_name(first) and _find_opening(later[0]) is not None and _say_nothing(later)
    own = first[len(opening.words) :]
    if len(later) > 1 and _is_name(later[0]):
        later = later[1:]  # "Thanks, Ann, for"
    while later and later[0][0].lower() in _GOES_ON:
        own, later = [*own, *later[0]], later[1:]
    if opening.kind != _Kind.WISH and any(not word.isalpha() or is_day_word(word.lower()) for word in own):
        return False  # it is worth reading
    if opening.kind == _Kind.GREETING and _count_others(own, skips_names=False) > _MAX_GREETING:
        return False
    if _count_others(own, skips_names=True) > _MOST_OTHERS[opening.kind]:
        return False
    return sum(_count_others(words, skips_names=_is_name(words)) for words in later) <= _MOST_LATER


def _is_name(words: Sequence[str]) -> bool:
    """Return whether a clause may be the name of a person."""
    return len(words) <= 3 and all(
        word[0].isupper() and word.isalpha() and not is_day_word(word.lower()) for word in words
    )


def _is_reaction(words: Sequence[str]) -> bool:
    return (
        len(words) <= _MAX_GREETING and words[0].lower() in _REACTIONS and _count_others(words, skips_names=False) == 0
    )


def _count_others(words: Sequence[str], *, skips_names: bool) -> int:
    """Return how many words of a clause say something; a number counts twice."""
    vocabulary = _read_vocabulary()
    return sum(
        2 - word.isalpha()
        for word in words
        if word.lower() not in vocabulary and not (skips_names and word[0].isupper())
    )


def _find_opening(words: Sequence[str]) -> _Opening | None:
    """Return the longest opening that a clause begins with."""
    folded = tuple(word.lower() for word in words[:_MAX_OPENING])
    found = _read_openings().get(folded[0], ())
    return next((one for one in found if folded[: len(one.words)] == one.words), None)


@cache
def _read_openings() -> dict[str, tuple[_Opening, ...]]:
    """Return the openings by their first word, the longest first."""
    found: dict[str, set[_Opening]] = {}
    for kind, table in zip(_Kind, (_GREETINGS, _THANKS, _WISHES, _REPLIES), strict=True):
        for phrase in chain.from_iterable(phrases.split("|") for phrases in table.values()):
            words = tuple(_WORD.findall(phrase))
            found.setdefault(words[0], set()).add(_Opening(kind, words))
    return {word: tuple(sorted(ones, key=lambda one: (-len(one.words), one))) for word, ones in found.items()}


@cache
def _read_vocabulary() -> frozenset[str]:
    """Return the words that add nothing to a courtesy."""
    return _FILLERS | _REACTIONS | {word for ones in _read_openings().values() for one in ones for word in one.words}
