"""Small vocabularies of ranks, with the ids that `tiktoken` and `mistral_common` give: rank_cases/.

usage: make_rank_cases.py [OUT_DIR]

Each directory has a tokenizer's files and cases.json: [{"text", "ids"}]. The ranks are learned from a few sentences by
merging the most frequent pair, as tiktoken's own educational trainer does."""
import base64
import collections
import json
import pathlib
import random
import sys

import regex
import tiktoken
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

HERE = pathlib.Path(__file__).parent
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ONE = ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + REST          # Qwen's and Hunyuan's
THREE = ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + REST   # Llama 3's and GLM 4's
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")
TEXT = """The quick brown fox jumps over the lazy dog, and she didn't know that they'd already left at 10:45 on 3 May.
We translate the sentences of the old book; it's the best translation that I've ever seen in 12 months, isn't it?
Der schnelle braune Fuchs springt über den faulen Hund, und die Übersetzung des Buches gefällt mir schließlich gut.
敏捷的棕色狐狸跳过了懒狗。我们翻译旧书里的句子,这是我见过的最好的翻译。 banana bananas aaaa aaaaaaa"""


def learn(pattern, size):
    words = collections.Counter(tuple(bytes([b]) for b in w.encode()) for w in regex.findall(pattern, TEXT))
    ranks = {bytes([b]): b for b in range(256)}
    while len(ranks) < size:
        pairs = collections.Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        pair = max(pairs, key=lambda p: (pairs[p], p))
        ranks[pair[0] + pair[1]] = len(ranks)
        merged = collections.Counter()
        for word, n in words.items():
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == pair:
                    out.append(pair[0] + pair[1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            merged[tuple(out)] += n
        words = merged
    return ranks


def texts():
    rng = random.Random(3)
    yield from ["", " ", "\n", "  \n  x", "Don't", "DON'T we'LL", "1234567", "3.14", "e\u0301 \u00e9", "\u00a0x", "😀👍", "banana",
                "a  b   c\t\td", "x=1;\r\n\r\ny", "ǅ Ⅷ ² ½", "日本語 한국어", "…—“quotes”", "https://a.b/c?d=e"]
    parts = regex.findall(r"\s+|\S+", TEXT) + ["\n", "  ", "é", "😀", "aaaaa", "12345", "'S", "\u3000"]
    for _ in range(120):
        yield "".join(rng.choice(parts) for _ in range(rng.randrange(1, 9)))


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "rank_cases"

    def write(name, files, encode):
        (out / name).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (out / name / file).write_text(text)
        cases = [{"text": t, "ids": encode(t)} for t in texts()]
        (out / name / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")

    for name, file, cls, pattern in [("qwen", "qwen.tiktoken", "QWenTokenizer", ONE), ("hunyuan", "hy.tiktoken", "HYTokenizer", ONE),
                                     ("glm4", "tokenizer.model", "ChatGLM4Tokenizer", THREE)]:
        ranks = learn(pattern, 420)
        lines = "".join(f"{base64.b64encode(t).decode()} {r}\n" for t, r in ranks.items())
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        config = {"tokenizer_class": cls}
        if name != "qwen":
            config["added_tokens_decoder"] = {str(len(ranks)): {"content": "<|endoftext|>", "special": True, "lstrip": False,
                                                                "rstrip": False, "normalized": False, "single_word": False}}
            config["eos_token"] = "<|endoftext|>"
        write(name, {file: lines, "tokenizer_config.json": json.dumps(config, indent=2) + "\n"}, encode=(
            (lambda e: lambda t: e.encode_ordinary(__import__("unicodedata").normalize("NFC", t)))(encoding)
            if name == "qwen" else encoding.encode_ordinary))

    ranks = learn(TEKKEN, 420)
    for name, special in [("tekken", None), ("tekken_v11", [{"rank": i, "token_str": t, "is_control": True} for i, t in
                                                           enumerate(["<unk>", "<s>", "</s>", "[INST]", "[/INST]"])])]:
        size = 24 + 400  # leaves out the last twenty
        tekken = {"config": {"pattern": TEKKEN, "num_vocab_tokens": len(ranks), "default_vocab_size": size,
                             "default_num_special_tokens": 24, "version": "v3" if special is None else "v11"},
                  "vocab": [{"rank": r, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
                            for t, r in ranks.items()]}
        if special is not None:
            tekken["special_tokens"] = special
        (out / name).mkdir(parents=True, exist_ok=True)
        (out / name / "tekken.json").write_text(json.dumps(tekken))
        t = Tekkenizer.from_file(out / name / "tekken.json")
        write(name, {"tekken.json": json.dumps(tekken) + "\n"}, lambda text: t.encode(text, bos=False, eos=False))


if __name__ == "__main__":
    main()
