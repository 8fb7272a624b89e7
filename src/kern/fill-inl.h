// The functions that each kernel file defines for each instruction set and tables.cpp calls: they set their entries
// of a table. Declared in the namespace of the instruction set that is being compiled.
#if defined(TRIL_KERN_FILL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_FILL_INL_H_
#undef TRIL_KERN_FILL_INL_H_
#else
#define TRIL_KERN_FILL_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/kernels.h"
#include "kern/simd.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

void fill_elementwise(Kernels& k);        // vectors of n values, except optimizers
void fill_matrix(Kernels& k);             // bias_activate, column_sums, transpose, copy_rows
void fill_norms(Kernels& k);              // layer_norm, rms_norm
void fill_softmax(Kernels& k);            // log_softmax, log_sum_exp, cross_entropy, distillation
void fill_top_k(Kernels& k);              // top_k
void fill_embedding(Kernels& k);          // gather, scatter_add, add_gathered
void fill_rotary(Kernels& k);             // rotary
void fill_optimizers(Kernels& k);         // adam, lion, adafactor*, add_normal
void fill_attention(Kernels& k);          // attention*, cached_attention
void fill_mean_attention(Kernels& k);     // mean_attention*, alignment_loss
void fill_linear_attention(Kernels& k);   // linear_attention*
void fill_short_convolution(Kernels& k);  // short_convolution*
void fill_gated_delta(Kernels& k);        // gated_delta*, delta_decay*
void fill_state_space(Kernels& k);        // state_space*, state_steps*
void fill_ssru(Kernels& k);               // ssru*
void fill_gemm_bf16(Kernels& k);          // pack_*, gather_packed, gather_compact, packed_gemm
void fill_memory_attention(Kernels& k);   // pack_memory, memory_attention
void fill_gemm_int8(Kernels& k);  // quantize_rows, pack_quantized, gather_quantized, select_quantized, quantized_gemm
void fill_quantized_top_k(Kernels& k);  // quantized_top_k
void fill_block_products(Kernels& k);   // pack_blocks
void fill_linear_gradient(Kernels& k);  // linear_gradient
void fill_projected_loss(Kernels& k);   // projected_cross_entropy*
#if HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS
void fill_gemm_bf16_pairs(Kernels& k);  // the same with AVX-512 BF16 or ARM's BF16
void fill_projected_loss_pairs(Kernels& k);
void fill_linear_gradient_pairs(Kernels& k);
#endif
#if TRIL_FOUR_PRODUCTS
void fill_gemm_int8_fours(Kernels& k);  // the same with AVX-512 VNNI, AVX-VNNI or ARM's dot product
void fill_quantized_top_k_fours(Kernels& k);
#endif
#if TRIL_ARM_PRODUCTS
void fill_gemm_int8_blocks(Kernels& k);  // the same with ARM's i8mm
void fill_quantized_top_k_blocks(Kernels& k);
#endif
#if HWY_TARGET == HWY_AVX3
void fill_gemm_bf16_tiles(Kernels& k);  // the same with AMX
void fill_projected_loss_tiles(Kernels& k);
void fill_linear_gradient_tiles(Kernels& k);
void fill_attention_tiles(Kernels& k);
void fill_cached_attention_tiles(Kernels& k);
void fill_gemm_int8_tiles(Kernels& k);  // the same with AMX
void fill_quantized_top_k_tiles(Kernels& k);
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_FILL_INL_H_
