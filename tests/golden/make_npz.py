#!/usr/bin/env python3
"""Writes npz/: NumPy's archives of arrays in both their forms, and the same arrays as safetensors.

usage: make_npz.py OUT_DIR     needs numpy, safetensors
"""
import pathlib
import sys

import numpy as np
from safetensors.numpy import save_file


def arrays():
    random = np.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape)

    return {"f64": normal(2, 3), "f32": normal(2, 3).astype("f4"), "f16": normal(2, 3).astype("f2"),
            "i64": np.array([1, -2**31, 2**31 - 1]), "i32": np.array([1, -2**31, 2**31 - 1], dtype="i4"),
            "i16": np.array([1, -2**15, 2**15 - 1], dtype="i2"), "i8": np.array([1, -128, 127], dtype="i1"),
            "u8": np.array([0, 1, 255], dtype="u1"), "boolean": np.array([True, False, True]),
            "scalar": np.array(3.5), "empty": np.zeros((0, 5)), "special:colon": normal(3).astype("f4"),
            "fortran": np.asfortranarray(normal(3, 4).astype("f4")), "fortran3": np.asfortranarray(normal(2, 3, 4)),
            "a": normal(1), "a.b": normal(1)}


out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
named = arrays()
np.savez(out / "arrays.npz", **named)
np.savez_compressed(out / "arrays_deflated.npz", **named)
save_file({name: np.array(a, order="C") for name, a in named.items()}, out / "arrays.safetensors")
