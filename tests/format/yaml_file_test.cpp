// YAML as JSON: scalars by their kind, collections within limits, and everything else refused with its line.
#include "format/yaml_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/error_of.h"

namespace tril {
namespace {

nlohmann::json parsed(const std::string& text) {
  return parse_yaml(text, "x.yml");
}

void expect_yaml_refused(const std::string& text, const std::string& part, const JsonLimits& limits = {}) {
  const std::string message = error_of([&] { parse_yaml(text, "x.yml", limits); });
  EXPECT_TRUE(contains(message, part));
  EXPECT_TRUE(contains(message, "x.yml"));
}

TEST(Yaml, ScalarsAreOfTheirKind) {
  EXPECT_EQ(parsed("a: 1\nb: -2.5\nc: true\nd: \"1\"\ne: dan\nf: ~\ng: \"\"\nh: 1e-09\ni: .5x\n"),
            nlohmann::json::parse(R"({"a": 1, "b": -2.5, "c": true, "d": "1", "e": "dan", "f": null, "g": "", "h": 1e-9,
                                      "i": ".5x"})"));
}

TEST(Yaml, CollectionsAreReadAsMarianWritesThem) {
  EXPECT_EQ(parsed("dim-vocabs:\n  - 4000\n  - 300\ninput-types:\n  []\nmap: {a: [1, 2]}\n"),
            nlohmann::json::parse(R"({"dim-vocabs": [4000, 300], "input-types": [], "map": {"a": [1, 2]}})"));
}

TEST(Yaml, KeysAreTextsAndTheFirstOfTwoCounts) {
  EXPECT_EQ(parsed("1: 2\n\"true\": 3\ntrue: 4\n\"\\\"\": 5\n~: 6\n"),
            nlohmann::json::parse(R"({"1": 2, "true": 3, "\"": 5, "null": 6})"));
  EXPECT_EQ(parsed("a: 1\na: {b: [2]}\nc: 3\n"), nlohmann::json::parse(R"({"a": 1, "c": 3})"));
}

TEST(Yaml, AnEmptyTextIsNull) {
  EXPECT_TRUE(parsed("").is_null());
  EXPECT_TRUE(parsed("# nothing\n").is_null());
}

TEST(Yaml, WhatIsNotReadIsRefusedWithItsLine) {
  expect_yaml_refused("a: 1\nb: &x 2\n", "line 2: anchors");
  expect_yaml_refused("a: !!binary AAAA\n", "the tag");
  expect_yaml_refused("a: 1\n---\nb: 2\n", "a second document");
  expect_yaml_refused("? [1]\n: 2\n", "a key is not a scalar");
  expect_yaml_refused("a: [1\n", "is not valid YAML");
  expect_yaml_refused("a: \"\xff\"\n", "not UTF-8");
  expect_yaml_refused("a: 1\nb: *x\n", "is not valid YAML");
}

TEST(Yaml, LimitsHold) {
  expect_yaml_refused("[[[[[[[[[1]]]]]]]]]", "nested more than 8 levels deep", {.depth = 8});
  expect_yaml_refused(std::string(100'000, '['), "line 1", {});
  expect_yaml_refused("[1, 2, 3, 4]", "more than 4 values", {.values = 4});
  expect_yaml_refused("[1, 2, 3, 4]", "expected at most 5", {.bytes = 5});
}

}  // namespace
}  // namespace tril
