// The learned activation's weights as files hold them.
#include "nn/xielu.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace tril::nn::xielu_test {
namespace {

TEST(Xielu, RefusesABoundThatChangesValues) {
  Parameters p;
  const Xielu activation(p, "mlp.act_fn");
  p.allocate();
  p.initialise(1);
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(std::vector<float>{-2, -0.5f, 0, 3}, {2, 2});
  const auto with = [&](float bound) {
    host_write<float>(p.find("mlp.act_fn.eps")->value, std::vector<float>{bound});
    return error_of([&] { activation.forward(c, x); });
  };
  for (const float near_zero : {-1e-6f, -9.98e-07f, 0.0f}) EXPECT_EQ(with(near_zero), "");
  for (const float other : {-0.5f, 1e-6f, -1e-3f})
    EXPECT_TRUE(contains(with(other), "mlp.act_fn.eps", "not supported"));
}

}  // namespace
}  // namespace tril::nn::xielu_test
