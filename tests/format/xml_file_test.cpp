#include "format/xml_file.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace tril {
namespace {

TEST(XmlFile, TextIsUnescapedOrVerbatim) {
  const std::string bytes = "<?xml version=\"1.0\"?>\n<a x=\"1 &lt; 2\">\r\n <b>&#228;&amp;</b><![CDATA[<c>]]></a>";
  const pugi::xml_document read = parse_xml(bytes, "f.xml");
  EXPECT_STREQ(read.child("a").child("b").child_value(), "ä&");
  EXPECT_STREQ(read.child("a").attribute("x").value(), "1 < 2");
  EXPECT_STREQ(read.child("a").first_child().value(), "\n ");
  const pugi::xml_document verbatim = parse_xml(bytes, "f.xml", XmlText::verbatim);
  const pugi::xml_node text = verbatim.child("a").child("b").first_child();
  EXPECT_STREQ(text.value(), "&#228;&amp;");
  EXPECT_EQ(bytes.substr(static_cast<std::size_t>(text.offset_debug()), 6), "&#228;");
}

TEST(XmlFile, ErrorsNameTheirPlace) {
  EXPECT_TRUE(contains(error_of([] { parse_xml("<a>\n  <b></a>", "f.xml"); }), "f.xml: line 2", "well-formed"));
  EXPECT_TRUE(contains(error_of([] { parse_xml("", "f.xml"); }), "f.xml"));
}

TEST(XmlFile, DeclaredEntitiesAreRefused) {
  const std::string laughs = "<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>";
  EXPECT_TRUE(contains(error_of([&] { parse_xml(laughs, "f.xml"); }), "f.xml", "entities"));
  const std::string outside = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>";
  EXPECT_TRUE(contains(error_of([&] { parse_xml(outside, "f.xml"); }), "f.xml", "entities"));
  EXPECT_NO_THROW(parse_xml("<!DOCTYPE html SYSTEM \"about:legacy-compat\"><html/>", "f.xml"));
}

TEST(XmlFile, DeepNestingIsRefused) {
  const auto nested = [](std::size_t n) {
    std::string s;
    for (std::size_t i = 0; i < n; ++i) s += "<a>";
    for (std::size_t i = 0; i < n; ++i) s += "</a>";
    return s;
  };
  EXPECT_NO_THROW(parse_xml(nested(most_nested_elements), "f.xml"));
  EXPECT_TRUE(contains(error_of([&] { parse_xml(nested(1'000'000), "f.xml"); }), "f.xml", "1000"));
}

TEST(XmlFile, PrefixesAreNotPartOfLocalNames) {
  EXPECT_EQ(local_name("w:p"), "p");
  EXPECT_EQ(local_name("p"), "p");
}

}  // namespace
}  // namespace tril
