#include "model/families/linear_decoder.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/spec/config_reader.h"
#include "model/spec/decoder_keys.h"

namespace tril::model {

using nn::Attention;

LinearDecoder::LinearDecoder(const LinearDecoderConfig& config)
    : config_(config), positions_(config.d_model, nn::SinusoidalPositions::Layout::concatenated) {
  const auto& k = config_;
  check(k.d_model % 2 == 0, "linear_decoder: d_model", "{} is odd, sinusoidal positions need pairs", k.d_model);
  nn::Parameters& p = parameters_;
  // Embeddings have standard deviation 1, like the sinusoids; so have the logits after the final norm.
  const double root = std::sqrt(static_cast<double>(k.d_model));
  embedding_ = nn::Embedding(p, "embedding.weight", k.vocab_size, k.d_model,
                             {.scale = static_cast<float>(root), .deviation = 1 / root});
  embedding_.table()->in_products = true;
  for (std::int64_t i = 0; i < k.num_layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    nn::PreNormLayer layer;
    layer.name = name;
    layer.dropout = k.dropout;
    layer.self_norm = nn::Norm(p, name + ".attn_norm", k.d_model, k.eps);
    layer.self_attention = Attention(
        p, name + ".attn",
        {.d_model = k.d_model, .num_heads = k.num_heads, .projections = Attention::Projections::qkv, .linear = true});
    layer.feed_forward_norm = nn::Norm(p, name + ".ffn_norm", k.d_model, k.eps);
    layer.feed_forward = nn::FeedForward(
        p, name + ".ffn", {.d_model = k.d_model, .d_ff = k.d_ff, .activation = function_of(k.activation)});
    layers_.push_back(std::move(layer));
  }
  final_norm_ = nn::Norm(p, "final_norm", k.d_model, k.eps);
}

std::string LinearDecoder::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{{"model_type", "tril"},
                                {"architecture", family()},
                                {"vocab_size", k.vocab_size},
                                {"d_model", k.d_model},
                                {"num_heads", k.num_heads},
                                {"d_ff", k.d_ff},
                                {"num_layers", k.num_layers},
                                {"activation", name_of(k.activation)},
                                {"dropout", k.dropout},
                                {"embedding_dropout", k.embedding_dropout},
                                {"eps", k.eps},
                                {"bos_token_id", id_json(k.bos_token_id)},
                                {"eos_token_id", id_json(k.eos_token_id)},
                                {"pad_token_id", id_json(k.pad_token_id)}}
      .dump(2);
}

SpecialIds LinearDecoder::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

Tensor LinearDecoder::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  const Tensor embedded = positions_.forward(c, embedding_.forward(c, input.ids), input.rows.positions());
  const Tensor h = ops::dropout(c, embedded, config_.embedding_dropout);
  return final_norm_.forward(c, run_layers(c, layers_, h, call, {.checkpointing = gradient_checkpointing_}));
}

std::unique_ptr<Model> make_linear_decoder(const JsonObject& j) {
  LinearDecoderConfig k;
  k.vocab_size = size_within(j, "vocab_size", MostSizes::vocab_size);
  k.d_model = size_within(j, "d_model", MostSizes::d_model);
  k.num_heads = size_within(j, "num_heads", MostSizes::num_heads);
  k.d_ff = size_within(j, "d_ff", MostSizes::d_ff);
  k.num_layers = layer_count(j, "num_layers");
  k.activation = hidden_act_of(j.get<std::string>("activation", "gelu_new"), j.place_of("activation"));
  k.dropout = share_of(j, "dropout", 0);
  k.embedding_dropout = share_of(j, "embedding_dropout", 0);
  k.eps = static_cast<float>(positive_of(j, "eps", 1e-5));
  k.bos_token_id = id_within(j, "bos_token_id", -1, k.vocab_size);
  k.eos_token_id = id_within(j, "eos_token_id", -1, k.vocab_size);
  k.pad_token_id = id_within(j, "pad_token_id", -1, k.vocab_size);
  return std::make_unique<LinearDecoder>(k);
}

}  // namespace tril::model
