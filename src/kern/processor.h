// Capabilities of the processor and the system that Highway does not report.
#pragma once

namespace tril::kern {

#if defined(__x86_64__)
/// Products of four int8 values in vectors of 32 bytes (AVX-VNNI).
bool has_avx_vnni();
/// Products of four int8 values (AVX-512 VNNI).
bool has_avx512_vnni();
/// Products of two bfloat16 values (AVX-512 BF16).
bool has_avx512_bf16();
/// True if these are faster than the same products emulated in float32. They are on AMD processors. On Intel they
/// were slower where measured (a core of Sapphire Rapids without AMX: 82 GFLOP/s, emulated 117), which is assumed
/// for all Intel processors.
bool pairs_of_bf16_pay();
/// Products of tiles of bfloat16 and int8 (AMX). Linux gives a process the tile registers on request; this requests
/// them. False on other systems.
bool may_use_amx();
#elif defined(__aarch64__)
/// Products of four int8 values (FEAT_DotProd). Linux and macOS report these features; false on other systems.
bool has_neon_dot();
/// The same, and products of blocks of int8 values (FEAT_I8MM).
bool has_neon_i8mm();
/// The same, and products of blocks of bfloat16 (FEAT_BF16).
bool has_neon_bf16();
#endif

}  // namespace tril::kern
