// The draft decides which keywords count: an ignored keyword excludes and evaluates nothing, both in generated and in
// listed values.
#include <gtest/gtest.h>

#include "grammar/schemas/json_schema.h"
#include "grammar/schemas/schema_drafts.h"
#include "support/constraints.h"

namespace tril::search {
namespace {

const std::string draft4 = R"("$schema":"http://json-schema.org/draft-04/schema#",)",
                  draft7 = R"("$schema":"http://json-schema.org/draft-07/schema#",)",
                  draft2019 = R"("$schema":"https://json-schema.org/draft/2019-09/schema",)",
                  whole = R"("definitions":{"a":{"type":"integer"}},)";
const char* const nothing = "it allows no text";

void expect(const std::string& words, const std::vector<std::string>& yes, const std::vector<std::string>& no) {
  const std::string schema = "{" + words + "}";
  SCOPED_TRACE(schema);
  const Constraint c = of_schema(schema, JsonSpace::none);
  for (const std::string& text : yes) EXPECT_TRUE(c.allows(text)) << text;
  for (const std::string& text : no) EXPECT_FALSE(c.allows(text)) << text;
}

void expect_none(const std::string& words) {
  expect_refused([&] { json_schema_grammar("{" + words + "}"); }, nothing);
}

TEST(SchemaDrafts, WhatStandsBesideAReferenceExcludesNothing) {
  expect(draft7 + whole + R"("not":{"$ref":"#/definitions/a","type":"string"},"enum":["x",1,null])", {R"("x")", "null"},
         {"1"});
  expect(draft7 + whole + R"("if":{"$ref":"#/definitions/a","minimum":10},"then":{"type":"string"},"enum":[1,"x"])",
         {R"("x")"}, {"1"});
  expect(
      draft7 + whole +
          R"("type":"array","items":{"enum":[1,"x"]},"maxItems":2,"not":{"contains":{"$ref":"#/definitions/a","minimum":10}})",
      {"[]", R"(["x","x"])"}, {"[1]", R"(["x",1])"});
  expect_none(draft7 + whole + R"("oneOf":[{"$ref":"#/definitions/a","minimum":10},{"minimum":0}],"enum":[5])");
  // Generated values satisfy it nevertheless.
  expect(draft7 + whole + R"("$ref":"#/definitions/a","minimum":10,"enum":[5,15])", {"15"}, {"5"});
  expect(whole + R"("not":{"$ref":"#/definitions/a","minimum":10},"enum":[5,15])", {"5"}, {"15"});  // the latest draft
}

TEST(SchemaDrafts, KeywordsThatADraftHasNotExcludeNothing) {
  const std::string objects = R"("enum":[{"a":1},{"a":1,"b":2},{"b":1}],)";
  const std::vector<std::string> good{R"({"b":1})"}, bad{R"({"a":1})", R"({"a":1,"b":2})"};
  expect(draft4 + objects + R"("not":{"required":["a"],"propertyNames":{"const":"a"}})", good, bad);
  expect(draft7 + objects + R"("not":{"required":["a"],"dependentSchemas":{"a":{"required":["b"]}}})", good, bad);
  expect(draft7 + objects + R"("not":{"required":["a"],"dependentRequired":{"a":["b"]}})", good, bad);
  expect(draft7 + objects + R"("not":{"required":["a"],"unevaluatedProperties":false})", good, bad);
  expect_none(draft4 + R"("not":{"const":1},"enum":[1,2])");
  expect_none(draft4 + R"("not":{"contains":{"const":1}},"enum":[[1],[2]])");
  expect_none(draft4 + R"("not":{"exclusiveMinimum":3},"enum":[1,5])");
  expect_none(draft4 + R"("not":{"if":true,"then":false},"enum":[1])");
  expect_none(draft7 + R"("not":{"contains":{"const":1},"minContains":2},"enum":[[1]])");
  expect_none(draft2019 + R"("not":{"prefixItems":[{"const":1}]},"enum":[[1],[2]])");
  expect_none(R"("not":{"dependencies":{"a":["b"]}},"enum":[{"a":1}])");
  // The boolean form is draft 4's.
  expect(draft4 + R"("not":{"minimum":3,"exclusiveMinimum":true},"enum":[1,3,5])", {"1", "3"}, {"5"});
  expect(draft7 + R"("not":{"minimum":3,"exclusiveMinimum":true},"enum":[1,3,5])", {"1"}, {"3", "5"});
  expect(draft7 + R"("type":"integer","minimum":2,"not":{"minimum":3,"exclusiveMinimum":true})", {"2"}, {"3", "4"});
}

TEST(SchemaDrafts, KeywordsThatADraftHasNotEvaluateNothing) {
  const std::string names =
      R"("type":"object","properties":{"a":{}},"required":["a","b"],"unevaluatedProperties":false,)";
  expect(names + R"("dependentSchemas":{"a":{"properties":{"b":{"const":1}}}})", {R"({"a":0,"b":1})"},
         {R"({"a":0,"b":2})"});
  expect_none(names + R"("dependencies":{"a":{"properties":{"b":{"const":1}}}})");
  expect_none(draft2019 + R"("type":"array","prefixItems":[{"const":1}],"unevaluatedItems":false,"minItems":1)");
}

TEST(SchemaDrafts, AllReferencesOfASchemaHold) {
  const std::string two =
      R"("$ref":"#/$defs/a","$dynamicRef":"#b","$defs":{"a":{"type":"integer"},"b":{"$dynamicAnchor":"b","maximum":3,"minimum":2}})";
  expect(two, {"2", "3"}, {"1", "2.5"});
  expect(two + R"(,"enum":[1,2,2.5])", {"2"}, {"1", "2.5"});
}

TEST(SchemaDrafts, EachKeywordHasItsDrafts) {
  const Json schema = Json::parse(R"({"$ref":"#","title":"t","if":true,"dependencies":{},"exclusiveMinimum":3})");
  EXPECT_TRUE(counts(schema, "$ref", 4));
  EXPECT_TRUE(counts(schema, "title", 4)) << "which says nothing of values";
  EXPECT_FALSE(counts(schema, "if", 7)) << "beside $ref";
  EXPECT_TRUE(counts(schema, "if", 2019));
  EXPECT_FALSE(counts(schema, "dependencies", 2019));
  EXPECT_FALSE(all_count(schema, 2020));
  EXPECT_EQ(what_counts(schema, 7), Json::parse(R"({"$ref":"#","title":"t"})"));
  EXPECT_EQ(what_counts(schema, 2020), Json::parse(R"({"$ref":"#","title":"t","if":true,"exclusiveMinimum":3})"));
}

}  // namespace
}  // namespace tril::search
