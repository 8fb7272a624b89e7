// token_bytes() of single tokens agrees with decode() of them together: for any non-special ids whose bytes together
// are UTF-8, after a word, since decode() strips a blank from the start of a text.
#include "tokenizer/files/token_bytes.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "corpus/vocabulary.h"
#include "support/any_tokenizer.h"
#include "support/paths.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "unicode/trim.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

// Ids with text, and special ids, which have none, alone or after others.
struct Drawn {
  std::vector<Ids> words;  // ids whose bytes are complete characters
  std::int32_t word = -1;  // consists only of letters
};

Drawn draw_from(const Tokenizer& t, const std::vector<std::string>& bytes) {
  Drawn d;
  const std::string sample = "the \u00fcber \u4f60\u597d \U0001f600 12 x\n\t\u0436-\u00b2.";
  for (std::size_t id = 0; id < bytes.size(); ++id) {
    if (bytes[id].empty() || !is_utf8(bytes[id])) continue;
    d.words.push_back({static_cast<std::int32_t>(id)});
    const std::string text = t.decode(d.words.back());
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_letter)) d.word = d.words.back()[0];
  }
  for (std::size_t at = 0; at < sample.size();) {  // characters may be several tokens of a byte each
    std::size_t end = at + 1;
    while (end < sample.size() && (static_cast<unsigned char>(sample[end]) & 0xc0) == 0x80) ++end;
    const Ids ids = t.encode(sample.substr(at, end - at), Side::target);
    std::string together;
    for (const std::int32_t id : ids) together += bytes[static_cast<std::size_t>(id)];
    const bool has_text =
        std::none_of(ids.begin(), ids.end(), [&](auto id) { return bytes[static_cast<std::size_t>(id)].empty(); });
    if (has_text && is_utf8(together)) d.words.push_back(ids);
    at = end;
  }
  return d;
}

void expect_sums(const Tokenizer& t, const std::string& name) {
  SCOPED_TRACE(name);
  const std::vector<std::string> bytes = token_bytes(t);
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(t.size(Side::target)));
  const Drawn d = draw_from(t, bytes);
  ASSERT_GT(d.words.size(), 5u);
  ASSERT_GE(d.word, 0);
  test::rounds(500, [&](RandomSequence& random) {
    Ids ids{d.word};
    std::string expected = t.decode(ids);
    for (std::uint64_t n = 1 + random.below(12); n > 0; --n)
      for (const std::int32_t id : d.words[random.below(d.words.size())]) {
        ids.push_back(id);
        expected += bytes[static_cast<std::size_t>(id)];
      }
    ASSERT_EQ(t.decode(ids), expected) << fmt::format("{}", fmt::join(ids, " "));
  });
}

bool cleans_up(const std::string& path) {
  const TokenizerDescription d = test::described(path);
  bool cleans = d.settings.clean_up_spaces;
  for (const DecoderStep& s : d.parts.decoders)
    if (const auto* const w = std::get_if<DecodeWordPiece>(&s)) cleans = cleans || w->cleanup;
  return cleans;
}

TEST(TokenBytes, OfEveryKindOfTokenizerAreWhatDecodeMakesOfThemTogether) {
  namespace fs = std::filesystem;
  int kinds = 0;
  const auto check = [&](const std::string& path) {
    if (cleans_up(path)) return;  // removes blanks that belong to tokens
    expect_sums(*test::tokenizer_at(path), path);
    ++kinds;
  };
  for (const char* folder : {"/golden/hf/tokenizers", "/tokenizer/files/tokenizer_cases"})
    for (const auto& entry : fs::directory_iterator(test::test_dir() + folder))
      if (fs::exists(entry.path() / "tokenizer.json")) check(entry.path().string());
  for (const char* name : {"llama", "gpt2", "llama3"})
    check(fmt::format("{}/golden/gguf/vocabulary_{}.gguf", test::test_dir(), name));
  for (const char* model : {"spm_bpe", "spm_unigram"}) {
    const TemporaryDirectory directory;
    directory.write("tokenizer.model",
                    read_text(fmt::format("{}/golden/hf/tokenizers/{}/spm.model", test::test_dir(), model), 1 << 28));
    check(directory.path());
  }
  EXPECT_GE(kinds, 14);
  for (const char* model : {"spm_bpe", "spm_unigram"}) {
    const std::string spm =
        read_sentencepiece(fmt::format("{}/golden/hf/tokenizers/{}/spm.model", test::test_dir(), model));
    expect_sums(*make_marian_tokenizer({.source_spm = spm, .target_spm = spm}), model);
  }
}

}  // namespace
}  // namespace tril
