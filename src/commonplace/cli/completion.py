"""The command completion: scripts that make a shell complete what is typed.

The scripts are short: at each Tab the shell asks `commonplace completion SHELL --complete LINE`, which is answered by
`candidates` from the commands' own parsers and from the book. So a new command, option or key is completed at once. An
answer without a line stands for a file or a text, and the shell offers files; with status 1 nothing can follow.
"""

from __future__ import annotations

import argparse

from commonplace.cli.call import DONE, NOTHING, Call, CliCommand
from commonplace.cli.candidates import complete_line

_HELP = """Print completions for your shell.

For bash, zsh or fish: commands, options, keys, scopes, projects, hosts and settings. Nothing is installed; the shell
reads what is printed.
"""
_EXAMPLES = (
    'eval "$(commonplace completion bash)"',
    "commonplace completion zsh > ~/.zfunc/_commonplace",
    "commonplace completion fish > ~/.config/fish/completions/commonplace.fish",
)
_BASH = """\
_commonplace() {
  local IFS=$'\\n'
  COMPREPLY=($("${COMP_WORDS[0]}" completion bash --complete "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)) || return 0
  if (( ! ${#COMPREPLY[@]} )); then
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _commonplace commonplace
"""
_ZSH = """\
#compdef commonplace
_commonplace() {
  local line found
  local -a values shown
  found="$("${words[1]}" completion zsh --complete "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)" || return 1
  for line in "${(@f)found}"; do
    [[ -n "$line" ]] || continue
    values+=("${line%%$'\\t'*}")
    shown+=("${line//$'\\t'/  -- }")
  done
  if (( $#values )); then
    compadd -l -d shown -- "${values[@]}"
  else
    _files
  fi
}
if [[ "${funcstack[1]}" == _commonplace ]]; then
  _commonplace "$@"  # zsh read this from a file of fpath, at the first Tab
else
  compdef _commonplace commonplace
fi
"""
_FISH = """\
function __commonplace_complete
    set -l found (commonplace completion fish --complete (commandline -cp | string collect) 2>/dev/null)
    or return
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c commonplace -f -a '(__commonplace_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def _add_shell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="the shell it is for")
    parser.add_argument("--complete", metavar="LINE", help=argparse.SUPPRESS)


def _print_script(call: Call) -> int:
    shell = call.args.shell
    if call.args.complete is not None:
        found = complete_line(call, call.args.complete, shell)
        for line in found or ():
            call.stdout.write(f"{line}\n")
        return DONE if found is not None else NOTHING
    script = _SCRIPTS[shell]
    if not call.answer({"shell": shell, "script": script}):
        call.stdout.write(script)
    return DONE


COMMANDS = {"completion": CliCommand(_print_script, _add_shell, _HELP, _EXAMPLES)}
