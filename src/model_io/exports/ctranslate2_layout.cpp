#include "model_io/exports/ctranslate2_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "nn/positions.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;
using VariableKind = Ctranslate2Variable::Kind;

// Numbers of CTranslate2's enum ActivationType.
float activation_id(const Json& config, const char* key) {
  const std::map<std::string, int> ids{
      {"relu", 0}, {"gelu_new", 1}, {"gelu_pytorch_tanh", 1}, {"gelu_fast", 1}, {"silu", 2}, {"swish", 2}, {"gelu", 3}};
  const auto found = ids.find(config.at(key).get<std::string>());
  if (found == ids.end()) fail_usage(key, fmt::format("CTranslate2 has no {}", config.at(key).dump()));
  return static_cast<float>(found->second);
}

class LayoutWriter {
 public:
  LayoutWriter(const Model& m, std::int64_t tokens) : tokens_(tokens), config_(Json::parse(m.config_json())) {
    for (const nn::Parameter& p : m.parameters().all())
      if (!p.is_adapter) rows_[p.name] = p.shape[0];
    family_ = config_.at(config_.at("model_type") == "tril" ? "architecture" : "model_type");
  }

  Ctranslate2Layout write() {
    using Write = void (LayoutWriter::*)();
    static const std::vector<std::pair<std::vector<std::string>, Write>> writers{
        {{"marian", "marian_nmt", "opennmt", "bart", "plbart", "mvp", "mbart", "m2m_100", "pegasus", "blenderbot"},
         &LayoutWriter::write_translation},
        {{"t5", "mt5", "umt5"}, &LayoutWriter::write_t5},
        {{"llama", "mistral", "qwen2", "qwen3", "gemma"}, &LayoutWriter::write_llama},
        {{"gpt2"}, &LayoutWriter::write_gpt2},
        {{"opt"}, &LayoutWriter::write_opt}};
    const auto writer = std::find_if(writers.begin(), writers.end(), [this](const auto& w) {
      return std::find(w.first.begin(), w.first.end(), family_) != w.first.end();
    });
    if (writer == writers.end()) {
      std::vector<std::string> all;
      for (const auto& [families, write] : writers) all.insert(all.end(), families.begin(), families.end());
      fail_usage("CTranslate2", fmt::format("a {} model cannot be written in its format", family_),
                 fmt::format("supported: {}", fmt::join(all, ", ")));
    }
    (this->*writer->second)();
    for (const auto& [name, rows] : rows_)
      if (!used_.contains(name))
        fail_usage(name, fmt::format("CTranslate2's specification for a {} model has no such weight", family_));
    std::sort(out_.variables.begin(), out_.variables.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return std::move(out_);
  }

 private:
  std::int64_t count(const char* key) const { return config_.at(key).get<std::int64_t>(); }
  bool has(const std::string& weight) const { return rows_.contains(weight); }

  void number(const std::string& name, double value, VariableKind kind) {
    out_.variables.push_back(
        {.name = name, .parts = {}, .made = {static_cast<float>(value)}, .shape = {}, .kind = kind});
  }
  void flag(const std::string& name, double value) { number(name, value, VariableKind::flag); }
  void weights(const std::string& name, std::vector<WeightRows> parts, VariableKind kind = VariableKind::values) {
    for (const WeightRows& part : parts) used_.insert(part.weight);
    out_.variables.push_back({.name = name, .parts = std::move(parts), .kind = kind});
  }
  void linear(const std::string& name, const std::vector<std::string>& layers) {
    std::vector<WeightRows> matrices, biases;
    for (const std::string& layer : layers) {
      matrices.push_back({layer + ".weight"});
      if (has(layer + ".bias")) biases.push_back({layer + ".bias"});
    }
    check(biases.empty() || biases.size() == layers.size(), "CTranslate2", "{}: some of its parts have a bias", name);
    weights(name + "/weight", std::move(matrices), VariableKind::matrix);
    if (!biases.empty()) weights(name + "/bias", std::move(biases));
  }
  void norm(const std::string& name, const std::string& layer) {
    weights(name + "/gamma", {{layer + ".weight"}});
    if (has(layer + ".bias")) weights(name + "/beta", {{layer + ".bias"}});
  }
  void alias(const std::string& name, const std::string& of) { out_.aliases.emplace_back(name, of); }

  // The first `words` rows of embeddings and output.
  void output(const std::string& embedding) {
    weights("decoder/embeddings/weight", {{embedding, 0, out_.words}}, VariableKind::matrix);
    if (has("lm_head.weight"))
      weights("decoder/projection/weight", {{"lm_head.weight", 0, out_.words}}, VariableKind::matrix);
    else
      alias("decoder/projection/weight", "decoder/embeddings/weight");
  }

  void decoder_attributes(double heads, double pre_norm, double activation) {
    number("decoder/num_heads", heads, VariableKind::integer16);
    flag("decoder/pre_norm", pre_norm);
    flag("decoder/activation", activation);
    number("decoder/alignment_layer", -1, VariableKind::integer16);
    number("decoder/alignment_heads", 1, VariableKind::integer16);
    for (const char* off : {"alibi", "alibi_use_positive_positions", "scale_alibi"})
      flag(fmt::format("decoder/{}", off), 0);
    flag("decoder/start_from_zero_embedding", out_.starts_from_zero ? 1 : 0);
  }
  void encoder_attributes(double heads, double pre_norm, double activation) {
    number("encoder/num_heads", heads, VariableKind::integer16);
    flag("encoder/pre_norm", pre_norm);
    flag("encoder/activation", activation);
    for (const char* off : {"embeddings_merge", "multi_query_attention"}) flag(fmt::format("encoder/{}", off), 0);
  }

  void write_translation() {
    out_.specification = "TransformerSpec";
    out_.revision = 7;
    const bool own_start = family_ == "marian" || family_ == "marian_nmt" || family_ == "opennmt";
    const std::int64_t rows = count("vocab_size"), start = count("decoder_start_token_id");
    const bool pads_at_end = own_start && count("pad_token_id") == rows - 1;
    out_.words = pads_at_end ? rows - 1 : std::min(rows, tokens_);
    out_.starts_from_zero = pads_at_end && start == rows - 1;
    if (own_start && config_.value("decoder_vocab_size", rows) != rows)
      fail_usage("decoder_vocab_size",
                 fmt::format("{} differs from vocab_size {}, which CTranslate2's format cannot hold",
                             count("decoder_vocab_size"), rows));
    out_.norm_eps = family_ == "marian_nmt" ? 1e-6 : config_.value("layer_norm_eps", 1e-5);
    const double pre_norm = config_.at("normalize_before").get<bool>(),
                 act = activation_id(config_, "activation_function");
    encoder_attributes(static_cast<double>(count("encoder_attention_heads")), pre_norm, act);
    decoder_attributes(static_cast<double>(count("decoder_attention_heads")), pre_norm, act);
    const std::string shared = "model.shared.weight";
    output(has(shared) ? shared : "model.decoder.embed_tokens.weight");
    if (has(shared))
      alias("encoder/embeddings_0/weight", "decoder/embeddings/weight");
    else
      weights("encoder/embeddings_0/weight", {{"model.encoder.embed_tokens.weight", 0, out_.words}},
              VariableKind::matrix);
    if (has("final_logits_bias")) weights("decoder/projection/bias", {{"final_logits_bias", 0, out_.words}});
    for (const std::string side : {"encoder", "decoder"}) {
      const std::string here = "model." + side;
      flag(side + "/scale_embeddings", config_.at("scale_embedding").get<bool>());
      positions(side, here + ".embed_positions.weight");
      if (has(here + ".layernorm_embedding.weight")) norm(side + "/layernorm_embedding", here + ".layernorm_embedding");
      if (has(here + ".layer_norm.weight")) norm(side + "/layer_norm", here + ".layer_norm");
      const std::int64_t layers = count(side == "encoder" ? "encoder_layers" : "decoder_layers");
      for (std::int64_t i = 0; i < layers; ++i)
        translation_layer(fmt::format("{}/layer_{}", side, i), fmt::format("{}.layers.{}", here, i));
    }
  }

  void translation_layer(const std::string& name, const std::string& here) {
    const std::string self = here + ".self_attn", cross = here + ".encoder_attn";
    linear(name + "/self_attention/linear_0", {self + ".q_proj", self + ".k_proj", self + ".v_proj"});
    linear(name + "/self_attention/linear_1", {self + ".out_proj"});
    norm(name + "/self_attention/layer_norm", here + ".self_attn_layer_norm");
    if (has(cross + ".q_proj.weight")) {
      linear(name + "/attention/linear_0", {cross + ".q_proj"});
      linear(name + "/attention/linear_1", {cross + ".k_proj", cross + ".v_proj"});
      linear(name + "/attention/linear_2", {cross + ".out_proj"});
      norm(name + "/attention/layer_norm", here + ".encoder_attn_layer_norm");
    }
    linear(name + "/ffn/linear_0", {here + ".fc1"});
    linear(name + "/ffn/linear_1", {here + ".fc2"});
    norm(name + "/ffn/layer_norm", here + ".final_layer_norm");
  }

  void positions(const std::string& side, const std::string& table) {
    const std::string name = side + "/position_encodings/encodings";
    const std::int64_t length = count("max_position_embeddings"), width = count("d_model");
    if (has(table)) {
      const std::int64_t before = rows_.at(table) - length;
      return weights(name, {{table, before, length}});
    }
    if (side == "decoder") return alias(name, "encoder/position_encodings/encodings");
    using enum nn::SinusoidalPositions::Layout;
    const bool t2t = family_ == "marian_nmt" || family_ == "m2m_100";
    const auto first = static_cast<std::int32_t>(family_ == "m2m_100" ? count("pad_token_id") + 1 : 0);
    const nn::SinusoidalPositions sinusoids(width, t2t ? tensor2tensor : concatenated, 1, first);
    out_.variables.push_back({.name = name,
                              .parts = {},
                              .made = sinusoids.table(length),
                              .shape = {length, width},
                              .kind = VariableKind::values});
  }

  void write_t5() {
    out_.specification = "TransformerSpec";
    out_.revision = 7;
    out_.words = std::min(count("vocab_size"), tokens_);
    out_.norm_eps = config_.at("layer_norm_epsilon");
    const double heads = static_cast<double>(count("num_heads")), act = activation_id(config_, "dense_act_fn");
    encoder_attributes(heads, 1, act);
    decoder_attributes(heads, 1, act);
    for (const char* side : {"encoder", "decoder"}) flag(fmt::format("{}/scale_embeddings", side), 0);
    if (config_.value("scale_decoder_outputs", false))
      number("decoder/scale_outputs", 1 / std::sqrt(static_cast<double>(count("d_model"))), VariableKind::number);
    output("shared.weight");
    alias("encoder/embeddings_0/weight", "decoder/embeddings/weight");
    for (const std::string side : {"encoder", "decoder"}) {
      const std::int64_t layers = count(side == "encoder" ? "num_layers" : "num_decoder_layers");
      for (std::int64_t i = 0; i < layers; ++i) t5_layer(side, i);
      weights(side + "/layer_norm/gamma", {{side + ".final_layer_norm.weight"}});
    }
  }

  void t5_layer(const std::string& side, std::int64_t i) {
    const std::string name = fmt::format("{}/layer_{}", side, i), here = fmt::format("{}.block.{}.layer", side, i);
    const std::string self = here + ".0.SelfAttention", ffn = here + (side == "encoder" ? ".1" : ".2");
    const auto attention = [&](const std::string& scope, const std::string& layer, const std::string& kind) {
      const std::string module = layer + "." + kind;
      if (kind == "SelfAttention") {
        linear(scope + "/linear_0", {module + ".q", module + ".k", module + ".v"});
        linear(scope + "/linear_1", {module + ".o"});
      } else {
        linear(scope + "/linear_0", {module + ".q"});
        linear(scope + "/linear_1", {module + ".k", module + ".v"});
        linear(scope + "/linear_2", {module + ".o"});
      }
      norm(scope + "/layer_norm", layer + ".layer_norm");
      number(scope + "/queries_scale", 1, VariableKind::number);
    };
    attention(name + "/self_attention", here + ".0", "SelfAttention");
    if (side == "decoder") attention(name + "/attention", here + ".1", "EncDecAttention");
    const std::string bias = "/self_attention/relative_attention_bias", own = self + ".relative_attention_bias.weight";
    if (has(own))
      weights(name + bias, {{own}});
    else
      alias(name + bias, fmt::format("{}/layer_0{}", side, bias));
    number(name + "/self_attention/relative_attention_max_distance",
           static_cast<double>(count("relative_attention_max_distance")), VariableKind::integer32);
    const std::string dense = ffn + ".DenseReluDense";
    if (config_.at("is_gated_act")) {
      linear(name + "/ffn/linear_0", {dense + ".wi_0"});
      linear(name + "/ffn/linear_0_noact", {dense + ".wi_1"});
    } else {
      linear(name + "/ffn/linear_0", {dense + ".wi"});
    }
    linear(name + "/ffn/linear_1", {dense + ".wo"});
    norm(name + "/ffn/layer_norm", ffn + ".layer_norm");
  }

  void language_model(double eps) {
    out_.specification = "TransformerDecoderSpec";
    out_.revision = 8;
    out_.words = std::min(count("vocab_size"), tokens_);
    out_.norm_eps = eps;
  }

  void write_llama() {
    language_model(config_.at("rms_norm_eps"));
    const Json rope = config_.at("rope_parameters");
    const std::string scaling = rope.value("rope_type", "default");
    if (scaling != "default" && scaling != "linear")
      fail_usage("rope_type", fmt::format("{} cannot be written in CTranslate2's format", scaling),
                 "supported: default, linear");
    if (config_.value("use_sliding_window", false))
      fail_usage("use_sliding_window", "true cannot be written: CTranslate2 has one window for all layers");
    const bool gemma = family_ == "gemma";
    decoder_attributes(static_cast<double>(count("num_attention_heads")), 1, activation_id(config_, "hidden_act"));
    flag("decoder/scale_embeddings", gemma);
    output("model.embed_tokens.weight");
    const auto rms = [&](const std::string& name, const std::string& layer) {
      norm(name, layer);
      if (gemma) flag(name + "/layer_norm_use_residual", 1);
    };
    rms("decoder/layer_norm", "model.norm");
    const Json& window = config_.value("sliding_window", Json(nullptr));
    const bool windowed = family_ == "mistral" && window.is_number();
    if (windowed) number("decoder/sliding_window", window.get<double>(), VariableKind::integer32);
    for (std::int64_t i = 0; i < count("num_hidden_layers"); ++i) {
      const std::string name = fmt::format("decoder/layer_{}", i), here = fmt::format("model.layers.{}", i);
      const std::string attention = name + "/self_attention", self = here + ".self_attn";
      rms(attention + "/layer_norm", here + ".input_layernorm");
      rms(name + "/ffn/layer_norm", here + ".post_attention_layernorm");
      linear(attention + "/linear_0", {self + ".q_proj", self + ".k_proj", self + ".v_proj"});
      linear(attention + "/linear_1", {self + ".o_proj"});
      for (const char* which : {"q_norm", "k_norm"})
        if (has(fmt::format("{}.{}.weight", self, which)))
          norm(fmt::format("{}/{}", attention, which), fmt::format("{}.{}", self, which));
      linear(name + "/ffn/linear_0", {here + ".mlp.gate_proj"});
      linear(name + "/ffn/linear_0_noact", {here + ".mlp.up_proj"});
      linear(name + "/ffn/linear_1", {here + ".mlp.down_proj"});
      number(attention + "/num_heads_kv", static_cast<double>(count("num_key_value_heads")), VariableKind::integer32);
      number(attention + "/head_dim", static_cast<double>(count("head_dim")), VariableKind::integer32);
      number(attention + "/rotary_dim", 0, VariableKind::integer32);
      flag(attention + "/rotary_interleave", 0);
      number(attention + "/rotary_base", rope.at("rope_theta").get<double>(), VariableKind::number);
      if (scaling == "linear") {
        flag(attention + "/rotary_scaling_type", 0);
        number(attention + "/rotary_scaling_factor", rope.at("factor").get<double>(), VariableKind::number);
      }
      if (windowed) number(attention + "/sliding_window", window.get<double>(), VariableKind::integer32);
    }
  }

  void write_gpt2() {
    language_model(config_.at("layer_norm_epsilon"));
    decoder_attributes(static_cast<double>(count("n_head")), 1, activation_id(config_, "activation_function"));
    flag("decoder/scale_embeddings", 0);
    output("transformer.wte.weight");
    weights("decoder/position_encodings/encodings", {{"transformer.wpe.weight"}});
    norm("decoder/layer_norm", "transformer.ln_f");
    for (std::int64_t i = 0; i < count("n_layer"); ++i) {
      const std::string name = fmt::format("decoder/layer_{}", i), here = fmt::format("transformer.h.{}", i);
      norm(name + "/self_attention/layer_norm", here + ".ln_1");
      norm(name + "/ffn/layer_norm", here + ".ln_2");
      linear(name + "/self_attention/linear_0", {here + ".attn.c_attn"});
      linear(name + "/self_attention/linear_1", {here + ".attn.c_proj"});
      linear(name + "/ffn/linear_0", {here + ".mlp.c_fc"});
      linear(name + "/ffn/linear_1", {here + ".mlp.c_proj"});
    }
  }

  void write_opt() {
    language_model(1e-5);
    decoder_attributes(static_cast<double>(count("num_attention_heads")),
                       config_.at("do_layer_norm_before").get<bool>(), activation_id(config_, "activation_function"));
    flag("decoder/scale_embeddings", 0);
    const std::string root = "model.decoder";
    output(root + ".embed_tokens.weight");
    const std::string table = root + ".embed_positions.weight";
    weights("decoder/position_encodings/encodings", {{table, rows_.at(table) - count("max_position_embeddings")}});
    for (const char* projection : {"project_in", "project_out"})
      if (has(fmt::format("{}.{}.weight", root, projection)))
        linear(fmt::format("decoder/{}", projection), {fmt::format("{}.{}", root, projection)});
    if (has(root + ".final_layer_norm.weight")) norm("decoder/layer_norm", root + ".final_layer_norm");
    for (std::int64_t i = 0; i < count("num_hidden_layers"); ++i)
      translation_layer(fmt::format("decoder/layer_{}", i), fmt::format("{}.layers.{}", root, i));
  }

  std::int64_t tokens_;
  Json config_;
  std::string family_;
  std::map<std::string, std::int64_t> rows_;  // of each parameter
  std::set<std::string> used_;
  Ctranslate2Layout out_;
};

}  // namespace

Ctranslate2Layout ctranslate2_layout(const Model& m, std::int64_t tokens) {
  return LayoutWriter(m, tokens).write();
}

}  // namespace tril::model
