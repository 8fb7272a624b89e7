// The plan of a completion for a model: its lengths and its search, with all checks between fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/texts/continuation_text.h"
#include "search/plan.h"
#include "serve/api/completion_request.h"
#include "serve/api/service.h"

namespace tril::serve {

struct CompletionPlan {
  std::int64_t draws = 1;               ///< answers computed for each prompt, of which the best n are returned
  search::ContinuationOptions lengths;  ///< and stop strings
  bool nothing_new = false;             ///< max_tokens 0: the answer is the prompt alone
  search::SearchPlan search;            ///< without set_constraint()
};

/// @param prompts  their number
/// @throws HttpError naming a field that contradicts another, the model or the server's limits
CompletionPlan plan_completion(const CompletionRequest& r, std::int64_t prompts, const ServedModel& model,
                               const ServiceOptions& server);

/// Sets the answer's format and biases. May take seconds for a schema.
/// @param warnings  receives the parts of the schema that have no effect
void set_constraint(const CompletionRequest& r, ServedModel& model, Warnings& warnings, search::SearchPlan& plan);

/// Refuses a token limit below the shortest text of the answer's format. @throws HttpError
void check_format_fits(const CompletionRequest& r, const CompletionPlan& plan, const search::SearchPlan& settled,
                       const search::Request& request);

}  // namespace tril::serve
