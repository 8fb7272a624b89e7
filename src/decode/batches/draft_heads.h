// Medusa heads (nn/medusa_heads.h) as a proposer: they guess the tokens after the last one from the state that this one was chosen from,
// all at once and without the model. The heads' products are small. That with the output matrix is as large as the model's own; heads
// that share it need one for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/draft_candidates.h"
#include "decode/batches/proposer.h"
#include "model/spec/model.h"
#include "nn/medusa_heads.h"

namespace tril::search {

/// Proposes the likeliest token of each head, by the rules of the search (draft_candidates.h), up to the first that would end the text.
class DraftHeads : public Proposer {
 public:
  /// @param model  whose states the heads read
  DraftHeads(const nn::MedusaHeads& heads, const model::Model& model);
  void clear() override { candidates_.clear(); }
  void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override;
  bool reads_states() const override { return true; }

 private:
  /// The logits of the first `heads` heads, each [rows, V], for states [rows, D].
  std::vector<Tensor> logits(Context& c, const Tensor& states, std::int64_t heads) const;

  const nn::MedusaHeads* heads_;
  const model::Model* model_;
  DraftCandidates candidates_;
};

}  // namespace tril::search
