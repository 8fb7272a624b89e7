// Decoders with mixtures of experts.
#include "model/families/decoder_families.h"
#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> mixture_families() {
  static constexpr Family list[]{
      {.name = "mixtral",
       .file = "families/mixtral.cpp",
       .make = make_mixtral,
       .sentence = "mistral with a mixture of experts as feed-forward"},
      {.name = "olmoe",
       .file = "families/olmoe.cpp",
       .make = make_olmoe,
       .sentence = "norms over all queries and all keys, experts"},
      {.name = "cohere2_moe",
       .file = "families/cohere2_moe.cpp",
       .make = make_cohere2_moe,
       .sentence = "cohere2 with experts and shared experts"},
      {.name = "hunyuan_v1_moe",
       .file = "families/hunyuan_v1.cpp",
       .make = make_hunyuan_v1_moe,
       .sentence = "hunyuan_v1_dense with experts and a shared expert"},
      {.name = "hy_v3",
       .file = "families/hy_v3.cpp",
       .make = make_hy_v3,
       .sentence =
           "experts routed by sigmoid scores with a correction bias, and a shared expert; the first layer is dense"},
      {.name = "glm4_moe",
       .file = "families/glm4_moe.cpp",
       .make = make_glm4_moe,
       .sentence =
           "GLM-4.5: experts routed by groups and by sigmoid scores with a correction bias, and a shared expert"},
      {.name = "qwen2_moe",
       .file = "families/qwen2_moe.cpp",
       .make = make_qwen2_moe,
       .sentence = "qwen2 with experts, and a shared expert with a gate"},
      {.name = "qwen3_moe", .file = "families/qwen3_moe.cpp", .make = make_qwen3_moe, .sentence = "qwen3 with experts"},
      {.name = "flint",
       .file = "families/flint.cpp",
       .make = make_flint,
       .sentence = "qwen3_moe with attention sinks, windows, and a shared expert; only the layers with windows have "
                   "rotary positions; experts routed by sigmoid scores"},
      {.name = "granitemoe",
       .file = "families/granitemoe.cpp",
       .make = make_granitemoe,
       .sentence = "granite with experts, all in one tensor"},
      {.name = "granitemoeshared",
       .file = "families/granitemoe.cpp",
       .make = make_granitemoeshared,
       .sentence = "granitemoe with a shared expert"},
      {.name = "granitemoe_swa",
       .file = "families/granite_swa.cpp",
       .make = make_granitemoe_swa,
       .sentence =
           "granitemoeshared with attention sinks, windows in three layers of four, and a rotary base for each layer"},
      {.name = "deepseek_v2",
       .file = "families/deepseek.cpp",
       .make = make_deepseek_v2,
       .sentence =
           "latent attention; the first layers are dense, the others have shared experts and experts routed by groups"},
      {.name = "deepseek_v3",
       .file = "families/deepseek.cpp",
       .make = make_deepseek_v3,
       .sentence =
           "deepseek_v2 with sigmoid scores and a correction bias; the multi-token prediction layer is ignored"},
      {.name = "glm4_moe_lite",
       .file = "families/deepseek.cpp",
       .make = make_glm4_moe_lite,
       .sentence = "GLM-4.7-Flash: deepseek_v3 with other sizes"},
      {.name = "axk1",
       .file = "families/axk1.cpp",
       .make = make_axk1,
       .sentence = "A.X K1: deepseek_v3 with a norm after the experts"},
      {.name = "sarvam_mla",
       .file = "families/sarvam.cpp",
       .make = make_sarvam_mla,
       .sentence = "Sarvam 105B: deepseek_v3 without low-rank queries"},
      {.name = "sarvam_moe",
       .file = "families/sarvam.cpp",
       .make = make_sarvam_moe,
       .sentence = "Sarvam 30B: glm4_moe with rotary positions on whole heads, and q, k, v in one matrix"},
      {.name = "laguna",
       .file = "families/laguna.cpp",
       .make = make_laguna,
       .sentence =
           "a number of heads for each layer, softplus gates on the output of attention, windows, rotary positions by "
           "kind of layer; experts routed by sigmoid scores with a correction bias, and a shared expert"},
      {.name = "step3p5",
       .file = "families/step3p5.cpp",
       .make = make_step3p5,
       .sentence =
           "Step 3.5 Flash: sizes and rotary positions by kind of layer, a gate on the output of each head, some "
           "layers with bounds after SwiGLU's activation; experts routed by sigmoid scores with a correction bias, "
           "and a shared expert"},
      {.name = "dots1",
       .file = "families/dots1.cpp",
       .make = make_dots1,
       .sentence =
           "qwen3 with experts routed by groups and by sigmoid scores with a correction bias, and shared experts"},
      {.name = "afmoe",
       .file = "families/afmoe.cpp",
       .make = make_afmoe,
       .sentence = "Trinity: norms before and after the sublayers, gates on the output of attention, windows in three "
                   "layers of four; only the layers with windows have rotary positions; experts routed by sigmoid "
                   "scores with a correction bias"},
      {.name = "flex_olmo", .file = "families/flex_olmo.cpp", .make = make_flex_olmo, .sentence = "olmo2 with experts"},
      {.name = "exaone_moe",
       .file = "families/exaone_moe.cpp",
       .make = make_exaone_moe,
       .sentence = "K-EXAONE: exaone4's attention in pre-norm layers, experts routed by groups and by sigmoid scores "
                   "with a correction bias, and a shared expert"},
      {.name = "kolibri1",
       .file = "families/kolibri1.cpp",
       .make = make_kolibri1,
       .sentence = "exaone4's attention with norms before and after the sublayers; experts routed by logits with a "
                   "correction bias, and a shared expert"},
      {.name = "solar_open",
       .file = "families/solar_open.cpp",
       .make = make_solar_open,
       .sentence = "experts routed by groups and by sigmoid scores with a correction bias, and a shared expert, in "
                   "every layer"},
      {.name = "mellum",
       .file = "families/mellum.cpp",
       .make = make_mellum,
       .sentence = "qwen3_moe with windows, and rotary positions by kind of layer"},
      {.name = "phimoe",
       .file = "families/phimoe.cpp",
       .make = make_phimoe,
       .sentence = "Phi-3.5-MoE: layer norms, two experts for each token, weighted by the sparse mixer"},
      {.name = "gpt_oss",
       .file = "families/gpt_oss.cpp",
       .make = make_gpt_oss,
       .sentence = "learned sink logits in attention, windows in every other layer, experts with a clamped gated unit, "
                   "all in one tensor"},
      {.name = "minimax_m2",
       .file = "families/minimax_m2.cpp",
       .make = make_minimax_m2,
       .sentence = "rotary positions on a part of each head, experts routed by sigmoid scores with a correction bias"},
      {.name = "ernie4_5_moe",
       .file = "families/ernie4_5_moe.cpp",
       .make = make_ernie4_5_moe,
       .sentence =
           "ernie4_5 with experts in some layers, routed by a softmax with a correction bias, and shared experts"},
  };
  return list;
}

}  // namespace tril::model
