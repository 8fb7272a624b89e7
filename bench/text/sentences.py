#!/usr/bin/env python3
"""Compares splitters of sentences on real text: precision, recall and F1 of the ends that they find, and their speed.

usage: sentences.py --program NAME=SENTENCE_ENDS ... [--multi30k DIR] [--l10n DIR] [--shakespeare FILE]
  SENTENCE_ENDS  the program build/bench/sentence_ends; several builds can be compared
Packages from the registry, each optional: pysbd, sentence-splitter, syntok, blingfire, PyICU.

The true ends are known because single sentences are joined by a blank (Chinese and Japanese: by nothing), 10 to a
paragraph.
  Multi30k     captions of images, de and en
  l10n         lines of message catalogues and handbooks. A line counts as one sentence if it begins with a capital,
               ends with a mark, and has no other mark before a blank except after abbreviations: tokens that nearly
               always have a full stop, in a line whose translation has none inside
  hard         the lines of l10n with such a mark inside
  Shakespeare  speeches of several lines and one mark, at their end
A splitter may put the end of a sentence anywhere in the white space behind it. The speed is by processor time, of the
program with its start: compare it on many sentences.
"""
import argparse
import collections
import glob
import os
import random
import re
import subprocess

MARK = re.compile(r"[.!?…][\"'”’»)\]]*\s|[。！？](?=.)")
END = re.compile(r"[.!?。！？…][\"'”’»)\]」』）]*$")
SPACELESS = ("zh", "ja")


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as handle:
        return handle.read().split("\n")[:-1]


def is_sentence(line, language):
    """Whether the line looks like whole sentences: a beginning, an end, and three words or more."""
    if not END.search(line) or line != line.strip():
        return False
    if language in SPACELESS:
        return len(line) >= 6 and not line[0].isspace()
    return line[0].isupper() and len(line.split()) >= 3


def marks_inside(line):
    return len(MARK.findall(line))


def multi30k(directory):
    for language in ("de", "en"):
        path = os.path.join(directory, "train." + language)
        yield "multi30k", language, [line for line in lines_of(path) if is_sentence(line, language)]


def abbreviations(lines):
    """Tokens that nearly always have a full stop, wherever they stand in a line but at its end."""
    with_stop, without = collections.Counter(), collections.Counter()
    for line in lines:
        for token in line.split()[:-1]:
            token = token.strip("()[]{}\"'“”„«»‘’,;:")
            if token.endswith(".") and not token.endswith(".."):
                with_stop[token[:-1]] += 1
            else:
                without[token] += 1
    return {t + "." for t, n in with_stop.items()
            if n >= 3 and n >= 4 * without[t] and t.replace(".", "").isalpha() and t not in ("etc", "usw")}


def has_only(known, line):
    """Whether every mark inside the line is the full stop of one of the known abbreviations."""
    return all(line[:m.end()].split()[-1].lstrip("([{\"'“„«‘") in known for m in MARK.finditer(line))


def l10n(directory):
    english = {}
    for folder in sorted(glob.glob(os.path.join(directory, "en-*"))):
        code = os.path.basename(folder)[3:]
        language = code[:2]
        pairs = [pair for part in ("valid", "test_seen", "test_unseen", "train")
                 for pair in zip(lines_of(f"{folder}/{part}.en"), lines_of(f"{folder}/{part}.{code}"))]
        known = [abbreviations(side) for side in zip(*pairs)]
        plain = []
        for a, b in pairs:
            if is_sentence(a, "en") and is_sentence(b, language) and not (marks_inside(a) and marks_inside(b)):
                if has_only(known[0], a) and has_only(known[1], b):
                    english[a] = True
                    plain.append(b)
        yield from with_hard(language, list(dict.fromkeys(plain)))
    if english:
        yield from with_hard("en", list(english))


def with_hard(language, lines):
    yield "l10n", language, lines
    hard = [line for line in lines if marks_inside(line)]
    if len(hard) >= 50:
        yield "hard", language, hard


def shakespeare(path):
    speeches = []
    for speech in "\n".join(lines_of(path)).split("\n\n"):
        text = " ".join(speech.split("\n")[1:])
        if is_sentence(text, "en") and not marks_inside(text):
            speeches.append(text)
    yield "shakespeare", "en", speeches


def paragraphs(sentences, language, most, seed=1):
    """Texts, and the set of true ends of each, by characters. The end of a text itself does not count."""
    sentences = list(sentences)
    random.Random(seed).shuffle(sentences)
    sentences = sentences[:most]
    between = "" if language in SPACELESS else " "
    result = []
    for i in range(0, len(sentences) - 9, 10):
        text, ends = "", set()
        for sentence in sentences[i:i + 10]:
            text += (between if text else "") + sentence
            ends.add(len(text))
        ends.discard(len(text))
        result.append((text, ends))
    return result


def ends_of_parts(text, parts):
    """The ends of parts that stand in the text one after the other."""
    ends, at = [], 0
    for part in parts:
        part = part.strip()
        found = text.find(part, at)
        if found < 0 or not part:
            continue
        at = found + len(part)
        ends.append(at)
    return ends


# ------------------------------------------------------------------------------------------------ the splitters

