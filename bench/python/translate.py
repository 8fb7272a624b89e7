"""How fast texts are translated: by tril's package, by the program, and by CTranslate2 in the same process where it is installed.

python bench/python/translate.py MODEL FILE [--threads N] [--beam-size N] [--repeat N] [--ctranslate2 DIR]

All are timed in turn, --repeat times, after one round that does not count. The median counts; its spread is that of the middle half
of the runs. The program is timed without its start: the median time for no lines is subtracted.
With --ctranslate2, DIR is the same model as CTranslate2 converted it; both get the same tokens.
"""

import argparse
import os
import statistics
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
    parser.add_argument("--repeat", type=int, default=7)
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

    runs = {name: [] for name in works}
    found = {}
    for number in range(o.repeat + 1):
        for name, work in works.items():
            seconds, found[name] = timed(work)
            if number > 0:
                runs[name].append(seconds)
    if found["tril"] != found["program"]:
        sys.exit("the package and the program translate differently")
    median = {name: statistics.median(seconds) for name, seconds in runs.items()}
    for name, seconds in runs.items():
        low, _, high = statistics.quantiles(seconds, n=4)
        spread = (high - low) / median[name]
        print(f"{name:>24}  {median[name]:8.3f} s  +-{spread / 2:4.0%}  {len(texts) / median[name]:9.1f} texts/s")
    alone = median["program"] - median["program, no lines"]
    print(f"the package takes {median['tril'] / alone:.3f} times the program's time")
    if o.ctranslate2:
        ours = median["CTranslate2"] / median["tril.compat.ctranslate2"]
        print(f"tril.compat.ctranslate2 is {ours:.2f} times as fast as CTranslate2")


if __name__ == "__main__":
    main()
