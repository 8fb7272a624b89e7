#!/usr/bin/env bash
# clang-tidy, with the checks of .clang-tidy; fails at the first file in which it finds something. Each source is compiled by itself,
# so that one that lacks an include is found too.
# usage: tidy.sh all             every source under src/
#        tidy.sh since [COMMIT]  the sources, and those of the headers, that differ from a commit: without one, from where the
#                                branch left origin/main, or on that branch itself from the commit before; if TIDY_MOST is
#                                set, at most so many of them, drawn by the commit's name
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: tidy.sh all | since [COMMIT]" >&2; exit 2; }

base_of() { # the commit to compare with; nothing where the history has none
  local head main
  head=$(git rev-parse HEAD) main=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -n "$main" ] && [ "$main" != "$head" ]; then echo "$main"; else git rev-parse -q --verify HEAD^ || true; fi
}

case "${1:-}" in
  all) files=$(git ls-files 'src/*.cpp') ;;
  since)
    if [ $# -gt 1 ]; then
      base=$(git rev-parse -q --verify "$2^{commit}") || { echo "tidy: there is no commit \"$2\"" >&2; exit 2; }
    else
      base=$(base_of)
      [ -n "$base" ] || { echo "tidy: this clone has no earlier commit to compare with; nothing is checked"; exit 0; }
    fi
    # A header is checked in the source of its name. What has only moved is not new.
    files=$(git diff --name-only --diff-filter=AMR --find-renames "$base" -- 'src/*.cpp' 'src/*.h' 'tests/*_test.cpp' \
      | sed 's/\.h$/.cpp/' | sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
    all=$(wc -w <<<"$files")
    if [ -n "${TIDY_MOST:-}" ] && [ "$all" -gt "$TIDY_MOST" ]; then
      files=$(shuf -n "$TIDY_MOST" --random-source=<(yes "$(git rev-parse HEAD)" 2>/dev/null) <<<"$files")
      echo "tidy: $TIDY_MOST of $all changed sources are checked here; make tidy-changed checks all"
    fi ;;
  *) usage ;;
esac
[ -n "$files" ] || { echo "tidy: no source has changed"; exit 0; }

scripts/deps.sh clang-tidy clang libomp-dev
cmake --preset tidy >/dev/null
check() { # a test is only compiled
  case "$1" in tests/*) set -- "$1" '--checks=-*,misc-unused-using-decls' ;; esac
  clang-tidy -p build-tidy --quiet --warnings-as-errors='*' "${@:2}" "$1" 2>&1 | { grep -v ' warnings\? generated\.$' || true; }
  return "${PIPESTATUS[0]}"
}
export -f check
printf '%s\n' $files | xargs -P "$(nproc)" -n 1 bash -c 'set -o pipefail; check "$0"'
echo "tidy: $(wc -w <<<"$files") sources are clean"
