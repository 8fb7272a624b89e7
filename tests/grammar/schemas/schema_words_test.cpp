// JSON schema's keywords one by one: texts that a schema's grammar must allow, and some that it must not. Validity
// follows the specification (draft 2020-12, core 10 and 11, validation 6; draft 4 to 7 where a schema names them).
#include <gtest/gtest.h>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/pattern_complement.h"
#include "grammar/expressions/pattern_of_regex.h"
#include "grammar/expressions/unsupported.h"
#include "grammar/schemas/json_schema.h"
#include "support/constraints.h"

namespace tril::search::schema_words_test {
namespace {

struct Case {
  std::string schema;
  std::vector<std::string> yes, no;
};

void check_cases(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.schema);
    try {
      const Constraint c = of_schema(one.schema, JsonSpace::none);
      for (const std::string& text : one.yes) EXPECT_TRUE(c.allows(text)) << text;
      for (const std::string& text : one.no) EXPECT_FALSE(c.allows(text)) << text;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// `items` and `additionalProperties` see only the keywords of their own schema.
TEST(SchemaWords, EachSchemaHasItsOwnScope) {
  for (
      const char* empty :
      {R"({"type":"array","minItems":1,"items":{"minimum":5},"allOf":[{"prefixItems":[{"const":3}]}]})",
       R"({"type":"array","minItems":1,"items":false,"allOf":[{"prefixItems":[{"const":3}]}]})",
       R"({"type":"object","minProperties":1,"additionalProperties":false,"allOf":[{"patternProperties":{"^b$":{"const":1}}}]})",
       R"({"type":"object","minProperties":1,"propertyNames":{"enum":["b"],"pattern":"^a"},"additionalProperties":{"const":1}})",
       R"({"type":"object","required":["b"],"additionalProperties":false,"$ref":"#/$defs/o","$defs":{"o":{"properties":{"b":{}}}}})"})
    expect_refused([&] { json_schema_grammar(empty); }, "it allows no text");
  check_cases(
      {{R"({"type":"array","items":{"minimum":5},"allOf":[{"prefixItems":[{"maximum":7}]}]})",
        {"[6]", "[5,9]"},
        {"[4]", "[8]"}},
       {R"({"type":"object","allOf":[{"properties":{"a":{"minimum":1}},"additionalProperties":{"maximum":9}},
            {"properties":{"b":{"type":"integer"}},"additionalProperties":{"type":"integer"}}]})",
        {R"({"a":2,"b":3})", R"({"b":9,"c":4})"},
        {R"({"a":0})", R"({"b":10})", R"({"c":10})", R"({"a":1.5})"}},
       {R"({"type":"object","patternProperties":{"^a":{"type":"integer"}},"allOf":[{"patternProperties":{"b$":{"minimum":3}},"additionalProperties":false}]})",
        {R"({"ab":3})", "{}"},
        {R"({"a":3})", R"({"ab":2})", R"({"ab":3.5})"}},
       {R"({"type":"object","propertyNames":{"enum":["ab","b","ac"],"pattern":"^a","maxLength":2},"minProperties":2})",
        {R"({"ab":1,"ac":2})"},
        {R"({"ab":1})", R"({"ab":1,"b":2})"}},
       {R"({"enum":[1,2,"x",null,[1],{"a":1}],"minimum":2,"maxItems":0,"required":["b"]})",
        {"2", R"("x")", "null"},
        {"1", "[1]", R"({"a":1})"}},
       {R"({"const":3,"type":["integer","string"],"maximum":5})", {"3"}, {"4"}}});
}

TEST(SchemaWords, NotAndOneOfAndIf) {
  check_cases(
      {{R"({"not":{"type":["object","array","string"]}})", {"1", "null", "true"}, {"{}", "[]", R"("a")"}},
       {R"({"type":"string","not":{"pattern":"^a"}})", {R"("ba")", R"("")"}, {R"("a")", R"("ab")"}},
       {R"({"type":"string","not":{"pattern":"^a.b$"}})", {R"("ab")"}, {R"("acb")", R"("a\rb")", R"("acb\n")"}},
       {R"({"type":"string","not":{"enum":["red","green"]}})", {R"("re")", R"("blue")"}, {R"("red")", R"("green")"}},
       {R"({"type":"string","not":{"maxLength":2}})", {R"("abc")"}, {R"("ab")"}},
       {R"({"type":"integer","not":{"minimum":3,"maximum":5}})", {"2", "6"}, {"3", "5"}},
       {R"({"type":"integer","not":{"enum":[3,5]}})", {"2", "4", "6"}, {"3", "5"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"not":{"required":["a","b"]}})",
        {R"({"a":1})", "{}"},
        {R"({"a":1,"b":1})"}},
       {R"({"type":"object","properties":{"a":{"type":"integer"}},"not":{"properties":{"a":{"maximum":3}}}})",
        {R"({"a":4})"},
        {"{}", R"({"a":3})"}},
       {R"({"type":"array","items":{"type":"integer"},"not":{"items":{"maximum":3}}})", {"[1,4]"}, {"[]", "[1]"}},
       {R"({"type":"array","items":{"type":"integer"},"not":{"contains":{"maximum":3}}})", {"[]", "[4]"}, {"[4,1]"}},
       {R"({"not":{"not":{"const":[1]}}})", {"[1]"}, {"[]", "1"}},
       {R"({"type":"array","items":{"type":"integer"},"not":{"const":[1,2]}})", {"[1]", "[1,3]", "[1,2,3]"}, {"[1,2]"}},
       {R"({"oneOf":[{"type":"integer"},{"minimum":2,"type":"number"}]})", {"1", "2.5"}, {"2", "1.5"}},
       {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", {"2.5"}, {"2", "2.0"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
        {R"({"a":1})", R"({"b":1})"},
        {R"({"a":1,"b":1})", "{}"}},
       {R"({"oneOf":[{"type":"string","maxLength":3},{"type":"string","pattern":"^a"}]})",
        {R"("bc")", R"("abcd")"},
        {R"("abc")", R"("bcde")"}},
       {R"({"type":"object","properties":{"k":{"enum":["x","y"]},"v":{}},"required":["k"],
            "if":{"properties":{"k":{"const":"x"}}},"then":{"required":["v"]},"else":{"properties":{"v":false}}})",
        {R"({"k":"x","v":1})", R"({"k":"y"})"},
        {R"({"k":"x"})", R"({"k":"y","v":1})"}},
       {R"({"if":{"type":"string"},"then":{"maxLength":1},"type":["string","null"]})",
        {R"("a")", "null"},
        {R"("ab")"}}});
}

