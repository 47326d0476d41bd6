"""Connect a host, disconnect it, and say how it stands.

Everything is worked out before anything is written, so that a refusal leaves all files as they were. What connects a
host is worked out from its data each time; nothing is remembered anywhere else. What the user wrote or edited is never
replaced or removed: connecting refuses (`NotOurs`), disconnecting leaves it and says so (`Change.left`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple, TypeVar

from commonplace.hosts.wiring import block_edit, files, json_edit
from commonplace.hosts.wiring.files import Held
from commonplace.hosts.wiring.ownership import is_owned, sign
from commonplace.hosts.wiring.recognise import all_ours, host_of, is_shared
from commonplace.hosts.wiring.values import Block, Entry, Host, Part, Site, Whole
from commonplace.model.errors import CommonplaceError, HostFileUnusable, NotOurs

T = TypeVar("T")


class Change(NamedTuple):
    """A file as it is and as it will be (None: not there)."""

    held: Held
    text: str | None
    executable: bool = False
    left: str = ""  # what disconnecting leaves in the file because it is not ours, in a sentence for the user

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
        return found if part.beside is not None else list(filter(_ownership(part), found))
    content = text if isinstance(part, Whole) else block_edit.find(text)
    return [content] if content is not None and is_owned(part.file, content) else []


def _by_file(host: Host, site: Site) -> Iterator[tuple[Held, list[Part], list[Part]]]:
    """Each file with the parts that are wanted in it, and all that may be in it from another time."""
    wanted = list(host.parts(site))
    known = list(host.parts(site._replace(protocol=True, retired=True)))
    for place in dict.fromkeys((part.base, part.file) for part in known):
        held = files.read(*place)
        here = [[part for part in parts if (part.base, part.file) == place] for parts in (wanted, known)]
        yield held, here[0], here[1]


def _planned(held: Held, wanted: Sequence[Part], known: Sequence[Part]) -> Change:
    if isinstance(known[0], Whole):
        return _whole(held, wanted, executable=known[0].executable)
    if isinstance(known[0], Block):
        return _safely(held, lambda: _block(held, wanted))
    change = Change(held, _safely(held, lambda: _entries(held, wanted, known)))
    return change if wanted else change._replace(left=_safely(held, lambda: _left_entries(held, known)))


def _whole(held: Held, wanted: Sequence[Part], *, executable: bool) -> Change:
    new = next((sign(part.file, part.text) for part in wanted if isinstance(part, Whole)), None)
    if held.text is None or is_owned(held.file, held.text):
        return Change(held, new, executable)
    if new is None:
        reason = "it is your own file, or was edited after Commonplace wrote it"
        return Change(held, held.text, left=f"{held.path} was left in place: {reason}.")
    raise NotOurs(f"{held.path} is your own file, or was edited after Commonplace wrote it; it was not changed.")


def _block(held: Held, wanted: Sequence[Part]) -> Change:
    body = next((sign(part.file, part.text) for part in wanted if isinstance(part, Block)), None)
    found = block_edit.find(held.text)
    if found is not None and not is_owned(held.file, found):
        where = f"The commonplace block in {held.path}"
        if body is None:
            return Change(held, held.text, left=f"{where} was left in place: it was edited.")
        raise NotOurs(f"{where} was edited; it was not changed.")
    if found == body:
        return Change(held, held.text)
    if body is None:
        return Change(held, None if held.text is None else block_edit.remove(held.text))
    return Change(held, block_edit.insert(held.text, body))


def _left_entries(held: Held, known: Sequence[Part]) -> str:
    """Say which entries with our name, or with our command among others, are not ours to remove."""
    left = []
    for part in known:
        if not isinstance(part, Entry) or part.beside is not None:
            continue
        is_ours = _ownership(part)
        found = [value for value in _editor(part).find(held.text, part.path) if not is_ours(value)]
        name = ".".join(word for word in part.path if word is not None)
        if part.path[-1] is not None and found:
            left.append(f"{name} in {held.path} was left in place: it is your own entry.")
        elif any(map(is_shared, found)):
            left.append(
                f"An entry of {name} in {held.path} was left in place: it has other hooks besides Commonplace's."
            )
    return " ".join(dict.fromkeys(left))


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
        mine = list(filter(_ownership(part), found))
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
    is_ours = _ownership(part)
    while text is not None and any(map(is_ours, editor.find(text, part.path))):
        text = editor.remove(text, part.path, is_ours)
    return text


def _ownership(part: Entry) -> Callable[[object], bool]:
    """Return the test for what connecting wrote at a part's path: it starts our program, and for the same host."""
    host = host_of(part.value)
    return lambda value: host is not None and host_of(value) == host


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
