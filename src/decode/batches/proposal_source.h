// The proposer that a session's options ask for, with what is measured of it over all searches of the session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "decode/batches/proposal_length.h"
#include "decode/batches/proposer.h"
#include "decode/batches/speculative.h"
#include "decode/batches/speculator.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

struct ProposalSourceOptions {
  SpeculativeOptions speculative;
  DecodingStateOptions state;   ///< of a draft model
  std::int32_t portion = 4096;  ///< the maximum number of tokens of texts that a draft model reads between two steps
};

/// Cannot be moved: its speculators refer to it.
class ProposalSource {
 public:
  /// @param c, state  of the session, whose model the proposals are for. They, the models and the heads of the options must outlive it
  /// @throws Error(usage) if the options do not fit the model (check_options)
  ProposalSource(Context& c, const DecodingState& state, const ProposalSourceOptions& options);
  ProposalSource(const ProposalSource&) = delete;
  ProposalSource& operator=(const ProposalSource&) = delete;

  /// Whether anything is proposed. If not, add() and clear() do nothing.
  bool on() const { return proposer_ != nullptr; }
  /// For one batch. @pre on()
  Speculator new_speculator();
  /// See Proposer.
  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources);
  void clear();
  std::int64_t cache_bytes() const;
  /// Counts over all batches.
  const Speculation& counts() const { return counts_; }

 private:
  std::int32_t most_;                   ///< tokens at a time
  std::unique_ptr<Proposer> proposer_;  ///< null: nothing is proposed
  std::optional<ProposalLength> length_;
  Speculation counts_;
};

}  // namespace tril::search
