// The errors of docs/tutorial-errors.md, each made on purpose: the test shows the symptom and the right result beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/lessons/full_transformer.h"
#include "model/spec/masks.h"
#include "nn/blocks.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/watcher.h"
#include "trace/traced.h"

namespace tril::lessons {
namespace {

using Ids = std::vector<std::int32_t>;
using trace::Input;
using trace::Trace;
using trace::Value;

constexpr std::int32_t pad = 0;

// The encoder-decoder of "Attention is all you need", small and random.
std::unique_ptr<model::Model> transformer() {
  return testing::random_model({{"model_type", "tril"},
                                {"architecture", "full_transformer"},
                                {"vocab_size", 31},
                                {"d_model", 16},
                                {"num_heads", 2},
                                {"d_ff", 24},
                                {"num_layers", 2},
                                {"pad_idx", pad}});
}

const Ids source{5, 9, 3, 17}, target{2, 8, 11, 4, 6};

Trace traced() {
  const auto m = transformer();
  Input input{.source = source, .tokens = target, .labels = Ids(target.size(), -1)};
  return trace::traced(*m, input, {"*"}).trace;
}

std::vector<float> logits_of(const model::Model& m, const Ids& from, const Ids& to) {
  return trace::run_pass(m, {.source = from, .tokens = to, .labels = Ids(to.size(), -1)}).logits;
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(std::span<const float> x) {
  Moments m;
  for (const float v : x) m.mean += static_cast<double>(v) / static_cast<double>(x.size());
  for (const float v : x) m.variance += std::pow(static_cast<double>(v) - m.mean, 2) / static_cast<double>(x.size());
  return m;
}

// 1. The decoder is called without what the encoder read.
TEST(TutorialErrors, ADecoderNeedsTheMemory) {
  const auto m = transformer();
  Arena arena;
  Context c(arena);
  EXPECT_TRUE(contains(error_of([&] { m->decode(c, {.ids = target, .rows = Rows::rectangle(1, 5)}); }), "memory"));
}

// 2. One norm for two sublayers: here the published variant that shares norm2 beside the one that does not.
TEST(TutorialErrors, EachSublayerHasANormOfItsOwn) {
  const auto names = [](bool shared) {
    model::FullTransformer m(
        {.vocab_size = 31, .d_model = 16, .num_heads = 2, .d_ff = 24, .num_layers = 1, .share_norm2 = shared});
    std::set<std::string> norms;
    for (const nn::Parameter& p : m.parameters().all())
      if (p.name.find("norm") != std::string::npos && p.name.find("decoder") != std::string::npos &&
          p.name.ends_with(".weight"))
        norms.insert(p.name);
    return norms.size();
  };
  EXPECT_EQ(names(false), 3u);
  EXPECT_EQ(names(true), 2u);
}

// 3. A layer made inside the call has new weights each time: nothing that was learned is in it.
TEST(TutorialErrors, ALayerIsMadeOnce) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(std::vector<float>{1, 2, 3, 4}, {1, 4});
  std::uint64_t seed = 0;
  const auto made_inside = [&] {
    nn::Parameters p;
    const nn::Linear layer(p, "layer", 4, 4);
    p.allocate(), p.initialise(++seed);
    return host_copy<float>(layer.forward(c, x));
  };
  EXPECT_NE(made_inside(), made_inside());
  nn::Parameters p;
  const nn::Linear layer(p, "layer", 4, 4);
  p.allocate(), p.initialise(1);
  EXPECT_EQ(host_copy<float>(layer.forward(c, x)), host_copy<float>(layer.forward(c, x)));
}

// 4. "Position i sees the positions before it" leaves out i itself. The input is shifted already: i reads token i - 1.
TEST(TutorialErrors, PositionISeesItself) {
  const Trace t = traced();
  const std::vector<std::int32_t> mask = t.at("decoder.0.self.mask").ints();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(mask[i * 5 + j], j <= i ? 1 : 0);
  EXPECT_EQ(t.at("decoder.0.self.weights").floats()[0], 1.0f);  // the first token attends to itself alone
}

// 5. Post-norm normalises the sum: norm(x + f(x)), not x + norm(f(x)).
TEST(TutorialErrors, TheNormFollowsTheResidual) {
  const Trace t = traced();
  const std::vector<float> x = t.at("encoder.0.input").floats(), f = t.at("encoder.0.self.out").floats(),
                           y = t.at("encoder.0.after_self").floats();
  const auto m = transformer();
  std::vector<float> weight, bias;
  for (const nn::Parameter& p : m->parameters().all()) {
    if (p.name.find("encoder") == std::string::npos || p.name.find("norm1") == std::string::npos) continue;
    if (weight.empty() && p.name.ends_with(".weight")) weight = host_copy<float>(p.value);
    if (bias.empty() && p.name.ends_with(".bias")) bias = host_copy<float>(p.value);
  }
  ASSERT_EQ(weight.size(), 16u);
  double right = 0, wrong = 0;
  for (std::size_t t0 = 0; t0 < source.size(); ++t0) {
    std::vector<float> sum(16),
        own(f.begin() + static_cast<std::ptrdiff_t>(16 * t0), f.begin() + static_cast<std::ptrdiff_t>(16 * t0 + 16));
    for (std::size_t i = 0; i < 16; ++i) sum[i] = x[16 * t0 + i] + own[i];
    const Moments of_sum = moments(sum), of_own = moments(own);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto normed = [&](double v, const Moments& k) {
        return (v - k.mean) / std::sqrt(k.variance + 1e-6) * static_cast<double>(weight[i]) +
               static_cast<double>(bias[i]);
      };
      const auto got = static_cast<double>(y[16 * t0 + i]);
      right = std::max(right, std::abs(got - normed(static_cast<double>(sum[i]), of_sum)));
      wrong = std::max(
          wrong, std::abs(got - (static_cast<double>(x[16 * t0 + i]) + normed(static_cast<double>(own[i]), of_own))));
    }
  }
  EXPECT_LT(right, 1e-4);
  EXPECT_GT(wrong, 0.1);
}

// A source padded to six tokens: attention to all six moves the result, the padding mask keeps it.
TEST(TutorialErrors, CrossAttentionNeedsThePaddingMask) {
  const auto m = transformer();
  const auto& full = dynamic_cast<const model::FullTransformer&>(*m);
  Ids padded = source;
  padded.insert(padded.end(), {pad, pad});
  const std::vector<float> alone = logits_of(*m, source, target), without = logits_of(*m, padded, target);
  EXPECT_GT(trace::largest(alone, without), 1e-2);
  Arena arena;
  Context c(arena);
  EXPECT_LT(trace::largest(alone, host_copy<float>(full.forward(c, padded, target, 1))), 1e-4);
}

// 7. A mask that is made but not passed on: the decoder then reads the padding of its own text.
TEST(TutorialErrors, AMaskMustBeUsed) {
  Arena arena;
  Context c(arena);
  const Ids padded{7, 3, pad, pad};
  const Tensor mask = model::padding_mask(c, padded, 1, pad);
  EXPECT_EQ(host_copy<std::uint8_t>(mask), (std::vector<std::uint8_t>{1, 1, 0, 0}));
  RandomSequence random(1, 1);
  std::vector<float> values(4 * 8);
  for (float& v : values) v = static_cast<float>(random.normal());
  const Tensor x = c.upload<float>(values, {4, 8});
  const ops::Spans spans = ops::spans_of(Rows::rectangle(1, 4), Rows::rectangle(1, 4));
  const auto first_of = [&](const ops::Mask& used) {
    const std::vector<float> y = host_copy<float>(ops::attention(c, {x, x, x}, spans, {.num_heads = 1, .mask = used}));
    return std::vector<float>(y.begin(), y.begin() + 16);  // the two real tokens
  };
  const ops::Spans short_spans = ops::spans_of(Rows::rectangle(1, 2), Rows::rectangle(1, 2));
  const Tensor real = x.rows(0, 2);
  const std::vector<float> alone =
      host_copy<float>(ops::attention(c, {real, real, real}, short_spans, {.num_heads = 1}));
  EXPECT_LT(trace::largest(alone, first_of(ops::Mask::explicit01(mask))), 1e-5);
  EXPECT_GT(trace::largest(alone, first_of(ops::Mask::full())), 1e-2);
}

// 8. Without 1 / sqrt(d_k) the scores of independent queries and keys have the variance d_k, and the softmax is almost hard.
TEST(TutorialErrors, ScoresAreScaled) {
  constexpr std::int64_t d = 64, n = 32;
  Arena arena;
  Context c(arena);
  RandomSequence random(3, 1);
  std::vector<float> q(d * n), k(d * n);
  for (float& v : q) v = static_cast<float>(random.normal());
  for (float& v : k) v = static_cast<float>(random.normal());
  const ops::Spans spans = ops::spans_of(Rows::rectangle(1, n), Rows::rectangle(1, n));
  const auto mean_of_largest = [&](float scale) {
    double sum = 0;
    const Watcher watcher(c, "weights", [&](const std::string&, const Tensor& x) {
      const std::vector<float> w = host_copy<float>(x);
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(*std::max_element(w.begin() + i * n, w.begin() + (i + 1) * n)) / n;
    });
    const Tensor Q = c.upload<float>(q, {n, d}), K = c.upload<float>(k, {n, d});
    ops::attention(c, {Q, K, K}, spans, {.num_heads = 1, .scale = scale});
    return sum;
  };
  EXPECT_LT(mean_of_largest(0), 0.3);  // 0: 1 / sqrt(d_k)
  EXPECT_GT(mean_of_largest(1), 0.7);
}

// 9. q and k swapped: the scores are transposed, so that token i weighs those that it should be weighed by.
TEST(TutorialErrors, QueriesAndKeysAreNotSymmetric) {
  const Trace t = traced();
  const std::vector<float> s = t.at("encoder.0.self.scores").floats(), q = t.at("encoder.0.self.q").floats(),
                           k = t.at("encoder.0.self.k").floats();
  double right = 0, wrong = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      double qk = 0, kq = 0;
      for (std::size_t n = 0; n < 8; ++n) {  // head 0 of 2, each 8 wide
        qk += static_cast<double>(q[i * 16 + n]) * static_cast<double>(k[j * 16 + n]);
        kq += static_cast<double>(k[i * 16 + n]) * static_cast<double>(q[j * 16 + n]);
      }
      const auto got = static_cast<double>(s[i * 4 + j]) * std::sqrt(8.0);
      right = std::max(right, std::abs(got - qk)), wrong = std::max(wrong, std::abs(got - kq));
    }
  EXPECT_LT(right, 1e-4);
  EXPECT_GT(wrong, 0.1);
}

