// What the processor and the system allow beyond the instruction sets that Highway tells of.
#pragma once

namespace tril::kern {

/// Products of fours of int8 (AVX-512 VNNI).
bool has_avx512_vnni();
/// Products of pairs of bfloat16 (AVX-512 BF16).
bool has_avx512_bf16();
/// Whether these are faster than the same products emulated in float32: AMD's are. Intel's, beside AMX, were not where it was
/// measured (a core of Sapphire Rapids with AMX masked: 82 GFLOP/s, emulated 117), and are taken to be like that everywhere.
bool pairs_of_bf16_pay();
/// Products of tiles of bfloat16 and int8 (AMX). Linux gives a process its tile registers for the asking, and this asks.
bool may_use_amx();

}  // namespace tril::kern
