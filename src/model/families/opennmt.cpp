#include "model/families/opennmt.h"

#include <array>

namespace tril::model {
namespace {

using EmbeddingNorm = BartFamily::EmbeddingNorm;

constexpr BartFamily opennmt_of(bool pre_norm, EmbeddingNorm norm, float eps) {
  return {.name = "opennmt",
          .architecture = "",
          .pre_norm = pre_norm,
          .embedding_norm = norm,
          .two_vocabularies = true,
          .positions = BartFamily::Positions::learned,
          .rows_before_positions = 0,
          .layer_norm_eps = eps,
          .states_eps = true};
}

constexpr std::array opennmt_variants{
    opennmt_of(false, EmbeddingNorm::none, 1e-5f),    opennmt_of(true, EmbeddingNorm::none, 1e-5f),
    opennmt_of(false, EmbeddingNorm::of_sums, 1e-5f), opennmt_of(true, EmbeddingNorm::of_sums, 1e-5f),
    opennmt_of(false, EmbeddingNorm::none, 1e-6f),    opennmt_of(true, EmbeddingNorm::none, 1e-6f),
    opennmt_of(false, EmbeddingNorm::of_sums, 1e-6f), opennmt_of(true, EmbeddingNorm::of_sums, 1e-6f)};

const BartFamily& variant_of(const JsonObject& config) {
  const bool pre_norm = config.get<bool>("normalize_before", false);
  const bool norm = config.get<bool>("normalize_embedding", false);
  const auto eps = static_cast<float>(config.get<double>("layer_norm_eps", 1e-5));
  for (const BartFamily& f : opennmt_variants)
    if (f.pre_norm == pre_norm && (f.embedding_norm != EmbeddingNorm::none) == norm && f.layer_norm_eps == eps)
      return f;
  config.fail_at("layer_norm_eps", fmt::format("{} is not supported", eps), "supported: 1e-5, 1e-6");
}

}  // namespace

std::unique_ptr<Model> make_opennmt(const JsonObject& config) {
  const BartFamily& family = variant_of(config);
  const BartConfig k = read_bart_config(config, family, BartConfig{});
  if (family.pre_norm) return std::make_unique<BartLike<nn::PreNormLayer>>(family, k);
  return std::make_unique<BartLike<nn::PostNormLayer>>(family, k);
}

}  // namespace tril::model
