"""Whom an import trusts, what it keeps out, and who may do it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace.model.errors import Disabled, InvalidScope, NotPermitted
from commonplace.model.memory import Trust
from tests.book.opened import holds, open_book
from tests.cli.cases import SECRET
from tests.maintenance.import_cases import source, take


def test_what_others_wrote_is_external_until_a_person_says_otherwise(root: Path, tmp_path: Path) -> None:
    """Entries come as external; the same import with --reviewed makes them a person's, once, and changes no text."""
    place = source(tmp_path, "basic-memory")
    take(root, place)
    with open_book(root) as book:
        before = book.show("tea").entries
        assert {entry.trust for entry in before} == {Trust.EXTERNAL}
    done = json.loads(take(root, place, "--reviewed", "--json").out)
    assert (done["trust"], done["trusted"], done["created"], done["unchanged"]) == ("human", 3, 0, 0)
    with open_book(root) as book:
        after = book.show("tea").entries
        assert [entry._replace(trust=Trust.EXTERNAL) for entry in after] == list(before)
        assert {entry.trust for entry in after} == {Trust.HUMAN}
        assert [hit.trust for hit in book.recall("Ann drinks tea").hits[:1]] == ["human"]
        assert book.import_from(place, reviewed=True).unchanged == 3
        assert book.verify().ok


def test_accepting_one_memory_trusts_it(root: Path, tmp_path: Path) -> None:
    """A person's `review --accept KEY` lifts the label from that memory; a coordinator's does not."""
    with open_book(root) as book:
        book.import_from(source(tmp_path, "mem0"))
    with open_book(root, role="coordinator") as book:
        book.accept("prefers-morning-meetings")
        assert book.show("prefers-morning-meetings").entries[0].trust is Trust.EXTERNAL
    with open_book(root) as book:
        book.accept("prefers-morning-meetings")
        assert book.show("prefers-morning-meetings").entries[0].trust is Trust.HUMAN
        assert book.show("api-redesign-ships-spring").entries[0].trust is Trust.EXTERNAL
        assert book.verify().ok


def test_what_comes_later_is_external_again(root: Path, tmp_path: Path) -> None:
    """Trust is given to what a person has seen: a text that changes afterwards comes as external."""
    place = source(tmp_path, "mem0")
    with open_book(root) as book:
        book.import_from(place, reviewed=True)
        data = place / "memories.json"
        data.write_text(data.read_text("utf-8").replace("morning meetings", "evening meetings"), "utf-8")
        book.import_from(place)
        trusts = [entry.trust for entry in book.show("prefers-morning-meetings").entries]
    assert trusts == [Trust.HUMAN, Trust.EXTERNAL]


@pytest.mark.parametrize(
    ("folder", "personal"),
    [(".claude", True), (".config/opencode", True), (".claude/worktrees/app", False), ("app", False), ("", False)],
)
def test_instructions_among_the_user_s_settings_are_the_user_s(
    folder: str, personal: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAUDE.md in ~/.claude is the user's, for all projects; in a repository, or in a clone, it may be anybody's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    place = tmp_path / folder / "CLAUDE.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("# Style\n\nAnswer shortly.\n", "utf-8")
    with open_book(root) as book:
        done = book.import_from(f"~/{folder}/CLAUDE.md")
        (memory,) = [book.show(item.key) for item in done.items]
    assert (done.trust, memory.scope.kind, memory.meta.type) == (
        ("human", "global", "user") if personal else ("external", "project", "project")
    )
    assert memory.entries[0].author == ("human" if personal else None)


def test_an_item_with_a_secret_can_be_left_and_the_rest_is_taken(root: Path, tmp_path: Path) -> None:
    """With --skip-secrets it is named with the rule and its place, and the secret is nowhere on the disk."""
    place = tmp_path / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Acme", "entityType": "firm", "observations": ["Makes anvils", f"Token {SECRET}"]},
        {"type": "entity", "name": f"Key {SECRET}", "entityType": "x", "observations": ["Named like that"]},
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]},
    ]
    place.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    for words in ((), ("--json",), ("--dry-run",)):
        outcome = take(root, place, "--skip-secrets", *words)
        assert outcome.status == 0 and SECRET not in outcome.out + outcome.err
    left = json.loads(take(root, place, "--skip-secrets", "--json").out)["left"]
    assert [(one["place"], one["reason"]) for one in left] == [
        ("memory.jsonl, line 1", "secret"),
        ("memory.jsonl, line 2", "secret"),
    ]
    assert "github" in left[0]["message"]
    with open_book(root) as book:
        assert [item.key for item in book.list()] == ["ann"]
    assert holds(root, SECRET) == []


