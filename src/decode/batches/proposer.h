// A proposer suggests the next tokens of a text, which the model accepts or rejects (speculator.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/plan.h"
#include "tensor/context.h"

namespace tril::search {

/// A row of the next step, which may get proposals.
struct DraftRow {
  std::span<const std::int32_t> tokens;  ///< the start token, the prefix, and the generated tokens
  std::int32_t sentence = 0;             ///< the number of its sentence
  std::int32_t most = 0;                 ///< the maximum number of proposed tokens
  const Request* request = nullptr;      ///< of its sentence; Lookup needs it
  std::shared_ptr<const SearchPlan> plan = {};
  /// Which of Drafts::states its last token was chosen from; -1: none, for example because that token is of the prompt.
  std::int32_t state = -1;
};

struct Drafts {
  std::span<const DraftRow> rows;
  Tensor states = {};  ///< [any, D] hidden states of the model, for a proposer that reads them
};

class Proposer {
 public:
  virtual ~Proposer() = default;

  /// New sentences, under numbers that are not in use. @param sources  ids with EOS, one for each sentence; none: without encoder
  virtual void add(std::span<const std::int32_t> /*sentences*/,
                   std::span<const std::vector<std::int32_t>> /*sources*/) {}
  /// A sentence has ended, so its number may be used again. A number that was never added is ignored.
  virtual void remove(std::int32_t /*sentence*/) {}
  /// Forgets all sentences, for example after an error.
  virtual void clear() {}

  /// Whether it may propose anything for this request.
  virtual bool may_propose(const Request& /*request*/) const { return true; }
  /// Sets proposals[r] to at most rows[r].most tokens that may follow row r.
  virtual void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) = 0;
  /// Whether it reads the text with a model, which takes time also where nothing is proposed, and more after steps in which it was
  /// not asked.
  virtual bool has_model() const { return false; }
  /// Whether the last call of propose() has read a portion of a text that is read in several, so that neither its time nor its proposals
  /// say anything of others.
  virtual bool is_reading() const { return false; }
  /// Whether it needs Drafts::states, and takes time also where nothing is proposed.
  virtual bool reads_states() const { return false; }
  /// Memory of the keys and values that it keeps.
  virtual std::int64_t cache_bytes() const { return 0; }
};

}  // namespace tril::search
