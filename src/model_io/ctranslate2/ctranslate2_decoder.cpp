#include <cmath>

#include "base/error.h"
#include "model_io/ctranslate2/ctranslate2_model.h"

namespace tril::model {
namespace {

constexpr std::int64_t unbounded_positions = 1 << 17;  // CTranslate2 has no limit for rotary positions
constexpr std::int64_t rows_before_positions = 2;      // unused first rows of OPT's table

class DecoderSpecOf {
 public:
  DecoderSpecOf(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) : r_(r), own_(own), ids_(ids) {
    words_ = r_.shape("decoder/embeddings/weight", 2)[0];
    width_ = r_.shape("decoder/layer_0/self_attention/linear_1/weight", 2)[0];
    heads_ = r_.integer(r_.has("decoder/num_heads") ? "decoder/num_heads" : "num_heads", 8);
    if (heads_ < 1 || (!r_.has(layer_0("head_dim")) && width_ % heads_ != 0))
      r_.fail_at("decoder/num_heads", fmt::format("{} heads do not divide the width {}", heads_, width_));
    layers_ = r_.count_scopes("decoder/layer_");
    gated_ = r_.has("decoder/layer_0/ffn/linear_0_noact/weight");
    biased_ = r_.has(layer_0("linear_0/bias"));
    refuse_other_kinds();
  }

  Ctranslate2Model read() {
    const bool rms = !r_.has("decoder/layer_0/ffn/layer_norm/beta");
    if (r_.has(layer_0("rotary_dim")) && rms && gated_) return read_llama();
    if (r_.has("decoder/position_encodings/encodings") && !rms && !gated_) return read_learned_positions();
    r_.fail_at(
        "decoder/layer_0", "has a combination of parts that is not supported",
        "supported: decoders with rotary positions, RMS norms and gated feed-forwards, like Llama, and with tables of "
        "positions and LayerNorm, as GPT-2");
  }

 private:
  static std::string layer_0(const char* name) { return fmt::format("decoder/layer_0/self_attention/{}", name); }

  void refuse_other_kinds() {
    for (const char* name : {"shared_layer_norm/gamma", "input_layer_norm/gamma", "pre_feedforward_layer_norm/gamma",
                             "attention/linear_0/weight", "self_attention/relative_position_keys",
                             "self_attention/relative_attention_bias", "self_attention/v_norm/gamma"})
      if (const std::string full = fmt::format("decoder/layer_0/{}", name); r_.has(full))
        r_.fail_at(full, "belongs to a kind of decoder that is not supported",
                   "supported: Llama, Mistral, Qwen2, Qwen3, Gemma, GPT-2 and OPT");
    for (const char* off : {"alibi", "start_from_zero_embedding", "final_logit_softcapping", "multi_query_attention"})
      r_.only(fmt::format("decoder/{}", off), 0);
    for (const char* unused : {"alibi_use_positive_positions", "scale_alibi", "alignment_layer", "alignment_heads"})
      r_.number(fmt::format("decoder/{}", unused));
    if (r_.has("decoder/scale_outputs"))
      r_.fail_at("decoder/scale_outputs", "is not supported in a decoder-only model");
    if (own_.has("quantization_type") && own_.get<std::int64_t>("quantization_type") != 0)
      own_.fail_at("quantization_type",
                   fmt::format("{} is AWQ, which is not supported", own_.get<std::int64_t>("quantization_type")),
                   "convert the original model without AWQ");
  }

  // Attributes of attention that must be the same in all layers.
  std::int64_t of_all_layers(const char* name, std::int64_t otherwise) {
    const std::int64_t value = r_.integer(layer_0(name), otherwise);
    for (std::int64_t i = 1; i < layers_; ++i) {
      const std::string other = fmt::format("decoder/layer_{}/self_attention/{}", i, name);
      if (r_.integer(other, otherwise) != value)
        r_.fail_at(other, "differs from the first layer's, which is not supported");
    }
    return value;
  }
  double number_of_all_layers(const char* name, double otherwise) {
    const double value = r_.number(layer_0(name)).value_or(otherwise);
    for (std::int64_t i = 1; i < layers_; ++i)
      r_.only(fmt::format("decoder/layer_{}/self_attention/{}", i, name), value);
    return value;
  }

