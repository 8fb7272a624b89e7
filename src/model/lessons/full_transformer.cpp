#include "model/lessons/full_transformer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/spec/config_reader.h"
#include "model/spec/masks.h"

namespace tril::model {

using nn::Attention;

FullTransformer::FullTransformer(const FullTransformerConfig& config)
    : config_(config), positions_(config.d_model, nn::SinusoidalPositions::Layout::concatenated) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const double deviation = 1.0 / std::sqrt(static_cast<double>(k.d_model));
  const nn::Embedding::Options embedding{.scale = std::sqrt(static_cast<float>(k.d_model)), .deviation = deviation};
  const Attention::Options attention{
      .d_model = k.d_model, .num_heads = k.num_heads, .q = "wq", .k = "wk", .v = "wv", .out = "dense"};
  const nn::FeedForward::Options feed_forward{.d_model = k.d_model, .d_ff = k.d_ff, .first = "0", .second = "1"};

  source_embedding_ = nn::Embedding(p, "encoder.embedding.weight", k.vocab_size, k.d_model, embedding);
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "encoder.layers." + std::to_string(i);
    nn::PostNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_attention = Attention(p, name + ".mha", attention);
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.feed_forward = nn::FeedForward(p, name + ".ffn", feed_forward);
    layer.feed_forward_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    encoder_layers_.push_back(std::move(layer));
  }

  target_embedding_ = nn::Embedding(p, "decoder.embedding.weight", k.vocab_size, k.d_model, embedding);
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "decoder.layers." + std::to_string(i);
    nn::PostNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_attention = Attention(p, name + ".mha1", attention);
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.cross_attention = Attention(p, name + ".mha2", attention);
    layer.cross_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    layer.feed_forward = nn::FeedForward(p, name + ".ffn", feed_forward);
    layer.feed_forward_norm = k.share_norm2 ? layer.cross_norm : nn::Norm(p, name + ".norm3", k.d_model, k.eps);
    decoder_layers_.push_back(std::move(layer));
  }
  output_ = nn::Linear(p, "final_layer", k.d_model, k.vocab_size);
  output_.weight()->hidden_matrix = false;
}

std::string FullTransformer::config_json() const {
  const auto& k = config_;
  nlohmann::ordered_json j{{"model_type", "tril"},       {"architecture", family()},
                           {"vocab_size", k.vocab_size}, {"d_model", k.d_model},
                           {"num_heads", k.num_heads},   {"d_ff", k.d_ff},
                           {"num_layers", k.num_layers}, {"share_norm2", k.share_norm2},
                           {"pad_idx", k.pad_idx},       {"eps", k.eps},
                           {"dropout", k.dropout}};
  if (k.eos_token_id >= 0) j["eos_token_id"] = k.eos_token_id;
  if (k.decoder_start_token_id >= 0) j["decoder_start_token_id"] = k.decoder_start_token_id;
  return j.dump(2);
}

Tensor FullTransformer::embed(Context& c, const nn::Embedding& e, std::span<const std::int32_t> ids,
                              const Rows& rows) const {
  return ops::dropout(c, positions_.forward(c, e.forward(c, ids), rows.positions()), config_.dropout);
}

Memory FullTransformer::encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                               const ops::Mask& mask) const {
  Memory memory;
  memory.rows = rows;
  memory.states = run_layers(c, encoder_layers_, embed(c, source_embedding_, ids, rows), encoder_call(c, rows, mask),
                             {.checkpointing = gradient_checkpointing_});
  project_memory(c, decoder_layers_, memory);
  return memory;
}

Tensor FullTransformer::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  return run_layers(c, decoder_layers_, embed(c, target_embedding_, input.ids, input.rows), call,
                    {.memory = input.memory, .checkpointing = gradient_checkpointing_});
}

Tensor FullTransformer::forward(Context& c, std::span<const std::int32_t> source, std::span<const std::int32_t> target,
                                std::int64_t B) const {
  check(B > 0 && std::ssize(source) % B == 0 && std::ssize(target) % B == 0, "full_transformer",
        "{} source and {} target ids cannot be divided into {} rows", source.size(), target.size(), B);
  ops::Mask source_mask = ops::Mask::explicit01(padding_mask(c, source, B, config_.pad_idx));
  ops::Mask target_mask = ops::Mask::explicit01(causal_padding_mask(c, target, B, config_.pad_idx));
  source_mask.masked_is_minus_1e9 = target_mask.masked_is_minus_1e9 = true;
  const Rows source_rows = Rows::rectangle(B, std::ssize(source) / B);
  const Rows target_rows = Rows::rectangle(B, std::ssize(target) / B);
  const Memory memory = encode(c, source, source_rows, source_mask);
  return logits(c, *this,
                decode(c, {.ids = target,
                           .rows = target_rows,
                           .memory = &memory,
                           .self_mask = target_mask,
                           .memory_mask = source_mask}));
}

std::unique_ptr<Model> make_full_transformer(const JsonObject& j) {
  return std::make_unique<FullTransformer>(
      FullTransformerConfig{.vocab_size = size_within(j, "vocab_size", MostSizes::vocab_size),
                            .d_model = size_within(j, "d_model", MostSizes::d_model),
                            .num_heads = size_within(j, "num_heads", MostSizes::num_heads),
                            .d_ff = size_within(j, "d_ff", MostSizes::d_ff),
                            .num_layers = layer_count(j, "num_layers"),
                            .share_norm2 = j.get<bool>("share_norm2", false),
                            .pad_idx = id_within(j, "pad_idx", 0, j.size("vocab_size")),
                            .eos_token_id = id_within(j, "eos_token_id", -1, j.size("vocab_size")),
                            .decoder_start_token_id = id_within(j, "decoder_start_token_id", -1, j.size("vocab_size")),
                            .eps = static_cast<float>(positive_of(j, "eps", 1e-6)),
                            .dropout = share_of(j, "dropout", 0)});
}

}  // namespace tril::model
