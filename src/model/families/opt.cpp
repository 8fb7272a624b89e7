#include "model/families/opt.h"

#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/decoder_keys.h"

namespace tril::model {
namespace {

constexpr std::string_view opt_prefix = "model.decoder.";
constexpr std::int32_t offset = 2;  // the first rows of the authors' tables are for padding

OptConfig opt_config(const JsonObject& json) {
  ConfigReader config(json, "opt");
  OptConfig k;
  const auto size = [&](const char* key, std::int64_t& value, std::int64_t most) {
    read_size(config, key, value, most);
  };
  using Most = MostDecoderSizes;
  size("vocab_size", k.vocab_size, Most::vocab_size);
  size("hidden_size", k.hidden_size, Most::hidden_size);
  size("ffn_dim", k.ffn_dim, Most::intermediate_size);
  size("num_hidden_layers", k.num_hidden_layers, Most::num_layers);
  size("num_attention_heads", k.num_attention_heads, Most::num_heads);
  size("max_position_embeddings", k.max_position_embeddings, 1 << 24);
  k.word_embed_proj_dim = k.hidden_size;
  size("word_embed_proj_dim", k.word_embed_proj_dim, Most::hidden_size);
  check_heads_divide(config, k);
  k.activation_function = config.hidden_act("activation_function", k.activation_function);
  k.do_layer_norm_before = config.get<bool>("do_layer_norm_before", true);
  k.remove_final_layer_norm = config.get<bool>("_remove_final_layer_norm", false);
  k.dropout = config.share("dropout", 0.1), k.attention_dropout = config.share("attention_dropout");
  k.layerdrop = static_cast<double>(config.share("layerdrop"));
  k.init_std = config.at_least_0("init_std", k.init_std);
  k.tie_word_embeddings = config.get<bool>("tie_word_embeddings", true);
  read_special_ids(config, k);
  config.only("enable_bias", true);
  config.only("layer_norm_elementwise_affine", true);
  config.only("learned_embeddings", true);
  config.ignore({"activation_dropout"});  // a key of the first files, which no version uses
  config.finish();
  return k;
}

}  // namespace

Opt::Opt(const OptConfig& config) : config_(config) {
  const auto& k = config_;
  nn::Parameters& p = parameters_;
  const std::string root(opt_prefix);
  const bool projects = k.word_embed_proj_dim != k.hidden_size;
  embedding_ =
      nn::Embedding(p, root + "embed_tokens.weight", k.vocab_size, k.word_embed_proj_dim, {.deviation = k.init_std});
  positions_ = nn::LearnedPositions(
      p, root + "embed_positions.weight",
      {.length = k.max_position_embeddings, .d_model = k.hidden_size, .deviation = k.init_std, .offset = offset});
  if (projects) {
    project_in_ = nn::Linear(p, root + "project_in", k.word_embed_proj_dim, k.hidden_size, {.bias = false});
    project_out_ = nn::Linear(p, root + "project_out", k.hidden_size, k.word_embed_proj_dim, {.bias = false});
  }
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) {
    const std::string name = root + "layers." + std::to_string(i);
    const auto fill = [&](auto& layer) {
      layer.name = name;
      layer.dropout = k.dropout;
      layer.self_attention = nn::Attention(p, name + ".self_attn",
                                           {.d_model = k.hidden_size,
                                            .num_heads = k.num_attention_heads,
                                            .dropout = k.attention_dropout,
                                            .out = "out_proj"});
      layer.self_norm = nn::Norm(p, name + ".self_attn_layer_norm", k.hidden_size, 1e-5f);
      layer.feed_forward = nn::FeedForward(
          p, name, {.d_model = k.hidden_size, .d_ff = k.ffn_dim, .activation = function_of(k.activation_function)});
      layer.feed_forward_norm = nn::Norm(p, name + ".final_layer_norm", k.hidden_size, 1e-5f);
    };
    k.do_layer_norm_before ? fill(pre_norm_.emplace_back()) : fill(post_norm_.emplace_back());
  }
  if (k.do_layer_norm_before && !k.remove_final_layer_norm)
    final_norm_ = nn::Norm(p, root + "final_layer_norm", k.hidden_size, 1e-5f);
  output_ = k.tie_word_embeddings ? embedding_.table()
                                  : &p.add("lm_head.weight", {k.vocab_size, k.word_embed_proj_dim}, nn::Init::zeros());
  output_->in_products = true;
  for (nn::Parameter& w : p.all())
    if (w.shape.rank() == 2) w.init = nn::Init::normal(k.init_std);
}

std::string Opt::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{{"architectures", {"OPTForCausalLM"}},
                                {"model_type", "opt"},
                                {"vocab_size", k.vocab_size},
                                {"hidden_size", k.hidden_size},
                                {"ffn_dim", k.ffn_dim},
                                {"num_hidden_layers", k.num_hidden_layers},
                                {"num_attention_heads", k.num_attention_heads},
                                {"word_embed_proj_dim", k.word_embed_proj_dim},
                                {"max_position_embeddings", k.max_position_embeddings},
                                {"activation_function", name_of(k.activation_function)},
                                {"do_layer_norm_before", k.do_layer_norm_before},
                                {"_remove_final_layer_norm", k.remove_final_layer_norm},
                                {"dropout", k.dropout},
                                {"attention_dropout", k.attention_dropout},
                                {"layerdrop", k.layerdrop},
                                {"init_std", k.init_std},
                                {"enable_bias", true},
                                {"layer_norm_elementwise_affine", true},
                                {"bos_token_id", id_json(k.bos_token_id)},
                                {"eos_token_id", id_json(k.eos_token_id)},
                                {"pad_token_id", id_json(k.pad_token_id)},
                                {"tie_word_embeddings", k.tie_word_embeddings},
                                {"torch_dtype", "float32"},
                                {"use_cache", true}}
      .dump(2);
}

SpecialIds Opt::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

// The authors' own files omit "model.".
StoredAs Opt::stored_as(const nn::Parameter& p) const {
  StoredAs stored{.names = {p.name}};
  if (p.name.starts_with(opt_prefix)) stored.names.push_back(p.name.substr(std::string_view("model.").size()));
  return stored;
}

Redundant Opt::redundant(std::string_view name) const {
  return name == "lm_head.weight" && config_.tie_word_embeddings ? Redundant::embedding_copy : Redundant::no;
}

Tensor Opt::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  Tensor h = embedding_.forward(c, input.ids);
  if (project_in_) h = project_in_->forward(c, h);
  h = positions_.forward(c, h, input.rows.positions());
  h = run_layers(c, pre_norm_, h, call, {.checkpointing = gradient_checkpointing_, .layer_drop = config_.layerdrop});
  h = run_layers(c, post_norm_, h, call, {.checkpointing = gradient_checkpointing_, .layer_drop = config_.layerdrop});
  if (final_norm_) h = final_norm_->forward(c, h);
  return project_out_ ? project_out_->forward(c, h) : h;
}

std::unique_ptr<nn::KvCache> Opt::make_cache(Context& c) const {
  return config_.do_layer_norm_before ? cache_for(c, pre_norm_) : cache_for(c, post_norm_);
}

std::unique_ptr<Model> make_opt(const JsonObject& config) {
  return std::make_unique<Opt>(opt_config(config));
}

}  // namespace tril::model
