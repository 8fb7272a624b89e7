// t5gemma: an encoder and a decoder of gemma2's layers, each with its own sizes; layers of the decoder also have
// cross-attention with a norm before and after it [Zhang et al. 2025, "Encoder-Decoder Gemma"].
#include <nlohmann/json.hpp>
#include <span>

#include "model/families/decoder_families.h"
#include "model/families/gemma2.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/stack.h"

namespace tril::model {
namespace {

struct T5GemmaConfig {
  LlamaLikeConfig encoder, decoder;
  float dropout = 0, attention_dropout = 0;
  bool tie_word_embeddings = true;
  std::int32_t decoder_start = -1;  ///< -1: the decoder's bos
};

LlamaLikeConfig read_side(ConfigReader& outer, const std::string& key) {
  const nlohmann::json all_defaults = nlohmann::json::object();
  const JsonObject json =
      outer.has(key) ? outer.json().object(key) : JsonObject(all_defaults, outer.json().place_of(key));
  ConfigReader reader(json, "t5gemma");
  LlamaLikeConfig k = read_gemma2(reader, "t5_gemma_module", "T5GemmaModule");
  // The first two follow from the side; the dropouts are set for the whole model.
  reader.ignore({"is_decoder", "cross_attention_hidden_size", "dropout_rate", "classifier_dropout_rate"});
  reader.finish();
  return k;
}

T5GemmaConfig read_t5gemma(ConfigReader& reader) {
  T5GemmaConfig k{.encoder = read_side(reader, "encoder"), .decoder = read_side(reader, "decoder")};
  const JsonObject& json = reader.json();
  if (k.encoder.vocab_size != k.decoder.vocab_size)
    json.fail_at("decoder", fmt::format("has a vocabulary of {}, but encoder one of {}", k.decoder.vocab_size,
                                        k.encoder.vocab_size));
  k.dropout = reader.share("dropout_rate");
  k.attention_dropout = reader.share("attention_dropout");
  k.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  for (const auto& [key, id] : {std::pair{"bos_token_id", &k.decoder.bos_token_id},
                                {"eos_token_id", &k.decoder.eos_token_id},
                                {"pad_token_id", &k.decoder.pad_token_id}})
    *id = reader.id_of(key, *id, k.decoder.vocab_size);
  k.decoder_start = reader.id_of("decoder_start_token_id", k.decoder.bos_token_id, k.decoder.vocab_size);
  k.decoder.initializer_range = reader.at_least_0("initializer_range", k.decoder.initializer_range);
  reader.only("is_encoder_decoder", true);
  reader.only("vocab_size", k.decoder.vocab_size);
  reader.ignore({"classifier_dropout_rate"});
  reader.finish();
  return k;
}

class T5Gemma : public Model {
 public:
  explicit T5Gemma(T5GemmaConfig config);

  std::string family() const override { return "t5gemma"; }
  std::string config_json() const override;
  std::int64_t vocab_size() const override { return config_.decoder.vocab_size; }
  std::int64_t d_model() const override { return config_.decoder.hidden_size; }
  std::int64_t max_positions() const override { return 0; }
  SpecialIds special_ids() const override;
  std::vector<Dropout> dropouts() const override {
    return {{"dropout_rate", config_.dropout}, {"attention_dropout", config_.attention_dropout}};
  }
  bool has_encoder() const override { return true; }
  std::int64_t cross_layers() const override { return config_.decoder.num_hidden_layers; }
  std::int64_t cross_heads() const override { return config_.decoder.num_attention_heads; }
  bool records_cross_attention() const override { return config_.decoder.attention_softcap == 0; }
  StoredAs stored_as(const nn::Parameter& p) const override;
  Redundant redundant(std::string_view name) const override;
  Memory encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const ops::Mask& mask) const override;
  Tensor decode(Context& c, const DecoderInput& input) const override;
  OutputProjection output() const override { return OutputProjection::of(*output_, {}, config_.decoder.logit_softcap); }
  std::unique_ptr<nn::KvCache> make_cache(Context& c) const override { return cache_for(c, decoder_.layers); }

