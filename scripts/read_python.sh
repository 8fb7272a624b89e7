#!/usr/bin/env bash
# Checks the sources of the Python module with clang and -fsyntax-only, as read_rest.sh does others: warnings are errors. Nothing else in CI
# compiles them. Debian 12 has no package of nanobind: it comes from pip, and without it the check is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build-python
scripts/deps.sh clang python3-dev python3-pip
if ! /usr/bin/python3 -c 'import nanobind' 2> /dev/null; then
  export PYTHONPATH=$PWD/$folder/tools
  if [ ! -d "$PYTHONPATH/nanobind" ] &&
    ! /usr/bin/python3 -m pip install --quiet --target "$PYTHONPATH" 'nanobind>=2.4' > $folder.log 2>&1; then
    echo "read_python: skipped, since pip does not get nanobind: $(tail -n 1 $folder.log)"
    exit 0
  fi
fi
cmake --preset quick -B $folder -DTRIL_BATCH=0 -DTRIL_PCH=OFF -DTRIL_TESTS=OFF -DTRIL_PYTHON=ON -DPython_EXECUTABLE=/usr/bin/python3 \
  > $folder.log 2>&1 || { cat $folder.log >&2; exit 1; }
commands=$(sed -nE 's/^ *"command": "(.* -o python\/CMakeFiles\/tril_python.*)",$/\1/p' $folder/compile_commands.json | sed 's/\\"/"/g; s/\\\\/\\/g')
[ -n "$commands" ] || { echo "read_python: $folder has no commands for python/src" >&2; exit 1; }
while IFS= read -r command; do
  (cd $folder && eval "$command -fsyntax-only")
done <<< "$commands"
echo "read_python: the Python module's sources compile"
