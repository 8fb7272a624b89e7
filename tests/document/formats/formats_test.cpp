// Subtitles, gettext, JSON and property files: what is translated, what stays, and that hostile files do no harm.
#include "document/formats/formats.h"

#include <gtest/gtest.h>

#include "document/segments/document_sentences.h"
#include "document/segments/string_tokens.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/linear_time.h"
#include "support/rounds.h"
#include "unicode/letter_case.h"

namespace tril::document::formats_test {
namespace {

std::string translated(const std::string& bytes, const std::string& name,
                       const std::function<std::string(const std::string&)>& translate) {
  const auto document = read_document(bytes, {name});
  const DocumentSentences sentences(*document, {});
  return sentences.write("en", [&](std::size_t s) { return Translated{translate(sentences.text(s)), {}}; });
}
// In capital letters, except for placeholders.
std::string capitals(const std::string& bytes, const std::string& name) {
  return translated(bytes, name, [](const std::string& text) { return upper_case(text); });
}
std::vector<std::string> texts(const std::string& bytes, const std::string& name) {
  return texts_of(*read_document(bytes, {name}));
}

TEST(Formats, AreKnownByTheirNames) {
  EXPECT_EQ(format_of("a/b.c/x.MD").name, "Markdown");
  EXPECT_EQ(translated_path("a/notes.en.md", "de"), "a/notes.en.de.md");
  for (const char* const path : {"x", "x.exe", ".md", "a.md/x", "x."})
    EXPECT_TRUE(contains(error_of([&] { format_of(path); }), path, "html", "srt")) << path;
  EXPECT_TRUE(contains(error_of([] { read_document("\xff", {"x.md"}); }), "x.md", "UTF-8"));
}

const std::string srt =
    "1\r\n00:00:01,000 --> 00:00:02,000\r\nA dog runs\r\nin the\r\n\r\n2\r\n00:00:02,500 --> "
    "00:00:04,000\r\n<i>snow.</i> "
    "Two men play.\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\n- Hi.\r\n- Hello, {\\an8}you.\r\n";

TEST(Subtitles, SentencesGoOverCues) {
  EXPECT_EQ(texts(srt, "x.srt"),
            (std::vector<std::string>{"A dog runs in the\nsnow. Two men play.", "- Hi.", "- Hello, you."}));
  EXPECT_EQ(capitals(srt, "x.srt"),
            "1\r\n00:00:01,000 --> 00:00:02,000\r\nA DOG RUNS IN THE\r\n\r\n2\r\n00:00:02,500 --> "
            "00:00:04,000\r\n<i>SNOW.</i> TWO "
            "MEN PLAY.\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\n- HI.\r\n- HELLO, {\\an8}YOU.\r\n");
  EXPECT_EQ(translated(srt, "x.srt", [](const std::string& t) { return t; }), srt);
}

TEST(Subtitles, EveryCueKeepsItsTime) {
  for (const std::string translation :
       {"", "x", "\u72ac\u304c\u96ea\u306e\u4e2d\u3092\u8d70\u308b", "a b c d e f g h", "one\ntwo"}) {
    const std::string out = translated(srt, "x.srt", [&](const std::string&) { return translation; });
    for (const char* const time :
         {"00:00:01,000 --> 00:00:02,000\r\n", "\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\n",
          "\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\n"})
      EXPECT_TRUE(contains(out, time)) << out;
  }
}

TEST(Subtitles, LinesAreWrappedAndTagsStayWithinCues) {
  const std::string vtt =
      "WEBVTT - x\n\nNOTE stays\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 align:left\n<i>a dog "
      "and\n\n00:02.000 --> "
      "00:03.000\na cat</i> &amp; co\n";
  EXPECT_EQ(texts(vtt, "x.vtt"), std::vector<std::string>{"a dog and\na cat & co"});
  EXPECT_EQ(capitals(vtt, "x.vtt"),
            "WEBVTT - x\n\nNOTE stays\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 align:left\n<i>A DOG "
            "AND</i>\n\n00:02.000 --> "
            "00:03.000\n<i>A CAT</i> &amp; CO\n");
  const std::string one = "1\n00:00:01,000 --> 00:00:02,000\nshort.\n";
  EXPECT_EQ(translated(one, "x.srt",
                       [](const std::string&) { return "eleven long words of text which do not fit into one line"; }),
            "1\n00:00:01,000 --> 00:00:02,000\neleven long words of text\nwhich do not fit into one line\n");
  EXPECT_TRUE(contains(error_of([] { read_document("hello\n", {"x.srt"}); }), "x.srt", "-->"));
  EXPECT_TRUE(contains(error_of([&] { read_document(one, {"x.vtt"}); }), "WEBVTT"));
}

const std::string po =
    "# a comment\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#. note\n#, fuzzy, c-format\nmsgctxt \"menu\"\nmsgid "
    "\"open %s\\n\"\n"
    "msgstr \"alt\"\n\nmsgid \"one file\"\nmsgid_plural \"\"\n\"%d \"\n\"files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n#, "
    "fuzzy\nmsgid "
    "\"done\"\nmsgstr \"fertig\"\n\n#, fuzzy\nmsgid \"say \\\"hi\\\"\"\nmsgstr \"\"\n\nmsgid \"kept\"\nmsgstr "
    "\"behalten\"\n\n#~ msgid "
    "\"old\"\n#~ msgstr \"\"\n";

TEST(Gettext, MessagesWithoutTranslationGetOne) {
  EXPECT_EQ(texts(po, "x.po"), (std::vector<std::string>{"open %s\n", "one file", "%d files", "done", "say \"hi\""}));
  EXPECT_EQ(
      translated(po, "x.po", [](const std::string& t) { return t == "open %s" ? "%s \u00f6ffnen" : upper_case(t); }),
      "# a comment\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#. note\n#, c-format\nmsgctxt \"menu\"\nmsgid "
      "\"open %s\\n\"\n"
      "msgstr \"%s \u00f6ffnen\\n\"\n\nmsgid \"one file\"\nmsgid_plural \"\"\n\"%d \"\n\"files\"\nmsgstr[0] \"ONE "
      "FILE\"\nmsgstr[1] "
      "\"%d FILES\"\n\nmsgid \"done\"\nmsgstr \"DONE\"\n\nmsgid \"say \\\"hi\\\"\"\nmsgstr \"SAY \\\"HI\\\"\"\n\nmsgid "
      "\"kept\"\nmsgstr "
      "\"behalten\"\n\n#~ msgid \"old\"\n#~ msgstr \"\"\n");
  EXPECT_EQ(capitals("msgid \"x\"\nmsgstr \"\"\n", "x.pot"), "msgid \"x\"\nmsgstr \"X\"\n");
  const std::string obsolete = "#, fuzzy\n#~ msgid \"old\"\n#~ msgstr \"alt\"\n\n";
  EXPECT_EQ(capitals(obsolete + "msgid \"x\"\nmsgstr \"kept\"\n", "x.po"), obsolete + "msgid \"x\"\nmsgstr \"kept\"\n")
      << "the flag is of the obsolete message";
  EXPECT_EQ(capitals(obsolete + "msgid \"x\"\nmsgstr \"\"\n", "x.po"), obsolete + "msgid \"x\"\nmsgstr \"X\"\n");
  EXPECT_EQ(translated("msgid \"OK\"\nmsgstr \"\"\n", "x.po", [](const std::string& t) { return t; }),
            "msgid \"OK\"\nmsgstr \"OK\"\n");
  EXPECT_EQ(capitals("msgid \"x\"\nmsgid_plural \"xs\"\nmsgstr[0] \"\"\n", "x.po"),
            "msgid \"x\"\nmsgid_plural \"xs\"\nmsgstr[0] \"XS\"\n")
      << "one form for all numbers";
  EXPECT_TRUE(contains(error_of([] { read_document("msgid \"x\"\nmsgstr x\n", {"x.po"}); }), "line 2", "quotes"));
  EXPECT_TRUE(contains(error_of([] { read_document("msgid \"x\"\nhello\n", {"x.po"}); }), "line 2", "msgid"));
}

// What is missing must not be taken for something else.
TEST(Gettext, DamagedMessagesAreRefused) {
  const auto refused = [](const std::string& text) { return error_of([&] { read_document(text, {"x.po"}); }); };
  const std::string id = "msgid \"x\"\n", none = "msgstr \"\"\n", plural = "msgid_plural \"xs\"\n";
  EXPECT_EQ(capitals("msgctxt\t\"c\"\n# a\n" + id + "#. b\nmsgstr\"\" \n#~ msgid \"y\n", "x.po"),
            "msgctxt\t\"c\"\n# a\n" + id + "#. b\nmsgstr\"X\" \n#~ msgid \"y\n");
  EXPECT_TRUE(contains(refused(id + none + "\n# cut\n" + id), "x.po: line 5", "no msgstr", "truncated"));
  EXPECT_TRUE(contains(refused("\nmsgctxt \"c\"\n" + id + id + none), "x.po: line 2", "no msgstr"));
  EXPECT_TRUE(contains(refused(id + plural + "msgctxt \"c\"\n"), "x.po: line 1", "no msgstr"));
  EXPECT_TRUE(contains(refused("msgctxt \"c\"\nmsgctxt \"c\"\n"), "x.po: line 2", "msgctxt", "wrong place"));
  EXPECT_TRUE(contains(refused(none), "x.po: line 1", "msgstr", "wrong place"));
  EXPECT_TRUE(contains(refused(plural), "x.po: line 1", "msgid_plural", "wrong place"));
  EXPECT_TRUE(contains(refused(id + none + none), "x.po: line 3", "msgstr", "wrong place"));
  EXPECT_TRUE(contains(refused(id + plural + none), "x.po: line 3", "expected msgstr[0]"));
  EXPECT_TRUE(contains(refused(id + plural + "msgstr[0] \"\"\nmsgstr[2] \"\"\n"), "line 4", "expected msgstr[1]"));
  EXPECT_TRUE(contains(refused(id + "msgstr[0] \"\"\n"), "line 2", "expected msgstr"));
  EXPECT_TRUE(contains(refused("msgid \"a\"b\"\n"), "line 1", "after the string"));
  EXPECT_TRUE(contains(refused("msgid x \"a\"\n"), "line 1", "quotes"));
  EXPECT_TRUE(contains(refused("msgid \"a\\\"\n"), "line 1", "no end"));
  EXPECT_TRUE(contains(refused("\"a\"\n"), "line 1", "without msgid"));
}

TEST(Placeholders, OccurOnce) {
  const auto written = [](const std::string& text, const std::string& translation) {
    return translated("{\"k\":\"" + text + "\"}", "x.json", [&](const std::string&) { return translation; });
  };
  EXPECT_EQ(written("Hello {name}!", "Hallo!"), "{\"k\":\"Hallo {name}!\"}");
  EXPECT_EQ(written("%d of %d files", "%d Dateien"), "{\"k\":\"%d %d Dateien\"}");
  EXPECT_EQ(written("a %(n)s b", "x % (N) S y"), "{\"k\":\"x %(n)s y\"}");
  EXPECT_EQ(written("&File", "Datei"), "{\"k\":\"&Datei\"}");
  EXPECT_EQ(written("E&xit now", "Jetzt beenden"), "{\"k\":\"&Jetzt beenden\"}")
      << "by its place, without an alignment";
  EXPECT_EQ(written("a <b>c</b> d", "x c z"), "{\"k\":\"x <b>c</b> z\"}");
  EXPECT_EQ(written("{n, plural, one {# file} other {# files}}", "x"),
            "{\"k\":\"{n, plural, one {# file} other {# files}}\"}");
  EXPECT_EQ(written("100% of it", "alles"), "{\"k\":\"alles\"}");
}

TEST(Placeholders, AreThoseOfManyLanguages) {
  for (const std::string placeholder :
       {"%s",        "%1$d",        "%-5.2f", "%(name)s", "%@",      "%1$@",     "%lld",
        "%#@files@", "%1$#@files@", "%arg",   "{name}",   "{0:.2f}", "{{name}}", "${name}",
        "%{name}",   "%1",          "%L1",    "%L12",     "%n",      "%Ln",      "%%"}) {
    const auto tokens = string_tokens("a " + placeholder + " b");
    ASSERT_EQ(tokens.size(), 3u) << placeholder;
    EXPECT_EQ(tokens[1].at, (Range{2, 2 + placeholder.size()})) << placeholder;
    EXPECT_EQ(tokens[1].kind, StringToken::placeholder);
  }
  for (const std::string text : {"100 % of", "{", "}", "a } b {", "%(", "$x", "${", "%{", "% (N) S"})
    EXPECT_EQ(string_tokens(text).size(), 1u) << text;
}

TEST(Placeholders, HostileStringsTakeLinearTime) {
  for (const std::string part : {"%(", "{", "%{", "${", "{}{", "%1$#@a", "<a ", "%111", "{}"}) {
    SCOPED_TRACE(part);
    test::expect_linear_time(
        2000, [&](std::size_t n) { return "dog " + test::repeated(part, n); },
        [](const std::string& text) { EXPECT_FALSE(string_tokens(text).empty()); });
  }
}

TEST(JsonStrings, ValuesAreTranslated) {
  EXPECT_EQ(capitals("{ \"a\" : \"x \\u00e4\\n\", \"b\": [\"y\", {\"c\": \"z\", \"d\": 1}], \"e\": \"12\",\n \"@a\": "
                     "{\"description\": \"no\", \"x\": [\"no\"]}}",
                     "x.arb"),
            "{ \"a\" : \"X \u00c4\\n\", \"b\": [\"Y\", {\"c\": \"Z\", \"d\": 1}], \"e\": \"12\",\n \"@a\": "
            "{\"description\": \"no\", \"x\": [\"no\"]}}");
  EXPECT_EQ(capitals("\"a\"", "x.json"), "\"A\"");
  EXPECT_TRUE(contains(error_of([] { read_document("{\"a\": }", {"x.json"}); }), "x.json"));
  EXPECT_TRUE(contains(error_of([] { read_document(std::string(100'000, '['), {"x.json"}); }), "x.json"));
}

TEST(Properties, ValuesAreTranslated) {
  EXPECT_EQ(capitals("# note = no\n! no\na=x\nb.c : y {0}\\\n   z\nd e\\u00e4\nf=\n\\=g = h\n", "x.properties"),
            "# note = no\n! no\na=X\nb.c : Y {0}Z\nd E\u00c4\nf=\n\\=g = H\n");
  EXPECT_EQ(capitals("a=\\ \\tx y\nb=\\ \n", "x.properties"), "a=\\ \\tX Y\nb=\\ \n");
}

// Any bytes are read or refused, and what is read is written as it was.
TEST(Formats, RandomFilesStayThemselves) {
  const std::vector<std::string> parts{"msgid ",
                                       "msgstr ",
                                       "msgstr[0] ",
                                       "msgctxt ",
                                       "msgid_plural ",
                                       "\"",
                                       "\\",
                                       "\n",
                                       "#, fuzzy\n",
                                       "#~ ",
                                       "a dog ",
                                       "%s",
                                       "{x}",
                                       "&F",
                                       "<b>",
                                       "</b>",
                                       "1\n",
                                       "00:00:01,000 --> 00:00:02,000\n",
                                       "\n\n",
                                       "WEBVTT\n\n",
                                       "{\\an8}",
                                       "<i>",
                                       "</i>",
                                       "<v A>",
                                       "- ",
                                       ".",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ":",
                                       ",",
                                       "=",
                                       "\\u00e4",
                                       "\\\n",
                                       "\r\n",
                                       "\u72ac"};
  test::rounds(8000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(30); n > 0; --n) text += parts[random.below(parts.size())];
    for (const char* const name : {"x.srt", "x.vtt", "x.po", "x.json", "x.properties"}) {
      std::unique_ptr<Document> document;
      error_of([&] { document = read_document(text, {name}); });
      if (!document) continue;
      if (std::string(name) != "x.po") {
        ASSERT_EQ(document->write(document->segments()), text);
      }
      const std::string again = capitals(text, name);
      if (std::string(name) == "x.json" || std::string(name) == "x.po")
        read_document(again, {name});  // it is of the same format
    }
  });
}

}  // namespace
}  // namespace tril::document::formats_test