TEST(SchemaWords, Arrays) {
  check_cases(
      {{R"({"type":"array","items":[{"type":"integer"},{"type":"null"}],"additionalItems":{"type":"boolean"}})",
        {"[1,null]", "[1,null,true]"},
        {"[1,null,1]", "[null]"}},
       {R"({"type":"array","items":[{"type":"integer"}],"additionalItems":false})", {"[1]"}, {"[1,2]"}},
       {R"({"type":"array","items":{"type":["integer","null"]},"contains":{"type":"null"}})",
        {"[null]", "[1,null]"},
        {"[]", "[1]"}},
       {R"({"type":"array","items":{"type":["integer","null"]},"contains":{"type":"null"},"minContains":2,"maxContains":2})",
        {"[null,null]", "[null,1,null]"},
        {"[null]", "[null,null,null]"}},
       {R"({"type":"array","items":{"type":["integer","null"]},"contains":{"type":"null"},"minContains":0,"maxContains":1})",
        {"[]", "[null]", "[1,2]"},
        {"[null,null]"}},
       {R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":{"type":["integer","null"]},"contains":{"type":"null"},"minContains":0})",
        {"[null]"},
        {"[]", "[1]"}},
       {R"({"type":"array","uniqueItems":true,"items":{"enum":["a","b",1,1.0]}})",
        {"[]", R"(["a","b",1])", R"(["b",1])"},
        {R"(["a","a"])", "[1,1]", "[1,1.0]"}},
       {R"({"type":"array","uniqueItems":true,"items":{"type":"boolean"},"minItems":2})",
        {"[true,false]"},
        {"[true]", "[true,true]"}},
       {R"({"type":"array","uniqueItems":true,"items":{"type":"string"},"minItems":2})",
        {R"(["a","b"])", R"(["apple","pear"])"},
        {R"(["a"])", R"(["a","a"])"}},
       {R"({"type":"array","uniqueItems":true,"items":{"type":"integer"},"maxItems":2})",
        {"[]", "[1,20]"},
        {"[1,1]", "[1,2,3]"}},
       {R"({"type":"array","uniqueItems":true,"items":{"type":"object"}})", {"[]", "[{}]"}, {"[{},{}]"}},
       {R"({"type":"array","prefixItems":[{"type":"string"}],"unevaluatedItems":false})", {R"(["a"])"}, {R"(["a",1])"}},
       {R"({"type":"array","allOf":[{"prefixItems":[{"type":"string"},true]}],"unevaluatedItems":{"type":"null"}})",
        {R"(["a",1,null])"},
        {R"(["a",1,1])"}},
       // Items that `contains` matches are evaluated, from draft 2020 on.
       {R"({"type":"array","contains":{"type":"null"},"maxContains":2,"unevaluatedItems":{"const":1}})",
        {"[null]", "[1,null,1,null]"},
        {"[]", "[1]", "[null,2]", "[null,null,null]"}},
       {R"({"type":"array","contains":{"type":"null"},"unevaluatedItems":false})", {"[null,null]"}, {"[]", "[null,1]"}},
       {R"({"type":"array","$ref":"#/$defs/r","not":{"not":{"contains":{"const":2}}},"unevaluatedItems":false,"$defs":{"r":{"contains":{"minimum":1,"type":"integer"}}}})",
        {"[2]", "[2,1]"},
        {"[1]", "[2,null]"}},
       {R"({"type":"array","dependentSchemas":{"a":{"items":true}},"unevaluatedItems":{"type":"null"}})",
        {"[]", "[null]"},
        {"[1]"}},
       {R"({"enum":[[],[1],[1,2],[1,2,3],[1,2,null]],"allOf":[{"prefixItems":[true]}],"prefixItems":[true,true],"unevaluatedItems":{"type":"null"}})",
        {"[]", "[1]", "[1,2]", "[1,2,null]"},
        {"[1,2,3]"}},
       {R"({"enum":[[1],[2]],"contains":{"const":1},"unevaluatedItems":false})", {"[1]"}, {"[2]"}}});
  expect_refused(
      [] {
        json_schema_grammar(
            R"({"$schema":"https://json-schema.org/draft/2019-09/schema","type":"array","contains":{"type":"null"},"unevaluatedItems":false})");
      },
      "it allows no text");
  expect_refused(
      [] {
        json_schema_grammar(
            R"({"type":"array","uniqueItems":true,"contains":{"type":"null"},"allOf":[{"contains":{"const":1}}]})");
      },
      "unique items are supported only for");
}

TEST(SchemaWords, Objects) {
  check_cases(
      {{R"({"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}})",
        {"{}", R"({"b":1})", R"({"a":1,"b":1})"},
        {R"({"a":1})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":["b"]}})",
        {"{}", R"({"a":1,"b":1})"},
        {R"({"a":1})"}},
       {R"({"type":"object","properties":{"a":{},"b":{}},"dependentSchemas":{"a":{"properties":{"b":{"type":"null"}}}}})",
        {R"({"b":1})", R"({"a":1,"b":null})"},
        {R"({"a":1,"b":1})"}},
       {R"({"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"type":"number","minimum":5}},"additionalProperties":{"type":"null"}})",
        {R"({"a":1})", R"({"cb":5.5})", R"({"ab":5})", R"({"c":null})"},
        {R"({"ab":1})", R"({"ab":5.5})", R"({"c":1})"}},
       {R"({"type":"object","properties":{"ab":{"type":"integer"}},"patternProperties":{"^a":{"minimum":3}}})",
        {R"({"ab":3})"},
        {R"({"ab":2})", R"({"ab":3.5})"}},
       {R"({"type":"object","patternProperties":{"^.*$":{"type":"integer"}},"additionalProperties":{"type":"null"}})",
        {R"({"ab":1})"},
        {R"({"a\rb":null})", R"({"ab":null})"}},  // engines differ in whether . matches a \r
       {R"({"type":"object","properties":{"\u00e9":{}},"patternProperties":{"^\\w$":{"minimum":3,"type":"integer"}},"additionalProperties":{"maximum":5,"type":"integer"}})",
        {"{\"\u00e9\":4}"},
        {"{\"\u00e9\":2}", "{\"\u00e9\":4.5}"}},
       {R"({"type":"object","minProperties":3,"additionalProperties":{"const":0}})",
        {R"({"abc":0,"a":0,"bc":0})"},
        {"{}", R"({"a":0})", R"({"a":0,"a":0,"a":0})"}},
       {R"({"type":"object","properties":{"a":{}},"minProperties":2})", {R"({"a":1,"b":2})"}, {R"({"a":1})"}},
       {R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"string","enum":[1]}},"minProperties":2})",
        {R"({"a":null,"c":2})"},
        {R"({"a":null})", R"({"a":null,"b":1})"}},
       {R"({"type":"object","properties":{"a":{}},"allOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false})",
        {R"({"a":1,"b":1})"},
        {R"({"c":1})"}},
       {R"({"type":"object","properties":{"a":{}},"anyOf":[{"properties":{"b":{}},"required":["b"]},{"properties":{"c":{}}}],"unevaluatedProperties":{"type":"null"}})",
        {R"({"a":1,"b":1})", R"({"a":1,"c":1})", R"({"c":1,"d":null})"},
        {R"({"d":1})"}},
       {R"({"enum":[{},{"a":1},{"b":1},{"xy":1},{"c":1},{"c":null}],"properties":{"a":{}},"patternProperties":{"^x":{}},"$ref":"#/$defs/r","unevaluatedProperties":{"type":"null"},"$defs":{"r":{"properties":{"b":{}}}}})",
        {"{}", R"({"a":1})", R"({"b":1})", R"({"xy":1})", R"({"c":null})"},
        {R"({"c":1})"}},
       // An alternative may evaluate it, or not.
       {R"({"enum":[{},{"a":1}],"not":{"required":["a"],"properties":{"a":{"const":2}}},"unevaluatedProperties":false})",
        {"{}"},
        {R"({"a":1})"}}});
  expect_refused(
      [] {
        json_schema_grammar(
            R"({"type":"object","unevaluatedProperties":false,"not":{"not":{"properties":{"b":{}},"required":["b"]}}})");
      },
      "it allows no text");
}

