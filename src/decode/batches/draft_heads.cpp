#include "decode/batches/draft_heads.h"

#include <algorithm>

#include "base/as_size.h"
#include "ops/softcap.h"

namespace tril::search {

DraftHeads::DraftHeads(const nn::MedusaHeads& heads, const model::Model& model)
    : heads_(&heads), model_(&model), candidates_(model.vocab_size(), /*scores=*/false) {}

std::vector<Tensor> DraftHeads::logits(Context& c, const Tensor& states, std::int64_t heads) const {
  const auto [R, D] = states.dims<2>("states");
  std::vector<Tensor> logits;
  if (heads_->output(0)) {
    for (std::int64_t k = 0; k < heads; ++k)
      logits.push_back(ops::linear(c, heads_->state(c, states, k), *heads_->output(k), Tensor()));
    return logits;
  }
  Tensor all = c.empty({heads * R, D});
  for (std::int64_t k = 0; k < heads; ++k) ops::copy_into(c, heads_->state(c, states, k), all.rows(k * R, (k + 1) * R));
  const model::OutputProjection out = model_->output();
  Tensor y = ops::linear(c, all, out.weight, out.bias);
  if (out.softcap > 0) y = ops::softcap(c, y, out.softcap);
  for (std::int64_t k = 0; k < heads; ++k) logits.push_back(y.rows(k * R, (k + 1) * R));
  return logits;
}

void DraftHeads::propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(drafts.rows.size(), {});
  std::vector<std::size_t> asked;
  std::vector<std::int32_t> states;
  std::int64_t most = 0;
  for (std::size_t r = 0; r < drafts.rows.size(); ++r) {
    const DraftRow& row = drafts.rows[r];
    if (row.most <= 0 || row.state < 0) continue;
    asked.push_back(r);
    states.push_back(row.state);
    most = std::max<std::int64_t>(most, std::min<std::int64_t>(row.most, heads_->count()));
  }
  if (asked.empty()) return;

  Tensor hidden = c.empty({std::ssize(asked), heads_->sizes().d_model});
  c.kernels().gather(drafts.states.data<float>(), c.upload(states).data<std::int32_t>(), 1.0f, hidden.data<float>(),
                     asked.size(), hidden.size(1));
  std::vector<std::vector<std::int32_t>> texts;
  for (const std::size_t r : asked) texts.emplace_back(drafts.rows[r].tokens.begin(), drafts.rows[r].tokens.end());
  std::vector<bool> ended(asked.size(), false);
  const std::vector<Tensor> guesses = logits(c, hidden, most);
  for (std::int64_t k = 0; k < most && std::find(ended.begin(), ended.end(), false) != ended.end(); ++k) {
    std::vector<DraftCandidates::Row> views;
    for (std::size_t i = 0; i < asked.size(); ++i)
      views.push_back({texts[i], drafts.rows[asked[i]].request, drafts.rows[asked[i]].plan});
    const std::vector<Candidate> best = candidates_.find(c, guesses[as_size(k)], views);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const DraftRow& row = drafts.rows[asked[i]];
      const std::vector<std::int32_t>& ends = row.plan->eos_ids;
      const std::int32_t token = best[i].token;
      const bool is_end = token < 0 || std::find(ends.begin(), ends.end(), token) != ends.end();
      ended[i] = ended[i] || is_end || k >= row.most;
      if (ended[i]) continue;  // its text stays as it is, and what the search says of it is not used
      proposals[asked[i]].push_back(token);
      texts[i].push_back(token);
    }
  }
}

}  // namespace tril::search
