// tokenizer.json: ids, pieces and text as Hugging Face's library has them, and files that are damaged.
#include "text/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "support/paths.h"
#include "text/sentencepiece_file.h"
#include "text/temporary.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

std::string golden_directory(const std::string& name) {
  return test::test_dir() + "/golden/hf/tokenizers/" + name;
}

nlohmann::json parsed(const std::string& path) {
  return nlohmann::json::parse(read_text(path, 1 << 28));
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const Ids& ids) {
  std::vector<std::string> pieces;
  for (std::int32_t id : ids) pieces.push_back(tokenizer.piece(id, Side::source));
  return pieces;
}

Ids framed(const Tokenizer& tokenizer, const std::string& text) {
  const TextFrame frame = tokenizer.frame(Side::source, "");
  Ids ids = frame.prefix;
  tokenizer.encode(text, Side::source, ids);
  ids.insert(ids.end(), frame.suffix.begin(), frame.suffix.end());
  return ids;
}

class GoldenTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTokenizer, IdsPiecesAndTextAreThoseOfHuggingFace) {
  const std::string directory = golden_directory(GetParam());
  const auto tokenizer = load_tokenizer(directory);
  const auto again = make_pipeline_tokenizer(
      read_tokenizer_json(tokenizer_json(read_tokenizer_json(read_text(directory + "/tokenizer.json", 1 << 28), "a")),
                          "b"),
      {});
  int compared = 0;
  for (const auto& c : parsed(directory + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    const auto ids = c["ids"].get<Ids>();
    EXPECT_EQ(framed(*tokenizer, text), ids) << text;
    EXPECT_EQ(framed(*again, text), ids) << "written and read again: " << text;
    EXPECT_EQ(pieces_of(*tokenizer, ids), c["tokens"].get<std::vector<std::string>>()) << text;
    EXPECT_EQ(tokenizer->decode(ids), c["decoded"].get<std::string>()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTokenizer,
                         testing::Values("bytelevel_gpt2", "bytelevel_llama3", "bytelevel_qwen2", "bpe_llama2",
                                         "bpe_metaspace", "unigram_t5"),
                         [](const auto& one) { return std::string(one.param); });

class GoldenSentencePiece : public testing::TestWithParam<const char*> {};

TEST_P(GoldenSentencePiece, IdsPiecesAndTextAreThoseOfTheLibrary) {
  const std::string directory = golden_directory(GetParam());
  TokenizerParts parts;
  parts.model = SentencePieceParts{read_sentencepiece_file(read_text(directory + "/spm.model", 1 << 28)), {}};
  const auto tokenizer = make_pipeline_tokenizer(std::move(parts), {});
  int compared = 0;
  for (const auto& c : parsed(directory + "/cases.json")) {
    const auto text = c["text"].get<std::string>();
    const auto ids = c["ids"].get<Ids>();
    EXPECT_EQ(tokenizer->encode(text), ids) << text;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(Both, GoldenSentencePiece, testing::Values("spm_bpe", "spm_unigram"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tril
