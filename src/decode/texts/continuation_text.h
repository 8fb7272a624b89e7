// One prompt on its way to what follows it, on both sides of the search: what the search is to be asked, and what its
// answer reads.
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

/// How long generations are.
struct ContinuationOptions {
  std::optional<std::int32_t> min_new_tokens;  ///< before an end token; nothing: as min_length says
  std::int32_t min_length = 0;                 ///< likewise, of prompt and generated tokens together
  /// Nothing: as max_length says, or 256 tokens. The model's positions bound it too.
  std::optional<std::int32_t> max_new_tokens;
  std::optional<std::int32_t> max_length;  ///< of prompt and generated tokens together
  std::vector<std::string> stops;          ///< texts before which a generation ends
};

struct Generation {
  std::string text;                  ///< without the prompt, up to a stop
  std::vector<std::int32_t> tokens;  ///< as generated, an end token included
  double log_prob = 0, score = 0;    ///< see Hypothesis
  StopReason stop_reason = StopReason::length;
  std::vector<TokenScore> token_scores = {};  ///< of each token, where SearchPlan::top_log_probs asks for them
};

class ContinuationText {
 public:
  /// The model must outlive it.
  /// @throws Error(usage) where this is no language model, or the tokenizer's ids do not fit it
  ContinuationText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer);

  /// The ids of a prompt, what a model expects in front of a text included; an empty one is the model's begin token.
  /// @param where  how errors call the prompt
  /// @throws Error(usage) where it leaves no room, or has no token
  std::vector<std::int32_t> prompt_ids(const std::string& prompt, const std::string& where) const;
  /// What a search is asked for. @param number  which random numbers are drawn for it
  Request request_for(std::vector<std::int32_t> ids, std::uint64_t number, const ContinuationOptions& options) const;
  Generation finish(const Hypothesis& h, const Request& request, const ContinuationOptions& options) const;
  /// The search's part of the options: no token that has no text, and an end where a stop text comes.
  SearchPlan completed(SearchPlan search, const ContinuationOptions& options) const;

  const model::Model& model() const { return *model_; }
  const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }

 private:
  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

/// The last tokens of what is given: enough to know whether a blank that follows is inside a text.
std::vector<std::int32_t> end_of(const Request& request);

/// Throws Error(usage) where this is no language model, or the tokenizer's ids do not fit it.
void check_language_model(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
