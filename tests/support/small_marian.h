// A Marian small enough for tests, and ragged batches of random ids for it.
#pragma once

#include <memory>
#include <vector>

#include "model/families/marian.h"

namespace tril::testing {

inline model::MarianConfig small_marian_config() {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = 40;
  k.d_model = 16;
  k.encoder_layers = 2, k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 32;
  k.max_position_embeddings = 64;
  k.pad_token_id = k.decoder_start_token_id = 39;
  k.init_std = 0.3;
  return k;
}

inline std::unique_ptr<model::Marian> small_marian(const model::MarianConfig& config = small_marian_config()) {
  auto m = std::make_unique<model::Marian>(config);
  m->parameters().allocate();
  m->parameters().initialise(4);
  m->parameters().refresh(kern::best());
  return m;
}

struct Batch {
  std::vector<std::int32_t> source, target;
  Rows source_rows, target_rows;
};

/// Rows of 1 to `longest` tokens until the next one would exceed `budget` target tokens.
inline Batch random_batch(RandomSequence& random, std::int64_t budget, std::int32_t longest, std::int32_t vocab) {
  Batch b;
  const auto add = [&](std::vector<std::int32_t>& ids, Rows& rows, std::int32_t length) {
    rows.append(length);
    for (std::int32_t i = 0; i < length; ++i)
      ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocab - 1))));
  };
  for (;;) {
    const auto length = [&] {
      return 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(longest)));
    };
    const std::int32_t n = length();
    if (b.target_rows.tokens() + n > budget) return b;
    add(b.target, b.target_rows, n);
    add(b.source, b.source_rows, std::max(1, std::min(longest, n + static_cast<std::int32_t>(random.below(5)) - 2)));
  }
}

/// The logits of one such batch, for a vocabulary of 40.
inline std::vector<float> logits_of(const model::Model& m) {
  Arena arena;
  Context c(arena);
  RandomSequence random(5, 5);
  const Batch b = random_batch(random, 60, 12, 40);
  const model::Memory memory = m.encode(c, b.source, b.source_rows);
  return host_copy<float>(
      model::logits(c, m, m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory})));
}

}  // namespace tril::testing
