#!/bin/sh
# Runs every fuzzer for some seconds, or for a number of inputs each:
#   run.sh SECONDS [BUILD_DIRECTORY [FUZZER...]]
#   run.sh --runs NUMBER [BUILD_DIRECTORY [FUZZER...]]
# Builds them first, with clang, under the address and undefined-behaviour sanitizers. What is found is left in
# BUILD_DIRECTORY/findings, and makes the exit status 1.
set -eu
usage='usage: run.sh SECONDS | --runs NUMBER [BUILD_DIRECTORY [FUZZER...]]'
limit=-max_total_time unit=seconds
if [ "${1:-}" = --runs ]; then
  limit=-runs unit=runs
  shift
fi
amount=${1:-}
case $amount in
  '' | *[!0-9]*) echo "$usage" >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${2:-$source/build-fuzz}
shift "$(($# < 2 ? $# : 2))"
[ $# -gt 0 ] || for program in "$source"/tests/fuzz/fuzz_*.cpp; do set -- "$@" "$(basename "$program" .cpp)"; done
compiler=$(command -v clang++ || command -v clang++-14) || { echo "run.sh: clang++ is not installed; try: make deps" >&2; exit 2; }

# -O1 without NDEBUG: compiled sooner than -O3, and assertions are checked.
cmake -S "$source" -B "$build" -G Ninja -DTRIL_FUZZ=ON -DTRIL_SANITIZE=fuzzer-no-link,address,undefined -DTRIL_BENCH=OFF -DTRIL_BATCH=0 \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-g1 -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_CXX_COMPILER="$compiler" \
  >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 2; }
mkdir -p "$build/findings"
status=0
for name in "$@"; do
  cmake --build "$build" --target "$name" >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 2; }
  # A corpus is kept from run to run; the first begins with what the golden files hold.
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  case $name in
    fuzz_safetensors) seeds=$(find "$source/tests/golden" -name '*.safetensors' -size -24k) ;;
    fuzz_quantized) seeds=$(find "$source/tests/golden/quantized" -name model.safetensors) ;;
    fuzz_config) seeds=$(find "$source/tests/golden" -name config.json) ;;
    fuzz_gguf_vocabulary) seeds=$(find "$source/tests/golden" -name 'vocabulary_*.gguf') ;;
    fuzz_gguf) seeds=$(find "$source/tests/golden" -name '*.gguf' -size -64k) ;;
    fuzz_pytorch) seeds=$(find "$source/tests/golden/pytorch" -name '*.bin' -o -name '*.pkl') ;;
    fuzz_ctranslate2) seeds=$(find "$source/tests/golden/ctranslate2/seeds" -name '*.bin') ;;
    fuzz_npz) seeds=$(find "$source/tests/golden/npz" -name '*.npz' -o -name '*.npy') ;;
    fuzz_marian_bin) seeds=$(find "$source/tests/golden/marian" -name '*.bin') ;;
    fuzz_hub_listing) seeds=$(find "$source/tests/fuzz/listings" -type f) ;;
    fuzz_yaml) seeds=$(find "$source/tests/golden/marian" "$source/examples" -name '*.yml') ;;
    fuzz_request) seeds=$(find "$source/tests/fuzz/requests" -type f) ;;
    fuzz_detection) seeds=$(find "$source/tests/fuzz/texts" -type f) ;;
    fuzz_json) seeds=$(find "$source/tests/golden" -name '*config.json') ;;
    fuzz_tokenizer_json) seeds=$(find "$source/tests" -name tokenizer.json -size -64k) ;;
    fuzz_ranks) seeds=$(find "$source/tests/tokenizer/files/rank_cases" -name 'tekken.json' -o -name '*.tiktoken') ;;
    fuzz_adapter_config) seeds=$(find "$source/tests/golden" -name adapter_config.json) ;;
    *) seeds= ;;
  esac
  for file in $seeds; do
    seed=$corpus/seed-$(echo "$file" | cksum | cut -d ' ' -f 1)
    case $name in
      fuzz_tokenizer_json) python3 "$source/tests/fuzz/small_tokenizer.py" "$file" "$seed" ;;
      *) cp "$file" "$seed" ;;
    esac
  done
  # A schema reaches so many branches that counting how rare each is, to choose the next input, takes half of the time.
  case $name in fuzz_schema) schedule=-entropic=0 ;; *) schedule=-entropic=1 ;; esac
  echo "$name: $amount $unit"
  "$(find "$build" -type f -name "$name" -perm -u+x | head -n 1)" "$limit=$amount" "$schedule" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/findings/$name-" "$corpus" 2>"$build/$name.log" || status=1
  grep -aE 'ERROR|SUMMARY|stat::(number_of_executed_units|average_exec_per_sec|new_units_added|peak_rss_mb)' "$build/$name.log" || true
done
[ "$status" -eq 0 ] || echo "run.sh: found something: see $build/findings and $build/*.log" >&2
exit "$status"
