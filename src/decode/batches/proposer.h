// A proposer suggests the next tokens of a greedy search, which the model accepts or rejects (speculative.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/plan.h"
#include "tensor/context.h"

namespace tril::search {

/// The rows of the next step.
struct Drafts {
  std::span<const std::span<const std::int32_t>> tokens;  ///< [rows] start token, prefix, generated tokens
  std::span<const std::int32_t> sentences;                ///< [rows] the number of each row's sentence; new ones last
  std::span<const std::int32_t> most;                     ///< [rows] the maximum number of proposed tokens
  std::span<const Request* const> requests = {};          ///< [rows] whose rows they are
  std::span<const std::int32_t> ends = {};  ///< EOS ids, which are not proposed: nothing could be accepted after them
  /// For a proposer that reads states: hidden states [any, D] of the model, and for each row which of them its last token was chosen
  /// from; -1: that token is of the prompt.
  Tensor states = {};
  std::span<const std::int32_t> state_of = {};
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// Sets proposals[r] to at most most[r] tokens that may follow row r.
  virtual void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) = 0;
  /// Whether it reads the text with a model, which takes time also where nothing is proposed, and more after steps in which it was
  /// not asked.
  virtual bool has_model() const { return false; }
  /// Whether it needs Drafts::states, and takes time also where nothing is proposed.
  virtual bool reads_states() const { return false; }
};

}  // namespace tril::search
