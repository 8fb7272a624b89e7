// Speculative decoding [Leviathan et al. 2023; Chen et al. 2023], greedy: something cheap proposes the next tokens of
// each row, the model reads them all in one step and says after each what it would have taken itself; the proposals up
// to the first that it would not have taken are accepted, and that token of its own follows them. The result is
// plain greedy search's token for token (up to rounding: a step of several tokens sums in another order), in fewer steps.
// Proposals come from a small draft model (draft_model.h), or from the text itself (prompt_lookup.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/proposer.h"
#include "decode/batches/session_options.h"

namespace tril::search {

/// Throws Error(usage) where the options ask for what goes without proposals alone.
void check_speculative(const SearchPlan& options);

/// Where proposals come from, how many tokens at a time, and what becomes of them.
struct Proposals {
  Proposer& proposer;
  std::int32_t most;    ///< tokens
  Speculation& counts;  ///< added to
};

/// decode() of decode.h for greedy search, with proposals.
std::vector<std::vector<Hypothesis>> decode_speculatively(Context& c, Step& step, const Proposals& proposals,
                                                          const RequestList& list);

}  // namespace tril::search
