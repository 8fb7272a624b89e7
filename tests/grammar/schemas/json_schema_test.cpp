// JSON schemas as grammars: what they allow, and what is refused by name.
#include "grammar/schemas/json_schema.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/constraints.h"
#include "support/schema_validator.h"

namespace tril::search {
namespace {

using nlohmann::json;

TEST(JsonSchema, NumbersKeepToTheirBounds) {
  const auto digits = [](double x) { return nlohmann::json(x).dump(); };
  for (const auto& [schema, multiple] : std::vector<std::pair<std::string, int>>{
           {R"({"type":"integer","minimum":-17,"maximum":123})", 1},
           {R"({"type":"integer","exclusiveMinimum":9,"exclusiveMaximum":101})", 1},
           {R"({"type":"integer","minimum":-105.5,"maximum":-3.5})", 1},
           {R"({"type":"integer","minimum":97,"multipleOf":7})", 7},
           {R"({"type":"integer","maximum":12,"multipleOf":5})", 5},
           {R"({"type":"number","minimum":3,"multipleOf":4})", 4}}) {
    const Constraint c = of_schema(schema);
    const json s = json::parse(schema);
    for (int x = -220; x <= 220; ++x)
      EXPECT_EQ(c.allows(std::to_string(x)), testing::fault_of(json(x), s, s).empty()) << schema << x;
    for (const char* no : {"-0", "007", "1.0", "+1", "", "-", "1e1"}) EXPECT_FALSE(c.allows(no)) << schema << no;
  }
  for (const std::string schema :
       {R"({"type":"number","minimum":-1.25,"maximum":0.5})",
        R"({"type":"number","exclusiveMinimum":0.1,"maximum":0.3})", R"({"type":"number","exclusiveMaximum":-0.7})",
        R"({"type":"number","minimum":12.5,"exclusiveMaximum":13})",
        R"({"type":"number","minimum":0.30000000000000004})", R"({"type":"number","maximum":1e-7})",
        R"({"type":"number","minimum":5e-324,"maximum":9})"}) {
    const Constraint c = of_schema(schema);
    const json s = json::parse(schema);
    for (int x = -1500; x <= 1500; ++x) {
      const double value = x / 100.0;
      EXPECT_EQ(c.allows(value == std::floor(value) ? fmt::format("{}", x / 100) : digits(value)),
                testing::fault_of(json(value), s, s).empty())
          << schema << value;
    }
    for (const char* no : {"-0", "-0.0", "00.5", ".5", "1.", "1e1"}) EXPECT_FALSE(c.allows(no)) << schema << no;
  }
  const Constraint free = of_schema(R"({"type":"number"})");
  for (const char* yes : {"0", "-0.5", "1e5", "123.25E-3", "999999999999999"}) EXPECT_TRUE(free.allows(yes)) << yes;
  for (const char* no : {"1e400", "01", "--1", "1.", "NaN"}) EXPECT_FALSE(free.allows(no)) << no;
}

TEST(JsonSchema, SaysWhatItAllows) {
  const auto check = [](const std::string& schema, const std::vector<std::string>& yes,
                        const std::vector<std::string>& no, JsonSpace space = JsonSpace::space) {
    const Constraint c = of_schema(schema, space);
    for (const std::string& text : yes) EXPECT_TRUE(c.allows(text)) << schema << "\n" << text;
    for (const std::string& text : no) EXPECT_FALSE(c.allows(text)) << schema << "\n" << text;
  };
  const std::string person =
      R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name"]})";
  check(person, {R"({"name":"A"})", R"({"name": "\u00e9\n\/", "age": 3})", "{\"name\":\"\u00e9\"}"},
        {"{}", R"({"age":3})", R"({"age":3,"name":"A"})", R"({"name":"A","more":1})", R"({"name":"A",})",
         R"({"name":"A"} )", "{\"name\":\"\n\"}", R"({"name":"\ud800"})", "{\"name\":\"\xc3\"}", R"({"name":  "A"})"});
  check(person, {"{\n  \"name\": \"A\",\n  \"age\": 3\n}", R"({"name":"A"})"}, {"{ \n\"name\":\"A\"}"},
        JsonSpace::lines);
  check(person, {R"({"name":"A","age":3})"}, {R"({"name": "A"})"}, JsonSpace::none);
  check(R"({"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#"}}]})", {"null", "[]", "[null, [[], null]]"},
        {"[1]", "[null", "[,]"});
  check(R"({"enum":["a","\n",3,[1,{"k":null}]],"type":["string","array"]})",
        {R"("a")", R"("\n")", R"([1, {"k": null}])"}, {"3", R"("b")"});
  check(
      R"({"allOf":[{"enum":[{"a":1,"b":[{"c":2,"d":null}]},{"a":1},[1,2],"x"]},{"enum":[{"b":[{"d":null,"c":2.0}],"a":1.0},[2,1],"x"]}]})",
      {R"({"a": 1, "b": [{"c": 2, "d": null}]})", R"("x")"}, {R"({"a": 1})", "[1, 2]", "[2, 1]"});
  check(R"({"type":"object","additionalProperties":{"type":"boolean"},"properties":{"ab":{"const":1}}})",
        {"{}", R"({"ab": 1, "a":true,"abc":false})", R"({"b":true})"},
        {R"({"ab":true})", R"({"a":true,"ab":1})", R"({"\u0061b":true})"});
  check(R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"minProperties":2,"maxProperties":2})",
        {R"({"a":1,"b":2})", R"({"b":1,"c":[]})"}, {R"({"a":1})", R"({"a":1,"b":1,"c":1})"});
  check(
      R"({"type":"object","minProperties":1,"maxProperties":2,"propertyNames":{"maxLength":1},"additionalProperties":{"type":"null"}})",
      {R"({"a":null})", R"({"a":null,"":null})"}, {"{}", R"({"ab":null})", R"({"a":null,"b":null,"c":null})"});
  check(R"({"type":"array","prefixItems":[{"const":1},{"const":2}],"items":{"const":3},"maxItems":3})",
        {"[1,2]", "[1, 2, 3]"}, {"[]", "[1]", "[1,2,3,3]"});
  check(
      R"({"allOf":[{"properties":{"a":{"minimum":1}},"additionalProperties":false},{"properties":{"a":{"type":"integer","maximum":2},"b":{}}}],"type":"object"})",
      {"{}", R"({"a":1})", R"({"a":2})"}, {R"({"a":3})", R"({"a":0})", R"({"b":1})"});
  check(R"({"type":"string","pattern":"b$","minLength":2,"maxLength":3})", {R"("ab")", R"("\"ab")", R"("\\b")"},
        {R"("b")", R"("ba")", R"("abab")"});
  check("true", {"1", "{}", R"({"a": [true, null, "x", {"b": -1.5e3}]})"}, {"", "{", "tru", "[1 ,2]"});
}

