#!/usr/bin/env bash
# Makes a manual page of the program and of each of its commands.
# usage: manual.sh PROGRAM HELP2MAN VERSION FOLDER
# SPDX-License-Identifier: MIT
set -euo pipefail
program=$1 help2man=$2 version=$3 folder=$4
mkdir -p "$folder"
# help2man takes the name from the command that it runs.
PATH=$(dirname "$program"):$PATH

# page COMMAND SENTENCE: "zerorun encode" becomes the page zerorun-encode(1).
page() {
  local name=${1// /-}
  "$help2man" --no-info --help-option=--help-all --version-string "$version" --name "$2" \
    --source "zerorun $version" --manual "zerorun" "$1" |
    sed -e "s/^\\.TH [^ ]*/.TH ${name^^}/" -e "s/^$1 \\\\-/${name//-/\\\\-} \\\\-/" \
      -e '/^\.SH EXAMPLES/,/^\.S[HS] [^E]/s/^\.IP/&\n.nf/' -e 's/^\.SS "Exit codes:"/.SH "EXIT STATUS"/' \
      >"$folder/$name.1"
  gzip -9n "$folder/$name.1"
}

help=$(zerorun --help)
page zerorun "$(head -1 <<<"$help")"
# Lines "  encode   Encode images, ..." of the list; long sentences continue on the next line.
sed -n '/^Subcommands:/,/^$/p' <<<"$help" | sed -nE 's/^  ([a-z]+) .*/\1/p' |
  while read -r command; do
    text=$(zerorun "$command" --help)
    page "zerorun $command" "$(head -1 <<<"$text")"
  done
