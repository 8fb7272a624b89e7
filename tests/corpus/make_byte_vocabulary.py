"""Byte-level BPE as the `tokenizers` library learns it -> byte_vocabulary/{text.txt,NAME.json}.

usage: make_byte_vocabulary.py OUT_DIR                       (the cases of byte_vocabulary_test.cpp; needs tokenizers)
       make_byte_vocabulary.py --compare DIR SIZE TEXT...     (DIR of `tril vocab --type byte_bpe`: the same pieces, merges, ids?)
"""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"
CASES = {"plain": (700, 2, [], False), "all_pairs": (480, 1, [], False), "digits_and_symbols": (420, 3, ["<sep>", "ab"], True)}


def text():
    """Words of several scripts, numbers, runs of spaces, line ends of both kinds, and many pairs that are equally frequent."""
    random.seed(4)
    words = ("the there these then aaa aaaa aaaaa abab ababab banana bananas mississippi don't we'll I'm it's Straße über "
             "überall übel naïve naïveté 我们 我们的 世界 こんにちは привет приветы مرحبا 😀 😀😀 👍🏽 123 1234 2026 3.14 "
             "-- --- ... a_b c+d e=f (g) [h] \t\t x").split(" ")
    lines = []
    for i in range(160):
        line = " ".join(random.choice(words) for _ in range(random.randrange(1, 12)))
        lines.append(line + random.choice(["\n", "\n", "\n", "\r\n", "  \n", "\n\n"]))
    return "".join(lines) + "no line end"


def trained(files, size, min_frequency, symbols, digits):
    tokenizer = Tokenizer(models.BPE())
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), words]) if digits else words
    tokenizer.decoder = decoders.ByteLevel()
    special = [END] + [AddedToken(s, special=False, normalized=False) for s in symbols]
    tokenizer.train(files, trainers.BpeTrainer(vocab_size=size, min_frequency=min_frequency, special_tokens=special,
                                               initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tokenizer


def main(out):
    out = pathlib.Path(out)
    out.mkdir(exist_ok=True)
    (out / "text.txt").write_bytes(text().encode())
    for name, (size, min_frequency, symbols, digits) in CASES.items():
        tokenizer = trained([str(out / "text.txt")], size, min_frequency, symbols, digits)
        model = json.loads(tokenizer.to_str())["model"]
        case = {"size": size, "min_frequency": min_frequency, "symbols": symbols, "split_digits": digits,
                "pieces": sorted(model["vocab"], key=model["vocab"].get), "merges": [" ".join(m) for m in model["merges"]],
                "ids": tokenizer.encode(text()).ids}
        (out / f"{name}.json").write_text(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n")
        print(name, len(case["pieces"]), "pieces", len(case["ids"]), "ids")


def compare(directory, size, files):
    ours, theirs = Tokenizer.from_file(f"{directory}/tokenizer.json"), trained(files, int(size), 2, [], False)
    a, b = json.loads(ours.to_str())["model"], json.loads(theirs.to_str())["model"]
    whole = "".join(pathlib.Path(f).read_bytes().decode() for f in files)
    same = a["vocab"] == b["vocab"], a["merges"] == b["merges"], ours.encode(whole).ids == theirs.encode(whole).ids
    print(f"{len(b['vocab'])} pieces, {len(b['merges'])} merges, {len(theirs.encode(whole).ids)} ids: the same: {same}")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(compare(sys.argv[2], sys.argv[3], sys.argv[4:]) if sys.argv[1] == "--compare" else main(sys.argv[1]))
