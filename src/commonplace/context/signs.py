"""The ways in which people say that something holds for good: patterns with a weight, and no subjects.

People rarely announce a lasting wish. They forbid (`no X in here`), contrast (`X, not Y`), generalise (`we never`,
`everywhere`, `our naming is`), settle a question (`then X it is`) or say how things are now (`we moved off X`). The
patterns are about how people talk, in English, and name no subject; `context/statements.py` weighs sentences by them.
Apostrophes may be missing: people type fast. What is not for good, however it is said, is in `context/passing.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from commonplace.model.lazy import lazy

PREFERENCE, CORRECTION, DECISION = "preference", "correction", "decision"


class Sign(NamedTuple):
    """One way of saying that something holds for good; or, with a negative weight, that it does not."""

    why: str
    weight: int
    pattern: re.Pattern[str]


def _sign(why: str, weight: int, *patterns: str) -> Sign:
    return Sign(why, weight, any_of(*patterns))


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern that matches where any of these does, whatever the case."""
    return lazy("|".join(patterns), re.I)


_BE = r"(?:is|are|was|were|isn'?t|aren'?t|'s|'re)"
_PLACE = (
    r"(?:repo\w*|project|code ?base|app|application|code|team|company|org\w*|package|module|library|service"
    r"|monorepo|program"
    r"|system|crates?|product|site|office|lab|machine|cluster|layer|documents?|docs|language|shop|house)"
)
_ORDINARY = (
    r"(?:am|is|are|was|were|be|do|does|did|has|have|had|will|would|can|could|may|might|must|shall|should|if|or|why"
    r"|but|and|of course|better|certainly|probably)"
)
_NORM = (
    r"(?:rules?|polic(?:y|ies)|conventions?|naming|standards?|style|process|guidelines?|practice|targets?|budgets?"
    r"|limits?|agreement|contract|deadline)"
)

