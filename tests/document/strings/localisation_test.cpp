// Strings of programs for Android, Apple's systems, Qt and .NET: what is translated, what stays, and that hostile files do no harm.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "document/formats/formats.h"
#include "document/segments/utf16_text.h"
#include "format/xml_file.h"
#include "language/plural.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/linear_time.h"
#include "support/rounds.h"

namespace tril::document::localisation_test {
namespace {

std::unique_ptr<Document> read(const std::string& bytes, const std::string& name, const std::string& target = "de") {
  return read_document(bytes, {name, "en", target});
}
std::string capitals(const std::string& bytes, const std::string& name, const std::string& target = "de") {
  return capitals_of(*read(bytes, name, target));
}
std::vector<std::string> texts(const std::string& bytes, const std::string& name) {
  return texts_of(*read(bytes, name));
}
std::string refusal(const std::string& bytes, const std::string& name) {
  return error_of([&] { read(bytes, name); });
}
// The document with one text as the translation of its only segment.
std::string written(const std::string& bytes, const std::string& name, const std::string& translation) {
  return read(bytes, name)->write(std::vector<Segment>{{translation, {}, {}}});
}

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

const std::string catalog =
    "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n    \"\" : {\n\n    },\n    \"A dog\" : {\n\n    },\n    "
    "\"both\" : {\n      \"comment\" : \"a note\",\n      \"extractionState\" : \"manual\",\n      \"localizations\" : "
    "{\n        \"en\" : {\n          \"stringUnit\" : {\n            \"state\" : \"translated\",\n            "
    "\"value\" : \"Hi %@\"\n          }\n        },\n        \"fr\" : {\n          \"stringUnit\" : {\n            "
    "\"state\" : \"translated\",\n            \"value\" : \"Salut\"\n          }\n        }\n      }\n    },\n    "
    "\"no\" "
    ": {\n      \"shouldTranslate\" : false\n    },\n    \"old\" : {\n      \"extractionState\" : \"stale\"\n    }\n  "
    "},\n  \"version\" : \"1.0\"\n}";

TEST(StringCatalog, MissingLocalizationsAreAdded) {
  EXPECT_EQ(texts(catalog, "x.xcstrings"), (std::vector<std::string>{"A dog", "Hi %@"}));
  const std::string out = capitals(catalog, "x.xcstrings");
  EXPECT_TRUE(
      contains(out,
               "    \"A dog\" : {\n      \"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : "
               "{\n            \"state\" : \"needs_review\",\n            \"value\" : \"A DOG\"\n          }\n  "
               "      }\n      }\n    },\n    \"both\""))
      << out;
  EXPECT_TRUE(
      contains(out,
               "\"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : {\n            \"state\" "
               ": \"needs_review\",\n            \"value\" : \"HI %@\"\n          }\n        },\n        \"en\" "
               ": {\n"))
      << out;
  const auto before = nlohmann::json::parse(catalog);
  auto after = nlohmann::json::parse(out);
  EXPECT_EQ(texts(out, "x.xcstrings"), std::vector<std::string>{}) << "a second run finds nothing";
  after["strings"]["both"]["localizations"].erase("de");
  after["strings"]["A dog"].erase("localizations");
  EXPECT_EQ(after, before);
  for (const std::string target : {"ja", "zh-Hans"})
    EXPECT_EQ(nlohmann::json::parse(capitals(
                  catalog, "x.xcstrings", target))["strings"]["both"]["localizations"][target]["stringUnit"]["value"],
              "HI %@");
}

TEST(StringCatalog, ExistingTextsStayUnlessTheyAreNew) {
  const auto with = [](const std::string& de, const std::string& target = "de") {
    return "{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{\"localizations\":{\"" + target + "\":" + de +
           "}}},\"version\":\"1.0\"}";
  };
  const std::string fresh = "{\"stringUnit\":{\"state\":\"needs_review\",\"value\":\"DOG\"}}";
  for (const std::string old : {"{\"stringUnit\":{\"state\":\"new\",\"value\":\"x\"}}",
                                "{\"stringUnit\":{\"state\":\"translated\",\"value\":\"\"}}", "{}"})
    EXPECT_EQ(capitals(with(old), "x.xcstrings"), with(fresh));
  for (const std::string kept : {"{\"stringUnit\":{\"state\":\"needs_review\",\"value\":\"Hund\"}}",
                                 "{\"variations\":{\"plural\":{\"other\":{}}}}"})
    EXPECT_EQ(capitals(with(kept), "x.xcstrings"), with(kept));
  EXPECT_EQ(capitals(with(fresh, "fr"), "x.xcstrings"), with(fresh + ",\"fr\":" + fresh, "de"));
  EXPECT_EQ(capitals("{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{}}}", "x.xcstrings"),
            "{\"sourceLanguage\":\"en\",\"strings\":{\"dog\":{\"localizations\":{\"de\":" + fresh + "}}}}");
}

TEST(StringCatalog, VariationsFollowTheLanguage) {
  const auto unit = [](const std::string& text) {
    return "{\"stringUnit\":{\"state\":\"translated\",\"value\":\"" + text + "\"}}";
  };
  const auto out = [](const std::string& english, const std::string& target) {
    const std::string file =
        "{\"sourceLanguage\":\"en\",\"strings\":{\"k\":{\"localizations\":{\"en\":" + english + "}}}}";
    return nlohmann::json::parse(capitals(file, "x.xcstrings", target))["strings"]["k"]["localizations"][target];
  };
  const std::string plural = "{\"plural\":{\"one\":" + unit("%lld dog") + ",\"other\":" + unit("%lld dogs") +
                             ",\"zero\":" + unit("no dog") + "}}";
  const auto russian = out("{\"variations\":" + plural + "}", "ru")["variations"]["plural"];
  EXPECT_EQ(russian.size(), 5u);
  for (const auto& [category, text] : std::map<std::string, std::string>{
           {"zero", "NO DOG"}, {"one", "%lld DOG"}, {"few", "%lld DOGS"}, {"many", "%lld DOGS"}})
    EXPECT_EQ(russian[category]["stringUnit"]["value"], text);
  EXPECT_EQ(out("{\"variations\":" + plural + "}", "ja")["variations"]["plural"].size(), 2u) << "zero, other";
  const auto device =
      out("{\"variations\":{\"device\":{\"mac\":" + unit("click") + ",\"other\":{\"variations\":" + plural + "}}}}",
          "de")["variations"]["device"];
  EXPECT_EQ(device["mac"]["stringUnit"]["value"], "CLICK");
  EXPECT_EQ(device["other"]["variations"]["plural"]["one"]["stringUnit"]["value"], "%lld DOG");
  const auto substituted =
      out("{\"stringUnit\":{\"state\":\"translated\",\"value\":\"see %#@files@ now\"},\"substitutions\":{\"files\":{"
          "\"argNum\":2,\"formatSpecifier\":\"lld\",\"variations\":{\"plural\":{\"other\":" +
              unit("%arg files") + "}}}}}",
          "de");
  EXPECT_EQ(substituted["stringUnit"]["value"], "SEE %#@files@ NOW");
  EXPECT_EQ(substituted["substitutions"]["files"]["argNum"], 2);
  EXPECT_EQ(substituted["substitutions"]["files"]["variations"]["plural"]["one"]["stringUnit"]["value"], "%arg FILES");
}

// A case "other" is copied for each category of the language: 6 to the power of the depth.
TEST(StringCatalog, PluralsWithinPluralsAreRefused) {
  const std::string unit = R"({"stringUnit":{"state":"translated","value":"dogs"}})";
  const auto within = [](const std::string& by, const std::string& inner) {
    return R"({"variations":{")" + by + R"(":{"other":)" + inner + "}}}";
  };
  const auto file = [](const std::string& localization) {
    return R"({"sourceLanguage":"en","strings":{"a dog":{"localizations":{"en":)" + localization + "}}}}";
  };
  std::string deep = unit;
  for (int i = 0; i < 9; ++i) deep = within("plural", deep);
  EXPECT_TRUE(contains(error_of([&] { read(file(deep), "x.xcstrings", "ar"); }), "x.xcstrings", "a dog", "plural"));
  EXPECT_EQ(read(file(within("device", within("plural", unit))), "x.xcstrings", "ar")->segments().size(), 6u);
}

TEST(StringCatalog, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(refusal("{}", "x.xcstrings"), "x.xcstrings", "sourceLanguage"));
  EXPECT_TRUE(contains(refusal("{\"sourceLanguage\":\"fr\",\"strings\":{}}", "x.xcstrings"), "source", "fr", "en"));
  EXPECT_TRUE(contains(error_of([] { read_document(catalog, {"x.xcstrings"}); }), "language", "not known"));
}

std::string qt(const std::string& messages, const std::string& language = " language=\"de_DE\"") {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"" + language +
         ">\n<context>\n    <name>Main</name>\n" + messages + "</context>\n</TS>\n";
}

TEST(QtLinguist, MessagesWithoutTranslationGetOne) {
  const auto message = [](const std::string& translation, const std::string& source = "&amp;Open &quot;%1&quot;") {
    return qt("    <message>\n        <location filename=\"a.cpp\" line=\"1\"/>\n        <source>" + source +
              "</source>\n        <comment>note</comment>\n        " + translation + "\n    </message>\n");
  };
  const std::string done = "<translation type=\"unfinished\">&amp;OPEN &quot;%1&quot;</translation>";
  for (const std::string empty : {"<translation type=\"unfinished\"></translation>",
                                  "<translation type=\"unfinished\"/>", "<translation></translation>"})
    EXPECT_EQ(capitals(message(empty), "x.ts"), message(done));
  for (const std::string kept :
       {"<translation>Auf</translation>", "<translation type=\"unfinished\">Auf</translation>",
        "<translation type=\"vanished\"></translation>", "<translation type=\"obsolete\"></translation>",
        "<translation type=\"unfinished\" variants=\"yes\"><lengthvariant></lengthvariant></translation>"})
    EXPECT_EQ(capitals(message(kept), "x.ts"), message(kept));
  EXPECT_EQ(capitals(message("<translation type=\"unfinished\"></translation>", "a <byte value=\"x1b\"/>b\nc"), "x.ts"),
            message("<translation type=\"unfinished\">A <byte value=\"x1b\"/>B\nC</translation>",
                    "a <byte value=\"x1b\"/>b\nc"));
  EXPECT_EQ(
      capitals(qt("<message>\n  <source>dog</source>\n</message>\n"), "x.ts"),
      qt("<message>\n  <source>dog</source>\n  <translation type=\"unfinished\">DOG</translation>\n</message>\n"));
  EXPECT_EQ(texts(message("<translation type=\"unfinished\"/>"), "x.ts"), std::vector<std::string>{"Open \"%1\""});
}

TEST(QtLinguist, NumerusFormsAreFilled) {
  const auto message = [](const std::string& a, const std::string& b) {
    return qt("<message numerus=\"yes\"><source>%n dog(s)</source><translation type=\"unfinished\"><numerusform>" + a +
              "</numerusform><numerusform>" + b + "</numerusform></translation></message>");
  };
  EXPECT_EQ(capitals(message("", ""), "x.ts"), message("%n DOG(S)", "%n DOG(S)"));
  EXPECT_EQ(capitals(message("ein Hund", ""), "x.ts"), message("ein Hund", ""));
  // Qt refuses a file with text in the translation of such a message.
  const auto without = [](const std::string& translation) {
    return qt("<message numerus=\"yes\">\n<source>%n dog(s)</source>" + translation + "</message>");
  };
  const std::string one = "\n<translation type=\"unfinished\"><numerusform>%n DOG(S)</numerusform></translation>";
  EXPECT_EQ(capitals(without(""), "x.ts"), without(one));
  EXPECT_EQ(capitals(without("\n<translation type=\"unfinished\"/>"), "x.ts"), without(one));
}

TEST(QtLinguist, LanguagesAreStatedAndCompared) {
  EXPECT_EQ(capitals(qt("", ""), "x.ts"), qt("", " language=\"de\""));
  EXPECT_EQ(capitals(qt("", ""), "x.ts", "pt-BR"), qt("", " language=\"pt_BR\""));
  EXPECT_TRUE(contains(refusal(qt("", " language=\"fr\""), "x.ts"), "target", "fr", "de"));
  EXPECT_TRUE(contains(refusal(qt("", " language=\"de\" sourcelanguage=\"fr\""), "x.ts"), "source", "fr"));
  for (const std::string other :
       {"const a: number = 1;\n", "let a: List<TState>;\n", "G\xff\x01\x02", "<xml/>", "<p><TS/></p>"})
    EXPECT_TRUE(contains(refusal(other, "x.ts"), "x.ts", "Qt Linguist", "TypeScript")) << other;
}

TEST(DotnetResources, StringsAreTranslated) {
  const auto file = [](const std::string& open, const std::string& menu) {
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<root>\n  <!-- a -->\n  <resheader "
           "name=\"version\"><value>a b</value></resheader>\n  <data name=\"a\" xml:space=\"preserve\">\n    <value>" +
           open +
           "</value>\n    <comment>a note</comment>\n  </data>\n  <data name=\"b.Text\" "
           "xml:space=\"preserve\"><value>" +
           menu +
           "</value></data>\n  <data name=\"icon\" "
           "type=\"System.Resources.ResXFileRef\"><value>a b</value></data>\n  <data name=\"c\" "
           "mimetype=\"application/x-microsoft.net.object.binary.base64\"><value>QUJD</value></data>\n  <data "
           "name=\"&gt;&gt;b.Name\"><value>button</value></data>\n  <data name=\"d\"><value>Brand "
           "name</value><comment>{Locked}</comment></data>\n  <metadata name=\"x\"><value>y "
           "z</value></metadata>\n</root>\n";
  };
  EXPECT_EQ(capitals(file("  Open {0:N2} &lt;b&gt;files&lt;/b&gt;\n now ", "E&amp;xit"), "x.resx"),
            file("  OPEN {0:N2} &lt;b&gt;FILES&lt;/b&gt;\n NOW ", "&amp;EXIT"));
  EXPECT_EQ(texts(file("a dog", "E&amp;xit"), "x.resw"), (std::vector<std::string>{"a dog", "Exit"}));
  EXPECT_EQ(capitals(file("<![CDATA[a <b> & b]]>", ""), "x.resx"), file("<![CDATA[A <b> & B]]>", ""));
}

TEST(Xml, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(refusal("<project/>", "x.xml"), "x.xml", "<project>", "<resources>"));
  EXPECT_TRUE(contains(refusal("<resources/>", "x.resx"), "<resources>", "<root>"));
  EXPECT_TRUE(contains(refusal("<!DOCTYPE r [<!ENTITY a 'b'>]><resources/>", "x.xml"), "entities"));
  EXPECT_TRUE(contains(refusal("<resources>", "x.xml"), "x.xml: line 1"));
}

