#include "decode/prompts/reasoning.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unicode/trim.h"

namespace tril::search {
namespace {

// The marks of Qwen3, DeepSeek, Magistral, Seed-OSS, Cohere and Gemma 4 in their vocabularies.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> reasoning_marks{
    {{"<think>", "</think>"},
     {"[THINK]", "[/THINK]"},
     {"<seed:think>", "</seed:think>"},
     {"<|START_THINKING|>", "<|END_THINKING|>"},
     {"<|channel>", "<channel|>"}}};

// A prompt that ends inside reasoning has the mark among its last tokens: at most a line end follows.
constexpr std::size_t tokens_at_end = 4;

}  // namespace

ReasoningMarks::ReasoningMarks(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {
  for (const auto& [open, close] : reasoning_marks) {
    const auto first = tokenizer.find(open, Side::target), last = tokenizer.find(close, Side::target);
    if (first && last) pairs_.push_back({*first, *last});
  }
  channel_ = tokenizer.find("<|channel|>", Side::target);
  message_ = tokenizer.find("<|message|>", Side::target);
}

const ReasoningMarks::Pair* ReasoningMarks::opened_by(std::span<const std::int32_t> prompt) const {
  const auto end = prompt.last(std::min(prompt.size(), tokens_at_end));
  for (auto token = end.rbegin(); token != end.rend(); ++token)
    for (const Pair& pair : pairs_) {
      if (*token == pair.open) return &pair;
      if (*token == pair.close) return nullptr;
    }
  return nullptr;
}

// gpt-oss: <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>answer [OpenAI's harmony
// response format].
Reasoning ReasoningMarks::before_final_channel(std::span<const std::int32_t> tokens) const {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at] != *channel_) continue;
    const auto message = std::find(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.end(), *message_);
    if (message == tokens.end()) break;
    const auto end = static_cast<std::size_t>(message - tokens.begin());
    const std::string name = tokenizer_->decode(tokens.subspan(at + 1, end - at - 1), Side::target);
    if (trim(name).starts_with("final")) return {.tokens = end + 1};
    at = end;
  }
  return {.tokens = tokens.size(), .unfinished = true};
}

Reasoning ReasoningMarks::before_answer(std::span<const std::int32_t> prompt,
                                        std::span<const std::int32_t> tokens) const {
  if (tokens.empty()) return {};
  if (has_channels() && tokens.front() == *channel_) return before_final_channel(tokens);
  const Pair* pair = opened_by(prompt);
  if (!pair) {
    // Blank tokens may precede the mark.
    std::size_t first = 0;
    while (first < tokens.size() && first < tokens_at_end &&
           std::none_of(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return p.open == tokens[first]; }) &&
           trim(tokenizer_->decode(tokens.subspan(first, 1), Side::target)).empty())
      ++first;
    for (const Pair& p : pairs_)
      if (first < tokens.size() && tokens[first] == p.open) pair = &p;
  }
  if (!pair) return {};
  const auto close = std::find(tokens.begin(), tokens.end(), pair->close);
  if (close == tokens.end()) return {.tokens = tokens.size(), .unfinished = true};
  return {.tokens = static_cast<std::size_t>(close - tokens.begin()) + 1};
}

}  // namespace tril::search
