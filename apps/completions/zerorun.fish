# fish completion for zerorun. Commands, options and their choices come from --help, so that they
# are always those of the program that is installed.
# SPDX-License-Identifier: MIT

function __zerorun_commands
    zerorun --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/p' |
        string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

function __zerorun_options
    set -l words (commandline -opc)
    zerorun $words[2] --help 2>/dev/null |
        string replace -rf '^  (?:[A-Z]+, )?(?:-[a-z], )?(--[a-z-]+)(?: [^ ]+)?(?:  +(.*))?$' '$1\t$2'
end

function __zerorun_choices
    set -l words (commandline -opc)
    test (count $words) -gt 2; or return 1
    zerorun $words[2] --help 2>/dev/null |
        string replace -rf "^  (?:[A-Z]+, )?(?:-[a-z], )?$words[-1] ([a-z0-9]+(?:\|[^ ]+)+)(?: .*)?\$" '$1' |
        string split '|' | string replace -r '\[.*' '' | string match -r '^[a-z0-9]+$'
end

complete -c zerorun -n 'test (count (commandline -opc)) -eq 1' -f -a '(__zerorun_commands)'
complete -c zerorun -n 'string match -q -- "-*" (commandline -ct)' -a '(__zerorun_options)'
complete -c zerorun -n '__zerorun_choices >/dev/null' -f -a '(__zerorun_choices)'
