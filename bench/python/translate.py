"""How fast texts are translated: by tril's package, by the program, and by CTranslate2 in the same process where it is installed.

python bench/python/translate.py MODEL FILE [--threads N] [--beam-size N] [--repeat N] [--ctranslate2 DIR]

Each is timed alternately, and the fastest run counts. The program is timed without its start: the time for no lines is subtracted.
With --ctranslate2, DIR is the same model as CTranslate2 converted it; both get the same tokens.
"""

import argparse
import os
import subprocess
import sys
import time

import tril


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--precision")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--program", default=os.environ.get("TRIL_PROGRAM"))
    parser.add_argument("--ctranslate2")
    o = parser.parse_args()
    with open(o.file, encoding="utf-8") as f:
        texts = f.read().splitlines()
    options = {"precision": o.precision, "threads": o.threads}
    translator = tril.Translator(o.model, **options)
    works = {"tril": lambda: [t.text for t in translator.translate(texts, beam_size=o.beam_size)]}

    command = [o.program] if o.program else [sys.executable, "-m", "tril"]
    command += ["translate", "-m", o.model, "--threads", str(o.threads), "-b", str(o.beam_size), "--quiet"]
    if o.precision:
        command += ["--precision", o.precision]

    def program(text):
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()

    works["program"] = lambda: program("".join(line + "\n" for line in texts))
    works["program, no lines"] = lambda: program("")
    if o.ctranslate2:
        import ctranslate2

        import tril.compat.ctranslate2 as compat

        tokens = [translator.tokenizer.tokenize(text, special_tokens=True) for text in texts]
        given = {"beam_size": o.beam_size, "max_batch_size": 32}
        compute = o.precision or "default"
        theirs = ctranslate2.Translator(o.ctranslate2, compute_type=compute, inter_threads=o.threads, intra_threads=1)
        ours = compat.Translator(o.model, compute_type=compute, inter_threads=o.threads)
        works["CTranslate2"] = lambda: theirs.translate_batch(tokens, **given)
        works["tril.compat.ctranslate2"] = lambda: ours.translate_batch(tokens, **given)

    best = {}
    for _ in range(o.repeat):
        for name, work in works.items():
            seconds, _ = timed(work)
            best[name] = min(best.get(name, seconds), seconds)
    for name, seconds in best.items():
        print(f"{name:>24}  {seconds:8.3f} s  {len(texts) / seconds:9.1f} texts/s")
    alone = best["program"] - best["program, no lines"]
    print(f"the package takes {best['tril'] / alone:.3f} times the program's time")


if __name__ == "__main__":
    main()
