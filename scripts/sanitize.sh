#!/usr/bin/env bash
# The tests under the address, undefined-behaviour and thread sanitizers, each on the programs where it has something to find.
# usage: sanitize.sh [--build | --all] [address] [thread]
# Default: both. --build compiles the programs and runs nothing. --all also runs the tests in `repeats` below, with all
# random rounds; those in `costly` stay left out.
set -euo pipefail
cd "$(dirname "$0")/.."
only_build=
all= rounds=20% limit=900
case "${1-}" in
  --build) only_build=yes; shift ;;
  --all) all=yes rounds=100% limit=7200; shift ;;
esac
[ $# -gt 0 ] || set -- address thread

scripts/deps.sh sanitizers

# The tests of a program whose names ("base.Suite.Test") match the first pattern and not the second, as a filter of GoogleTest.
chosen() { # program, tests that it runs, tests of these that it leaves out
  "$1" --gtest_list_tests | sed -nE 's/ *#.*//; /^[^ ].*\.$/h; /^  /{G; s/^  (.*)\n(.*)$/\2\1/p}' \
    | sed "s/^/${1##*/test_}./" | grep -E "$2" | grep -vE "$3" | sed "s/^${1##*/test_}\.//" | tr '\n' ':'
}

# Runs one part of a program's tests in one process: to start a process for each test takes a quarter of the time under a sanitizer.
part() { # program, filter, parts, number of the part
  local log="$1.part$4.log"
  GTEST_TOTAL_SHARDS=$3 GTEST_SHARD_INDEX=$4 timeout "$limit" "$1" --gtest_filter="$2" --gtest_color=no > "$log" 2>&1 && return
  { echo "sanitize: $1 failed, or took longer than $limit s:"; grep -vE '^\[( RUN      |       OK )\]' "$log" | tail -n 150; } >&2
  return 1
}
export -f part
export limit

# The programs of the thread sanitizer hold only the files with a test that runs: less than half of all. Those of the address sanitizer
# hold every file, so that clang's warnings about it are errors. Without line numbers, which the preset has, compiling takes a seventh
# less. A report names the functions; for the lines, build the preset by itself:
#   cmake --preset asan && cmake --build build-asan --target test_base
run() { # preset, targets, tests that it runs, tests of these that it leaves out
  local begun=$SECONDS built program filter parts chosen=()
  [ "$1" = asan ] || chosen=(-DTRIL_TEST_ONLY="$3" -DTRIL_TEST_WITHOUT="$4")
  cmake --preset "$1" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O0 -g0" "${chosen[@]}" > "/tmp/tril-$1.log" 2>&1 || { cat "/tmp/tril-$1.log"; exit 1; }
  cmake --build "build-$1" -j "$(nproc)" --target $2 > "/tmp/tril-$1.log" 2>&1 || { tail -50 "/tmp/tril-$1.log"; exit 1; }
  built=$SECONDS
  [ -z "$only_build" ] || { echo "ci: $1 took $((built - begun)) s to build"; return 0; }
  rm -f "build-$1"/tests/*.part*.log
  for program in $2; do
    program=build-$1/tests/$program
    filter=$(chosen "$program" "$3" "$4") || continue  # none
    parts=$((1 + $(tr -cd : <<< "$filter" | wc -c) / 60))
    for ((i = 0; i < parts; ++i)); do printf '%s\0' "$program" "$filter" "$parts" "$i"; done
  done | TRIL_BROWSER=none TRIL_ROUNDS=$rounds xargs -0 -n 4 -P "$(($(nproc) + 1))" bash -c 'part "$@"' part || exit 1
  awk -v what="$1" '/^\[  PASSED  \]/ {n += $4} END {print "ci: " what ": " n " tests passed"}' "build-$1"/tests/*.part*.log
  echo "ci: $1 took $((built - begun)) s to build and $((SECONDS - built)) s to run"
}

# `most`: the rooms whose tests run: all that read bytes or compute, except the kernels and the programs, which would take an hour.
# `costly`: tests left out because they need seconds even without a sanitizer. They are those of what long texts, templates,
# documents and schemas may cost (the fuzzers of these run with sanitizers in `make soak`), a soak that measures memory, of which a
# sanitizer uses more, and one that only counts the weights of large models, whose memory the address sanitizer marks byte by byte.
# Unless --all is given, random rounds are a fifth of those without a sanitizer.
costly='^(tokenizer\..*(TimeGrows|ALongRun)|(document|terms|unicode)\..*(TimeGrows|LinearTime|TimeIsLinear|NoLongerThan)|chat\..*(WhatTakesLong|WhatHasNoEnd|SearchesPay|GeneratorsAndFormatsStay)|grammar\.(SchemaWork|SchemaWords\.WhatMultiplies)|search\.Soak|model\.PublishedLlamaLike)'
# What the address sanitizer leaves out besides: tests that take it ten seconds or more and run no code of their own. They repeat a
# formula for many sizes or block types, train every family with the same ops, draw as many lines as the demo trains on, train on
# until two runs can be compared, hash a large file, read a long prompt, write every golden file again, learn an alignment, measure
# the machine, generate with every family what its logits already show, or are run by the thread sanitizer as well.
repeats='^train\.(Kinds/OptimizerTwin|NewFamily|Trainer\.Resumed|Announced|Division\.OptimizersOfSeveral)|^grammar\.JsonSchema\.RefusesByName|^ops\.CrossEntropy\.FusedInMixedPrecision|^demo\.(DemoTasks\.GiveAsMany|DemoCorpus\.(Refuses|SaysWhat))|^model_io\.GgufWeights\.FewerBits|^corpus\.Corpus\.LargeFiles|^decode\.(PromptSession\.LongTexts|GoldenGenerate\.IsThat|Deterministic\.Nothing|GoldenEncoderDecoder\.BatchesAnd)|^format\.Safetensors\.GoldenFilesSurvive|^align\.WordAligner\.FindsWhat|^perf\.Roofline|^base\.Team\.EveryMember'
[ -z "$all" ] || repeats='^$'
# Tests that run the program or build other projects.
outside='^library\.(.*TheProgram|Consumers)|^watch\.(TrainWatch|WatchPage)'
most="base format tensor ops nn model unicode language document terms tokenizer chat model_io corpus align metrics grammar search decode train report demo perf serve watch library"

for what in "$@"; do
  case $what in
    address) run asan "$(printf 'test_%s ' $most)" "^($(printf %s "$most" | tr ' ' '|'))\." "$costly|$repeats|$outside" ;;
    # OpenMP's own synchronisation is invisible to the thread sanitizer, so it runs where threads are the project's own:
    # not in training, whose products are OpenBLAS's and oneDNN's by OpenMP. Of decoding, the tests with several workers,
    # threads inside ops or in loading, or callbacks from other threads. All of the service. Hashing a large file and reading
    # a long prompt take one thread.
    thread) run tsan "test_base test_tensor test_corpus test_align test_decode test_serve test_watch" \
      '^(base|tensor|corpus|align)\..*(Arena|Corpus|Team)|^decode\.(Deterministic\.Nothing|Ensemble|Generator|GoldenEncoderDecoder\.Batches|PromptSession|ContinuousSession|ContinuousBatch|Shortlist|Speculative|ThreadedLoading|TokenAttention|Watched|WatchedModel|WorkerPool)|^serve\.(Engine|HttpServer|LargeBodies|Serving|SideWorker|Statistics)|^watch\.RunWatch' "$costly|^corpus\.(Corpus\.LargeFiles|.*GoesOnExactlyFromAnyBatch/[^0])|^decode\.PromptSession\.LongTexts" ;;
    *) echo "sanitize: '$what' is not one of address, thread" >&2; exit 2 ;;
  esac
done
