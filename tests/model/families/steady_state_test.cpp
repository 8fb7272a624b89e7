// Steps make no new demands on the system: the arena stops growing, and a decoding step makes few allocations of its
// own.
#include <gtest/gtest.h>

#include "model/spec/model.h"
#include "support/allocations.h"
#include "support/small_marian.h"

namespace tril::model::steady_state_test {
namespace {

using testing::Batch;

TEST(SteadyState, TrainingStepsOfVaryingBatches) {
  const auto m = testing::small_marian();
  for (bool checkpointing : {false, true}) {
    m->set_gradient_checkpointing(checkpointing);
    Arena arena;
    Context c(arena);
    c.set_training(true);
    Tape tape;
    Grads grads;
    const Tensor gradient = c.zeros({m->parameters().flat().count()});
    m->parameters().bind_gradients(grads, gradient);
    RandomSequence random(1, 1);
    std::vector<Batch> epoch;
    for (int i = 0; i < 60; ++i) epoch.push_back(testing::random_batch(random, 300, 24, 40));
    // A step frees all that it took, so its needs depend only on its batch: after one epoch nothing grows, in any order
    // of the batches; and the first few batches already come near.
    const std::size_t few = 10;
    Arena::Stats after_few, after_epoch;
    std::size_t live = 0;
    for (std::size_t step = 0; step < 3 * epoch.size(); ++step) {
      if (step % epoch.size() == 0)
        for (std::size_t i = epoch.size(); i-- > 1;) std::swap(epoch[i], epoch[random.below(i + 1)]);
      const Batch& b = epoch[step % epoch.size()];
      tape.clear(), grads.restart();
      m->parameters().watch(tape);
      c.set_tape(&tape);
      {
        const Memory memory = m->encode(c, b.source, b.source_rows);
        const Tensor hidden = m->decode(c, {.ids = b.target, .rows = b.target_rows, .memory = &memory});
        const OutputProjection out = m->output();
        const Tensor loss = ops::projected_cross_entropy(c, {hidden, out.weight, out.bias}, c.upload(b.target), {});
        tape.backward(c, loss, c.upload<float>({1.0f}), grads);
      }
      grads.finish(c);
      c.set_tape(nullptr);
      if (step == 0) live = arena.stats().live_bytes;
      EXPECT_EQ(arena.stats().live_bytes, live) << "step " << step << " left something behind";
      if (step + 1 == few) after_few = arena.stats();
      if (step + 1 == epoch.size()) after_epoch = arena.stats();
    }
    EXPECT_EQ(arena.stats().growths, after_epoch.growths)
        << "high water " << after_epoch.high_water << " -> " << arena.stats().high_water;
    EXPECT_LT(static_cast<double>(after_epoch.high_water), 1.1 * static_cast<double>(after_few.high_water));
    RecordProperty(checkpointing ? "high_water_checkpointing" : "high_water", std::to_string(arena.stats().high_water));
  }
}

// Decodes batches of sentences one after the other, 30 steps each, in one cache; returns the most calls of operator new
// in a step, without the first sentences.
std::size_t decode_and_count(std::int64_t decoder_layers) {
  MarianConfig config = testing::small_marian_config();
  config.decoder_layers = decoder_layers;
  const auto m = testing::small_marian(config);
  Arena arena;
  Context c(arena);
  RandomSequence random(2, 1);
  const auto cache = m->make_cache(c);
  std::uint64_t growths = 0;
  std::size_t most = 0;
  for (int sentences = 0; sentences < 8; ++sentences) {
    const Batch b = testing::random_batch(random, 100, 20, 40);
    const Memory memory = m->encode(c, b.source, b.source_rows);
    cache->reorder({});
    cache->add_rows(std::min<std::int64_t>(b.source_rows.count(), 8));
    const std::int64_t rows = cache->rows();
    std::vector<std::int32_t> ids(static_cast<std::size_t>(rows), 3), memory_rows;
    for (std::int64_t r = 0; r < rows; ++r) memory_rows.push_back(static_cast<std::int32_t>(r));
    for (int t = 0; t < 30; ++t) {
      const testing::AllocationMeter meter;
      Rows step;
      for (std::int64_t r = 0; r < rows; ++r) step.append(1, cache->length(r));
      const Tensor hidden =
          m->decode(c, {.ids = ids, .rows = step, .memory = &memory, .memory_rows = memory_rows, .cache = cache.get()});
      const Tensor y = logits(c, *m, hidden);
      if (sentences > 1) most = std::max(most, meter.count());
      EXPECT_EQ(y.size(0), rows);
    }
    if (sentences == 4) growths = arena.stats().growths;
  }
  EXPECT_EQ(arena.stats().growths, growths);
  return most;
}

TEST(SteadyState, DecodingSteps) {
  const std::size_t two = decode_and_count(2), six = decode_and_count(6);
  EXPECT_LE(two, 60u) << "the lists of a call of eight rows";
  EXPECT_EQ(six, two) << "layers allocate nothing of their own";
  RecordProperty("allocations_in_a_step", std::to_string(two));
}

}  // namespace
}  // namespace tril::model::steady_state_test
