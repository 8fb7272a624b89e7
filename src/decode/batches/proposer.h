// Who proposes the next tokens of a greedy search, for the model to accept or not (speculative.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/context.h"

namespace tril::search {

/// What a proposer is told of the rows of the next step.
struct Drafts {
  std::span<const std::span<const std::int32_t>> tokens;  ///< [rows] the start token, the prefix, what was generated
  std::span<const std::int32_t> sentences;                ///< [rows] whose they are; new ones come last
  std::span<const std::int32_t> most;                     ///< [rows] tokens that may be proposed
  std::span<const std::int32_t> ends = {};  ///< tokens that are no use: nothing could be accepted after them
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// What may follow each row: proposals[r] is set to at most most[r] tokens.
  virtual void propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) = 0;
};

}  // namespace tril::search
