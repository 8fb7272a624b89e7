// Formats: listed values are checked by their RFCs, where validators agree; generated values keep to lengths.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/pattern_complement.h"
#include "grammar/expressions/pattern_of_regex.h"
#include "grammar/schemas/json_schema.h"
#include "grammar/schemas/schema_formats.h"
#include "support/constraints.h"

namespace tril::search {
namespace {

using Json = nlohmann::ordered_json;

std::string listing(const std::string& format, const std::string& text) {
  return Json{{"const", text}, {"format", format}}.dump();
}

std::string times(int n, const std::string& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

struct Case {
  std::string format;
  std::vector<std::string> yes, no;
};

TEST(SchemaFormats, ListedValuesAreHeldAgainstTheirRfcs) {
  const std::string label = times(63, "b"), domain = times(3, label + ".");
  for (const auto& [format, yes, no] : std::vector<Case>{
           {"date", {"2024-02-29", "2000-02-29", "0001-01-01"}, {"1900-02-29", "2023-02-29", "2024-2-1", "0000-01-01"}},
           {"time", {"23:59:59z", "12:00:00.123456789+00:00"}, {"24:00:00Z", "12:00:00", "12:00Z"}},
           {"date-time",
            {"2024-02-29t10:00:00z", "2024-02-29T10:00:00.1234567-08:00"},
            {"2024-02-30T10:00:00Z", "2024-01-01T10:00:00", "2024-01-01 10:00:00Z"}},
           {"duration",
            {"P1Y", "P1Y2M3DT4H5M6S", "PT36H", "PT1S", "P4W"},
            {"P", "PT", "P1Y2W", "P2D1Y", "PT1D", "P0.5Y"}},
           {"email",
            {"Joe.Bloggs@Example.COM", "\"joe..bloggs\"@example.com", "\"a@b\"@example.com", "joe@[127.0.0.1]",
             "joe@[IPv6:::1]", times(64, "a") + "@b.example", "a@" + domain + "b"},
            {".a@example.com", "a..b@example.com", "a@b@c", "a@b=c.com", times(65, "a") + "@b.example",
             "a@" + domain + label}},
           {"idn-email", {"\u00fc@example.com", "\uc2e4\ub840@\uc2e4\ub840.\ud14c\uc2a4\ud2b8"}, {"a", "a@-b"}},
           {"hostname",
            {"Example.COM", "localhost", "a--b", label, domain + times(61, "b")},
            {"-a", "a-", "a_b", "a..b", "b" + label, domain + times(62, "b"), ""}},
           {"idn-hostname",
            {"m\u00fcnchen.de", "\u5b9f\u4f8b.example"},
            {"-\u5b9f", "\u302e\ud55c", times(13, "\u5b9f")}},
           {"ipv4", {"1.2.3.4"}, {"01.2.3.4", "256.1.1.1"}},
           {"ipv6",
            {"::", "::1", "FE80::A", "1:2:3:4:5:6:7:8", "::ffff:192.168.0.1", "1:2:3:4:5:6:7::"},
            {"1::2::3", "12345::", "1:2:3:4:5:6:7", "fe80::a%eth1", "1:2:3:4:5:6:7:8::"}},
           {"uri",
            {"mailto:Joe@example.com", "urn:isbn:1", "tel:+1-816-555-1212", "http://u:p@[2001:db8::7]:80/a?b#c",
             "file:///etc/hosts", "https://EXAMPLE.com/%7Ea", "a:"},
            {"/abc", "abc", "http:// a.com", "bar,baz:foo", "https://[@a.org/b", "http://a/%zz", "http://a/<b>"}},
           {"uri-reference", {"", "#a", "//a.b/?c", "abc", "a/b:c", "../x"}, {"1:b", "a b", "\\a", "#a\\b"}},
           {"iri", {"http://\u0192\u00f8.\u00e5/?\u2202=\u03c0#x", "mailto:\u00fc@a.de"}, {"/abc", "http://[::1/a"}},
           {"iri-reference", {"\u00e2\u03c0", "#\u0192"}, {"\\\u00e2"}},
           {"uri-template", {"http://a.b/{term:1}/{?x,y}{/list*}", "plain"}, {"a/{term", "{}", "{a..b}"}},
           {"uuid",
            {"2EB8AA08-AA98-11EA-B4AA-73B441D16380", times(8, "0") + "-0000-0000-0000-" + times(12, "0")},
            {"2eb8aa08aa9811eab4aa73b441d16380"}},
           {"json-pointer", {"/a/b~0/~1/%c \u00e9", "", "/"}, {"a", "/a~", "#"}},
           {"relative-json-pointer", {"120#", "2/0/a~1b"}, {"01/a", "-1/a", "0##", ""}},
           {"regex",
            {"^[a-z]+$", "(a|b)*c{2,3}?", "\\d{3}-\\d{4}", "[\\w.-]+@[\\w.]+", "[^&]\\.\\/", "\\u00e9"},
            {"(abc]", "a+*", "[b-a]", "x{2,1}", "(", "a)", "[]", "*a", "[a-\\d]", "\\Z"}}}) {
    for (const std::string& text : yes) {
      SCOPED_TRACE(format + " of " + text);
      EXPECT_NO_THROW({
        const Constraint c = of_schema(listing(format, text), JsonSpace::none);
        EXPECT_TRUE(c.allows(Json(text).dump()));
      });
    }
    for (const std::string& text : no)
      EXPECT_THROW(json_schema_grammar(listing(format, text)), Error) << format << " of " << text;
  }
}

// Validators differ on whether a minute may have 61 seconds, and the notes say so.
TEST(SchemaFormats, ListedValuesOfWhichOneIsNotSureAreTold) {
  expect_refused([] { json_schema_grammar(listing("time", "23:59:60Z")); },
                 "not every validator may accept \"23:59:60Z\"");
  expect_refused([] { json_schema_grammar(listing("date", "tomorrow")); }, "it allows no text");
  const auto notes = [](const char* schema) { return compile_json_schema(schema).notes.text(); };
  for (const char* schema :
       {R"({"enum":["12:00:00z","23:59:60Z"],"format":"time"})",
        R"({"type":"array","uniqueItems":true,"items":{"enum":["12:00:00z","23:59:60Z"],"format":"time"}})"})
    EXPECT_NE(notes(schema).find("not every validator may accept \"23:59:60Z\""), std::string::npos)
        << schema << notes(schema);
  EXPECT_EQ(notes(R"({"enum":["12:00:00z","tomorrow"],"format":"time"})"), "");
}

// Other keywords may leave nothing of the strict form.
TEST(SchemaFormats, WhatIsAcceptedIsWrittenWhereNothingStrictIsLeft) {
  for (const auto& [schema, yes, no] : std::vector<std::array<std::string, 3>>{
           {R"("format":"uri","pattern":"^mailto:")", "mailto:a@b.c", "mailto:a b"},
           {R"("format":"uuid","pattern":"^A")", "Aeb8aa08-aa98-11ea-b4aa-73b441d16380", "A"},
           {R"("format":"ipv6","maxLength":3)", "::1", ":::"},
           {R"("format":"date-time","pattern":"z$")", "2024-02-29t00:00:00z", "2023-02-29t00:00:00z"},
           {R"("format":"hostname","pattern":"^[^.]*$")", "localhost", std::string(64, 'a')},
           {R"("format":"email","pattern":"^A")", "A@b", "A" + std::string(64, 'a') + "@b"},
           {R"("format":"date","pattern":"^2024-01")", "2024-01-31", "2024-02-29"}}) {
    SCOPED_TRACE(schema);
    const Constraint c = of_schema(R"({"type":"string",)" + schema + "}", JsonSpace::none);
    EXPECT_TRUE(c.allows(Json(yes).dump()));
    EXPECT_FALSE(c.allows(Json(no).dump()));
  }
}

// RFC 5321, 4.5.3.1.1.
TEST(SchemaFormats, AddressesThatAreWrittenHaveShortLocalParts) {
  const Pattern email = pattern_of_regex(written_format("email"), RegexMatch::whole);
  const std::string part = times(20, "a"), end = "@b.example";
  EXPECT_TRUE(email.matches(part + "." + part + "." + part + end)) << "62 characters";
  EXPECT_TRUE(email.matches(times(16, "a") + times(3, "." + times(15, "a")) + end)) << "64";
  EXPECT_FALSE(email.matches(part + times(3, "." + times(15, "a")) + end)) << "68";
  EXPECT_FALSE(email.matches(part + times(3, "." + part) + end)) << "83";
}

// Generated values match the accepted form.
TEST(SchemaFormats, WhatIsWrittenIsAccepted) {
  for (const char* format :
       {"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference",
        "uri-template", "uuid", "json-pointer", "relative-json-pointer", "regex"}) {
    const Pattern written = pattern_of_regex(written_format(format), RegexMatch::whole),
                  accepted = pattern_of_regex(accepted_format(format), RegexMatch::whole);
    try {
      EXPECT_TRUE((written & complement(accepted)).is_empty()) << format;
    } catch (const Error&) {  // too many states
      ADD_FAILURE() << format;
    }
  }
}

}  // namespace
}  // namespace tril::search
