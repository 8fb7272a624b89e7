#include "model/families/bart.h"

#include <cmath>

namespace tril::model {
namespace {

using nn::Attention;
using Positions = BartFamily::Positions;
using EmbeddingNorm = BartFamily::EmbeddingNorm;

nn::SinusoidalPositions sinusoids_of(const BartFamily& f, const BartConfig& k) {
  if (f.positions == Positions::learned) return {};
  const std::int64_t kept = std::min<std::int64_t>(k.max_position_embeddings, 1024);
  using enum nn::SinusoidalPositions::Layout;
  if (f.positions == Positions::sinusoids) return {k.d_model, concatenated, kept};
  return {k.d_model, tensor2tensor, kept, f.positions == Positions::sinusoids_t2t ? 0 : k.pad_token_id + 1};
}

}  // namespace

Bart::Bart(const BartFamily& family, const BartConfig& config)
    : family_(&family), config_(config), encoder_{.name = "model.encoder"}, decoder_{.name = "model.decoder"} {
  config_.validate(family.name);
  const BartConfig& k = config_;
  sinusoids_ = sinusoids_of(family, k);
  nn::Parameters& p = parameters_;
  const nn::Embedding::Options embedding{.scale = k.scale_embedding ? std::sqrt(static_cast<float>(k.d_model)) : 1.0f,
                                         .padding_id = k.pad_token_id,
                                         .deviation = k.init_std};
  if (k.share_encoder_decoder_embeddings) {
    encoder_.embedding = decoder_.embedding =
        nn::Embedding(p, "model.shared.weight", k.vocab_size, k.d_model, embedding);
  } else {
    encoder_.embedding = nn::Embedding(p, "model.encoder.embed_tokens.weight", k.vocab_size, k.d_model, embedding);
    decoder_.embedding =
        nn::Embedding(p, "model.decoder.embed_tokens.weight", k.decoder_vocab_size, k.d_model, embedding);
  }
  encoder_.embedding = encoder_.embedding.of_encoder();
  if (family.embedding_norm == EmbeddingNorm::of_decoder_words) {
    decoder_.embedding = decoder_.embedding.unscaled();
    decoder_.norms_words = true;
  }
  output_ = k.tie_word_embeddings
                ? decoder_.embedding.table()
                : &p.add("lm_head.weight", {k.decoder_vocab_size, k.d_model}, nn::Init::normal(k.init_std));
  output_->in_products = true;
  if (!family.logits_bias) return;
  final_logits_bias_ = &p.add("final_logits_bias", {1, k.decoder_vocab_size}, nn::Init::zeros());
  final_logits_bias_->trainable = false;  // as in `transformers`, where it is a buffer
}

void Bart::complete(Side& side) {
  const BartConfig& k = config_;
  nn::Parameters& p = parameters_;
  if (family_->positions == Positions::learned)
    side.learned = nn::LearnedPositions(p, side.name + ".embed_positions.weight",
                                        {.length = k.max_position_embeddings,
                                         .d_model = k.d_model,
                                         .deviation = k.init_std,
                                         .offset = family_->rows_before_positions});
  if (family_->embedding_norm != EmbeddingNorm::none)
    side.embedding_norm = nn::Norm(p, side.name + ".layernorm_embedding", k.d_model, family_->layer_norm_eps);
  if (family_->pre_norm) side.final_norm = nn::Norm(p, side.name + ".layer_norm", k.d_model, family_->layer_norm_eps);
}

SpecialIds Bart::special_ids() const {
  return {.pad = config_.pad_token_id,
          .bos = config_.bos_token_id,
          .eos = config_.eos_token_id,
          .decoder_start = config_.decoder_start_token_id};
}

OutputProjection Bart::output() const {
  if (!final_logits_bias_) return OutputProjection::of(*output_);
  return OutputProjection::of(*output_, final_logits_bias_->value.reshape({config_.decoder_vocab_size}));
}

Tensor Bart::embed(Context& c, const Side& side, std::span<const std::int32_t> ids, const Rows& rows) const {
  Tensor h = side.embedding.forward(c, ids);
  if (side.norms_words) h = side.embedding_norm.forward(c, h);
  h = family_->positions == Positions::learned ? side.learned.forward(c, h, rows.positions())
                                               : sinusoids_.forward(c, h, rows.positions());
  if (family_->embedding_norm != EmbeddingNorm::none && !side.norms_words) h = side.embedding_norm.forward(c, h);
  return ops::dropout(c, h, config_.embedding_dropout >= 0 ? config_.embedding_dropout : config_.dropout);
}

// Files of the bare model omit the prefix. A shared embedding in a file is read for both sides.
StoredAs Bart::stored_as(const nn::Parameter& p) const {
  constexpr std::string_view prefix = "model.";
  StoredAs stored{.names = {p.name}};
  if (p.name.ends_with(".embed_tokens.weight")) stored.names.emplace_back("model.shared.weight");
  if (p.name == "model.shared.weight")
    for (const char* side : {"encoder", "decoder"})
      stored.names.push_back(fmt::format("model.{}.embed_tokens.weight", side));
  for (std::size_t i = 0, n = stored.names.size(); i < n; ++i)
    if (stored.names[i].starts_with(prefix)) stored.names.push_back(stored.names[i].substr(prefix.size()));
  stored.optional = p.name == "final_logits_bias";  // older files omit it: it is zero
  return stored;
}

// Names under which Hugging Face also stores tied or computed values.
Redundant Bart::redundant(std::string_view name) const {
  if (name.starts_with("model.")) name.remove_prefix(6);
  // transformers computes those of m2m_100 anew, and would take another table of the others from the file.
  const bool computed = family_->positions != Positions::learned;
  const bool kept = family_->positions == Positions::sinusoids;
  for (std::string_view side : {"encoder", "decoder"}) {
    if (!name.starts_with(side)) continue;
    const std::string_view rest = name.substr(side.size());
    if (rest == ".embed_tokens.weight") return Redundant::embedding_copy;
    if (rest == ".version") return Redundant::unused;
    if (kept && rest == ".embed_positions.weight") return Redundant::computed;
    if (computed && (rest == ".embed_positions.weight" || rest == ".embed_positions.weights")) return Redundant::unused;
  }
  // transformers keeps this table beside those of the two sides, but does not read it.
  if (name == "shared.weight" && !config_.share_encoder_decoder_embeddings) return Redundant::unused;
  return name == "lm_head.weight" || name == "shared.weight" ? Redundant::embedding_copy : Redundant::no;
}

template <class Layer, class DecoderLayer>
BartLike<Layer, DecoderLayer>::BartLike(const BartFamily& family, const BartConfig& config) : Bart(family, config) {
  const BartConfig& k = config_;
  complete(encoder_);
  for (std::int64_t i = 0; i < k.encoder_layers; ++i) encoder_layers_.push_back(layer<Layer>(/*decoder=*/false, i));
  complete(decoder_);
  for (std::int64_t i = 0; i < k.decoder_layers; ++i)
    decoder_layers_.push_back(layer<DecoderLayer>(/*decoder=*/true, i));
}

template <class Layer, class DecoderLayer>
template <class L>
L BartLike<Layer, DecoderLayer>::layer(bool decoder, std::int64_t i) {
  const BartConfig& k = config_;
  nn::Parameters& p = parameters_;
  const std::string name = fmt::format("model.{}.layers.{}", decoder ? "decoder" : "encoder", i);
  const std::int64_t depth = k.depth_scaled_init ? i + 1 : 1;
  const Attention::Options attention{.d_model = k.d_model,
                                     .num_heads = decoder ? k.decoder_attention_heads : k.encoder_attention_heads,
                                     .depth = depth,
                                     .dropout = k.attention_dropout};
  const auto norm = [&](const char* which) { return nn::Norm(p, name + which, k.d_model, family_->layer_norm_eps); };
  L l;
  l.name = name;
  l.dropout = k.dropout;
  if constexpr (requires { l.ssru; }) {
    l.ssru = nn::Ssru(p, name + ".ssru", k.d_model, depth);
    l.ssru_norm = norm(".ssru_layer_norm");
  } else {
    l.self_attention = Attention(p, name + ".self_attn", attention);
    l.self_norm = norm(".self_attn_layer_norm");
  }
  if (decoder) {
    l.cross_attention = Attention(p, name + ".encoder_attn", attention);
    l.cross_norm = norm(".encoder_attn_layer_norm");
  }
  l.feed_forward = nn::FeedForward(p, name,
                                   {.d_model = k.d_model,
                                    .d_ff = decoder ? k.decoder_ffn_dim : k.encoder_ffn_dim,
                                    .activation = function_of(k.activation_function),
                                    .dropout = k.activation_dropout,
                                    .depth = depth});
  l.feed_forward_norm = norm(".final_layer_norm");
  return l;
}

template <class Layer, class DecoderLayer>
Memory BartLike<Layer, DecoderLayer>::encode(Context& c, std::span<const std::int32_t> ids, const Rows& rows,
                                             const ops::Mask& mask) const {
  Memory memory;
  memory.rows = rows;
  memory.states = run_layers(c, encoder_layers_, embed(c, encoder_, ids, rows), encoder_call(c, rows, mask),
                             {.checkpointing = gradient_checkpointing_, .layer_drop = config_.encoder_layerdrop});
  if (family_->pre_norm) memory.states = encoder_.final_norm.forward(c, memory.states);
  project_memory(c, decoder_layers_, memory);
  return memory;
}

template <class Layer, class DecoderLayer>
Tensor BartLike<Layer, DecoderLayer>::decode(Context& c, const DecoderInput& input) const {
  const auto call = decoder_call(c, input);
  const Tensor h = run_layers(
      c, decoder_layers_, embed(c, decoder_, input.ids, input.rows), call,
      {.memory = input.memory, .checkpointing = gradient_checkpointing_, .layer_drop = config_.decoder_layerdrop});
  return family_->pre_norm ? decoder_.final_norm.forward(c, h) : h;
}

template class BartLike<nn::PostNormLayer>;
template class BartLike<nn::PreNormLayer>;
template class BartLike<nn::PostNormLayer, nn::PostNormSsruLayer>;
template class BartLike<nn::PreNormLayer, nn::PreNormSsruLayer>;

std::unique_ptr<Model> make_bart(std::string_view name, const BartConfig& config) {
  const BartFamily& family = bart_variant(name).family;
  if (family.pre_norm) return std::make_unique<BartLike<nn::PreNormLayer>>(family, config);
  return std::make_unique<BartLike<nn::PostNormLayer>>(family, config);
}

std::unique_ptr<Model> make_bart(const JsonObject& config) {
  const std::string name = config.get<std::string>("model_type");
  const BartVariant& variant = bart_variant(name);
  return make_bart(name, read_bart_config(config, variant.family, variant.defaults));
}

}  // namespace tril::model
