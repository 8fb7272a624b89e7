#!/usr/bin/env python3
"""Compares tril's tokenizers with Hugging Face's `tokenizers`, id by id, over generated text of many scripts, and times
both on one core. Needs the package `tokenizers`; the converters of `transformers` are not used.

usage: compare.py ENCODE_IDS WORK_DIRECTORY [--megabytes 10] [--seed 1] [--only KIND,...] [--whole]
  ENCODE_IDS  the program build/bench/encode_ids
"""
import argparse
import array
import os
import random
import subprocess
import sys
import time
import unicodedata

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# A pattern without a hand-written function in tril: the regular-expression library runs it.
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?"
         r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")

# Script: its letters, and marks that may follow one.
SCRIPTS = {
    "latin": ("etaoinshrdlucmfwygpbvk" * 3 + "jxqzéèüößñçåøł", ""),
    "cyrillic": ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", ""),
    "greek": ("αοιετσνηυρπκμλωδγχθφβξζψάέήίόύώς", ""),
    "arabic": ("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "\u064e\u064f\u0650\u0651\u0652"),
    "hebrew": ("אבגדהוזחטיכלמנסעפצקרשת", "\u05b0\u05b7"),
    "devanagari": ("कखगघचछजझटठडतथदधनपफबभमयरलवशषसह", "\u093e\u093f\u0940\u0941\u0947\u094b\u094d\u0902"),
    "thai": ("กขคงจชซญดตถทนบปผพฟมยรลวสหอ", "\u0e34\u0e35\u0e38\u0e48\u0e49"),
    "han": ("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
            "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实", ""),
    "kana": ("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコ", ""),
    "hangul": ("가나다라마바사아자차카타파하고노도로모보소오조초코토포호은는이를에서의한", ""),
}
WEIGHTS = {"latin": 40, "cyrillic": 10, "greek": 5, "arabic": 6, "hebrew": 3, "devanagari": 6, "thai": 4, "han": 12,
           "kana": 6, "hangul": 6}
SIGNS = list(".,;:!?'\"()[]{}-_/\\@#$%^&*+=<>|~`") + ["...", "'s", "'ll", "'RE", "://", "—", "…", "«", "»", "。", "、", "！"]
ODD = ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "e\u0301", "a\u0308o\u0302", "\u00a0", "\u3000",
       "\u200b", "\u00ad", "ﬁ", "①", "Ａ", "ｶﾞ", "\u1100\u1161\u11a8", "\u0000", "\u0007", "\u0085", "\u2028", "\ufeff", "½", "Ⅷ", "٣", "\U00020000",
       "\U0001d54f", "İ", "ſ", "ẞ", "Σ", "\u0345", "<s>", "</s>", "<|endoftext|>", "[CLS]", "<unk>", "▁", "Ġ", "<0x41>", "\ufffd"]


def any_character(r):
    """A character that Unicode has had for years: newer ones are letters only in newer tables."""
    while True:
        c = chr(r.choice((r.randrange(0x80, 0x800), r.randrange(0x800, 0xd800), r.randrange(0xe000, 0x3134b))))
        if unicodedata.category(c) != "Cn":
            return c


def make_text(megabytes, seed):
    r = random.Random(seed)
    words = {}
    for name, (letters, marks) in SCRIPTS.items():
        spaceless = name in ("han", "kana", "thai")
        for_script = []
        for _ in range(6000):
            word = ""
            for _ in range(max(1, int(r.gauss(2 if spaceless else 6, 1 if spaceless else 2.5)))):
                word += r.choice(letters)
                if marks and r.random() < 0.4:
                    word += r.choice(marks)
            for_script.append(word)
        words[name] = for_script
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    lines, size = [], 0
    while size < megabytes * 1e6:
        name = r.choices(names, weights)[0]
        line = ""
        for _ in range(r.randrange(1, 60)):
            word = words[name][min(5999, int(r.paretovariate(0.7)) - 1)]  # few words are most of a text
            chance = r.random()
            if chance < 0.06:
                word = str(r.randrange(10 ** r.randrange(1, 8)))
            elif chance < 0.10:
                word = r.choice(words[r.choice(names)])
            elif chance < 0.16:
                word = word.capitalize()
            elif chance < 0.18:
                word = word.upper()
            line += word
            chance = r.random()
            if chance < 0.10:
                line += r.choice(SIGNS)
            elif chance < 0.115:
                line += r.choice(ODD)
            elif chance < 0.118:
                line += any_character(r)
            if name not in ("han", "kana", "thai") or r.random() < 0.1:
                line += " " if r.random() < 0.97 else r.choice(("  ", "   ", "\t", " \t ", "\r", "      "))
        lines.append(line)
        size += len(line.encode()) + 1
    return lines


SMALL = False  # vocabularies for a test's fixture


def train(tokenizer, trainer, lines):
    if SMALL:
        trainer.vocab_size = 2000 if isinstance(trainer, trainers.UnigramTrainer) else 500
        if hasattr(trainer, "limit_alphabet"):
            trainer.limit_alphabet = 250
    tokenizer.train_from_iterator(lines[:15000], trainer)
    return tokenizer


