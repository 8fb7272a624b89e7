// Untrusted JSON: limits, places of errors, typed reading, names of unknown keys.
#include "format/json_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "support/allocations.h"
#include "support/error_of.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril {
namespace {

using Json = nlohmann::json;

std::string parse_error(std::string_view text, const JsonLimits& limits = {}) {
  return error_of([&] { parse_json(text, "f.json", limits); });
}

TEST(JsonFile, ParsesWhatTheLibraryParses) {
  for (const std::string text :
       {"{}", "[]", "null", "-0", "1.5e3", "\"a\\u00e4\\ud83d\\ude00\"", " [1,[2,{\"a\":[]}],\"b\"]\n",
        R"({"a":{"b":{"c":[true,false,null,{}]}},"d":18446744073709551615,"e":-1})"})
    EXPECT_EQ(parse_json(text, "f"), Json::parse(text)) << text;
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(test::test_dir()) / "golden")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_EQ(read_json(entry.path().string()), Json::parse(read_text(entry.path().string(), 1 << 30))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 50);
}

TEST(JsonFile, ErrorsNameLineAndColumn) {
  EXPECT_TRUE(contains(parse_error("{\n  \"a\": 1,\n  \"b\": x\n}"), "f.json: line 3, column 8: ", "not valid JSON"));
  EXPECT_TRUE(contains(parse_error(""), "f.json: line 1, column 1: "));
  EXPECT_TRUE(contains(parse_error("{\"a\":1}\n\n}"), "f.json: line 3, column 1: "));
  EXPECT_TRUE(contains(parse_error(std::string_view("{}\n\0{", 5)), "f.json: line 2, column 1: ", "NUL"));
  for (const std::string text :
       {"{a:1}", "[1,]", "{\"a\":1,}", "// c\n{}", "NaN", "Infinity", "01", "\"\xff\"", "\"\xc0\xaf\"", "\"\n\"",
        "\"\\ud800\"", "\"", "[", "{\"a\"", "'a'", "\"\\x41\"", "[1 2]"})
    EXPECT_TRUE(contains(parse_error(text), "not valid JSON")) << text;
  EXPECT_TRUE(contains(parse_error("[1, 1e999]"), "f.json: line 1, column", "too large"));
}

