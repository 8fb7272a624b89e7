// Options and counts of speculative decoding (speculator.h).
#pragma once

#include <cstdint>

#include "model/spec/model.h"
#include "nn/medusa_heads.h"

namespace tril::search {

/// Where proposed tokens come from. At most one of `draft`, `heads` and `lookup` is set.
struct SpeculativeOptions {
  const model::Model* draft = nullptr;     ///< a small model; null: none
  const nn::MedusaHeads* heads = nullptr;  ///< of this model, at least `tokens`; null: none
  std::int32_t lookup = 0;                 ///< the longest n-gram of prompt lookup; 0: no lookup
  /// Requests that have a prediction (Request::prediction) get proposals from it. `lookup` does this in any case; a draft or heads cannot.
  bool predictions = false;
  std::int32_t tokens = 4;  ///< the maximum number of tokens proposed at a time
  bool measured = false;    ///< fewer or none where that is faster, by measurement (proposal_length.h)
  float min_prob = 0;       ///< the draft stops after a token that it finds less probable than this
  bool on() const { return draft != nullptr || heads != nullptr || lookup > 0 || predictions; }
  /// The name of the field that asks for proposals, for errors.
  const char* field() const {
    return draft ? "draft_model" : heads ? "draft_heads" : lookup > 0 ? "prompt_lookup" : "prediction";
  }
};

/// Tokens that were proposed for one text, and those of them that the model chose too.
struct ProposalCounts {
  std::int64_t proposed = 0, accepted = 0;
};

/// Counts of speculative decoding.
struct Speculation {
  std::int64_t rows = 0;  ///< rows of all steps; plain decoding needs one row for each token
  std::int64_t tokens = 0, proposed = 0, accepted = 0;
};

/// @param what  begins the error's message
/// @throws Error(usage) if the other model cannot replace this one at a token: its vocabulary differs, or only one has an encoder
void check_shares_vocabulary(const model::Model& other, const model::Model& model, const char* what);
/// @throws Error(usage) if the other model has fewer positions
void check_reaches(const model::Model& other, const model::Model& model, const char* what);

/// Why rejected tokens of this model cannot be undone: a clause, as "its recurrent state cannot undo tokens"; null: they can be.
const char* why_not_undone(const model::Model& model);

/// @throws Error(usage) if the options contradict each other, do not fit the model, or need to undo what a model cannot
void check_options(const SpeculativeOptions& options, const model::Model& model);

}  // namespace tril::search