TEST(Localisation, HostileInputTakesLinearTime) {
  const auto test_of = [](const std::string& name, const std::string& begin, const std::string& part,
                          const std::string& end) {
    SCOPED_TRACE(name + ": " + part);
    test::expect_linear_time(
        200, [&](std::size_t n) { return begin + test::repeated(part, n) + end; },
        [&](const std::string& file) { EXPECT_FALSE(texts(file, name).empty()); });
  };
  for (const std::string part :
       {"\"a ", "\\", "\\'", "&lt;b>", "%(", "{", "<b>x</b>", "<i/>", "\n a", "&x;", "<![CDATA[a]]>"})
    test_of("x.xml", "<resources><string>a dog", part, "</string></resources>");
  test_of("x.xml", "<resources>", "<string name=\"a\">dog</string>", "</resources>");
  test_of("x.xml", "<resources>", "<plurals><item quantity=\"other\">dog</item></plurals>", "</resources>");
  test_of("x.xml", "<resources><plurals>", "<item quantity=\"other\">dog</item>", "</plurals></resources>");
  test_of("x.ts", "<TS language=\"de\">", "<message><source>dog</source><translation/></message>", "</TS>");
  test_of("x.ts", "<TS language=\"de\"><message><source>dog</source><translation>", "<numerusform/>",
          "</translation></message></TS>");
  test_of("x.resx", "<root>", "<data name=\"a\"><value>dog</value></data>", "</root>");
  test_of("x.strings", "", "\"a\" = \"dog\"; /* x */\n", "");
  test::expect_linear_time(
      200,
      [](std::size_t n) {
        std::string strings;
        for (std::size_t i = 0; i < n; ++i) strings += (i == 0 ? "\"dog " : ",\"dog ") + std::to_string(i) + "\":{}";
        return "{\"sourceLanguage\":\"en\",\"strings\":{" + strings + "}}";
      },
      [](const std::string& file) { EXPECT_FALSE(texts(file, "x.xcstrings").empty()); });
  test_of("x.strings", "\"a\" = \"dog", "\\U00e4\\\\", "\";");
}

