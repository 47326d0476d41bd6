"""The ways in which people say what holds only for now, or not at all: such a sentence is never proposed.

Questions, hypotheticals, what is for once, sarcasm, what other people think, and requests for the task in hand. As in
`context/signs.py`, the patterns are about how people talk, in English. `context/statements.py` uses them.
"""

from __future__ import annotations

from commonplace.context.signs import any_of

OUT = any_of(
    # A question.
    r"\?[\s)\"']*$",
    r"^(?:(?:and|so|but|ok|hm+|also|then|now|what)[, ]+)*(?:what(?!ever)\b|why\b|how\b|who\b|where\b|which\b|whose\b"
    r"|when (?:do|did|does|is|are|will|can|was)\b|any (?:idea|reason|chance)\b)",
    r"^(?:(?:and|so|but|ok|hm+|also|then|now)[, ]+)*(?:can|could|would|will|shall|should|do|does|did|is|are|was"
    r"|were|have|has) "
    r"(?:you|we|i|it|they|he|she|there|this|that|these|those|the|a|an|my|our|any)\b",
    # A thought, not a fact.
    r"\b(?:if|unless)\b.{0,80}\b(?:would|could|might|were|(?:i|we|you|it|they|he|she)'d)\b|^\W*(?:suppose|imagine"
    r"|say we)\b",
    r"\b(?:if|unless) (?:we|i|you|they) (?:ever|had)\b|\b(?:if|in case) (?:the|a|we|it) .{0,60}\b(?:could|would)\b",
    r"\b(?:what if|maybe|perhaps|might|who knows|i wonder|not sure|some ?day|one day|eventually|hypothetical\w*"
    r"|in theory|theoretically"
    r"|thinking (?:about|of)|i guess|we could|toying with|no idea|i suppose|tempted to)\b",
    # For once.
    r"\b(?:for now|right now|for the (?:moment|time being|demo|meeting)|at the moment|this (?:one )?time|(?:just "
    r"|only )?(?:this )?once)\b",
    r"\b(?:just|only) for (?:this|that|the|today|tonight|a)\b|\bfor (?:this|that|the other) (?:one|commit|pr|branch"
    r"|run|release|case|task|file|test"
    r"|session|change|round|demo|day|build|deploy)\b|\b(?:on|in) (?:this|that) (?:pr|commit|branch|run|session|case"
    r"|file|test|one)\b",
    r"(?<!since )(?<!as of )(?<!from )\btoday(?!'s)\b(?! on)|\b(?:tonight|tomorrow|temporar\w+|once more|again$"
    r"|not now|meanwhile|yet$|yet,)",
    r"\bfor a (?:sec|second|minute|moment|while|bit)\b|\b(?:until|till) (?!further)\w+|\bwhile (?:testing|debugging"
    r"|i|we)\b|\bfirst thing\b",
    r"\b(?:later|as an exception|exceptionally|this afternoon|this evening|asap)\b",
    # A turn of phrase, or what somebody is about to do or meant to say.
    r"\bnever ?mind\b|\balways (?:a|my) (?:pleasure|joy|treat)\b|\bi meant\b|\bback in (?:a|an|\d+)\b|\ba break\b"
    r"|\bi (?:always|never|keep) (?:forget|remember|know|mix|confuse|mistype|misspell)\w*\b"
    r"|\bi (?:need|have) to (?:check|look|think|see|find|go|leave)\b",
    # Sarcasm.
    r"\b(?:lol|lmao|rofl)\b|(?:^|\s)/s$|\bwhat could (?:possibly )?go wrong|\byeah right\b",
    r"^(?:oh|yeah|sure|yes|great|brilliant|wonderful)[, ]+(?:sure|right|great|because|let'?s|why not|of course)\b",
    # To find something out, or to go on.
    r"^(?:\w+[,.]? )?(?:let'?s|lets) (?:see|try|look|start|go (?:through|over)|first|fix|begin|continue|check|find"
    r"|test|run|take|talk)\b",
)

_REPORT = (
    r"(?:says?|said|saying|thinks?|thought|believes?|likes?|loves?|hates?|prefers?|claims?|claimed|demands?"
    r"|insists?|swears?|suggests?|suggested|argues?|recommends?|recommended|keeps? (?:telling|saying|asking)|used to"
    r"|would|wishes|wants?|wanted|told|always \w+s|never \w+s|reckons?|complains?|complained)"
)
OTHERS = any_of(
    r"^(?:(?:the|my|our|some|most|many|a|an|one|their|his|her|other) )?(?:[\w.'@-]+ ){0,3}?"
    r"(?!(?:i|we|you|it|that|this|these|those|they|there|which|nothing|everything|nobody|and|or|who|please|not"
    r"|never|always|id|i'd"
    r"|we'd|don'?t|also|only|just|what|when|to|rather|policy|law|contract|spec)\b)"
    rf"[\w.'@-]+ {_REPORT}\b"
)
ADOPTED = any_of(
    r"\bso (?:it|that|this|we|i|they|please|let'?s|from|use|do)\b|\bagreed\b|\bwe (?:decided|agreed)\b|\b(?:and"
    r"|but) (?:he|she|they)(?:'s|'re)? (?:is |are )?right\b"
)
TASK = any_of(
    r"^(?:(?:now|then|next|also|and|ok|please|pls|just|first|wait|before that)[, ]+)*(?:fix|run|rerun|commit|push"
    r"|merge|draft|translate|open"
    r"|show|list|try|check|revert|undo|copy|print|send|look|see|find|explain|tell|read|review|close|bisect|continue"
    r"|go on|do|give"
    r"|start|test|deploy|rename|move|set|put|write|add|update|make|change|create|remove|delete|rewrite|refactor"
    r"|implement|log"
    r"|build|install|generate|convert|format|reformat|replace|restart|clean|pick|search|download|upload|compare"
    r"|sort|insert)\b"
)
