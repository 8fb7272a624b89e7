// The adapter of each sentence of a batch (nn/adapters.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tril::search {

class SentenceAdapters {
 public:
  /// @param adapter  Request::adapter
  void set(std::int32_t sentence, std::int32_t adapter) {
    if (sentence >= std::ssize(of_)) of_.resize(sentence + 1, -1);
    of_[sentence] = adapter;
  }
  std::int32_t of(std::int32_t sentence) const { return sentence < std::ssize(of_) ? of_[sentence] : -1; }
  /// The adapter of every token, sentence after sentence; empty if no sentence has one.
  /// @param counts  the number of tokens of each sentence
  std::vector<std::int32_t> of_tokens(std::span<const std::int32_t> sentences,
                                      std::span<const std::int32_t> counts) const {
    std::vector<std::int32_t> tokens;
    if (std::none_of(sentences.begin(), sentences.end(), [&](std::int32_t s) { return of(s) >= 0; })) return tokens;
    for (std::size_t i = 0; i < sentences.size(); ++i) tokens.insert(tokens.end(), counts[i], of(sentences[i]));
    return tokens;
  }

 private:
  std::vector<std::int32_t> of_;
};

}  // namespace tril::search