class Program:
    def __init__(self, path, with_language):
        self.path, self.with_language = path, with_language

    def __call__(self, texts, language):
        data = "".join(t + "\n" for t in texts).encode()
        out = subprocess.run([self.path, language if self.with_language else ""], input=data, capture_output=True,
                             check=True).stdout.decode()
        result = []
        for text, line in zip(texts, out.split("\n")):
            raw = text.encode()
            result.append([len(raw[:int(n)].decode(errors="replace")) for n in line.split()])
        return result


def pysbd_splitter():
    import pysbd

    def split(texts, language):
        segmenter = pysbd.Segmenter(language=language, clean=False)
        return [ends_of_parts(t, segmenter.segment(t)) for t in texts]
    return split


def koehn_splitter():
    from sentence_splitter import SentenceSplitter

    def split(texts, language):
        splitter = SentenceSplitter(language=language)  # it has no Chinese or Japanese
        return [ends_of_parts(t, splitter.split(t)) for t in texts]
    return split


def syntok_splitter():
    from syntok import segmenter

    def split(texts, language):
        if language not in ("en", "de", "es"):
            raise ValueError("not for this language")
        return [[max(t.offset + len(t.value) for t in sentence)
                 for paragraph in segmenter.analyze(text) for sentence in paragraph] for text in texts]
    return split


def blingfire_splitter():
    from blingfire import text_to_sentences

    def split(texts, language):
        return [ends_of_parts(t, text_to_sentences(t).split("\n")) for t in texts]
    return split


def icu_splitter(form):
    import icu

    def split(texts, language):
        breaks = icu.BreakIterator.createSentenceInstance(icu.Locale(language + form))
        result = []
        for text in texts:
            breaks.setText(text)
            units = [0]  # PyICU counts UTF-16 units
            for c in text:
                units.append(units[-1] + (2 if ord(c) > 0xffff else 1))
            place = {u: i for i, u in enumerate(units)}
            result.append([len(text[:place[end]].rstrip()) for end in breaks])
        return result
    return split


def both(a, b):
    """The ends that both find."""
    def split(texts, language):
        return [sorted(set(x) & set(y)) for x, y in zip(a(texts, language), b(texts, language))]
    return split


def splitters(args):
    result = {}
    for given in args.program:
        name, path = given.split("=", 1)
        result[name] = Program(path, True)
        result[name + ", language not given"] = Program(path, False)
    for name, make in (("ICU", lambda: icu_splitter("")), ("ICU, suppressions", lambda: icu_splitter("@ss=standard")),
                       ("pysbd", pysbd_splitter), ("sentence-splitter", koehn_splitter),
                       ("syntok", syntok_splitter), ("blingfire", blingfire_splitter)):
        try:
            result[name] = make()
        except ImportError:
            print(f"{name}: not installed, left out")
    if args.program and "ICU, suppressions" in result:
        name = args.program[-1].split("=", 1)[0]
        result[name + " and ICU, suppressions"] = both(result[name], result["ICU, suppressions"])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--multi30k", help="folder of train.de and train.en")
    parser.add_argument("--l10n", help="folder of en-XX/")
    parser.add_argument("--shakespeare", help="one file")
    parser.add_argument("--sentences", type=int, default=5000, help="of each text at most (%(default)s)")
    parser.add_argument("--only", default="", help="name of one splitter")
    parser.add_argument("--errors", type=int, default=0, help="print so many wrong and missed ends of the first program")
    args = parser.parse_args()
    sources = []
    if args.multi30k:
        sources += multi30k(args.multi30k)
    if args.l10n:
        sources += l10n(args.l10n)
    if args.shakespeare:
        sources += shakespeare(args.shakespeare)
    print("| text | sentences | splitter | precision | recall | F1 | MB/s |\n|---|--:|---|--:|--:|--:|--:|")
    for corpus, language, sentences in sources:
        texts = paragraphs(sentences, language, args.sentences)
        count = 10 * len(texts)
        for name, split in splitters(args).items():
            if args.only and args.only != name:
                continue
            begin = sum(os.times()[:4])
            try:
                found = split([t for t, _ in texts], language)
            except Exception as failure:  # a language that it does not have
                if args.only:
                    print(name, failure)
                continue
            seconds = max(sum(os.times()[:4]) - begin, 0.01)  # of all processes; other load does not matter
            right = wrong = missed = 0
            shown = 0
            for (text, truth), ends in zip(texts, found):
                ends = set(ends) - {len(text), 0}
                right += len(ends & truth)
                wrong += len(ends - truth)
                missed += len(truth - ends)
                for kind, places in (("WRONG ", ends - truth), ("MISSED", truth - ends)):
                    for at in sorted(places):
                        if shown < args.errors and args.program and name == args.program[0].split("=")[0]:
                            print("   ", kind, repr(text[max(0, at - 40):at]), "|", repr(text[at:at + 30]))
                            shown += 1
            precision = right / max(1, right + wrong)
            recall = right / max(1, right + missed)
            f1 = 2 * precision * recall / max(1e-9, precision + recall)
            speed = sum(len(t.encode()) for t, _ in texts) / 1e6 / seconds
            print(f"| {corpus} {language} | {count:,} | {name} | {100 * precision:.2f} | {100 * recall:.2f} "
                  f"| {100 * f1:.2f} | {speed:.2f} |", flush=True)


if __name__ == "__main__":
    main()
