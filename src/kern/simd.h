// The instruction sets for which kernels are compiled: SSSE3 ("generic": every x86-64 of the last decade, and the
// lowest target in all versions of Highway), AVX2 with FMA (2013) and AVX-512 (F, BW, DQ, VL: Highway's AVX3). A
// kernel file includes this before anything of Highway, and then "hwy/foreach_target.h", which includes the file
// itself for each target.
//
// Code inside HWY_BEFORE_NAMESPACE must not instantiate templates of other libraries (std::max, std::sort, ...): all
// three copies would have one name, and the linker might keep the AVX-512 copy for all. Lambdas there carry HWY_ATTR.
#pragma once

#define HWY_BASELINE_TARGETS HWY_SSSE3
#ifdef TRIL_GENERIC_KERNELS  // only the first
#define HWY_DISABLED_TARGETS (~HWY_SSSE3)
#elif defined(TRIL_NO_AVX2_KERNELS)
#define HWY_DISABLED_TARGETS (~(HWY_SSSE3 | HWY_AVX3))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SSSE3 | HWY_AVX2 | HWY_AVX3))
#endif
