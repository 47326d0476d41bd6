"""Nudges: one line that rides on a prompt and tells the agent what is worth saving.

One is due when the user asks for something to be remembered, says how they want things done, corrects the agent or
tells of a decision; after a compaction; and after so many prompts without a store. At most one comes in five prompts,
unless the user asks for something to be remembered. Only the user's own words count: not code, quotes, or what they
pasted. The line says, too, that nothing needs to be said about it.

A hook calls `next_nudge` at each prompt. What it knows of the session is in its record (`records.py`). When an agent
stores, the verb calls `mark_stored`; the hook finds the mark in the state. A store that names its session counts for
that session alone.
"""

from __future__ import annotations

from contextlib import suppress

from commonplace.context.records import COMPACTION, STORED, SessionRecord
from commonplace.model.errors import CommonplaceError
from commonplace.model.lazy import lazy
from commonplace.model.names import new_id, short_hash
from commonplace.model.scope import Caller, Space
from commonplace.state.port import State

NUDGE_EVERY = 15  # prompts without a store
MIN_DISTANCE = 5  # prompts from one nudge to the next
_REMEMBER, _WISH, _CORRECTION, _DECISION, _MESSAGES = "remember", "wish", "correction", "decision", "messages"
_REASONS = {
    _REMEMBER: "The user asks for something to be remembered: `store` it now.",
    _WISH: "The user says how they want things done: `store` it if it holds beyond this task.",
    _CORRECTION: "The user corrects you: `store` what is right if it holds beyond this task.",
    _DECISION: "The user tells of a decision: `store` it with its reason.",
    COMPACTION: "The conversation was compacted: `store` what it taught you that lasts.",
    _MESSAGES: f"{NUDGE_EVERY} messages without a store: `store` what they taught you that lasts, if anything.",
}
_RUBRIC = (
    "Worth saving: a decision and its reason, a correction, a preference, a fact that was hard to find; not secrets,"
    " what the repository already says, or the state of one task. One thing per memory; correct the one that is there."
    " Nothing needs to be said about this."
)
# A prompt without any of these has no reason in it: most are, and are not looked at any further.
_SIGNS = (
    "rememb", "memor", "in mind", "forget", "a note", "from now on", "going forward", "in future", "the future",
    "future ref", "next time", "always", "never", "prefer", "rather", "hate", "like it when", "stop ", "no,", "no.",
    "no!", "no -", "nope", "wrong", "not right", "not what", "incorrect", "actually", "mistake", "decided", "agreed",
    "settled", "chose", "going with", "will go with", "went with", "go with", "stick with", "decision",
)  # fmt: skip
# How a request may begin, before its verb.
_LEAD = (
    r"^(?:(?:ok(?:ay)?|yes|yeah|no|so|and|also|but|great|good|thanks|thank you|perfect|hey|hi|oh|well|please|pls|just"
    r"|(?:can|could|would|will) you|i(?:'d| would) like you to|i (?:want|need) you to|you (?:should|must))"
    r"[,.!:]* +){0,5}"
)  # fmt: skip
_RULES = (
    (_REMEMBER, lazy("|".join((
        _LEAD + r"(?:always )?(?:remember|memori[sz]e)\b"
        r"(?![- ](?:me|when|how|him|her|them|last|the last|the user|if)\b)",
        r"[,;:(\u2013\u2014-] ?(?:please )?remember(?: that\b|:|,| to\b| this\b)",
        r"\b(?:and|but|so) (?:please )?remember(?: that\b|:|,| this\b)",
        r"\bplease remember\b|\bwant you to remember\b",
        r"\b(?:keep|bear) (?:it |this |that )?in mind\b(?: that|:|,|$|[.!])",
        _LEAD + r"(?:keep|bear) in mind\b",
        _LEAD + r"(?:don't|do not|never) forget\b",
        r"\b(?:make|take) a (?:mental )?note\b",
        r"\b(?:save|store|put|add|write|commit) (?:this|that|it|these) (?:to|in|into) (?:your |the )?memory\b",
    )))),
    (_WISH, lazy("|".join((
        r"\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future,|\bfor future reference\b|\bnext time,",
        _LEAD + r"(?:always|never) (?!(?:mind|a pleasure)\b)[a-z]+\b",
        r"\bi(?:'d| would)? (?:always |really |strongly |much )?"
        r"(?:prefer|rather|hate|dislike|don't like|like it when)\b",
        _LEAD + r"stop [a-z]+ing\b",
    )))),
    (_CORRECTION, lazy("|".join((
        r"^(?:no|nope|wrong|stop)\b *[,.!:;\u2013\u2014-]+ *(?:please |no[,.!]? )*"
        r"(?!(?:don't|do not) (?:worry|bother|mind)\b)"
        r"(?!(?:that|it)(?:'s| is) (?:fine|ok|okay|all|good|great|right|correct|it)\b)"
        r"(?:don't|do not|never|not|stop|use|we|it's|it is|that's|that is|this is|the|only|just use)\b",
        r"^(?:no, )?(?:that's|that is|this is|it's|you're|you are)"
        r" (?:wrong|not right|not what|not how|incorrect|mistaken|a mistake)\b",
        r"^(?:no, )?actually,? .{0,200}\b(?:is|are|isn't|aren't|not|use|uses|has|have|runs?)\b",
    )))),
    (_DECISION, lazy("|".join((
        r"(?<!\bif )(?<!\bwhen )(?<!\bonce )(?<!\buntil )(?<!\bwhether )\b(?:we|i|the team)"
        r"(?:'ve| have| all| just| finally| now){0,3} (?:decided|agreed|settled on|chose|chosen|went with)\b",
        r"\b(?:we|i)(?:'ll| will| are|'re|'m| am) (?:go|going|sticking|stick) with\b",
        r"\blet's (?:go with|stick with|settle on)\b|\bit (?:is|was|has been) (?:decided|agreed)\b",
        r"\bthe decision is\b",
    )))),
)  # fmt: skip
_SENTENCE_END = lazy(r"(?<=[.!?])\s+|\n+")
_MARKUP = lazy(r"^[\s*#>-]+|\*\*|__")
_INLINE = lazy(r"`[^`\n]{0,400}`|\"[^\"\n]{0,400}\"|\u201c[^\u201d\n]{0,400}\u201d|(?<!\w)'[^'\n]{1,200}'(?!\w)")
# Lines of a log, a diff, a trace or code.
_PASTED = lazy(
    r"^(?: {4}|\t)|^\s*(?:\[|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL)\b"
    r"|Traceback |File \"|at [\w.$]+\(|[+@]|//|/\*|def |class |import |from \w+ import |function |const |let |var "
    r"|return )"
    r"|[{};]\s*$"
)
_DENIALS = ("no.", "no!", "nope.", "wrong.")
_REQUESTS = ("can you", "could you", "would you", "will you", "please")
_MAX_SENTENCE = 400  # characters
_MAX_HALF = 4_000  # characters of the beginning and of the end of a prompt
_MAX_OWN_HALF = 800  # of what is left without code and quotes: people write above or below what they paste