TEST(SchemaWords, StringsAndNumbers) {
  check_cases(
      {{R"({"allOf":[{"type":"string","pattern":"^a"},{"pattern":"b$"},{"maxLength":3}]})",
        {R"("ab")", R"("acb")"},
        {R"("a")", R"("accb")"}},
       {R"({"type":"string","format":"date"})",
        {R"("0001-01-01")", R"("2024-12-31")"},
        {R"("0000-04-05")", R"("2024-02-30")"}},
       {R"({"type":"string","format":"date-time"})", {R"("2024-12-31T23:59:59Z")"}, {R"("0000-12-31T23:59:59Z")"}},
       {R"({"type":"string","format":"date","enum":["2024-02-01","tomorrow"]})",
        {R"("2024-02-01")"},
        {R"("tomorrow")"}},
       {R"({"type":"string","format":"hostname"})", {R"("a-b.example")"}, {R"("a--b.example")", R"("-a.b")"}},
       {R"({"type":"string","format":"json-pointer"})", {R"("/a/0")", R"("")"}, {R"("a")"}},
       {R"({"type":"string","format":"uri-reference"})", {R"("/a/b?c=d")", R"("https://a.example/b")"}, {R"("a b")"}},
       {R"({"allOf":[{"type":"integer","multipleOf":4},{"multipleOf":6}],"minimum":1,"maximum":30})",
        {"12", "24"},
        {"4", "6", "18"}},
       {R"({"type":"number","multipleOf":0.01,"minimum":0,"maximum":20})", {"3", "19.75", "0.5"}, {"19.755", "21"}},
       {R"({"type":"number","multipleOf":0.5,"minimum":0,"maximum":20})", {"3", "2.5"}, {"2.25"}},
       {R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":3,"exclusiveMinimum":true,"maximum":5})",
        {"4", "5"},
        {"3", "6"}},
       {R"({"type":"integer","minimum":0,"maximum":9223372036854775807})", {"0", "123456789012"}, {"-1"}},
       {R"({"type":"number","not":{"type":"integer"},"minimum":1,"maximum":3})", {"1.5"}, {"1", "2.0", "3.5"}},
       {R"({"type":"string","maxLength":1000000,"pattern":"^a*$"})", {R"("aaa")"}, {R"("b")"}}});
}

TEST(SchemaWords, References) {
  check_cases(
      {{R"({"$ref":"#item","$defs":{"x":{"$anchor":"item","type":"integer"}}})", {"1"}, {"null"}},
       {R"({"$id":"https://a.example/root.json","$ref":"defs/int","$defs":{"x":{"$id":"defs/int","type":"integer"}}})",
        {"1"},
        {"null"}},
       {R"({"$id":"https://a.example/root.json","type":"array","items":{"$ref":"root.json#/$defs/x"},"$defs":{"x":{"type":"null"}}})",
        {"[null]"},
        {"[1]"}},
       {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#x","definitions":{"x":{"$id":"#x","type":"null"}}})",
        {"null"},
        {"1"}},
       {R"({"type":"object","properties":{"c":{"type":"array","items":{"$dynamicRef":"#node"}}},"$dynamicAnchor":"node","additionalProperties":false})",
        {R"({"c":[{"c":[]},{}]})"},
        {R"({"c":[1]})"}},
       {R"({"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"type":"object","properties":{"c":{"$recursiveRef":"#"}},"additionalProperties":false})",
        {R"({"c":{"c":{}}})"},
        {R"({"c":1})"}},
       {R"({"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"const":1}}})", {"1"}, {"2"}},
       {R"({"enum":[{"$id":"x"}],"type":"object"})", {R"({"$id":"x"})"}, {"{}"}}});
}

