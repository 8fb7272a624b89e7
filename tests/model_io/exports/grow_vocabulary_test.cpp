#include "model_io/exports/grow_vocabulary.h"

#include <gtest/gtest.h>

namespace tril::model {
namespace {

MarianConfig config_of(bool shared, bool tied) {
  MarianConfig c;
  c.vocab_size = 11, c.decoder_vocab_size = shared ? 11 : 9;
  c.share_encoder_decoder_embeddings = shared;
  c.tie_word_embeddings = tied;
  c.d_model = 8, c.encoder_layers = c.decoder_layers = 1;
  c.encoder_attention_heads = c.decoder_attention_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 12;
  c.max_position_embeddings = 20;
  c.eos_token_id = 0;
  c.pad_token_id = c.decoder_start_token_id = 8;
  return c;
}

TEST(GrowVocabulary, NewRowsAreMeansAndTheRestStays) {
  for (const bool shared : {true, false})
    for (const bool tied : {true, false}) {
      Marian old(config_of(shared, tied));
      old.parameters().allocate();
      old.parameters().initialise(3);
      nn::Parameter& bias = *old.parameters().find("final_logits_bias");
      std::vector<float> values(static_cast<std::size_t>(bias.shape.count()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      host_write<float>(bias.value, values);

      const NewWords source{11, {{2, 3, 3}, {}}}, target = shared ? source : NewWords{9, {{1, 4}}};
      const auto grown = with_more_words(old, source, target);
      EXPECT_EQ(grown->config().vocab_size, 13);
      EXPECT_EQ(grown->config().decoder_vocab_size, shared ? 13 : 10);
      for (const nn::Parameter& p : old.parameters().all()) {
        const std::vector<float> was = host_copy<float>(p.value),
                                 now = host_copy<float>(grown->parameters().find(p.name)->value);
        ASSERT_LE(was.size(), now.size());
        EXPECT_TRUE(std::equal(was.begin(), was.end(), now.begin())) << p.name;
        if (p.name == "model.shared.weight" || p.name == "model.encoder.embed_tokens.weight")
          for (std::size_t i = 0; i < 8; ++i) {
            EXPECT_NEAR(now[11 * 8 + i], (was[2 * 8 + i] + 2 * was[3 * 8 + i]) / 3, 1e-6);
            double all = 0;
            for (std::size_t row = 0; row < 11; ++row) all += was[row * 8 + i] / 11.0;
            EXPECT_NEAR(now[12 * 8 + i], all, 1e-6);
          }
        if (p.name == "final_logits_bias") {
          EXPECT_NEAR(now[was.size()], shared ? 8 / 3.0 : 2.5, 1e-6);
        }
        if (!shared && p.name == "model.decoder.embed_tokens.weight") {
          for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(now[9 * 8 + i], (was[8 + i] + was[4 * 8 + i]) / 2, 1e-6);
        }
      }
    }
}

// Padding rows beyond the vocabulary are used first.
TEST(GrowVocabulary, FillsRowsThatAreThere) {
  Marian old(config_of(true, true));
  old.parameters().allocate();
  old.parameters().initialise(3);
  const NewWords words{9, {{1}, {2}, {3}}};
  const auto grown = with_more_words(old, words, words);
  EXPECT_EQ(grown->config().vocab_size, 12);
  const auto rows = host_copy<float>(grown->parameters().find("model.shared.weight")->value);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(rows[10 * 8 + i], rows[2 * 8 + i]);
}

}  // namespace
}  // namespace tril::model
