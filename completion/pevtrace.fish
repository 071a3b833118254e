# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion for fish: asks pevtrace, whose tables have all verbs, options and names.
function __pevtrace_complete
    # the word as pevtrace would get it; its quote may still be open
    set -l word (commandline -ct | string unescape; or commandline -ct | string trim -l -c '\'"')
    set -l words (commandline -opc) "$word"
    for line in ($words[1] help --complete -- $words[2..] 2>/dev/null)
        set -l fields (string split -m 1 \t -- $line)
        switch $fields[1]
            case :file :directory
                set -l rest (string sub -s (math 1 + (string length -- $fields[2])) -- $words[-1])
                for name in (__fish_complete_path $rest)
                    echo $fields[2]$name
                end
            case ':command *'
                set -l first (math 2 + (string replace ':command ' '' -- $fields[1]))
                complete -C (string join ' ' -- (string escape -- $words[$first..-2]) $words[-1])
            case '*'
                echo $line
        end
    end
end
complete -c pevtrace -f -a '(__pevtrace_complete)'
