// Speculative decoding [Leviathan et al. 2023; Chen et al. 2023] for greedy search. A cheap proposer suggests the next tokens of
// each row. The model reads them all in one step and computes its own choice after each. Proposals are accepted up to the first
// that differs from the model's choice, which then takes its place. The result is that of plain greedy search, in fewer steps (up
// to rounding: a step of several tokens sums in another order). Proposals come from a small draft model (draft_model.h) or from the
// text itself (prompt_lookup.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "decode/batches/decode.h"
#include "decode/batches/proposal_length.h"
#include "decode/batches/proposer.h"
#include "decode/batches/session_options.h"

namespace tril::search {

/// Throws Error(usage) if the options need a search that cannot use proposals.
void check_speculative(const SearchPlan& options);

/// The source of proposals, and counts of their use.
struct Proposals {
  Proposer& proposer;
  std::int32_t most;                              ///< tokens at a time
  Speculation& counts;                            ///< updated
  ProposalLength* length = nullptr;               ///< chooses fewer than `most`, and is updated; null: always `most`
  std::function<double()> seconds = seconds_now;  ///< the clock by which `length` compares steps
};

/// Like decode() (decode.h), for greedy search with proposals.
std::vector<std::vector<Hypothesis>> decode_speculatively(Context& c, Step& step, const Proposals& proposals,
                                                          const RequestList& list);

}  // namespace tril::search
