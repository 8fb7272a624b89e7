#!/bin/bash
# Tests wheels as their users get them: for each Python a fresh virtual environment, without the source tree. Results are compared
# with those of the program.
#   check.sh FOLDER_OF_WHEELS PROGRAM PYTHON...
set -euo pipefail
wheels=$(realpath "$1")
program=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
for python in "$@"; do
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  "$python" -m venv "$scratch/venv"
  "$scratch/venv/bin/python" -m pip install --quiet numpy pytest
  "$scratch/venv/bin/python" -m pip install --quiet --no-index --find-links "$wheels" --no-deps tril
  cp -r python/tests "$scratch/tests"
  (cd "$scratch" && TRIL_PROGRAM=$program venv/bin/python -m pytest -q tests)
  rm -rf "$scratch"
done