 private:
  struct Side {
    std::vector<nn::RotaryPositions> rotaries;
    nn::Embedding embedding;
    std::vector<nn::DecoderLayer> layers;
    nn::Norm last;
  };
  Side side(bool decoder, const LlamaLikeConfig& k);
  nn::DecoderLayer layer(bool decoder, const LlamaLikeConfig& k, std::int64_t i);
  Tensor embed(Context& c, const Side& side, std::span<const std::int32_t> ids) const;

  T5GemmaConfig config_;
  Side encoder_, decoder_;
  nn::Parameter* output_ = nullptr;
};

T5Gemma::T5Gemma(T5GemmaConfig config) : config_(std::move(config)) {
  encoder_ = side(/*decoder=*/false, config_.encoder);
  decoder_ = side(/*decoder=*/true, config_.decoder);
  const LlamaLikeConfig& k = config_.decoder;
  output_ = config_.tie_word_embeddings ? decoder_.embedding.table()
                                        : &parameters_.add("lm_head.out_proj.weight", {k.vocab_size, k.hidden_size},
                                                           nn::Init::normal(k.initializer_range));
  output_->in_products = true;
  for (nn::Parameter& w : parameters_.all())
    if (w.in_products || w.hidden_matrix) w.init = nn::Init::normal(k.initializer_range);
}

T5Gemma::Side T5Gemma::side(bool decoder, const LlamaLikeConfig& k) {
  const std::string name = decoder ? "model.decoder" : "model.encoder";
  Side s;
  s.rotaries.emplace_back(k.rope);
  s.embedding = nn::Embedding(parameters_, name + ".embed_tokens.weight", k.vocab_size, k.hidden_size,
                              {.scale = k.embedding_scale, .deviation = k.initializer_range});
  if (!decoder) s.embedding = s.embedding.of_encoder();
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i) s.layers.push_back(layer(decoder, k, i));
  s.last = nn::Norm(parameters_, name + ".norm", k.hidden_size, static_cast<float>(k.norm_eps), k.norm);
  return s;
}

nn::DecoderLayer T5Gemma::layer(bool decoder, const LlamaLikeConfig& k, std::int64_t i) {
  nn::DecoderLayer l;
  l.name = fmt::format("model.{}.layers.{}", decoder ? "decoder" : "encoder", i);
  l.dropout = l.feed_forward_dropout = config_.dropout;
  const auto norm = [&](const char* name) {
    return nn::Norm(parameters_, l.name + "." + name, k.hidden_size, static_cast<float>(k.norm_eps), k.norm);
  };
  nn::Attention::Options attention{.d_model = k.hidden_size,
                                   .num_heads = k.num_attention_heads,
                                   .num_kv_heads = k.kv_heads(),
                                   .d_k = k.d_head(),
                                   .bias = k.attention_bias,
                                   .out_bias = k.attention_out_bias,
                                   .dropout = config_.attention_dropout,
                                   .scale = k.attention_scale,
                                   .softcap = k.attention_softcap,
                                   .window = k.window(i),
                                   .out = "o_proj"};
  l.before_attention = norm("pre_self_attn_layernorm");
  l.mixer = nn::Attention(parameters_, l.name + ".self_attn", attention);
  l.after_attention = norm("post_self_attn_layernorm");
  if (decoder) {
    attention.window = 0, attention.d_memory = config_.encoder.hidden_size;
    l.before_cross = norm("pre_cross_attn_layernorm");
    l.cross_attention = nn::Attention(parameters_, l.name + ".cross_attn", attention);
    l.after_cross = norm("post_cross_attn_layernorm");
  }
  l.before_feed_forward = norm("pre_feedforward_layernorm");
  l.feed_forward = nn::GatedFeedForward(parameters_, l.name + ".mlp",
                                        {.d_model = k.hidden_size,
                                         .d_ff = k.intermediate_size,
                                         .activation = function_of(k.hidden_act),
                                         .dropout = config_.dropout});
  l.after_feed_forward = norm("post_feedforward_layernorm");
  return l;
}

