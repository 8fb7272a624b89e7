#include <cmath>

#include "base/error.h"
#include "model_io/ctranslate2/ctranslate2_model.h"

namespace tril::model {
namespace {

class T5Spec {
 public:
  T5Spec(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) : r_(r), own_(own), ids_(ids) {
    width_ = r_.shape("encoder/embeddings_0/weight", 2)[1];
    words_ = r_.shape("decoder/embeddings/weight", 2)[0];
    heads_ = r_.integer("encoder/num_heads", 8);
    const std::int64_t inner = r_.shape("encoder/layer_0/self_attention/linear_1/weight", 2)[1];
    if (heads_ < 1 || inner % heads_ != 0)
      r_.fail_at("encoder/num_heads", fmt::format("{} heads do not divide {} values", heads_, inner));
    inner_ = inner;
  }

  Ctranslate2Model read() {
    const bool gated = r_.has("encoder/layer_0/ffn/linear_0_noact/weight");
    const bool own_bias =
        r_.count_scopes("encoder/layer_") > 1 && !r_.same(bias_of("encoder", 0), bias_of("encoder", 1));
    check_attributes();
    const std::string activation = activation_at(r_, "encoder/activation");
    if (activation_at(r_, "decoder/activation") != activation)
      r_.fail_at("decoder/activation", "differs from the encoder's", "both sides must have the same");
    const bool scaled = scales_outputs();
    nlohmann::json config{{"model_type", own_bias ? "umt5" : "t5"},
                          {"vocab_size", words_},
                          {"d_model", width_},
                          {"d_kv", inner_ / heads_},
                          {"d_ff", r_.shape("encoder/layer_0/ffn/linear_0/weight", 2)[0]},
                          {"num_layers", r_.count_scopes("encoder/layer_")},
                          {"num_decoder_layers", r_.count_scopes("decoder/layer_")},
                          {"num_heads", heads_},
                          {"relative_attention_num_buckets", r_.shape(bias_of("encoder", 0), 2)[0]},
                          {"relative_attention_max_distance", r_.integer(distance_of("encoder", 0), 128)},
                          {"layer_norm_epsilon", norm_eps_of(own_, 1e-6)},
                          {"feed_forward_proj", (gated ? "gated-" : "") + activation},
                          {"dense_act_fn", activation},
                          {"is_gated_act", gated},
                          {"scale_decoder_outputs", scaled},
                          {"pad_token_id", ids_.pad < 0 ? 0 : ids_.pad},
                          {"decoder_start_token_id", ids_.decoder_start},
                          {"eos_token_id", ids_.eos},
                          {"is_encoder_decoder", true}};
    config["tie_word_embeddings"] = read_embeddings();
    for (const char* side : {"encoder", "decoder"}) read_side(side, gated, own_bias);
    return {std::move(config), r_.finish()};
  }

 private:
  static std::string bias_of(const char* side, std::int64_t i) {
    return fmt::format("{}/layer_{}/self_attention/relative_attention_bias", side, i);
  }
  static std::string distance_of(const char* side, std::int64_t i) {
    return fmt::format("{}/layer_{}/self_attention/relative_attention_max_distance", side, i);
  }

  void check_attributes() {
    r_.only("encoder/multi_query_attention", 0);
    r_.only("decoder/start_from_zero_embedding", 0);
    for (const char* side : {"encoder/", "decoder/"}) {
      const std::string prefix = side;
      r_.only(prefix + "pre_norm", 1);
      r_.only(prefix + "num_heads", static_cast<double>(heads_));
      for (const char* off : {"alibi", "sliding_window", "scale_embeddings"}) r_.only(prefix + off, 0);
      for (const char* unused :
           {"embeddings_merge", "alibi_use_positive_positions", "scale_alibi", "alignment_layer", "alignment_heads"})
        r_.number(prefix + unused);
    }
    if (!r_.has("encoder/scale_embeddings") || !r_.has("decoder/scale_embeddings"))
      r_.fail_at("encoder/scale_embeddings", "is missing, which means scaled embeddings; T5 does not scale them");
  }

