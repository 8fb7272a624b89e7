// The copies of weights for products: workers that make a share each make the same as one worker.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "kern/gemm_bf16.h"
#include "nn/layers.h"
#include "nn/parameters.h"

namespace tril::nn::refresh_test {
namespace {

using Copies = std::vector<std::vector<std::uint16_t>>;

// A large table between small matrices, of sizes that are no multiples of a panel.
struct Weights {
  Parameters p;
  Linear first{p, "first", 40, 24}, table{p, "table", 310, 1001}, last{p, "last", 100, 65};

  Weights() {
    p.allocate();
    p.set_precision(Precision::bf16);
    RandomSequence random(1, 2);
    for (Parameter& w : p.all()) {
      std::vector<float> values(static_cast<std::size_t>(w.shape.count()));
      for (float& v : values) v = static_cast<float>(random.normal());
      p.set(kern::best(), w, values);
    }
    p.refresh(kern::best());
  }

  Copies take() {
    Copies all;
    for (Parameter& w : p.all())
      for (Tensor copy : {w.packed, w.packed_transposed}) {
        if (!copy) continue;
        std::uint16_t* const values = copy.data<std::uint16_t>();
        all.emplace_back(values, values + copy.count());
        std::fill_n(values, copy.count(), 0xFFFF);
      }
    return all;
  }
};

TEST(Refresh, SharesMakeWhatOneWorkerMakes) {
  for (const std::int64_t parts : {1, 2, 3, 5, 16, 64}) {
    Weights w;
    const Copies whole = w.take();
    ASSERT_EQ(whole.size(), 6u);
    for (std::int64_t part = 0; part < parts; ++part) w.p.refresh(kern::best(), part, parts);
    EXPECT_EQ(w.take(), whole) << parts;
  }
}

// The table is most of the weights, and yet no worker has more than its share and a panel of each matrix.
TEST(Refresh, LargeTablesAreDivided) {
  Weights w;
  w.take();
  w.p.refresh(kern::best(), 3, 8);
  std::size_t made = 0, all = 0;
  for (const std::vector<std::uint16_t>& copy : w.take())
    for (const std::uint16_t value : copy) made += value != 0xFFFF ? 1 : 0, ++all;
  EXPECT_GT(made, all / 16);
  EXPECT_LT(made, all / 5);
}

}  // namespace
}  // namespace tril::nn::refresh_test
