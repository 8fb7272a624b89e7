#!/usr/bin/env python3
"""Writes marian/: tiny models that the Marian toolkit trained, in its own files, and what it makes of texts with them.

usage: make_marian.py OUT_DIR     needs pymarian 1.12, sentencepiece; a minute

spm/       one .spm for both sides, all embeddings tied, post-norm, swish
opus/      as OPUS-MT publishes: vocab.yml beside source.spm and target.spm, decoder.yml, relu
student/   a student as Bergamot has them: an SSRU in the decoder, one .spm, all embeddings tied, a layer of guided alignment; beside
           model.npz the same as model.bin and model.int8.bin (intgemm8)
words/     vocab.yml of whole words, one for each side, post-norm, relu
pre_norm/  a .spm for each side, of other sizes, nothing tied, pre-norm, gelu
expected.json of each: sources; translations and their log-probabilities by greedy search; the scores of these pairs.

Marian 1.12 itself translates with pre-norm models otherwise than it trains and scores them: from the second token on the keys and
values of self-attention are not normalised. What counts here are its scores, so pre_norm has no translations.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import sentencepiece
import yaml

WORDS = {"dog": "Hund", "cat": "Kater", "man": "Mann", "bird": "Vogel", "horse": "Hengst", "tree": "Baum", "red": "rote",
         "old": "alte", "small": "kleine", "green": "gr\u00fcne", "sees": "sieht", "finds": "findet", "carries": "tr\u00e4gt",
         "likes": "mag", "and": "und", "the": "der", "a": "ein", "today": "heute", "often": "oft"}
NOUNS, ADJECTIVES, VERBS = ["dog", "cat", "man", "bird", "horse", "tree"], ["red", "old", "small", "green"], ["sees", "finds", "carries", "likes"]


def sentence(draw):
    def noun():
        words = [draw.choice(["the", "a"])] + draw.sample(ADJECTIVES, draw.choice([0, 1, 1, 2])) + [draw.choice(NOUNS)]
        return words
    words = noun() + [draw.choice(VERBS)] + noun()
    if draw.random() < 0.3:
        words += ["and"] + noun()
    if draw.random() < 0.3:
        words.append(draw.choice(["today", "often"]))
    return words


def corpus(count, seed):
    draw = random.Random(seed)
    pairs = [sentence(draw) for _ in range(count)]
    return [" ".join(w) + "." for w in pairs], [" ".join(WORDS[x] for x in w).capitalize() + "." for w in pairs]


def marian(*arguments):
    return subprocess.run(["pymarian", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def learn_spm(text, to, size):
    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=",".join(map(str, text)), model_prefix=f"{folder}/m", vocab_size=size, bos_id=-1, eos_id=0, unk_id=1,
            normalization_rule_name="identity", hard_vocab_limit=False, minloglevel=2)
        shutil.copy(f"{folder}/m.model", to)


def train(out, sources, targets, vocabs, options, dims=(16, 24, 2, 1)):
    width, inner, encoder, decoder = dims
    marian("train", "--type", "transformer", "--train-sets", sources, targets, "--vocabs", *vocabs, "--model", out / "model.npz",
           "--dim-emb", width, "--transformer-heads", 2, "--transformer-dim-ffn", inner, "--enc-depth", encoder, "--dec-depth", decoder, "--mini-batch", 64,
           "--after", "500u", "--save-freq", "500u", "--learn-rate", 0.01, "--lr-warmup", "50u", "--cpu-threads", 1, "--workspace", 256,
           "--seed", 1, "--overwrite", *options)


def expect(out, vocabs, sources, translates):
    model = ["-m", out / "model.npz", "-v", *vocabs, "--cpu-threads", 1, "--workspace", 128, "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        text, other = pathlib.Path(folder, "s"), pathlib.Path(folder, "t")
        text.write_text("\n".join(sources) + "\n")
        found = marian("decode", *model, "-i", text, "-b", 1, "--n-best", "--mini-batch", 1)
        rows = [line.split(" ||| ") for line in found.splitlines()]
        other.write_text("\n".join(r[1] for r in rows) + "\n")
        scores = [float(x) for x in marian("score", *model, "-t", text, other).split()]
    expected = {"sources": sources, "targets": [r[1] for r in rows], "scores": scores}
    if translates:
        expected["log_probs"] = [float(r[-1]) for r in rows]
    (out / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


def main(out):
    out = pathlib.Path(out)
    sources, targets = corpus(3000, 1)
    asked = corpus(12, 2)[0] + ["A zebra sees </s> the >>de<< dog.", "Hund"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        s, t = folder / "s", folder / "t"
        s.write_text("\n".join(sources) + "\n"), t.write_text("\n".join(targets) + "\n")
        for name in ("spm", "opus", "pre_norm", "student"):
            (out / name).mkdir(parents=True, exist_ok=True)

        joint = out / "spm" / "vocab.spm"
        learn_spm([s, t], joint, 90)
        train(out / "spm", s, t, [joint, joint], ["--tied-embeddings-all", "--guided-alignment", "none"])
        expect(out / "spm", [joint, joint], asked, True)

        two = [out / "pre_norm" / "src.spm", out / "pre_norm" / "trg.spm"]
        learn_spm([s], two[0], 60), learn_spm([t], two[1], 70)
        train(out / "pre_norm", s, t, two, ["--transformer-preprocess", "n", "--transformer-postprocess", "da",
                                            "--transformer-postprocess-top", "n", "--transformer-ffn-activation", "gelu"])
        expect(out / "pre_norm", two, asked, False)
        (out / "pre_norm" / "decoder.yml").write_text("vocabs: [src.spm, trg.spm]\n")

        one = out / "student" / "vocab.spm"
        shutil.copy(joint, one)
        train(out / "student", s, t, [one, one], [
            "--tied-embeddings-all", "--transformer-decoder-autoreg", "rnn", "--dec-cell", "ssru", "--transformer-guided-alignment-layer",
            "last", "--transformer-ffn-activation", "relu"], (32, 48, 1, 2))
        expect(out / "student", [one, one], asked, True)
        for kind, name in (("float32", "model.bin"), ("intgemm8", "model.int8.bin")):
            marian("convert", "-f", out / "student" / "model.npz", "-t", out / "student" / name, "-g", kind)

        # A vocabulary of whole words for each side, which Marian makes itself.
        words = out / "words"
        words.mkdir(parents=True, exist_ok=True)
        vocabs = []
        for name, text in (("source.vocab.yml", s), ("target.vocab.yml", t)):
            vocabs.append(words / name)
            vocabs[-1].write_text(subprocess.run(["pymarian", "vocab"], input=text.read_text(), check=True, capture_output=True, text=True).stdout)
        train(words, s, t, vocabs, ["--transformer-ffn-activation", "relu"])
        expect(words, vocabs, asked[:12] + [" the  dog\tsees </s> a zebra."], True)
        (words / "decoder.yml").write_text("vocabs: [source.vocab.yml, target.vocab.yml]\n")

        # OPUS-MT cuts text before Marian sees it, and joins pieces behind it.
        opus = out / "opus"
        cutters = []
        for name, text, size in (("source.spm", s, 60), ("target.spm", t, 70)):
            learn_spm([text], opus / name, size)
            cutters.append(sentencepiece.SentencePieceProcessor(model_file=str(opus / name)))
        pieces = [[" ".join(c.encode(line, out_type=str)) for line in lines] for c, lines in zip(cutters, (sources, targets))]
        cut = [folder / "s.cut", folder / "t.cut"]
        for path, lines in zip(cut, pieces):
            path.write_text("\n".join(lines) + "\n")
        known = sorted({p for lines in pieces for line in lines for p in line.split()} | {">>de<<"})
        vocab = opus / "opus.vocab.yml"
        vocab.write_text(yaml.safe_dump({p: i for i, p in enumerate(["</s>", "<unk>"] + known)}, allow_unicode=True, sort_keys=False, default_style='"'))
        vocab.write_text("".join(line.replace('!!int "', "").rstrip('"\n') + "\n" for line in open(vocab)))
        train(opus, *cut, [vocab, vocab], ["--tied-embeddings-all", "--transformer-ffn-activation", "relu"])
        expect(opus, [vocab, vocab], [" ".join(cutters[0].encode(x, out_type=str)) for x in asked[:12]], True)
        expected = json.loads((opus / "expected.json").read_text())
        expected["sources"] = asked[:12]
        expected["targets"] = [cutters[1].decode(x.split()) for x in expected["targets"]]
        (opus / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")
        (opus / "model.npz").rename(opus / "opus.model1.npz.best-perplexity.npz")
        (opus / "decoder.yml").write_text("models:\n  - /elsewhere/work/opus.model1.npz.best-perplexity.npz\nvocabs:\n"
                                          "  - /elsewhere/work/opus.vocab.yml\n  - /elsewhere/work/opus.vocab.yml\n"
                                          "beam-size: 6\nnormalize: 1\nword-penalty: 0\nmini-batch: 1\nrelative-paths: true\n")
    for path in out.rglob("*"):
        if path.name.endswith((".optimizer.npz", ".progress.yml", ".npz.yml", ".npz.decoder.yml")):
            path.unlink()


main(sys.argv[1])
