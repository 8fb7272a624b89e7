// Strings and property lists of Apple's systems: values, plurals, encodings.
#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/localisation_file.h"

namespace tril::document::apple_strings_test {
namespace {

using namespace localisation;

TEST(AppleStrings, ValuesAreTranslated) {
  const std::string file =
      "/* a note; \"x\" = \"y\"; */\n\"k \\\"1\\\"\" = \"a dog\";\n// \"no\" = \"no\";\nkey.2=\"it \\U00e4 "
      "\\\"so\\\"\\n%@\" ;\nplain = text;\n\"My key\";\n\"n\" = \"12\";";
  EXPECT_EQ(texts(file, "x.strings"), (std::vector<std::string>{"a dog", "it \u00e4 \"so\"\n%@", "text", "My key"}));
  EXPECT_EQ(capitals(file, "Localizable.strings"),
            "/* a note; \"x\" = \"y\"; */\n\"k \\\"1\\\"\" = \"A DOG\";\n// \"no\" = \"no\";\nkey.2=\"IT \u00c4 "
            "\\\"SO\\\"\\n%@\" ;\nplain = \"TEXT\";\n\"My key\" = \"MY KEY\";\n\"n\" = \"12\";");
  EXPECT_EQ(texts("\"a\" = \"R&D\"; \"b\" = \"see <plist>\";", "x.strings"), (std::vector<std::string>{"R&D", "see "}));
  EXPECT_EQ(capitals("\xef\xbb\xbf\"a\" = \"b\";\n", "x.strings"), "\xef\xbb\xbf\"a\" = \"B\";\n");
  EXPECT_TRUE(contains(refusal("\"a\" = \"b\"\n\"c\" = \"d\";", "x.strings"), "x.strings: line 2", ";"));
  EXPECT_TRUE(contains(refusal("\n\"a\" = \"b;\n", "x.strings"), "line 2", "not closed"));
  EXPECT_EQ(texts("\"a\" = \"x\\fy\\101\\0402\";", "x.strings"), std::vector<std::string>{"x\fyA 2"});
  EXPECT_TRUE(contains(refusal("\"a\" = \"caf\\351\";", "x.strings"), "line 1", "\\351", "NeXTSTEP"));
  EXPECT_TRUE(contains(refusal("/* a", "x.strings"), "comment", "not closed"));
  EXPECT_TRUE(contains(refusal("<?xml version=\"1.0\"?><plist/>", "x.strings"), "property list", "<dict>"));
  EXPECT_TRUE(contains(refusal("bplist00", "x.strings"), "property list", "binary", "plutil"));
  for (const auto& [file, kind] : {std::pair{"// old\n{ a = b; }", "a dictionary"},
                                   {"\na = { b = c; };", "a dictionary"},
                                   {"\na = ( b, c );", "an array"},
                                   {"\na = <0fbd>;", "data"}})
    EXPECT_TRUE(contains(refusal(file, "x.strings"), "line 2", kind, "property list in text form", "plutil")) << file;
  EXPECT_TRUE(contains(refusal("a = \xe2\x80\x9c;", "x.strings"), "line 1", "a value", "\xe2\x80\x9c"));
  EXPECT_TRUE(contains(refusal("a =", "x.strings"), "a value", "the file ends"));
}

// Foundation reads strings in either quotes.
TEST(AppleStrings, SingleQuotesAreRead) {
  EXPECT_EQ(capitals("'k' = 'it\\'s \"so\"';\n'My \"key\"';\nk2 = 'a';", "x.strings"),
            "'k' = 'IT\\'S \"SO\"';\n'My \"key\"' = \"MY \\\"KEY\\\"\";\nk2 = 'A';");
  EXPECT_EQ(written("\"a\" = 'dog';", "x.strings", "l'a \"b\" \\"), "\"a\" = 'l\\'a \"b\" \\\\';");
  EXPECT_TRUE(contains(refusal("'a' = 'b\";\n", "x.strings"), "line 1", "not closed"));
}

std::string plist(const std::string& members) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
         "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n" +
         members + "</dict>\n</plist>\n";
}
std::string property(const std::string& key, const std::string& text) {
  return "  <key>" + key + "</key>\n  <string>" + text + "</string>\n";
}
std::string dictionary(const std::string& key, const std::string& members) {
  return "  <key>" + key + "</key>\n  <dict>\n" + members + "  </dict>\n";
}

TEST(PluralDictionaries, FormsFollowTheLanguage) {
  const auto file = [](const std::string& format, const std::string& forms, const std::string& rule) {
    return plist(
        dictionary("%d dogs", property("NSStringLocalizedFormatKey", format) +
                                  dictionary("dogs", property("NSStringFormatSpecTypeKey", rule) +
                                                         property("NSStringFormatValueTypeKey", "d") + forms)));
  };
  const std::string plural = "NSStringPluralRuleType";
  const std::string source =
      file("%#@dogs@ &amp; more", property("one", "%d dog") + property("other", "%d dogs"), plural);
  const std::string format = "%#@dogs@ &amp; MORE", one = property("one", "%d DOG"),
                    other = property("other", "%d DOGS");
  EXPECT_EQ(capitals(source, "x.stringsdict"), file(format, one + other, plural));
  EXPECT_EQ(capitals(source, "x.stringsdict", ""), file(format, one + other, plural));
  EXPECT_EQ(capitals(source, "x.stringsdict", "ru"),
            file(format, one + other + property("few", "%d DOGS") + property("many", "%d DOGS"), plural));
  EXPECT_EQ(read(source, "x.stringsdict")->write(read(source, "x.stringsdict")->segments()), source);
  EXPECT_TRUE(contains(refusal(file("a", "", "Other"), "x.stringsdict"), "x.stringsdict: line ", "dogs", "\"Other\""));
}

TEST(PluralDictionaries, DamagedRulesAreRefused) {
  const auto file = [](const std::string& format, const std::string& forms) {
    return plist(dictionary(
        "%d dogs", property("NSStringLocalizedFormatKey", format) +
                       dictionary("dogs", property("NSStringFormatSpecTypeKey", "NSStringPluralRuleType") + forms)));
  };
  const std::string one = property("one", "a dog"), other = property("other", "%d dogs");
  const auto refused = [](const std::string& bytes) { return refusal(bytes, "x.stringsdict"); };
  const std::string sound = file("%#@dogs@ 100%% %%#@ %1$#@dogs@ %@", one + other);
  EXPECT_EQ(texts(sound, "x.stringsdict").size(), 2u);
  EXPECT_TRUE(contains(refused(sound + sound), "x.stringsdict: line 23", "second root element"))
      << refused(sound + sound);
  EXPECT_TRUE(contains(refused(sound + "more"), "line 20", "text outside"));
  EXPECT_TRUE(contains(refused(sound + "<plist/>"), "line 21", "second root element", "plist"));
  EXPECT_TRUE(contains(refused(file("%#@dogs@", one)), "line ", "dogs", "\"other\""));
  EXPECT_TRUE(
      contains(refused(file("%#@dogs@", other + property("several", "x"))), "line 15", "\"several\"", "zero, one"));
  EXPECT_TRUE(contains(refused(file("%#@dogs@", other + one + other)), "line 17", "\"other\"", "twice"));
  EXPECT_TRUE(contains(refused(plist(property("a", "b") + property("a", "c"))), "line 7", "\"a\"", "twice"));
  EXPECT_TRUE(contains(refused(file("%#@cats@", other)), "line 8", "\"cats\"", "<dict>"));
  EXPECT_TRUE(contains(refused(file("%#@dogs@", property("other", "%2$#@cats@"))), "\"cats\""));
  EXPECT_TRUE(contains(refused(file("%#@dogs", other)), "line 8", "%#@dogs", "not closed"));
  EXPECT_TRUE(contains(refused(file("%#@dogs@", "  <key>other</key>\n  <dict/>\n")), "<string>", "<dict>"));
}

TEST(PluralDictionaries, TextsByWidthAndDevice) {
  const auto file = [](const std::string& a, const std::string& b, const std::string& c) {
    return plist(dictionary("k", dictionary("NSStringVariableWidthRuleType", property("20", a))) +
                 dictionary("l", dictionary("NSStringDeviceSpecificRuleType",
                                            property("mac", b) +
                                                dictionary("other", property("NSStringLocalizedFormatKey", c)))));
  };
  EXPECT_EQ(capitals(file("a dog", "click", "tap %@"), "x.stringsdict"), file("A DOG", "CLICK", "TAP %@"));
}

TEST(PropertyLists, AreReadAsStrings) {
  const std::string note = "<!-- a note -->\n  <key>n</key>\n  <integer>1</integer>\n";
  EXPECT_EQ(capitals(plist(property("a &lt;", "it's &lt; \n%@") + note + property("b", "")), "x.strings"),
            plist(property("a &lt;", "IT'S &lt; \n%@") + note + property("b", "")));
  EXPECT_TRUE(contains(refusal(plist("<key>a</key>"), "x.strings"), "line 5", "a key has no value"));
  EXPECT_TRUE(contains(refusal(plist("<string>a</string>"), "x.strings"), "<string>", "expected <key>"));
  EXPECT_TRUE(contains(refusal(plist("<key>a</key><key>b</key>"), "x.strings"), "<key>", "expected a value"));
  EXPECT_TRUE(contains(refusal("<html/>", "x.stringsdict"), "<html>", "expected <plist>"));
  EXPECT_TRUE(contains(refusal("<plist><array/></plist>", "x.stringsdict"), "no dictionary"));
}

std::string utf16(const std::u16string& text, bool little) {
  std::string bytes;
  for (const char16_t unit : u"\ufeff" + text) {
    const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  }
  return bytes;
}

TEST(AppleStrings, Utf16IsKept) {
  for (const bool little : {false, true}) {
    const std::string file = utf16(u"\"k\" = \"caf\u00e9 \U0001f436\";\n", little);
    EXPECT_EQ(texts(file, "x.strings"), std::vector<std::string>{"caf\u00e9 \U0001f436"});
    EXPECT_EQ(read(file, "x.strings")->write(read(file, "x.strings")->segments()), file);
    EXPECT_EQ(capitals(file, "x.strings"), utf16(u"\"k\" = \"CAF\u00c9 \U0001f436\";\n", little));
    EXPECT_TRUE(contains(refusal(file + "x", "x.strings"), "UTF-16"));
    for (const char* name : {"x.strings", "x.txt", "x.xliff"})
      EXPECT_TRUE(contains(refusal(file.substr(2), name), "UTF-16", "without a byte order mark", "UTF-8"));
    EXPECT_TRUE(contains(refusal(utf16(u"\"k\"", little) + (little ? "\x3d\xd8" : "\xd8\x3d"), "x.strings"), "byte 8"));
  }
}

TEST(AppleStrings, Utf32IsRefused) {
  EXPECT_TRUE(contains(refusal(std::string("\xff\xfe\0\0\"\0\0\0", 8), "x.strings"), "UTF-32", "UTF-8"));
}

}  // namespace
}  // namespace tril::document::apple_strings_test
