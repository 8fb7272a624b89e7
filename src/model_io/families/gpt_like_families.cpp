// Decoders of the years before Llama: layer norms, biases, learned positions or ALiBi.
#include "model/families/decoder_families.h"
#include "model/families/gpt2.h"
#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> gpt_like_families() {
  static constexpr Family list[]{
      {.name = "gpt2",
       .file = "families/gpt2.cpp",
       .make = make_gpt2,
       .sentence = "pre-norm, learned positions, fused q, k, v matrix, gelu"},
      {.name = "opt",
       .file = "families/opt.cpp",
       .make = make_opt,
       .sentence = "like GPT-3: learned positions with an offset of two, relu; the 350M is post-norm and has narrower "
                   "embeddings"},
      {.name = "gpt_neox",
       .file = "families/gpt_neox.cpp",
       .make = make_gpt_neox,
       .sentence = "parallel attention and feed-forward, rotary positions on a quarter of each head, q, k, v "
                   "interleaved by head"},
      {.name = "phi",
       .file = "families/phi.cpp",
       .make = make_phi,
       .sentence = "parallel attention and feed-forward after one norm, rotary positions on half of each head, an "
                   "output with biases"},
      {.name = "gptj",
       .file = "families/gptj.cpp",
       .make = make_gptj,
       .sentence = "parallel sublayers after one norm, interleaved rotary positions on a part of each head, an output "
                   "with biases"},
      {.name = "codegen",
       .file = "families/gptj.cpp",
       .make = make_codegen,
       .sentence = "gptj with q, k, v in one matrix of four blocks"},
      {.name = "gpt_neo",
       .file = "families/gpt_neo.cpp",
       .make = make_gpt_neo,
       .sentence = "gpt2 with windows in some layers, unscaled scores, and no biases on q, k, v"},
      {.name = "gpt_bigcode",
       .file = "families/gpt_bigcode.cpp",
       .make = make_gpt_bigcode,
       .sentence = "gpt2 with multi-query attention"},
      {.name = "bloom",
       .file = "families/bloom.cpp",
       .make = make_bloom,
       .sentence = "ALiBi, a norm after the embedding, q, k, v interleaved by head"},
      {.name = "mpt", .file = "families/mpt.cpp", .make = make_mpt, .sentence = "ALiBi, no biases anywhere"},
      {.name = "falcon",
       .file = "families/falcon.cpp",
       .make = make_falcon,
       .sentence = "rotary positions, parallel sublayers: one norm and one key head (7B), or two norms and groups of "
                   "heads (40B); also the 11B, and sequential sublayers"},
      {.name = "xglm",
       .file = "families/xglm.cpp",
       .make = make_xglm,
       .sentence = "scaled embeddings plus sinusoids that begin at position two, gelu"},
      {.name = "biogpt",
       .file = "families/xglm.cpp",
       .make = make_biogpt,
       .sentence = "like xglm, with learned positions"},
  };
  return list;
}

}  // namespace tril::model
