#!/usr/bin/env python3
"""Writes gguf/vocabulary_*.gguf, vocabularies as the gguf package writes them, and gguf/vocabularies.json: llama.cpp's ids.

usage: make_gguf_vocabulary.py OUT_DIR [--seed N]     needs gguf, llama-cpp-python, sentencepiece; some seconds

`vocabulary_llama.gguf` is hf/tokenizers/spm_bpe (scores), `vocabulary_gpt2.gguf` and `vocabulary_llama3.gguf` are bytelevel_gpt2
and bytelevel_llama3 there (merges). The files have no tensor that is of use. vocabularies.json: {file: [{text, ids, ids_framed}]},
pure ASCII, special tokens of the text parsed; `ids_framed` with what stands around a text. No text has normal forms other than C.
"""
import argparse
import json
import os
import pathlib
import random
import unicodedata

import gguf
import llama_cpp
import numpy as np
import sentencepiece

TOKENIZERS = pathlib.Path(__file__).resolve().parent / "hf" / "tokenizers"
TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}\n{% endfor %}"


def begin(path, size):
    w = gguf.GGUFWriter(str(path), "llama")
    w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(2), w.add_feed_forward_length(2)
    w.add_head_count(1), w.add_layer_norm_rms_eps(1e-5), w.add_rope_dimension_count(2), w.add_vocab_size(size)
    w.add_chat_template(TEMPLATE)
    return w


def end(w, tokens, types):
    w.add_token_list(tokens), w.add_token_types(types)
    w.add_tensor("token_embd.weight", np.zeros((1, 2), dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def write_scores(path):
    spm = sentencepiece.SentencePieceProcessor(model_file=str(TOKENIZERS / "spm_bpe" / "spm.model"))
    n = spm.vocab_size()
    kinds = [2 if spm.is_unknown(i) else 3 if spm.is_control(i) else 6 if spm.is_byte(i) else 1 for i in range(n)]
    w = begin(path, n + 3)
    w.add_tokenizer_model("llama")
    w.add_token_scores([spm.get_score(i) for i in range(n)] + [0.0] * 3)
    w.add_bos_token_id(spm.bos_id()), w.add_eos_token_id(spm.eos_id()), w.add_unk_token_id(spm.unk_id())
    w.add_eot_token_id(n)
    end(w, [spm.id_to_piece(i) for i in range(n)] + ["<|im_end|>", "<user>", "[PAD]"], kinds + [3, 4, 5])


def write_merges(path, name, pre):
    t = json.loads((TOKENIZERS / name / "tokenizer.json").read_text())
    ids = {**t["model"]["vocab"], **{a["content"]: a["id"] for a in t["added_tokens"]}}
    tokens = sorted(ids, key=ids.get)
    special = {a["content"] for a in t["added_tokens"]}
    w = begin(path, len(tokens))
    w.add_tokenizer_model("gpt2"), w.add_tokenizer_pre(pre)
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in t["model"]["merges"]])
    w.add_bos_token_id(ids["<|endoftext|>"]), w.add_eos_token_id(ids["<|endoftext|>"])
    end(w, tokens, [3 if x in special else 1 for x in tokens])


def texts(seed):
    rng = random.Random(seed)
    pool = list("abcdefghijklmnopqrstuvwxyzABCXYZ      0123456789.,'\"!?-_()<>/\n\t") + list(
        "\u00e4\u00df\u00e9\u0431\u4e2d\u6587\u3042\uac00\u0e01\u05d0\u0627\u00b2\u0663\u2019\U0001f600\u00a0\u200d")
    fixed = ["", " ", "Hello, world!", "  two  spaces ", "it's WE'LL they'Ve", "1 12 123 1234 12345", "\u4f60\u597d\u3002\n\n\n x",
             "\U0001f468\u200d\U0001f469", "a<s>b</s> c", "a<|endoftext|> b<|im_end|><user> c<user>", "\u0000"]
    made = ["".join(rng.choice(pool) for _ in range(rng.randint(1, 40))) for _ in range(50)]
    return [unicodedata.normalize("NFC", t) for t in fixed + made]


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("out")
    args.add_argument("--seed", type=int, default=1)
    o = args.parse_args()
    folder = pathlib.Path(o.out) / "gguf"
    os.makedirs(folder, exist_ok=True)
    write_scores(folder / "vocabulary_llama.gguf")
    write_merges(folder / "vocabulary_gpt2.gguf", "bytelevel_gpt2", "gpt-2")
    write_merges(folder / "vocabulary_llama3.gguf", "bytelevel_llama3", "llama-bpe")
    cases = {}
    for name in ("llama", "gpt2", "llama3"):
        file = f"vocabulary_{name}.gguf"
        model = llama_cpp.Llama(str(folder / file), vocab_only=True, verbose=False)
        cases[file] = [{"text": t, "ids": model.tokenize(t.encode(), add_bos=False, special=True),
                        "ids_framed": model.tokenize(t.encode(), add_bos=True, special=True)} for t in texts(o.seed)]
    lists = [f"{json.dumps(k)}: [\n" + ",\n".join(map(json.dumps, v)) + "]" for k, v in cases.items()]
    (folder / "vocabularies.json").write_text("{" + ",\n".join(lists) + "}\n")


if __name__ == "__main__":
    main()
