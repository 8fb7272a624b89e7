// Two small models of random weights for serving: one that translates, one that continues text.
#pragma once

#include "model/families/gpt2.h"
#include "model/families/marian.h"
#include "serve/api/request_fields.h"
#include "serve/engine/served_model.h"
#include "support/small_tokenizer.h"
#include "tokenizer/files/gpt2_tokenizer.h"

namespace tril::serve::testing {

inline const std::string letters = "abcdefgh \n\u00e9\u20ac\U0001f600";

// A MarianMT model of the tokenizer's vocabulary, whose sentences begin with `start`.
inline std::shared_ptr<model::Marian> small_marian(const Tokenizer& tokenizer, std::int32_t start,
                                                   std::int64_t positions, std::uint64_t seed) {
  const SpecialIds& special = tokenizer.special(Side::target);
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = tokenizer.size(Side::target);
  k.d_model = 32;
  k.encoder_layers = k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 64;
  k.max_position_embeddings = positions;
  k.pad_token_id = special.pad;
  k.decoder_start_token_id = start;
  k.eos_token_id = special.eos;
  k.init_std = 0.3;
  auto m = std::make_shared<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(seed);
  m->parameters().refresh(kern::best());
  return m;
}

inline Loaded small_translator() {
  Loaded l;
  l.tokenizer = test::small_tokenizer();
  l.model = small_marian(*l.tokenizer, l.tokenizer->special(Side::target).pad, 128, 5);
  l.asked.beam_size = l.search.beam_size = 3;
  l.search.eos_ids = {l.model->special_ids().eos};
  l.text.max_length = 24;
  l.engine.deterministic = true;
  l.source_language = "en", l.target_language = "de";
  return l;
}

// A GPT-2 of these characters, whose chat template concatenates messages; with `padding` columns beyond its tokens.
// @param serving  the precision of its weights; none: float32
inline Loaded small_writer(const std::string& characters, std::int64_t padding = 0,
                           std::optional<nn::Precision> serving = {}) {
  Loaded l;
  l.tokenizer = make_character_tokenizer(characters, 200);
  model::Gpt2Config k;
  const auto tokens = static_cast<std::int32_t>(l.tokenizer->size(Side::target));
  k.vocab_size = tokens + padding;
  k.n_positions = 200;
  k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
  k.initializer_range = 0.5;
  k.bos_token_id = k.eos_token_id = l.tokenizer->special(Side::target).eos;
  const auto m = std::make_shared<model::Gpt2>(k);
  m->parameters().allocate();
  m->parameters().initialise(3);
  m->parameters().refresh(kern::best());
  l.model = m;
  if (serving) {
    const auto other = std::make_shared<model::Gpt2>(k);
    other->parameters().allocate_serving(*serving);
    auto from = m->parameters().all().begin();
    for (nn::Parameter& p : other->parameters().all()) {
      const std::vector<float> values = host_copy<float>(from++->value);
      other->parameters().set(kern::best(), p, values);
    }
    other->parameters().refresh(kern::best());
    l.model = other;
  }
  l.search.eos_ids = {m->special_ids().eos};
  for (std::int32_t id = 0; id < tokens; ++id)  // only letters, no byte tokens
    if (const std::string one = l.tokenizer->decode({&id, 1}, Side::target);
        id != k.eos_token_id && (one.size() != 1 || characters.find(one) == std::string::npos))
      l.search.suppress_ids.push_back(id);
  l.chat = [](const Json& messages, bool answers) {
    std::string text;
    for (const Json& one : messages) text += one["content"].get<std::string>() + "\n";
    return text + (answers ? "a" : "");
  };
  return l;
}

}  // namespace tril::serve::testing
