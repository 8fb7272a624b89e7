#!/bin/sh
# How long a newcomer waits from a wheel to the first translation: makes a fresh virtual environment, installs the wheel there
# without the network, except for NumPy, and translates one line. Prints the seconds of each step.
# usage: first_translation.sh WHEEL MODEL [TEXT]
#        WHEEL: from `make wheel`; MODEL: a model directory, or a name on the hub, which is then downloaded; PYTHON: the interpreter
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
wheel=$1 model=$2 text=${3:-A dog runs through the snow.}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
begun=$(date +%s.%N)
last=$begun
step() {
  now=$(date +%s.%N)
  awk -v name="$1" -v from="$last" -v to="$now" 'BEGIN { printf "%-12s %6.1f s\n", name, to - from }'
  last=$now
}
"${PYTHON:-python3}" -m venv "$place/venv"
step environment
"$place/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
step install
echo "$text" | "$place/venv/bin/tril" translate --quiet --pull --model "$model" > "$place/out"
step translate
last=$begun
step all
echo "$text -> $(cat "$place/out")"
