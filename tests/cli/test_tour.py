"""The tour: what it says has happened has happened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from commonplace import Book
from commonplace.cli.tour import PROJECT
from commonplace.model.choices import ScopeChoice
from commonplace.model.scope import Scope, ScopeKind
from tests.cli.calls import fine, process, run


def test_the_tour_loses_nothing(tmp_path: Path) -> None:
    """As a person starts it: every acknowledged write is in the book that it leaves, and the figures are true."""
    outcome = process("tour")
    assert (outcome.status, outcome.err) == (0, "")
    acknowledged, lost = re.findall(
        r"(\d+) writes were acknowledged before the kill, (\d+) of them are lost", outcome.out
    )[0]
    assert int(acknowledged) >= 25 and lost == "0"
    assert re.search(r"\d+ notes read, 0 differences", outcome.out)
    (root,) = re.findall(r"^Explore:     (.+)$", outcome.out, re.M)
    with Book.open(root, project=PROJECT, agent="tour", role="person") as book:
        assert len(book.list(Scope(ScopeKind.AGENT, "writer"))) >= int(acknowledged)
        assert book.show("staging-port").entries[0].text.endswith("6000.")
        assert book.verify().ok
    assert "staging-port.md" in outcome.out and "port 6000" in outcome.out


def test_the_tour_finds_what_it_asks() -> None:
    """Three of its four questions have a strong match, and the one about penguins has none."""
    said = fine("tour")
    assert (said["stored"], said["found"], said["lost"], said["differences"]) == (5, 3, 0, 0)


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_a_loss_is_told(how: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Were anything lost, the tour would say so, and its status would be 1, with --json too."""
    listed = Book.list

    def short(self: Book, scope: ScopeChoice | None = None, **more: Any) -> object:
        return (
            listed(self, scope, **more)[1:]
            if scope == Scope(ScopeKind.AGENT, "writer")
            else listed(self, scope, **more)
        )

    monkeypatch.setattr(Book, "list", short)
    outcome = run("tour", *how)
    assert outcome.status == 1
    assert outcome.answer()["lost"] == 1 if how else ", 1 of them are lost" in outcome.out
