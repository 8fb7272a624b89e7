#!/usr/bin/env python3
"""Writes src/kern/gguf_codebooks.h: the codebooks of ggml's types below four bits, as the gguf package has them.

usage: make_gguf_codebooks.py > src/kern/gguf_codebooks.h; clang-format -i src/kern/gguf_codebooks.h
needs numpy and gguf (pip install gguf)
"""
import numpy as np
from gguf import quants

HEAD = """// The codebooks of ggml's types below four bits: a code of a block is an entry, an entry is the values of several weights.
// Made by tests/golden/make_gguf_codebooks.py of the gguf package's tables; they are part of the file format.
#pragma once

#include <array>
#include <cstdint>

namespace tril::kern {
"""
BOOKS = [("iq2_xxs", quants.IQ2_XXS, 2), ("iq2_xs", quants.IQ2_XS, 2), ("iq2_s", quants.IQ2_S, 2),
         ("iq3_xxs", quants.IQ3_XXS, 3), ("iq3_s", quants.IQ3_S, 3), ("iq1", quants.IQ1_S, 2)]


def main():
    print(HEAD)
    for name, kind, bits in BOOKS:
        kind.init_grid()
        grid = kind.grid.reshape(kind.grid_shape)
        levels = np.array(kind.grid_map, np.float32)
        codes = np.searchsorted(levels, grid)
        assert (levels[codes] == grid).all()
        entries = (codes << (bits * np.arange(grid.shape[1]))).sum(1)
        print(f"/// {len(entries)} entries of {grid.shape[1]} values with {bits} bits each, the first in the lowest: "
              f"numbers of {name}_levels.")
        print(f"inline constexpr std::array<std::int8_t, {len(levels)}> {name}_levels{{{', '.join(f'{v:g}' for v in levels)}}};")
        print(f"inline constexpr std::array<std::uint16_t, {len(entries)}> {name}_codebook{{")
        print(", ".join(f"{e:#06x}" for e in entries))
        print("};\n")
    print("}  // namespace tril::kern")


if __name__ == "__main__":
    main()