TEST(JsonFile, ErrorsAreShortAndPrintable) {
  const std::string error = parse_error("[\"" + std::string(100'000, 'x') + "\x1b");
  EXPECT_LT(error.size(), 400u);
  EXPECT_FALSE(contains(error, "\x1b"));
}

TEST(JsonFile, LimitsHold) {
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  EXPECT_EQ(parse_error(nested(64)), "");
  EXPECT_TRUE(contains(parse_error(nested(65)), "f.json: ", "nested", "64 deep"));
  EXPECT_TRUE(contains(parse_error(std::string(1'000'000, '[')), "64 deep"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(contains(parse_error(objects), "64 deep"));
  EXPECT_EQ(parse_error("[1,2,3]", {.values = 4}), "");
  EXPECT_TRUE(contains(parse_error("[1,2,3,4]", {.values = 4}), "f.json: ", "4 values"));
  EXPECT_EQ(parse_error("[1,2]", {.bytes = 5}), "");
  EXPECT_TRUE(contains(parse_error("[1,2] ", {.bytes = 5}), "f.json: ", "6 bytes", "at most 5"));
}

// As older versions of transformers write it.
TEST(JsonFile, PythonsInfinityIsRead) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("config.json", R"({"limit": [0.0, Infinity], "name": "to Infinity \" Infinity"})");
  const Json json = read_python_json(path);
  EXPECT_EQ(json.at("limit").at(1), Json({{"__float__", "Infinity"}}));
  EXPECT_EQ(json.at("name"), "to Infinity \" Infinity");
  EXPECT_THROW(read_json(path), Error);
  EXPECT_THROW(read_python_json(directory.write("config.json", R"({"limit": -Infinity})")), Error);
}

TEST(JsonFile, AKeyTwiceIsAnError) {
  EXPECT_TRUE(contains(parse_error(R"({"a":1,"b":{"a":1},"a":2})"), "f.json: ", "\"a\" occurs twice"));
}

TEST(JsonFile, ManyEmptyArraysCostNoMoreThanTheLimitOnValues) {
  std::string text = "[[]";
  while (text.size() < 3'000'000) text += ",[]";
  text += ']';
  const testing::AllocationMeter meter;
  EXPECT_NE(parse_error(text, {.values = 10'000}), "");
  EXPECT_LT(meter.peak_bytes(), 2'000'000u);
}

class JsonObjectTest : public ::testing::Test {
 protected:
  Json json_ = Json::parse(
      R"({"d_model": 512, "heads": "8", "rate": 0.5, "tie": true, "name": "marian", "none": null, "big": 1e4,
    "huge": 18446744073709551615, "neg": -3, "zero": 0, "half": 0.5, "sizes": [1, 2], "mixed": [1, "2"], "names": ["a"],
    "rope": {"theta": 1e4, "factor": "x"}})");
  JsonObject object_{json_, "config.json"};
};

TEST_F(JsonObjectTest, ReadsEachType) {
  EXPECT_EQ(object_.get<std::int64_t>("d_model"), 512);
  EXPECT_EQ(object_.get<std::int64_t>("big"), 10'000);
  EXPECT_EQ(object_.get<std::int64_t>("neg"), -3);
  EXPECT_EQ(object_.get<double>("rate"), 0.5);
  EXPECT_EQ(object_.get<double>("d_model"), 512.0);
  EXPECT_EQ(object_.get<bool>("tie"), true);
  EXPECT_EQ(object_.get<std::string>("name"), "marian");
  EXPECT_EQ(object_.get<std::vector<std::int64_t>>("sizes"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(object_.get<std::vector<double>>("sizes"), (std::vector<double>{1, 2}));
  EXPECT_EQ(object_.get<std::vector<std::string>>("names"), std::vector<std::string>{"a"});
  EXPECT_EQ(object_.size("d_model"), 512);
  EXPECT_EQ(object_.object("rope").get<double>("theta"), 1e4);
}

TEST_F(JsonObjectTest, AbsentAndNullGiveWayToTheDefault) {
  EXPECT_FALSE(object_.has("none"));
  EXPECT_FALSE(object_.has("absent"));
  EXPECT_TRUE(object_.has("tie"));
  EXPECT_EQ(object_.find<double>("none"), std::nullopt);
  EXPECT_EQ(object_.get<double>("none", 2.5), 2.5);
  EXPECT_EQ(object_.get<std::string>("absent", "x"), "x");
  EXPECT_EQ(object_.size("absent", 7), 7);
  EXPECT_EQ(object_.find_size("none"), std::nullopt);
  EXPECT_FALSE(object_.find_object("absent").has_value());
}

TEST_F(JsonObjectTest, ErrorsSayWhatIsAndWhatShouldBe) {
  EXPECT_TRUE(contains(error_of([&] { object_.size("heads"); }), "config.json: heads: ", "the string \"8\"",
                       "positive integer"));
  EXPECT_TRUE(contains(error_of([&] { object_.size("zero"); }), "config.json: zero: ", "is 0", "positive integer"));
  EXPECT_TRUE(contains(error_of([&] { object_.size("neg", 1); }), "config.json: neg: ", "-3", "positive integer"));
  EXPECT_TRUE(contains(error_of([&] { object_.size("half"); }), "config.json: half: ", "0.5", "positive integer"));
  EXPECT_NE(error_of([&] { object_.size("huge"); }), "");
  EXPECT_NE(error_of([&] { object_.get<std::int64_t>("huge"); }), "");
  EXPECT_TRUE(
      contains(error_of([&] { object_.get<bool>("d_model"); }), "config.json: d_model: ", "512", "true or false"));
  EXPECT_TRUE(contains(error_of([&] { object_.get<double>("tie"); }), "config.json: tie: ", "true", "number"));
  EXPECT_TRUE(
      contains(error_of([&] { object_.get<std::string>("rope"); }), "config.json: rope: ", "an object", "string"));
  EXPECT_TRUE(contains(error_of([&] { object_.get<std::vector<std::int64_t>>("mixed"); }),
                       "config.json: mixed: ", "an array of 2", "array of integers"));
  EXPECT_TRUE(contains(error_of([&] { object_.get<std::string>("name_"); }), "config.json: name_: ", "missing",
                       "did you mean name?"));
  EXPECT_TRUE(contains(error_of([&] { object_.get<std::string>("none"); }), "config.json: none: ", "null", "required"));
  EXPECT_TRUE(contains(error_of([&] { object_.object("name"); }), "config.json: name: ", "the string \"marian\"",
                       "object {...}"));
  EXPECT_TRUE(contains(error_of([&] { object_.object("rope").get<double>("factor"); }),
                       "config.json: rope: factor: ", "the string \"x\"", "number"));
  EXPECT_NE(error_of([&] { JsonObject(Json::array(), "f"); }), "");
}

TEST_F(JsonObjectTest, UnknownKeysAreListedWithTheirNearest) {
  const Json json{{"d_modle", 1}, {"heads", 2}, {"quite_different", 3}};
  const JsonObject object(json, "f");
  const std::vector<UnknownKey> unknown = unknown_keys(object, {"d_model", "heads"});
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0].key, "d_modle");
  EXPECT_EQ(unknown[0].nearest, "d_model");
  EXPECT_EQ(unknown[1].nearest, "");
  const std::string error = error_of([&] { check_keys(object, {"d_model", "heads"}); });
  EXPECT_TRUE(contains(error, "f: unknown keys: ", "d_modle (did you mean d_model?)", "quite_different"));
  EXPECT_NO_THROW(check_keys(object, {"d_modle", "heads", "quite_different"}));
}

}  // namespace
}  // namespace tril
