#!/bin/sh
# Installs the packages that tril is built from, where any is missing; says which, and does nothing where all are there.
# They are Debian 12's and Ubuntu 24.04's own; root, or sudo, is needed only if something is missing.
# usage: deps.sh [PACKAGE...]      the packages named, besides those of the build; "browser": one that the report's tests
#                                  can look at pages with, where apt has it (Ubuntu has it as a snap only); "sanitizers":
#                                  clang with its sanitizers, and OpenMP as it compiles it
set -eu
packages=""
for p in "$@"; do
  if [ "$p" = sanitizers ]; then
    packages="$packages clang libclang-rt-dev libomp-dev"
  elif [ "$p" != browser ]; then
    packages="$packages $p"
  elif [ "$(. /etc/os-release && echo "$ID")" = debian ]; then
    packages="$packages chromium fonts-dejavu-core"
  else
    echo "deps: no browser by apt here; the tests of the report's page need chromium or google-chrome in the PATH" >&2
  fi
done
packages="$packages g++ cmake ninja-build make mold pkg-config
  libdnnl-dev libhwy-dev libsentencepiece-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libyaml-cpp-dev libicu-dev libcld2-dev libonig-dev libpugixml-dev zlib1g-dev
  libboost-dev libssl-dev libcurl4-openssl-dev libopenmpi-dev openmpi-bin libgtest-dev libbenchmark-dev"

missing=""
for p in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "deps: this system has no apt-get; install by its own means what these Debian packages hold:$missing" >&2
  exit 1
fi
root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "deps: to install$missing, run this as root or install sudo" >&2; exit 1; }
  root=sudo
fi
echo "deps: installing$missing"
log=$(mktemp)
# A new system's own updates hold apt's locks for minutes. apt-get waits for that of the packages, but not for that of the lists.
apt() { $root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
update() {
  tries=60
  until apt update >"$log" 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] && grep -q 'Could not get lock' "$log" || return 1
    sleep 5
  done
}
if ! { update && apt install -y --no-install-recommends $missing >"$log" 2>&1; }; then
  cat "$log" >&2
  rm -f "$log"
  echo "deps: apt-get failed; its words stand above" >&2
  exit 1
fi
rm -f "$log"
echo "deps: done"
