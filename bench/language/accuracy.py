#!/usr/bin/env python3
"""Measures `tril detect` on the texts of make_texts.py, beside Python packages that are installed (pycld2, lingua, langid,
py3langid, langdetect): the share of right answers by the length of the text, and whether the confidence is calibrated.

  accuracy.py TRIL TEXTS [--tools tril,pycld2,lingua,langid,py3langid,langdetect]

TEXTS is OUT/test of make_texts.py. All tools choose among the same 20 languages, except pycld2 and langdetect, which
cannot be limited.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_texts import LENGTHS, MAIN, MORE


def tril_answers(program, texts, codes):
    """(code, confidence) of each text's best guess, in one run."""
    ran = subprocess.run([program, "detect", "--json", "--languages", *codes], input="".join(t + "\n" for t in texts),
                         stdout=subprocess.PIPE, check=True, text=True)
    best = [json.loads(line)["candidates"][:1] for line in ran.stdout.splitlines()]
    return [(b[0]["language"], b[0]["confidence"]) if b else ("und", 0) for b in best]


def tool(name, program):
    """A function from texts to their codes."""
    codes = list(MAIN)
    if name == "tril":
        return lambda texts: [code for code, _ in tril_answers(program, texts, codes)]
    if name == "lingua":
        from lingua import IsoCode639_1, LanguageDetectorBuilder
        detector = LanguageDetectorBuilder.from_iso_codes_639_1(*[getattr(IsoCode639_1, c.upper()) for c in codes]).build()

        def one(text):
            found = detector.detect_language_of(text)
            return found.iso_code_639_1.name.lower() if found else "und"
    elif name == "pycld2":
        import pycld2

        def one(text):
            return pycld2.detect(text, isPlainText=True, bestEffort=True)[2][0][1]
    elif name == "langdetect":
        import langdetect
        langdetect.DetectorFactory.seed = 0

        def one(text):
            try:
                return langdetect.detect(text).split("-")[0]
            except langdetect.LangDetectException:
                return "und"
    else:
        module = __import__(name)
        module.set_languages(codes)

        def one(text):
            return module.classify(text)[0]
    return lambda texts: [one(text) for text in texts]


def table(names, program, texts):
    for name in names:
        answers_of = tool(name, program)
        right, all_ = [0] * len(LENGTHS), [0] * len(LENGTHS)
        begun = time.time()
        for code in MAIN:
            for text, answer in zip(texts[code], answers_of(texts[code])):
                k = next(i for i, (low, high) in enumerate(LENGTHS) if low <= len(text) < high)
                all_[k] += 1
                right[k] += answer == code
        shares = " | ".join(f"{100 * r / a:.1f}" for r, a in zip(right + [sum(right)], all_ + [sum(all_)]))
        print(f"| {name} | {shares} | {time.time() - begun:.1f} |", flush=True)


def calibration(program, texts):
    """Texts among 1, 2, 5 and 20 possible languages; one in ten is in none of them."""
    chosen = random.Random(7)
    bins = [[0, 0, 0] for _ in range(10)]
    print("\n| possible languages | right | wrong | refused | of others, refused |\n|---:|---:|---:|---:|---:|")
    for count in (1, 2, 5, 20):
        counts = {"right": 0, "wrong": 0, "refused": 0}
        others = [0, 0]
        for part in range(20):
            codes = sorted(chosen.sample(sorted(MAIN), count))
            cases = [(c, t) for c in codes for t in chosen.sample(texts[c], 400 // count)]
            foreign = [c for c in list(MAIN) + list(MORE) if c not in codes and c not in ("zh-Hant", "nn")]
            cases += [(c, t) for c in foreign for t in chosen.sample(texts[c], 1)]
            for (code, _), (answer, confidence) in zip(cases, tril_answers(program, [t for _, t in cases], codes)):
                b = bins[min(9, int(confidence / 10))]
                b[0] += 1
                b[1] += answer == code
                b[2] += confidence
                if code in codes:
                    counts["refused" if confidence < 50 else "right" if answer == code else "wrong"] += 1
                else:
                    others[confidence < 50] += 1
        n = sum(counts.values())
        print(f"| {count} | {100 * counts['right'] / n:.1f} | {100 * counts['wrong'] / n:.1f} | "
              f"{100 * counts['refused'] / n:.1f} | {100 * others[1] / max(1, sum(others)):.1f} |")
    print("\n| confidence (mean) | right in 100 | answers |\n|---:|---:|---:|")
    for n, right, total in bins:
        if n:
            print(f"| {total / n:.0f} | {100 * right / n:.0f} | {n} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tril")
    parser.add_argument("texts")
    parser.add_argument("--tools", default="tril,pycld2,lingua,langid,py3langid,langdetect")
    args = parser.parse_args()
    texts = {code: open(os.path.join(args.texts, code), encoding="utf-8").read().splitlines() for code in [*MAIN, *MORE]}
    print("| tool | <20 | 20-50 | 50-100 | >100 | all | seconds |\n|---|---:|---:|---:|---:|---:|---:|")
    table(args.tools.split(","), args.tril, texts)
    if "tril" in args.tools:
        calibration(args.tril, texts)


if __name__ == "__main__":
    main()