std::string T5Gemma::config_json() const {
  const auto of = [&](const LlamaLikeConfig& k, bool decoder) {
    nlohmann::ordered_json j = llama_like_json(k);
    j["is_decoder"] = decoder;
    j["dropout_rate"] = config_.dropout;
    j["attention_dropout"] = config_.attention_dropout;
    if (decoder) j["cross_attention_hidden_size"] = config_.encoder.hidden_size;
    return j;
  };
  const LlamaLikeConfig& k = config_.decoder;
  const nlohmann::ordered_json j{{"architectures", {"T5GemmaForConditionalGeneration"}},
                                 {"model_type", "t5gemma"},
                                 {"encoder", of(config_.encoder, false)},
                                 {"decoder", of(k, true)},
                                 {"vocab_size", k.vocab_size},
                                 {"is_encoder_decoder", true},
                                 {"dropout_rate", config_.dropout},
                                 {"attention_dropout", config_.attention_dropout},
                                 {"tie_word_embeddings", config_.tie_word_embeddings},
                                 {"initializer_range", k.initializer_range},
                                 {"bos_token_id", id_json(k.bos_token_id)},
                                 {"eos_token_id", id_json(k.eos_token_id)},
                                 {"pad_token_id", id_json(k.pad_token_id)},
                                 {"decoder_start_token_id", id_json(config_.decoder_start)},
                                 {"torch_dtype", "float32"}};
  return j.dump(2);
}

SpecialIds T5Gemma::special_ids() const {
  const LlamaLikeConfig& k = config_.decoder;
  return {.pad = k.pad_token_id, .bos = k.bos_token_id, .eos = k.eos_token_id, .decoder_start = config_.decoder_start};
}

StoredAs T5Gemma::stored_as(const nn::Parameter& p) const {
  const bool is_norm = p.shape.rank() == 1 && !p.name.ends_with(".bias");
  return {.names = {p.name}, .added = is_norm ? 1.0f : 0.0f};
}

Redundant T5Gemma::redundant(std::string_view name) const {
  return name == "lm_head.out_proj.weight" && config_.tie_word_embeddings ? Redundant::embedding_copy : Redundant::no;
}

Tensor T5Gemma::embed(Context& c, const Side& side, std::span<const std::int32_t> ids) const {
  return ops::dropout(c, side.embedding.forward(c, ids), config_.dropout);
}

Memory T5Gemma::encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const ops::Mask& mask) const {
  const auto& windows = config_.encoder.windows;
  const std::int32_t near = windows.empty() ? 0 : *std::ranges::max_element(windows);
  const auto call = std::make_shared<const StackCall>(
      StackCall{nn::SelfCall(c, rows, mask, {.rotaries = encoder_.rotaries, .near = near}), {}});
  Memory memory;
  memory.rows = rows;
  const Tensor h =
      run_layers(c, encoder_.layers, embed(c, encoder_, ids), call, {.checkpointing = gradient_checkpointing_});
  memory.states = ops::dropout(c, encoder_.last.forward(c, h), config_.dropout);
  project_memory(c, decoder_.layers, memory);
  return memory;
}

Tensor T5Gemma::decode(Context& c, const DecoderInput& input) const {
  const Tensor h = run_layers(c, decoder_.layers, embed(c, decoder_, input.ids),
                              decoder_call(c, input, /*bias=*/nullptr, decoder_.rotaries),
                              {.memory = input.memory, .checkpointing = gradient_checkpointing_});
  return ops::dropout(c, decoder_.last.forward(c, h), config_.dropout);
}

}  // namespace

std::unique_ptr<Model> make_t5gemma(const JsonObject& config) {
  ConfigReader reader(config, "t5gemma");
  return std::make_unique<T5Gemma>(read_t5gemma(reader));
}

}  // namespace tril::model
