#include "model/families/marian_nmt.h"

namespace tril::model {
namespace {

constexpr BartFamily nmt_of(bool pre_norm) {
  return {.name = "marian_nmt",
          .architecture = "",
          .pre_norm = pre_norm,
          .two_vocabularies = true,
          .positions = BartFamily::Positions::sinusoids_t2t,
          .layer_norm_eps = 1e-6f};
}
constexpr BartFamily post_norm_nmt = nmt_of(false), pre_norm_nmt = nmt_of(true);

}  // namespace

std::unique_ptr<Model> make_marian_nmt(const JsonObject& config) {
  BartConfig otherwise;
  otherwise.max_position_embeddings = 1024;
  otherwise.activation_function = "silu";
  if (config.get<bool>("normalize_before", false))
    return std::make_unique<BartLike<nn::PreNormLayer>>(pre_norm_nmt,
                                                        read_bart_config(config, pre_norm_nmt, otherwise));
  return std::make_unique<BartLike<nn::PostNormLayer>>(post_norm_nmt,
                                                       read_bart_config(config, post_norm_nmt, otherwise));
}

}  // namespace tril::model
