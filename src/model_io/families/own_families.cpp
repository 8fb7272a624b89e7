// tril's own families: config.json has the model_type "tril".
#include "model/families/linear_decoder.h"
#include "model/lessons/full_transformer.h"
#include "model/lessons/padded_decoder.h"
#include "model/spec/learned_position_decoder.h"
#include "model/spec/tied_decoder.h"
#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> own_families() {
  using enum Family::Kind;
  static constexpr Family list[]{
      {.name = "full_transformer",
       .kind = encoder_decoder,
       .file = "lessons/full_transformer.cpp",
       .make = make_full_transformer,
       .own = true,
       .sentence = "the Transformer of the paper as it is often taught: post-norm, masks added as −1e9"},
      {.name = "padded_decoder",
       .file = "lessons/padded_decoder.cpp",
       .make = make_padded_decoder,
       .own = true,
       .sentence = "a decoder over padded rectangles, which takes the memory as an input"},
      {.name = "learned_position_decoder",
       .file = "spec/learned_position_decoder.cpp",
       .make = make_learned_position_decoder,
       .own = true,
       .sentence = "post-norm, learned positions; takes its masks as an input"},
      {.name = "tied_decoder",
       .file = "spec/tied_decoder.cpp",
       .make = make_tied_decoder,
       .own = true,
       .sentence = "pre-norm, learned positions, one fused q/k/v projection, a tied output"},
      {.name = "linear_decoder",
       .file = "families/linear_decoder.cpp",
       .make = make_linear_decoder,
       .own = true,
       .sentence = "linear attention: its memory does not grow with the text"},
  };
  return list;
}

}  // namespace tril::model
