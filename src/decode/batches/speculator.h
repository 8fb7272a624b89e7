// Speculative decoding [Leviathan et al. 2023; Chen et al. 2023] in a continuous batch. A cheap proposer suggests the next tokens of a
// row. The model reads them all in one step and chooses its own token after each. Proposals are accepted up to the first that
// differs from the model's choice, which then takes its place. The text is that of plain decoding, in fewer steps (up to rounding: a
// step of several tokens sums in another order).
//
// This holds for samples as well: a drawn token depends on the model's distribution and on a random number of its position
// (SamplingOptions::seed), not on proposals. It is what rejection sampling [Leviathan et al. 2023, section 2.3] comes to with a proposal
// that is certain: a proposed token x is accepted with the model's probability p(x).
//
// Proposals come from a small draft model (draft_model.h), from Medusa heads (draft_heads.h) or from the text or a prediction of it
// (prompt_lookup.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "decode/batches/proposal_length.h"
#include "decode/batches/proposer.h"
#include "decode/batches/speculative.h"

namespace tril::search {

/// Throws Error(usage) if SearchPlan::takes_proposals() is false.
void check_takes_proposals(const SearchPlan& plan);

/// The source of proposals, and counts of their use.
struct Proposals {
  Proposer& proposer;
  std::int32_t most;                              ///< tokens at a time, at least 1
  Speculation& counts;                            ///< updated
  ProposalLength* length = nullptr;               ///< chooses fewer than `most`, and is updated; null: always `most`
  std::function<double()> seconds = seconds_now;  ///< the clock by which `length` compares steps
};

/// Follows the steps of a batch: propose() before each; keep_states(), accept() for each answered row that may get proposals, and
/// end_step() after it.
class Speculator {
 public:
  explicit Speculator(const Proposals& proposals);

  /// Whether the rows of this request may get proposals.
  bool may_propose(const Request& request) const { return from_.proposer.may_propose(request); }
  /// Asks for proposals of the rows of the next step that may get some. Sets DraftRow::state, and lowers DraftRow::most.
  /// @param all_rows  the number of rows of the step
  void propose(Context& c, std::vector<DraftRow> rows, std::size_t all_rows);
  /// The proposals of rows[i] of the last propose().
  std::span<const std::int32_t> proposed(std::size_t i) const { return proposed_[i]; }
  /// The model's states [answers, D] of the step; may be empty.
  void keep_states(Tensor states);
  struct Accepted {
    std::int32_t sentence = 0;
    std::int32_t row = -1;  ///< of the last propose(); -1: it was not among them, because its prompt was being read
    std::int32_t proposals = 0;  ///< that the model agrees with
    std::int32_t tokens = 0;     ///< by which the text has grown
    std::int32_t last = 0;       ///< the answer of the step from which its last token was chosen
  };
  void accept(const Accepted& accepted);
  /// @param read_prompt  the step has read prompts too, so that its time says nothing of others
  void end_step(bool read_prompt);
  /// A sentence has left the batch.
  void remove(std::int32_t sentence);

 private:
  struct Known {
    std::size_t drafted = 0;  // tokens that the proposer has seen
    std::int32_t state = -1;  // of states_
  };

  Proposals from_;
  std::map<std::int32_t, Known> known_;  // by sentence
  Tensor states_;
  // Of the current step:
  std::vector<DraftRow> rows_;
  std::size_t all_rows_ = 0;
  std::int32_t length_ = 0;
  bool fresh_ = false;  // the proposer reads a text for the first time
  bool catches_up_ = false;
  double begun_ = 0;
  std::vector<std::vector<std::int32_t>> proposed_;
  std::vector<std::int32_t> accepted_;
};

}  // namespace tril::search