def test_a_secret_is_taken_out(root: Path, tmp_path: Path) -> None:
    """The item is taken without its secret, which is counted; a place that is a secret is masked."""
    place = tmp_path / "notes"
    place.mkdir()
    (place / "MEMORY.md").write_text("", "utf-8")
    (place / f"{SECRET}.md").write_text(f"---\ndescription: The {SECRET}\n---\nUse {SECRET} and tea.\n", "utf-8")
    outcome = take(root, place, "--json")
    done = json.loads(outcome.out)
    assert done["created"] == 1 and done["redacted"] >= 2 and SECRET not in outcome.out
    with open_book(root) as book:
        (item,) = book.list()
        assert book.show(item.key).entries[0].text.startswith("Use [secret removed: github")
        assert book.import_from(place).unchanged == 1
    assert holds(root, SECRET) == []
    assert SECRET not in take(root, place).out


def test_an_agent_imports_within_its_rank_and_trusts_nothing(root: Path, tmp_path: Path) -> None:
    """An agent's import is external, its links wait, another's scope is left, and it cannot say `reviewed`."""
    place = source(tmp_path, "cao-wiki")
    with open_book(root, role="agent", agent="scout") as book:
        with pytest.raises(NotPermitted):
            book.import_from(place, reviewed=True)
        with pytest.raises(InvalidScope):
            book.import_from(place, scope="team")
        done = book.import_from(place)
        assert [one.place for one in done.left if one.reason == "not_permitted"] == [
            "global/wiki/agent/reviewer/tone.md"
        ]
        assert [link.status for link in book.show("testing-framework").meta.links] == ["proposed"]
        assert book.show("testing-framework").entries[0].trust is Trust.EXTERNAL


def test_an_agent_s_import_of_the_user_s_settings_is_external(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a file is the user's does not make what an agent brings from it a person's word."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("# Style\n\nAnswer shortly.\n", "utf-8")
    with open_book(root, role="agent", agent="scout") as book:
        assert book.import_from("~/.claude/CLAUDE.md").trust == "external"
        assert book.show("style").entries[0].trust is Trust.EXTERNAL


def test_who_may_not_write_may_not_import(root: Path, tmp_path: Path) -> None:
    """Worker, coordinator and orchestrator are refused; so is everybody where memory is switched off."""
    place = source(tmp_path, "mem0")
    for role in ("worker", "coordinator", "orchestrator"):
        with open_book(root, role=role) as book, pytest.raises(NotPermitted):
            book.import_from(place)
    (root / ".commonplace" / "config.toml").write_text("enabled = false\n", "utf-8")
    with open_book(root) as book, pytest.raises(Disabled):
        book.import_from(place)


def test_sealed_takes_all_into_its_session(root: Path, tmp_path: Path) -> None:
    """A sealed book imports into its own session and nowhere else, whatever the source says."""
    place = source(tmp_path, "cao-wiki")
    with open_book(root, session="s1", sealed=True) as book:
        assert {item.scope for item in book.import_from(place).items} == {"session"}
        with pytest.raises(InvalidScope):
            book.import_from(place, scope="global")


def test_a_named_scope_takes_everything(root: Path, tmp_path: Path) -> None:
    """With --scope all of a wiki goes there, its session notes and all projects included."""
    place = source(tmp_path, "cao-wiki")
    (place / "ffff").mkdir()
    other = place / "a1b2c3d4e5f6" / "wiki" / "project" / "testing-framework.md"
    copied = place / "ffff" / "wiki" / "project" / "deploys.md"
    copied.parent.mkdir(parents=True)
    copied.write_text(other.read_text("utf-8").replace("7b1f2c9e", "8b1f2c9e").replace("pytest", "nose"), "utf-8")
    with open_book(root) as book:
        found = book.import_from(place, dry_run=True)
        assert [one.place for one in found.left if one.reason == "other_project"] == [
            "a1b2c3d4e5f6/wiki/project/testing-framework.md",
            "ffff/wiki/project/deploys.md",
        ]
        done = book.import_from(place, scope="global")
        assert {item.scope for item in done.items} == {"global"} and done.created == 5


def test_links_that_change_what_stands_wait_for_a_verdict(root: Path, tmp_path: Path) -> None:
    """A relation `contradicts` or `supersedes` of a source is proposed, and nothing is superseded by it."""
    with open_book(root) as book:
        book.import_from(source(tmp_path, "basic-memory"))
        book.import_from(source(tmp_path, "scaffold"))
        assert [(one.key, one.rel, one.to) for one in book.review()] == [
            ("coffee-brewing-methods", "contradicts", "tea"),
            ("entries", "supersedes", "deploys"),
        ]
        assert book.show("deploys").meta.status == "active"
        book.reject("entries", rel="supersedes", to="deploys")
        book.import_from(tmp_path / "scaffold")
        assert [one.key for one in book.review()] == ["coffee-brewing-methods"]
