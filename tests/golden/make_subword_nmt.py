"""Writes subword_nmt.json: codes that subword-nmt learns, and words as it splits them.

usage: make_subword_nmt.py OUT_DIR [--lines N]      needs the package subword-nmt (0.3.8); seconds

[{"codes": text of a file, "lines": [[text, pieces joined by spaces], ...]}, ...] for the versions 0.2 and 0.1 of the file. The texts
are random: words of the corpus, cut and joined, and characters that the codes do not have.
"""
import argparse
import io
import json
import pathlib
import random

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

CORPUS = """the old fox jumps over the lazy dog and the translation of this book is in the old library
Übersetzungen brauchen Wörter , und Wörter brauchen Übersetzungen ; die Straße führt über die Brücke
we translate books , books translate us ; reading , writing , rereading and rewriting
aaaa aaaaa aa aaaaaaa ababab abab 我们 翻译 书 里 的 世界 我们 翻译""".splitlines()


def texts(number, seed):
    rng = random.Random(seed)
    words = " ".join(CORPUS).split()
    for _ in range(number):
        line = []
        for _ in range(rng.randint(0, 8)):
            a, b = rng.choice(words), rng.choice(words)
            line.append(rng.choice([a, a[: rng.randint(1, len(a))], a + b, a[::-1], rng.choice("xyzé€😀@</w>") + a, "@@", "</w>", "a" * rng.randint(1, 9)]))
        yield rng.choice([" ", " ", "  "]).join(line)


def main(out, number):
    cases = []
    for version in ("0.2", "0.1"):
        codes = io.StringIO()
        learn_bpe(CORPUS * 3, codes, 60)
        text = codes.getvalue()
        if version == "0.1":  # the end of a word is a symbol of its own
            merges = [line.split(" ") for line in text.splitlines()[1:]]
            text = "".join(f"{a} {b}\n" for a, b in merges if "</w>" not in a + b) + "e </w>\nk </w>\na </w>\n"
        bpe = BPE(io.StringIO(text))
        cases.append({"codes": text, "lines": [[t, bpe.process_line(t).strip()] for t in texts(number, int(version[-1]))]})
    (pathlib.Path(out) / "subword_nmt.json").write_text(json.dumps(cases, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--lines", type=int, default=60, help="of each version")
    args = parser.parse_args()
    main(args.out, args.lines)
