// What fits into memory, and that nothing is measured that does not.
#include "doctor/expected_speed.h"

#include <gtest/gtest.h>

#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/paths.h"

namespace tril::doctor {
namespace {

TEST(ExpectedSpeed, OnlyOfPrecisionsThatFit) {
  using enum nn::Precision;
  const auto source = model::ModelSource::open(test::test_dir() + "/golden/hf/llama");
  const auto m = model::make(source);
  const auto whole = static_cast<std::int64_t>(m->parameters().serving_bytes(fp32)), less = whole - 1;
  EXPECT_TRUE(weights_fit(*m, fp32, std::nullopt)) << "not known";
  EXPECT_TRUE(weights_fit(*m, fp32, whole));
  EXPECT_FALSE(weights_fit(*m, fp32, less));
  EXPECT_FALSE(weights_fit(*m, int4, 0)) << "a full container";
  EXPECT_TRUE(weights_fit(*m, int8, less));

  Arena arena;
  Context c(arena);
  Team team(1);
  c.set_team(&team);
  const auto speeds = expected_speeds(c, *m, 8, {.read_bytes = 1e9, .flops = 1e9}, less);
  ASSERT_EQ(speeds.size(), 4u);
  for (const ExpectedSpeed& s : speeds) {
    const bool fits = s.precision != fp32;
    EXPECT_EQ(s.context != 0, fits) << nn::name_of(s.precision);
    EXPECT_EQ(s.tokens_per_second > 0, fits) << nn::name_of(s.precision);
    EXPECT_EQ(s.prompt_tokens_per_second > 0, fits) << nn::name_of(s.precision);
    EXPECT_GT(s.bytes, 0);
  }
}

}  // namespace
}  // namespace tril::doctor
