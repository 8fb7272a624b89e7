#!/bin/sh
# Uses an installed program: it computes what it computes elsewhere, trains a small model, translates with it, and serves it.
#   use_program.sh PROGRAM
set -eu
tril=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$tril" --version
"$tril" signature
"$tril" demo --only times --lines 200 --updates 41 --threads 1 --json -o demo > /dev/null
model=$folder/demo/model
echo "half past two" | "$tril" translate --quiet -m "$model" > out.txt
[ "$(wc -l < out.txt)" = 1 ]
if "$tril" translate --no-such-option 2> /dev/null; then exit 1; fi