  nlohmann::json common(const char* family) {
    const auto id = [](std::int32_t value) { return value < 0 ? nlohmann::json(nullptr) : nlohmann::json(value); };
    return {{"model_type", family},
            {"vocab_size", words_},
            {"bos_token_id", id(ids_.bos)},
            {"eos_token_id", id(ids_.eos)},
            {"pad_token_id", id(ids_.pad)}};
  }

  void read_output(nlohmann::json& config, const std::string& embedding) {
    const bool tied = r_.same("decoder/projection/weight", "decoder/embeddings/weight");
    config["tie_word_embeddings"] = tied;
    r_.take("decoder/embeddings/weight", embedding);
    if (!tied) r_.take("decoder/projection/weight", "lm_head.weight");
    if (r_.has("decoder/projection/bias"))
      r_.fail_at("decoder/projection/bias", "an output bias is not supported in a decoder-only model");
  }

  // True if embeddings are multiplied by the square root of their width.
  bool scales_embeddings() {
    const std::optional<double> flag = r_.number("decoder/scale_embeddings");
    r_.number("decoder/embeddings/multiply_by_sqrt_depth");  // an older form, which the flag overrides
    if (flag && *flag != 0 && *flag != 1)
      r_.fail_at("decoder/scale_embeddings", fmt::format("{} is not supported", *flag), "only 0 and 1 are");
    return !flag || *flag == 1;
  }

  std::string llama_family(bool residual_norms, bool scaled, std::int64_t window) {
    const bool out_bias = r_.has(layer_0("linear_1/bias")), head_norms = r_.has(layer_0("q_norm/gamma"));
    if (residual_norms != scaled)
      r_.fail_at("decoder/scale_embeddings", "and norms around 1 are supported only together, as in Gemma");
    if (residual_norms) return "gemma";
    if (head_norms) return "qwen3";
    if (window > 0) return "mistral";
    return biased_ && !out_bias ? "qwen2" : "llama";
  }

  Ctranslate2Model read_llama() {
    const std::int64_t window = of_all_layers("sliding_window", r_.integer("decoder/sliding_window", 0));
    const bool residual = r_.flag("decoder/layer_norm/layer_norm_use_residual", false);
    const std::string family = llama_family(residual, scales_embeddings(), window);
    const std::int64_t head_dim = of_all_layers("head_dim", width_ / heads_);
    const std::int64_t kv_heads = of_all_layers("num_heads_kv", heads_);
    const std::int64_t rotated = of_all_layers("rotary_dim", 0);
    if (rotated != 0 && rotated != head_dim)
      r_.fail_at(layer_0("rotary_dim"),
                 fmt::format("{} of {} values are rotated, which is not supported", rotated, head_dim));
    if (of_all_layers("rotary_interleave", 1) != 0)
      r_.fail_at(layer_0("rotary_interleave"),
                 "1 is not supported: pairs of neighbours are rotated, not halves of a head");
    const std::string activation = activation_at(r_, "decoder/activation");
    nlohmann::json config = common(family.c_str());
    config.update({{"hidden_size", width_},
                   {"intermediate_size", r_.shape("decoder/layer_0/ffn/linear_0/weight", 2)[0]},
                   {"num_hidden_layers", layers_},
                   {"num_attention_heads", heads_},
                   {"num_key_value_heads", kv_heads},
                   {"head_dim", head_dim},
                   {"hidden_act", activation},
                   {"rms_norm_eps", norm_eps_of(own_, 1e-6)},
                   {"max_position_embeddings", unbounded_positions},
                   {"rope_parameters", rope()}});
    r_.only("decoder/pre_norm", 1);
    const bool ffn_bias = r_.has("decoder/layer_0/ffn/linear_0/bias");
    if (family == "llama") config.update({{"attention_bias", biased_}, {"mlp_bias", ffn_bias}});
    if (family == "qwen3" || family == "gemma") config["attention_bias"] = biased_;
    if (family == "mistral") config["sliding_window"] = window;
    read_output(config, "model.embed_tokens.weight");
    take_rms("decoder/layer_norm", "model.norm.weight", residual);
    for (std::int64_t i = 0; i < layers_; ++i) {
      const std::string name = fmt::format("decoder/layer_{}", i), here = fmt::format("model.layers.{}", i);
      take_rms(name + "/self_attention/layer_norm", here + ".input_layernorm.weight", residual);
      take_rms(name + "/ffn/layer_norm", here + ".post_attention_layernorm.weight", residual);
      const std::int64_t q = heads_ * head_dim, kv = kv_heads * head_dim;
      take_qkv(name + "/self_attention/linear_0", here + ".self_attn", q, kv);
      take_linear(name + "/self_attention/linear_1", here + ".self_attn.o_proj");
      if (family == "qwen3")
        for (const char* which : {"q_norm", "k_norm"})
          take_rms(fmt::format("{}/self_attention/{}", name, which), fmt::format("{}.self_attn.{}.weight", here, which),
                   false);
      take_linear(name + "/ffn/linear_0", here + ".mlp.gate_proj");
      take_linear(name + "/ffn/linear_0_noact", here + ".mlp.up_proj");
      take_linear(name + "/ffn/linear_1", here + ".mlp.down_proj");
      check_scale(name, head_dim);
    }
    return {std::move(config), r_.finish()};
  }

