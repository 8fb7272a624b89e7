#!/bin/sh
# The kernels on ARM64: compiled by a cross compiler, tested under QEMU, every table. QEMU shows that results are right, not how
# fast they are.
# usage: check_arm64.sh [FILTER]    GoogleTest's filter; by default tests of quantised products, of products of GGUF's blocks,
#                                   exp, NaN, softmax and tables
set -eu
cd "$(dirname "$0")/.."
filter=${1-*GemmInt8*:*BlockProducts*:*MemoryAttention*:Exp*:*Nan*:*SoftCaps*:*OddRows*:Tables.*}
root=${TRIL_ARM64_ROOT:-$PWD/build-arm64-root}
export TRIL_ARM64_ROOT="$root"
begun=$(date +%s)
scripts/arm64_root.sh "$root"
log=$(mktemp)
if ! { cmake --preset arm64 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -DTRIL_QUICK=ON -DTRIL_BATCH=0 \
  && cmake --build build-arm64 -j "$(nproc)" --target test_kern; } >"$log" 2>&1; then
  tail -50 "$log" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
built=$(date +%s)
# -R: see cmake/aarch64.cmake
qemu-aarch64 -cpu max -R 8G -L "$root" build-arm64/tests/test_kern --gtest_brief=1 --gtest_filter="$filter"
echo "arm64: $((built - begun)) s to build, $(($(date +%s) - built)) s to run"
