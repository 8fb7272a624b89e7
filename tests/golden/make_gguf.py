#!/usr/bin/env python3
"""Writes gguf/blocks.gguf: random blocks of the types that GGUF files hold, and what the gguf package makes of them;
low_bits.gguf, the same for types below four bits; codebooks.gguf, blocks with every entry of their codebooks; and
parts-0000N-of-00003.gguf, five tensors in three files.

usage: make_gguf.py OUT_DIR [--seed N]     needs numpy and gguf (pip install gguf); about a second

Tensors: `TYPE` random blocks, [2, 3 blocks]; `TYPE.values` their values, F32 (I8 in codebooks.gguf). `x` F32 [6, 96] and `TYPE.of_x` for the
types that can be made: x in blocks. Metadata of every kind, `test.*`.
"""
import argparse
import os

import gguf
import gguf.quants
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

# Where the f16 scales of a block lie: random bits there would be infinities and numbers without any meaning.
SCALES = {T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82], T.Q3_K: [108],
          T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0]}
LOW_BITS = {T.IQ2_XXS: [0], T.IQ2_XS: [0], T.IQ2_S: [0], T.IQ3_XXS: [0], T.IQ3_S: [0], T.IQ1_S: [0], T.IQ1_M: [],
            T.TQ1_0: [52], T.TQ2_0: [64], T.MXFP4: [], T.NVFP4: []}


def random_blocks(type, rng, rows, blocks, scales):
    size = gguf.GGML_QUANT_SIZES[type][1]
    raw = rng.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    for at in scales:
        d = rng.normal(0, 0.02, (rows, blocks)).astype(np.float16)
        raw[:, :, at:at + 2] = d.view(np.uint8).reshape(rows, blocks, 2)
    return raw.reshape(rows, blocks * size)


def all_entries(type):
    """Blocks that have each entry of the codebook once, with scales for which all values are integers below 128."""
    size = gguf.GGML_QUANT_SIZES[type][1]
    entries, values = quants_of(type).grid_shape
    per_block = 256 // values
    codes = np.arange(entries).reshape(-1, per_block)
    raw = np.zeros((len(codes), size), np.uint8)
    raw[:, :2] = np.full((len(codes), 1), 1 if type == T.IQ3_S else 4 if type == T.IQ3_XXS else 8, np.float16).view(np.uint8)
    low, high = (codes & 255).astype(np.uint8), codes >> 8
    if type == T.IQ2_XXS:
        raw[:, 2:66].reshape(-1, 8, 8)[:, :, :4] = low.reshape(-1, 8, 4)
    elif type == T.IQ2_XS:
        raw[:, 2:66] = codes.astype(np.uint16).view(np.uint8)
    elif type == T.IQ2_S:
        raw[:, 2:34] = low
        raw[:, 66:74] = (high.reshape(-1, 8, 4) << np.array([0, 2, 4, 6])).sum(-1)
    elif type == T.IQ3_XXS:
        raw[:, 2:66] = low
    elif type == T.IQ3_S:
        raw[:, 2:66] = low
        raw[:, 66:74] = (high.reshape(-1, 8, 8) << np.arange(8)).sum(-1)
    else:
        raw[:, 2:34] = low
        raw[:, 34:50] = (high.reshape(-1, 8, 4) << np.array([0, 3, 6, 9])).sum(-1).astype(np.uint16).view(np.uint8)
    return raw.reshape(1, -1)


def quants_of(type):
    return getattr(gguf.quants, type.name)


def finish(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def edges(rng):
    """Rows that a quantiser may stumble over: zeros, ties, one large value, tiny ones."""
    x = rng.normal(0, 1, (6, 96)).astype(np.float32)
    x[0, :32] = 0
    x[1] = np.arange(96) - 48
    x[2, 5] = 1000
    x[3] *= 1e-6
    x[4] = np.round(x[4] * 4) / 8
    return x


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("out")
    args.add_argument("--seed", type=int, default=1)
    o = args.parse_args()
    rng = np.random.default_rng(o.seed)
    os.makedirs(o.out, exist_ok=True)
    w = gguf.GGUFWriter(os.path.join(o.out, "blocks.gguf"), "none")
    for kind, value in (("uint8", 200), ("int8", -100), ("uint16", 60000), ("int16", -30000), ("uint32", 4000000000),
                        ("int32", -2000000000), ("uint64", 1 << 40), ("int64", -(1 << 40)), ("float32", 0.5),
                        ("float64", 0.1), ("bool", True), ("string", "gr\u00fc\u00df")):
        getattr(w, "add_" + kind)("test." + kind, value)
    w.add_array("test.texts", ["a", "", "\u2581b\n"])
    w.add_array("test.numbers", [1, -2, 3])
    w.add_array("test.floats", [0.5, -0.25])
    for type in SCALES:
        raw = random_blocks(type, rng, 2, 3, SCALES[type])
        w.add_tensor(type.name, raw, raw_dtype=type)
        w.add_tensor(type.name + ".values", dequantize(raw, type).astype(np.float32))
    x = edges(rng)
    w.add_tensor("x", x)
    for type in (T.F16, T.BF16, T.Q8_0, T.Q4_0):
        made = quantize(x, type)
        w.add_tensor(type.name + ".of_x", made, raw_dtype=type)
    finish(w)

    w = gguf.GGUFWriter(os.path.join(o.out, "low_bits.gguf"), "none")
    for type, scales in LOW_BITS.items():
        raw = random_blocks(type, rng, 2, 2, scales)
        w.add_tensor(type.name, raw, raw_dtype=type)
        w.add_tensor(type.name + ".values", dequantize(raw, type).astype(np.float32))
    finish(w)

    w = gguf.GGUFWriter(os.path.join(o.out, "codebooks.gguf"), "none")
    for type in (T.IQ2_XXS, T.IQ2_XS, T.IQ2_S, T.IQ3_XXS, T.IQ3_S, T.IQ1_S):
        raw = all_entries(type)
        values = dequantize(raw, type)
        assert (values == values.astype(np.int8)).all(), type
        w.add_tensor(type.name + "", raw, raw_dtype=type)
        w.add_tensor(type.name + ".values", values.astype(np.int8))
    finish(w)

    w = gguf.GGUFWriter(os.path.join(o.out, "parts.gguf"), "none", split_max_tensors=2)
    w.add_string("test.text", "of the first part")
    for i in range(5):
        w.add_tensor(f"t.{i}", np.arange(6, dtype=np.float32).reshape(2, 3) + 10 * i)
    finish(w)


if __name__ == "__main__":
    main()
