"""The command completion: scripts that make a shell complete commands and options."""

from __future__ import annotations

import argparse

from commonplace.cli import run
from commonplace.cli.call import DONE, Call, CliCommand
from commonplace.cli.parser import build_parser

_HELP = """Print completions for your shell.

For bash, zsh or fish: commands and their options. Nothing is installed; the shell reads what is printed.
"""
_EXAMPLES = (
    'eval "$(commonplace completion bash)"',
    "commonplace completion zsh > ~/.zfunc/_commonplace",
    "commonplace completion fish > ~/.config/fish/completions/commonplace.fish",
)


def _add_shell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell it is for")


def _print_script(call: Call) -> int:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[call.args.shell]()
    if not call.answer({"shell": call.args.shell, "script": script}):
        call.stdout.write(script)
    return DONE


def options() -> dict[str, list[tuple[str, str]]]:
    """Return the options of every command, with what each is for."""
    found: dict[str, dict[str, str]] = {name: {} for name in run.SUMMARIES}
    for full_name in run.command_names():
        name = full_name.partition(" ")[0]
        if name in found:
            actions = build_parser(run.load_command(full_name))._actions
            found[name] |= {word: action.help or "" for action in actions for word in action.option_strings[-1:]}
    return {name: list(known.items()) for name, known in found.items()}


def _bash() -> str:
    cases = "\n".join(
        f"    {name}) words='{' '.join(word for word, _ in known)}' ;;" for name, known in options().items()
    )
    return f"""_commonplace() {{
  local verb words word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) verb="$word"; break ;; esac
  done
  case "$verb" in
{cases}
    *) words='{" ".join(run.SUMMARIES)} --help --version --root --project --agent --session --json' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _commonplace commonplace
"""


def _zsh() -> str:
    verbs = "\n".join(f"    {_quoted(f'{name}:{summary}')}" for name, summary in run.SUMMARIES.items())
    cases = "\n".join(
        f"    {name}) compadd -- {' '.join(word for word, _ in known)}; _files ;;" for name, known in options().items()
    )
    return f"""#compdef commonplace
_commonplace() {{
  local -a verbs
  verbs=(
{verbs}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  case "$words[2]" in
{cases}
  esac
}}
compdef _commonplace commonplace
"""


def _fish() -> str:
    lines = ["complete -c commonplace -f"]
    for name, summary in run.SUMMARIES.items():
        lines.append(f"complete -c commonplace -n __fish_use_subcommand -a {name} -d {_quoted(summary)}")
    for name, known in options().items():
        for word, purpose in known:
            seen = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c commonplace {seen} -l {word.lstrip('-')} -d {_quoted(purpose)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "'\\''") + "'"


COMMANDS = {"completion": CliCommand(_print_script, _add_shell, _HELP, _EXAMPLES)}
