// Decoders in which a recurrent state replaces attention in some layers or in all.
#include "model/families/decoder_families.h"
#include "model/families/lara_mini.h"
#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> recurrent_families() {
  static constexpr Family list[]{
      {.name = "qwen3_next",
       .file = "families/qwen3_next.cpp",
       .make = make_qwen3_next,
       .sentence = "short convolution and gated delta rule in three layers of four, gated attention in the others; "
                   "experts, and a shared expert with a gate"},
      {.name = "qwen3_5_text",
       .file = "families/qwen3_next.cpp",
       .make = make_qwen3_5_text,
       .sentence = "Qwen3.5: qwen3_next with a gated feed-forward in place of experts"},
      {.name = "qwen3_5_moe_text",
       .file = "families/qwen3_next.cpp",
       .make_of_files = make_qwen3_5_moe_text,
       .sentence = "Qwen3.5 with experts, and a shared expert with a gate"},
      {.name = "lara_mini",
       .file = "families/lara_mini.cpp",
       .make = make_lara_mini,
       .sentence = "Lara 4 Mini, for translation: gated delta rule, attention with windows, and attention over the "
                   "whole text in "
                   "turn; only the layers with windows have rotary positions; experts, and a shared expert"},
      {.name = "lfm2",
       .file = "families/lfm2.cpp",
       .make = make_lfm2,
       .sentence = "short gated convolutions in most layers, attention with norms of queries and keys in the others"},
      {.name = "lfm2_moe",
       .file = "families/lfm2.cpp",
       .make = make_lfm2_moe,
       .sentence = "lfm2 with experts routed by sigmoid scores with a correction bias"},
      {.name = "lfm3",
       .file = "families/lfm3.cpp",
       .make = make_lfm3,
       .sentence = "lfm2 with norms after the sublayers too, a gate for each head, windows, and rotary positions by "
                   "kind of layer"},
      {.name = "mamba2",
       .file = "families/mamba2.cpp",
       .make = make_mamba2,
       .sentence = "layers of Mamba-2 alone: their memory does not grow with the text"},
      {.name = "granitemoehybrid",
       .file = "families/granitemoehybrid.cpp",
       .make = make_granitemoehybrid,
       .sentence = "Granite 4: granite with Mamba-2 in most layers, and attention without positions in the others; the "
                   "larger models have experts and a shared expert"},
      {.name = "bamba",
       .file = "families/bamba.cpp",
       .make = make_bamba,
       .sentence = "llama with Mamba-2 in most layers, and attention with half of each head rotated in the others"},
      {.name = "falcon_h1",
       .file = "families/falcon_h1.cpp",
       .make = make_falcon_h1,
       .sentence = "Falcon-H1: llama with Mamba-2 beside attention in every layer, and factors in many places"},
      {.name = "nemotron_h",
       .file = "families/nemotron_h.cpp",
       .make = make_nemotron_h,
       .sentence =
           "Nemotron-H, Nemotron Nano 2 and 3: layers of one sublayer each: Mamba-2, attention without positions, a "
           "feed-forward with a squared relu, or experts routed by sigmoid scores with a correction bias"},
  };
  return list;
}

}  // namespace tril::model
