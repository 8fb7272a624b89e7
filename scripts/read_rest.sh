#!/usr/bin/env bash
# Checks the sources that a build folder has not compiled, with its compiler and -fsyntax-only: warnings are errors, as there.
# usage: read_rest.sh BUILD_DIRECTORY
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: read_rest.sh BUILD_DIRECTORY" >&2; exit 2; }
cd "$1"
grep -q '^ *"command": ' compile_commands.json || { echo "read_rest: $1 has no commands to compile anything" >&2; exit 1; }

rest() { # the commands, each ended by a NUL
  sed -nE 's/^ *"command": "(.*)",$/\1/p' compile_commands.json | sed 's/\\"/"/g; s/\\\\/\\/g' | while IFS= read -r command; do
    object=${command##* -o } object=${object%% *}
    [ -e "$object" ] || printf '%s -fsyntax-only\0' "$command"
  done
}
rest | xargs -0 -r -P "$(nproc)" -n 1 bash -c 'eval "$0"'
echo "read: $(rest | tr -cd '\0' | wc -c) more units"