TEST(SchemaWords, WhatIsNotFollowedIsTold) {
  const auto notes = [](const std::string& schema) { return compile_json_schema(schema).notes.text(); };
  EXPECT_EQ(notes(R"({"type":"string","title":"t","$comment":"c","$vocabulary":{},"examples":[1],"id":"a"})"), "");
  EXPECT_EQ(notes(R"({"type":"string","x-order":1,"maxLenght":3,"items":{"x-order":2}})"),
            R"(ignored, because no draft defines it: "x-order", "maxLenght" (did you mean "maxLength"?))");
  EXPECT_NE(notes(R"({"type":"string","format":"color"})").find("\"format: color\""), std::string::npos);
  EXPECT_EQ(notes(R"({"properties":{"a":{"enum":["x-order"]},"x-order":{}}})"), "") << "a name is no keyword";
  // A property that cannot be written is left out, if it is optional.
  const std::string told =
      notes(R"x({"type":"object","properties":{"a":{"$ref":"other.json"},"b":{"pattern":"(?=a)"}}})x");
  EXPECT_NE(told.find("#/properties/a/$ref: \"other.json\" is in another document"), std::string::npos) << told;
  EXPECT_NE(told.find("#/properties/b/pattern: regular expression: character 3"), std::string::npos) << told;
  expect_refused([] { json_schema_grammar(R"({"required":["a"],"properties":{"a":{"$ref":"other.json"}}})"); },
                 "is in another document");
  expect_refused(
      [] {
        json_schema_grammar(
            R"({"type":"object","properties":{"a":{"type":"null"}},"not":{"properties":{"b":{}},"additionalProperties":{"type":"null"}}})");
      },
      "an object that must have an unlisted property is not supported");
  // Again: an unsupported expression stays unsupported when it is asked about a name a second time.
  const std::string part =
      R"x({"allOf":[{"type":"object","propertyNames":{"enum":["ab"]},"patternProperties":{"(?=a)":{"type":"integer"}}},)x"
      R"x({"anyOf":[{"required":["ab"]},{"required":["ab"],"m)x";
  expect_refused(
      [&] {
        json_schema_grammar(R"({"anyOf":[)" + part + R"(inProperties":1}]}]},)" + part + R"(axProperties":1}]}]}]})");
      },
      "look-ahead");
}

