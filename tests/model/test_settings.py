"""Settings: the nearest word counts, and a mistake is an error instead of a silent default."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.errors import InvalidSettings
from commonplace.model.settings import Settings, load_settings
from tests.strategies import any_text


def test_nothing_said_gives_the_defaults() -> None:
    """Without flags, environment and file, and with what is not ours in the environment, all is default."""
    assert load_settings({}, {"PATH": "/bin", "COMMONPLACE_OTHER": "x"}, {}) == Settings()


def test_flag_over_environment_over_file() -> None:
    """A flag wins over the environment, the environment over config.toml; a flag of None was not given."""
    environment, config = {"COMMONPLACE_AGENT": "env"}, {"agent": "file"}
    assert load_settings({"agent": "flag"}, environment, config).agent == "flag"
    assert load_settings({"agent": None}, environment, config).agent == "env"
    assert load_settings({}, {}, config).agent == "file"
    assert load_settings({"enabled": False}, {"COMMONPLACE_ENABLED": "1"}, {}).enabled is False


@pytest.mark.parametrize("words", [("1", "0"), ("true", "FALSE"), ("Yes", "no"), ("on", "off"), ("ON", "")])
def test_truth_in_words(words: tuple[str, str]) -> None:
    """The environment says true and false in the usual words, in any case."""
    assert [load_settings({}, {"COMMONPLACE_SEALED": word}, {}).sealed for word in words] == [True, False]


def test_an_empty_text_is_no_text() -> None:
    """A variable that is set and empty takes an optional setting away, also from config.toml."""
    assert load_settings({}, {"COMMONPLACE_PROJECT": ""}, {"project": "file"}).project is None


@pytest.mark.parametrize(
    "config",
    [
        {"roots": "typo"},
        {"": "x"},
        {"sealed": "maybe"},
        {"sealed": 1},
        {"lock_timeout": "soon"},
        {"lock_timeout": True},
        {"lock_timeout": -1},
        {"lock_timeout": 3601},
        {"lock_timeout": "nan"},
        {"root": 1},
        {"root": ["x"]},
        {"summariser_key": "x"},
        {"summary_tokens": -1},
        {"summary_tokens": 100_000_001},
        {"summary_price": "cheap"},
        {"summary_price": "3"},
    ],
)
def test_mistakes_are_errors(config: Mapping[str, object]) -> None:
    """An unknown name, or a value of another kind, is refused with the name in the message."""
    with pytest.raises(InvalidSettings) as caught:
        load_settings({}, {}, config)
    assert next(iter(config)) in caught.value.message


def test_there_are_few_settings() -> None:
    """What can be set fits on a page."""
    assert len(Settings._fields) <= 25


@given(any_text)
def test_any_number_is_read_or_refused(text: str) -> None:
    """Whatever the environment says of the timeout, it becomes a number within the limits or the one error."""
    try:
        assert 0 <= load_settings({}, {"COMMONPLACE_LOCK_TIMEOUT": text}, {}).lock_timeout <= 3600
    except InvalidSettings as error:
        assert "a number" in error.message


@given(st.floats(0, 3600))
def test_timeouts_are_taken_from_everywhere(seconds: float) -> None:
    """A number counts the same as a flag, as a variable and in config.toml."""
    expected = Settings(lock_timeout=seconds)
    assert load_settings({"lock_timeout": seconds}, {}, {}) == expected
    assert load_settings({}, {"COMMONPLACE_LOCK_TIMEOUT": repr(seconds)}, {}) == expected
    assert load_settings({}, {}, {"lock_timeout": seconds}) == expected