  bool scales_outputs() {
    const std::optional<double> scale = r_.number("decoder/scale_outputs");
    const double expected = 1 / std::sqrt(static_cast<double>(width_));
    if (scale && std::abs(*scale - expected) > 1e-5 * expected)
      r_.fail_at("decoder/scale_outputs", fmt::format("{} is not supported", *scale),
                 fmt::format("only {} is", expected));
    return scale.has_value();
  }

  // True if the output is tied to the embedding.
  bool read_embeddings() {
    if (!r_.same("encoder/embeddings_0/weight", "decoder/embeddings/weight"))
      r_.fail_at("encoder/embeddings_0/weight", "differs from the decoder's; T5 has one table for both");
    r_.take("decoder/embeddings/weight", "shared.weight");
    const bool tied = r_.same("decoder/projection/weight", "decoder/embeddings/weight");
    if (!tied) r_.take("decoder/projection/weight", "lm_head.weight");
    return tied;
  }

  void read_side(const char* side, bool gated, bool own_bias) {
    const std::int64_t layers = r_.count_scopes(fmt::format("{}/layer_", side));
    const std::int64_t last = side == std::string_view("decoder") ? 2 : 1;
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string name = fmt::format("{}/layer_{}", side, i), here = fmt::format("{}.block.{}.layer", side, i);
      read_attention(name + "/self_attention", here + ".0", "SelfAttention");
      if (last == 2) read_attention(name + "/attention", here + ".1", "EncDecAttention");
      if (own_bias || i == 0)
        r_.take(bias_of(side, i), here + ".0.SelfAttention.relative_attention_bias.weight");
      else if (!r_.same(bias_of(side, i), bias_of(side, 0)))
        r_.fail_at(bias_of(side, i), "differs from the first layer's");
      r_.only(distance_of(side, i), static_cast<double>(r_.integer(distance_of("encoder", 0), 128)));
      const std::string ffn = fmt::format("{}.{}", here, last);
      r_.take(name + "/ffn/layer_norm/gamma", ffn + ".layer_norm.weight");
      r_.take(name + "/ffn/linear_0/weight",
              ffn + (gated ? ".DenseReluDense.wi_0.weight" : ".DenseReluDense.wi.weight"));
      if (gated) r_.take(name + "/ffn/linear_0_noact/weight", ffn + ".DenseReluDense.wi_1.weight");
      r_.take(name + "/ffn/linear_1/weight", ffn + ".DenseReluDense.wo.weight");
    }
    r_.take(fmt::format("{}/layer_norm/gamma", side), fmt::format("{}.final_layer_norm.weight", side));
  }

  void read_attention(const std::string& name, const std::string& here, const std::string& kind) {
    const std::string module = here + "." + kind;
    const std::int64_t n = inner_;
    if (kind == "SelfAttention") {
      for (std::int64_t i = 0; i < 3; ++i)
        r_.take(name + "/linear_0/weight", fmt::format("{}.{}.weight", module, "qkv"[i]), {i * n, n});
      r_.take(name + "/linear_1/weight", module + ".o.weight");
    } else {
      r_.take(name + "/linear_0/weight", module + ".q.weight");
      for (std::int64_t i = 0; i < 2; ++i)
        r_.take(name + "/linear_1/weight", fmt::format("{}.{}.weight", module, "kv"[i]), {i * n, n});
      r_.take(name + "/linear_2/weight", module + ".o.weight");
    }
    r_.take(name + "/layer_norm/gamma", here + ".layer_norm.weight");
    if (r_.number(name + "/queries_scale") != 1)
      r_.fail_at(name + "/queries_scale", "is not 1; T5 does not scale scores");
  }

  Ctranslate2Reader& r_;
  const JsonObject& own_;
  const Ctranslate2Ids& ids_;
  std::int64_t width_ = 0, words_ = 0, heads_ = 0, inner_ = 0;
};

}  // namespace

Ctranslate2Model read_ctranslate2_t5(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) {
  return T5Spec(r, own, ids).read();
}

}  // namespace tril::model
