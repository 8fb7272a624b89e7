// Medusa heads: their formula, computed in double, and the weights that they declare.
#include "nn/medusa_heads.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril::nn::medusa_test {
namespace {

constexpr std::int64_t D = 7;

void fill(Parameters& p) {
  p.allocate();
  RandomSequence random(3, 1);
  for (Parameter& w : p.all()) {
    std::vector<float> values(static_cast<std::size_t>(w.shape.count()));
    for (float& v : values) v = static_cast<float>(0.5 * random.normal());
    host_write<float>(w.value, values);
  }
  p.refresh(kern::best());
}

// h + SiLU(h W^T + b), layer after layer
std::vector<double> expected_state(const Parameters& p, const MedusaSizes& sizes, std::int64_t head,
                                   std::vector<double> h) {
  for (std::int64_t l = 0; l < sizes.layers; ++l) {
    const std::string prefix = fmt::format("medusa_head.{}.{}.linear.", head, l);
    const std::vector<float> w = host_copy<float>(p.find(prefix + "weight")->value),
                             b = host_copy<float>(p.find(prefix + "bias")->value);
    std::vector<double> next = h;
    for (std::size_t i = 0; i < D; ++i) {
      double z = b[i];
      for (std::size_t j = 0; j < D; ++j) z += static_cast<double>(w[i * D + j]) * h[j];
      next[i] += z / (1 + std::exp(-z));
    }
    h = next;
  }
  return h;
}

TEST(MedusaHeads, StatesAreThoseOfTheFormula) {
  for (const std::int64_t layers : {1, 3}) {
    const MedusaSizes sizes{.heads = 3, .layers = layers, .d_model = D};
    Parameters p;
    const MedusaHeads heads(p, sizes);
    fill(p);
    const std::vector<float> h{0.3f, -1, 2, 0.5f, 0, 1, -0.7f, 1, 1, -1, 0.2f, 0.1f, -3, 0.4f};
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      const Tensor hidden = c.upload<float>(h, {2, D});
      for (std::int64_t k = 0; k < 3; ++k) {
        const std::vector<float> got = host_copy<float>(heads.state(c, hidden, k));
        for (std::size_t row = 0; row < 2; ++row) {
          const std::vector<double> expected =
              expected_state(p, sizes, k, {h.begin() + row * D, h.begin() + (row + 1) * D});
          for (std::size_t i = 0; i < D; ++i) EXPECT_NEAR(got[row * D + i], expected[i], 1e-4) << k << " " << i;
        }
      }
    }
  }
}

// With weights of zero, a head is the model's own output layer.
TEST(MedusaHeads, BeginAsTheModel) {
  Parameters p;
  const MedusaHeads heads(p, {.heads = 1, .layers = 2, .d_model = D});
  p.allocate();
  p.initialise(1);
  p.refresh(kern::best());
  Arena arena;
  Context c(arena);
  const std::vector<float> h{0.3f, -1, 2, 0.5f, 0, 1, -0.7f};
  EXPECT_EQ(host_copy<float>(heads.state(c, c.upload<float>(h, {1, D}), 0)), h);
}

TEST(MedusaHeads, AreFoundByTheirNames) {
  Parameters none;
  EXPECT_FALSE(MedusaHeads::find(none));
  for (const std::int64_t vocab : {0, 11}) {
    Parameters p;
    const MedusaSizes sizes{.heads = 4, .layers = 2, .d_model = D, .own_vocab = vocab};
    const MedusaHeads declared(p, sizes);
    const std::optional<MedusaHeads> found = MedusaHeads::find(p);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count(), 4);
    EXPECT_EQ(found->sizes().layers, 2);
    EXPECT_EQ(found->sizes().d_model, D);
    EXPECT_EQ(found->sizes().own_vocab, vocab);
    EXPECT_EQ(found->output(3), declared.output(3));
    EXPECT_EQ(static_cast<bool>(found->output(0)), vocab > 0);
    for (const Parameter& w : p.all()) EXPECT_TRUE(w.is_adapter) << w.name;
  }
}

}  // namespace
}  // namespace tril::nn::medusa_test
