"""The commands about the book itself: init, project, status, config, doctor and import."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from commonplace import verbs
from commonplace.book import Book
from commonplace.cli.agents import find_broken, find_hosts
from commonplace.cli.call import DONE, NOTHING, Call, CliCommand, flags
from commonplace.cli.parser import Usage
from commonplace.cli.screen import Screen, scope_name, shown
from commonplace.memories.layout import FORMAT
from commonplace.model.errors import BookTooNew, EmbedderError, InvalidSettings
from commonplace.model.host_results import HostStatus
from commonplace.model.projects import ProjectChange
from commonplace.model.results import Finding, ImportResult, SkippedItem
from commonplace.model.settings import MEANINGS, Setting
from commonplace.text.plural import plural

_INIT_HELP = """Create a book, or what is missing in one.

The scaffold: index pages, the doctrine in system/definition.md, folders for memories and data. Nothing that exists is
overwritten; running it again changes nothing.
"""
_INIT_EXAMPLES = ("commonplace init", "commonplace init --root ~/notes/memory --template full")
_CONFIG_HELP = """{}

A flag overrides COMMONPLACE_*, which overrides the book's config.toml, which overrides the default. `set` writes to
config.toml and keeps your comments in it.
"""
_SETTINGS_HELP = "\nsettings:\n" + "".join(f"  {name:<18}  {meaning}\n" for name, meaning in MEANINGS.items())
_IN_AUDIT = "(who called what; ids, no texts)"
_NO_LOCKS = "this file system does not lock: use the book from one machine at a time"
_SOURCES = {
    "override": "set by hand",
    "remote": "its git remote",
    "marker": "its marker",
    "repository": "the path of its repository",
    "folder": "its path",
}
_PROOFS = {
    "commit": "its root commit",
    "marker": "the nonce of its marker",
    "git": "its .git folder, which was seen before",
    "folder": "its path",
    "adopted": "you: this folder was adopted, or split off",
}
_SEVERITY_STYLES = {"error": "bad", "warning": "warn", "note": "weak"}
_MAX_SHOWN = 10  # of one kind, without --all
_add_all = flags(all=f"show every item, not only the first {_MAX_SHOWN} of each kind")
_EXPECTED_SKIPS = ("own_block", "index_page", "other_file")  # not worth a warning
_EMBEDS_LATER = ("static", "off")  # the first does it within the next question, the other never


def _add_template(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--template", choices=("minimal", "full"), default="minimal", help="the length of the doctrine")


def _init(call: Call) -> int:
    made = Book.init(call.args.root, template=call.args.template)
    if call.answer(made):
        return DONE
    screen = call.screen
    screen.line(f"{'Created' if made.made else 'There already is'} a book in {shown(made.root)}")
    for path in made.made:
        screen.line(f"  {screen.paint(shown(path), 'weak')}")
    screen.line('Next: commonplace store "something worth keeping"')
    return DONE


def _show_project(call: Call) -> int:
    with call.open() as book:
        info, hint = book.project(), book.project_hint
    if call.answer(info):
        return DONE
    screen = call.screen
    number = plural(info.memories, "memory", "memories")
    screen.line(f"{shown(info.id)} ({number}; known by {_SOURCES[info.source]})")
    lines = [("proved by", _PROOFS.get(info.proof, "")), ("also called", ", ".join(info.aliases))]
    lines += [("seen in", ", ".join(info.folders)), ("see also", ", ".join(info.others))]
    for name, value in lines:
        if value:
            screen.label(name, value, indent="  ")
    if hint is not None:
        screen.sentence(shown(hint))
    return DONE


def _list_projects(call: Call) -> int:
    found = call.run(verbs.project.list_projects)
    if call.answer({"projects": found}):
        return DONE
    if not found:
        call.remark("Nothing is stored here yet.", "")
        return NOTHING
    rows = [
        (f"{'* ' if item.own else '  '}{item.id}", f"{item.memories:,}", item.updated[:10], ", ".join(item.folders))
        for item in found
    ]
    call.screen.table(("PROJECT", "MEMORIES", "CHANGED", "FOLDERS"), rows, ("name", "", "weak", "weak"))
    return DONE


def _change_project(call: Call) -> int:
    done: ProjectChange = call.run(call.verb)
    if call.answer(done):
        return DONE
    ident, other = shown(done.id), shown(done.other or "")
    number, moved = (plural(count, "memory", "memories") for count in (done.memories, done.moved))
    texts = {
        "adopted": f"This folder is now project {ident} ({number}).",
        "split": f"This folder is now a project of its own: {ident} ({number}).",
        "merged": f"Moved {moved} from {other} to {ident}, which has {done.memories:,} now.",
        "undone": f"Undid the last {done.undone}: {ident} has {number}.",
    }
    call.screen.line(texts[done.action])
    if done.action in ("adopted", "split") and done.other:
        call.screen.line(f"  The memories of {other} stay there.")
    for old, new in done.renamed:
        call.screen.line(f"  {shown(old)} is {shown(new)} now: the key was taken.")
    if done.action != "undone":
        call.screen.line(call.screen.paint("  To take it back: commonplace project undo", "weak"))
    return DONE


def _status(call: Call) -> int:
    status = call.run(verbs.status.status)
    hosts = [item for item in find_hosts(call, is_quick=True) if item.connected or item.problems]
    if call.answer({**status._asdict(), "hosts": hosts}):
        return DONE
    screen, home_path = call.screen, call.home_path
    lines = (
        ("book", home_path(status.root)),
        *([] if status.can_lock else [("locks", _NO_LOCKS)]),
        ("index", f"{home_path(status.index_file)} ({status.index_bytes:,} bytes; derived, may be deleted)"),
        ("state", f"{home_path(status.state_file)} ({status.state_bytes:,} bytes)"),
        ("audit", f"{home_path(status.audit_folder)} {_IN_AUDIT}" if status.audit_folder else "off"),
        ("memory", "on" if status.enabled else "off (enabled = false)"),
        ("waiting", f"{plural(status.waiting, 'memory', 'memories')} for `commonplace review`"),
        *([("vectors", _unembedded(status.unembedded))] if status.unembedded else []),
        *([("from outside", _outside(status.outside))] if status.outside else []),
        *([("ingested", _ingested(status.sources))] if status.sources else []),
        ("connected", ", ".join(map(_connected, hosts)) or "no agent program: `commonplace connect HOST`"),
        ("network", ", ".join(status.leaves_machine) or "none"),
        ("version", f"{status.version} (format of this book: {status.format or 'unknown'})"),
    )
    for name, value in lines:
        screen.label(name, value)
    for problem in status.problems:
        screen.label("problem", problem, style="bad")
    screen.line()
    rows = [
        (
            scope_name(item.scope, item.scope_id),
            str(item.memories),
            "yours here" if item.own else "",
            call.place(item.path) if os.path.isdir(status.root + item.path) else "",
        )
        for item in status.scopes
    ]
    screen.table(("SCOPE", "MEMORIES", "", "FOLDER"), rows, ("name", "", "weak", "weak"), has_paths=True)
    return DONE


def _connected(item: HostStatus) -> str:
    return item.host if item.works else f"{item.host} (does not work: see `commonplace connect --list`)"


def _unembedded(number: int) -> str:
    entries = plural(number, "entry", "entries")
    return f"{entries} to embed: each recall embeds some, `commonplace doctor reindex --vectors` embeds the rest"


def _ingested(number: int) -> str:
    return f"{plural(number, 'source', 'sources')}: `commonplace tree sources`"


def _outside(number: int) -> str:
    return f"{plural(number, 'memory', 'memories')} not accepted yet: `commonplace list --all --outside`"


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("setting", metavar="NAME", help="the setting")


def _add_name_and_value(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("value", metavar="VALUE", help="its new value")


def _list_settings(call: Call) -> int:
    with call.open(for_repair=True) as book:
        return _print_settings(call, book.config(), book.problems)


def _get_setting(call: Call) -> int:
    with call.open(for_repair=True) as book:
        chosen = _find_setting(book.config(), call.args.setting)
    if not call.answer({"settings": [chosen]}):
        call.screen.line(shown(chosen.value))
    return DONE


def _change_setting(call: Call) -> int:
    name = call.args.setting
    with call.open(for_repair=True) as book:
        settings = book.configure(name, getattr(call.args, "value", None))
    return _print_settings(call, [item for item in settings if item.name == name])


def _find_setting(settings: Sequence[Setting], name: str) -> Setting:
    for item in settings:
        if item.name == name:
            return item
    raise InvalidSettings(f"There is no setting {name[:60]!a}.", hint="`commonplace config` lists them all.")


def _print_settings(call: Call, settings: Sequence[Setting], problems: Sequence[str] = ()) -> int:
    if not call.answer({"settings": settings, **({"problems": problems} if problems else {})}):
        rows = [(item.name, item.value or "-", item.source) for item in settings]
        call.screen.table(("SETTING", "VALUE", "FROM"), rows, ("name", "", "weak"))
        if not settings:
            call.remark("It is no longer in config.toml.", "")
        for problem in problems:
            call.warn(problem)
    return DONE


def _trust(call: Call) -> int:
    args = call.args
    if args.memories and args.revoke:
        raise Usage("--memories cannot be used with --revoke")
    with call.open() as book:
        if args.memories:
            return _trust_memories(call, book)
        if not args.revoke and call.is_declined(_trust_question(book.config()), "trust"):
            return NOTHING
        is_trusted = book.trust(revoke=args.revoke)
    if not call.answer({"trusted": is_trusted}):
        call.screen.line(f"This book's settings are {'' if is_trusted else 'not '}trusted.")
    return DONE


def _trust_memories(call: Call, book: Book) -> int:
    if call.is_declined("Trust all memories in this book, as if they were written here?", "trust"):
        return NOTHING
    count = book.vouch()
    if not call.answer({"memories": count}):
        call.screen.line(f"Now trusted: {plural(count, 'memory', 'memories')} from another book.")
    return DONE


def _trust_question(settings: Sequence[Setting]) -> str:
    """Return the question, with every setting that would be trusted."""
    given = [f"  {shown(item.name)} = {shown(item.value)}\n" for item in settings if item.source == "config.toml"]
    return f"{''.join(given)}Trust these settings of this book?"


def _doctor(call: Call) -> int:
    try:
        found = call.run(verbs.doctor.doctor)
    except BookTooNew as error:
        found = [Finding("format_too_new", "error", str(FORMAT), error.message, error.hint)]
    found = [*found, *find_broken(call)]
    ok = all(finding.severity == "note" for finding in found)
    if not call.answer({"ok": ok, "findings": found}):
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in found:
            groups.setdefault((finding.severity, finding.code), []).append(finding)
        for group in groups.values():
            _print_findings(call, group, len(group) if call.args.all else _MAX_SHOWN)
        _print_summary(call.screen, found)
    return DONE if ok else NOTHING


def _print_findings(call: Call, group: Sequence[Finding], limit: int) -> None:
    """Print what the findings of one code have in common, then where they are."""
    screen, first = call.screen, group[0]
    alike = all(finding.message == first.message for finding in group)
    has_one_hint = all(finding.hint == first.hint for finding in group)
    severity = screen.paint(first.severity, _SEVERITY_STYLES[first.severity])
    screen.line(f"{severity} {screen.paint(first.code, 'strong')}")
    if alike:
        screen.block(first.message)
    if has_one_hint:
        screen.block(f"what to do: {first.hint}")
    for finding in group[:limit]:
        what = "" if alike else f": {shown(finding.message)}"
        screen.line(f"    {screen.paint(shown(call.place(finding.path)), 'name')}{what}")
        if not has_one_hint:
            screen.sentence(shown(finding.hint), start="what to do:", indent="      ")
    if len(group) > limit:
        screen.line(screen.paint(f"    and {len(group) - limit:,} more; --all shows them.", "weak"))
    screen.line()


def _print_summary(screen: Screen, found: Sequence[Finding]) -> None:
    words = (("error", "errors"), ("warning", "warnings"), ("note", "notes"))
    numbers = [(sum(finding.severity == one for finding in found), one, many) for one, many in words]
    parts = [plural(number, one, many) for number, one, many in numbers if number]
    screen.line(f"{', '.join(parts) or 'No problems'}. No note was changed.")


def _verify(call: Call) -> int:
    result = call.run(verbs.doctor.verify)
    if not call.answer(result):
        screen = call.screen
        differences = plural(len(result.differences), "difference", "differences")
        screen.line(f"{plural(result.files, 'note', 'notes')} read, {differences}.")
        for difference in result.differences:
            screen.line(f"  {screen.paint(shown(difference), 'bad')}")
        if result.differences:
            screen.line("To rebuild the index: commonplace doctor reindex. The notes are not touched.")
    return DONE if result.ok else NOTHING


def _scan(call: Call) -> int:
    found = call.run(verbs.doctor.scan)
    if not call.answer(found):
        screen = call.screen
        for place in found.places:
            line = f"line {place.line:,}" if place.line else "in its name"
            file = screen.paint(shown(call.place(place.path)), "name")
            screen.line(f"{file}: {line}: {screen.paint(place.rule, 'bad')}")
        for skipped in found.skipped:
            screen.line(screen.paint(f"not read: {shown(call.place(skipped.path))}: {shown(skipped.message)}", "weak"))
        places = plural(len(found.places), "place", "places")
        screen.line(f"{plural(found.files, 'file', 'files')} read, {places} with what looks like a secret.")
        if found.places:
            screen.line(
                "what to do: change the secret where it is used, then remove it from the file. To remove it from"
                " history and trash: commonplace forget KEY --purge"
            )
    return DONE if found.ok else NOTHING


def _reindex(call: Call) -> int:
    with call.open() as book:
        files = None if call.args.vectors else book.reindex()
        embedded, notice = (book.embed(), "") if files is None else _embed(book)
    answer = {"files": files, "embedded": embedded, "notice": notice or None}
    if not call.answer({name: value for name, value in answer.items() if value is not None}):
        if files is not None:
            call.screen.line(f"{plural(files, 'note', 'notes')} read; the index is rebuilt.")
        if embedded is not None:
            call.screen.line(f"{plural(embedded, 'entry', 'entries')} embedded.")
        if notice:
            call.remark(notice, "warn")
    return DONE


def _embed(book: Book) -> tuple[int | None, str]:
    """Return how many entries were embedded, or why not all were: the index is rebuilt nevertheless."""
    if {item.name: item.value for item in book.config()}["embedder"] in _EMBEDS_LATER:
        return None, ""
    try:
        return book.embed(), ""
    except EmbedderError as error:
        return None, f"Not everything is embedded. {error.message}"


def _import(call: Call) -> int:
    done = call.run(verbs.import_from.import_from)
    if not call.answer(done):
        _print_import(call.screen, done, shows_all=call.args.all)
    return DONE if done.items or done.data else NOTHING


def _print_import(screen: Screen, done: ImportResult, *, shows_all: bool) -> None:
    for action in ("created", "appended", "trusted"):
        items = [one for one in done.items if one.action == action]
        if items:
            screen.line(f"{screen.paint(action, 'good')}:")
            names = [f"{screen.paint(shown(one.key), 'name')} ({one.scope})" for one in items]
            places = [f" from {shown(one.place)}" for one in items]
            _print_rows(screen, [*map("".join, zip(names, places, strict=True))], shows_all)
    if done.data:
        screen.line(f"{screen.paint('copied to data', 'good')}:")
        _print_rows(screen, [*map(shown, done.data)], shows_all)
    groups: dict[str, list[SkippedItem]] = {}
    for one in done.left:
        groups.setdefault(one.reason, []).append(one)
    for reason, group in groups.items():
        screen.line(f"{screen.paint(f'skipped ({reason})', 'weak' if reason in _EXPECTED_SKIPS else 'warn')}:")
        _print_rows(screen, [f"{shown(one.place)}: {shown(one.message)}" for one in group], shows_all)
    _print_import_summary(screen, done)


def _print_rows(screen: Screen, rows: Sequence[str], shows_all: bool) -> None:
    limit = len(rows) if shows_all else _MAX_SHOWN
    for row in rows[:limit]:
        screen.line(f"  {row}")
    if len(rows) > limit:
        screen.line(screen.paint(f"  and {len(rows) - limit:,} more; --all shows them.", "weak"))


def _print_import_summary(screen: Screen, done: ImportResult) -> None:
    numbers = (
        (done.created, "new"),
        (done.appended, "added to"),
        (done.trusted, "trusted"),
        (done.unchanged, "unchanged"),
    )
    parts = [f"{number:,} {word}" for number, word in numbers if number] or ["nothing imported"]
    parts += [plural(done.links, "link", "links")] if done.links else []
    parts += [plural(len(done.data), "data file", "data files")] if done.data else []
    parts += [f"{plural(done.redacted, 'secret', 'secrets')} removed"] if done.redacted else []
    parts += [f"{len(done.left):,} skipped"] if done.left else []
    screen.line(f"{done.format}: {', '.join(parts)}.{' Nothing was written.' if done.dry_run else ''}")
    if done.trust == "external" and (done.created or done.appended) and not done.dry_run:
        screen.line(
            "It is labelled as from outside. To accept it once you have read it, add --reviewed to the command."
        )


COMMANDS = {
    "init": CliCommand(_init, _add_template, _INIT_HELP, _INIT_EXAMPLES),
    "project show": CliCommand(_show_project),
    "project list": CliCommand(_list_projects),
    **dict.fromkeys(("project adopt", "project merge", "project split", "project undo"), CliCommand(_change_project)),
    "status": CliCommand(_status),
    "config list": CliCommand(
        _list_settings,
        None,
        _CONFIG_HELP.format("Show every setting, its value and where that comes from.") + _SETTINGS_HELP,
        ("commonplace config", "commonplace config list --json"),
    ),
    "config get": CliCommand(
        _get_setting, _add_name, _CONFIG_HELP.format("Show one setting."), ("commonplace config get enabled",)
    ),
    "config set": CliCommand(
        _change_setting, _add_name_and_value, _CONFIG_HELP.format("Change a setting of the book.") + _SETTINGS_HELP,
        ("commonplace config set lock_timeout 30",),
    ),
    "config unset": CliCommand(
        _change_setting, _add_name, _CONFIG_HELP.format("Take a setting out of the book's config.toml."),
        ("commonplace config unset lock_timeout",),
    ),
    "config trust": CliCommand(
        _trust, flags(memories="trust the memories that came from another book", yes="do not ask")
    ),
    "doctor": CliCommand(_doctor, _add_all),
    "doctor verify": CliCommand(_verify),
    "doctor scan": CliCommand(_scan),
    "doctor reindex": CliCommand(_reindex, flags(vectors="only embed what is not embedded yet")),
    "import": CliCommand(_import, _add_all),
}  # fmt: skip
