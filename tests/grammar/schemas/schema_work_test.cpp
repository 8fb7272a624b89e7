// Limits on a schema's work: long lists with long expressions are accepted, since each expression is compiled once;
// multiplying combinations are refused by name. Without the limits, each of these takes minutes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/pattern_of_regex.h"
#include "grammar/schemas/json_schema.h"
#include "grammar/schemas/schema_values.h"
#include "support/constraints.h"
#include "support/little_memory.h"

namespace tril::search::schema_work_test {
namespace {

constexpr int many = 4'000;
const char* const letters = "^[a-z]{1,9000}$";  // thousands of states

// Distinct words of four letters.
std::string word(int i) {
  std::string text;
  for (int k = 0; k < 4; ++k, i /= 10) text += static_cast<char>('a' + i % 10);
  return text;
}

// `item` of each number, separated by commas.
template <class Item>
std::string list(int count, const Item& item) {
  std::string all;
  for (int i = 0; i < count; ++i) all += (i > 0 ? "," : "") + item(i);
  return all;
}

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

void expect(const std::string& schema, const std::vector<std::string>& yes, const std::vector<std::string>& no) {
  const Constraint c = of_schema(schema, JsonSpace::none);
  for (const std::string& text : yes) EXPECT_TRUE(c.allows(text)) << text;
  for (const std::string& text : no) EXPECT_FALSE(c.allows(text)) << text;
}

TEST(SchemaWork, ListedValuesAreHeldAgainstAnExpressionThatIsCompiledOnce) {
  const std::string words = list(many, [](int i) { return quoted(word(i)); });
  expect(fmt::format(R"({{"enum":[{},"A"],"pattern":"{}"}})", words, letters), {quoted(word(77))}, {R"("A")"});
  const std::string uris = list(many, [](int i) { return fmt::format(R"("http://{}.org/")", word(i)); });
  expect(fmt::format(R"({{"enum":[{},"a b"],"format":"uri"}})", uris), {R"("http://bbaa.org/")"}, {R"("a b")"});
  const std::string arrays = list(many, [](int i) { return fmt::format(R"(["{}"])", word(i)); });
  expect(fmt::format(R"({{"enum":[{},["A"]],"items":{{"pattern":"{}"}}}})", arrays, letters), {R"(["bbaa"])"},
         {R"(["A"])"});
  const std::string objects = list(many, [](int i) { return fmt::format(R"({{"{}":1}})", word(i)); });
  expect(
      fmt::format(R"({{"enum":[{},{{"x":"A"}}],"patternProperties":{{"{}":{{"type":"integer"}}}}}})", objects, letters),
      {R"({"bbaa":1})"}, {R"({"x":"A"})"});
}

TEST(SchemaWork, NamesAreHeldAgainstAnExpressionThatIsCompiledOnce) {
  const std::string names = list(many, [](int i) { return quoted(word(i)); });
  const std::string properties = list(many, [](int i) { return fmt::format(R"("{}":{{"type":"null"}})", word(i)); });
  expect(fmt::format(R"({{"type":"object","properties":{{{},"A":{{}}}},"propertyNames":{{"pattern":"{}"}}}})",
                     properties, letters),
         {R"({"bbaa":null})"}, {R"({"A":null})"});
  compile_json_schema(fmt::format(
      R"({{"type":"object","required":[{}],"anyOf":[{{"patternProperties":{{"{}":{{"type":"null"}}}}}},{{"minProperties":2}}]}})",
      names, letters));
}

TEST(SchemaWork, ValuesThatMeetTooManyAlternativesAreRefused) {
  const std::string words = list(many, [](int i) { return "[" + quoted(word(i)) + "]"; });
  const std::string any =
      list(150, [](int i) { return fmt::format(R"({{"items":{{"pattern":"^{}"}}}})", word(i).substr(0, 2)); });
  expect_refused([&] { compile_json_schema(fmt::format(R"({{"enum":[{}],"anyOf":[{}]}})", words, any)); },
                 "take too much work together");
}

// Each level doubles the alternatives of the one below. Until a schema is refused it uses at most 512 MiB.
TEST(SchemaWork, AlternativesThatDoubleAreRefusedBeforeMemoryEnds) {
  if (!test::can_limit_memory()) GTEST_SKIP() << "no limit on addresses holds";
  std::string doubling = R"({"$ref":"#/$defs/d0","$defs":{"d200":{"type":"string"})";
  for (int i = 0; i < 200; ++i)
    doubling += fmt::format(
        R"(,"d{0}":{{"anyOf":[{{"$ref":"#/$defs/d{1}"}},{{"minLength":{0},"$ref":"#/$defs/d{1}"}}]}})", i, i + 1);
  const auto compile = [&] { compile_json_schema(doubling + "}}"); };
  EXPECT_EXIT(test::end_with_little_memory(compile, 512), ::testing::ExitedWithCode(7), "combine in too many ways");
}

// Likewise for oneOf, whose alternatives exclude one another by their expressions.
TEST(SchemaWork, ExpressionsThatExcludeOneAnotherAreCounted) {
  const auto pattern = [](int i) { return fmt::format(R"({{"type":"string","pattern":"{}"}})", word(i)); };
  expect_refused([&] { compile_json_schema(fmt::format(R"({{"oneOf":[{}]}})", list(2'500, pattern))); },
                 "combine in too many ways");
  std::string nested = R"({"type":"string"})";
  for (int i = 0; i < 98; ++i) nested = fmt::format(R"({{"oneOf":[{},{}]}})", nested, pattern(i));
  expect_refused([&] { compile_json_schema(nested); }, "combine in too many ways");
}

TEST(SchemaWork, ComplementsThatComeToNothingAreCounted) {
  const std::string nots = list(500, [](int i) {
    return fmt::format(R"({{"type":"string","not":{{"pattern":"(a|b)*a(a|b){{{}}}"}}}})", i + 30);
  });
  expect_refused([&] { compile_json_schema(fmt::format(R"({{"anyOf":[{}]}})", nots)); },
                 "need more than 2000000 states");
}

// Objects in which some property is not null, but no property can have its name: each choice of properties is a failing plan.
std::string failing_plans(const std::function<std::string(int)>& kind) {
  const std::string names = list(10, [](int i) { return fmt::format(R"("{}":{{}})", word(i)); });
  const std::string nots = list(9, [&](int i) { return fmt::format(R"({{"not":{{{}}}}})", kind(i)); });
  return fmt::format(R"({{"type":"object","properties":{{{}}},"propertyNames":{{"pattern":"^z"}},"allOf":[{}]}})",
                     names, nots);
}

TEST(SchemaWork, PlansThatFailAreCounted) {
  const auto different = [](int i) {
    return fmt::format(R"("properties":{{"z{}":{{}}}},"additionalProperties":{{"type":"null"}})", i);
  };
  expect_refused([&] { compile_json_schema(failing_plans(different)); }, "combine in too many ways");
}

TEST(SchemaWork, EqualDemandsAreMetOnce) {
  const auto equal = [](int i) { return fmt::format(R"("title":"{}","additionalProperties":{{"type":"null"}})", i); };
  expect_refused([&] { compile_json_schema(failing_plans(equal)); }, "must have an unlisted property");
}

// States that a text does not reach cost only memory.
TEST(SchemaWork, AMatchLooksAtTheStatesOfTheText) {
  const Pattern p = pattern_of_regex(letters, RegexMatch::part);
  ASSERT_GT(p.states().size(), 9'000u);
  const Pattern::Outcome good = p.match("abc"), bad = p.match("Abc");
  EXPECT_TRUE(good.matches);
  EXPECT_FALSE(bad.matches);
  EXPECT_LT(good.steps, static_cast<std::int64_t>(p.states().size() / 10));
  EXPECT_LT(bad.steps, good.steps);
  const Pattern a = Pattern::of_length(0, 100), b = Pattern::of_length(50, 200);
  EXPECT_GT(a.common(b).steps, 100);
  EXPECT_THROW(a.common(b, 100), Unsupported);
}

TEST(SchemaWork, SetsOfValuesAreThoseOfEqualOnes) {
  std::vector<Json> values;
  for (const char* text : {"0",
                           "-0.0",
                           "1",
                           "1.0",
                           "1.5",
                           "1e300",
                           "-1",
                           "true",
                           "null",
                           "\"1\"",
                           "\"[1,]\"",
                           "[]",
                           "[1]",
                           "[1.0]",
                           "[[1]]",
                           "[1,1]",
                           "{}",
                           R"({"a":1,"b":[2]})",
                           R"({"b":[2.0],"a":1})",
                           R"({"a":{"b":2}})",
                           "10000000000000000000",
                           "1e19",
                           "9007199254740993",
                           R"({"a,b":1})",
                           R"(["a","b"])",
                           R"(["a\",\"b"])"})
    values.push_back(Json::parse(text));
  for (const Json& a : values)
    for (const Json& b : values) EXPECT_EQ(ValueSet(Json::array({a})).contains(b), are_equal(a, b)) << a << b;
}

}  // namespace
}  // namespace tril::search::schema_work_test
