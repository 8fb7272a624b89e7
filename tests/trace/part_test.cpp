// Parts of values, the list of points, and the best next tokens.
#include "trace/part.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "format/base64.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "trace/next.h"
#include "trace/traced.h"

namespace tril::trace {
namespace {

TEST(Part, OfAHeadAndAToken) {
  const auto m = golden("llama");
  const Traced t = traced(*m, input_of(*m), {"decoder.0.self", "decoder.tokens"});
  const Value &q = t.trace.at("decoder.0.self.q"), &w = t.trace.at("decoder.0.self.weights");
  const std::vector<float> all_q = q.floats(), all_w = w.floats();
  const auto d = as_size(q.shape[2]), H = as_size(q.shape[1]), T = as_size(w.shape[2]);

  const Value one = part_of(q, {.head = 1, .token = 3});
  EXPECT_EQ(one.shape, (std::vector<std::int64_t>{1, 1, q.shape[2]}));
  const auto at = all_q.begin() + static_cast<std::ptrdiff_t>((3 * H + 1) * d);
  EXPECT_EQ(one.floats(), std::vector<float>(at, at + static_cast<std::ptrdiff_t>(d)));

  const Value row = part_of(w, {.head = 1, .token = 3});
  EXPECT_EQ(row.shape, (std::vector<std::int64_t>{1, 1, w.shape[2]}));
  const auto of = all_w.begin() + static_cast<std::ptrdiff_t>((1 * T + 3) * T);
  EXPECT_EQ(row.floats(), std::vector<float>(of, of + static_cast<std::ptrdiff_t>(T)));

  EXPECT_EQ(part_of(q, {}).bytes, q.bytes);
  EXPECT_EQ(part_of(t.trace.at("decoder.tokens"), {.head = 0, .token = 1}).shape, (std::vector<std::int64_t>{9}));
  EXPECT_EQ(part_of(t.trace.at("decoder.0.self.mask"), {.head = 1}).shape[0], 1) << "all heads share it";
  EXPECT_TRUE(contains(error_of([&] { part_of(q, {.head = q.shape[1]}); }), "decoder.0.self.q", "has no head"));
  EXPECT_TRUE(contains(error_of([&] { part_of(w, {.token = 9}); }), "weights", "has no token 9"));
}

TEST(Part, BytesAreTheValues) {
  const auto m = golden("gpt2");
  const Traced t = traced(*m, input_of(*m), {"decoder.0.self.masked_scores"});
  const Value& v = t.trace.values()[0];
  const auto json = bytes_json(v);
  const std::string bytes = from_base64(json["base64"].get<std::string>()).value();
  EXPECT_EQ(json["type"], "f32");
  EXPECT_EQ(json["shape"], v.shape);
  ASSERT_EQ(bytes.size(), v.bytes.size());
  EXPECT_EQ(std::memcmp(bytes.data(), v.bytes.data(), bytes.size()), 0);
}

// The list of points is that of a whole trace, for models of several kinds.
TEST(Points, AreThoseOfATrace) {
  for (const char* name : {"gpt2", "marian", "t5", "mixtral", "mamba2", "deepseek_v3", "bart"}) {
    SCOPED_TRACE(name);
    const auto m = golden(name);
    const Input input = input_of(*m);
    const Traced whole = traced(*m, input, {"*"});
    const Trace points = points_of(*m, input);
    ASSERT_EQ(points.values().size(), whole.trace.values().size());
    EXPECT_EQ(points.bytes(), 0);
    for (std::size_t i = 0; i < points.values().size(); ++i) {
      EXPECT_EQ(points.values()[i].name, whole.trace.values()[i].name);
      EXPECT_EQ(points.values()[i].shape, whole.trace.values()[i].shape) << points.values()[i].name;
    }
  }
}

TEST(Points, LogitsOfATokenAreARow) {
  const auto m = golden("gpt2");
  const Outcome o = run_pass(*m, input_of(*m));
  const Value row = logits_of_token(o, 4);
  EXPECT_EQ(row.shape, (std::vector<std::int64_t>{1, o.vocab}));
  const std::vector<float> values = row.floats();
  EXPECT_EQ(std::max_element(values.begin(), values.end()) - values.begin(), o.best()[4]);
}

}  // namespace
}  // namespace tril::trace
