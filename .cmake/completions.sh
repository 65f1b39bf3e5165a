#!/usr/bin/env bash
# Puts the texts of --help-all into the completions of the shells, so that a TAB does not run the program.
# usage: completions.sh PROGRAM FOLDER_OF_SOURCES FOLDER
# In the sources the line "# @help@" stands for a function _zerorun_help [COMMAND], which prints the text.
# SPDX-License-Identifier: MIT
set -euo pipefail
program=$1 sources=$2 folder=$3
mkdir -p "$folder"

help=$("$program" --help)
mapfile -t commands < <(sed -n '/^Subcommands:/,/^$/p' <<<"$help" | sed -nE 's/^  ([a-z]+) .*/\1/p')

# Without the lines after the options: exit codes, keys, examples.
text_of() {
  "$program" "$@" --help-all | sed '/^\(Examples\|Keys\|Exit codes\):/,$d'
}

# In single quotes, as the shell in $1 reads them.
quoted() {
  if [ "$1" = fish ]; then
    sed "s/[\\\\']/\\\\&/g"
  else
    sed "s/'/'\\\\''/g"
  fi
}

for shell in bash zsh fish; do
  name=zerorun.$shell
  [ "$shell" != zsh ] || name=_zerorun
  begin='_zerorun_help() {' case='  case ${1-} in' item=')' break=' ;;' other='*' end=$'  esac\n}'
  if [ "$shell" = fish ]; then
    begin='function _zerorun_help' case='    switch "$argv[1]"' break='' other="'*'" end=$'    end\nend'
  fi
  {
    printf '%s\n%s\n' "$begin" "$case"
    for command in "${commands[@]}" "$other"; do
      arguments=("$command")
      [ "$command" != "$other" ] || arguments=()
      if [ "$shell" = fish ]; then item="        case $command"; else item="    $command)"; fi
      printf "%s\n      printf '%%s\\\\n' '%s'%s\n" "$item" "$(text_of "${arguments[@]}" | quoted "$shell")" "$break"
    done
    printf '%s\n' "$end"
  } >"$folder/help.$shell"
  sed -e "/^# @help@\$/{r $folder/help.$shell" -e 'd}' "$sources/$name" >"$folder/$name"
  rm "$folder/help.$shell"
done
