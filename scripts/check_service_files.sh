#!/bin/sh
# The two ways in which docs/serving.md runs a service still fit the program: the packages of docs/Dockerfile's last
# stage are those of the libraries that it is linked with, no fewer and no more, and systemd understands
# docs/tril.service. What these packages need of others apt knows by itself.
# usage: check_service_files.sh container|unit PROGRAM      exit code 77: this machine cannot tell, and why is said
set -eu
cd "$(dirname "$0")/.."
program=${2:-}

skip() {
  echo "service files: skipped: $1"
  exit 77
}

container() {
  image=$(sed -nE 's/^FROM ([^ ]+).*/\1/p' docs/Dockerfile | tail -n 1)
  here=$(. /etc/os-release && echo "$ID:${VERSION_ID:-}")
  [ "${image%-slim}" = "$here" ] || skip "docs/Dockerfile names the packages of $image, and this is $here"
  command -v readelf >/dev/null 2>&1 || skip "there is no readelf"
  listed=$(awk '/^FROM/ { stage = "" } { stage = stage " " $0 } END { print stage }' docs/Dockerfile | tr -d '\\' |
    sed -E 's/.*--no-install-recommends ([^&]*)&&.*/\1/')

  # Some packages still say /lib where they mean /usr/lib, and some the other way round.
  libraries=$(ldd "$program" | awk '$3 ~ /^\// { sub(/^\/usr/, "", $3); print $1, $3 }')
  owners=$(printf '%s\n' "$libraries" | awk '{ print $2; print "/usr" $2 }' | xargs dpkg-query -S 2>/dev/null || true)
  needed=""
  for name in $(LC_ALL=C readelf -d "$program" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p'); do
    path=$(printf '%s\n' "$libraries" | awk -v name="$name" '$1 == name { print $2 }')
    [ -n "$path" ] || skip "the loader does not find $name"
    package=$(printf '%s\n' "$owners" | awk -v path="$path" '
      { found = $NF; sub(/^\/usr/, "", found) }
      found == path { sub(/:.*/, ""); print; exit }')
    [ -n "$package" ] || skip "$name => $path is of no package"
    case $package in libc6 | libgcc-s1 | libstdc++6) continue ;; esac # in every image, since apt is linked with them
    case "$needed " in *" $package "*) continue ;; esac
    needed="$needed $package"
    case " $(echo $listed) " in *" $package "*) ;; *) missing="${missing-} $package" ;; esac
  done
  for package in $listed; do
    case "$needed " in *" $package "*) ;; *) spare="${spare-} $package" ;; esac
  done
  stage="the last stage of docs/Dockerfile"
  [ -z "${missing-}" ] || echo "service files: $stage lacks$missing, which tril is linked with" >&2
  [ -z "${spare-}" ] || echo "service files: $stage has$spare, which tril is not linked with" >&2
  [ -z "${missing-}${spare-}" ] || exit 1
  echo "service files: docs/Dockerfile has the packages of all libraries:$needed"
}

unit() {
  command -v systemd-analyze >/dev/null 2>&1 || skip "there is no systemd-analyze"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  sed "s|^ExecStart=/usr/bin/tril|ExecStart=$program|" docs/tril.service >"$scratch/tril.service"
  # What it does not understand is a warning to it; what it says of the machine's own units is not ours.
  words=$(systemd-analyze verify --man=no "$scratch/tril.service" 2>&1 || true)
  if printf '%s\n' "$words" | grep -F "tril.service" >&2; then
    exit 1
  fi
  echo "service files: systemd understands docs/tril.service"
}

case ${1:-} in
  container | unit) "$1" ;;
  *) sed -n 's/^# usage: //p' "$0" >&2 && exit 2 ;;
esac