TEST(JsonSchema, RefusesByNameWhatItDoesNotKnow) {
  for (const auto& [schema, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"type":"strin"})", "there is no type \"strin\""},
           {R"({"$ref":"#/$defs/a"})", "there is no \"#/$defs/a\""},
           {R"({"$ref":"other.json"})", "is in another document"},
           {R"({"$ref":"#"})", "refers to itself"},
           {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", "refers to itself"},
           {R"x({"type":"string","pattern":"(?=a)"})x", "JSON schema: #/pattern: regular expression: character"},
           {R"x({"properties":{"a/b~":{"type":"string","pattern":"("}}})x",
            "JSON schema: #/properties/a~1b~0/pattern: "},
           {R"x({"patternProperties":{"^(?=a)":true}})x", "#/patternProperties/^(?=a): regular expression: "},
           {R"({"patternProperties":{"^a":{"type":"x"}}})", "#/patternProperties/^a/type: there is no type \"x\""},
           {R"({"required":["a"],"additionalProperties":{"type":"x"}})",
            "#/additionalProperties/type: there is no type"},
           {R"({"items":[{"anyOf":3}],"minItems":1})", "#/items"},
           {"{\n \"minimum\": 1e400}", "JSON schema: line 2, column 17: has a number that is too large"},
           {R"({"type":"string","maxLength":-1})", "expected an integer of at least 0"},
           {R"({"type":"integer","minimum":3,"maximum":2})", "it allows no text"},
           {R"({"type":"string","minLength":5,"maxLength":3})", "it allows no text"},
           {R"({"properties":{"a":false},"required":["a"],"type":"object"})", "it allows no text"},
           {R"({"allOf":[{"required":1},{"required":["a"]}]})", "#/allOf/0/required: expected an array of names"},
           {R"({"required":["a",1]})", "expected an array of names"},
           {R"({"allOf":[{"properties":[{}]},{"properties":{"a":{}}}]})", "#/allOf/0/properties: expected an object"},
           {R"({"allOf":[{"minimum":"1"},{"minimum":1}]})", "#/allOf/0/minimum: expected a number"},
           {R"({"allOf":[{"maxLength":[]},{"maxLength":1}]})", "expected an integer of at least 0"},
           {R"({"oneOf":[{"enum":1},{"enum":[2]}]})", "#/oneOf/0/enum: expected an array of values"},
           {R"({"oneOf":[{"anyOf":{"a":{}}},true]})", "#/oneOf/0/anyOf: expected an array of schemas"},
           {R"({"prefixItems":{}})", "expected an array of schemas"},
           {R"({"type":"array","prefixItems":[{"type":"object"}],"items":[]})",
            "has both `prefixItems` and a list as `items`"},
           {R"({"a":1,"a":2})", "twice"},
           {"[", "JSON schema"},
           {"3", "expected a schema"},
           {R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object"}})", "uniqueItems"},
           {R"({"type":"string","not":{"format":"date"}})", "the negation of \"format\" is not supported"},
           {R"({"type":"number","multipleOf":0})", "expected a number above 0"},
           {R"({"type":"string","minLength":1000000})", "above 100000"},
           {R"({"not":{}})", "it allows no text"},
           {R"({"$dynamicRef":"#a","$defs":{"x":{"$id":"x","$dynamicAnchor":"a"},"y":{"$dynamicAnchor":"a"}}})",
            "may refer to several schemas"},
           {R"({"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}})", "it allows no text"}})
    expect_refused([&s = schema] { json_schema_grammar(s); }, expected);
  // A draft before `prefixItems` ignores it.
  const std::string draft7 =
      R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"array","prefixItems":[{"type":"object"}],"items":[]})";
  EXPECT_TRUE(of_schema(draft7).allows("[1]"));
  std::string deep = "{}";
  for (int i = 0; i < 60; ++i) deep = R"({"items":)" + deep + "}";
  EXPECT_NO_THROW(json_schema_grammar(deep));
  // 2^40 schemas, of which 40 are distinct.
  std::string doubling = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 40; ++i)
    doubling +=
        fmt::format(R"("d{}":{{"allOf":[{{"$ref":"#/$defs/d{}"}},{{"$ref":"#/$defs/d{}"}}]}},)", i, i + 1, i + 1);
  EXPECT_NO_THROW(json_schema_grammar(doubling + R"("d40":{}}})"));
  // 3^40 combinations of alternatives.
  std::string tripling = R"({"type":"object","allOf":[true)";
  for (int i = 0; i < 40; ++i)
    tripling +=
        fmt::format(R"(,{{"anyOf":[{{"required":["a{0}"]}},{{"required":["b{0}"]}},{{"required":["c{0}"]}}]}})", i);
  EXPECT_NO_THROW(json_schema_grammar(tripling + "]}"));
  // Patterns of many states each.
  std::string names = R"({"prefixItems":[)";
  for (int i = 0; i < 100; ++i)
    names += fmt::format(
        R"({}{{"type":"object","additionalProperties":{{}},"propertyNames":{{"pattern":"^[a-c]*$","maxLength":{}}}}})",
        i == 0 ? "" : ",", 50'000 + i);
  expect_refused([&] { json_schema_grammar(names + "]}"); }, "patterns and lengths");
}

}  // namespace
}  // namespace tril::search
