#!/usr/bin/env bash
# Has the compiler read what a build folder could compile and has not: its warnings are errors there, and no code is made.
# usage: read_rest.sh BUILD_DIRECTORY
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: read_rest.sh BUILD_DIRECTORY" >&2; exit 2; }
cd "$1"

rest() { # the commands, one after each NUL; a source of src/ that a fuzzer compiles once more is not read once more
  sed -nE 's/^ *"command": "(.*)",$/\1/p' compile_commands.json | sed 's/\\"/"/g; s/\\\\/\\/g' | while IFS= read -r command; do
    object=${command##* -o } object=${object%% *}
    case $object in */fuzz_*/__/*) continue ;; esac
    [ -e "$object" ] || printf '%s -fsyntax-only\0' "$command"
  done
}
rest | xargs -0 -r -P "$(nproc)" -n 1 bash -c 'eval "$0"'
echo "read: $(rest | tr -cd '\0' | wc -c) more units"
