"""Whatever happens to a tree, and wherever it is killed: a settle ends, and what it leaves is right."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.depth import depths
from tests.tree.settle_machine import TreeMachine


@pytest.mark.parametrize(("examples", "steps"), depths((4, 6), (6, 8), (1_000, 20)))
def test_a_tree_settles_after_anything(examples: int, steps: int) -> None:
    """After any mails, chats and documents, late replies, edits, deletions, forgettings, kills and settles that were
    cut short: a settle ends, every leaf has one parent at most, every parent its children, every sentence is in the
    unit it names, the index agrees, and an index that is built anew leads to the same files."""
    run_state_machine_as_test(
        TreeMachine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
