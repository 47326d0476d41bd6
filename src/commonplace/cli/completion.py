"""Print completions for your shell.

For bash, zsh or fish: verbs and their options. Nothing is installed; the shell reads what is printed.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, Call
from commonplace.cli.verbs import SUMMARIES

EXAMPLES = (
    'eval "$(commonplace completion bash)"',
    "commonplace completion zsh > ~/.zfunc/_commonplace",
    "commonplace completion fish > ~/.config/fish/completions/commonplace.fish",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell it is for")


def run(call: Call) -> int:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[call.args.shell]()
    if not call.answer({"shell": call.args.shell, "script": script}):
        call.stdout.write(script)
    return DONE


def options() -> dict[str, list[tuple[str, str]]]:
    """Every verb's options, with what each is for."""
    from commonplace.cli.main import load  # noqa: PLC0415 - main loads this module
    from commonplace.cli.parser import parser_of  # noqa: PLC0415 - the same

    found: dict[str, list[tuple[str, str]]] = {}
    for name in SUMMARIES:
        actions = parser_of(name, load(name))._actions
        found[name] = [(word, action.help or "") for action in actions for word in action.option_strings[-1:]]
    return found


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
    *) words='{" ".join(SUMMARIES)} --help --version --root --project --agent --session --json' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _commonplace commonplace
"""


def _zsh() -> str:
    verbs = "\n".join(f"    {_quoted(f'{name}:{summary}')}" for name, summary in SUMMARIES.items())
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
    for name, summary in SUMMARIES.items():
        lines.append(f"complete -c commonplace -n __fish_use_subcommand -a {name} -d {_quoted(summary)}")
    for name, known in options().items():
        for word, purpose in known:
            seen = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c commonplace {seen} -l {word.lstrip('-')} -d {_quoted(purpose)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "'\\''") + "'"
