#!/usr/bin/env python3
"""Writes tokenizer_cases/KIND/{tokenizer.json,cases.json}: small tokenizers over generated text of many scripts, and what
Hugging Face's `tokenizers` makes of some lines. The generator and the kinds are those of bench/text/compare.py.

usage: make_tokenizer_cases.py [OUT]     needs tokenizers; the tests that read the files do not."""
import json
import os
import random
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../../bench/text"))
import compare

compare.SMALL = True
KINDS = ["o200k", "metaspace", "unigram_nfkd", "bert", "falcon", "added", "word_level"]


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "tokenizer_cases")
    lines = compare.make_text(0.3, 5)
    sample = random.Random(3).sample(lines, 40)
    for kind in KINDS:
        directory = os.path.join(out, kind)
        os.makedirs(directory, exist_ok=True)
        tokenizer = compare.KINDS[kind](lines)
        tokenizer.save(os.path.join(directory, "tokenizer.json"), pretty=False)
        cases = []
        for line in sample:
            ids = tokenizer.encode(line, add_special_tokens=False).ids
            cases.append({"text": line, "ids": ids, "decoded": tokenizer.decode(ids)})
        with open(os.path.join(directory, "cases.json"), "w", encoding="ascii") as f:
            json.dump(cases, f, separators=(",", ":"))
            f.write("\n")


main()