// The requirement of several unique items, and that an optional property is left out instead.
TEST(SchemaWords, UniqueItemsSayWhatTheyTake) {
  const auto notes = [](const std::string& items) {
    return compile_json_schema(R"({"type":"object","properties":{"a":{"type":"array","uniqueItems":true,)" + items +
                               "}}}")
        .notes.text();
  };
  EXPECT_EQ(notes(R"("items":{"type":"integer"},"minItems":2)"), "");
  for (const char* items : {R"("items":{"type":"integer","minimum":1,"maximum":9},"minItems":2)",
                            R"("items":{"type":"integer","multipleOf":2},"minItems":2)"}) {
    const std::string told = notes(items);
    EXPECT_NE(told.find("#/properties/a/uniqueItems: 2 unique items"), std::string::npos) << told;
    EXPECT_NE(told.find("integers without bounds and factors"), std::string::npos) << told;
  }
  EXPECT_NE(notes(R"("prefixItems":[{"type":"null"},true],"minItems":2)").find("with a list of schemas"),
            std::string::npos);
  EXPECT_NE(notes(R"("contains":{"const":1},"minItems":2)").find("arrays without \"contains\""), std::string::npos);
  // Two `contains` that one item may satisfy, and two that it cannot: nothing is left of the latter.
  EXPECT_EQ(notes(R"("contains":{"const":1},"allOf":[{"contains":{"minimum":1}}])"), "");
  EXPECT_NE(notes(R"("contains":{"const":1},"allOf":[{"contains":{"const":2}}])").find("arrays without"),
            std::string::npos);
}

