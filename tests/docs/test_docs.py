"""The documentation is true: its examples parse, its links lead somewhere, its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonplace.model.memory import Link, MemoryType, Trust
from commonplace.model.scope import Scope, ScopeKind
from commonplace.text.frontmatter import split
from commonplace.text.notes import new_note, parse

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def example(language: str) -> str:
    found = dict(FENCE.findall((ROOT / "docs" / "format.md").read_text(encoding="utf-8")))
    return str(found[language])


def test_the_note_in_the_format_is_read_as_the_format_says() -> None:
    """The example note means what section 4 of docs/format.md says of it, and comes back byte for byte."""
    data = example("note").encode()
    note = parse(data)
    assert note.render() == data
    assert note.meta.type is MemoryType.FEEDBACK
    assert note.meta.links == (Link("supersedes", "global/old-runner", "agent", "active"),)
    assert [entry.trust for entry in note.entries] == [Trust.AGENT, Trust.HUMAN]
    assert note.entries[1].text == "Integration tests need the `--slow` flag."
    assert note.entries[1].tags == ("ci",)


def test_the_note_in_the_format_is_what_we_would_write() -> None:
    """Writing the example's meaning anew gives the example's bytes."""
    note = parse(example("note").encode())
    assert new_note(note.meta, note.entries).render().decode() == example("note")


def test_the_scope_page_in_the_format_is_read_as_the_format_says() -> None:
    """The example _scope.md gives the id and the alias it shows."""
    front, _ = split(example("markdown"))
    assert (front.text("scope"), front.text("id")) == ("project", "github.com/acme/app")
    assert front.texts("aliases") == ("github.com/acme/old-name",)


def test_folder_names_follow_the_rule_in_the_format() -> None:
    """A plain id is its own folder; a project's id, and one that looks hashed, become SLUG-HASH."""
    assert Scope(ScopeKind.AGENT, "reviewer").folder_name == "reviewer"
    assert re.fullmatch(r"app-[0-9a-f]{12}", Scope(ScopeKind.PROJECT, "github.com/acme/app").folder_name or "")
    assert Scope(ScopeKind.AGENT, "a-0123456789ab").folder_name != "a-0123456789ab"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link in a page is a file of this repository."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    prose = re.sub(r"`[^`\n]*`", "", text)
    targets = re.findall(r"\]\(([^)#\s]+)", prose)
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    """Every `make TARGET` that a page names is in the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8")))
    assert named <= targets


def test_the_python_in_the_readme_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example of README.md, run as it stands in an empty folder, prints the lines below it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)
    printed = re.search(r"^prints\n\n```\n(.*?)^```$", text, re.M | re.S)
    assert code is not None
    assert printed is not None
    monkeypatch.chdir(tmp_path)
    exec(compile(code.group(1), "README.md", "exec"), {})
    assert capsys.readouterr().out == printed.group(1)
