#include "model/lessons/padded_decoder.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/spec/config_reader.h"
#include "model/spec/masks.h"

namespace tril::model {

using nn::Attention;

PaddedDecoder::PaddedDecoder(const PaddedDecoderConfig& config)
    : config_(config), positions_(config.d_model, nn::SinusoidalPositions::Layout::interleaved) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  embedding_ = nn::Embedding(p, "embedding.weight", k.vocab_size, k.d_model,
                             {.scale = std::sqrt(static_cast<float>(k.d_model)),
                              .padding_id = k.pad_idx,
                              .deviation = 1.0 / std::sqrt(static_cast<double>(k.d_model))});
  const Attention::Options attention{
      .d_model = k.d_model, .num_heads = k.num_heads, .q = "W_q", .k = "W_k", .v = "W_v", .out = "W_o"};
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    nn::PostNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_attention = Attention(p, name + ".self_attn", attention);
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.cross_attention = Attention(p, name + ".cross_attn", attention);
    layer.cross_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    layer.feed_forward = nn::FeedForward(
        p, name + ".ffn", {.d_model = k.d_model, .d_ff = k.d_ff, .first = "linear1", .second = "linear2"});
    layer.feed_forward_norm = nn::Norm(p, name + ".norm3", k.d_model, k.eps);
    layers_.push_back(std::move(layer));
  }
  output_ = nn::Linear(p, "output_projection", k.d_model, k.vocab_size);
  output_.weight()->hidden_matrix = false;
}

std::string PaddedDecoder::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{{"model_type", "tril"},
                                {"architecture", family()},
                                {"vocab_size", k.vocab_size},
                                {"d_model", k.d_model},
                                {"num_heads", k.num_heads},
                                {"d_ff", k.d_ff},
                                {"num_layers", k.num_layers},
                                {"pad_idx", k.pad_idx},
                                {"mask_target_padding", k.mask_target_padding},
                                {"eps", k.eps},
                                {"dropout", k.dropout}}
      .dump(2);
}

Tensor PaddedDecoder::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  const Tensor h =
      ops::dropout(c, positions_.forward(c, embedding_.forward(c, input.ids), input.rows.positions()), config_.dropout);
  return run_layers(c, layers_, h, call, {.memory = input.memory, .checkpointing = gradient_checkpointing_});
}

Tensor PaddedDecoder::forward(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const Memory& memory,
                              const Tensor& memory_allow) const {
  DecoderInput input{.ids = ids, .rows = rows, .memory = &memory};
  if (config_.mask_target_padding)
    input.self_mask = ops::Mask::explicit01(causal_padding_mask(c, ids, rows.count(), config_.pad_idx));
  if (memory_allow) input.memory_mask = ops::Mask::explicit01(memory_allow);
  return logits(c, *this, decode(c, input));
}

std::unique_ptr<Model> make_padded_decoder(const JsonObject& j) {
  return std::make_unique<PaddedDecoder>(
      PaddedDecoderConfig{.vocab_size = size_within(j, "vocab_size", MostSizes::vocab_size),
                          .d_model = size_within(j, "d_model", MostSizes::d_model),
                          .num_heads = size_within(j, "num_heads", MostSizes::num_heads),
                          .d_ff = size_within(j, "d_ff", MostSizes::d_ff),
                          .num_layers = layer_count(j, "num_layers"),
                          .pad_idx = id_within(j, "pad_idx", 0, j.size("vocab_size")),
                          .mask_target_padding = j.get<bool>("mask_target_padding", true),
                          .eps = static_cast<float>(positive_of(j, "eps", 1e-5)),
                          .dropout = share_of(j, "dropout", 0)});
}

}  // namespace tril::model
