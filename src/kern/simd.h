// Which instruction sets the kernels are compiled for: SSSE3 ("generic": every x86-64 of the last decade, and the
// plainest that all versions of Highway know), AVX2 with FMA (2013) and AVX-512 (F, BW, DQ, VL: Highway's AVX3). A file
// of kernels includes this before anything of Highway, and then "hwy/foreach_target.h", which includes the file itself
// for each.
//
// Code inside HWY_BEFORE_NAMESPACE must not instantiate templates of other libraries (std::max, std::sort, ...): all
// three copies would have one name, and the linker could keep the AVX-512 one for everybody. Lambdas there carry
// HWY_ATTR.
#pragma once

#define HWY_BASELINE_TARGETS HWY_SSSE3
#define HWY_DISABLED_TARGETS (~(HWY_SSSE3 | HWY_AVX2 | HWY_AVX3))
