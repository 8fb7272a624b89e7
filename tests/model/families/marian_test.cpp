// Marian: a ragged batch equals its rows one by one, and the padded rectangle with masks; gradient checkpointing
// changes no number.
#include "model/families/marian.h"

#include <gtest/gtest.h>

#include "model/spec/masks.h"
#include "support/small_marian.h"

namespace tril::model::marian_test {
namespace {

using testing::Batch;

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 5e-5 * (1 + std::abs(expected[i]))) << what << " " << i;
}

Tensor logits_of(Context& c, const Model& m, const Batch& b) {
  const Memory memory = m.encode(c, b.source, b.source_rows);
  return logits(c, m, m.decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory}));
}

std::vector<std::int32_t> row_of(const std::vector<std::int32_t>& ids, const Rows& rows, std::int64_t r) {
  return {ids.begin() + rows.begin(r), ids.begin() + rows.end(r)};
}

TEST(Marian, ARaggedBatchIsItsRowsOneByOne) {
  const auto m = testing::small_marian();
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    RandomSequence random(1, 1);
    const Batch b = testing::random_batch(random, 80, 17, 40);
    const Tensor together = logits_of(c, *m, b);
    for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {
      const Batch one{row_of(b.source, b.source_rows, r), row_of(b.target, b.target_rows, r),
                      Rows::rectangle(1, b.source_rows.length(r)), Rows::rectangle(1, b.target_rows.length(r))};
      expect_near(host_copy<float>(together.rows(b.target_rows.begin(r), b.target_rows.end(r))),
                  host_copy<float>(logits_of(c, *m, one)), "row " + std::to_string(r));
    }
  }
}

// Padded with the padding id to `longest` tokens a row.
std::vector<std::int32_t> padded(const std::vector<std::int32_t>& ids, const Rows& rows, std::int32_t pad) {
  std::vector<std::int32_t> filled;
  for (std::int64_t r = 0; r < rows.count(); ++r)
    for (std::int32_t t = 0; t < rows.longest(); ++t)
      filled.push_back(t < rows.length(r) ? ids[static_cast<std::size_t>(rows.begin(r) + t)] : pad);
  return filled;
}

TEST(Marian, ARaggedBatchIsThePaddedRectangleWithMasks) {
  const auto m = testing::small_marian();
  const std::int32_t pad = m->config().pad_token_id;
  for (bool minus_1e9 : {false, true}) {
    Arena arena;
    Context c(arena);
    RandomSequence random(2, 1);
    const Batch b = testing::random_batch(random, 60, 13, 40);
    const std::int64_t B = b.target_rows.count();
    const auto source = padded(b.source, b.source_rows, pad), target = padded(b.target, b.target_rows, pad);
    ops::Mask source_mask = ops::Mask::explicit01(padding_mask(c, source, B, pad)),
              target_mask = ops::Mask::explicit01(causal_padding_mask(c, target, B, pad));
    source_mask.masked_is_minus_1e9 = target_mask.masked_is_minus_1e9 = minus_1e9;
    const Memory memory = m->encode(c, source, Rows::rectangle(B, b.source_rows.longest()), source_mask);
    const std::int64_t T = b.target_rows.longest();
    const Tensor all = logits(c, *m,
                              m->decode(c, {.ids = target,
                                            .rows = Rows::rectangle(B, T),
                                            .memory = &memory,
                                            .self_mask = target_mask,
                                            .memory_mask = source_mask}));
    const Tensor ragged = logits_of(c, *m, b);
    for (std::int64_t r = 0; r < B; ++r)
      expect_near(host_copy<float>(all.rows(r * T, r * T + b.target_rows.length(r))),
                  host_copy<float>(ragged.rows(b.target_rows.begin(r), b.target_rows.end(r))),
                  "row " + std::to_string(r));
  }
}

