#include "model/families/gpt2.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/spec/config_checks.h"
#include "model/spec/config_reader.h"
#include "model/spec/decoder_keys.h"

namespace tril::model {

using nn::Attention;

namespace {

constexpr std::string_view prefix = "transformer.";

// True for the Conv1D matrices of the authors' code, which files store as [in, out].
bool is_conv1d(std::string_view name) {
  for (std::string_view end : {".c_attn.weight", ".c_proj.weight", ".c_fc.weight"})
    if (name.ends_with(end)) return true;
  return false;
}

}  // namespace

void Gpt2Config::validate(std::string_view where) const {
  const ConfigChecks checks(where);
  checks.within(vocab_size, MostDecoderSizes::vocab_size, "vocab_size");
  checks.within(n_positions, 1 << 24, "n_positions");
  checks.within(n_embd, MostDecoderSizes::hidden_size, "n_embd");
  checks.within(n_layer, MostDecoderSizes::num_layers, "n_layer");
  checks.within(d_ff(), 1 << 24, "n_inner");
  checks.need(n_head > 0 && n_embd % n_head == 0, "n_head",
              fmt::format("n_embd {} is not divisible by {} heads", n_embd, n_head));
  for (const auto& [key, p] : dropouts()) checks.probability(p, key);
  checks.positive(layer_norm_epsilon, "layer_norm_epsilon");
  checks.at_least_0(initializer_range, "initializer_range");
  checks.optional_id(bos_token_id, vocab_size, "bos_token_id");
  checks.optional_id(eos_token_id, vocab_size, "eos_token_id");
  checks.optional_id(pad_token_id, vocab_size, "pad_token_id");
}

Gpt2Config gpt2_config(const JsonObject& j) {
  ConfigReader reader(j, "gpt2");
  Gpt2Config k;
  // Each size may also have the name of other families in transformers.
  const std::string layers = reader.spelt("n_layer", "num_hidden_layers");
  k.vocab_size = reader.size("vocab_size", 50257);
  k.n_positions = reader.size(reader.spelt("n_positions", "max_position_embeddings"), 1024);
  k.n_embd = reader.size(reader.spelt("n_embd", "hidden_size"), 768);
  k.n_layer = reader.has(layers) ? reader.layers(layers) : 12;
  k.n_head = reader.size(reader.spelt("n_head", "num_attention_heads"), 12);
  k.n_inner = reader.size("n_inner", 4 * k.n_embd);
  k.activation_function = reader.hidden_act("activation_function", HiddenAct::gelu_new);
  const auto number = [&](const char* key, double otherwise) {
    return static_cast<float>(reader.get<double>(key, otherwise));
  };
  k.embd_pdrop = number("embd_pdrop", 0.1);
  k.attn_pdrop = number("attn_pdrop", 0.1);
  k.resid_pdrop = number("resid_pdrop", 0.1);
  k.layer_norm_epsilon = reader.get<double>("layer_norm_epsilon", 1e-5);
  k.initializer_range = reader.get<double>("initializer_range", 0.02);
  constexpr std::int64_t end_of_text = 50256;  // of GPT-2's own vocabulary and of extensions of it
  k.bos_token_id = reader.id_of("bos_token_id", end_of_text, k.vocab_size);
  k.eos_token_id = reader.id_of("eos_token_id", end_of_text, k.vocab_size);
  k.pad_token_id = reader.id_of("pad_token_id", -1, k.vocab_size);
  k.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);

