"""The words and phrases that say what a sentence does, one small table for each language.

`cues` reads them. A phrase is words in lower case; other forms of a word are words of their own. What serves two
languages stands in the first.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.model.lazy import lazy


class CueWords(NamedTuple):
    """The cues of one language, each list with bars between."""

    decides: str  # what was decided
    promises: str  # what will be done, and until when
    asks: str  # without a question mark: only where a sentence begins
    reports: str  # what happened


CUE_WORDS = {
    "English": CueWords(
        decides="decided|we decide|decision|agreed|we agree|approved|signed off|go with|going with|went with"
        "|settled on|chosen|opted for|resolved to|confirmed|voted|rejected|declined|cancelled|canceled"
        "|postponed|rescheduled|called off|green light|go ahead|consensus|accepted|granted|vetoed|ratified"
        "|we picked|we stick with|appointed|has been moved|have been moved|final answer|turned down|scrapped"
        "|we chose|i chose|they chose|chose to|was moved to|is moved to|now moved to"
        "|we keep|we're keeping|we stay with|is off",
        promises="will|shall|i'll|we'll|you'll|he'll|she'll|they'll|it'll|won't|deadline|going to|need to|needs to"
        "|must|have to|has to|promise|promised|commit to|committed to|on track for|scheduled|planned for"
        "|plan to|plans to|takes over|take over|taking over|responsible for|in charge of|action item"
        "|no later than|at the latest|expires|expiry|starts on|ends on|goes live|go live|launches|eta|asap"
        "|overdue|takes care of|take care of|assigned to|on call|takes effect|by the end of"
        "|by end of|by eod|by cob|by eow|due on|due by|due at|due before|due next|due this|due tomorrow"
        "|due today|is due|are due|was due|due date|due monday|due friday",
        asks="could you|can you|would you|will you|could we|can we|shall we|could someone|can someone|can anyone"
        "|does anyone|do you|did you|are you|have you|any idea|please confirm|please advise"
        "|please let me know|wondering whether|wondering if|i wonder|what about|how about|where can|which of"
        "|who can|who will|who is|who has|who does|when can|when will|when do|when does|when is",
        reports="signed|launched|released|shipped|delivered|arrived|broke|broken|failed|crashed|flooded|stolen|hacked"
        "|leaked|resigned|quit|hired|fired|joins|joined|leaves|leaving|retires|retired|died|passed away"
        "|was born|pregnant|married|won|sold|bought|paid|fixed|deployed|merged|outage|incident|breach|delayed"
        "|finished|completed|closed|closes|replaced|replaces|renamed|published|expired|exceeded|exceeds"
        "|increased|dropped|fell|injured|accident|strike|went down|is down|is gone|sold out|out of stock"
        "|out of order|promoted|elected|acquired|lawsuit|refund|refunded|replied|discovered|withdraw"
        "|withdrawn|founded|succeeds|rose by|rose to|rose from"
        "|was down|were down|is closed|are down",
    ),
    "German": CueWords(
        decides="entschieden|beschlossen|entscheidung|beschluss|vereinbart|geeinigt|genehmigt|freigegeben|zugestimmt"
        "|bestätigt|abgelehnt|abgesagt|verschoben|verlegt|wir nehmen|festgelegt|verabschiedet|ausgewählt"
        "|einigung|wir bleiben bei|grünes licht|zusage|absage|storniert|ernannt",
        promises="ich werde|wir werden|werde ich|werden wir|wird bis|wird am|wird ab|muss|müssen|musst|soll|frist"
        "|stichtag|fällig|spätestens|verspreche|übernimmt|übernehme|übernehmen|kümmert sich|kümmere mich"
        "|kümmern uns|zuständig|verantwortlich|geplant|abgabe|abgabetermin|liefere|liefern wir|schicke"
        "|läuft ab|in kraft|bis ende"
        "|abgabeschluss|einsendeschluss|anmeldeschluss|meldeschluss|bewerbungsschluss",
        asks="kannst du|könntest du|können sie|könnten sie|kann jemand|könnt ihr|könnten wir|können wir"
        "|weiß jemand|würdest du|würden sie|habt ihr|haben sie|hast du",
        reports="unterschrieben|unterzeichnet|veröffentlicht|geliefert|angekommen|kaputt|defekt|ausgefallen"
        "|abgestürzt|gestohlen|gekündigt|kündigt|eingestellt|verlässt|gestorben|verstorben|geboren|schwanger"
        "|geheiratet|gewonnen|verkauft|gekauft|bezahlt|behoben|ausfall|störung|verspätet|fertig|abgeschlossen"
        "|geschlossen|schließt|ersetzt|abgelaufen|gestiegen|gesunken|erhöht|verletzt|unfall|streik"
        "|ausverkauft|befördert|gewählt|gefunden|erreicht",
    ),
    "French": CueWords(
        decides="décidé|décidée|décidons|décision|convenu|approuvé|approuvée|validé|validée|retenu|retenue|choisi"
        "|choisie|optons|opté|accepté|acceptée|refusé|refusée|rejeté|rejetée|annulé|annulée|reporté|reportée"
        "|confirmé|confirmée|feu vert|tranché|adopté|adoptée|d'accord pour|nommé|nommée"
        "|on part sur|a voté|ont voté|on garde|on prend",
        promises="je vais|nous allons|on va|serai|serons|enverrai|enverrons|ferai|ferons|livrerons|livrera|doit"
        "|doivent|échéance|délai|date limite|au plus tard|d'ici|m'occupe|s'occupe|s'occupera|prévu|prévue"
        "|promets|m'engage|à rendre|aura lieu|avant la fin|expire|je dois|nous devons|tu dois",
        asks="pouvez vous|peux tu|pourriez vous|pourrais tu|est ce que|qu'en penses|qu'en pensez|avez vous|as tu",
        reports="signé|signée|lancé|lancée|publié|publiée|livré|livrée|arrivé|arrivée|cassé|cassée|en panne|panne"
        "|échoué|volé|volée|démissionné|démissionne|embauché|embauchée|rejoint|quitte|décédé|décédée|né|née"
        "|enceinte|gagné|vendu|vendue|acheté|payé|payée|réparé|réparée|incident|retard|terminé|terminée|fermé"
        "|fermée|ferme|remplacé|remplacée|expiré|augmente|augmenté|baissé|blessé|grève|rupture|promu|promue"
        "|élu|élue",
    ),
    "Spanish": CueWords(
        decides="decidido|decidió|decidimos|decisión|acordado|acordamos|acordó|acuerdo|aprobado|aprobada|aprobó"
        "|aprobaron|elegido|elegida|elegimos|confirmado|confirmada|aceptado|aceptada|rechazado|rechazada"
        "|cancelado|cancelada|aplazado|aplazada|pospuesto|pospuesta|optamos|quedamos en|visto bueno|luz verde"
        "|nos quedamos con",
        promises="voy a|vamos a|enviaré|enviaremos|haré|haremos|entregaré|entregaremos|tendrá lugar|debe|deben|debemos"
        "|debo|tengo que|tenemos que|tienes que|hay que|plazo|fecha límite|vence|vencimiento|a más tardar"
        "|me encargo|se encarga|se encargará|nos encargamos|previsto|prevista|prometo|antes del|antes de fin",
        asks="puedes|puede usted|podrías|podría usted|alguien sabe|me puedes|me podrías|nos puede",
        reports="firmado|firmada|firmó|firmamos|lanzado|lanzamos|publicado|publicada|entregado|entregada|llegó"
        "|llegaron|roto|rota|averiado|falló|robado|robaron|renunció|dimitió|contratado|contratamos"
        "|se incorpora|deja la|falleció|murió|nació|embarazada|ganó|ganamos|vendido|vendida|vendió|comprado"
        "|compramos|pagado|pagada|reparado|incidente|avería|retraso|terminado|terminada|cerrado|cerrada"
        "|cierra|sustituye|caducado|caduca|aumenta|aumentó|subió|bajó|herido|huelga|agotado|ascendido"
        "|rompió|ha llegado|han llegado",
    ),
    "Italian": CueWords(
        decides="deciso|decisa|decisione|concordato|concordata|approvato|approvata|scelto|confermato|confermata"
        "|accettato|accettata|rifiutato|respinto|respinta|annullato|annullata|rinviato|rinviata|rimandato"
        "|rimandata|via libera|stabilito|spostato|spostata",
        promises="farò|faremo|manderò|invierò|invieremo|consegneremo|consegnerò|deve|devono|dobbiamo|devo|scadenza"
        "|scade|entro|al più tardi|mi occupo|si occupa|si occuperà|prevista|prometto|si terrà|bisogna",
        asks="puoi|potresti|potete|potrebbe|qualcuno sa|mi puoi|hai",
        reports="firmato|firmata|lanciato|lanciata|pubblicato|pubblicata|consegnato|consegnata|arrivato|arrivata"
        "|rotto|rotta|guasto|guasta|fallito|rubato|rubata|dimesso|dimessa|assunto|assunta|lascia|morto|morta"
        "|incinta|vinto|venduto|venduta|comprato|pagato|pagata|riparato|riparata|incidente|ritardo|finito"
        "|finita|chiuso|chiusa|chiude|sostituito|sostituita|scaduto|scaduta|aumentato|aumenta|sciopero"
        "|esaurito|promosso|promossa|perso|persa|è nato|è nata",
    ),
    "Portuguese": CueWords(
        decides="decidiu|decisão|acordado|combinado|combinamos|aprovado|aprovada|aprovou|aprovaram|escolhido"
        "|escolhida|escolhemos|aceite|aceito|rejeitado|rejeitada|recusado|recusada|adiado|adiada|decidida"
        "|luz verde",
        promises="vou enviar|vou fazer|vamos enviar|vamos fazer|enviarei|enviaremos|farei|faremos|entregaremos|devem"
        "|devemos|tem que|temos que|tenho que|prazo|o mais tardar|até ao dia|até o dia|fico de|encarrego"
        "|precisamos de",
        asks="podes|poderia|poderias|alguém sabe|você pode|vocês podem",
        reports="assinado|assinada|assinou|assinámos|lançado|lançada|publicado|publicada|entregue|chegou|chegaram"
        "|avariado|avariada|falhou|roubado|roubaram|demitiu|contratado|contratámos|contratamos|faleceu|morreu"
        "|nasceu|grávida|ganhou|ganhámos|vendido|vendida|vendeu|comprado|comprou|pago|paga|reparado|incidente"
        "|avaria|atraso|atrasado|terminado|concluído|concluída|fechado|fechada|fecha|substitui|expirou"
        "|aumenta|aumentou|subiu|desceu|ferido|greve|esgotado"
        "|avariou",
    ),
    "Dutch": CueWords(
        decides="besloten|besluit|beslissing|beslist|afgesproken|akkoord|goedgekeurd|gekozen|we kiezen|bevestigd"
        "|afgewezen|geannuleerd|afgelast|uitgesteld|verplaatst|we gaan voor|vastgesteld|groen licht",
        promises="zal|zullen|zult|ga ik|gaan we|moet|moeten|uiterlijk|vervaldatum|termijn|inleveren|regelt|regel ik"
        "|verantwoordelijk|gepland|beloof|neemt over|oplevering|verloopt",
        asks="kun je|kunt u|kan iemand|zou je|zou u|kunnen we|kan je|weet iemand",
        reports="getekend|ondertekend|gelanceerd|gepubliceerd|geleverd|aangekomen|kapot|defect|mislukt|gestolen"
        "|ontslag|aangenomen|vertrekt|overleden|geboren|zwanger|getrouwd|gewonnen|verkocht|gekocht|betaald"
        "|gerepareerd|storing|vertraging|vertraagd|klaar|afgerond|gesloten|sluit|vervangen|verlopen|gestegen"
        "|gedaald|verhoogd|gewond|ongeluk|staking|uitverkocht|bevorderd|verkozen|gevonden",
    ),
    "Polish": CueWords(
        decides="zdecydowano|zdecydowaliśmy|zdecydowałyśmy|zdecydowali|zdecydował|zdecydowała|zdecydowałem"
        "|postanowiliśmy|postanowiono|decyzja|decyzję|decyzji|uzgodniliśmy|uzgodniono|ustaliliśmy|ustalono"
        "|zatwierdzono|zatwierdzony|zatwierdzona|zatwierdził|zatwierdziła|zatwierdzili|wybraliśmy|wybrano"
        "|odrzucono|odrzucili|odwołano|odwołane|odwołany|przełożono|przełożone|przełożony|przesunięto"
        "|zaakceptowano|zaakceptował|zgodziliśmy|potwierdzono|potwierdził"
        "|odrzucony|odrzucona|odrzucone|odrzucił",
        promises="będzie|będą|będę|będziemy|wyślę|wyślemy|zrobię|zrobimy|przygotuję|przygotujemy|dostarczę|dostarczymy"
        "|musi|muszą|musimy|muszę|trzeba|termin|terminie|terminu|najpóźniej|do końca|zajmę się|zajmie się"
        "|odpowiedzialny|odpowiedzialna|odpowiada za|zaplanowano|obiecuję|upływa|wygasa",
        asks="czy",
        reports="podpisano|podpisaliśmy|podpisał|podpisała|uruchomiono|uruchomiliśmy|opublikowano|dostarczono|dotarł"
        "|dotarła|dotarły|zepsuł|zepsuła|zepsute|zepsuty|awaria|awarię|skradziono|ukradziono|zrezygnował"
        "|zrezygnowała|zwolnił|zatrudniliśmy|zatrudniono|odchodzi|zmarł|zmarła|urodził|urodziła|urodziło"
        "|ciąży|wygrał|wygraliśmy|sprzedano|sprzedaliśmy|kupiliśmy|zapłacono|zapłacił|naprawiono|naprawił"
        "|opóźnienie|opóźniony|zakończono|zakończyliśmy|zamknięto|zamknięty|zamknięta|wygasł|wzrosły|wzrósł"
        "|wzrosła|spadł|spadła|wypadek|strajk|wyprzedane|awansował|brakuje",
    ),
    "Russian": CueWords(
        decides="решили|решено|решил|решила|решение|договорились|согласовано|согласовали|утвердили|утверждено"
        "|утверждён|утверждена|одобрено|одобрили|одобрил|одобрен|одобрена|выбрали|выбрано|отклонено|отклонили"
        "|отменили|отменено|отменена|отменён|перенесли|перенесено|перенесена|перенесён|подтверждено"
        "|подтвердили|подтвердил|принято|остановились на",
        promises="будет|будут|буду|будем|отправлю|отправим|сделаю|сделаем|пришлю|пришлём|подготовлю|подготовим|должен"
        "|должна|должны|нужно|необходимо|срок|срока|дедлайн|не позднее|до конца|займусь|займётся|отвечает за"
        "|запланирован|запланирована|запланировано|обещаю|истекает",
        asks="можешь|можете|не могли бы|не мог бы|может ли|сможешь|сможете|кто нибудь знает|есть ли",
        reports="подписали|подписан|подписано|подписал|подписала|запустили|запущен|запущена|опубликовали|опубликовано"
        "|доставили|доставлен|доставлено|прибыл|прибыла|прибыли|сломался|сломалась|сломано|упал|упала|отказал"
        "|авария|сбой|украли|уволился|уволилась|наняли|уходит|скончался|умер|умерла|родился|родилась"
        "|беременна|выиграли|выиграл|продали|продан|купили|оплатили|оплачено|оплачен|исправили|исправлено"
        "|задержка|задерживается|закончили|завершили|завершено|закрыли|закрыт|закрыта|закрыто|заменили|истёк"
        "|выросли|вырос|выросла|снизились|травма|забастовка|выделил|выделили|назначен|назначена",
    ),
    "Swedish": CueWords(
        decides="beslutat|beslutade|beslut|bestämt|bestämde|överens|enades|godkänt|godkänd|godkändes|godkände"
        "|vi väljer|valde|bekräftat|bekräftad|avslag|avslagit|inställt|inställd|uppskjutet|uppskjuten|flyttat"
        "|flyttas|vi kör på|grönt ljus|besluttet|vedtaget|godkendt|godkjent|har valt|vi valt",
        promises="jag ska|vi ska|ska vara|skall|kommer att|måste|senast|förfaller|tar hand om|ansvarar|ansvarig"
        "|planerad|planerat|lovar|levererar|skal|ansvarlig|frist",
        asks="kan du|kan ni|kan vi|skulle du|vet någon|har du|har ni|kan någon",
        reports="undertecknat|undertecknad|skrivit på|lanserat|lanserade|publicerat|publicerade|levererat|levererades"
        "|anlänt|kommit fram|trasig|trasigt|sönder|misslyckades|kraschade|stulen|stulits|sagt upp|säger upp"
        "|anställt|slutar|avled|dött|föddes|född|gravid|vann|vunnit|sålt|sålde|köpt|köpte|betalat|betald"
        "|lagat|lagad|avbrott|driftstopp|försenad|försenat|försening|avslutat|stängt|stängd|stänger|ersatt"
        "|ersätter|gått ut|ökat|ökar|sjunkit|skadad|olycka|strejk|slutsåld|befordrad|saknas",
    ),
}
# Scripts without spaces: Chinese, Japanese.
EAST_DECISION = lazy(
    "决定|決定|确定|確定|同意|批准|达成一致|達成一致|敲定|改到|改为|改成|换成|取消|推迟|推遲|延期|确认|確認|选定|選定|定于"
    "|決ま|決め|承認|合意|採用|中止|にしました|変更にな|可決"
)
EAST_PROMISE = lazy(
    "将在|將在|将于|將於|会在|會在|我会|我會|我们会|我們會|截止|期限|之前|必须|必須|负责|負責|到期|计划|計劃|承诺|最晚"
    "|需要|予定|締切|締め切り|までに|必要があ|担当|しなければ|いたします|提出"
)
EAST_QUESTION = lazy(r"[吗嗎呢么][。\s]*\Z|是否|能否|可否|(?:ます|です|でしょう|せん)か[。\s]*\Z")
EAST_REPORT = lazy(
    "签了|签署|簽署|发布|發布|上线|上線|到货|到貨|坏了|壞了|故障|失败|失敗|崩溃|被盗|辞职|辭職|离职|離職|入职|入職|去世|出生|怀孕|获得|獲得"
    "|卖出|付款|修好|延误|完成|关闭|關閉|上涨|上漲|下降|罢工"
    "|届き|届いた|壊れ|障害|盗まれ|退職|入社|亡くな|生まれ|受賞|売れ|支払|修理|遅れ|完了|終了|終わり|閉鎖|値上|値下|発売|公開"
)
