"""Wikilinks: found in prose as Obsidian finds them, and not in code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.text.notes import find_wikilinks, parse, replace_wikilinks
from tests.strategies import LONG_LINES, hostile_text

keys = st.from_regex(r"[a-z0-9-]{1,60}(/[a-z0-9-]{1,60}){0,3}", fullmatch=True)


@given(st.lists(keys, max_size=5), st.sampled_from([" ", "\n", ", ", "日本"]))
def test_written_links_are_found(targets: list[str], between: str) -> None:
    """Every key we link to is found again, once, in order."""
    assert find_wikilinks(between.join(f"[[{target}]]" for target in targets)) == tuple(dict.fromkeys(targets))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]] and [[b|shown]] and [[c#part]] and [[d#part|shown]]", ("a", "b", "c", "d")),
        ("[[people/alice.md]] [[ spaced ]] [[日本]]", ("people/alice", "spaced", "日本")),
        ("[[a]] [[a]]", ("a",)),
        ("![[embedded]]", ("embedded",)),
        (r"\[[escaped]]", ()),
        ("[[]] [[ ]] [[a\nb]] [a] [[#part]]", ()),
        ("`[[code]]` and [[real]]", ("real",)),
        ("```\n[[code]]\n```\n[[real]]", ("real",)),
        ("~~~ py\n[[code]]\n~~~\n[[real]]", ("real",)),
        ("````\n```\n[[code]]\n````\n[[real]]", ("real",)),
        ("```inline``` [[real]]\n[[too]]", ("real", "too")),
        ("[[real]]\n```\n[[code]]\nnever closed", ("real",)),
    ],
)
def test_what_is_a_link(text: str, expected: tuple[str, ...]) -> None:
    """Links in prose count, escaped ones and those in code do not."""
    assert find_wikilinks(text) == expected


@given(hostile_text)
def test_targets_are_clean(text: str) -> None:
    """No text gives a target that is empty, has more than one line, or carries a bracket, heading or label."""
    for target in find_wikilinks(text):
        assert target
        assert not set(target) & set("[]|#\n")


FALLING = "\n".join("`" * length for length in range(1_400, 2, -1))


@pytest.mark.parametrize("text", [*LONG_LINES, "[" * 1_000_000, "[[a|" * 250_000, FALLING])
def test_a_megabyte_of_nonsense_has_no_links(text: str) -> None:
    """Text made to keep a careless pattern busy has no links."""
    assert find_wikilinks(text) == ()


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "{eol}", "{eol}{eol}"])
def test_reworded_entries_read_back(eol: str, ending: str) -> None:
    """A text that is worded anew is read back as such, with either line end and escapes; the rest keeps its bytes."""
    head = "## 2026-11-15T09:30:00Z{eol}<!-- entry id=x trust=agent -->{eol}"
    raw = f"# t{{eol}}{{eol}}{head}See [[old]]{{eol}}\\<!-- entry{{eol}}{{eol}}{head}By [[old|him]]{ending}"
    data = raw.replace("{eol}", eol).encode()
    note = parse(data)
    reworded = note.with_texts(lambda entry: replace_wikilinks(entry.text, lambda to: f"new/{to}"))
    assert reworded.render() == data.replace(b"[[old", b"[[new/old")
    again = [entry.text for entry in parse(reworded.render()).entries]
    assert again == [entry.text.replace("[[old", "[[new/old") for entry in note.entries]
    assert again == [entry.text for entry in reworded.entries]
