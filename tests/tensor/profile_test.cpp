// Profile: attribution of time, counts, and no cost when it is off.
#include "tensor/profile.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "tensor/context.h"

namespace tril {
namespace {

void spend(double seconds) {
  for (const double start = seconds_now(); seconds_now() - start < seconds;) {
  }
}

Work none() {
  return {};
}

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() { c.set_profile(&profile); }
  const ProfileRow& row(std::string_view op, std::string_view part) const {
    for (const ProfileRow& r : profile.rows())
      if (r.op == op && r.part == part) return r;
    throw std::runtime_error("no such row");
  }

  Arena arena;
  Context c{arena};
  Profile profile;
};

TEST_F(ProfileTest, TimeBelongsToTheInnermostRowAndAddsUp) {
  const double start = seconds_now();
  double inner_seconds = 0;
  {
    const auto outer = c.timed("layer", "forward", none);
    spend(0.002);
    for (int i = 0; i < 3; ++i) {
      const auto inner = c.timed("product", "forward", none);
      const double before = seconds_now();
      spend(0.001);
      inner_seconds += seconds_now() - before;
    }
  }
  const double all = seconds_now() - start;
  EXPECT_EQ(row("layer", "forward").calls, 1);
  EXPECT_EQ(row("product", "forward").calls, 3);
  EXPECT_GE(row("product", "forward").seconds, 0.003);
  EXPECT_GE(row("layer", "forward").seconds, 0.002);
  EXPECT_LE(row("layer", "forward").seconds, all - inner_seconds + 1e-9) << "without what is inside it";
  EXPECT_LE(profile.seconds(), all);
  EXPECT_DOUBLE_EQ(profile.seconds(), row("product", "forward").seconds + row("layer", "forward").seconds);
}

TEST_F(ProfileTest, APartBelongsToTheOpThatIsOpen) {
  const auto step = [&](std::string_view op) {
    const auto time = c.timed(op, "backward", none);
    const auto part = c.timed_part("weight gradient", [] { return Work{.flops = 5}; });
  };
  step("linear"), step("loss"), step("linear");
  EXPECT_EQ(profile.rows().size(), 4u);
  EXPECT_EQ(row("linear", "weight gradient").work.flops, 10);
  EXPECT_EQ(row("loss", "weight gradient").work.flops, 5);
}

TEST_F(ProfileTest, WorkAddsUpAndProfilesMerge) {
  {
    const auto time = c.timed("a", "forward", [] { return Work{.flops = 1, .mixed_flops = 2, .bytes = 3}; });
    c.worked([] { return Work{.bytes = 4}; });
  }
  Profile other;
  other.open("a", "forward", {.flops = 10});
  other.close();
  other.open("b", "forward", {});
  other.close();
  const double sum = profile.seconds() + other.seconds();
  profile.merge(other);
  EXPECT_EQ(profile.rows().size(), 2u);
  EXPECT_EQ(row("a", "forward").calls, 2);
  EXPECT_EQ(row("a", "forward").work.flops, 11);
  EXPECT_EQ(row("a", "forward").work.mixed_flops, 2);
  EXPECT_EQ(row("a", "forward").work.bytes, 7);
  EXPECT_NEAR(profile.seconds(), sum, 1e-12);
  profile.clear();
  EXPECT_TRUE(profile.rows().empty());
}

TEST_F(ProfileTest, TheWayBackIsTimedByTheTapesNames) {
  Tape tape;
  Grads grads;
  const Tensor x = c.upload<float>({1, 2, 3}), one = c.upload<float>({1, 1, 1});
  c.set_tape(&tape);
  tape.watch(x);
  tape.record("square", {&x}, x, [](Context& k, const Tensor&, Grads&) { k.worked([] { return Work{.bytes = 12}; }); });
  tape.backward(c, x, one, grads);
  EXPECT_EQ(row("square", "backward").calls, 1);
  EXPECT_EQ(row("square", "backward").work.bytes, 12);
}

TEST_F(ProfileTest, WithoutAProfileNothingIsAskedFor) {
  c.set_profile(nullptr);
  const auto never = [] {
    ADD_FAILURE() << "work is counted for nobody";
    return Work();
  };
  const auto time = c.timed("a", "forward", never);
  const auto part = c.timed_part("b", never);
  c.worked(never);
  EXPECT_TRUE(profile.rows().empty());
}

TEST_F(ProfileTest, AnExceptionClosesItsRows) {
  try {
    const auto time = c.timed("a", "forward", none);
    const auto part = c.timed_part("b", none);
    throw 1;
  } catch (int) {
  }
  const auto time = c.timed("c", "forward", none);
  const auto part = c.timed_part("part", none);
  EXPECT_EQ(profile.rows().back().op, "c") << "the row that is open is not one of those";
}

}  // namespace
}  // namespace tril
