// Words as subword-nmt splits them (tests/golden/make_subword_nmt.py).
#include "tokenizer/models/subword_nmt.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace tril {
namespace {

// TRIL_SUBWORD_NMT names another file of the script's.
nlohmann::json subword_nmt_cases() {
  const char* const other = std::getenv("TRIL_SUBWORD_NMT");
  return nlohmann::json::parse(read_text(other ? other : test::test_dir() + "/golden/subword_nmt.json", 1 << 26));
}

TEST(SubwordNmt, SplitsWordsAsTheProgramDoes) {
  for (const auto& file : subword_nmt_cases()) {
    const SubwordNmt bpe = SubwordNmt::parse(file["codes"].get<std::string>(), "codes");
    EXPECT_EQ(bpe.codes(), file["codes"].get<std::string>());
    for (const auto& line : file["lines"]) {
      const std::string text = line[0];
      std::vector<std::string> pieces;
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        if (end > begin) bpe.split(std::string_view(text).substr(begin, end - begin), pieces);
        begin = end + 1;
      }
      std::string joined;
      for (const std::string& piece : pieces) joined += (joined.empty() ? "" : " ") + piece;
      EXPECT_EQ(joined, line[1].get<std::string>()) << text;
    }
  }
}

// Merging one occurrence at a time would continue with "abc a" before it reached the second "a bc".
TEST(SubwordNmt, MergesAPairEverywhereBeforeTheNextPair) {
  const SubwordNmt bpe = SubwordNmt::parse("#version: 0.2\nb c\nb c</w>\nabc a\na bc\na bc</w>\na a\n", "codes");
  const auto split = [&](const char* word) {
    std::vector<std::string> pieces;
    bpe.split(word, pieces);
    return pieces;
  };
  EXPECT_EQ(split("abcabcx"), (std::vector<std::string>{"abc@@", "abc@@", "x"}));
  EXPECT_EQ(split("aaaax"), (std::vector<std::string>{"aa@@", "aa@@", "x"}));
  EXPECT_EQ(split("aaax"), (std::vector<std::string>{"aa@@", "a@@", "x"}));
}

// A scan of the whole word for each of its 22,500 merges would take minutes.
TEST(SubwordNmt, TimeGrowsAsTheWordDoes) {
  constexpr std::size_t letters = 150;
  const auto letter = [](std::size_t n) {  // U+4E00 and those after it
    return std::string{'\xe4', static_cast<char>(0xb8 + n / 64), static_cast<char>(0x80 + n % 64)};
  };
  std::string codes, word;
  for (std::size_t i = 0; i < letters * letters; ++i) {
    const std::string left = letter(i / letters), right = letter(letters + i % letters);
    codes += left + ' ' + right + '\n';
    word += left + right;
  }
  std::vector<std::string> pieces;
  SubwordNmt::parse(codes, "codes").split(word, pieces);
  EXPECT_EQ(pieces.size(), letters * letters);
  EXPECT_EQ(SubwordNmt::join(pieces), word);
}

TEST(SubwordNmt, JoinsPieces) {
  EXPECT_EQ(SubwordNmt::join({"the", "b@@", "oo@@", "k", "is"}), "the book is");
  EXPECT_EQ(SubwordNmt::join({"b@@", "oo@@"}), "boo");
  EXPECT_EQ(SubwordNmt::join({}), "");
}

TEST(SubwordNmt, NamesTheLineThatIsWrong) {
  const auto error = [](const char* codes) { return error_of([&] { SubwordNmt::parse(codes, "source.bpe"); }); };
  EXPECT_EQ(error("#version: 0.2\na b</w>\n"), "");
  EXPECT_EQ(error("a b\r\n"), "");
  EXPECT_EQ(error("a b\n\n\n"), "");
  EXPECT_TRUE(contains(error("a b\n\nb c\n"), "source.bpe: line 2", "''"));
  EXPECT_TRUE(contains(error("#version: 0.2\na b\nabc\n"), "source.bpe: line 3", "'abc'"));
  EXPECT_TRUE(contains(error("a b c\n"), "source.bpe: line 1", "'a b c'"));
  EXPECT_TRUE(contains(error("#version: 0.3\na b\n"), "0.3", "0.1, 0.2"));
  EXPECT_TRUE(contains(error(""), "has no merges"));
}

}  // namespace
}  // namespace tril
