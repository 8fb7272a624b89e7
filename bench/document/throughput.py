#!/usr/bin/env python3
"""Compares `tril translate` of a document with `tril translate` of the same sentences, one per line: time and text.

  throughput.py TRIL MODEL LINES [--to de] [--runs 3] [--paragraph 5] [-- OPTION...]

LINES has one sentence per line; each must end with a full stop, a question mark or an exclamation mark. The documents are
plain text, Markdown, and HTML with tags around words, which also needs the alignment. Each run times the lines and then each document.
Ratios are the time of the lines divided by that of the document: median, least and greatest of all runs. The texts of a document
must equal the translations of the lines, once marks and white space are removed: BLEU is then the same, too.
"""
import argparse
import html
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time


def timed(command, **more):
    begun = time.monotonic()
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True, **more)
    if ran.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{ran.stderr}")
    return time.monotonic() - begun, ran


def paragraphs(lines, size):
    return [lines[i:i + size] for i in range(0, len(lines), size)]


def marked(number, line):
    """The line in HTML, with an emphasised word and a link."""
    words = [html.escape(word, quote=False) for word in line.split(" ")]
    at = number % len(words)
    words[at] = f"<b>{words[at]}</b>"
    if at + 2 < len(words):
        words[at + 1] = f'<a href="#{number}">{words[at + 1]}'
        words[at + 2] += "</a>"
    return " ".join(words)


def documents(lines, size):
    parts = paragraphs(lines, size)
    numbered = paragraphs([marked(i, line) for i, line in enumerate(lines)], size)
    return {
        "txt": "\n".join(" ".join(p) for p in parts) + "\n",
        "md": "\n\n".join(" ".join(p) for p in parts) + "\n",
        "html": "<html><body>\n" + "\n".join(f"<p>{' '.join(p)}</p>" for p in numbered) + "\n</body></html>\n",
    }


def bare(kind, text):
    """The words of a document without its marks and white space."""
    if kind == "html":
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    if kind == "md":
        text = re.sub(r"\\([^\w\s])", r"\1", text)
    return re.sub(r"\s+", "", text)


def main():
    options, more = sys.argv[1:], []
    if "--" in options:
        at = options.index("--")
        options, more = options[:at], options[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tril")
    parser.add_argument("model")
    parser.add_argument("lines")
    parser.add_argument("--to", default="de")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--paragraph", type=int, default=5, help="sentences of a paragraph")
    asked = parser.parse_args(options)
    with open(asked.lines, encoding="utf-8", newline="\n") as handle:
        lines = [line for line in handle.read().split("\n") if re.search(r"[.!?]$", line)]
    kinds = documents(lines, asked.paragraph)
    times = {kind: [] for kind in ["lines", *kinds]}
    equal = {}
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "lines")
        with open(source, "w", encoding="utf-8") as handle:
            handle.write("".join(line + "\n" for line in lines))
        for kind, text in kinds.items():
            with open(os.path.join(work, f"text.{kind}"), "w", encoding="utf-8") as handle:
                handle.write(text)
        base = [asked.tril, "translate", "-m", asked.model, *more]
        for _ in range(asked.runs):
            took, ran = timed([*base, "-i", source], stdout=subprocess.PIPE)
            times["lines"].append(took)
            for kind in kinds:
                out = os.path.join(work, f"out.{kind}")
                took, _ = timed([*base, os.path.join(work, f"text.{kind}"), "--to", asked.to, "-o", out], stdout=subprocess.DEVNULL)
                times[kind].append(took)
                with open(out, encoding="utf-8", newline="") as handle:
                    equal[kind] = bare(kind, handle.read()) == bare("txt", ran.stdout)
    print(f"{len(lines)} sentences, {asked.runs} runs; lines: {statistics.median(times['lines']):.2f} s")
    print("document   time, s   lines / document   same text")
    for kind in kinds:
        ratios = [a / b for a, b in zip(times["lines"], times[kind])]
        print(f"{kind:8} {statistics.median(times[kind]):9.2f}   {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
              f"   {'yes' if equal[kind] else 'NO'}")


if __name__ == "__main__":
    main()
