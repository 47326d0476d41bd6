"""Summaries from a model behind an address: three kinds of services, one POST each.

    openai:MODEL@ADDRESS         a service that speaks as OpenAI's does: /v1/chat/completions
    anthropic:MODEL              Anthropic, or @ADDRESS: /v1/messages
    ollama:MODEL                 Ollama on this machine, or @ADDRESS: /api/chat

The texts leave the machine, so this is used only where the user configured it. `embed/service.py` sends them. The
fields that every server of a kind takes are sent, and no others: no temperature, which some models refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from commonplace.embed.service import Service, make_url
from commonplace.model.errors import InvalidSettings
from commonplace.model.settings import NO_SUMMARISER, read_summariser
from commonplace.text.words import estimate_tokens
from commonplace.tree.summarise import (
    SYSTEM_PROMPT,
    Summariser,
    SummaryAnswer,
    SummaryRequest,
    estimate_call,
    make_prompt,
    read_sentences,
)

_MAX_ANSWER_BYTES = 1024 * 1024
_MAX_REPORTED = 100_000_000  # tokens of one call: more is no number to count with
_ENDS = frozenset({"stop", "end_turn", "stop_sequence", "eos_token"})  # how a model says that it came to its end


class _Reply(NamedTuple):
    """What a service answered."""

    text: str
    finish: str  # why the model stopped
    tokens_in: int  # 0: it does not say
    tokens_out: int


class _RemoteSummariser:
    """What the three kinds have in common."""

    kind = ""
    path = ""
    timeout = 120.0  # seconds for one answer: a model on this machine reads slowly

    def __init__(self, address: str, name: str, key: str | None) -> None:
        url = make_url(address, self.path, has_key=key is not None)
        self._service = Service(url, self._make_headers(key), noun="summariser")
        self._name = name
        self.model = f"{self.kind}:{name}"

    def summarise(self, request: SummaryRequest) -> SummaryAnswer:
        """Return what the model answers; raise ServiceFailed if it does not."""
        value = self._make_body(request, make_prompt(request))
        body = self._service.post(value, timeout=self.timeout, most_bytes=_MAX_ANSWER_BYTES)
        try:
            reply = self._read_reply(json.loads(body))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            raise self._service.make_error("gave an answer of another shape") from None
        sentences = read_sentences(reply.text, frozenset(passage.child for passage in request.passages))
        # Some servers say "stop" when the limit stopped it.
        is_whole = reply.finish in _ENDS and reply.tokens_out < request.most_tokens
        tokens_in = reply.tokens_in or estimate_call(request)[0]
        return SummaryAnswer(sentences, tokens_in, reply.tokens_out or estimate_tokens(reply.text), is_whole)

    def _make_headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key is not None else {}

    def _make_body(self, request: SummaryRequest, prompt: str) -> dict[str, object]:
        """Return what is sent."""
        raise NotImplementedError

    def _read_reply(self, body: Any) -> _Reply:
        """Return what came back. Anything of another shape is a KeyError, TypeError or the like."""
        raise NotImplementedError


class OpenAISummariser(_RemoteSummariser):
    """A service that speaks as OpenAI's does."""

    kind, path = "openai", "/v1/chat/completions"

    def _make_body(self, request: SummaryRequest, prompt: str) -> dict[str, object]:
        # OpenAI's newer models refuse `max_tokens`; many servers that speak its way know nothing else.
        host = urlsplit(self._service.url).hostname or ""
        limit = "max_completion_tokens" if host.endswith(("openai.com", "openai.azure.com")) else "max_tokens"
        return {"model": self._name, "messages": _make_messages(prompt), limit: request.most_tokens}

    def _read_reply(self, body: Any) -> _Reply:
        choice, usage = body["choices"][0], body.get("usage")
        text, finish = _read_text(choice["message"]["content"]), _read_text(choice["finish_reason"])
        return _Reply(text, finish, _read_tokens(usage, "prompt_tokens"), _read_tokens(usage, "completion_tokens"))


class AnthropicSummariser(_RemoteSummariser):
    """Anthropic's service."""

    kind, path = "anthropic", "/v1/messages"

    def _make_headers(self, key: str | None) -> Mapping[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key is not None else {})}

    def _make_body(self, request: SummaryRequest, prompt: str) -> dict[str, object]:
        messages = _make_messages(prompt)[1:]
        return {"model": self._name, "system": SYSTEM_PROMPT, "messages": messages, "max_tokens": request.most_tokens}

    def _read_reply(self, body: Any) -> _Reply:
        text = "\n".join(_read_text(block["text"]) for block in body["content"] if block["type"] == "text")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens_in = sum(_read_tokens(body.get("usage"), name) for name in names)
        return _Reply(
            text, _read_text(body["stop_reason"]), tokens_in, _read_tokens(body.get("usage"), "output_tokens")
        )


class OllamaSummariser(_RemoteSummariser):
    """Ollama, on this machine or another."""

    kind, path = "ollama", "/api/chat"

    def _make_body(self, request: SummaryRequest, prompt: str) -> dict[str, object]:
        # Its context is small unless one says otherwise, and what does not fit is cut in silence.
        options = {"num_ctx": sum(estimate_call(request)), "num_predict": request.most_tokens}
        return {"model": self._name, "messages": _make_messages(prompt), "stream": False, "options": options}

    def _read_reply(self, body: Any) -> _Reply:
        finish = _read_text(body.get("done_reason", "stop")) if body["done"] is True else ""
        tokens_in, tokens_out = _read_tokens(body, "prompt_eval_count"), _read_tokens(body, "eval_count")
        return _Reply(_read_text(body["message"]["content"]), finish, tokens_in, tokens_out)


_KINDS = {kind.kind: kind for kind in (OpenAISummariser, AnthropicSummariser, OllamaSummariser)}


def choose_summariser(setting: str, *, key: str | None = None) -> Summariser | None:
    """Return the summariser of a setting; None for "off". Raises InvalidSettings for an unknown one."""
    if setting == NO_SUMMARISER:
        return None
    name = read_summariser(setting)
    if name.is_known:
        return _KINDS[name.kind](name.address, name.model, key)
    raise InvalidSettings(
        "That is no summariser.",  # the setting is not repeated: an address may have a password in it
        hint="Use off, openai:MODEL@ADDRESS, anthropic:MODEL or ollama:MODEL.",
    )


def _make_messages(prompt: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": prompt}]


def _read_text(value: object) -> str:
    """Return a text; "" for null, as in the message of a model that refused."""
    if not isinstance(value, str | None):
        raise TypeError
    return value or ""


def _read_tokens(usage: object, name: str) -> int:
    """Return a number of tokens; 0 where the service does not say it, or says nonsense."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 < value <= _MAX_REPORTED else 0
