// How log-probabilities of tokens are told, in the two forms that OpenAI has for them: of completions and of chats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "decode/texts/answer_tokens.h"
#include "serve/api/warnings.h"

namespace tril::serve {

/// A token of an answer or a prompt, and how probable it was.
struct ScoredToken {
  search::AnswerToken token;
  search::TokenScore score;
  bool first = false;  ///< of a prompt: it follows nothing, so that there is no telling
};

/// Tokens as answers call them: the text that they add where it is whole characters, else "bytes:" and each byte in
/// hexadecimal ("bytes:\xe2\x80"), so that nothing of them is lost.
std::string told_text(const std::string& bytes);

class LogprobsForm {
 public:
  /// Both must outlive it. @param bytes  by id, what tokens add to a text (tokenizer/files/token_bytes.h)
  LogprobsForm(const Tokenizer& tokenizer, std::span<const std::string> bytes)
      : tokenizer_(&tokenizer), bytes_(bytes) {}

  /// {"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}, ...]}
  Json of_chat(std::span<const ScoredToken> tokens) const;
  /// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, a list each.
  /// @param offset  characters before the text that the tokens' offsets count in
  /// @param tops    whether the likeliest were asked for; where not, there is null in their place
  Json of_completion(std::span<const ScoredToken> tokens, std::size_t offset, bool tops) const;

 private:
  std::string bytes_of(std::int32_t id) const;
  std::string name_of(std::int32_t id) const;
  Json tops_of(const ScoredToken& token) const;

  const Tokenizer* tokenizer_;
  std::span<const std::string> bytes_;
};

}  // namespace tril::serve
