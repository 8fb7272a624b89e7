#include "decode/batches/continuous_session.h"

#include <algorithm>

#include "base/error.h"
#include "decode/steps/shortlist.h"

namespace tril::search {

ContinuousSession::ContinuousSession(Context& c, const model::Model& model, const ContinuousSessionOptions& options,
                                     OnToken on_token, OnPartial on_partial)
    : context_(&c),
      options_(options),
      on_token_(std::move(on_token)),
      on_partial_(std::move(on_partial)),
      state_(c, model, {.cache = options.cache, .prefix_tokens = options.prefix_tokens}),
      proposals_(c, state_,
                 {.speculative = options.speculative,
                  .state = {.cache = options.cache, .prefix_tokens = options.prefix_tokens},
                  .portion = options.prompt_tokens}) {
  start();
}

// Forgets all sentences and begins with a new step and batch.
void ContinuousSession::start() {
  state_.clear();
  current_.clear();
  step_ = state_.new_step({.attention = options_.attention});
  proposals_.clear();
  if (proposals_.on()) speculator_.emplace(proposals_.new_speculator());
  batch_ = std::make_unique<ContinuousBatch>(
      *step_, ContinuousBatch::Options{.prompt_tokens = options_.prompt_tokens,
                                       .on_token = on_token_,
                                       .on_partial = on_partial_,
                                       .speculator = speculator_ ? &*speculator_ : nullptr});
}

void ContinuousSession::join(std::span<const Arrival> arrivals) {
  const model::Model& model = state_.model();
  std::vector<std::vector<std::int32_t>> sources, proposed_sources;
  std::vector<std::int32_t> sentences, adapters, proposed_sentences;
  std::vector<IdList> lists;
  for (const Arrival& a : arrivals) {
    try {
      check(current_.count(a.sentence) == 0, "ContinuousSession", "sentence {} already exists", a.sentence);
      check(!model.has_encoder() || !a.source.empty(), "ContinuousSession", "a source without tokens");
      check(!a.options->attention || model.has_encoder(), "attention", "a {} model has no source", model.family());
      if (a.options->attention)
        model::tap_of(model, options_.attention);  // else all current sentences would fail with it
      check(!a.options->shortlist || model.has_encoder(), "shortlist", "a {} model has no source", model.family());
      batch_->join(a.sentence, a.request, a.options);
    } catch (...) {
      failed_.push_back({.sentence = a.sentence, .hypotheses = {}, .error = std::current_exception()});
      continue;
    }
    current_.insert(a.sentence);
    sentences.push_back(a.sentence);
    adapters.push_back(a.request.adapter);
    lists.push_back(a.options->shortlist ? a.options->shortlist->of(a.source, a.request) : nullptr);
    if (model.has_encoder()) sources.push_back(a.source);
    if (!proposals_.on() || !a.options->takes_proposals()) continue;
    proposed_sentences.push_back(a.sentence);
    if (model.has_encoder()) proposed_sources.push_back(a.source);
  }
  try {
    state_.add(sentences, sources, adapters, lists);
    proposals_.add(proposed_sentences, proposed_sources);
  } catch (...) {
    fail_all(std::current_exception());
  }
}

void ContinuousSession::step() {
  try {
    batch_->step(*context_);
  } catch (...) {
    fail_all(std::current_exception());
  }
}

void ContinuousSession::fail_all(const std::exception_ptr& error) {
  for (ContinuousBatch::Ended& e : batch_->take_ended()) {  // these ended before the error
    current_.erase(e.sentence);
    failed_.push_back(std::move(e));
  }
  for (const std::int32_t sentence : current_)
    failed_.push_back({.sentence = sentence, .hypotheses = {}, .error = error});
  start();
}

std::vector<ContinuousBatch::Ended> ContinuousSession::take_ended() {
  std::vector<ContinuousBatch::Ended> ended = std::exchange(failed_, {});
  for (ContinuousBatch::Ended& e : batch_->take_ended()) {
    state_.remove(e.sentence);
    current_.erase(e.sentence);
    ended.push_back(std::move(e));
  }
  if (batch_->empty()) state_.drop_rows();
  return ended;
}

}  // namespace tril::search
