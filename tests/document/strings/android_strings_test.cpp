// Strings of Android programs: escapes, marks, plurals.
#include <gtest/gtest.h>

#include "language/plural.h"
#include "support/localisation_file.h"

namespace tril::document::android_strings_test {
namespace {

using namespace localisation;

std::string android(const std::string& content) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<resources xmlns:xliff=\"urn:oasis:names:tc:xliff:document:1.2\" "
         "xmlns:tools=\"http://schemas.android.com/tools\">\n" +
         content + "</resources>\n";
}
std::string string(const std::string& value) {
  return android("  <string name=\"a\">" + value + "</string>\n");
}

TEST(Android, StringsAreTranslated) {
  EXPECT_EQ(capitals(android("  <!-- a note --><string name=\"a\" tools:ignore=\"X\">dog</string>\n<string name=\"b\" "
                             "translatable=\"false\">id</string><integer name=\"c\">1</integer>\n<string-array "
                             "name=\"d\"><item>one dog</item><!-- x --><item>@string/a</item></string-array>\n"
                             "<string name=\"e\">@string/a</string><string name=\"f\">?attr/x</string><array "
                             "name=\"g\"><item>red</item></array>\n"),
                     "strings.xml"),
            android("  <!-- a note --><string name=\"a\" tools:ignore=\"X\">DOG</string>\n<string name=\"b\" "
                    "translatable=\"false\">id</string><integer name=\"c\">1</integer>\n<string-array "
                    "name=\"d\"><item>ONE DOG</item><!-- x --><item>@string/a</item></string-array>\n"
                    "<string name=\"e\">@string/a</string><string name=\"f\">?attr/x</string><array "
                    "name=\"g\"><item>red</item></array>\n"));
  EXPECT_EQ(capitals("<resources xmlns:tools=\"t\" tools:locale=\"en\"/>", "x.xml"),
            "<resources xmlns:tools=\"t\" tools:locale=\"de\"/>");
}

TEST(Android, EscapesAreReadAndWritten) {
  EXPECT_EQ(texts(string("it\\'s \\\"so\\\" \\u00e4\\@ &lt;3 &#8230;\\n\\tend"), "x.xml"),
            std::vector<std::string>{"it's \"so\" \u00e4@ <3 \u2026\n\tend"});
  EXPECT_EQ(capitals(string("it\\'s \\u00e9t\\u00e9 &amp; co\\nnow"), "x.xml"),
            string("IT\\'S \u00c9T\u00c9 &amp; CO\\nNOW"));
  EXPECT_EQ(written(string("dog"), "x.xml", "@l'a \"b\" \\ <c>\n\td"),
            string("\\@l\\'a \\\"b\\\" \\\\ &lt;c&gt;\\n\\td"));
  EXPECT_EQ(written(string("dog"), "x.xml", "?who"), string("\\?who"));
  EXPECT_EQ(capitals(string("\n    one dog\n    two cats\n  "), "x.xml"), string("\n    ONE DOG TWO CATS\n  "))
      << "a line end is a blank to Android";
  EXPECT_EQ(capitals(string("\"  a dog's \n day \""), "x.xml"), string("\"  A DOG\\'S \\n DAY \""))
      << "white space within quotes stays";
}

TEST(Android, MarksAreElementsPlaceholdersAndTags) {
  EXPECT_EQ(
      capitals(
          string("Hi <b>dear <xliff:g id=\"n\" example=\"Bo\">%1$s</xliff:g></b>, %2$d of {x}<br/> &lt;i>on&lt;/i> "
                 "<a href=\"http://x.y\">here</a> \"now\" ok"),
          "x.xml"),
      string("HI <b>DEAR <xliff:g id=\"n\" example=\"Bo\">%1$s</xliff:g></b>, %2$d OF {x}<br/> &lt;i>ON&lt;/i> "
             "<a href=\"http://x.y\">HERE</a> \"NOW\" OK"));
  EXPECT_EQ(texts(string("a <xliff:g>%s</xliff:g> &lt;b>dog&lt;/b>"), "x.xml"), std::vector<std::string>{"a %s dog"});
  EXPECT_EQ(capitals(string("<![CDATA[it\\'s <b>a</b> <a href=\"u\">dog</a> & co]]>"), "x.xml"),
            string("<![CDATA[IT\\'S <b>A</b> <a href=\"u\">DOG</a> & CO]]>"));
  EXPECT_EQ(written(string("<![CDATA[dog]]>"), "x.xml", "a]]>b"), string("<![CDATA[a]]]]><![CDATA[>b]]>"));
}

TEST(Android, PluralsGetTheFormsOfTheLanguage) {
  const auto plurals = [](const std::string& items) {
    return android("  <plurals name=\"p\">\n" + items + "  </plurals>\n");
  };
  const auto item = [](const std::string& quantity, const std::string& text) {
    return "    <item quantity=\"" + quantity + "\">" + text + "</item>\n";
  };
  const std::string source = plurals(item("one", "%d dog") + item("other", "%d dogs"));
  EXPECT_EQ(capitals(source, "x.xml"), plurals(item("one", "%d DOG") + item("other", "%d DOGS")));
  EXPECT_EQ(capitals(source, "x.xml", "ru"), plurals(item("one", "%d DOG") + item("other", "%d DOGS") +
                                                     item("few", "%d DOGS") + item("many", "%d DOGS")));
  EXPECT_EQ(capitals(source, "x.xml", ""), plurals(item("one", "%d DOG") + item("other", "%d DOGS")));
  // "@" and "?" at the beginning would be a reference.
  const auto only = [&](const std::string& text) { return plurals(item("other", text)); };
  const auto document = read(only("dogs"), "x.xml", "en");
  EXPECT_EQ(document->write(std::vector<Segment>(2, {"@dogs", {}, {}})),
            plurals(item("other", "\\@dogs") + item("one", "\\@dogs")));
  EXPECT_EQ(plural_categories("en"), (std::vector<std::string>{"one", "other"}));
  EXPECT_EQ(plural_categories("ja"), std::vector<std::string>{"other"});
  EXPECT_EQ(plural_categories("ara_Arab"), (std::vector<std::string>{"zero", "one", "two", "few", "many", "other"}));
  EXPECT_EQ(plural_categories("nonsense"), std::vector<std::string>{"other"});
}

}  // namespace
}  // namespace tril::document::android_strings_test