// 10. Where a query may see no key, -inf gives 0 / 0 (tril: zeros), and -1e9 equal weights for the forbidden keys. Elsewhere
// both agree.
TEST(TutorialErrors, MinusInfinityAndMinusABillionDifferWhereNothingIsAllowed) {
  Arena arena;
  Context c(arena);
  const std::vector<float> values{1, 2, 3, 4};
  const Tensor x = c.upload<float>(values, {2, 2});
  const ops::Spans spans = ops::spans_of(Rows::rectangle(1, 2), Rows::rectangle(1, 2));
  ops::Mask mask = ops::Mask::explicit01(c.upload<std::uint8_t>(std::vector<std::uint8_t>{0, 0, 1, 1}, {1, 1, 2, 2}));
  const auto y = [&] { return host_copy<float>(ops::attention(c, {x, x, x}, spans, {.num_heads = 1, .mask = mask})); };
  const std::vector<float> infinite = y();
  mask.masked_is_minus_1e9 = true;
  const std::vector<float> finite = y();
  EXPECT_EQ(infinite[0], 0.0f);
  EXPECT_EQ(infinite[1], 0.0f);
  EXPECT_FLOAT_EQ(finite[0], 2.0f);  // the mean of the values
  EXPECT_FLOAT_EQ(finite[1], 3.0f);
  EXPECT_NEAR(infinite[2], finite[2], 1e-6);
  EXPECT_TRUE(std::isnan(std::exp(-INFINITY - -INFINITY)));  // what a softmax without this case computes
}

}  // namespace
}  // namespace tril::lessons