  // Options that this architecture does not compute are refused.
  reader.only("scale_attn_weights", true);
  for (const char* key : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"}) reader.only(key, false);
  // The old name of n_positions, a key of classifiers, and a key that only reorders products.
  reader.ignore({"n_ctx", "predict_special_tokens", "reorder_and_upcast_attn"});
  ignore_summary_keys(reader);
  // Keys of another family, which some programs add.
  reader.ignore(
      {"attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob", "intermediate_size", "type_vocab_size"});
  k.validate(j.where());
  reader.finish();
  return k;
}

Gpt2::Gpt2(const Gpt2Config& config) : config_(config) {
  config_.validate("gpt2");
  const auto& k = config_;
  const auto eps = static_cast<float>(k.layer_norm_epsilon);
  nn::Parameters& p = parameters_;
  const std::string root(prefix);
  embedding_ = nn::Embedding(p, root + "wte.weight", k.vocab_size, k.n_embd, {.deviation = k.initializer_range});
  positions_ = nn::LearnedPositions(p, root + "wpe.weight",
                                    {.length = k.n_positions, .d_model = k.n_embd, .deviation = k.initializer_range});
  for (std::int64_t i = 0; i < k.n_layer; ++i) {
    const std::string name = root + "h." + std::to_string(i);
    nn::PreNormLayer layer;
    layer.name = name;
    layer.dropout = k.resid_pdrop;
    layer.self_norm = nn::Norm(p, name + ".ln_1", k.n_embd, eps);
    layer.self_attention = Attention(p, name + ".attn",
                                     {.d_model = k.n_embd,
                                      .num_heads = k.n_head,
                                      .projections = Attention::Projections::qkv,
                                      .dropout = k.attn_pdrop,
                                      .qkv = "c_attn",
                                      .out = "c_proj"});
    layer.feed_forward_norm = nn::Norm(p, name + ".ln_2", k.n_embd, eps);
    layer.feed_forward = nn::FeedForward(p, name + ".mlp",
                                         {.d_model = k.n_embd,
                                          .d_ff = k.d_ff(),
                                          .activation = function_of(k.activation_function),
                                          .first = "c_fc",
                                          .second = "c_proj"});
    layers_.push_back(std::move(layer));
  }
  final_norm_ = nn::Norm(p, root + "ln_f", k.n_embd, eps);
  output_ = k.tie_word_embeddings
                ? embedding_.table()
                : &p.add("lm_head.weight", {k.vocab_size, k.n_embd}, nn::Init::normal(k.initializer_range));
  output_->in_products = true;
  set_initial_values();
}

// Matrices begin normally distributed. The last matrix of each sublayer is scaled by 1/sqrt(2 n_layer), so that the sum of
// 2 n_layer sublayers does not grow with the depth [Radford et al. 2019, section 2.3].
void Gpt2::set_initial_values() {
  const double deviation = config_.initializer_range;
  for (nn::Parameter& p : parameters_.all()) {
    if (!is_conv1d(p.name)) continue;
    const bool ends_a_sublayer = p.name.ends_with(".c_proj.weight");
    p.init = nn::Init::normal(ends_a_sublayer ? deviation / std::sqrt(2.0 * static_cast<double>(config_.n_layer))
                                              : deviation);
  }
}

std::string Gpt2::config_json() const {
  const auto& k = config_;
  return nlohmann::ordered_json{{"architectures", {"GPT2LMHeadModel"}},
                                {"model_type", "gpt2"},
                                {"vocab_size", k.vocab_size},
                                {"n_positions", k.n_positions},
                                {"n_embd", k.n_embd},
                                {"n_layer", k.n_layer},
                                {"n_head", k.n_head},
                                {"n_inner", k.d_ff()},
                                {"activation_function", name_of(k.activation_function)},
                                {"embd_pdrop", k.embd_pdrop},
                                {"attn_pdrop", k.attn_pdrop},
                                {"resid_pdrop", k.resid_pdrop},
                                {"layer_norm_epsilon", k.layer_norm_epsilon},
                                {"initializer_range", k.initializer_range},
                                {"scale_attn_weights", true},
                                {"scale_attn_by_inverse_layer_idx", false},
                                {"reorder_and_upcast_attn", false},
                                {"add_cross_attention", false},
                                {"bos_token_id", id_json(k.bos_token_id)},
                                {"eos_token_id", id_json(k.eos_token_id)},
                                {"pad_token_id", id_json(k.pad_token_id)},
                                {"tie_word_embeddings", k.tie_word_embeddings},
                                {"torch_dtype", "float32"},
                                {"use_cache", true}}
      .dump(2);
}

SpecialIds Gpt2::special_ids() const {
  return {.pad = config_.pad_token_id, .bos = config_.bos_token_id, .eos = config_.eos_token_id};
}

// The authors' own files omit the prefix.
StoredAs Gpt2::stored_as(const nn::Parameter& p) const {
  StoredAs stored{.names = {p.name}, .transposed = is_conv1d(p.name)};
  if (p.name.starts_with(prefix)) stored.names.push_back(p.name.substr(prefix.size()));
  return stored;
}

// The tied output, and the causal masks that older files store with each layer.
Redundant Gpt2::redundant(std::string_view name) const {
  if (name == "lm_head.weight") return config_.tie_word_embeddings ? Redundant::embedding_copy : Redundant::no;
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const bool mask = name.starts_with("h.") && (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
  return mask ? Redundant::unused : Redundant::no;
}

Tensor Gpt2::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  const Tensor embedded = positions_.forward(c, embedding_.forward(c, input.ids), input.rows.positions());
  const Tensor h = ops::dropout(c, embedded, config_.embd_pdrop);
  return final_norm_.forward(c, run_layers(c, layers_, h, call, {.checkpointing = gradient_checkpointing_}));
}

std::unique_ptr<Model> make_gpt2(const JsonObject& config) {
  return std::make_unique<Gpt2>(gpt2_config(config));
}

}  // namespace tril::model
