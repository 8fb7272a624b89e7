#!/usr/bin/env python3
"""How training, translation and generation speed up with threads on this machine, with a fit of Amdahl's law.

bench/cores/scaling.py --tril build/tril --out scaling          1, 2, 4, ... threads up to every core
bench/cores/scaling.py --threads 1 2 8 --pin spread --repeat 5  these, each on a core of its own

Trains small models of random words for a few updates first, unless models are given. Writes OUT.json and OUT.svg. It needs
nothing but Python. Run nothing else on the machine: the fit cannot tell another program from a serial part.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

LEVEL = (0.05, 0.95)  # of the intervals


def fit(seconds):
    """Amdahl's law by least squares: seconds(n) = a + b / n for {n: seconds of one unit of work}. Returns (a, b)."""
    points = [(1.0 / n, t) for n, t in seconds.items()]
    if len({x for x, _ in points}) < 2:
        raise ValueError("a fit needs two numbers of threads")
    mean_x = sum(x for x, _ in points) / len(points)
    mean_t = sum(t for _, t in points) / len(points)
    b = sum((x - mean_x) * (t - mean_t) for x, t in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_t - b * mean_x, b


def serial_share(seconds):
    """The share of one thread's time that does not become shorter with threads. Below 0 if threads speed up more than
    they are many, as by their caches or by noise; it is not clipped."""
    a, b = fit(seconds)
    return a / (a + b)


def fitted_speedup(share, n):
    """By the law; None if it leaves n threads no time, as a share below 0 does from some number of threads on."""
    seconds = share + (1 - share) / n
    return 1 / seconds if seconds > 0 else None


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def median(values):
    return quantile(values, 0.5)


def analyse(speeds, draws=2000, seed=1):
    """The fit of {n: [speed of each run]}, and its spread over runs: medians of runs drawn with replacement."""
    seconds = {n: median([1 / s for s in runs]) for n, runs in speeds.items()}
    a, b = fit(seconds)
    chance = random.Random(seed)
    shares = []
    for _ in range(draws):
        drawn = {n: median([1 / chance.choice(runs) for _ in runs]) for n, runs in speeds.items()}
        shares.append(serial_share(drawn))
    first = min(seconds)
    residuals = {n: (a + b / n) / t - 1 for n, t in seconds.items()}
    return {
        "serial_share": a / (a + b),
        "serial_share_interval": [quantile(shares, q) for q in LEVEL],
        "largest_residual": max(abs(r) for r in residuals.values()),
        "exact": len(seconds) == 2,  # two points determine two numbers: the residual says nothing
        "speedup": {n: seconds[first] / t * first for n, t in seconds.items()},
        "fitted_speedup": {n: fitted_speedup(a / (a + b), n) for n in seconds},
    }


# --- the plot ---


def svg(results, most):
    """Speed-up against threads: points with their runs' range, the fit as a line, and the diagonal."""
    width, height, left, bottom = 640, 420, 56, 48
    x = lambda n: left + (width - left - 24) * (n - 1) / max(1, most - 1)
    y = lambda s: height - bottom - (height - bottom - 24) * max(0, min(s, most)) / most  # what is outside lies on the edge
    colours = ["#2563eb", "#d97706", "#059669", "#7c3aed"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<line x1="{x(1)}" y1="{y(1)}" x2="{x(most)}" y2="{y(most)}" stroke="#bbb" stroke-dasharray="4"/>',
    ]
    step = max(1, (most + 7) // 8)
    for n in sorted({0, 1, most} | set(range(step, most + 1, step))):
        if n > 0:
            parts.append(f'<text x="{x(n):.1f}" y="{height - bottom + 18}" text-anchor="middle">{n}</text>')
        parts.append(f'<text x="{left - 8}" y="{y(n) + 4:.1f}" text-anchor="end">{n}</text>')
        parts.append(f'<line x1="{left}" x2="{width - 24}" y1="{y(n):.1f}" y2="{y(n):.1f}" stroke="#eee"/>')
    parts.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">threads</text>')
    parts.append(f'<text x="14" y="{height / 2}" text-anchor="middle" transform="rotate(-90 14 {height / 2})">speed-up</text>')
    for i, (name, r) in enumerate(results.items()):
        colour, share = colours[i % len(colours)], r["fit"]["serial_share"]
        curve = [1 + (most - 1) * k / 60 for k in range(61)]
        ups = [fitted_speedup(share, n) for n in curve]
        line = " ".join(f"{x(n):.1f},{y(most if up is None else up):.1f}" for n, up in zip(curve, ups))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        alone = median(r["speeds"][min(r["speeds"])]) / min(r["speeds"])
        for n, runs in r["speeds"].items():
            ends = [y(s / alone) for s in (min(runs), max(runs))]
            parts.append(f'<line x1="{x(n):.1f}" x2="{x(n):.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}"/>')
            parts.append(f'<circle cx="{x(n):.1f}" cy="{y(median(runs) / alone):.1f}" r="3.5" fill="{colour}"/>')
        low, high = r["fit"]["serial_share_interval"]
        label = f"{name}: serial {100 * share:.1f}% ({100 * low:.1f} to {100 * high:.1f}%)"
        parts.append(f'<text x="{left + 12}" y="{36 + 16 * i}" fill="{colour}">{label}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


# --- the measurements ---


def run(words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def make_texts(folder):
    chance = random.Random(1)
    words = ["".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(chance.randint(2, 9))) for _ in range(3000)]
    for name in ("source", "target"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            for _ in range(4000):
                f.write(" ".join(chance.choice(words) for _ in range(chance.randint(8, 30))) + "\n")
    return os.path.join(folder, "source"), os.path.join(folder, "target")


def make_models(o, folder):
    source, target = make_texts(folder)
    vocabulary = os.path.join(folder, "spm.model")
    run([o.tril, "vocab", "--train-sets", source, target, "--size", "2000", "--out", vocabulary])
    common = ["--after", "2u", "--save-freq", "2u", "--max-tokens", "1000", "--quiet"]
    translator, generator = os.path.join(folder, "translator"), os.path.join(folder, "generator")
    if "translate" in o.only and not o.translator:
        run([o.tril, "train", "--model", translator, "--vocab", vocabulary, "--train-sets", source, target, "--preset", o.preset]
            + common)
    if "generate" in o.only and not o.generator:
        run([o.tril, "train", "--model", generator, "--arch", "llama", "--train-sets", source, "--d-model", "512", "--num-heads",
             "8", "--dec-depth", "8", "--vocab-type", "char"] + common)
    return {"source": source, "target": target, "vocabulary": vocabulary, "translator": o.translator or translator,
            "generator": o.generator or generator}


def commands(o, at):
    lines = o.text or at["source"]
    return {
        "train": (["bench", "train", "--preset", o.preset, "--train-sets", at["source"], at["target"], "--vocab",
                   at["vocabulary"], "--updates", "25", "--skip", "5", "--precision", "bf16"], "target_tokens_per_second"),
        "translate": (["bench", "translate", "--model", at["translator"], "-i", lines, "--sentences", "512", "--precision",
                       "int8", "-b", "1", "--min-length", "24", "--max-length", "24", "--repeat", "1"],
                      "target_tokens_per_second"),
        "generate": (["bench", "generate", "--model", at["generator"], "--precision", "int8", "--prompt-length", "64",
                      "--new-tokens", "128", "--repeat", "1"], "generate_tokens_per_second"),
    }


def measure(o, at):
    results = {name: {"speeds": {n: [] for n in o.threads}} for name in o.only}
    for repeat in range(o.repeat):  # in turn, so that a slow minute does not fall on one number of threads
        for name, (words, figure) in commands(o, at).items():
            for n in o.threads if name in o.only else []:
                out = json.loads(run([o.tril] + words + ["--threads", n] + (["--pin", o.pin] if o.pin != "none" else [])).splitlines()[-1])
                results[name]["speeds"][n].append(out[figure])
                print(f"{repeat + 1}/{o.repeat} {name} {n} threads: {out[figure]:.0f}/s", file=sys.stderr)
    for r in results.values():
        r["fit"] = analyse(r["speeds"])
    return results


def counts_up_to(most):
    counts = [1]
    while counts[-1] * 2 <= most:
        counts.append(counts[-1] * 2)
    return counts if counts[-1] == most else counts + [most]


def arguments(given):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tril", default="build/tril")
    p.add_argument("--out", default="scaling", help="beginning of the names of the results")
    p.add_argument("--threads", type=int, nargs="+", default=counts_up_to(len(os.sched_getaffinity(0))))
    p.add_argument("--only", nargs="+", choices=["train", "translate", "generate"], default=["train", "translate", "generate"])
    p.add_argument("--repeat", type=int, default=3, help="runs of each")
    p.add_argument("--preset", default="tiny", help="sizes of the model that is trained, and of the translator if none is given")
    p.add_argument("--translator", help="model directory to measure")
    p.add_argument("--generator", help="model directory to measure")
    p.add_argument("--text", help="lines to translate")
    p.add_argument("--pin", default="none", help="as for tril")
    o = p.parse_args(given)
    o.threads = sorted(set(o.threads))
    if len(o.threads) < 2 or o.threads[0] < 1:
        p.error("--threads: a fit needs two numbers of threads")
    if o.repeat < 1:
        p.error("--repeat: expected at least 1")
    return o


def main(given=None):
    o = arguments(given)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: {load:.1f} other threads run on this machine: the figures are theirs too", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(o, make_models(o, folder))
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        processor = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "")
    whole = {"processor": processor, "cores": len(os.sched_getaffinity(0)), "load_before": load, "pin": o.pin, "preset": o.preset,
             "results": results}
    with open(o.out + ".json", "w", encoding="utf-8") as f:
        json.dump(whole, f, indent=1)
    with open(o.out + ".svg", "w", encoding="utf-8") as f:
        f.write(svg(results, max(o.threads)))
    for name, r in results.items():
        low, high = r["fit"]["serial_share_interval"]
        ups = ", ".join(f"{n}: {s:.2f}" for n, s in r["fit"]["speedup"].items())
        note = " (two points: the fit is exact, and nothing tests it)" if r["fit"]["exact"] else ""
        print(f"{name}: speed-up {ups}; serial {100 * r['fit']['serial_share']:.1f}% ({100 * low:.1f} to {100 * high:.1f}%){note}")


if __name__ == "__main__":
    main()
