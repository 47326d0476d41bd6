"""Near-copies do not fill the page; what differs in the one word that matters is no copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.results import RecallResult
from tests.recall.test_meaning import opened

SAID = (
    "Deploys to production use blue-green switching via the load balancer.",
    "Production deploys use blue-green switching through the load balancer.",
    "Deploys to production are done with blue-green switching via our load balancer.",
    "We do production deploys by blue-green switching via the load balancer.",
    "For production, deploys use blue-green switching by way of the load balancer.",
    "Production deploys: blue-green switching via the load balancer, always.",
)
OTHERS = (
    "A production deploy needs approval from two reviewers.",
    "We never deploy on Fridays after 15:00.",
    "Roll back a deploy with acmectl rollback.",
)
COPIES = (
    (
        "The nightly backup runs at 02:00 and goes to the bucket acme.",
        "Nightly backups run at 02:00, to the bucket acme.",
    ),
    (
        "Before pushing a branch, run the tests with make itest.",
        "Run the tests with make itest before you push a branch.",
    ),
    (
        "Feature flags live in LaunchDarkly; the key is in the vault.",
        "Feature flags are in LaunchDarkly, its key in the vault.",
    ),
    (
        "EU customers are billed in euros, all others in dollars.",
        "Customers in the EU are billed in euros, others in dollars.",
    ),
    ("Never commit generated files to the repository.", "Generated files are never committed to the repository."),
)
TWO_THINGS = (
    ("The meeting is in room 3.", "The meeting is in room 5."),
    ("web-01 runs the gateway behind nginx in Berlin.", "web-02 runs the gateway behind nginx in Berlin."),
    ("Plan B includes ten seats and email support.", "Plan C includes ten seats and email support."),
    ("Maria leads the payments team in Berlin.", "Jonas leads the payments team in Berlin."),
    ("Deploys on Friday are allowed after the freeze.", "Deploys on Friday are not allowed after the freeze."),
    ("The release train leaves every second Tuesday.", "The release train leaves every second Thursday."),
    ("Turn the heating up in the office at night.", "Turn the heating down in the office at night."),
    ("The user prefers tabs over spaces.", "The user prefers spaces over tabs."),
    ("Use v2.3.1 of the client library in all services.", "Use v2.4.0 of the client library in all services."),
    (
        "The API key for Stripe is rotated every ninety days by the platform team.",
        "The API key for Twilio is rotated every ninety days by the platform team.",
    ),
)  # fmt: skip


def found(root: Path, texts: tuple[str, ...], question: str) -> RecallResult:
    with opened(root) as book:
        for number, text in enumerate(texts):
            book.store(text, f"n{number}", decision="create", occurred=f"2026-03-{number + 1:02}T12:00:00Z")
        return book.recall(question, explain=True)


def copies(root: Path, pair: tuple[str, str]) -> list[bool]:
    answer = found(root, pair, pair[0])
    assert {hit.text for hit in answer.hits} == set(pair)
    return ["copy" in parts for parts in answer.explained]


def test_variants_of_one_sentence_do_not_fill_the_page(tmp_path: Path) -> None:
    """Of six ways to say one thing the best stands first; the other five come after all that says something else."""
    answer = found(tmp_path / "book", SAID + OTHERS, "blue-green deploy")
    texts = [hit.text for hit in answer.hits]
    assert texts[0] in SAID
    assert set(texts[1:4]) == set(OTHERS)
    assert set(texts[4:]) == set(SAID) - {texts[0]}
    assert ["copy" in parts for parts in answer.explained] == [False] * 4 + [True] * 5


@pytest.mark.parametrize("pair", COPIES)
def test_the_same_in_other_words_is_a_copy(tmp_path: Path, pair: tuple[str, str]) -> None:
    """Of two notes that say the same, one comes later, as a copy, and is explained so."""
    assert copies(tmp_path / "book", pair) == [False, True]


@pytest.mark.parametrize("pair", TWO_THINGS)
def test_one_word_can_matter(tmp_path: Path, pair: tuple[str, str]) -> None:
    """Two notes that differ in a number, an identifier, a name, a negation or a turning word are no copies."""
    assert copies(tmp_path / "book", pair) == [False, False]