SIGNS = (
    # An instruction that stands.
    _sign(
        PREFERENCE,
        4,
        r"\bfrom (?:now|here|today|this point|then) on(?:wards?)?\b|\bfrom now\b|\bgoing forward\b"
        r"|\bin (?:the )?future\b|\bhenceforth\b",
        r"\bas a (?:rule|matter of)\b|\bfor good\b|\bby default\b|\bevery ?time\b|\beach time\b|\bonwards?\b",
        r"(?:^|[,;:.(-] *|\b(?:and|but|please|pls|so|you|then|must|should|to|we|i|is|are) )(?:always|never)\b",
    ),
    _sign(PREFERENCE, 3, r"\b(?:always|never|ever|forever)\b"),
    _sign(
        PREFERENCE,
        4,
        r"\bi(?:'d| would|d)? (?:\w+ly )?(?:prefer|rather|hate|dislike|love|loathe)\b|\bmy preference\b",
        r"\bi(?:'d| would|d)? like (?:\w+ ){1,4}(?:in|to be|as|with|without|short\w*|when)\b",
        r"\bi (?:\w+ly )?(?:(?:can'?t|cannot) (?:stand|bear)|(?:don'?t|do not) (?:like|want))\b|\bi'?m (?:not a fan"
        r"|allergic)\b",
        r"\b(?:pet peeve|drives me|bothers me|annoys me|makes me)\b|\bi find (?:\w+ ){1,4}\w+",
    ),
    _sign(
        PREFERENCE,
        3,
        r"\b(?:before|when|whenever|unless|if|after|while) you \w+",
        r"\bwithout (?:asking|telling)\b|\bask (?:me )?(?:first|before)\b",
    ),
    _sign(
        PREFERENCE,
        1,
        r"\bi (?:want|expect|insist|treat|review|read|lean|use|keep|write|call|say|care)\b",
        r"\bi always\b",
    ),
    _sign(
        PREFERENCE,
        3,
        r"^(?!(?:can|could|would|will)\b)[\w'\"-]+(?: [\w'\"/-]+){0,4},? (?:please|pls)\b(?! \w+ (?:it|this|that"
        r"|them)\b)",
    ),
    # A prohibition.
    _sign(
        CORRECTION,
        3,
        r"\b(?:don'?t|do not|mustn'?t|must not|may not|can'?t be|cannot be|shall not|should(?: not|n'?t)"
        r"|never again|no more)\b",
        r"\b(?:stop|quit|avoid) (?:\w+ly )?\w+ing\b|\bavoid\b|\b(?:not allowed|forbidden|banned|off[- ]limits"
        r"|hands off|prohibited)\b",
        r"\bno (?!(?:idea|worries|problem|rush|need|thanks?|longer|matter|way|doubt|one|clue|hurry|luck|good"
        r"|results?|errors?|chance)\b)"
        r"[\w-]+",
    ),
    _sign(
        CORRECTION,
        2,
        r"\bwithout\b|\bw/o\b|\bnothing (?:else|in between|newer|older|more)\b|\bnot (?:a|one|an) \w+ (?:more"
        r"|less)\b",
    ),
    # A contrast.
    _sign(
        CORRECTION,
        3,
        r"\w[\"'`)]?[,;:.(-] *(?:and |but )?not (?!(?:sure|now|yet|bad|really|exactly|quite|that|too)\b)[\w\"'`]+",
        r"^not [\w\"'`-]+(?: [\w\"'`-]+){0,4}[,;:]",
        rf"(?:^|[,;:(] *)(?!{_ORDINARY}\b)[\w'-]+ not (?!(?:sure|now|yet|bad|only|so)\b)[\w'-]+",
        r"\b(?:instead of|rather than|as opposed to|in place of)\b|\bnot \w+(?: \w+)?,? but\b|\binstead\b",
    ),
    _sign(PREFERENCE, 1, r"\b[a-z]+s? over [a-z]+s\b"),
    # What the agent did or assumed is not how it is.
    _sign(
        CORRECTION,
        2,
        r"^(?:no|nah|nope|wrong|actually|wait|hold on|stop|whoa|careful|hey|argh|ugh|not quite)\b",
        r"\byou (?:just |again )?(?:used|wrote|put|made|called|named|added|changed|signed|forgot|missed|left|went"
        r"|took|\w{3,}ed)\b",
    ),
    _sign(
        CORRECTION,
        3,
        r"\b(?:that'?s|that is|this is|you'?re|you are) (?:wrong|not right|incorrect|not how|not what|not the)\b"
        r"|^wrong\b",
        r"\byou (?:keep|always|constantly|again) \w+",
    ),
    # How things are by now.
    _sign(
        CORRECTION,
        3,
        r"\b(?:no longer|not any ?more|moved (?:to|off|from|away)|switched (?:to|from|off)|changed to|used to be"
        r"|these days|nowadays|by now)\b",
        r"\b(?:is|are|was|were|been|got|has|have) (?:renamed|replaced|retired|deprecated|moved|migrated|changed"
        r"|upgraded|dead|gone|outdated)\b",
        rf"\b(?:the|was|were) old\b|\b(?:{_BE}) (?:now|since)\b|\bupgraded\b|\bsince (?:\w+ )?(?:yesterday|today"
        rf"|last|v?\d)",
        r"\b(?:burned|bit|bites|bitten|cost) (?:us|me|everyone|everybody|them)\b|\blost (?:a|an|two"
        r"|half) \w+ (?:over|to|with)\b",
    ),
    _sign(
        CORRECTION,
        1,
        r"\b(?:is|are|isn'?t|aren'?t) (?:wrong|not)\b|\b(?:can|won|does|do|is|are|has|have)n'?t\b|\bnew\b"
        r"|\bcorrect\b",
    ),
    _sign(
        DECISION,
        2,
        r"\b(?:remains?|keeps?|keeping)\b|\b(?:will not|won'?t|isn'?t|not going to|never) (?:chang|mov"
        r"|budg)\w*",
    ),
    _sign(DECISION, 3, r"\bstays?\b"),
    # A rule for everything of a kind.
    _sign(
        PREFERENCE,
        2,
        r"\b(?:everywhere|anywhere|nowhere|whatsoever|at all|in all|for all|every|each|any|anything|nothing|nobody"
        r"|no one)\b",
        r"\ball (?:of )?(?:the|our|my|these|new)\b|\b(?:everything|everyone|both|whatever|whenever|wherever"
        r"|exclusively|solely)\b",
    ),
    _sign(PREFERENCE, 2, r"\bonly\b"),
    _sign(
        DECISION,
        2,
        r"\bat (?:most|least)\b|\b(?:max(?:imum)?|min(?:imum)?|ceiling|cap|limit|up to|per (?:day|week|month|year"
        r"|user|file))\b",
        r"\b(?:exempt|except|apart from|mandatory|required|optional)\b|\b(?:the|our) last (?:two|three|four|\d+)\b",
    ),
    _sign(
        PREFERENCE,
        2,
        r"\b(?:must|has to|have to|needs? to|should|ought to|shall|may only)\b|\bbelongs?\b|\bare (?:for|in|on|per"
        r"|to)\b",
        r"\b(?:goes?|lives?|live|comes?|stands?) (?:in|into|through|to|under|on|next|at|for|from)\b|\bis (?:for|per"
        r"|called)\b|\bmeans\b",
    ),
    _sign(DECISION, 2, r"\b(?:we|our|ours|us)\b"),
    _sign(
        DECISION,
        2,
        rf"\b(?:in|on|for|across|inside|within|outside(?: of)?) (?:this|our|my|the|all|all my|all our"
        rf"|these) (?:\w+ )?{_PLACE}\b",
        r"\b(?:here|in there|around here)\b|\b(?:my|our) (?:own |whole )?\w+",
    ),
    _sign(
        DECISION,
        2,
        r"^(?!(?:this|its|yes|thus|as|is|was|has|does|lets|thanks)\b)(?:[\w.-]+ ){0,2}[a-z-]+s (?:are|have|go|get"
        r"|need|use|live|come|stay|start|end|must|can|should)\b",
    ),
    _sign(
        DECISION,
        2,
        r"\b(?:is|are|gets?|be|it'?s) (?:written|called|named|spelled|kept|stored|generated|handled|done|built"
        r"|deployed|released|reviewed|measured|counted)\b",
    ),
    _sign(
        DECISION,
        1,
        r"\b(?:is|are|it'?s|needs?|at|be) (?:on |in |at |about |version )?(?:the )?[\"'`]?(?:\d|[A-Z][a-z]*[A-Z\d])",
        r"^the (?:\w+ ){1,4}(?:is|are|has|have|returns?|comes?)\b",
    ),
    # A question is settled.
    _sign(
        DECISION,
        4,
        r"\b(?:we|i)(?:'ve| have|ve)? (?:decided|chose|agreed|settled|will go with|are going with|went with|go with"
        r"|picked|opted)\b",
        r"\b(?:decision|decided|settled|signed(?: \w+)? off|approved|voted|agreed (?:with|on|to|yesterday|today|in"
        r"|last))\b",
        r"\b\w+ it is\b|\bfinal\b|^sold\b|\boff the table\b|\bhas the last word\b",
        r"\b(?:that'?s|thats|that is|it'?s|its|is) (?:final|settled|the (?:plan|rule|policy|deal|standard"
        r"|convention|law)|law|a rule|policy|a must)\b",
    ),
    _sign(
        DECISION,
        3,
        r"\b(?:let'?s|lets|let us) (?!(?:see|try|look|start|go (?:through|over)|first|fix|begin|continue|check|find"
        r"|test|run|take|talk|get|wait|be)\b)\w+",
    ),
    _sign(DECISION, 4, rf"\bour (?:\w+ )?{_NORM}\b"),
    _sign(
        DECISION,
        3,
        rf"\b(?:the|new|old|current|official|company|team|house|hr|legal|security) (?:\w+ )?{_NORM}\b"
        rf"|\b{_NORM} (?:here |now )?(?:is|are|says?)\b",
    ),
    _sign(
        DECISION,
        3,
        r"\b(?:agreed|promised|sold|committed|confirmed)\b.*\w|\bgo(?:ing)? with\b|\bstick(?:ing)? (?:with|to)\b"
        r"|\bwe(?:'re| are)? (?!(?:need|can|could|should|want|are|were|was|had|have|got|get|see|saw|tried|think"
        r"|know|will|would|did|might|just|still|also|really|all|both|must|do|don'?t|lost|went|ran|talked|meet)\b)[a-z]{3,}\b",
    ),
    _sign(
        DECISION,
        3,
        r"\b(?:as of|starting (?:with|from|in)|beginning (?:with|in)|effective|from (?:v?\d[\w.]*|(?:the )?(?:next"
        r"|release|version|january|february|march|april|may|june|july|august|september|october|november"
        r"|december)))\b",
    ),
    _sign(
        DECISION, 2, r"^(?:[\w']+[,.]? ){0,3}then\b|\bthen[.!]?$|^(?:scrap|ditch|drop|forget(?: about)?|kill|lose) \w+"
    ),
    # A reason is given.
    _sign(
        "",
        1,
        r"\b(?:because|since|so that|otherwise|or else|that'?s (?:why|how)|the reason|due to|as the|as per"
        r"|according to|cause)\b",
        r"\bso (?:it|we|you|that|they|callers|people|i|no|the|from)\b",
    ),
    _sign("", 1, r", (?:it|they|we|i|he|she|you|people|users|everyone|nobody|the \w+|our \w+|my \w+) \w+"),
    _sign(PREFERENCE, 2, r"(?:^|[,:;] )(?:use|keep|prefer|treat|spell|assume) \w+"),
    _sign(PREFERENCE, 3, r"^(?:if|when|whenever) (?:a|an|any|some\w*|in) .{3,80}, \w+"),
    # About the task in hand.
    _sign(
        "",
        -2,
        r"\b(?:fails?|failing|failed|crash(?:e[sd]|ing)?|broken|breaks|errors?|hangs?|bug|typos?|weird|odd|stuck"
        r"|missing|loads?|complained)\b",
        r"\bdoes(?:n'?t| not) (?:work|help|change|load|show|do|matter)\b|\bdid(?:n'?t| not)\b|\bstill\b"
        r"|\btoo (?:long|slow|big|small|many|much|short|dark|wide)\b",
    ),
    _sign(
        "",
        -2,
        r"\bi(?:'ll| will) \w+|\bi(?:'m| am|m) (?:\w+ing|off|done|back|stuck|lost|not (?:convinced|sure|there))\b",
        r"\bi(?:'ve| have) \w+ed\b|\bi (?:already|just|have to"
        r"|need to|must|tried|think|see|saw|get|got|guess|noticed|mean|meant|forgot|hope|thought)\b"
        r"|\blet me\b|\bhere (?:is|are|'s|it)\b|\bdon'?t (?:worry|laugh|panic|understand|know)\b",
    ),
    _sign(
        "",
        -2,
        r"\b(?:the|that) other\b",
        r"\b(?:this|that|these|those) (?:test|file|function|line|error|one|bug|page|message|step|paragraph|run"
        r"|chart|button|class|method|loop|query|typo|part|bit)s?\b",
    ),
    _sign(
        "",
        -2,
        r"\b(?:next|this) (?:week|month|weekend)\b|\bplease fix\b|\bpls fix\b|\bwe need (?:a|an|to)\b"
        r"|\bhave a look\b|\btake a look\b",
    ),
)
