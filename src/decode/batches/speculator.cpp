#include "decode/batches/speculator.h"

#include <algorithm>

#include "base/as_size.h"
#include "base/error.h"

namespace tril::search {
namespace {

// The maximum number of proposals in a step where their number is measured: each may need logits of the whole vocabulary.
constexpr std::size_t most_measured = 256;

}  // namespace

void check_takes_proposals(const SearchPlan& o) {
  check(!o.has_beam() && o.n_best == 1, "speculative decoding",
        "needs greedy search or one sample, got a beam of {}, {} hypotheses, alternatives {}", o.beam_size, o.n_best,
        o.alternatives);
  check(!o.attention, "speculative decoding",
        "does not record attention, which alignments and the replacement of unknown words need");
  check(!o.shortlist, "speculative decoding", "does not support a shortlist");
}

Speculator::Speculator(const Proposals& proposals) : from_(proposals) {
  check(proposals.most >= 1, "speculative decoding", "expected at least 1 token to propose, got {}", proposals.most);
}

void Speculator::propose(Context& c, std::vector<DraftRow> rows, std::size_t all_rows) {
  rows_ = std::move(rows);
  all_rows_ = all_rows;
  begun_ = from_.seconds();
  proposed_.assign(rows_.size(), {});
  accepted_.assign(rows_.size(), 0);
  length_ = 0, fresh_ = catches_up_ = false;
  if (rows_.empty()) return;
  const auto share = static_cast<double>(rows_.size()) / static_cast<double>(all_rows);
  length_ = from_.most;
  if (from_.length)
    length_ = std::min(from_.length->next(all_rows, share), static_cast<std::int32_t>(most_measured / rows_.size()));
  const bool drafts = length_ > 0 && from_.proposer.has_model();
  for (DraftRow& row : rows_) {
    Known& known = known_[row.sentence];
    fresh_ |= drafts && known.drafted == 0;
    catches_up_ |= drafts && row.tokens.size() > known.drafted + 2;
    row.most = std::min(row.most, length_);
    row.state = known.state;
  }
  if (length_ > 0) from_.proposer.propose(c, {rows_, states_}, proposed_);
  fresh_ |= length_ > 0 && from_.proposer.is_reading();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (length_ > 0) known_[rows_[i].sentence].drafted = rows_[i].tokens.size() + proposed_[i].size();
    from_.counts.proposed += std::ssize(proposed_[i]);
  }
}

void Speculator::keep_states(Tensor states) {
  if (!from_.proposer.reads_states()) return;
  check(static_cast<bool>(states), "speculative decoding", "these proposals need the states of one model");
  states_ = std::move(states);
}

void Speculator::accept(const Accepted& accepted) {
  known_[accepted.sentence].state = accepted.last;
  if (accepted.row >= 0) accepted_[as_size(accepted.row)] = accepted.proposals;
  ++from_.counts.rows;
  from_.counts.accepted += accepted.proposals;
  from_.counts.tokens += accepted.tokens;
}

void Speculator::end_step(bool read_prompt) {
  if (!from_.length || rows_.empty() || read_prompt || fresh_) return;
  std::vector<std::int32_t> proposed;
  bool some = false;
  for (const std::vector<std::int32_t>& p : proposed_)
    proposed.push_back(static_cast<std::int32_t>(p.size())), some |= !p.empty();
  const bool takes_time = from_.proposer.has_model() || from_.proposer.reads_states();
  const std::int32_t length = some || takes_time ? length_ : 0;
  from_.length->add({.rows = all_rows_,
                     .length = length,
                     .proposed = proposed,
                     .accepted = accepted_,
                     .seconds = from_.seconds() - begun_,
                     .catches_up = catches_up_});
}

void Speculator::remove(std::int32_t sentence) {
  known_.erase(sentence);
  from_.proposer.remove(sentence);
}

}  // namespace tril::search