// An optional property with an unsupported requirement is not dropped silently.
TEST(SchemaWords, PropertiesThatAreLostAreTold) {
  const auto notes = [](const std::string& schema) { return compile_json_schema(schema).notes.text(); };
  const std::string negation = "the negation of \"format\" is not supported";
  for (
      const char* schema :
      {R"({"type":"object","properties":{"a":{"type":"string","not":{"format":"date"}}}})",
       R"({"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string","not":{"format":"date"}}}})"})
    EXPECT_NE(notes(schema).find(negation), std::string::npos) << schema << notes(schema);
  // A part of it is left.
  EXPECT_EQ(
      notes(
          R"({"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string","not":{"format":"date"}}]}}})"),
      "");
  // It is impossible anyway.
  EXPECT_EQ(notes(R"({"type":"object","properties":{"a":{"type":"integer","minimum":3,"maximum":2}}})"), "");
  // Names are values, which may be unsure.
  EXPECT_NE(notes(R"({"type":"object","properties":{"23:59:60Z":{},"12:00:00Z":{}},"propertyNames":{"format":"time"}})")
                .find("not every validator may accept \"23:59:60Z\""),
            std::string::npos);
}

// Small schemas with multiplying alternatives terminate, accepted or refused.
TEST(SchemaWords, WhatMultipliesEnds) {
  const auto compile = [](const std::string& schema) {
    try {
      compile_json_schema(schema);
    } catch (const Error&) {
    }
  };
  std::string nots = R"({"not":{"additionalProperties":{"type":"string"}}})", items = "{}";
  for (int i = 0; i < 12; ++i) nots += R"(,{"not":{"additionalProperties":{"type":"string"}}})";
  for (int i = 0; i < 20'000; ++i) items += ",{}";
  compile(R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"allOf":[)" + nots + "]}");
  compile(R"({"not":{"prefixItems":[)" + items + "]}}");
}

TEST(SchemaWords, ComplementsOfPatternsAreComplements) {
  RandomSequence random(4, 4);
  for (const char* regex :
       {"abc", "^a", "b$", "^(a|b)*c$", "^$", "a.b", "^[^a]{2,3}$", "(ab|ba)+", "x|^a|b$", "[a-b]{2}"}) {
    const Pattern p = pattern_of_regex(regex, RegexMatch::part), q = complement(p), r = complement(q);
    EXPECT_TRUE((p & q).is_empty()) << regex;
    for (int i = 0; i < 300; ++i) {
      std::string text;
      for (std::uint64_t n = random.below(6); n > 0; --n) text += "abcx"[random.below(4)];
      EXPECT_NE(p.matches(text), q.matches(text)) << regex << " on " << text;
      EXPECT_EQ(p.matches(text), r.matches(text)) << regex << " on " << text;
    }
  }
  EXPECT_FALSE(complement(pattern_of_regex("^.*$", RegexMatch::part, RegexReading::wide)).matches("a\rb"))
      << "which some engines match";
  EXPECT_THROW(complement(pattern_of_regex("(a|b)*a(a|b){30}", RegexMatch::whole)), Unsupported);
}

}  // namespace
}  // namespace tril::search::schema_words_test
