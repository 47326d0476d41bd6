"""Connect a host, disconnect it, and say how it stands.

Everything is worked out before anything is written, so that a refusal leaves all files as they were. What connects a
host is worked out from its data each time; nothing is remembered anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TypeVar

from commonplace.hosts.wiring import block_edit, files, json_edit
from commonplace.hosts.wiring.files import Held
from commonplace.hosts.wiring.recognise import all_ours, is_our_file, is_ours
from commonplace.hosts.wiring.values import Block, Entry, Host, Part, Site, Whole
from commonplace.model.errors import CommonplaceError, HostFileUnusable, NotOurs
from commonplace.model.value import NamedTuple

T = TypeVar("T")


class Change(NamedTuple):
    """A file as it is and as it will be (None: not there)."""

    held: Held
    text: str | None
    executable: bool = False

    @property
    def action(self) -> str:
        if self.text == self.held.text:
            return "unchanged"
        if self.held.text is None:
            return "created"
        return "removed" if self.text is None else "changed"

    def diff(self) -> str:
        """What would change, as a unified diff."""
        import difflib  # noqa: PLC0415 - only for --print

        old, new = self.held.text or "", self.text or ""
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{self.held.file}", f"b/{self.held.file}"
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plan_connect(host: Host, site: Site) -> list[Change]:
    """What has to change for a host to be connected as the site says."""
    return [_planned(held, wanted, known) for held, wanted, known in _by_file(host, site)]


def plan_by_hand(host: Host, site: Site) -> list[Change]:
    """What connecting writes where nothing is: for a person to add to files that we cannot change."""
    parts = list(host.parts(site))
    places = dict.fromkeys((part.base, part.file) for part in parts)
    found = {place: [part for part in parts if (part.base, part.file) == place] for place in places}
    return [_planned(Held(*place), here, here) for place, here in found.items()]


def plan_disconnect(host: Host, site: Site) -> list[Change]:
    """What has to change for nothing of ours to be left."""
    changes = [_planned(held, [], known) for held, _, known in _by_file(host, site)]
    return list(reversed(changes))


def apply(changes: Sequence[Change]) -> list[Change]:
    """Write what changes. Where one file fails, those before it are put back as they were."""
    done: list[Change] = []
    try:
        for change in changes:
            if change.action != "unchanged":
                files.write(change.held, change.text, executable=change.executable)
                done.append(change)
    except CommonplaceError:
        for change in reversed(done):
            now = files.read(change.held.base, change.held.file)
            files.write(now._replace(mode=change.held.mode), change.held.text)
        raise
    return done


def is_complete(host: Host, site: Site) -> bool:
    """Whether something of ours is in every place that connecting writes to, whatever it says."""
    there = {(held.path, _place(part)) for held, part, _ in _ours(host, site)}
    wanted = {(files.Held(part.base, part.file).path, _place(part)) for part in host.parts(site)}
    return wanted <= there


def _place(part: Part) -> tuple[str | None, ...]:
    return part.path if isinstance(part, Entry) else ()


def ours_at(host: Host, site: Site) -> list[tuple[Held, object]]:
    """What is ours in the host's files: each value, with the file it is in."""
    return [(held, value) for held, _, value in _ours(host, site)]


def _ours(host: Host, site: Site) -> Iterator[tuple[Held, Part, object]]:
    for held, _, known in _by_file(host, site):
        for part in known:
            for value in _safely(held, lambda part=part, held=held: _found(held.text, part)):  # type: ignore[misc]
                yield held, part, value


def _found(text: str | None, part: Part) -> list[object]:
    """What is ours at one part's place."""
    if isinstance(part, Entry):
        found: list[object] = _editor(part).find(text, part.path)
        return found if part.beside is not None else [value for value in found if is_ours(value)]
    if isinstance(part, Whole):
        return [text] if text is not None and is_our_file(text) else []
    block = block_edit.find(text)
    return [] if block is None else [block]


