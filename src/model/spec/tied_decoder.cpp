#include "model/spec/tied_decoder.h"

#include <nlohmann/json.hpp>

#include "model/spec/config_reader.h"

namespace tril::model {

using nn::Attention;

TiedDecoder::TiedDecoder(const TiedDecoderConfig& config) : config_(config) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  embedding_ = nn::Embedding(p, "embedding.weight", k.vocab_size, k.d_model, {.deviation = 0.02});
  embedding_.table()->in_products = true;
  positions_ =
      nn::LearnedPositions(p, "position.weight", {.length = k.max_length, .d_model = k.d_model, .deviation = 0.02});
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    nn::PreNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.self_attention = Attention(p, name + ".attn",
                                     {.d_model = k.d_model,
                                      .num_heads = k.num_heads,
                                      .projections = Attention::Projections::qkv,
                                      .dropout = k.dropout,
                                      .qkv = "qkv",
                                      .out = "out"});
    layer.feed_forward_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    layer.feed_forward = nn::FeedForward(
        p, name + ".ff",
        {.d_model = k.d_model, .d_ff = k.d_ff, .activation = ops::Activation::gelu, .first = "0", .second = "2"});
    layers_.push_back(std::move(layer));
  }
  final_norm_ = nn::Norm(p, "final_norm", k.d_model, k.eps);
}

std::string TiedDecoder::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{
      {"model_type", "tril"},       {"architecture", family()},   {"vocab_size", k.vocab_size},
      {"d_model", k.d_model},       {"num_heads", k.num_heads},   {"d_ff", k.d_ff},
      {"num_layers", k.num_layers}, {"max_length", k.max_length}, {"eps", k.eps},
      {"dropout", k.dropout},       {"causal", k.causal}}
      .dump(2);
}

Tensor TiedDecoder::decode(Context& c, const DecoderInput& given) const {
  DecoderInput input = given;
  if (!config_.causal) input.self_mask = ops::Mask::full();
  const auto call = decoder_call(c, input);
  const Tensor h =
      ops::dropout(c, positions_.forward(c, embedding_.forward(c, input.ids), input.rows.positions()), config_.dropout);
  return final_norm_.forward(c, run_layers(c, layers_, h, call, {.checkpointing = gradient_checkpointing_}));
}

std::unique_ptr<Model> make_tied_decoder(const JsonObject& j) {
  return std::make_unique<TiedDecoder>(
      TiedDecoderConfig{.vocab_size = size_within(j, "vocab_size", MostSizes::vocab_size),
                        .d_model = size_within(j, "d_model", MostSizes::d_model),
                        .num_heads = size_within(j, "num_heads", MostSizes::num_heads),
                        .d_ff = size_within(j, "d_ff", MostSizes::d_ff),
                        .num_layers = layer_count(j, "num_layers"),
                        .max_length = size_within(j, "max_length", MostSizes::max_length),
                        .eps = static_cast<float>(positive_of(j, "eps", 1e-5)),
                        .dropout = share_of(j, "dropout", 0),
                        .causal = j.get<bool>("causal", true)});
}

}  // namespace tril::model
