#!/bin/bash
# Builds the Debian packages of this machine's release, and of its Python: tril, libtril0, libtril-dev, python3-tril.
#   make_deb.sh OUTPUT [ARGUMENTS OF dpkg-buildpackage...]
# It builds a copy of the sources under build-deb/, and the next call compiles only what has changed. nanobind is taken from pip
# where this Python does not have it; -P pkg.tril.nopython leaves python3-tril out, and with it the need for nanobind.
set -euo pipefail
output=$(realpath -m "$1")
shift
cd "$(dirname "$0")/../.."
work=$PWD/build-deb
source=$work/source
mkdir -p "$source" "$output"

find "$source" -mindepth 1 -maxdepth 1 ! -name obj -exec rm -rf {} +
if git rev-parse --git-dir > /dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard
else
  find . -mindepth 1 \( -name 'build*' -o -name .git \) -prune -o \( -type f -o -type l \) -print0
fi | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$source"

case " $* " in
  *pkg.tril.nopython*) ;;
  *)
    if ! /usr/bin/python3 -c 'import nanobind' 2> /dev/null; then
      [ -d "$work/python/nanobind" ] || python3 -m pip install --quiet --target "$work/python" 'nanobind>=2.4'
      export PYTHONPATH=$work/python
    fi
    ;;
esac
# Debug symbols would take most of the time and of the disk: they are neither packed nor made.
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noautodbgsym" DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g
rm -f "$work"/*.deb "$work"/*.buildinfo "$work"/*.changes
(cd "$source" && dpkg-buildpackage --build=binary --no-sign --no-pre-clean "$@")
if command -v lintian > /dev/null 2>&1; then
  lintian --fail-on error,warning "$work"/*.changes
fi
cp "$work"/*.deb "$output"
ls -l "$output"/*.deb
