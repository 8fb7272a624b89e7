// The kernel tables, one for each instruction set, and the choice among them by the processor's capabilities.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/tables.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

void fill_all(Kernels& k) {
  fill_elementwise(k);
  fill_matrix(k);
  fill_norms(k);
  fill_softmax(k);
  fill_top_k(k);
  fill_embedding(k);
  fill_rotary(k);
  fill_optimizers(k);
  fill_attention(k);
  fill_mean_attention(k);
  fill_linear_attention(k);
  fill_short_convolution(k);
  fill_gated_delta(k);
  fill_state_space(k);
  fill_ssru(k);
  fill_gemm_bf16(k);
  fill_gemm_int8(k);
  fill_quantized_top_k(k);
  fill_block_products(k);
  fill_memory_attention(k);
  fill_linear_gradient(k);
  fill_projected_loss(k);
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/error.h"

#include "hwy/targets.h"
#include "kern/gemm.h"
#include "kern/processor.h"
#include "kern/stored_values.h"

namespace tril::kern {
namespace {

Kernels named(std::string_view name, void (*fill_all)(Kernels&)) {
  Kernels k{};
  k.name = name;
  k.gemm = gemm;  // oneDNN detects the instruction set itself, for every table
  fill_all(k);
  return k;
}

/// Tables that this processor can run come first in `usable`, slowest first. The others stay empty: the code that
/// fills a table is itself compiled for the table's instruction set.
struct Tables {
  Kernels generic = named("generic", HWY_STATIC_DISPATCH(fill_all));
  // Tables whose names have a second part differ from the one before in products of few bits.
  Kernels avx2{}, avx2_vnni{}, avx512{}, avx512_vnni{}, avx512_bf16{}, amx{};
  Kernels neon_dot{}, neon_i8mm{}, neon_bf16{};
  std::array<const Kernels*, 7> usable{&generic};
  std::size_t count = 1;

  Tables() {
#if TRIL_ARM_PRODUCTS
    add_neon();
#elif defined(__x86_64__) && !defined(TRIL_GENERIC_KERNELS)
    const auto supported = hwy::SupportedTargets();
#ifndef TRIL_NO_AVX2_KERNELS
    if (supported & HWY_AVX2) {
      avx2 = named("avx2", N_AVX2::fill_all);
      usable[count++] = &avx2;
      if (has_avx_vnni()) add_avx2_vnni();
    }
#endif
    if (supported & HWY_AVX3) add_avx512();
#endif
  }

#if TRIL_ARM_PRODUCTS
  void add_neon() {
    if (!has_neon_dot()) return;
    neon_dot = generic;
    neon_dot.name = "neon_dot";
    N_NEON::fill_gemm_int8_fours(neon_dot);
    N_NEON::fill_quantized_top_k_fours(neon_dot);
    usable[count++] = &neon_dot;
    if (!has_neon_i8mm()) return;
    neon_i8mm = neon_dot;
    neon_i8mm.name = "neon_i8mm";
    N_NEON::fill_gemm_int8_blocks(neon_i8mm);
    N_NEON::fill_quantized_top_k_blocks(neon_i8mm);
    usable[count++] = &neon_i8mm;
    if (!has_neon_bf16()) return;
    neon_bf16 = neon_i8mm;
    neon_bf16.name = "neon_bf16";
    N_NEON::fill_gemm_bf16_pairs(neon_bf16);
    N_NEON::fill_linear_gradient_pairs(neon_bf16);
    N_NEON::fill_projected_loss_pairs(neon_bf16);
    usable[count++] = &neon_bf16;
  }
#elif defined(__x86_64__) && !defined(TRIL_GENERIC_KERNELS)
#ifndef TRIL_NO_AVX2_KERNELS
  void add_avx2_vnni() {
    avx2_vnni = avx2;
    avx2_vnni.name = "avx2_vnni";
    N_AVX2::fill_gemm_int8_fours(avx2_vnni);
    N_AVX2::fill_quantized_top_k_fours(avx2_vnni);
    usable[count++] = &avx2_vnni;
  }
#endif
  void add_avx512() {
    avx512 = named("avx512", N_AVX3::fill_all);
    usable[count++] = &avx512;
    if (!has_avx512_vnni()) return;
    avx512_vnni = avx512;
    avx512_vnni.name = "avx512_vnni";
    N_AVX3::fill_gemm_int8_fours(avx512_vnni);
    N_AVX3::fill_quantized_top_k_fours(avx512_vnni);
    usable[count++] = &avx512_vnni;
    if (!has_avx512_bf16()) return;
    avx512_bf16 = avx512_vnni;
    avx512_bf16.name = "avx512_bf16";
    N_AVX3::fill_gemm_bf16_pairs(avx512_bf16);
    N_AVX3::fill_linear_gradient_pairs(avx512_bf16);
    N_AVX3::fill_projected_loss_pairs(avx512_bf16);
    usable[count++] = &avx512_bf16;
    if (!pairs_of_bf16_pay()) std::swap(usable[count - 1], usable[count - 2]);
    if (!may_use_amx()) return;
    amx = avx512;
    amx.name = "amx";
    N_AVX3::fill_gemm_bf16_tiles(amx);
    N_AVX3::fill_gemm_int8_tiles(amx);
    N_AVX3::fill_quantized_top_k_tiles(amx);
    N_AVX3::fill_linear_gradient_tiles(amx);
    N_AVX3::fill_projected_loss_tiles(amx);
    N_AVX3::fill_attention_tiles(amx);
    N_AVX3::fill_cached_attention_tiles(amx);
    usable[count++] = &amx;
  }
#endif
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
};

const Tables& all() {
  static const Tables tables;
  return tables;
}

const Kernels& wanted() {
  constexpr const char* variable = "TRIL_INSTRUCTION_SET";
  const char* const name = std::getenv(variable);
  if (!name || *name == '\0') return *tables().back();
  if (const Kernels* const k = table(name)) {
    limit_gemm(name);
    limit_stored_values(name);
    return *k;
  }
  std::string names;
  for (const Kernels* k : tables()) names += fmt::format("{}{}", names.empty() ? "" : ", ", k->name);
  fail_usage(variable, fmt::format("'{}' is not available on this processor", name), "available: " + names);
}

}  // namespace

std::span<const Kernels* const> tables() {
  return std::span(all().usable).first(all().count);
}

const Kernels& best() {
  static const Kernels& chosen = wanted();
  return chosen;
}

const Kernels* table(std::string_view name) {
  for (const Kernels* k : tables())
    if (k->name == name) return k;
  return nullptr;
}

}  // namespace tril::kern
#endif  // HWY_ONCE
