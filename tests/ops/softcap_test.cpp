// The soft cap of logits; that of scores is in attention_test.cpp, that of losses' logits in loss_test.cpp.
#include "ops/softcap.h"

#include <cmath>

#include "support/op_case.h"

namespace tril::test {
namespace {

TEST(SoftCap, AnswersEveryQuestion) {
  for (const float cap : {0.5f, 30.0f})
    check_op({.name = fmt::format("softcap {}", cap),
              .shapes = {{5, 7}},
              .run = [cap](Context& c, std::span<const Tensor> x) { return ops::softcap(c, x[0], cap); },
              .reference =
                  [cap = static_cast<double>(cap)](std::span<const Doubles> x) {
                    Doubles y;
                    for (const double v : x[0]) y.push_back(cap * std::tanh(v / cap));
                    return y;
                  }});
  Arena arena;
  Context c(arena);
  expect_error([&] { ops::softcap(c, c.zeros({2}), 0); }, "not above 0");
}

}  // namespace
}  // namespace tril::test
