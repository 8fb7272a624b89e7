// Pairs of sentences whose words are numbers, for tests of streams of batches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "corpus/corpus.h"
#include "support/temporary.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::numbered {

// A word is an id: "7 12 7" -> 7 12 7. The tests are about the stream, not about subwords.
class Words : public Tokenizer {
 public:
  using Tokenizer::decode;
  using Tokenizer::encode;
  void encode(std::string_view text, Side, std::vector<std::int32_t>& ids) const override {
    ++encoded;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = std::min(text.find(' ', i), text.size());
      if (end > i) ids.push_back(3 + std::stoi(std::string(text.substr(i, end - i))));
      i = end + 1;
    }
  }
  std::string decode(std::span<const std::int32_t>, Side) const override { return ""; }
  const std::string& piece(std::int32_t, Side) const override { return none_; }
  std::optional<std::int32_t> find(std::string_view, Side) const override { return std::nullopt; }
  std::int32_t size(Side) const override { return 1 << 20; }
  const SpecialIds& special(Side) const override { return special_; }
  bool shared_vocabulary() const override { return true; }
  std::int32_t model_max_length() const override { return 512; }
  std::vector<TokenizerFile> files() const override { return {}; }

  mutable std::atomic<int> encoded = 0;

 private:
  std::string none_;
  SpecialIds special_{.pad = 2, .eos = 0, .unk = 1, .decoder_start = 2};
};

inline const std::shared_ptr<const Words> words = std::make_shared<Words>();

// Line i of the source starts with i, line i of the target with i + 1000000.
struct Pairs {
  std::string source, target;
};
inline Pairs make_pairs(int count, std::uint64_t seed) {
  RandomSequence random(seed, 9);
  Pairs pairs;
  const auto line = [&](int first) {
    std::string text = std::to_string(first);
    for (std::uint64_t n = random.below(20); n > 0; --n) text += fmt::format(" {}", random.below(100));
    return text + "\n";
  };
  for (int i = 0; i < count; ++i) {
    pairs.source += line(i);
    pairs.target += line(i + 1'000'000);
  }
  return pairs;
}

inline CorpusOptions options_for(const TemporaryDirectory& at, int count) {
  const Pairs pairs = make_pairs(count, 5);
  CorpusOptions options;
  options.source = {at.write("source", pairs.source)};
  options.target = {at.write("target", pairs.target)};
  options.max_tokens = 100;
  options.pool_batches = 5;
  return options;
}

inline std::vector<Batch> take(Corpus& corpus, std::int64_t count) {
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < count; ++i) batches.push_back(corpus.next());
  return batches;
}

inline std::int64_t cost(const Batch& batch) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < batch.sentences(); ++i) sum += std::max(batch.source.length(i), batch.target.length(i));
  return sum;
}

// Invariants of every batch.
inline void expect_sound(const Batch& batch, const CorpusOptions& options) {
  ASSERT_GT(batch.sentences(), 0);
  ASSERT_EQ(batch.source.count(), batch.sentences());
  ASSERT_EQ(batch.target.count(), batch.sentences());
  ASSERT_LE(cost(batch), options.max_tokens);
  for (std::int64_t i = 0; i < batch.sentences(); ++i) {
    const auto source = batch.source_row(i), target = batch.target_row(i);
    const auto line = static_cast<std::int32_t>(batch.lines[static_cast<std::size_t>(i)]);
    ASSERT_EQ(source.back(), 0);
    ASSERT_EQ(target.back(), 0);
    ASSERT_EQ(source.front(), 3 + line);
    ASSERT_EQ(target.front(), 3 + 1'000'000 + line);
    ASSERT_LE(source.size(), static_cast<std::size_t>(options.max_length));
    ASSERT_LE(target.size(), static_cast<std::size_t>(options.max_length));
  }
}

}  // namespace tril::numbered
