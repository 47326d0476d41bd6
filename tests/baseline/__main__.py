"""Save how the product behaves, and compare two such records.

    python -m tests.baseline save FILE.json [--quick] [--bench [SECTION ...]] [--data FOLDER]
    python -m tests.baseline compare OLD.json NEW.json

A record has three branches: `behaviour` (a difference fails the comparison), `wording` (hashes of messages, hints and
help: listed apart) and `figures` (structure and speed: shown, never failing). The product is driven through what a
rebuild keeps: the command, MCP over stdio, `from commonplace import Book`, and docs/errors.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.baseline.compare import compare, render
from tests.baseline.normal import Normal, Normaliser, hash_text
from tests.baseline.product import REPOSITORY, Outcome, Product
from tests.baseline.walk import Step, list_steps, list_wrong_calls, write_sources
from tools import house

ROLES = ("agent", "coordinator", "orchestrator", "worker", "person")
OWN_SETS = ("own_set", "natural_set", "fresh_set")
MODES = ("hybrid", "lexical", "semantic")
PUBLIC_SETS = ("locomo-dev", "realmem-asked", "qmsum-committee", "mtrag-notes")
_METHODS = ("tools/list", "prompts/list", "resources/templates/list")
_ERROR_ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (.*) \| (.*) \|$", re.M)
_VERB_LINE = re.compile(r"^  ([a-z][\w-]*)  +\S", re.M)
_CHOICES = re.compile(r"(?<![=\w] )\{([a-z]+(?:,[a-z]+)+)\}")
_USAGE_WORD = re.compile(r"\[[^\[\]]*\]|\{[^}]*\}|\S+")

_USAGE_START = {"usage:", "commonplace"}

Section = dict[str, Any]


class Record:
    """The record under way: items by kind and section."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.behaviour: dict[str, Section] = {}
        self.wording: dict[str, Section] = {}
        self.figures: dict[str, Section] = {}
        self._today = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400))

    def add(self, section: str, item: str, behaviour: object, wording: object = None) -> None:
        """Keep one item; a name that is there already gets a number."""
        items = self.behaviour.setdefault(section, {})
        name, count = item, 1
        while name in items:
            count += 1
            name = f"{item} ({count})"
        items[name] = behaviour
        if wording:
            self.wording.setdefault(section, {})[name] = wording

    def normalise(self, value: object, wording: frozenset[str] = frozenset()) -> Normal:
        """Return an answer without what differs from run to run."""
        return Normaliser(self.product.places, self._today, wording).normalise(value)

    def as_dict(self) -> dict[str, object]:
        """Return the record as it is saved."""
        about = {"python": platform.python_version(), "system": platform.system()}
        return {"about": about, "behaviour": self.behaviour, "wording": self.wording, "figures": self.figures}


def save(path: Path, *, quick: bool, bench: Sequence[str] | None, data: Path) -> None:
    """Drive the product and write the record to a file."""
    with tempfile.TemporaryDirectory(prefix="baseline-") as folder:
        record = Record(Product(Path(folder).resolve()))
        parts = {
            "help": partial(save_help, record),
            "tools": partial(save_tools, record),
            "walk": partial(save_walk, record),
            "codes": partial(save_codes, record),
            "recall": partial(save_recall, record, data, quick=quick),
            "house": partial(save_house, record),
        }
        for name, save_part in parts.items():
            start = time.perf_counter()
            save_part()
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if bench is not None:
            record.figures["bench"] = run_bench(bench)
        path.write_text(dump(record.as_dict()), encoding="utf-8")


def save_help(record: Record) -> None:
    """Keep the overview, and the usage of every verb and sub-command, those that the overview hides too."""
    overview = record.product.run("--help")
    verbs = _VERB_LINE.findall(overview.output)
    record.add("help", "commonplace", {"exit": overview.exit_status, "verbs": verbs}, hash_text(overview.output))
    sources = record.product.scratch / "sources"
    known = [step.words[0] for step in list_steps(sources)]
    for verb in dict.fromkeys((*verbs, *known)):
        usage = _save_help_of(record, verb)
        choices = _CHOICES.search(re.sub(r"\[[^\[\]]*\]", "", usage))
        for word in choices.group(1).split(",") if choices else ():
            _save_help_of(record, verb, word)


