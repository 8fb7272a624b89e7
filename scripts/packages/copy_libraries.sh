#!/bin/sh
# Copies the libraries that a program is linked with, the C library and the loader among them, and the terms of their packages.
#   copy_libraries.sh PROGRAM LIBRARIES TERMS
# The file names in LIBRARIES are those by which programs ask for them. TERMS gets a file for each package.
set -eu
program=$1 libraries=$2 terms=$3
mkdir -p "$libraries"

listed=$(ldd "$program")
case $listed in
  *"not found"*)
    printf '%s\n' "$listed" | sed -n "s|^[ \t]*|$program: |; /not found/p" >&2
    exit 1
    ;;
esac
# Some packages still say /lib where they mean /usr/lib, and some the other way round.
files=$(printf '%s\n' "$listed" | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | sed 's|^/usr||')
owners=$(printf '%s\n' "$files" | awk '{ print; print "/usr" $0 }' | xargs dpkg-query -S 2>/dev/null || true)
for file in $files; do
  cp -L "$file" "$libraries/"
  package=$(printf '%s\n' "$owners" | awk -v file="$file" '
    { found = $NF; sub(/^\/usr/, "", found) }
    found == file { sub(/:.*/, ""); print; exit }')
  [ -n "$package" ] || { echo "copy_libraries.sh: $file is of no package" >&2; exit 1; }
  "$(dirname "$0")/copy_terms.sh" "$terms" "$package"
done
