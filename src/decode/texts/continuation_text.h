// Converts prompts to requests of a search, and hypotheses back to text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/model.h"
#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// Length limits and stop strings.
struct ContinuationOptions {
  std::optional<std::int32_t> min_new_tokens;  ///< generated tokens before an end token; nullopt: from min_length
  std::int32_t min_length = 0;                 ///< the same, counting the prompt too
  /// nullopt: from max_length, or 256 without it. The model's positions are a limit in any case.
  std::optional<std::int32_t> max_new_tokens;
  std::optional<std::int32_t> max_length;  ///< the same, counting the prompt too
  std::vector<std::string> stops;          ///< stop strings
};

struct Generation {
  std::string text;                  ///< without the prompt and the stop string
  std::vector<std::int32_t> tokens;  ///< as generated, including an end token
  double log_prob = 0, score = 0;    ///< see Hypothesis
  StopReason stop_reason = StopReason::length;
  std::vector<TokenScore> token_scores = {};  ///< by token, if SearchPlan::top_log_probs is at least 0
};

class ContinuationText {
 public:
  /// The model must outlive it.
  /// @throws Error(usage) as check_language_model()
  ContinuationText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer);

  /// The ids of a prompt, including the tokens that the model expects before a text. An empty prompt becomes the model's
  /// begin token.
  /// @param where  the name of the prompt in errors
  /// @throws Error(usage) if it has no token, or more tokens than the model has positions
  std::vector<std::int32_t> prompt_ids(const std::string& prompt, const std::string& where) const;
  /// The search request for a prompt. @param number  Request::number
  Request request_for(std::vector<std::int32_t> ids, std::uint64_t number, const ContinuationOptions& options) const;
  Generation finish(const Hypothesis& h, const Request& request, const ContinuationOptions& options) const;
  /// Completes a plan: suppresses ids without text, and ends at stop strings.
  SearchPlan completed(SearchPlan search, const ContinuationOptions& options) const;

  const model::Model& model() const { return *model_; }
  const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }

 private:
  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

/// The last tokens of a prompt: enough context to decode the tokens after it.
std::vector<std::int32_t> end_of(const Request& request);

/// Throws Error(usage) if the model is not a language model, and Error if the tokenizer has more ids than its vocabulary.
void check_language_model(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
