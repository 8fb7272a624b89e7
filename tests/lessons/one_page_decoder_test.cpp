// The decoder of examples/one_page_decoder.cpp beside the engine's, with the same weights: logits, loss and the gradient of
// each weight.
#include <gtest/gtest.h>

#define ONE_PAGE_DECODER_WITHOUT_MAIN
#include "../../examples/one_page_decoder.cpp"
#include "support/random_model.h"

namespace tril::lessons {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr one_page::Sizes sizes{.vocabulary = 11, .positions = 9, .d = 12, .heads = 3, .d_ff = 20, .layers = 2};
const Ids ids{3, 1, 4, 1, 5, 9, 2}, labels{-1, 4, 1, 5, -1, 2, 6};

std::unique_ptr<model::Model> engine() {
  return testing::random_model({{"model_type", "gpt2"},
                                {"vocab_size", sizes.vocabulary},
                                {"n_positions", sizes.positions},
                                {"n_embd", sizes.d},
                                {"n_head", sizes.heads},
                                {"n_inner", sizes.d_ff},
                                {"n_layer", sizes.layers},
                                {"activation_function", "relu"},
                                {"embd_pdrop", 0},
                                {"attn_pdrop", 0},
                                {"resid_pdrop", 0}});
}

/// A weight of the page, and where the engine has it.
struct Pair {
  one_page::Weight* page = nullptr;
  std::string name;
  bool is_transposed = false;  ///< the engine's is [out, in]
  std::size_t first_row = 0;   ///< of q, k and v, which the engine keeps one below the other
};

std::vector<Pair> pairs(one_page::Decoder& page) {
  std::vector<Pair> all{{&page.E, "transformer.wte.weight"},
                        {&page.P, "transformer.wpe.weight"},
                        {&page.last.g, "transformer.ln_f.weight"},
                        {&page.last.b, "transformer.ln_f.bias"}};
  const auto norm = [&](one_page::Norm& f, const std::string& name) {
    all.push_back({&f.g, name + ".weight"});
    all.push_back({&f.b, name + ".bias"});
  };
  const auto linear = [&](one_page::Linear& f, const std::string& name, std::size_t first_row = 0) {
    all.push_back({&f.W, name + ".weight", true, first_row});
    all.push_back({&f.b, name + ".bias", true, first_row});
  };
  for (std::size_t i = 0; i < page.layers.size(); ++i) {
    one_page::Layer& l = page.layers[i];
    const std::string name = "transformer.h." + std::to_string(i);
    norm(l.norm_1, name + ".ln_1");
    linear(l.attention.q, name + ".attn.c_attn", 0);
    linear(l.attention.k, name + ".attn.c_attn", sizes.d);
    linear(l.attention.v, name + ".attn.c_attn", 2 * sizes.d);
    linear(l.attention.out, name + ".attn.c_proj");
    norm(l.norm_2, name + ".ln_2");
    linear(l.feed_forward.first, name + ".mlp.c_fc");
    linear(l.feed_forward.second, name + ".mlp.c_proj");
  }
  return all;
}

/// Where the engine's values have element (i, j) of the page's weight.
std::size_t place(const Pair& p, std::size_t i, std::size_t j) {
  const one_page::Matrix& m = p.page->value;
  return p.is_transposed ? (p.first_row + j) * m.rows + i : i * m.columns + j;
}

TEST(OnePageDecoder, ComputesWhatTheEngineComputes) {
  const std::unique_ptr<model::Model> m = engine();
  one_page::Decoder page(sizes);
  std::size_t copied = 0;
  for (const Pair& p : pairs(page)) {
    ASSERT_NE(m->parameters().find(p.name), nullptr) << p.name;
    const std::vector<float> values = host_copy<float>(m->parameters().find(p.name)->value);
    for (std::size_t i = 0; i < p.page->value.rows; ++i)
      for (std::size_t j = 0; j < p.page->value.columns; ++j)
        p.page->value(i, j) = static_cast<double>(values.at(place(p, i, j))), ++copied;
  }
  EXPECT_EQ(static_cast<std::int64_t>(copied), m->parameters().count());
  EXPECT_EQ(page.weights().size(), pairs(page).size());

  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  m->parameters().watch(tape);
  c.set_tape(&tape);
  const Tensor logits =
      model::logits(c, *m, m->decode(c, {.ids = ids, .rows = Rows::rectangle(1, std::ssize(ids)), .memory_rows = {}}));
  const Tensor loss = ops::cross_entropy(c, logits, c.upload(labels), {});
  const std::vector<float> engine_logits = host_copy<float>(logits);
  const auto engine_loss = static_cast<double>(host_copy<float>(loss)[0]);
  tape.backward(c, loss, c.upload<float>(std::vector<float>{1}, {1}), grads);

  const one_page::Matrix page_logits = page.forward(ids);
  const one_page::Loss page_loss = one_page::cross_entropy(page_logits, labels);
  page.backward(page_loss.dlogits);

  // Doubles against sums of float32 in values of about 1: a wrong term would differ by its own size.
  ASSERT_EQ(engine_logits.size(), page_logits.values.size());
  for (std::size_t i = 0; i < engine_logits.size(); ++i)
    EXPECT_NEAR(page_logits.values[i], static_cast<double>(engine_logits[i]), 2e-5);
  EXPECT_NEAR(page_loss.value, engine_loss, 1e-5);
  for (const Pair& p : pairs(page)) {
    const std::vector<float> gradient = host_copy<float>(grads.get(m->parameters().find(p.name)->value));
    double largest = 0;
    for (std::size_t i = 0; i < p.page->value.rows; ++i)
      for (std::size_t j = 0; j < p.page->value.columns; ++j) {
        EXPECT_NEAR(p.page->gradient(i, j), static_cast<double>(gradient.at(place(p, i, j))), 2e-5) << p.name;
        largest = std::max(largest, std::abs(p.page->gradient(i, j)));
      }
    EXPECT_TRUE(largest > 1e-3 || p.name.ends_with(".c_attn.bias")) << p.name;  // the gradient of k's bias is 0
  }
}

// One step of Adam, by its formula: the first step has the size of the rate, whatever the gradient's size.
TEST(OnePageDecoder, AdamsFirstStepIsTheRate) {
  one_page::Weight w(1, 2);
  w.value(0, 0) = 1, w.gradient(0, 0) = 1e-3, w.gradient(0, 1) = -50;
  one_page::adam(w, 0.25, 1);
  EXPECT_NEAR(w.value(0, 0), 0.75, 1e-5);
  EXPECT_NEAR(w.value(0, 1), 0.25, 1e-9);
  EXPECT_EQ(w.gradient(0, 0), 0);
}

}  // namespace
}  // namespace tril::lessons