def next_nudge(session: SessionRecord, prompt: str, stored: str) -> tuple[SessionRecord, str]:
    """Return the session after one more prompt of the user, and the line to add to it; empty if none is due.

    `stored` is what `find_stored` returns.
    """
    number = session.messages + 1
    quiet = 1 if stored != session.stored else session.quiet + 1
    reason = find_reason(prompt)
    if not reason:
        reason = session.nudge or (_MESSAGES if quiet >= NUDGE_EVERY else "")
    session = session._replace(messages=number, quiet=quiet, stored=stored)
    is_soon = session.nudged > 0 and number - session.nudged < MIN_DISTANCE
    if not reason or (is_soon and reason != _REMEMBER):
        return session, ""
    return session._replace(nudge="", nudged=number, quiet=0), describe_nudge(reason)


def describe_nudge(reason: str) -> str:
    """Return the line for a reason."""
    return f"[commonplace] {_REASONS.get(reason, _REASONS[_MESSAGES])} {_RUBRIC}"


def find_reason(prompt: str) -> str:
    """Return why the user's own words in a prompt call for a store; empty if they do not."""
    ends = _keep_ends(prompt)
    lowered = ends.casefold()
    if not any(sign in lowered for sign in _SIGNS):
        return ""
    sentences = _split_sentences(ends)
    for reason, pattern in _RULES:
        if any(pattern.search(sentence) and _is_statement(reason, sentence) for sentence in sentences):
            return reason
    return ""


def _is_statement(reason: str, sentence: str) -> bool:
    """Return whether a sentence says it and does not ask; a request to remember may be put as a question."""
    return not sentence.endswith("?") or (reason == _REMEMBER and sentence.startswith(_REQUESTS))


def _split_sentences(prompt: str) -> list[str]:
    """Return the sentences that the user wrote, in lower case."""
    # Few prompts get here, and the module that knows what is code or quoted is slow to load.
    from commonplace.context.statements import keep_own_words  # noqa: PLC0415

    lines = [line for line in prompt.replace("\u2019", "'").splitlines() if line.strip()]
    own = keep_own_words("\n".join(lines))
    own = "\n".join(_INLINE.sub("", line) for line in own.splitlines() if not _PASTED.search(line))
    if len(own) > 2 * _MAX_OWN_HALF:
        own = f"{own[:_MAX_OWN_HALF]}\n{own[-_MAX_OWN_HALF:]}"
    parts = [" ".join(_MARKUP.sub("", part).split()) for part in _SENTENCE_END.split(own)]
    sentences: list[str] = []
    for part in map(str.casefold, filter(None, parts)):
        # "No. We use uv." is one statement.
        sentence = f"no, {part}" if sentences and sentences[-1] in _DENIALS else part
        if len(sentence) <= _MAX_SENTENCE:
            sentences.append(sentence)
    return sentences


def _keep_ends(prompt: str) -> str:
    """Return the beginning and the end of a long prompt; a block of code that was cut is still one."""
    if len(prompt) <= 2 * _MAX_HALF:
        return prompt
    is_in_code = prompt.count("```", 0, len(prompt) - _MAX_HALF) % 2 == 1
    head = prompt[:_MAX_HALF]
    closing = "\n```\n" if head.count("```") % 2 == 1 else "\n"
    return f"{head}{closing}{'```' if is_in_code else ''}\n{prompt[-_MAX_HALF:]}"


def mark_stored(state: State, space: Space, caller: Caller, when: str) -> None:
    """Note that an agent stored something: in its session, or if it names none, as this agent in this project.

    If it cannot be noted, a nudge comes too soon, and no more.
    """
    mark = f"{when} {new_id()[-8:]}"  # two stores of one second are two
    with suppress(CommonplaceError):
        state.set_fact(space, STORED + (caller.session or _agent_name(caller)), mark, lasting=False)


def find_stored(state: State, space: Space, caller: Caller) -> str:
    """Return a mark that changes whenever the agent of this session stores something; empty if it never did."""
    names = filter(None, (caller.session, _agent_name(caller)))
    with suppress(CommonplaceError):
        return " ".join(filter(None, (state.get_fact(space, STORED + name) for name in names)))
    return ""


def _agent_name(caller: Caller) -> str:
    return f"@{caller.agent or ''}/{short_hash(caller.project or '')}"
