// What edits change: logits, loss and the most probable next tokens, against a pass without them.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/pass.h"

namespace tril::trace {

struct Change {
  struct Token {
    std::int32_t best_before = -1, best_after = -1;  ///< the most probable next token
    double log_prob_before = 0, log_prob_after = 0;  ///< of best_before
    double most_logit = 0;                           ///< the largest absolute difference of a logit
    double divergence = 0;                           ///< KL(before || after) of the next token, in nats
  };
  double loss_before = 0, loss_after = 0;
  bool bit_identical = false;  ///< all logits are
  std::vector<Token> tokens;   ///< of the decoder
};

/// Both passes are over as many tokens. @throws Error(usage) if they are not
Change change_between(const Outcome& before, const Outcome& after);

}  // namespace tril::trace
