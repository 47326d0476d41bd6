"""The structure figures of `make house` count what they say, on a package of a few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import house

PACKAGE = {
    "__init__.py": '"""A package."""\n',
    "book.py": '''"""The facade."""

from small.verbs import keep


class Book:
    """A book."""

    def store(self) -> str:
        return keep.keep_text("x")  # a comment

    def _hidden(self) -> None: ...
''',
    "verbs/__init__.py": "",
    "verbs/keep.py": '''import importlib


class Line:
    """A line."""


def keep_text(text: str) -> str:
    """Return the text, kept."""
    import json

    from small.text import lines

    importlib.import_module("small.text.lines")
    return lines.clean(json.dumps(text)) + lines.clean(text)
''',
    "text/__init__.py": "",
    "text/lines.py": """from __future__ import annotations

from small.text import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from small.book import Book


class Line: ...


def clean(text: str) -> str:
    return words.trim(text)
""",
    "text/words.py": '''def trim(text: str) -> str:
    """Return it trimmed."""
    from . import lines

    assert lines
    return text.strip()
''',
}


@pytest.fixture
def modules(tmp_path: Path) -> list[house.Module]:
    for name, source in PACKAGE.items():
        path = tmp_path / "small" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return house.read_modules(tmp_path / "small")


def test_tokens_leave_out_comments_line_ends_and_docstrings() -> None:
    """A docstring, a comment, a line end and an indentation are free; a string in the code and an f-string are one."""
    assert house.count_tokens('"""Doc."""\n# why\n\nx = 1\n') == (3, 0)
    assert house.count_tokens('def f():\n    """Doc."""\n    return "a"\n') == (7, 1)
    assert house.count_tokens('x = f"{a + b} {c}"\n') == (3, 1)


def test_figures_of_a_small_package(modules: list[house.Module]) -> None:
    """Imports inside functions and by name, classes that exist twice, cycles and missing docstrings are all found."""
    deferred = {module.name: house.count_deferred_imports(module) for module in modules}
    assert {name: count for name, count in deferred.items() if count} == {"small.verbs.keep": 3, "small.text.words": 1}
    assert house.find_duplicate_classes(modules) == {"Line": ["small.text.lines", "small.verbs.keep"]}
    assert house.find_cycles(modules) == [["small.text.lines", "small.text.words"]]
    assert [name for module in modules for name in house.find_undocumented(module)] == [
        "small.book.Book.store",
        "small.text.lines.Line",
        "small.text.lines.clean",
    ]


def test_the_verb_table_may_import_by_name(modules: list[house.Module], monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports in the one module that is the table of verbs are not counted."""
    monkeypatch.setattr(house, "VERB_TABLE", "small.verbs.keep")
    assert sum(map(house.count_deferred_imports, modules)) == 1


def test_rooms_crossed_are_counted_over_the_calls_of_one_action(
    tmp_path: Path, modules: list[house.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that goes from the book through verbs to text changes rooms twice, in four functions of four files."""
    monkeypatch.syspath_prepend(tmp_path)
    from small.book import Book  # type: ignore[import-not-found]

    book = Book()
    book.store()
    assert house.record_calls(tmp_path / "small", book.store) == house.Crossing(2, 4, 4, 3)