TEST(Marian, RowsMayShareAMemory) {  // beams: three rows of one sentence, one of another, with gradients
  const auto m = testing::small_marian();
  Arena arena;
  Context c(arena);
  const std::vector<std::int32_t> source{1, 2, 3, 4, 5}, lengths{3, 2}, target{7, 8, 9, 8, 7, 9, 1, 2},
      target_lengths{2, 2, 3, 1}, of{0, 0, 1, 0};
  std::vector<float> dw[2];
  for (int repeated : {0, 1}) {  // the same with each row's source written out
    const Rows source_rows =
        repeated ? Rows::of_lengths(std::vector<std::int32_t>{3, 3, 2, 3}) : Rows::of_lengths(lengths);
    const std::vector<std::int32_t> ids =
        repeated ? std::vector<std::int32_t>{1, 2, 3, 1, 2, 3, 4, 5, 1, 2, 3} : source;
    Tape tape;
    Grads grads;
    m->parameters().watch(tape);
    c.set_tape(&tape);
    const Memory memory = m->encode(c, ids, source_rows);
    DecoderInput input{.ids = target, .rows = Rows::of_lengths(target_lengths), .memory = &memory};
    if (!repeated) input.memory_rows = of;
    const Tensor y = logits(c, *m, m->decode(c, input));
    RandomSequence random(6, 1);
    std::vector<float> dy;
    for (std::int64_t i = 0; i < y.count(); ++i) dy.push_back(static_cast<float>(random.normal()));
    tape.backward(c, y, c.upload<float>(dy, y.shape()), grads);
    c.set_tape(nullptr);
    for (const nn::Parameter& p : m->parameters().all())
      if (p.trainable)
        for (float g : host_copy<float>(grads.get(p.value))) dw[repeated].push_back(g);
  }
  ASSERT_EQ(dw[0].size(), dw[1].size());
  double largest = 0;
  for (float g : dw[1]) largest = std::max(largest, std::abs(static_cast<double>(g)));
  for (std::size_t i = 0; i < dw[0].size(); ++i) ASSERT_NEAR(dw[0][i], dw[1][i], 1e-4 * largest) << i;
}

TEST(Marian, GradientCheckpointingChangesNoNumber) {
  const auto m = testing::small_marian();
  Arena arena;
  Context c(arena);
  c.set_training(true);
  RandomSequence random(3, 1);
  const Batch b = testing::random_batch(random, 100, 20, 40);
  std::vector<float> found[2];
  std::size_t peaks[2] = {};
  for (bool on : {false, true}) {
    m->set_gradient_checkpointing(on);
    Tape tape;
    Grads grads;
    m->parameters().watch(tape);
    c.set_tape(&tape);
    c.set_rng(Rng(8));
    arena.reset_peak();
    const Memory memory = m->encode(c, b.source, b.source_rows);
    const Tensor hidden = m->decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory});
    const OutputProjection out = m->output();
    const Tensor loss =
        ops::projected_cross_entropy(c, {hidden, out.weight, out.bias}, c.upload(b.target), {.label_smoothing = 0.1f});
    tape.backward(c, loss, c.upload<float>({1.0f}), grads);
    c.set_tape(nullptr);
    peaks[on] = arena.stats().peak_bytes;
    found[on] = host_copy<float>(loss);
    for (const nn::Parameter& p : m->parameters().all())
      if (p.trainable)
        for (float g : host_copy<float>(grads.get(p.value))) found[on].push_back(g);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_LT(peaks[1], peaks[0]);
}

TEST(Marian, OneTokenAStepEqualsAllAtOnce) {
  const auto m = testing::small_marian();
  Arena arena;
  Context c(arena);
  RandomSequence random(4, 1);
  const Batch b = testing::random_batch(random, 60, 12, 40);
  const auto all = host_copy<float>(logits_of(c, *m, b));
  const Memory memory = m->encode(c, b.source, b.source_rows);
  const auto cache = m->make_cache(c);
  cache->add_rows(b.target_rows.count());
  const std::size_t V = 40;
  for (std::int32_t t = 0; t < b.target_rows.longest(); ++t) {
    Rows rows;
    std::vector<std::int32_t> ids;
    for (std::int64_t r = 0; r < b.target_rows.count(); ++r) {  // a finished row adds nothing
      const bool more = t < b.target_rows.length(r);
      rows.append(more ? 1 : 0, cache->length(r));
      if (more) ids.push_back(b.target[static_cast<std::size_t>(b.target_rows.begin(r) + t)]);
    }
    const auto step = host_copy<float>(
        logits(c, *m, m->decode(c, {.ids = ids, .rows = rows, .memory = &memory, .cache = cache.get()})));
    for (std::int64_t r = 0; r < rows.count(); ++r)
      for (std::size_t v = 0; rows.length(r) > 0 && v < V; ++v)
        ASSERT_NEAR(step[static_cast<std::size_t>(rows.begin(r)) * V + v],
                    all[static_cast<std::size_t>(b.target_rows.begin(r) + t) * V + v], 1e-4);
  }
}

TEST(Marian, IdsOutOfRangeAreNamed) {
  const auto m = testing::small_marian();
  Arena arena;
  Context c(arena);
  try {
    m->encode(c, std::vector<std::int32_t>{1, 40}, Rows::rectangle(1, 2));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("value 40 at 1 is not in [0, 40)"), std::string::npos) << e.what();
  }
  EXPECT_THROW(m->decode(c, {.ids = std::vector<std::int32_t>{1}, .rows = Rows::rectangle(1, 1)}), Error)
      << "no memory";
  EXPECT_THROW(m->decode(c, {.ids = std::vector<std::int32_t>{1, 2}, .rows = Rows::rectangle(1, 1)}), Error)
      << "two ids for one";
}

}  // namespace
}  // namespace tril::model::marian_test