def _by_file(host: Host, site: Site) -> Iterator[tuple[Held, list[Part], list[Part]]]:
    """Each file with the parts that are wanted in it, and all that may be in it from another time."""
    wanted = list(host.parts(site))
    known = list(host.parts(site._replace(protocol=True)))
    for place in dict.fromkeys((part.base, part.file) for part in known):
        held = files.read(*place)
        here = [[part for part in parts if (part.base, part.file) == place] for parts in (wanted, known)]
        yield held, here[0], here[1]


def _planned(held: Held, wanted: Sequence[Part], known: Sequence[Part]) -> Change:
    run = any(isinstance(part, Whole) and part.executable for part in known)
    if isinstance(known[0], Whole):
        return Change(held, _whole(held, wanted, known), run)
    if isinstance(known[0], Block):
        return Change(held, _block(held, wanted))
    return Change(held, _safely(held, lambda: _entries(held, wanted, known)))


def _whole(held: Held, wanted: Sequence[Part], known: Sequence[Part]) -> str | None:
    new = next((part.text for part in wanted if isinstance(part, Whole)), None)
    expected = {part.text for part in known if isinstance(part, Whole)}
    if held.text is not None and held.text not in expected and not is_our_file(held.text):
        if new is None:
            return held.text
        raise NotOurs(f"{held.path} is there already, and is not ours.")
    return new


def _block(held: Held, wanted: Sequence[Part]) -> str | None:
    body = next((part.text for part in wanted if isinstance(part, Block)), None)
    if body is None:
        return _safely(held, lambda: block_edit.remove(held.text) if held.text is not None else None)
    if _safely(held, lambda: block_edit.find(held.text)) == body.strip("\n") + "\n":
        return held.text
    return _safely(held, lambda: block_edit.insert(held.text, body))


def _entries(held: Held, wanted: Sequence[Part], known: Sequence[Part]) -> str | None:
    entries = [part for part in wanted if isinstance(part, Entry)]
    rest = [part for part in known if isinstance(part, Entry)]
    if entries and _stands(held.text, entries, rest):
        return held.text
    text = held.text
    for part in reversed(rest):
        text = _without(text, part)
    # What stands beside something goes in only with it: else nobody could tell later whose it was.
    theirs = {part.beside for part in entries if part.beside and json_edit.find(text, (part.beside,))}
    for part in entries:
        editor = _editor(part)
        found = editor.find(text, part.path)
        if part.beside is not None and (found or part.beside in theirs):
            continue
        if found and part.path[-1] is not None:
            name = ".".join(str(word) for word in part.path)
            raise NotOurs(f"{held.path} has a {name} of your own; it was not touched.")
        text = editor.insert(text, part.path, part.value)
    return text


def _stands(text: str | None, wanted: Sequence[Entry], known: Sequence[Entry]) -> bool:
    """Whether what is ours in a file is what is wanted, no less and no more."""
    for part in known:
        found = _editor(part).find(text, part.path)
        if part.beside is not None:
            continue
        mine = [value for value in found if is_ours(value)]
        if mine != [other.value for other in wanted if other.path == part.path]:
            return False
    return True


def _without(text: str | None, part: Entry) -> str | None:
    """The text without any entry of ours at a part's path."""
    editor = _editor(part)
    if part.beside is not None:
        if text is None or not json_edit.is_last_after(text, str(part.path[-1]), part.beside):
            return text
        inner = json_edit.find(text, (part.beside,))
        same = editor.find(text, part.path) == [part.value]
        return editor.remove(text, part.path, lambda _: True) if same and all(map(all_ours, inner)) else text
    while text is not None and any(map(is_ours, editor.find(text, part.path))):
        text = editor.remove(text, part.path, is_ours)
    return text


def _editor(part: Entry) -> ModuleType:
    if part.format == "toml":
        from commonplace.hosts.wiring import toml_edit  # noqa: PLC0415 - one host needs it

        return toml_edit
    if part.format == "yaml":
        from commonplace.hosts.wiring import yaml_edit  # noqa: PLC0415 - one host needs it

        return yaml_edit
    return json_edit


def _safely(held: Held, work: Callable[[], T]) -> T:
    """Do something with a file's text; what cannot be understood is said with the file's name."""
    try:
        return work()
    except ValueError as error:
        raise HostFileUnusable(f"{held.path} cannot be changed safely: {error}.") from None