  nlohmann::json rope() {
    nlohmann::json rope{{"rope_theta", number_of_all_layers("rotary_base", 10000)}, {"rope_type", "default"}};
    const std::int64_t scaling = of_all_layers("rotary_scaling_type", -1);
    if (scaling == 0)
      rope.update({{"rope_type", "linear"}, {"factor", number_of_all_layers("rotary_scaling_factor", 1)}});
    if (scaling > 0)
      r_.fail_at(layer_0("rotary_scaling_type"),
                 scaling == 2 ? "2 is the scaling of Llama 3, whose factor the file does not hold"
                              : fmt::format("{} is not supported", scaling),
                 "supported: none and 0, linear");
    return rope;
  }

  void check_scale(const std::string& layer, std::int64_t head_dim) {
    const std::string name = layer + "/self_attention/queries_scale";
    const std::optional<double> scale = r_.number(name);
    const double expected = 1 / std::sqrt(static_cast<double>(head_dim));
    if (scale && std::abs(*scale - expected) > 1e-6)
      r_.fail_at(name, fmt::format("{} is not supported", *scale), fmt::format("only {} is", expected));
    r_.only(layer + "/layer_scalar", 1);
  }

  // A position table and LayerNorm: gpt2, or opt if the activation, the projections or the norms differ from GPT-2's.
  Ctranslate2Model read_learned_positions() {
    if (scales_embeddings())
      r_.fail_at("decoder/scale_embeddings", "is not 0, which is not supported with a position table");
    const std::string activation = activation_at(r_, "decoder/activation");
    const bool pre_norm = r_.flag("decoder/pre_norm", true);
    const bool projects = r_.has("decoder/project_in/weight");
    const bool is_gpt2 = pre_norm && !projects && activation != "relu" && r_.has("decoder/layer_norm/gamma");
    of_all_layers("num_heads_kv", heads_);
    if (r_.shape(layer_0("linear_0/weight"), 2)[0] != 3 * width_)
      r_.fail_at(layer_0("linear_0/weight"), "has fewer key heads than query heads, which is not supported here");
    const double eps = norm_eps_of(own_, 1e-5);
    if (!is_gpt2 && eps != 1e-5)
      own_.fail_at("layer_norm_epsilon", fmt::format("{} is not supported here", eps), "only 1e-5 is");
    for (std::int64_t i = 0; i < layers_; ++i) check_scale(fmt::format("decoder/layer_{}", i), width_ / heads_);
    return is_gpt2 ? read_gpt2(activation, eps) : read_opt(activation, pre_norm);
  }

  Ctranslate2Model read_gpt2(const std::string& activation, double eps) {
    nlohmann::json config = common("gpt2");
    config.update({{"n_embd", width_},
                   {"n_inner", r_.shape("decoder/layer_0/ffn/linear_0/weight", 2)[0]},
                   {"n_layer", layers_},
                   {"n_head", heads_},
                   {"n_positions", r_.shape("decoder/position_encodings/encodings", 2)[0]},
                   {"activation_function", activation},
                   {"layer_norm_epsilon", eps}});
    read_output(config, "transformer.wte.weight");
    r_.take("decoder/position_encodings/encodings", "transformer.wpe.weight");
    take_norm("decoder/layer_norm", "transformer.ln_f");
    for (std::int64_t i = 0; i < layers_; ++i) {
      const std::string name = fmt::format("decoder/layer_{}", i), here = fmt::format("transformer.h.{}", i);
      take_norm(name + "/self_attention/layer_norm", here + ".ln_1");
      take_norm(name + "/ffn/layer_norm", here + ".ln_2");
      take_turned(name + "/self_attention/linear_0", here + ".attn.c_attn");
      take_turned(name + "/self_attention/linear_1", here + ".attn.c_proj");
      take_turned(name + "/ffn/linear_0", here + ".mlp.c_fc");
      take_turned(name + "/ffn/linear_1", here + ".mlp.c_proj");
    }
    return {std::move(config), r_.finish()};
  }

