// Decoders in which a recurrent state replaces attention in some layers or in all.
#include "model/families/decoder_families.h"
#include "model_io/family_lists.h"

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
  };
  return list;
}

}  // namespace tril::model
