// Finds the reasoning that a model writes before its answer, by the tokens that enclose it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// What was generated before the answer.
struct Reasoning {
  std::size_t tokens = 0;   ///< the answer follows them
  bool unfinished = false;  ///< the answer has not begun
};

class ReasoningMarks {
 public:
  explicit ReasoningMarks(const Tokenizer& tokenizer);

  /// Tokens to skip in a generated text. Reasoning is recognised only at its beginning, so a source text that contains such
  /// marks does no harm.
  /// @param prompt  if its last mark opens reasoning, the text begins inside reasoning
  Reasoning before_answer(std::span<const std::int32_t> prompt, std::span<const std::int32_t> tokens) const;
  /// True if the model reasons in channels, as gpt-oss does. It then needs more room.
  bool has_channels() const { return channel_ && message_; }
  /// True if the prompt ends inside reasoning.
  bool is_opened(std::span<const std::int32_t> prompt) const { return opened_by(prompt) != nullptr; }

 private:
  struct Pair {
    std::int32_t open, close;
  };
  const Pair* opened_by(std::span<const std::int32_t> prompt) const;
  Reasoning before_final_channel(std::span<const std::int32_t> tokens) const;

  const Tokenizer* tokenizer_;
  std::vector<Pair> pairs_;
  std::optional<std::int32_t> channel_, message_;
};

}  // namespace tril::search