// The names of all elements, and how many.
std::map<std::string, int> elements_of(const std::string& xml) {
  struct Counter final : pugi::xml_tree_walker {
    std::map<std::string, int> counts;
    bool for_each(pugi::xml_node& node) override {
      if (node.type() == pugi::node_element) ++counts[node.name()];
      return true;
    }
  } counter;
  pugi::xml_document file = parse_xml(xml, "x");
  file.traverse(counter);
  return counter.counts;
}

TEST(Localisation, RandomStringsStayOfTheSameForm) {
  const std::vector<std::string> parts{
      "dog ",  "it",     "\\'",  "\"",    "\\n",   "\\",     "\\u00e4",    "&amp;",  "&lt;b>",      "&lt;/b>", "<b>",
      "</b>",  "<i>",    "</i>", "<br/>", "%1$s",  "%",      "{x}",        "{",      "<![CDATA[a ", "]]>",     "\n  ",
      "&#10;", "&quot;", "@",    "?",     "<x:g>", "</x:g>", "<!-- c -->", "&nbsp;", "&x;",         "]"};
  int read_files = 0;
  test::rounds(6000, [&](RandomSequence& random) {
    std::string value;
    for (std::uint64_t n = random.below(10); n > 0; --n) value += parts[random.below(parts.size())];
    const std::string resources = "<resources><string name=\"a\">" + value + "</string></resources>";
    const std::string root = "<root><data name=\"a\"><value>" + value + "</value></data></root>";
    const std::string messages =
        "<TS language=\"de\"><message><source>" + value + "</source><translation type=\"unfinished\"/></message></TS>";
    for (const auto& [called, content] : {std::pair{"x.xml", resources}, {"x.resx", root}, {"x.ts", messages}}) {
      const std::string name = called, file = content;
      std::unique_ptr<Document> document;
      error_of([&] { document = read(file, name); });
      if (!document) continue;
      ++read_files;
      const bool bilingual = name == "x.ts";
      if (!bilingual) {
        ASSERT_EQ(document->write(document->segments()), file);
      }
      std::string out;
      ASSERT_NO_THROW(out = capitals(file, name)) << file;
      std::map<std::string, int> before, after;
      ASSERT_NO_THROW(after = elements_of(out)) << file << "\n" << out;
      before = elements_of(file);
      if (!bilingual) {
        EXPECT_EQ(after, before) << file << "\n" << out;
      }
      read(out, name);
    }
    const std::string strings = "\"k\" = \"" + value + "\";";
    std::unique_ptr<Document> document;
    error_of([&] { document = read(strings, "x.strings"); });
    if (!document) return;
    ASSERT_EQ(document->write(document->segments()), strings);
    EXPECT_EQ(texts(capitals_of(*document), "x.strings").size(), document->segments().size()) << strings;
  });
  EXPECT_GT(read_files, static_cast<int>(test::round_count(6000) / 4));
}

}  // namespace
}  // namespace tril::document::localisation_test
