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
    EXPECT_EQ(bpe.codes(), file["codes"]);
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
      EXPECT_EQ(joined, line[1]) << text;
    }
  }
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
  EXPECT_TRUE(contains(error("#version: 0.2\na b\nabc\n"), "source.bpe: line 3", "'abc'"));
  EXPECT_TRUE(contains(error("a b c\n"), "source.bpe: line 1", "'a b c'"));
  EXPECT_TRUE(contains(error("#version: 0.3\na b\n"), "0.3", "0.1, 0.2"));
  EXPECT_TRUE(contains(error(""), "has no merges"));
}

}  // namespace
}  // namespace tril