def _save_help_of(record: Record, *words: str) -> str:
    """Keep the usage of one command as behaviour, its whole help as wording, and return the usage."""
    outcome = record.product.run(*words, "--help")
    usage = outcome.output.split("\n\n")[0]
    behaviour = {"exit": outcome.exit_status, "usage": sorted(set(_USAGE_WORD.findall(usage)) - _USAGE_START)}
    item = " ".join(words)
    parent = record.behaviour["help"].get(words[0])
    if len(words) > 1 and parent == behaviour:
        record.add("help", item, "as its verb")
    else:
        record.add("help", item, behaviour, hash_text(outcome.output))
    return usage


def save_tools(record: Record) -> None:
    """Keep what the MCP server offers to each role: names by role, and each tool's schema once."""
    for role in ROLES:
        for more in ((), ("--tools", "files")):
            options = ("--root", str(record.product.root), "--role", role, *more)
            status, results = record.product.serve(options, _METHODS)
            item = " ".join((role, *more))
            if len(results) <= len(_METHODS):
                record.add("roles", item, {"exit": status, "answers": len(results)})
                continue
            hello, tools, prompts, templates = results
            offered = {
                "exit": status,
                "capabilities": hello.get("capabilities"),
                "tools": [_save_tool(record, tool) for tool in tools.get("tools", [])],
                "prompts": [prompt["name"] for prompt in prompts.get("prompts", [])],
                "resources": [template["uriTemplate"] for template in templates.get("resourceTemplates", [])],
            }
            record.add("roles", item, offered, {"instructions": hash_text(hello.get("instructions") or "")})


def _save_tool(record: Record, tool: Mapping[str, Any]) -> str:
    """Keep one tool, and return its name; a role for which it looks otherwise gets a number behind it."""
    normal = record.normalise({name: value for name, value in tool.items() if name != "name"}, frozenset({"title"}))
    known = record.behaviour.setdefault("tools", {})
    wording = record.wording.setdefault("tools", {})
    name, count = str(tool["name"]), 1
    while name in known and (known[name], wording.get(name)) != (normal.behaviour, normal.wording):
        count += 1
        name = f"{tool['name']} ({count})"
    if name not in known:
        known[name], wording[name] = normal.behaviour, normal.wording
    return name


def save_walk(record: Record) -> None:
    """Keep the answers of the walk through every verb, then the refusals of the wrong calls."""
    product = record.product
    write_sources(product)
    sources = product.scratch / "sources"
    product.environment["EDITOR"] = f'"{sys.executable}" "{sources / "editor.py"}"'
    revision = ""
    for step in list_steps(sources):
        outcome = _run_step(product, step, revision)
        answer = _read_json(outcome.output)
        if isinstance(answer, dict) and isinstance(answer.get("revision"), str):
            revision = answer["revision"]
        _save_outcome(record, "walk", step, outcome)
    for step in list_wrong_calls(sources):
        _save_outcome(record, "errors", step, _run_step(product, step, revision))


def _run_step(product: Product, step: Step, revision: str) -> Outcome:
    """Run one step, a minute after the last."""
    product.seconds += 60
    if step.prepare is not None:
        step.prepare(product)
    words = [word.replace("{revision}", revision) for word in step.words]
    return product.run(*words[:1], "--json", "--root", str(product.root), *words[1:], stdin=step.stdin)


def _save_outcome(record: Record, section: str, step: Step, outcome: Outcome) -> None:
    """Keep how a step ended: its status, and what it printed on each stream."""
    behaviour: dict[str, object] = {"exit": outcome.exit_status}
    wording: dict[str, object] = {}
    for name, text in (("answer", outcome.output), ("errors", outcome.errors)):
        value = _read_json(text)
        if value is None and text:
            behaviour[name], wording[name] = "<text>", hash_text(record.normalise(text).behaviour)
        elif value is not None:
            normal = record.normalise(step.shorten(value), step.wording)
            behaviour[name] = normal.behaviour
            wording.update({f"{name}.{place}": text for place, text in normal.wording.items()})
    record.add(section, record.normalise(step.name).behaviour, behaviour, wording)


