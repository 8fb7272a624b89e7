#include "model/families/marian_nmt.h"

namespace tril::model {
namespace {

constexpr BartFamily nmt_of(bool pre_norm, bool ssru) {
  return {.name = "marian_nmt",
          .architecture = "",
          .pre_norm = pre_norm,
          .two_vocabularies = true,
          .positions = BartFamily::Positions::sinusoids_t2t,
          .layer_norm_eps = 1e-6f,
          .ssru = ssru};
}
constexpr BartFamily post_norm_nmt = nmt_of(false, false), pre_norm_nmt = nmt_of(true, false),
                     post_norm_ssru_nmt = nmt_of(false, true), pre_norm_ssru_nmt = nmt_of(true, true);

}  // namespace

std::unique_ptr<Model> make_marian_nmt(const MarianNmtKind& kind, const BartConfig& config) {
  using namespace nn;
  if (kind.ssru && kind.pre_norm)
    return std::make_unique<BartLike<PreNormLayer, PreNormSsruLayer>>(pre_norm_ssru_nmt, config);
  if (kind.ssru) return std::make_unique<BartLike<PostNormLayer, PostNormSsruLayer>>(post_norm_ssru_nmt, config);
  if (kind.pre_norm) return std::make_unique<BartLike<PreNormLayer>>(pre_norm_nmt, config);
  return std::make_unique<BartLike<PostNormLayer>>(post_norm_nmt, config);
}

std::unique_ptr<Model> make_marian_nmt(const JsonObject& config) {
  BartConfig otherwise;
  otherwise.max_position_embeddings = 1024;
  otherwise.activation_function = HiddenAct::silu;
  const MarianNmtKind kind{.pre_norm = config.get<bool>("normalize_before", false),
                           .ssru = config.get<std::string>("decoder_cell", "self-attention") == "ssru"};
  return make_marian_nmt(kind, read_bart_config(config, nmt_of(kind.pre_norm, kind.ssru), otherwise));
}

}  // namespace tril::model
