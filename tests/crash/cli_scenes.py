"""What the command line is doing when it is killed: the book before, the words typed, the book after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from commonplace import Book
from tests.crash.ops import Model, Texts

RULE, NEW_RULE, REVIEW, MORE, OLD = (
    "The build must be green.",
    "The build must be green before a release, always. " * 40,
    "Two people review.",
    "One of them knows the code.",
    "Releases were on Fridays.",
)
ADDED = "What was on its way when it was killed. " * 60  # more than one page of a file


def make_book(root: str) -> Model:
    """The book that every scene starts from: a history, several entries, something in the trash."""
    with Book.open(root) as book:
        book.store(RULE, "release-rule", "global")
        book.store(NEW_RULE, "release-rule", "global", mode="replace")
        book.store(REVIEW, "review-rule", "global")
        book.store(MORE, "review-rule", "global")
        book.store(OLD, "old-rule", "global")
        book.forget("old-rule", "global")
    return Model(
        notes={"release-rule": (NEW_RULE,), "review-rule": (REVIEW, MORE)},
        history={"release-rule": ((RULE,),)},
        trash={"old-rule": ((OLD,),)},
    )


@dataclass(frozen=True)
class Scene:
    words: tuple[str, ...]
    after: Callable[[Model], Model]
    purged: Texts = ()  # what may be nowhere in the files once it is acknowledged


def _forgotten(model: Model) -> Model:
    notes = {key: texts for key, texts in model.notes.items() if key != "release-rule"}
    return replace(model, notes=notes, trash={**model.trash, "release-rule": (model.notes["release-rule"],)})


def _restored(model: Model) -> Model:
    return replace(model.with_note("old-rule", (OLD,)), trash={})


def _consolidated(model: Model) -> Model:
    return model.put_aside("release-rule").put_aside("review-rule").with_note("rules", (ADDED,))


def _purged(model: Model) -> Model:
    return Model({"review-rule": model.notes["review-rule"]}, {}, model.trash)


def _words(line: str, *more: str) -> tuple[str, ...]:
    return (*line.split(), *more, "--scope", "global", "--json")


SCENES: dict[str, Scene] = {
    "store, a new one": Scene(
        _words("store --key new-rule", ADDED), lambda model: model.with_note("new-rule", (ADDED,))
    ),
    "store, one more entry": Scene(
        _words("store --key review-rule", ADDED), lambda model: model.with_note("review-rule", (REVIEW, MORE, ADDED))
    ),
    "store --mode replace": Scene(
        _words("store --key review-rule --mode replace", ADDED),
        lambda model: model.put_aside("review-rule").with_note("review-rule", (ADDED,)),
    ),
    "forget": Scene(_words("forget release-rule"), _forgotten),
    "restore": Scene(_words("restore old-rule"), _restored),
    "consolidate": Scene(_words("consolidate release-rule review-rule --into rules --text", ADDED), _consolidated),
    "forget --purge": Scene(_words("forget release-rule --purge --yes"), _purged, purged=(RULE, NEW_RULE)),
}
