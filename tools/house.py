"""Print the structure figures of the package: `make house`, or `python -m tools.house --json`.

The figures show whether a change makes the code smaller and straighter: tokens, files, imports inside functions, class
names that exist twice, import cycles, long files, public names without a docstring, and how many times one warm store
and one warm recall cross from one room (first-level package) to another. Nothing here fails a build.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "commonplace"
VERB_TABLE = "commonplace.verbs"  # the one module that may import by name: the table of verbs
LONG_FILE = 450
SHOWN = 10
_FREE_TOKENS = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)
_FSTRING_START = getattr(tokenize, "FSTRING_START", -1)  # from Python 3.12 on
_FSTRING_END = getattr(tokenize, "FSTRING_END", -1)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, its text and its syntax tree."""

    name: str
    path: Path
    source: str
    tree: ast.Module = field(repr=False)

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


class TokenCount(NamedTuple):
    """How many tokens a text has, and how many of these are strings."""

    tokens: int
    strings: int


@dataclass(frozen=True)
class Crossing:
    """What one call of the library ran: how often it changed rooms, and how many functions and files it used."""

    transitions: int
    functions: int
    files: int
    rooms: int


@dataclass(frozen=True)
class House:
    """All structure figures of one package."""

    tokens: int
    strings: int  # of the tokens
    files: int
    deferred_imports: int
    duplicate_classes: Mapping[str, Sequence[str]]
    cycles: Sequence[Sequence[str]]
    long_files: Mapping[str, int]
    undocumented: Sequence[str]
    store: Crossing | None = None
    recall: Crossing | None = None


