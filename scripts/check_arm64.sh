#!/usr/bin/env bash
# tril on ARM64: compiled by a cross compiler, tested under QEMU. QEMU shows that results are right, not how fast they are.
# usage: check_arm64.sh [FILTER]             the kernels, every table. FILTER is GoogleTest's; by default tests of quantised products,
#                                            of products of GGUF's blocks, exp, NaN, softmax and tables
#        check_arm64.sh --all [PROGRAM...]   the program tril, and the test programs, all or those named ("base", "ops"), without
#                                            tests that need a browser; a fifth of the random rounds. build-arm64-all/results gets
#                                            a log of each part. A sixth of a program's tests may take two hours
set -euo pipefail
cd "$(dirname "$0")/.."
root=${TRIL_ARM64_ROOT:-$PWD/build-arm64-root}
export TRIL_ARM64_ROOT="$root"
begun=$SECONDS
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { tail -50 "$log" >&2; exit 1; }; }
emulated() { qemu-aarch64 -cpu max -R 8G -L "$TRIL_ARM64_ROOT" "$@"; }  # -R: see cmake/aarch64.cmake
scripts/arm64_root.sh "$root"

if [ "${1-}" != --all ]; then
  filter=${1-*GemmInt8*:*BlockProducts*:*MemoryAttention*:Exp*:*Nan*:*SoftCaps*:*OddRows*:Tables.*}
  # -O1: without it, what the tests expect is computed for minutes in the emulator; compiling takes seconds more.
  quietly cmake --preset arm64 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DTRIL_QUICK=ON -DTRIL_BATCH=0
  quietly cmake --build build-arm64 -j "$(nproc)" --target test_kern
  built=$SECONDS
  running=()
  for ((i = 0; i < $(nproc); ++i)); do
    GTEST_SHARD_INDEX=$i GTEST_TOTAL_SHARDS=$(nproc) emulated build-arm64/tests/test_kern --gtest_brief=1 --gtest_filter="$filter" &
    running+=($!)
  done
  for process in "${running[@]}"; do wait "$process"; done
  echo "arm64: $((built - begun)) s to build, $((SECONDS - built)) s to run"
  exit
fi
shift

# Left out: one model of each family, computed; it had not ended after fifteen minutes. test_decode and GoldenHf.Logits run the same code.
left_out='-GoldenHf.LogitsOfDecoders'
build=build-arm64-all
quietly cmake --preset arm64 -B $build -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DTRIL_BATCH=0
quietly cmake --build $build -j "$(nproc)" ${1+--target tril $(printf 'test_%s ' "$@")}
built=$SECONDS

# Runs one part of a program's tests.
part() { # program, number of the part, parts
  local begun=$SECONDS code=0 log=$results/$1.$2.log
  GTEST_SHARD_INDEX=$2 GTEST_TOTAL_SHARDS=$3 timeout "$limit" qemu-aarch64 -cpu max -R 8G -L "$TRIL_ARM64_ROOT" "$programs/$1" \
    --gtest_color=no --gtest_filter="$left_out" >"$log" 2>&1 || code=$?
  echo "arm64: ended with $code after $((SECONDS - begun)) s" >>"$log"
}
export -f part
export left_out limit=7200 programs=$build/tests results=$build/results TRIL_BROWSER=none TRIL_ROUNDS=20%
rm -rf $results
mkdir $results
parts=6
if [ $# -eq 0 ]; then
  set -- $(cd $programs && printf '%s\n' test_* | sed -n 's/^test_\([a-z_]*\)$/\1/p')
fi
for program in "$@"; do
  for ((i = 0; i < parts; ++i)); do printf '%s\0' "test_$program" $i $parts; done
done | xargs -0 -n 3 -P "$(nproc)" bash -c 'part "$@"' part

# A table of the programs, then what failed, with what it printed. A part whose last test has no result broke off there.
table='
  /^\[ RUN      \]/ {running = $4; output = ""; next}
  /^\[       OK \]/ {++passed; running = ""}
  /^\[  SKIPPED \] .* ms\)$/ {++skipped; running = ""}
  /^\[  FAILED  \] .* ms\)$/ {++failed; ++part; printf "%s: %s failed:\n%s", program, running, output >"/dev/stderr"; running = ""}
  /^arm64: ended with/ {
    seconds += $6
    if ($4 != 0 && !part) {++failed; printf "%s: ended with %s after %s s, in %s:\n%s", program, $4, $6, running, output >"/dev/stderr"}
    part = 0; running = output = ""
  }
  {output = output $0 "\n"}
  END {printf "%-12s %7d %7d %8d %8d\n", program, passed, failed, skipped, seconds; exit failed > 0}'
failed=0
printf '%-12s %7s %7s %8s %8s\n' program passed failed skipped seconds
for program in "$@"; do
  cat $results/"test_$program".*.log | awk -v program="$program" "$table" 2>>$results/failures || failed=1
done
cat $results/failures >&2
echo "arm64: $((built - begun)) s to build, $((SECONDS - built)) s to run"
exit $failed