def byte_level(lines, pattern=None, normalizer=None, ignore_merges=False, vocab=12000):
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        t.normalizer = normalizer
    if pattern:
        t.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    else:
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t = train(t, trainers.BpeTrainer(vocab_size=vocab, special_tokens=["<|endoftext|>"], show_progress=False,
                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()), lines)
    return t


def llama2(lines, metaspace):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    t = train(t, trainers.BpeTrainer(vocab_size=10000, special_tokens=special, limit_alphabet=1200, show_progress=False), lines)
    import json
    j = json.loads(t.to_str())
    j["added_tokens"] = [a for a in j["added_tokens"] if not a["content"].startswith("<0x")]
    if metaspace:
        j["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    else:
        j["pre_tokenizer"] = None
        j["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                           {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    return Tokenizer.from_str(json.dumps(j))


def unigram(lines, normalizer, pre):
    t = Tokenizer(models.Unigram())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.Metaspace()
    t = train(t, trainers.UnigramTrainer(vocab_size=8000, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>",
                                         show_progress=False), lines)
    return t


def charsmap():
    here = os.path.dirname(os.path.abspath(__file__))
    import json
    path = os.path.join(here, "../../tests/golden/hf/tokenizers/unigram_t5/tokenizer.json")
    import base64
    return base64.b64decode(json.load(open(path))["normalizer"]["precompiled_charsmap"])


def wordpiece(lines, lowercase):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    return train(t, trainers.WordPieceTrainer(vocab_size=10000, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False), lines)


def falcon(lines):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
                                               pre_tokenizers.Digits(), pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    t.decoder = decoders.ByteLevel()
    return train(t, trainers.BpeTrainer(vocab_size=8000, special_tokens=["<|endoftext|>"], show_progress=False,
                                        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()), lines)


def added(lines):
    t = byte_level(lines, normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), vocab=4000)
    t.add_tokens([AddedToken("Hello", single_word=True), AddedToken("\U0001f600", lstrip=True, rstrip=True),
                  AddedToken("THE", normalized=True), AddedToken("...", rstrip=True, normalized=False)])
    return t


def word_level(lines):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Nmt(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return train(t, trainers.WordLevelTrainer(vocab_size=10000, special_tokens=["[UNK]"], show_progress=False), lines)


KINDS = {
    "gpt2": lambda l: byte_level(l),
    "llama3": lambda l: byte_level(l, LLAMA3, ignore_merges=True),
    "qwen2": lambda l: byte_level(l, QWEN2, normalizers.NFC()),
    "o200k": lambda l: byte_level(l, O200K),
    "llama2": lambda l: llama2(l, False),
    "metaspace": lambda l: llama2(l, True),
    "unigram_t5": lambda l: unigram(l, normalizers.Precompiled(charsmap()), pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])),
    "unigram_nfkd": lambda l: unigram(l, normalizers.Sequence([normalizers.NFKD(), normalizers.Replace(Regex(" {2,}"), " ")]),
                                      pre_tokenizers.Metaspace()),
    "bert": lambda l: wordpiece(l, True),
    "bert_cased": lambda l: wordpiece(l, False),
    "falcon": lambda l: falcon(l),
    "added": lambda l: added(l),
    "word_level": lambda l: word_level(l),
}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("encode_ids")
    p.add_argument("work")
    p.add_argument("--megabytes", type=float, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--whole", action="store_true", help="the text as one, not line by line")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    lines = make_text(a.megabytes, a.seed)
    path = os.path.join(a.work, "text.txt")
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write("\n".join(lines))
    size = os.path.getsize(path)
    texts = ["\n".join(lines)] if a.whole else lines
    failed = False
    for kind in a.only.split(",") if a.only else KINDS:
        directory = os.path.join(a.work, kind)
        os.makedirs(directory, exist_ok=True)
        file = os.path.join(directory, "tokenizer.json")
        if not os.path.exists(file):
            KINDS[kind](lines).save(file)
        reference = Tokenizer.from_file(file)
        begin = time.process_time()
        expected = [e.ids for e in (reference.encode(t, add_special_tokens=False) for t in texts)]
        seconds = time.process_time() - begin
        out = os.path.join(a.work, kind + ".ids")
        run = subprocess.run([a.encode_ids, directory, path, out] + (["--whole"] if a.whole else []), capture_output=True, text=True)
        if run.returncode:
            print(kind, run.stderr.strip())
            failed = True
            continue
        ids = array.array("i")
        ids.frombytes(open(out, "rb").read())
        at = wrong = 0
        for number, want in enumerate(expected):
            got = ids[at + 1:at + 1 + ids[at]].tolist()
            at += 1 + ids[at]
            if got != want:
                wrong += 1
                if wrong <= 2:
                    first = next((i for i, (x, y) in enumerate(zip(got, want)) if x != y), min(len(got), len(want)))
                    print("  %s, text %d, token %d: got %s, expected %s" % (kind, number, first,
                          [reference.id_to_token(i) for i in got[first:first + 4]], [reference.id_to_token(i) for i in want[first:first + 4]]))
        failed |= wrong > 0
        print("%-13s %d of %d texts differ; tril %s, tokenizers %.1f MB/s" % (kind, wrong, len(expected), run.stdout.strip(), size / seconds / 1e6), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
