// Formats log-probabilities of tokens in OpenAI's two forms: for completions and for chats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "decode/texts/answer_tokens.h"
#include "serve/api/warnings.h"

namespace tril::serve {

/// A token of an answer or a prompt, with its log-probability.
struct ScoredToken {
  search::AnswerToken token;
  search::TokenScore score;
  bool first = false;  ///< the first token of a prompt: it has no log-probability
};

/// A token's text in answers: its characters, or "bytes:" and each byte in hexadecimal ("bytes:\xe2\x80") if it is not
/// whole characters.
std::string token_text(const std::string& bytes);

class LogprobsForm {
 public:
  /// Both must outlive this object. @param bytes  by id, what tokens add to a text (tokenizer/files/token_bytes.h)
  LogprobsForm(const Tokenizer& tokenizer, std::span<const std::string> bytes)
      : tokenizer_(&tokenizer), bytes_(bytes) {}

  /// {"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}, ...]}
  Json of_chat(std::span<const ScoredToken> tokens) const;
  /// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, a list each.
  /// @param offset  characters of the text before the first token
  /// @param tops    whether the most probable tokens were requested; otherwise null takes their place
  Json of_completion(std::span<const ScoredToken> tokens, std::size_t offset, bool tops) const;

 private:
  std::string bytes_of(std::int32_t id) const;
  std::string name_of(std::int32_t id) const;
  Json tops_of(const ScoredToken& token) const;

  const Tokenizer* tokenizer_;
  std::span<const std::string> bytes_;
};

}  // namespace tril::serve
