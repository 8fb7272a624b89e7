// The JSON of a completion's answer: whole, or event by event.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/texts/answer_tokens.h"
#include "decode/texts/continuation_text.h"
#include "serve/api/completion_request.h"
#include "serve/api/logprobs.h"

namespace tril::serve {

/// A part of an answer that is streamed.
struct AnswerPart {
  std::string text = {};
  Json logprobs = nullptr;
  std::string finish = {};  ///< why the answer ends here, from finish_reason(); "": it continues
  bool begins = false;
};

/// Why an answer ended, as OpenAI names it.
std::string finish_reason(search::StopReason finish);

class CompletionForm {
 public:
  /// All must outlive this object.
  /// @param id  of the call
  CompletionForm(const CompletionRequest& r, const std::vector<Prompt>& prompts, const ServedModel& model,
                 const std::string& id)
      : r_(r), prompts_(prompts), model_(model), id_(id) {}

  std::shared_ptr<const std::vector<std::string>> bytes;       ///< by token; for log-probabilities
  std::vector<std::vector<search::TokenScore>> prompt_scores;  ///< of each prompt, if the request asks for them

  /// The log-probabilities of tokens of an answer to this prompt; null if they are not requested.
  Json logprobs(std::span<const ScoredToken> tokens, std::size_t prompt) const;
  /// Those of the prompt itself. The first token has no predecessor.
  Json logprobs_of_prompt(std::size_t prompt) const;

  /// What an answer (or an event of one) has besides its choices.
  Json frame(bool chunk) const;
  Json chunk(std::size_t place, const AnswerPart& part) const;
  /// @param tokens  those of the answer, for log-probabilities
  Json choice(std::size_t place, const search::Generation& result, std::span<const ScoredToken> tokens) const;
  struct Tokens {
    std::int64_t made = 0;  ///< generated
    search::ProposalCounts of_prediction = {};
  };
  Json usage(const Tokens& tokens) const;

 private:
  std::size_t prompt_of(std::size_t place) const { return place / static_cast<std::size_t>(r_.n); }

  const CompletionRequest& r_;
  const std::vector<Prompt>& prompts_;
  const ServedModel& model_;
  const std::string& id_;
};

}  // namespace tril::serve
