// Numbers of schemas that doubles cannot distinguish, distant bounds, and factors of large numbers.
#include <gtest/gtest.h>

#include "grammar/schemas/exact_number.h"
#include "grammar/schemas/json_schema.h"
#include "support/constraints.h"

namespace tril::search::schema_exact_numbers_test {
namespace {

void expect(const std::string& schema, const std::vector<std::string>& yes, const std::vector<std::string>& no) {
  SCOPED_TRACE(schema);
  const Constraint c = of_schema(schema, JsonSpace::none);
  for (const std::string& text : yes) EXPECT_TRUE(c.allows(text)) << text;
  for (const std::string& text : no) EXPECT_FALSE(c.allows(text)) << text;
}

TEST(SchemaExactNumbers, ABoundThatIsFarAwayHoldsToo) {
  for (const char* schema :
       {R"({"type":"number","maximum":1e15})", R"({"type":"number","exclusiveMaximum":1e15})",
        R"({"type":"number","not":{"minimum":1e15}})", R"({"type":"number","minimum":-1e15})",
        R"({"type":"number","minimum":-1e15,"maximum":1e15})", R"({"type":"number","maximum":1e20})"})
    expect(schema, {"0", "-2.5", "12"}, {"1201E22", "-1201E22", "1e1"});
  expect_refused([] { json_schema_grammar(R"({"type":"number","not":{"type":"integer"},"minimum":1e15})"); },
                 "non-integers beyond 10^15");
}

TEST(SchemaExactNumbers, BoundsAreNotRounded) {
  expect(R"({"type":"integer","minimum":9007199254740993,"maximum":9007199254740995})",
         {"9007199254740993", "9007199254740994", "9007199254740995"}, {"9007199254740992", "9007199254740996"});
  expect(R"({"type":"integer","exclusiveMinimum":9007199254740993,"exclusiveMaximum":9007199254740995})",
         {"9007199254740994"}, {"9007199254740993", "9007199254740995"});
  expect(
      R"({"type":"integer","not":{"enum":[9007199254740993,9007199254740992.0]},"minimum":9007199254740991,"maximum":9007199254740994})",
      {"9007199254740991", "9007199254740994"}, {"9007199254740992", "9007199254740993"});
  expect(R"({"enum":[9007199254740993],"exclusiveMinimum":9007199254740992})", {"9007199254740993"}, {});
  expect(R"({"enum":[1,9007199254740993],"maximum":9007199254740992.0})", {"1"}, {"9007199254740993"});
  expect_refused([] { json_schema_grammar(R"({"enum":[9007199254740992],"minimum":9007199254740993})"); },
                 "it allows no text");
}

TEST(SchemaExactNumbers, FactorsOfLargeNumbersAreExactOrNotSure) {
  expect(R"({"enum":[100000000000000000,99999999999999999],"multipleOf":3})", {"99999999999999999"},
         {"100000000000000000"});
  expect(R"({"enum":[1e18],"type":"integer","multipleOf":0.5})", {"1e+18"}, {});
  expect_refused([] { json_schema_grammar(R"({"enum":[1e18],"type":"integer","multipleOf":0.123456789})"); },
                 "it allows no text");
}

TEST(SchemaExactNumbers, ValuesThatADoubleMayHaveRoundedAreNotWritten) {
  for (const char* schema : {R"({"const":123456789012345678901234567890})", R"({"enum":[-9223372036854775809]})",
                             R"({"enum":[[1,[1e300]]]})"})
    expect_refused([&] { json_schema_grammar(schema); }, "numbers of 2^63 or more");
  expect(R"({"enum":[1,123456789012345678901234567890,18446744073709551615]})", {"1", "18446744073709551615"},
         {"1.2345678901234568e+29"});
}

// Such numbers exist, but none can be written: the error says so.
TEST(SchemaExactNumbers, BoundsWithNothingWrittenBetweenThemSaySo) {
  expect_refused([] { json_schema_grammar(R"({"type":"number","minimum":1e-300,"maximum":1e-299})"); },
                 "numbers so close to each other are not supported");
  expect_refused([] { json_schema_grammar(R"({"type":"number","multipleOf":0.1,"minimum":0.1,"maximum":0.2})"); },
                 "multiples that are not integers, halves or quarters are not supported");
  expect_refused([] { json_schema_grammar(R"({"type":"number","multipleOf":7,"minimum":1,"maximum":6})"); },
                 "it allows no text");
}

TEST(SchemaExactNumbers, AreInOrder) {
  std::vector<ExactNumber> numbers;
  for (const char* text : {"-1e300", "-18446744073709551616", "-9007199254740993", "-9007199254740992.0", "-0.5", "0",
                           "0.5", "1", "9007199254740992.0", "9007199254740993", "9223372036854775807",
                           "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e300"})
    numbers.emplace_back(Json::parse(text));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      EXPECT_EQ(numbers[i] <=> numbers[k], i <=> k) << numbers[i].key() << " " << numbers[k].key();
      EXPECT_EQ(numbers[i].key() == numbers[k].key(), i == k);
    }
  EXPECT_EQ(ExactNumber(-0.0).key(), ExactNumber(Json(0)).key());
}

}  // namespace
}  // namespace tril::search::schema_exact_numbers_test
