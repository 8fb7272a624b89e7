// YAML and CSV: which values are translated, how they are written, and that everything else stays.
#include <gtest/gtest.h>

#include <yaml-cpp/yaml.h>

#include "document/formats/formats.h"
#include "document/strings/yaml_scalar.h"
#include "support/contains.h"
#include "support/document_text.h"
#include "support/error_of.h"
#include "support/rounds.h"

namespace tril::document::tables_test {
namespace {

std::string capitals(const std::string& bytes, const DocumentOptions& options) {
  return capitals_of(*read_document(bytes, options));
}
std::string yaml(const std::string& bytes) {
  return capitals(bytes, {"x.yml"});
}
// The value of the only key, when its text is replaced.
std::string written(const std::string& value, const std::string& translation) {
  const auto document = read_document("k: " + value, {"x.yml"});
  return document->write(std::vector<Segment>{{translation, {}, {}}});
}

TEST(Yaml, ValuesAreTranslated) {
  EXPECT_EQ(yaml("\xef\xbb\xbf# no\r\nkey: a dog # note\r\n\"k 2\": &a \"b \\u00e4 {n}\"\r\nk3: *a\r\nlist:\r\n- x: "
                 "'it''s'\r\n- 12\r\n"
                 "- yes\r\n- ~\r\n- 2001-12-14\r\n- [a, b c, {k: \"v\"}]\r\nend: !ruby x\r\n? complex\r\n: plain\r\n  "
                 "two\r\n"),
            "\xef\xbb\xbf# no\r\nkey: A DOG # note\r\n\"k 2\": &a \"B \u00c4 {n}\"\r\nk3: *a\r\nlist:\r\n- x: "
            "'IT''S'\r\n- 12\r\n"
            "- yes\r\n- ~\r\n- 2001-12-14\r\n- [A, B C, {k: \"V\"}]\r\nend: !ruby x\r\n? complex\r\n: PLAIN TWO\r\n");
  EXPECT_EQ(yaml("a dog\n"), "A DOG\n");
  EXPECT_EQ(yaml("a: x\n---\nb: !!str y\n"), "a: X\n---\nb: !!str \"Y\"\n") << "y is a boolean in YAML 1.1";
  EXPECT_TRUE(contains(error_of([] { yaml("a: [b\n"); }), "x.yml", "line"));
  EXPECT_TRUE(contains(error_of([] { yaml(std::string(100'000, '[')); }), "x.yml", "line 1", "nested too deeply"));
}

TEST(Yaml, BlocksKeepTheirLines) {
  EXPECT_EQ(yaml("a: |\n  one\n   two\n\n  three\n\nb: >-\n    x\n    y\n\n    z\nc: |2\n   kept\n"),
            "a: |\n  ONE\n   TWO\n\n  THREE\n\nb: >-\n    X Y\n\n    Z\nc: |2\n   kept\n");
}

TEST(Yaml, FoldedBlocksKeepTheirEmptyLines) {
  for (const std::string text : {"x\ny", "x\n\ny", "x\n\n\ny z"}) {
    std::string file = "k: >-\n  ";
    for (std::size_t at = 0; at < text.size(); ++at)
      file += text[at] == '\n' ? text[at - 1] == '\n' ? "\n" : "\n\n" : std::string(1, text[at]);
    for (std::size_t at = file.find("y"); at != std::string::npos; at = std::string::npos) file.insert(at, "  ");
    ASSERT_EQ(YAML::Load(file)["k"].Scalar(), text) << file;
    const auto document = read_document(file, {"x.yml"});
    ASSERT_EQ(document->segments().size(), 1u) << file;
    for (const std::string translation : {"a\nb", "a\n\nb", "a\n\n\nb\nc"})
      EXPECT_EQ(YAML::Load(document->write(std::vector<Segment>{{translation, {}, {}}}))["k"].Scalar(), translation);
  }
}

TEST(Yaml, ManyBlanksTakeLinearTime) {
  const std::string blanks(1'000'000, ' ');
  EXPECT_EQ(yaml("k: a" + blanks + "dog\n"), "k: A" + blanks + "DOG\n");
}

TEST(Yaml, ValuesStayStrings) {
  for (const std::string text : {"yes", "No",   "12",   "1e5", "0x1f", "null",  "~",  "2001-12-14", "12:30",
                                 "- a", "a: b", "a #b", "a:",  "'a",   "\"a\"", "*a", "&a",         "!a",
                                 "%a",  "@a",   "[a",   "{a",  "?",    "a\nb",  ""})
    EXPECT_TRUE(written("dog", text).starts_with("k: \"")) << written("dog", text);
  EXPECT_EQ(written("dog", "a, b: it's 5 o'clock"), "k: \"a, b: it's 5 o'clock\"");
  EXPECT_EQ(written("dog", "a, b's (c) 5"), "k: a, b's (c) 5");
  EXPECT_EQ(written("'dog'", "it's \\n"), "k: 'it''s \\n'");
  EXPECT_EQ(written("\"dog\"", "a \"b\"\n"), "k: \"a \\\"b\\\"\\n\"");
}

TEST(Yaml, TheRootOfRailsIsTheLanguage) {
  const auto rails = [](const std::string& bytes, const std::string& to, const std::string& from = "") {
    return capitals(bytes, {"config/en.yml", from, to});
  };
  EXPECT_EQ(rails("# x\nen:\n  a: dog\n", "de"), "# x\nde:\n  a: DOG\n");
  EXPECT_EQ(rails("\"en\":\n  a: dog\n", "no", "en"), "\"no\":\n  a: DOG\n");
  EXPECT_EQ(rails("en:\n  a: dog\n", "no"), "\"no\":\n  a: DOG\n");
  for (const std::string same : {"en:\n  a: 1\nb: 2\n", "en: 1\n", "title:\n  en: 1\n"})
    EXPECT_EQ(rails(same, "de"), same);
  EXPECT_EQ(rails("en:\n  a: 1\n", "de", "fr"), "en:\n  a: 1\n");
  EXPECT_EQ(rails("en:\n  a: dog\n---\nconfig:\n  b: cat\n", "de"), "de:\n  a: DOG\n---\nconfig:\n  b: CAT\n");
  EXPECT_EQ(rails("en:\n  a: dog\n---\nen:\n  b: cat\n", "de"), "de:\n  a: DOG\n---\nde:\n  b: CAT\n");
  for (const std::string same :
       {"en: 1\n---\nfoo:\n  a: 2\n", "en: 1\n? {a: 1}\n: {b: 2}\n", "en:\n  a: 1\n? [b]\n: 2\n"})
    EXPECT_EQ(rails(same, "de"), same);
}

// Every string has its translation in the parser's view of the result, and all other values are the same.
void expect_translated(const YAML::Node& before, const YAML::Node& after, const std::string& text) {
  ASSERT_EQ(before.Type(), after.Type()) << text;
  if (before.IsScalar() && before.Scalar() != after.Scalar()) {
    EXPECT_EQ(after.Tag(), before.Tag() == "?" ? after.Tag() : before.Tag()) << text;
    EXPECT_EQ(after.Scalar().find_first_not_of('\n'), after.Scalar().find('x')) << text;
    EXPECT_NE(after.Scalar().find('x'), std::string::npos) << text;
  }
  if (before.IsSequence())
    for (std::size_t i = 0; i < before.size(); ++i) expect_translated(before[i], after[i], text);
  if (!before.IsMap()) return;
  ASSERT_EQ(before.size(), after.size()) << text;
  for (auto a = before.begin(), b = after.begin(); a != before.end(); ++a, ++b) {
    if (a->first.IsScalar()) {
      EXPECT_EQ(a->first.Scalar(), b->first.Scalar()) << text;
    }
    expect_translated(a->second, b->second, text);
  }
}

TEST(Yaml, RandomFilesStayOfTheSameForm) {
  const std::vector<std::string> parts{"a: ", "b",    "c d",    "\"",    "'",      "''",    "\\\"",   ": ",   "- ",
                                       "\n",  "\n  ", "\n    ", "|",     ">",      "-",     "#x",     " # y", "[",
                                       "]",   "{",    "}",      ",",     "&a ",    "*a",    "!!str ", "12",   "yes",
                                       "? ",  "\t",   "\r\n",   "---\n", "|-\n  ", ">\n  ", "k: "};
  const std::vector<std::string> translations{"x", "x: y", "x # y", "x\ny", "x'\"", "x, ]", "x ", "x:"};
  int read = 0;
  test::rounds(60'000, [&](RandomSequence& random) {
    std::string text = random.below(2) == 0 ? "k: " : "";
    for (std::uint64_t n = random.below(12); n > 0; --n) text += parts[random.below(parts.size())];
    std::unique_ptr<Document> document;
    error_of([&] { document = read_document(text, {"x.yaml"}); });
    if (!document || document->segments().empty()) return;
    ASSERT_EQ(document->write(document->segments()), text);
    const std::string translation = translations[random.below(translations.size())];
    const std::string out = document->write(std::vector<Segment>(document->segments().size(), {translation, {}, {}}));
    std::vector<YAML::Node> before, after;
    try {
      before = YAML::LoadAll(text);
    } catch (const YAML::Exception&) {
      return;  // such as an unknown alias
    }
    ++read;
    ASSERT_NO_THROW(after = YAML::LoadAll(out)) << text << "\n---------\n" << out;
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t d = 0; d < before.size(); ++d) expect_translated(before[d], after[d], text + "\n--------\n" + out);
  });
  EXPECT_GT(read, static_cast<int>(test::round_count(60'000) / 12));
}

DocumentOptions table(const std::string& name, std::vector<std::string> columns) {
  return {.where = name, .columns = std::move(columns)};
}

TEST(Csv, ColumnsAreTranslated) {
  const std::string bytes = "id,title,\"body, long\"\r\n1,a dog,\"it \"\"runs\"\"\r\nfar\"\r\n2,,x\r\n3,{n} cats\r\n";
  EXPECT_EQ(capitals(bytes, table("x.csv", {"title", "body, long"})),
            "id,title,\"body, long\"\r\n1,A DOG,\"IT \"\"RUNS\"\"\r\nFAR\"\r\n2,,X\r\n3,{n} CATS\r\n");
  EXPECT_EQ(capitals("a;b,c\nd;e,f", table("x.csv", {"2"})), "a;b,C\nd;e,F") << "of equally frequent ones the comma";
  EXPECT_EQ(capitals("a\tb\nc\td\n", table("x.tsv", {"1"})), "A\tb\nC\td\n");
  EXPECT_EQ(capitals("one\ntwo\n", table("x.csv", {})), "ONE\nTWO\n");
  const auto comma = read_document("a\n", table("x.csv", {}));
  EXPECT_EQ(comma->write(std::vector<Segment>{{"b, \"c\"", {}, {}}}), "\"b, \"\"c\"\"\"\n");
}

TEST(Csv, QuotesInTsvMeanWhatTheFileSays) {
  const auto tsv = [](const std::string& bytes, const std::string& column) {
    return capitals(bytes, table("x.tsv", {column}));
  };
  EXPECT_EQ(tsv("1\t\"Hello\" he said\r\n2\ta \"dog\"\r\n", "2"), "1\t\"HELLO\" HE SAID\r\n2\tA \"DOG\"\r\n");
  EXPECT_EQ(tsv("1\t\"a dog\n2\tit ran\"\n", "2"), "1\t\"A DOG\n2\tIT RAN\"\n") << "one quotation in two rows";
  EXPECT_EQ(tsv("1\t\"a dog\n2\tit ran\"\t3\n", "2"), "1\t\"A DOG\n2\tIT RAN\"\t3\n");
  EXPECT_EQ(tsv("1\t\"a \"\"b\"\"\tc\"\n2\td\n", "2"), "1\t\"A \"\"B\"\"\tC\"\n2\tD\n") << "quoted, as Excel writes it";
  EXPECT_EQ(tsv("1\t\"a\nb\"\n2\td\n", "2"), "1\t\"A\nB\"\n2\tD\n");
  EXPECT_EQ(tsv("1\t5\" pipe\n2\t\"dog\"\n", "2"), "1\t5\" PIPE\n2\t\"DOG\"\n") << "no cell is quoted";
  EXPECT_EQ(tsv("1\ta \"dog\"\n", "2"), "1\tA \"DOG\"\n");
  // A tab or a line end in a translation would divide the cell.
  const auto written = [](const std::string& bytes) {
    return read_document(bytes, table("x.tsv", {}))->write(std::vector<Segment>{{"x\ty\nz \"q\"", {}, {}}});
  };
  EXPECT_EQ(written("\"a\" dog\n"), "x y z \"q\"\n");
  EXPECT_EQ(written("dog\n"), "\"x\ty\nz \"\"q\"\"\"\n");
}

TEST(Csv, RandomTsvStaysItself) {
  const std::vector<std::string> parts{"a", "dog ", "\"", "\"\"", "\t", "\n", "\r\n", "\r", "{x}"};
  test::rounds(5000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(12); n > 0; --n) text += parts[random.below(parts.size())];
    std::unique_ptr<Document> document;
    error_of([&] { document = read_document(text, table("x.tsv", {"1"})); });
    if (!document) return;
    ASSERT_EQ(document->write(document->segments()), text);
    const std::string out = capitals(text, table("x.tsv", {"1"}));
    EXPECT_EQ(texts_of(*read_document(out, table("x.tsv", {"1"}))).size(), document->segments().size()) << text;
  });
}

TEST(Csv, MistakesAreNamed) {
  const auto refusal = [](const std::string& bytes, const std::vector<std::string>& columns) {
    return error_of([&] { read_document(bytes, table("x.csv", columns)); });
  };
  EXPECT_TRUE(contains(refusal("id,title\n", {}), "columns", "x.csv", "1 (id)", "2 (title)"));
  EXPECT_TRUE(contains(refusal("id,title\n", {"3"}), "columns", "\"3\"", "2 (title)"));
  EXPECT_TRUE(contains(refusal("id,title\n", {"name"}), "columns", "\"name\"", "2 (title)"));
  EXPECT_TRUE(contains(refusal("id,title,body\n", {"titel"}), "\"titel\"", "did you mean \"title\"?", "3 (body)"));
  EXPECT_TRUE(contains(refusal("a\n\"b\n", {}), "line 2", "not closed"));
  EXPECT_TRUE(contains(refusal("a\n\"b\"c\n", {}), "line 2", "follows"));
  EXPECT_EQ(refusal("", {}), "");
}

}  // namespace
}  // namespace tril::document::tables_test
