#include "model/spec/learned_position_decoder.h"

#include <nlohmann/json.hpp>

#include "model/spec/config_reader.h"

namespace tril::model {

using nn::Attention;

LearnedPositionDecoder::LearnedPositionDecoder(const LearnedPositionDecoderConfig& config) : config_(config) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  embedding_ = nn::Embedding(p, "word_embedding.weight", k.vocab_size, k.d_model, {});
  positions_ = nn::LearnedPositions(p, "position_embedding.weight",
                                    {.length = k.max_length, .d_model = k.d_model, .deviation = 1.0});
  const Attention::Options attention{.d_model = k.d_model,
                                     .num_heads = k.num_heads,
                                     .bias = false,
                                     .q = "queries",
                                     .k = "keys",
                                     .v = "values",
                                     .out = "fc_out"};
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    nn::PostNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_attention = Attention(p, name + ".self_attention", attention);
    layer.self_norm = nn::Norm(p, name + ".norm1", k.d_model, k.eps);
    layer.cross_attention = Attention(p, name + ".cross_attention", attention);
    layer.cross_norm = nn::Norm(p, name + ".norm2", k.d_model, k.eps);
    layer.feed_forward =
        nn::FeedForward(p, name + ".feed_forward",
                        {.d_model = k.d_model, .d_ff = k.forward_expansion * k.d_model, .first = "0", .second = "2"});
    layer.feed_forward_norm = nn::Norm(p, name + ".norm3", k.d_model, k.eps);
    layers_.push_back(std::move(layer));
  }
  output_ = nn::Linear(p, "fc_out", k.d_model, k.vocab_size);
  output_.weight()->hidden_matrix = false;
}

std::string LearnedPositionDecoder::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{{"model_type", "tril"},
                                {"architecture", family()},
                                {"vocab_size", k.vocab_size},
                                {"d_model", k.d_model},
                                {"num_heads", k.num_heads},
                                {"num_layers", k.num_layers},
                                {"forward_expansion", k.forward_expansion},
                                {"max_length", k.max_length},
                                {"eps", k.eps},
                                {"dropout", k.dropout}}
      .dump(2);
}

Tensor LearnedPositionDecoder::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  const Tensor h =
      ops::dropout(c, positions_.forward(c, embedding_.forward(c, input.ids), input.rows.positions()), config_.dropout);
  return run_layers(c, layers_, h, call, {.memory = input.memory, .checkpointing = gradient_checkpointing_});
}

std::unique_ptr<Model> make_learned_position_decoder(const JsonObject& j) {
  const std::int64_t expansion = j.size("forward_expansion", 4);
  check_size(j, "forward_expansion", expansion, MostSizes::d_ff / MostSizes::d_model);
  return std::make_unique<LearnedPositionDecoder>(
      LearnedPositionDecoderConfig{.vocab_size = size_within(j, "vocab_size", MostSizes::vocab_size),
                                   .d_model = size_within(j, "d_model", MostSizes::d_model),
                                   .num_heads = size_within(j, "num_heads", MostSizes::num_heads),
                                   .num_layers = layer_count(j, "num_layers"),
                                   .forward_expansion = expansion,
                                   .max_length = size_within(j, "max_length", MostSizes::max_length),
                                   .eps = static_cast<float>(positive_of(j, "eps", 1e-5)),
                                   .dropout = share_of(j, "dropout", 0)});
}

}  // namespace tril::model
