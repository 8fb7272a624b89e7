#!/usr/bin/env bash
# The tests under the address, undefined-behaviour and thread sanitizers, each on the programs where it has something to find.
# usage: sanitize.sh [address] [thread]      (default: both)
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- address thread

scripts/deps.sh sanitizers

# Without line numbers, which the preset has, compiling takes a seventh less. A report names the functions; for the lines, build the
# preset by itself: cmake --preset asan && cmake --build build-asan --target test_base
run() { # preset, targets, tests that it runs, tests of these that it leaves out
  local begun=$SECONDS built
  cmake --preset "$1" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O0 -g0" > "/tmp/tril-$1.log" 2>&1 || { cat "/tmp/tril-$1.log"; exit 1; }
  cmake --build "build-$1" -j "$(nproc)" --target $2 > "/tmp/tril-$1.log" 2>&1 || { tail -50 "/tmp/tril-$1.log"; exit 1; }
  built=$SECONDS
  (cd "build-$1" && TRIL_BROWSER=none TRIL_ROUNDS=20% ctest --output-on-failure -j "$(($(nproc) + 1))" -R "$3" -E "$4") > "/tmp/tril-$1.log" 2>&1 \
    || { grep -v ' Passed ' "/tmp/tril-$1.log" | tail -n 200; exit 1; }
  tail -n 8 "/tmp/tril-$1.log"
  echo "ci: $1 took $((built - begun)) s to build and $((SECONDS - built)) s to run"
}

# `most`: the rooms whose tests run: all that read bytes or compute, except the kernels and the programs, which would take an hour.
# `costly`: tests left out because they need seconds even without a sanitizer. They are those of what long texts, templates and
# schemas may cost (the fuzzers of these run with sanitizers in `make soak`), a soak that measures memory, of which a sanitizer uses
# more, and one that only counts the weights of large models, whose memory the address sanitizer marks byte by byte.
# Random rounds are a fifth of those without a sanitizer.
costly='^(tokenizer\..*(TimeGrows|ALongRun)|chat\..*(WhatTakesLong|SearchesPay|GeneratorsAndFormatsStay)|grammar\.SchemaWork|search\.Soak|model\.PublishedLlamaLike)'
# What the address sanitizer leaves out besides: tests that take it ten seconds or more and run no code of their own. They repeat a
# formula for many sizes, train every family with the same ops, or draw as many lines as the demo trains on, or train
# on until two runs can be compared.
repeats='^train\.(Kinds/OptimizerTwin|NewFamily|Trainer\.Resumed|Announced)|^grammar\.JsonSchema\.RefusesByName|^ops\.CrossEntropy\.FusedInMixedPrecisionWhole|^demo\.(DemoTasks\.GiveAsMany|DemoCorpus\.Refuses)'
most="base format tensor ops nn model unicode tokenizer chat model_io corpus align metrics grammar search decode train report demo perf serve"

for what in "$@"; do
  case $what in
    address) run asan "$(printf 'test_%s ' $most)" "^($(printf %s "$most" | tr ' ' '|'))\." "$costly|$repeats" ;;
    # OpenMP's own synchronisation is invisible to the thread sanitizer, so it runs where threads are the project's own:
    # not in training, whose products are OpenBLAS's and oneDNN's by OpenMP. Of decoding, the tests with several workers,
    # threads inside ops or callbacks from other threads. All of the service. Hashing a large file and reading
    # a long prompt take one thread.
    thread) run tsan "test_base test_tensor test_corpus test_align test_decode test_serve" \
      '^(base|tensor|corpus|align)\..*(Arena|Corpus|Team)|^decode\.(Deterministic\.Nothing|Ensemble|Generator|GoldenEncoderDecoder\.Batches|PromptSession|ContinuousSession|ContinuousBatch|Shortlist|Speculative|TokenAttention|Watched|WatchedModel|WorkerPool)|^serve\.(Engine|HttpServer|LargeBodies|Serving|SideWorker|Statistics)' "$costly|^corpus\.Corpus\.LargeFiles|^decode\.PromptSession\.LongTexts" ;;
    *) echo "sanitize: '$what' is not one of address, thread" >&2; exit 2 ;;
  esac
done
