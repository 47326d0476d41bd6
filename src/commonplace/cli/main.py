"""`commonplace VERB ...`: find the verb, load it alone, run it, and turn what went wrong into words and a status."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from itertools import pairwise

from commonplace import __version__
from commonplace.cli.verbs import GROUPS, SUMMARIES, WITH_VALUE

TYPE_CHECKING = False  # as in typing, which `--help` and `--version` do without
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from commonplace.cli.call import Verb

_LOOKING = frozenset({"list", "recall", "store", "timeline"})  # verbs that look at the files of a scope first
_INTERRUPTED = 130
_BUG = 10


def main(line: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if line is None else line)
    _fill_closed_streams()
    try:
        status = _overview(words)
        if status is None:
            status = _run_ahead(words) if line is None and _looks_first(words) else _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:  # while loading: `_run` is not there yet
        return _stopped(sys.stderr, "--json" in words)
    return status


def _looks_first(words: Sequence[str]) -> bool:
    """Whether a line, if it has no mistake in it, begins with a look at the files: the parser is yet to be loaded."""
    each = pairwise(["", *words])
    verb = next((word for before, word in each if not word.startswith("-") and before not in WITH_VALUE), "")
    return verb in _LOOKING and "-" not in words  # what is typed may take its time: by its end a look is old


def _run_ahead(words: list[str]) -> int:
    """Run in a process of our own a verb that looks at the files first: they are, while everything else is loaded."""
    from commonplace.vault.prestat import start_prestat, stop_prestat  # noqa: PLC0415 - the overview does without

    given = dict(pairwise(words))
    root = given.get("--root") or os.environ.get("COMMONPLACE_ROOT") or os.path.join("~", ".commonplace")
    project = given.get("--project") or os.environ.get("COMMONPLACE_PROJECT") or os.environ.get("PWD", "")
    start_prestat(os.path.join(os.path.expanduser(root), "memories"), os.path.basename(project))
    try:
        return _run(words)
    finally:
        stop_prestat()


def _fill_closed_streams() -> None:
    """Started with a stream closed (`>&-`): give it the null device, so that no file of a book becomes that stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _overview(words: list[str]) -> int | None:
    """Answer a line that names no verb; None for any other."""
    if not words or words in (["--help"], ["-h"], ["help"]):
        sys.stdout.write(overview())
        return 0 if words else 2
    if words == ["--version"]:
        sys.stdout.write(f"commonplace {__version__}\n")
        return 0
    return None


def overview() -> str:
    """What `commonplace --help` says."""
    lines = ["usage: commonplace VERB ...", "", "Durable memory for AI agents, as Markdown files on your own disk.", ""]
    for group, verbs in GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<12} {summary}" for name, summary in verbs.items()), ""]
    lines += [
        "`commonplace VERB --help` says more, with examples. `commonplace tour` shows it all in a scratch book.",
        "Settings: --root DIR or COMMONPLACE_ROOT names the book (default ~/.commonplace).",
        "Exit status: 0 done, 1 nothing found or a check failed, 2 usage, 10 and above an error with a code.",
        "",
    ]
    return "\n".join(lines)


def load(name: str) -> Verb:
    verb: Verb = importlib.import_module(f"commonplace.cli.{name}")  # type: ignore[assignment]  # a test holds it to that
    return verb


def _run(words: list[str]) -> int:
    gc.disable()  # what loading makes is never garbage; Call.open turns it on again
    from commonplace.cli.call import Call, standard_streams  # noqa: PLC0415 - the overview does without all of these
    from commonplace.cli.parser import Usage, parse, parser_of, split_globals  # noqa: PLC0415
    from commonplace.model.errors import CommonplaceError  # noqa: PLC0415

    stdin, stdout, stderr = standard_streams()
    wants_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    name = "VERB"
    try:
        before, rest = split_globals(words)
        status = _overview(rest) if rest else None
        if status is not None:
            return status
        if rest[:1] == ["help"]:
            rest = [*rest[1:2], "--help"]
        if not rest or rest[0] not in SUMMARIES:
            raise Usage(_no_verb(rest))
        name = rest[0]
        verb = load(name)
        _show_logs()
        args = parse(parser_of(name, verb), [*before, *rest[1:]])
        call = Call(args, os.environ, stdin, stdout, stderr)
        try:
            return verb.run(call)
        finally:
            call.finish()
    except SystemExit as end:  # how argparse ends after --help
        return int(end.code or 0)
    except Usage as error:
        _say(stderr, wants_json, "usage", _sentence(str(error)), f"`commonplace {name} --help` shows how it is used.")
        return 2
    except CommonplaceError as error:
        _say(stderr, wants_json, **_with_role_hint(error.as_dict(), words))
        return error.exit_code
    except KeyboardInterrupt:
        return _stopped(stderr, wants_json)
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("COMMONPLACE_DEBUG"):
            raise
        _say(
            stderr,
            wants_json,
            "internal_error",
            f"Commonplace itself failed ({type(error).__name__}); nothing was acknowledged.",
            "Please report it. COMMONPLACE_DEBUG=1 shows where.",
        )
        return _BUG


def _with_role_hint(said: dict[str, str], words: Sequence[str]) -> dict[str, str]:
    """Say why a call counted as an agent's, to a person who is refused something for that reason."""
    if said["code"] != "not_permitted" or "--person" in words:
        return said
    from commonplace.cli.agent_host import find_agent_host  # noqa: PLC0415 - only for a mistake

    host = find_agent_host(os.environ)
    named = any(word == "--agent" or word.startswith("--agent=") for word in words) or "COMMONPLACE_AGENT" in os.environ
    if host is None and not named:
        return said
    why = f"{host[1]} is set" if host is not None else "an agent is named"
    return {**said, "hint": f"{said['hint']} This call counts as an agent's ({why}); a person adds --person."}


def _stopped(stream: TextIO, wants_json: bool) -> int:
    _say(stream, wants_json, "interrupted", "Stopped.", "Whatever was acknowledged before is kept.")
    return _INTERRUPTED


def _no_verb(rest: Sequence[str]) -> str:
    if not rest:
        return "there is no verb"
    import difflib  # noqa: PLC0415 - only for a mistake

    close = difflib.get_close_matches(rest[0], SUMMARIES, n=1)
    return f"{rest[0]!a} is no verb{f'; did you mean {close[0]}?' if close else ''}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _say(stream: TextIO, wants_json: bool, code: str, message: str, hint: str) -> None:
    """An error in words, or as JSON."""
    if wants_json:
        import json  # noqa: PLC0415 - only for a mistake

        stream.write(f"{json.dumps({'error': {'code': code, 'message': message, 'hint': hint}})}\n")
        return
    from commonplace.cli.screen import Screen, shown  # noqa: PLC0415

    screen = Screen(stream, os.environ)
    screen.line(f"{screen.paint('error:', 'bad')} {shown(message)} [{code}]")
    screen.line(f"{screen.paint('what to do:', 'strong')} {shown(hint)}")


def _show_logs() -> None:
    """Log lines on stderr, where COMMONPLACE_LOG names a level; else errors in words are all there is."""
    level = os.environ.get("COMMONPLACE_LOG", "").upper()
    if level in ("DEBUG", "INFO", "WARNING", "ERROR"):
        import logging  # noqa: PLC0415 - seldom asked for

        logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")


if __name__ == "__main__":
    sys.exit(main())
