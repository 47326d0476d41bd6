"""The conformance suite of summarisers, for each kind of service; what is true of one; which one a setting names."""

from __future__ import annotations

import json

import pytest

from commonplace.model.errors import InvalidSettings
from commonplace.tree.summarise import estimate_call
from commonplace.tree.summarise_remote import choose_summariser
from tests.embed.service import serving
from tests.tree.model_service import ANTHROPIC, GOOD, OLLAMA, OPENAI, REQUEST, answer_bytes, answer_with
from tests.tree.summariser_conformance import SummariserConformance


class TestOpenAI(SummariserConformance):
    shape = OPENAI

    def test_a_refusal_without_text(self) -> None:
        """A message whose text is null, as of a model that refused, has no sentence and counts its tokens."""
        body = json.dumps(OPENAI.reply("", "stop", 9, 8)).replace('"content": ""', '"content": null')
        with serving(answer_bytes(body.encode())) as service:
            found = self.open(service.address).summarise(REQUEST)
        assert (found.sentences, found.tokens_in, found.tokens_out) == ([], 9, 8)


class TestAnthropic(SummariserConformance):
    shape = ANTHROPIC


class TestOllama(SummariserConformance):
    shape = OLLAMA

    def test_the_context_is_large_enough(self) -> None:
        """Ollama is asked for a context that holds prompt and answer: else it cuts the prompt in silence."""
        with serving(answer_with(OLLAMA, GOOD)) as service:
            self.open(service.address).summarise(REQUEST)
        assert service.asked[0].body["options"]["num_ctx"] == sum(estimate_call(REQUEST))

    def test_an_answer_that_is_not_done(self) -> None:
        """An answer of which Ollama does not say that it is done is not whole; an older one gives no reason."""
        for done, is_whole in ((True, True), (False, False)):
            body = {"message": {"content": GOOD}, "done": done}
            with serving(answer_bytes(json.dumps(body).encode())) as service:
                assert self.open(service.address).summarise(REQUEST).is_whole is is_whole


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/proxy", "/proxy/v1"])
def test_addresses_people_give(base: str) -> None:
    """The host, the base with its version and the whole address mean the same."""
    with serving(answer_with(OPENAI, GOOD)) as service:
        summariser = choose_summariser(f"openai:m@{service.address}{base}")
        assert summariser is not None
        summariser.summarise(REQUEST)
    assert service.asked[0].path == ("/proxy" if "proxy" in base else "") + "/v1/chat/completions"


def test_what_a_setting_names() -> None:
    """`off` names none; Anthropic and Ollama have an address of their own."""
    assert choose_summariser("off") is None
    assert [found.model for name in ("anthropic:a", "ollama:b") if (found := choose_summariser(name))] == [
        "anthropic:a",
        "ollama:b",
    ]


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "on",
        "openai",
        "openai:m",
        "openai:@http://x",
        "anthropic:",
        "ollama",
        "telnet:m@http://x",
        "openai:m@nowhere",
    ],
)
def test_settings_that_name_none(setting: str) -> None:
    """What names no summariser is refused, and not repeated: an address may have a password in it."""
    with pytest.raises(InvalidSettings) as caught:
        choose_summariser(setting)
    assert "telnet" not in f"{caught.value}"
