#!/bin/sh
# Installs tril from its archive, or removes it.
#   ./install.sh [PREFIX]              PREFIX is /usr/local for root, and ~/.local for others
#   ./install.sh --uninstall [PREFIX]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
remove=false
if [ "${1-}" = --uninstall ]; then
  remove=true
  shift
fi
case ${1-} in
  -*)
    sed -n '2,4s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
if [ "$(id -u)" -eq 0 ]; then prefix=${1:-/usr/local}; else prefix=${1:-$HOME/.local}; fi

cd "$here"
rm -rf "$prefix/lib/tril" "$prefix/share/doc/tril" # an older version may have other files there
if [ "$remove" = true ]; then
  find bin share -type f | while read -r file; do rm -f "$prefix/$file"; done
  echo "tril is removed from $prefix"
  exit 0
fi
mkdir -p "$prefix"
cp -R bin lib share "$prefix/"
"$prefix/bin/tril" --version
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "add $prefix/bin to PATH" ;;
esac
