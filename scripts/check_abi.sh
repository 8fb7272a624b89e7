#!/usr/bin/env bash
# Compares the binary interface of libtril.so with that of an earlier commit. Fails if programs that were linked with it must be
# compiled again and TRIL_ABI_VERSION has not grown.
#   check_abi.sh [COMMIT]   by default the last tag v…; without a tag there is nothing to compare with
# Builds both in build-abi/, which keeps the interface of the earlier one. Needs abidw and abidiff (Debian's package abigail-tools).
set -euo pipefail
cd "$(dirname "$0")/.."
before=${1:-$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2> /dev/null || true)}
if [ -z "$before" ]; then
  echo "check_abi: there is no tag yet to compare with"
  exit 0
fi
scripts/deps.sh abigail-tools
folder=$PWD/build-abi
mkdir -p "$folder"
# Types of the standard library must not be dropped: they lead to the structs in lists.
standard=$(c++ -x c++ -E -v /dev/null 2>&1 | sed -nE 's|^ (/.*/c\+\+/[0-9]+)$|\1|p' | head -n 1)

# dump SOURCE NAME: the interface of a source tree as build-abi/NAME.xml. Only the rooms that export symbols are compiled (abi.cmake).
dump() {
  local build=$folder/$2
  cmake -S "$1" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
    -DTRIL_LIBRARY_ONLY=ON -DTRIL_QUICK=ON -DTRIL_BATCH=0 -DTRIL_PCH=OFF -DTRIL_TESTS=OFF -DTRIL_BENCH=OFF -DCMAKE_OPTIMIZE_DEPENDENCIES=ON \
    -DCMAKE_PROJECT_tril_INCLUDE="$PWD/scripts/abi.cmake" > "$build.log"
  cmake --build "$build" --target tril_abi >> "$build.log" || { cat "$build.log" >&2; exit 1; }
  abidw --headers-dir "$1/include/tril" --headers-dir "$standard" --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
    --no-elf-needed --out-file "$build.part" "$build/libtril_abi.so"
  mv "$build.part" "$build.xml"
}

rm -rf "$folder/source"
git worktree prune
git worktree add --quiet --detach "$folder/source" "$before"
trap 'git worktree remove --force "$folder/source"' EXIT
# What is kept is of one commit and of one way to make it.
earlier=$(git rev-parse "$before^{commit}")-$(cat scripts/abi.cmake scripts/check_abi.sh <(c++ --version) <(abidw --version) | sha256sum | cut -c1-12)
[ -e "$folder/$earlier.xml" ] || dump "$folder/source" "$earlier"
dump "$PWD" now

number() { sed -n 's/^#define TRIL_ABI_VERSION //p' "$1/include/tril/version.h"; }
# Functions may be added. Any other change, such as a new member of a struct, needs a new number.
code=0
abidiff --no-added-syms "$folder/$earlier.xml" "$folder/now.xml" > "$folder/changes.txt" || code=$?
if [ "$code" -eq 0 ]; then
  echo "check_abi: compatible with $before"
elif [ $((code & 3)) -eq 0 ] && [ "$(number "$folder/source")" != "$(number .)" ]; then
  echo "check_abi: differs from $before, as TRIL_ABI_VERSION says"
else
  cat "$folder/changes.txt" >&2
  echo "check_abi: programs that were linked with $before must be compiled again: TRIL_ABI_VERSION must grow (docs/cpp.md)" >&2
  exit 1
fi
