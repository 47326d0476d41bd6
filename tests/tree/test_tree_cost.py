"""What a person sees and sets of the model for summaries: its cost, its settings, and what they may not do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Book
from commonplace.model.costs import ModelCost
from commonplace.model.errors import InvalidSettings
from commonplace.model.scope import LOCAL
from commonplace.verbs.summarising import open_model_summaries
from tests.cli.calls import run
from tests.embed.service import serving
from tests.tree.model_service import GOOD, OPENAI, REQUEST, answer_with

ROWS = (
    ModelCost("2026-11-14", "anthropic:m", 3, 12_000, 900, 49_500_000),
    ModelCost("2026-11-15", "ollama:m", 1, 4_000, 100, 0),
)


def fill(root: Path) -> None:
    with Book.open(root, project="p") as book:
        for row in ROWS:
            book.context.state.add_cost(LOCAL, row)


def test_cost_as_json(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tree cost --json` has the sums, and nothing else; without a model they are zero."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    assert run("tree", "cost", "--json").answer() == {"calls": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0.0}
    fill(root)
    assert run("tree", "cost", "--json").answer() == {
        "calls": 4,
        "tokens_in": 16_000,
        "tokens_out": 1_000,
        "usd": 0.0495,
    }


def test_cost_for_people(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --json there is a line for each day and model, and one with the sums."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    fill(root)
    lines = [line.split() for line in run("tree", "cost").out.splitlines()]
    assert lines == [
        ["2026-11-14", "anthropic:m", "3", "12,000", "900", "0.0495"],
        ["2026-11-15", "ollama:m", "1", "4,000", "100", "0.0000"],
        ["total", "4", "16,000", "1,000", "0.0495"],
    ]


def test_cost_in_python(root: Path) -> None:
    """`Book.tree_cost` has the sums and the rows."""
    fill(root)
    with Book.open(root, project="p") as book:
        found = book.tree_cost()
    assert (found.calls, found.tokens_in, found.tokens_out, found.usd, found.rows) == (4, 16_000, 1_000, 0.0495, ROWS)


def test_off_by_default(book: Book) -> None:
    """Without a setting there is no model, and nothing leaves the machine."""
    assert open_model_summaries(book.context) is None
    assert book.status().leaves_machine == ()


@pytest.mark.parametrize("setting", ["gpt", "openai:m", "anthropic:", "openai:m@ftp://x"])
def test_a_setting_that_names_none(root: Path, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that names no summariser is an error where one is needed, and hinders nothing else."""
    monkeypatch.setenv("COMMONPLACE_SUMMARISER", setting)
    with Book.open(root, project="p") as book:
        assert book.recall("x").total == 0
        with pytest.raises(InvalidSettings):
            open_model_summaries(book.context)


def test_the_environment_names_a_model(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model, the key, the budget and the price of the environment are used; status says what goes where, and the
    key is shown nowhere."""
    with serving(answer_with(OPENAI, GOOD)) as service:
        monkeypatch.setenv("COMMONPLACE_SUMMARISER", f"openai:m@{service.address}/v1")
        monkeypatch.setenv("COMMONPLACE_SUMMARISER_KEY", "hunter2")
        monkeypatch.setenv("COMMONPLACE_SUMMARY_PRICE", "3/15")
        with Book.open(root, project="p") as book:
            summaries = open_model_summaries(book.context)
            assert summaries is not None
            assert summaries.summarise_with_budget("n", REQUEST).reason == ""
            assert book.tree_cost()[:4] == (1, 700, 60, 0.003)
            assert book.status().leaves_machine == (
                f"mail, chat and documents, to be summarised, to {service.address}/v1",
            )
            shown = {item.name: item for item in book.config()}
        assert service.asked[0].key == "Bearer hunter2"
    assert (shown["summariser_key"].value, shown["summariser_key"].source) == (
        "set, not shown",
        "COMMONPLACE_SUMMARISER_KEY",
    )
    assert "hunter2" not in repr(shown)


def test_a_book_may_name_a_model_once_it_is_trusted(root: Path) -> None:
    """config.toml names no model before a person has trusted it, nor after it was changed."""
    with serving(answer_with(OPENAI, GOOD)) as service:
        with Book.open(root, project="p") as book:
            book.configure("summariser", f"openai:m@{service.address}")
        with Book.open(root, project="p") as book:
            with pytest.raises(InvalidSettings, match="not trusted"):
                open_model_summaries(book.context)
            book.trust()
            summaries = open_model_summaries(book.context)
            assert summaries is not None
            assert summaries.summarise_with_budget("n", REQUEST).reason == ""
            book.configure("audit_days", "10")
            with pytest.raises(InvalidSettings, match="not trusted"):
                open_model_summaries(book.context)
        assert len(service.asked) == 1


def test_a_book_that_is_not_trusted_spends_no_more(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget in config.toml counts beyond the default only where the file is trusted; a smaller one always."""
    with serving(answer_with(OPENAI, GOOD)) as service:
        monkeypatch.setenv("COMMONPLACE_SUMMARISER", f"openai:m@{service.address}")
        with Book.open(root, project="p") as book:
            book.configure("summary_tokens", "50000000")
        with Book.open(root, project="p") as book:
            book.context.state.add_cost(
                LOCAL, ModelCost(book.context.memories.clock()[:10], "openai:m", 9, 200_000, 0, 0)
            )
            for is_trusted, reason in ((False, "budget_spent"), (True, "")):
                if is_trusted:
                    book.trust()
                summaries = open_model_summaries(book.context)
                assert summaries is not None
                assert summaries.summarise_with_budget("n", REQUEST).reason == reason
            book.configure("summary_tokens", "1")
        with Book.open(root, project="p") as book:
            summaries = open_model_summaries(book.context)
            assert summaries is not None
            assert summaries.summarise_with_budget("n2", REQUEST).reason == "budget_spent"
        assert len(service.asked) == 1


def test_a_key_does_not_stand_in_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in config.toml is refused, by hand or by command, and not shown: it could be of another's account, who
    reads there what was sent."""
    monkeypatch.setenv("COMMONPLACE_ROOT", str(root))
    assert run("config", "set", "summariser_key", "hunter2").status != 0
    (root / ".commonplace" / "config.toml").write_text('summariser_key = "hunter2"\n')
    said = run("config", "set", "summariser", "off")
    opened = run("recall", "x")
    assert opened.status == run("tree", "cost").status != 0
    assert "summariser_key" in opened.err
    assert "hunter2" not in json.dumps([said.out, said.err, opened.out, opened.err])
    assert run("config", "unset", "summariser_key").status == 0
    assert run("tree", "cost").status == 0