def _read_json(text: str) -> Any:
    """Return the JSON in a text, None where there is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def save_codes(record: Record) -> None:
    """Keep the registry of errors, as docs/errors.md lists it."""
    page = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
    for code, exit_status, http_status, message, hint in _ERROR_ROW.findall(page):
        behaviour = {"exit": int(exit_status), "http": int(http_status)}
        record.add("codes", code, behaviour, {"message": hash_text(message), "hint": hash_text(hint)})


def save_recall(record: Record, data: Path, *, quick: bool) -> None:
    """Keep what the recall sets find; a set that is not here, or left out by --quick, is kept as null."""
    own = {f"{name} {mode}": REPOSITORY / "tests" / "bench" / f"{name}.json" for name in OWN_SETS for mode in MODES}
    public = {f"{name} hybrid": data / f"{name}.json" for name in PUBLIC_SETS}
    for name, path in {**own, **public}.items():
        mode = name.split(" ")[1]
        left_out = quick and (name in public or mode != "hybrid")
        if left_out or not path.exists():
            record.add("recall", name, None)
            continue
        folder = record.product.scratch / "sets"
        command = [sys.executable, "-m", "tests.baseline.recall_sets", str(folder), f"{path}:{mode}"]
        outcome = record.product.start(command)
        if outcome.exit_status:
            raise SystemExit(f"{name}: {outcome.errors}")
        record.add("recall", name, json.loads(outcome.output)[name])


def save_house(record: Record) -> None:
    """Keep the structure figures, lists as their lengths."""
    found = house.inspect(house.SOURCE)
    figures = {
        "tokens": found.tokens,
        "tokens without strings": found.tokens - found.strings,
        "files": found.files,
        "imports inside functions": found.deferred_imports,
        "duplicate class names": len(found.duplicate_classes),
        "import cycles": len(found.cycles),
        "long files": len(found.long_files),
        "undocumented public names": len(found.undocumented),
    }
    for name, crossing in (("store", found.store), ("recall", found.recall)):
        if crossing is not None:
            figures[f"rooms crossed by a {name}"] = crossing.transitions
            figures[f"functions run by a {name}"] = crossing.functions
            figures[f"files run by a {name}"] = crossing.files
    record.figures["house"] = dict(figures)


def run_bench(sections: Sequence[str]) -> Section:
    """Return the rows of `python -m tests.bench`, all or those of some sections, by their names."""
    only = [word for name in sections for word in ("--only", name)]
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=REPOSITORY) as folder:
        command = [sys.executable, "-m", "tests.bench", "--json", "--where", str(Path(folder) / "where"), *only]
        done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=False)
    rows = _read_json(done.stdout.decode()) or []
    return {f"{row.pop('section')}: {row.pop('name')}": _round(row) for row in rows}


def _round(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the bench with its figures rounded; a start gets its ratio to `python -c pass`."""
    if "more_ms" in row:
        row["ratio"] = row["ours_ms"] / row["floor_ms"]
    return {name: round(value, 2) if isinstance(value, float) else value for name, value in row.items()}


def dump(record: Mapping[str, Any]) -> str:
    """Return a record as JSON with one item on a line, so that it is small and a diff of it can be read."""

    def show(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    branches = []
    for branch, sections in record.items():
        if branch == "about":
            branches.append(f'"about":{show(sections)}')
            continue
        blocks = []
        for section, items in sections.items():
            lines = ",\n".join(f"{show(item)}:{show(value)}" for item, value in items.items())
            blocks.append(f"{show(section)}:{{\n{lines}}}")
        branches.append(f"{show(branch)}:{{\n" + ",\n".join(blocks) + "}")
    return "{" + ",\n".join(branches) + "}\n"


def main(words: Sequence[str] | None = None) -> int:
    """Save a record, or compare two; the exit status is 1 where the product behaves otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.baseline", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    saving = commands.add_parser("save", help="drive the product and write a record")
    saving.add_argument("file", type=Path)
    saving.add_argument("--quick", action="store_true", help="leave out the public data and the modes but hybrid")
    saving.add_argument(
        "--bench", nargs="*", metavar="SECTION", help="also the rows of the bench: all, or some sections"
    )
    saving.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data", help="the public data")
    comparing = commands.add_parser("compare", help="compare an older record with a newer one")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args(words)
    if options.command == "save":
        save(options.file, quick=options.quick, bench=options.bench, data=options.data)
        return 0
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (options.old, options.new))
    found = compare(old, new)
    print(render(found, old, new))
    return found.exit_status


if __name__ == "__main__":
    sys.exit(main())
