#!/usr/bin/env python3
"""Times `tril translate` of a language model: line by line, and in batches. The prefix that the prompts share (the instructions)
is computed once, except with --deterministic, which is timed too.

  prompts.py TRIL MODEL LINES [--batches 1,8,32] [--rounds 3] [-- OPTIONS OF TRIL TRANSLATE...]

LINES is a file with a text a line; for example the first 64 lines of a test set. The search is greedy, and a translation has at
most 32 tokens, so that a model that never ends costs no more than others. Options after --, in their long form, replace these.
Each round runs all cases, in turn. Times are without loading the model, which a run on no lines gives. Ratios are those of one
round: the median, the least and the greatest of all rounds. With --deterministic, the translations must be the same for all
batch sizes, else the exit status is 1. Otherwise rounding may change a few, and their number is reported.
"""
import argparse
import statistics
import subprocess
import sys
import time

GREEDY = {"--source-language": "en", "--target-language": "de", "--beam-size": "1", "--temperature": "0", "--max-length": "32"}


def run(command, text):
    """The lines of output, and the seconds."""
    begun = time.perf_counter()
    ran = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - begun
    if ran.returncode:
        sys.exit(f"{' '.join(command)}: {ran.stderr.strip()}")
    return ran.stdout.split("\n")[:-1], seconds


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tril")
    parser.add_argument("model")
    parser.add_argument("lines")
    parser.add_argument("--batches", default="1,8,32", help="sizes; the first is what the others are compared with")
    parser.add_argument("--rounds", type=int, default=3)
    own, more = sys.argv[1:], []
    if "--" in own:
        own, more = own[:own.index("--")], own[own.index("--") + 1:]
    args = parser.parse_args(own)
    text = open(args.lines, encoding="utf-8").read()
    count = sum(1 for line in text.splitlines() if line.strip())
    if not count:
        sys.exit(f"{args.lines}: expected lines of text, found none")
    greedy = [part for option, value in GREEDY.items() if option not in more for part in (option, value)]
    command = [args.tril, "translate", "--model", args.model, *greedy, *more]
    sizes = [int(size) for size in args.batches.split(",")]
    cases = [(size, exact) for exact in (False, True) for size in sizes]
    rates = {case: [] for case in cases}
    outputs = {}
    for number in range(args.rounds):
        loading = run(command, "")[1]
        for size, exact in cases:
            lines, seconds = run([*command, "--batch-size", str(size)] + ["--deterministic"] * exact, text)
            if seconds <= loading:
                sys.exit(f"{args.lines}: loading the model takes longer than its {count} lines; use more lines")
            rates[size, exact].append(count / (seconds - loading))
            if outputs.setdefault((size, exact), lines) != lines and exact:
                sys.exit(f"batch size {size} with --deterministic: round {number + 1} has other translations than the first")
    base, failed = (sizes[0], False), False
    print(f"| batch size | shared prefix | lines/s | times batch size {sizes[0]} | lines that differ |")
    print("|---:|---|---:|---:|---:|")
    for case in cases:
        size, exact = case
        ratios = [rate / first for rate, first in zip(rates[case], rates[base])]
        differ = sum(a != b for a, b in zip(outputs[case], outputs[sizes[0], exact]))
        failed |= exact and differ > 0
        shared = "once for each prompt (--deterministic)" if exact else "once"
        print(f"| {size} | {shared} | {spread(rates[case])} | {spread(ratios)} | {differ} of {count} |")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
