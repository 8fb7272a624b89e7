// Small random translation models, and requests to them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "decode/batches/parallel.h"
#include "model/families/marian.h"

namespace tril::search::small {

using Ids = std::vector<std::int32_t>;

inline constexpr std::int32_t vocab = 60, eos = 0;

inline std::unique_ptr<model::Marian> marian(std::uint64_t seed, std::int64_t d_model = 48, std::int64_t layers = 2) {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab;
  k.d_model = d_model;
  k.encoder_layers = k.decoder_layers = layers;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 2 * d_model;
  k.max_position_embeddings = 64;
  k.pad_token_id = k.decoder_start_token_id = vocab - 1;
  k.eos_token_id = eos;
  k.init_std = 0.25;
  auto m = std::make_unique<model::Marian>(k);
  m->parameters().allocate();
  m->parameters().initialise(seed);
  m->parameters().refresh(kern::best());
  return m;
}

inline std::vector<Ids> sources_of(std::size_t n, std::uint64_t seed = 1) {
  RandomSequence random(seed, 7);
  std::vector<Ids> list(n);
  for (Ids& ids : list) {
    for (std::uint64_t i = 1 + random.below(25); i > 0; --i)
      ids.push_back(1 + static_cast<std::int32_t>(random.below(vocab - 2)));
    ids.push_back(eos);
  }
  return list;
}

inline std::vector<Request> requests_of(std::size_t n, std::int32_t longest = 30) {
  std::vector<Request> list;
  for (std::size_t i = 0; i < n; ++i)
    list.push_back({.start_id = vocab - 1,
                    .min_length = static_cast<std::int32_t>(i % 4),
                    .max_length = 4 + static_cast<std::int32_t>(i * 7) % longest,
                    .prefix = {},
                    .number = i});
  return list;
}

inline ParallelOptions greedy() {
  ParallelOptions o;
  o.search.eos_ids = {eos};
  o.search.scores = true;
  o.batch_size = 5;
  return o;
}

using Found = std::vector<std::vector<Hypothesis>>;

inline void expect_tokens(const Found& got, const Found& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size()) << i;
    for (std::size_t n = 0; n < got[i].size(); ++n) {
      EXPECT_EQ(got[i][n].tokens, expected[i][n].tokens) << i << " " << n;
      EXPECT_NEAR(got[i][n].log_prob, expected[i][n].log_prob, 1e-3) << i << " " << n;
    }
  }
}

}  // namespace tril::search::small
