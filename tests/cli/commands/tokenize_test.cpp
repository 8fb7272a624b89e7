// tril tokenize and detokenize, as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace tril {
namespace {

std::string tokenizer_of(const std::string& name) {
  return test::test_dir() + "/golden/hf/tokenizers/" + name;
}

TEST(Tokenize, ThereAndBackByLines) {
  const std::string text = "the old book\n\nH\u00e9llo, w\u00f6rld\n";
  for (const char* name : {"bytelevel_gpt2", "bpe_llama2", "bytelevel_qwen2"}) {
    const Ran ids = run_tril({"tokenize", "-m", tokenizer_of(name)}, text);
    ASSERT_EQ(ids.code, 0) << ids.err;
    EXPECT_EQ(lines_of(ids.out).size(), 3u);
    const Ran back = run_tril({"detokenize", "-m", tokenizer_of(name)}, ids.out);
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_EQ(back.out, text) << name;
  }
}

TEST(Tokenize, GivesPlacesInBytesAndCharacters) {
  const Ran ran = run_tril({"tokenize", "-m", tokenizer_of("bytelevel_gpt2"), "--json", "\u00e9 the"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  const std::size_t n = json["ids"].size();
  for (const char* key : {"pieces", "bytes", "characters"}) EXPECT_EQ(json[key].size(), n) << key;
  EXPECT_EQ(json["bytes"].back()[1], 6);
  EXPECT_EQ(json["characters"].back()[1], 5);
  const Ran table = run_tril({"tokenize", "-m", tokenizer_of("bytelevel_gpt2"), "--show", "table", "\u00e9 the"});
  EXPECT_EQ(lines_of(table.out).size(), n + 1) << table.out;
}

TEST(Tokenize, SpecialTokensAreThereOnRequest) {
  const std::string t5 = tokenizer_of("unigram_t5");
  const Ran plain = run_tril({"tokenize", "-m", t5, "the book"}),
            special = run_tril({"tokenize", "-m", t5, "--special-tokens", "the book"});
  EXPECT_EQ(special.out.substr(0, plain.out.size() - 1), plain.out.substr(0, plain.out.size() - 1));
  EXPECT_GT(special.out.size(), plain.out.size());
  const Ran without = run_tril({"detokenize", "-m", t5}, special.out),
            with = run_tril({"detokenize", "-m", t5, "--special-tokens"}, special.out);
  EXPECT_EQ(without.out, "the book\n");
  EXPECT_EQ(with.out, "the book</s>\n");
}

TEST(Tokenize, RefusesWhatIsNoId) {
  const std::string gpt2 = tokenizer_of("bytelevel_gpt2");
  for (const auto& [id, expected] :
       {std::pair{"99999999", "not in the vocabulary"}, {"1x", "not an id"}, {"1.5", "not an id"}}) {
    const Ran ran = run_tril({"detokenize", "-m", gpt2, "4", id});
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  }
  const Ran line = run_tril({"detokenize", "-m", gpt2}, "4 5\nx\n");
  EXPECT_EQ(line.code, 1);  // the file is at fault
  EXPECT_NE(line.err.find("line 2"), std::string::npos) << line.err;
  const Ran language = run_tril({"tokenize", "-m", gpt2, "--special-tokens", "--language", "de", "a"});
  EXPECT_EQ(language.code, 2) << language.err;
}

}  // namespace
}  // namespace tril