def read_modules(folder: Path) -> list[Module]:
    """Return the modules below a package's folder, by name."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        source = path.read_text(encoding="utf-8")
        found.append(Module(name, path, source, ast.parse(source)))
    return sorted(found, key=lambda module: module.name)


def count_tokens(source: str) -> TokenCount:
    """Return how many tokens a source text has; comments, line ends, indentation and docstrings are free.

    An f-string is one token: Python 3.11 reads it so, later versions split it, and the figure must not depend on that.
    """
    docstrings = list(_docstring_spans(ast.parse(source)))
    count = strings = depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth -= token.type == _FSTRING_END
        if depth == 0 and token.type not in _FREE_TOKENS:
            is_string = token.type in (tokenize.STRING, _FSTRING_END)
            if token.type == tokenize.STRING and any(first <= token.start[0] <= last for first, last in docstrings):
                continue
            if token.type != _FSTRING_START:
                count += 1
                strings += is_string
        depth += token.type == _FSTRING_START
    return TokenCount(count, strings)


def _docstring_spans(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of every docstring."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            yield first.lineno, first.end_lineno or first.lineno


def count_deferred_imports(module: Module) -> int:
    """Return how many import statements stand inside functions, plus the imports by name (`importlib`) anywhere."""
    if module.name == VERB_TABLE:
        return 0
    inside: set[ast.AST] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, _FUNCTIONS):
            inside.update(part for part in ast.walk(node) if isinstance(part, (ast.Import, ast.ImportFrom)))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "importlib.import_module",
            "import_module",
            "__import__",
        ):
            inside.add(node)
    return len(inside)


def find_duplicate_classes(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Return the class names that are defined in more than one place, each with its modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.name)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def find_cycles(modules: Sequence[Module]) -> list[list[str]]:
    """Return the groups of modules that import each other, at module level or inside functions.

    Imports for type checkers alone do not count: they never run.
    """
    names = {module.name for module in modules}
    graph = {module.name: sorted(_imported_modules(module, names) - {module.name}) for module in modules}
    return sorted(sorted(group) for group in _strong_components(graph) if len(group) > 1)


def _imported_modules(module: Module, names: set[str]) -> set[str]:
    """Return which of the package's modules a module imports while it runs."""
    found: set[str] = set()
    for node in _running_nodes(module.tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_base(module, node)
            found.update(f"{base}.{alias.name}" if f"{base}.{alias.name}" in names else base for alias in node.names)
    return found & names


def _running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node below one, without what stands under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _running_nodes(other)
            continue
        yield child
        yield from _running_nodes(child)


def _absolute_base(module: Module, node: ast.ImportFrom) -> str:
    """Return the dotted name behind `from`, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _strong_components(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components of a graph (Tarjan), without recursion."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for start in graph:
        if start in order:
            continue
        work: list[tuple[str, Iterator[str]]] = []
        node = start
        while True:
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
                work.append((node, iter(graph[node])))
            node, successors = work[-1]
            following = next((item for item in successors if item not in order or item in on_stack), None)
            if following is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    components.append(_pop_component(stack, on_stack, node))
                if not work:
                    break
                node = work[-1][0]
            elif following in order:
                low[node] = min(low[node], order[following])
            else:
                node = following
    return components


def _pop_component(stack: list[str], on_stack: set[str], root: str) -> list[str]:
    """Take one finished component off the stack."""
    found = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        found.append(node)
        if node == root:
            return found


def find_undocumented(module: Module) -> list[str]:
    """Return the public functions, classes and methods of a module that have no docstring."""
    found = []
    for node in module.tree.body:
        if not isinstance(node, (ast.ClassDef, *_FUNCTIONS[:2])) or node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None:
            found.append(f"{module.name}.{node.name}")
        if isinstance(node, ast.ClassDef):
            found += [
                f"{module.name}.{node.name}.{part.name}"
                for part in node.body
                if isinstance(part, _FUNCTIONS[:2])
                and not part.name.startswith("_")
                and ast.get_docstring(part) is None
            ]
    return found


class CallRecorder:
    """A profile function that notes every call into a package: which function, which file, which room."""

    def __init__(self, folder: Path) -> None:
        self._prefix = f"{folder}{os.sep}"
        self._rooms: dict[str, str | None] = {}
        self._room: str | None = None
        self._transitions = 0
        self._codes: set[CodeType] = set()
        self._entered: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take one event of `sys.setprofile`."""
        if event != "call":
            return
        room = self._find_room(frame.f_code.co_filename)
        if room is None:
            return
        self._codes.add(frame.f_code)
        self._entered.add(room)
        if self._room is not None and room != self._room:
            self._transitions += 1
        self._room = room

    def _find_room(self, filename: str) -> str | None:
        """Return the first-level package (or module) of a file, None for a file of another package."""
        if filename not in self._rooms:
            inside = filename.startswith(self._prefix)
            first = filename[len(self._prefix) :].split(os.sep, maxsplit=1)[0] if inside else None
            self._rooms[filename] = first.removesuffix(".py") if first else None
        return self._rooms[filename]

    def summarise(self) -> Crossing:
        """Return what was recorded so far."""
        files = {code.co_filename for code in self._codes}
        return Crossing(self._transitions, len(self._codes), len(files), len(self._entered))


def record_calls(folder: Path, action: Callable[[], object]) -> Crossing:
    """Run an action once and return what it ran of the package in this folder."""
    recorder = CallRecorder(folder)
    sys.setprofile(recorder)
    try:
        action()
    finally:
        sys.setprofile(None)
    return recorder.summarise()


def measure_calls(folder: Path) -> tuple[Crossing, Crossing]:
    """Return what one warm store and one warm recall run, in an open book with a few memories."""
    from commonplace import Book  # noqa: PLC0415 - the counting functions work without the package

    with tempfile.TemporaryDirectory() as scratch, Book.open(Path(scratch) / "book", project="acme/app") as book:
        book.store("Tests run with pytest.", "test-runner")
        book.recall("how do the tests run")
        store = record_calls(folder, lambda: book.store("Staging listens on port 5432.", "staging-port"))
        book.recall("which port does staging use")
        recall = record_calls(folder, lambda: book.recall("on which port is staging"))
    return store, recall


def inspect(folder: Path, *, run: bool = True) -> House:
    """Return the figures of the package in a folder; `run` also measures a store and a recall."""
    modules = read_modules(folder)
    store, recall = measure_calls(folder) if run else (None, None)
    counts = [count_tokens(module.source) for module in modules]
    lengths = {module.name: module.source.count("\n") for module in modules}
    return House(
        tokens=sum(count.tokens for count in counts),
        strings=sum(count.strings for count in counts),
        files=len(modules),
        deferred_imports=sum(map(count_deferred_imports, modules)),
        duplicate_classes=find_duplicate_classes(modules),
        cycles=find_cycles(modules),
        long_files={name: lines for name, lines in lengths.items() if lines > LONG_FILE},
        undocumented=[name for module in modules for name in find_undocumented(module)],
        store=store,
        recall=recall,
    )


def render(house: House) -> str:
    """Return the figures as a small table, with the names behind each count."""
    lines = [
        f"{'tokens':<42} {house.tokens:>8,}",
        f"{'  without strings':<42} {house.tokens - house.strings:>8,}",
        f"{'files':<42} {house.files:>8,}",
        f"{'imports inside functions, and by name':<42} {house.deferred_imports:>8,}",
    ]
    for title, crossing in (("store", house.store), ("recall", house.recall)):
        if crossing is not None:
            lines += [
                f"{f'rooms crossed by a warm {title}':<42} {crossing.transitions:>8,}",
                f"{'  functions, files and rooms run':<42} "
                f"{crossing.functions:>8,} in {crossing.files} files of {crossing.rooms} rooms",
            ]
    lists = {
        "class names that exist twice or more": [
            f"{name}: {', '.join(where)}" for name, where in house.duplicate_classes.items()
        ],
        "import cycles": [f"{len(cycle)} modules: {', '.join(cycle)}" for cycle in house.cycles],
        f"files over {LONG_FILE} lines": [f"{name}: {count}" for name, count in house.long_files.items()],
        f"public names without a docstring (first {SHOWN})": house.undocumented,
    }
    for title, items in lists.items():
        shown = items[:SHOWN] if items is house.undocumented else items
        lines += [f"{title:<42} {len(items):>8,}", *(f"    {item}" for item in shown)]
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Print the figures of `src/commonplace`."""
    parser = argparse.ArgumentParser(prog="make house", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--no-run", action="store_true", help="only read the source; run no store and no recall")
    options = parser.parse_args(words)
    house = inspect(SOURCE, run=not options.no_run)
    print(json.dumps(asdict(house), indent=1) if options.json else render(house))
    return 0


if __name__ == "__main__":
    sys.exit(main())
