"""How fast texts are translated: by tril's package, by the program, and by CTranslate2 in the same process where it is installed.

python bench/python/translate.py MODEL FILE [--threads N] [--beam-size N] [--repeat N] [--ctranslate2 DIR]

All are timed in turn, --repeat times, after one round that does not count. The median counts; its spread is that of the middle half
of the runs. The program is timed without its start: the median time for no lines is subtracted. Besides the time by the clock, the
processor's time is given, of all threads: with one thread, its ratios also hold on a machine that does other work.
With --ctranslate2, DIR is the same model as CTranslate2 converted it; both get the same tokens.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

import tril


def processor_seconds():
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(work):
    begin, used = time.perf_counter(), processor_seconds()
    result = work()
    return (time.perf_counter() - begin, processor_seconds() - used), result


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
    median = {name: [statistics.median(seconds) for seconds in zip(*pairs)] for name, pairs in runs.items()}
    for name, pairs in runs.items():
        clock, processor = median[name]
        low, _, high = statistics.quantiles([seconds for seconds, _ in pairs], n=4)
        spread = (high - low) / clock
        print(f"{name:>24}  {clock:8.3f} s  +-{spread / 2:4.0%}  {len(texts) / clock:9.1f} texts/s  {processor:8.3f} s of the processor")
    for i, measure in enumerate(["by the clock", "of the processor"]):
        alone = median["program"][i] - median["program, no lines"][i]
        print(f"time {measure}: the package takes {median['tril'][i] / alone:.3f} times as long as the program")
        if o.ctranslate2:
            ours = median["CTranslate2"][i] / median["tril.compat.ctranslate2"][i]
            print(f"time {measure}: CTranslate2 takes {ours:.2f} times as long as tril.compat.ctranslate2")


if __name__ == "__main__":
    main()
