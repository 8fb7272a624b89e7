#!/usr/bin/env python3
"""Writes gguf/blocks.gguf: random blocks of every type that GGUF files hold, and what the gguf package makes of them.

usage: make_gguf.py OUT_DIR [--seed N]     needs numpy and gguf (pip install gguf); about a second

Tensors: `TYPE` random blocks, [2, 3 blocks]; `TYPE.values` their values, F32. `x` F32 [6, 96] and `TYPE.of_x` for the
types that can be made: x in blocks. Metadata of every kind, `test.*`.
"""
import argparse
import os

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

# Where the f16 scales of a block lie: random bits there would be infinities and numbers without any meaning.
SCALES = {T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82], T.Q3_K: [108],
          T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0]}


def random_blocks(type, rng, rows, blocks):
    size = gguf.GGML_QUANT_SIZES[type][1]
    raw = rng.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    for at in SCALES[type]:
        d = rng.normal(0, 0.02, (rows, blocks)).astype(np.float16)
        raw[:, :, at:at + 2] = d.view(np.uint8).reshape(rows, blocks, 2)
    return raw.reshape(rows, blocks * size)


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
        raw = random_blocks(type, rng, 2, 3)
        w.add_tensor(type.name, raw, raw_dtype=type)
        w.add_tensor(type.name + ".values", dequantize(raw, type).astype(np.float32))
    x = edges(rng)
    w.add_tensor("x", x)
    for type in (T.F16, T.BF16, T.Q8_0, T.Q4_0):
        made = quantize(x, type)
        w.add_tensor(type.name + ".of_x", made, raw_dtype=type)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()
