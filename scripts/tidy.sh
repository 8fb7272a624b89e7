#!/usr/bin/env bash
# clang-tidy, with the checks of .clang-tidy; fails if it finds something. It reads the files of a room (a folder under src/) as one
# unit, because most of its time goes to the headers of libraries; kernels are read file by file.
# usage: tidy.sh all             every file, kernels for every instruction set: ten minutes of one core
#        tidy.sh since [--within SECONDS] [COMMIT]
#                                the files that differ from a commit, kernels in plain C++ only. Without a commit: since the branch
#                                left origin/main, or on that branch itself since the commit before. It starts with the rooms that
#                                changed most, begins none after SECONDS, and names those that it has left out
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: tidy.sh all | since [--within SECONDS] [COMMIT]" >&2; exit 2; }

is_alone() { case $1 in src/kern/* | src/cli/commands/main.cpp) ;; *) false ;; esac } # is not read with the others of its room

folder_of_unit() { # of a room
  local room=${1#src/}
  echo "build-tidy/CMakeFiles/tril_${room//\//_}.dir/Unity"
}

sources_of() { # the sources to read for a changed file that is read alone: itself, or for a header one that includes it
  local with=${1%.h}.cpp
  case $1 in
    *.cpp) echo "$1" ;;
    *) if [ -f "$with" ]; then echo "$with"; else git grep -l -F "\"${1#src/}\"" -- 'src/kern/*.cpp' | head -n 1 || true; fi ;;
  esac
}

units_of_all() {
  local file
  git ls-files 'src/*.cpp' | while read -r file; do
    if is_alone "$file"; then echo "$file"; else echo "$(folder_of_unit "$(dirname "$file")")/unity_0_cxx.cxx"; fi
  done | sort -u
}

write_unit() { # of a room's changed files
  local folder file
  folder=$(folder_of_unit "$1")
  grep "^$1/[^/]*$" <<<"$changed" | while read -r file; do
    case $file in
      *.h) printf '#include "%s"\n' "$PWD/$file" ;;
      *) grep -F "\"$PWD/$file\"" "$folder/unity_0_cxx.cxx" || true ;; # not what this build leaves out
    esac
  done >"$folder/changes.cxx"
  echo "$folder/changes.cxx"
}

units_of_changes() { # the rooms with most changed files come first
  local file place
  while read -r file; do
    if is_alone "$file"; then sources_of "$file"; else dirname "$file"; fi
  done <<<"$changed" | sort | uniq -c | sort -k 1,1nr -k 2 | while read -r _ place; do
    case $place in *.cpp) echo "$place" ;; *) write_unit "$place" ;; esac
  done
}

mode=${1:-} kernels="" within=1000000
shift || usage
case $mode in
  all) [ $# -eq 0 ] || usage ;;
  since)
    if [ "${1:-}" = --within ]; then
      [[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || usage
      within=$2
      shift 2
    fi
    [ $# -le 1 ] || usage
    if [ $# -eq 1 ]; then
      base=$(git rev-parse -q --verify "$1^{commit}") || { echo "tidy: there is no commit \"$1\"" >&2; exit 2; }
    else
      base=$(scripts/base_commit.sh)
      [ -n "$base" ] || { echo "tidy: this clone has no earlier commit to compare with; nothing is checked"; exit 0; }
    fi
    changed=$(git diff --name-only --diff-filter=AMR "$base" -- 'src/*.cpp' 'src/*.h')
    [ -n "$changed" ] || { echo "tidy: no source has changed"; exit 0; }
    kernels=--extra-arg=-DTRIL_GENERIC_KERNELS ;;
  *) usage ;;
esac

scripts/deps.sh clang-tidy clang libomp-dev
cmake --preset tidy >/dev/null
check() {
  if [ "$(date +%s)" -gt "$latest" ]; then
    echo "$1" >>build-tidy/left_out
    return
  fi
  clang-tidy -p build-tidy --quiet --warnings-as-errors='*' $kernels "$1" 2>&1 | { grep -v ' warnings\? generated\.$' || true; }
  return "${PIPESTATUS[0]}"
}
export -f check
export kernels latest=$(($(date +%s) + within))
: >build-tidy/left_out
outcome=0
if [ "$mode" = all ]; then units=$(units_of_all); else units=$(units_of_changes); fi
[ -n "$units" ] || { echo "tidy: no source includes what has changed"; exit 0; }
xargs -P "$(nproc)" -n 1 bash -c 'check "$0"' <<<"$units" || outcome=1 # the findings are printed
if [ -s build-tidy/left_out ]; then
  echo "tidy: after $within s, these were left out; \`make tidy-changed BASE=$base\` reads them:"
  sed -E 's|.*/tril_(.*)\.dir/.*|  \1|; s|^src/|  |' build-tidy/left_out
fi
[ "$outcome" -ne 0 ] || echo "tidy: $(($(wc -l <<<"$units") - $(wc -l <build-tidy/left_out))) units are clean"
exit "$outcome"
