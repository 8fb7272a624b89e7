#!/usr/bin/env bash
# clang-tidy, with the checks of .clang-tidy; fails if it finds something. It reads a room (a folder under src/) as one unit, because
# most of its time goes to the headers of libraries; kernels are read file by file.
# usage: tidy.sh all             every room, kernels for every instruction set: ten minutes of one core
#        tidy.sh since [COMMIT]  the rooms with a source or header that differs from a commit, kernels in plain C++ only. Without a
#                                commit: since the branch left origin/main, or on that branch itself since the commit before
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: tidy.sh all | since [COMMIT]" >&2; exit 2; }

base_of() { # the commit to compare with; nothing if there is none
  local head main
  head=$(git rev-parse HEAD) main=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -n "$main" ] && [ "$main" != "$head" ]; then echo "$main"; else git rev-parse -q --verify HEAD^ || true; fi
}

case "${1:-}" in
  all) files=$(git ls-files 'src/*.cpp') kernels="" ;;
  since)
    if [ $# -gt 1 ]; then
      base=$(git rev-parse -q --verify "$2^{commit}") || { echo "tidy: there is no commit \"$2\"" >&2; exit 2; }
    else
      base=$(base_of)
      [ -n "$base" ] || { echo "tidy: this clone has no earlier commit to compare with; nothing is checked"; exit 0; }
    fi
    # A header of the kernels is checked in the source of its name. What has only moved is not new.
    files=$(git diff --name-only --diff-filter=AMR --find-renames "$base" -- 'src/*.cpp' 'src/*.h' | sed '/^src\/kern/s/\.h$/.cpp/')
    kernels=--extra-arg=-DTRIL_GENERIC_KERNELS ;;
  *) usage ;;
esac

units() { # the units in which the files are read
  local file room
  for file in $files; do
    room=${file#src/} room=${room%/*}
    case $file in
      src/kern/* | src/cli/commands/main.cpp) [ ! -f "$file" ] || echo "$file" ;;
      *) [ ! -d "src/$room" ] || echo "build-tidy/CMakeFiles/tril_${room//\//_}.dir/Unity/unity_0_cxx.cxx" ;;
    esac
  done | sort -u
}

[ -n "$(units)" ] || { echo "tidy: no source has changed"; exit 0; }
scripts/deps.sh clang-tidy clang libomp-dev
cmake --preset tidy >/dev/null
check() {
  clang-tidy -p build-tidy --quiet --warnings-as-errors='*' "$@" 2>&1 | { grep -v ' warnings\? generated\.$' || true; }
  return "${PIPESTATUS[0]}"
}
export -f check
units | xargs -P "$(nproc)" -n 1 bash -c 'set -o pipefail; check "$1" $0' "$kernels"
echo "tidy: $(units | wc -l) units are clean"
