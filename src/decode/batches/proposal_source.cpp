#include "decode/batches/proposal_source.h"

#include "decode/batches/draft_heads.h"
#include "decode/batches/draft_model.h"
#include "decode/batches/prompt_lookup.h"

namespace tril::search {
namespace {

std::unique_ptr<Proposer> make_proposer(Context& c, const model::Model& model, const ProposalSourceOptions& o) {
  const SpeculativeOptions& s = o.speculative;
  if (s.heads) return std::make_unique<DraftHeads>(*s.heads, model);
  if (!s.draft) return std::make_unique<Lookup>(s.lookup, model.source_vocab_size() == model.vocab_size());
  return std::make_unique<DraftModel>(
      c, *s.draft, DraftModelOptions{.state = o.state, .min_prob = s.min_prob, .portion = o.portion});
}

}  // namespace

ProposalSource::ProposalSource(Context& c, const DecodingState& state, const ProposalSourceOptions& options)
    : most_(options.speculative.tokens) {
  check_options(options.speculative, state.model());
  if (!options.speculative.on()) return;
  proposer_ = make_proposer(c, state.model(), options);
  if (options.speculative.measured) length_.emplace(most_);
}

Speculator ProposalSource::new_speculator() {
  return Speculator({*proposer_, most_, counts_, length_ ? &*length_ : nullptr});
}

void ProposalSource::add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) {
  if (proposer_ && !sentences.empty()) proposer_->add(sentences, sources);
}

void ProposalSource::clear() {
  if (proposer_) proposer_->clear();
}

std::int64_t ProposalSource::cache_bytes() const {
  return proposer_ ? proposer_->cache_bytes() : 0;
}

}  // namespace tril::search
