# bash completion for zerorun. Commands, options and their choices are read from the texts of --help-all, which
# .cmake/completions.sh puts in here when zerorun is built.
# SPDX-License-Identifier: MIT

# @help@

# The words behind an option in the help: "  --missing error|skip|hold   At a gap ..."
_zerorun_choices() {  # COMMAND OPTION
  _zerorun_help "$1" |
    sed -nE "s/^  (-[a-z], )?(--[a-z-]+, )*$2 ([a-z0-9]+(\|[^ ]+)+)( .*|\$)/\3/p" | tr '|' '\n' |
    sed -E 's/\[.*//' | grep -E '^[a-z0-9]+$'
}

_zerorun() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    local commands
    commands=$(_zerorun_help |
      sed -n '/^Subcommands:/,/^$/p' | sed -nE 's/^  ([a-z]+) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
    return
  fi
  if [[ $prev == --* ]]; then
    local choices
    choices=$(_zerorun_choices "$command" "$prev")
    if [ -n "$choices" ]; then
      mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
      return
    fi
  fi
  if [[ $cur == -* ]]; then
    local options
    options=$(_zerorun_help "$command" |
      sed -nE 's/^  ([A-Z]+, )?(-.*)/\2/p' | sed -E 's/  .*//' | grep -oE -- '--[a-z-]+')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  compopt -o default 2>/dev/null  # file names
}
complete -F _zerorun zerorun
