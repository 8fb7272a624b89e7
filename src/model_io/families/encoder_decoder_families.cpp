// Encoder-decoder families.
#include "model/families/bart.h"
#include "model/families/decoder_families.h"
#include "model/families/marian.h"
#include "model/families/marian_nmt.h"
#include "model/families/opennmt.h"
#include "model/families/t5.h"
#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> encoder_decoder_families() {
  using enum Family::Kind;
  static constexpr Family list[]{
      {.name = "marian",
       .kind = encoder_decoder,
       .file = "families/marian.cpp",
       .make = make_marian,
       .sentence = "OPUS-MT, and the default of `tril train`: post-norm, sinusoidal positions, source and target "
                   "vocabularies that may differ"},
      {.name = "marian_nmt",
       .kind = encoder_decoder,
       .file = "families/marian_nmt.cpp",
       .make = make_marian_nmt,
       .own = true,
       .sentence = "the Marian toolkit's own files: Tensor2Tensor's sinusoids, norm epsilon 1e-6, post-norm or "
                   "pre-norm, self-attention or an SSRU in the decoder"},
      {.name = "opennmt",
       .kind = encoder_decoder,
       .file = "families/opennmt.cpp",
       .make = make_opennmt,
       .own = true,
       .sentence = "CTranslate2's translation models: position table from the file, post-norm or pre-norm, with or "
                   "without a layer norm after the embeddings"},
      {.name = "bart",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "post-norm, learned positions, layer norm after the embeddings"},
      {.name = "mbart",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "pre-norm with a final norm, learned positions, layer norm after the embeddings; mBART-50 has this "
                   "type too"},
      {.name = "m2m_100",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "pre-norm with a final norm, Tensor2Tensor's sinusoids starting at the padding id + 1; NLLB has "
                   "this type too"},
      {.name = "pegasus",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "pre-norm with a final norm, sinusoidal positions"},
      {.name = "plbart",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "BART for programs: scaled embeddings; the target begins and ends with its language token"},
      {.name = "mvp",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "BART trained on many tasks; `use_prompt` is refused"},
      {.name = "blenderbot",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "pre-norm with a final norm, learned positions from row 0"},
      {.name = "blenderbot-small",
       .kind = encoder_decoder,
       .file = "families/bart.cpp",
       .make = make_bart,
       .sentence = "post-norm, learned positions from row 0; in the decoder, the layer norm is applied before "
                   "positions are added"},
      {.name = "t5gemma",
       .kind = encoder_decoder,
       .file = "families/t5gemma.cpp",
       .make = make_t5gemma,
       .sentence = "an encoder and a decoder of gemma2 layers, each with its own sizes; norms before and after "
                   "cross-attention"},
      {.name = "t5",
       .kind = encoder_decoder,
       .file = "families/t5.cpp",
       .make_of_files = make_t5,
       .sentence = "relative position bias, RMSNorm, unscaled attention scores; T5 v1.1 has a gated feed-forward and "
                   "an untied output"},
      {.name = "mt5",
       .kind = encoder_decoder,
       .file = "families/t5.cpp",
       .make_of_files = make_t5,
       .sentence = "multilingual T5 v1.1"},
      {.name = "umt5",
       .kind = encoder_decoder,
       .file = "families/t5.cpp",
       .make_of_files = make_t5,
       .sentence = "mT5 with a separate relative position bias in each layer"},
      {.name = "switch_transformers",
       .kind = encoder_decoder,
       .file = "families/t5.cpp",
       .make_of_files = make_t5,
       .sentence = "T5 with experts in place of some feed-forwards; each token goes to one expert, if that expert has "
                   "capacity left"},
  };
  return list;
}

}  // namespace tril::model