  Ctranslate2Model read_opt(const std::string& activation, bool pre_norm) {
    const std::string root = "model.decoder";
    const std::int64_t positions = r_.shape("decoder/position_encodings/encodings", 2)[0];
    const bool final_norm = r_.has("decoder/layer_norm/gamma");
    nlohmann::json config = common("opt");
    config.update({{"hidden_size", width_},
                   {"word_embed_proj_dim", r_.shape("decoder/embeddings/weight", 2)[1]},
                   {"ffn_dim", r_.shape("decoder/layer_0/ffn/linear_0/weight", 2)[0]},
                   {"num_hidden_layers", layers_},
                   {"num_attention_heads", heads_},
                   {"max_position_embeddings", positions},
                   {"activation_function", activation},
                   {"do_layer_norm_before", pre_norm},
                   {"_remove_final_layer_norm", !final_norm}});
    read_output(config, root + ".embed_tokens.weight");
    r_.add(padded_view(r_.values("decoder/position_encodings/encodings"), rows_before_positions,
                       positions + rows_before_positions, 0),
           root + ".embed_positions.weight", "decoder/position_encodings/encodings");
    for (const char* projection : {"project_in", "project_out"})
      if (const std::string name = fmt::format("decoder/{}/weight", projection); r_.has(name))
        r_.take(name, fmt::format("{}.{}.weight", root, projection));
    if (final_norm) take_norm("decoder/layer_norm", root + ".final_layer_norm");
    for (std::int64_t i = 0; i < layers_; ++i) {
      const std::string name = fmt::format("decoder/layer_{}", i), here = fmt::format("{}.layers.{}", root, i);
      take_norm(name + "/self_attention/layer_norm", here + ".self_attn_layer_norm");
      take_norm(name + "/ffn/layer_norm", here + ".final_layer_norm");
      take_qkv(name + "/self_attention/linear_0", here + ".self_attn", width_, width_);
      take_linear(name + "/self_attention/linear_1", here + ".self_attn.out_proj");
      take_linear(name + "/ffn/linear_0", here + ".fc1");
      take_linear(name + "/ffn/linear_1", here + ".fc2");
    }
    return {std::move(config), r_.finish()};
  }

  void take_qkv(const std::string& name, const std::string& here, std::int64_t queries, std::int64_t keys) {
    take_linear(name, here + ".q_proj", {0, queries});
    take_linear(name, here + ".k_proj", {queries, keys});
    take_linear(name, here + ".v_proj", {queries + keys, keys});
    if (r_.shape(name + "/weight", 2)[0] != queries + 2 * keys)
      r_.fail_at(name + "/weight",
                 fmt::format("has {} rows, expected {}", r_.shape(name + "/weight", 2)[0], queries + 2 * keys));
  }

  void take_linear(const std::string& name, const std::string& here, RowRange rows = {}) {
    r_.take(name + "/weight", here + ".weight", rows);
    if (r_.has(name + "/bias")) r_.take(name + "/bias", here + ".bias", rows);
  }

  // [out, in] as [in, out].
  void take_turned(const std::string& name, const std::string& here) {
    r_.shape(name + "/weight", 2);
    r_.add(turned_view(r_.values(name + "/weight")), here + ".weight", name + "/weight");
    r_.take(name + "/bias", here + ".bias");
  }

  void take_norm(const std::string& name, const std::string& here) {
    r_.take(name + "/gamma", here + ".weight");
    r_.take(name + "/beta", here + ".bias");
  }

  void take_rms(const std::string& name, const std::string& here, bool residual) {
    r_.only(name + "/layer_norm_use_residual", residual ? 1 : 0);
    r_.take(name + "/gamma", here);
  }

  Ctranslate2Reader& r_;
  const JsonObject& own_;
  const Ctranslate2Ids& ids_;
  std::int64_t words_ = 0, width_ = 0, heads_ = 0, layers_ = 0;
  bool gated_ = false, biased_ = false;
};

}  // namespace

Ctranslate2Model read_ctranslate2_decoder(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) {
  return DecoderSpecOf(r, own, ids).read();
}

}  // namespace tril::model
