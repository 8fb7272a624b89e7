#!/usr/bin/env bash
# Parses sources and headers one by one, without precompiled headers: each must include what it uses. Other builds compile many sources
# together, where one may use what another has included.
# usage: check_includes.sh [COMMIT]   what differs from a commit; without one, from that of scripts/base_commit.sh
#        check_includes.sh --all      every file: an hour of one core
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -le 1 ] || { echo "usage: check_includes.sh [COMMIT | --all]" >&2; exit 2; }
files=('src/*.cpp' 'src/*.h' 'tests/*.cpp' 'tests/*.h')
if [ "${1:-}" = --all ]; then
  changed=$(git ls-files -- "${files[@]}")
else
  base=${1:-$(scripts/base_commit.sh)}
  [ -n "$base" ] || { echo "includes: this clone has no earlier commit to compare with; nothing is checked"; exit 0; }
  git rev-parse -q --verify "$base^{commit}" >/dev/null || { echo "includes: there is no commit \"$base\"" >&2; exit 2; }
  changed=$(git diff --name-only --diff-filter=AMR "$base" -- "${files[@]}"; git ls-files --others --exclude-standard -- "${files[@]}")
fi
changed=$(grep -vE -e '-inl\.h$' <<<"$changed" || true) # these are parts of kernels
[ -n "$changed" ] || { echo "includes: no source has changed"; exit 0; }

folder=build-alone
cmake -S . -B $folder -G Ninja -DCMAKE_BUILD_TYPE=Debug -DTRIL_UNITY=OFF -DTRIL_PCH=OFF -DTRIL_BENCH=OFF ${CMAKE_FLAGS:-} >$folder.log 2>&1 \
  || { cat $folder.log; exit 1; }
sed -nE 's/^ *"command": "(.*)",$/\1/p' $folder/compile_commands.json | sed 's/\\"/"/g; s/\\\\/\\/g' >$folder/commands

check() { # a file
  local with command
  case $1 in
    *.cpp) with=$1 ;;
    tests/support/*) with=tests/cli/.*\\.cpp ;;
    *) with=$(dirname "$1")/[^/]*\\.cpp ;;
  esac
  command=$(grep -m 1 -E " -c $PWD/$with\$" $folder/commands) || { echo "includes: this build has no command for $1"; return 0; }
  command="${command% -o *} -fsyntax-only"
  case $1 in
    *.cpp) eval "$command $PWD/$1" ;;
    *) eval "$command -x c++ -" <<<"#include \"$PWD/$1\"" ;;
  esac || { echo "includes: $1 does not compile by itself" >&2; return 1; }
}
export -f check
export folder
xargs -P "$(nproc)" -n 1 bash -c 'check "$0"' <<<"$changed" || exit 1
echo "includes: $(wc -l <<<"$changed") files compile by themselves"
