#!/bin/sh
# What should be measured on ARM64 hardware: each kernel table, and a translation with each precision. Run it there, natively built;
# it writes its figures and the processor to a file. Figures from QEMU say nothing.
# usage: bench/arm64.sh [MODEL TEXT]    MODEL: a directory or hub name; TEXT: a file of sentences
set -eu
cd "$(dirname "$0")/.."
out=build/arm64-bench.txt
make build
cmake --build build --target bench_kern
{
  date -u
  lscpu
  build/bench/bench_kern --benchmark_filter='gemm/roof|quantized_gemm/|packed_gemm/|attention/' --benchmark_min_time=0.5
  if [ $# -eq 2 ]; then
    for table in generic neon_dot neon_i8mm neon_bf16; do
      for precision in fp32 bf16 int8 int4; do
        echo "== $table $precision"
        TRIL_INSTRUCTION_SET=$table build/tril bench translate --model "$1" --precision $precision --threads 1 --input "$2" 2>&1 || echo "$table: exit code $?"
      done
    done
  fi
} | tee "$out"
echo "written to $out"
