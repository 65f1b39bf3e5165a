# fish completion for zerorun. Commands, options and their choices are read from the texts of --help-all, which
# .cmake/completions.sh puts in here when zerorun is built.
# SPDX-License-Identifier: MIT

# @help@

function __zerorun_commands
    _zerorun_help "" | sed -n '/^Subcommands:/,/^$/p' |
        string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

function __zerorun_options
    set -l words (commandline -opc)
    _zerorun_help $words[2] |
        string replace -rf '^  (?:[A-Z]+, )?(?:-[a-z], )?(--[a-z-]+)(?: [^ ]+)?(?:  +(.*))?$' '$1\t$2'
end

function __zerorun_choices
    set -l words (commandline -opc)
    test (count $words) -gt 2; or return 1
    _zerorun_help $words[2] |
        string replace -rf "^  (?:[A-Z]+, )?(?:-[a-z], )?$words[-1] ([a-z0-9]+(?:\|[^ ]+)+)(?: .*)?\$" '$1' |
        string split '|' | string replace -r '\[.*' '' | string match -r '^[a-z0-9]+$'
end

complete -c zerorun -n 'test (count (commandline -opc)) -eq 1' -f -a '(__zerorun_commands)'
complete -c zerorun -n 'string match -q -- "-*" (commandline -ct)' -a '(__zerorun_options)'
complete -c zerorun -n '__zerorun_choices >/dev/null' -f -a '(__zerorun_choices)'
