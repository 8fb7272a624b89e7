#!/usr/bin/env python3
"""Writes gguf/model_q4_k.gguf, a small Llama as llama.cpp's Q4_K_M lays it out (Q4_K, and Q6_K for the values, the way
down and the output), and gguf/model_q4_k.json: what `transformers` makes of that file.

usage: make_gguf_model.py OUT_DIR [--seed N]     needs numpy, gguf, torch, transformers, accelerate; some seconds

The file: random blocks. The JSON: `text`, its `ids`, the `logits` behind the last of them [vocabulary], and `greedy`, the
ids of the 24 likeliest tokens one after the other.
"""
import argparse
import json
import os

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as T
from transformers import AutoModelForCausalLM

D, FF, HEADS, KV, LAYERS = 256, 256, 4, 2, 1
SPACE = "\u2581"
NAMES = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + [SPACE] + [chr(0x4E00 + i) for i in range(40)]


def halves(values):
    return np.asarray(values, np.float16).view(np.uint8).reshape(-1, 2)


def q4_k(rng, n, size):
    """n blocks of 256 values of about this size: d sc q - dmin m, with sc and m of 6 bits, q of 4."""
    d = size / 150 * rng.uniform(0.5, 1.5, n)
    rest = rng.integers(0, 256, (n, 140), dtype=np.uint8)
    return np.concatenate([halves(d), halves(7.5 * d * rng.uniform(0.9, 1.1, n)), rest], 1)


def q6_k(rng, n, size):
    """n blocks of 256 values of about this size: d sc (q - 32), with sc of 8 bits, q of 6."""
    d = size / 1200 * rng.uniform(0.5, 1.5, n)
    return np.concatenate([rng.integers(0, 256, (n, 208), dtype=np.uint8), halves(d)], 1)


def write(path, rng):
    w = gguf.GGUFWriter(path, "llama")
    w.add_block_count(LAYERS), w.add_context_length(128), w.add_embedding_length(D), w.add_feed_forward_length(FF)
    w.add_head_count(HEADS), w.add_head_count_kv(KV), w.add_layer_norm_rms_eps(1e-5), w.add_rope_freq_base(10000.0)
    w.add_rope_dimension_count(D // HEADS), w.add_vocab_size(len(NAMES)), w.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    w.add_tokenizer_model("llama"), w.add_token_list(NAMES), w.add_token_scores([-float(i) for i in range(len(NAMES))])
    w.add_token_types([2, 3, 3] + [6] * 256 + [1] * (len(NAMES) - 259))
    w.add_bos_token_id(1), w.add_eos_token_id(2), w.add_unk_token_id(0)

    def matrix(name, blocks, type, rows, columns, size=None):
        raw = blocks(rng, rows * columns // 256, size or columns ** -0.5)
        w.add_tensor(name, raw.reshape(rows, -1), raw_dtype=type)

    def norm(name):
        w.add_tensor(name, (1 + 0.1 * rng.standard_normal(D)).astype(np.float32))

    matrix("token_embd.weight", q4_k, T.Q4_K, len(NAMES), D, 1.0)
    norm("output_norm.weight")
    matrix("output.weight", q6_k, T.Q6_K, len(NAMES), D)
    for i in range(LAYERS):
        b = f"blk.{i}."
        norm(b + "attn_norm.weight"), norm(b + "ffn_norm.weight")
        matrix(b + "attn_q.weight", q4_k, T.Q4_K, D, D), matrix(b + "attn_k.weight", q4_k, T.Q4_K, D // HEADS * KV, D)
        matrix(b + "attn_v.weight", q6_k, T.Q6_K, D // HEADS * KV, D), matrix(b + "attn_output.weight", q4_k, T.Q4_K, D, D)
        matrix(b + "ffn_gate.weight", q4_k, T.Q4_K, FF, D), matrix(b + "ffn_up.weight", q4_k, T.Q4_K, FF, D)
        matrix(b + "ffn_down.weight", q6_k, T.Q6_K, D, FF)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = os.path.join(args.out, "gguf")
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    write(os.path.join(folder, "model_q4_k.gguf"), rng)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file="model_q4_k.gguf", dtype=torch.float32).eval()
    words = rng.integers(0, 40, 17)
    ids = [1, NAMES.index(SPACE)] + [NAMES.index(SPACE) + 1 + int(i) for i in words]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, -1]
        greedy = model.generate(torch.tensor([ids]), max_new_tokens=24, do_sample=False)[0][len(ids):]
    with open(os.path.join(folder, "model_q4_k.json"), "w") as f:
        json.dump({"text": "".join(chr(0x4E00 + int(i)) for i in words), "ids": ids,
                   "logits": [round(float(x), 6) for x in logits], "greedy": greedy.tolist()}, f)


if __name__ == "__main__":
    main()
