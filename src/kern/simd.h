// The instruction sets for which kernels are compiled. x86-64: SSSE3 ("generic": every x86-64 of the last decade, and
// the lowest target in all versions of Highway), AVX2 with FMA (2013) and AVX-512 (F, BW, DQ, VL: Highway's AVX3).
// ARM64: NEON. Any other processor: Highway's plain C++ with vectors of 16 bytes. A kernel file includes this before
// anything of Highway, and then "hwy/foreach_target.h", which includes the file itself for each target.
//
// Code inside HWY_BEFORE_NAMESPACE must not instantiate templates of other libraries (std::max, std::sort, ...): all
// copies would have one name, and the linker might keep the AVX-512 copy for all. Lambdas there carry HWY_ATTR.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSSE3
#ifdef TRIL_GENERIC_KERNELS  // only the first
#define HWY_DISABLED_TARGETS (~HWY_SSSE3)
#elif defined(TRIL_NO_AVX2_KERNELS)
#define HWY_DISABLED_TARGETS (~(HWY_SSSE3 | HWY_AVX3))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SSSE3 | HWY_AVX2 | HWY_AVX3))
#endif
#elif defined(__aarch64__)
// Not SVE: kernels keep vectors in arrays, so the size of a vector must be known when they are compiled.
#define HWY_BASELINE_TARGETS HWY_NEON
#define HWY_DISABLED_TARGETS (~HWY_NEON)
#else
#define HWY_COMPILE_ONLY_EMU128
#endif

/// 1 if the compiler knows ARM's products of 8-bit integers and of bfloat16 in functions that ask for them.
#if defined(__aarch64__) && !defined(TRIL_GENERIC_KERNELS) && (!defined(__clang__) || __clang_major__ >= 16)
#define TRIL_ARM_PRODUCTS 1
#else
#define TRIL_ARM_PRODUCTS 0
#endif
/// True in the instruction sets that have a FourProducts (int8_avx512-inl.h, int8_fours-inl.h).
#define TRIL_FOUR_PRODUCTS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS)
