#include "decode/batches/continuous_session.h"

#include <algorithm>

#include "base/error.h"
#include "decode/steps/make_step.h"

namespace tril::search {

ContinuousSession::ContinuousSession(Context& c, const model::Model& model, const ContinuousSessionOptions& options,
                                     OnToken on_token, OnPartial on_partial)
    : context_(&c),
      model_(&model),
      options_(options),
      on_token_(std::move(on_token)),
      on_partial_(std::move(on_partial)),
      cache_(options.cache.use ? model.make_cache(c) : nullptr),
      sources_(model) {
  check_options(options.cache);
  if (cache_) cache_->configure(options.cache.kept);
  if (cache_ && !model.has_encoder() && !cache_->keeps_states() && options.cache.kept.window == 0 &&
      options.prefix_tokens > 0)
    prefixes_.emplace(*cache_, options.prefix_tokens);
  start();
}

// A step and a batch without anybody.
void ContinuousSession::start() {
  if (prefixes_) prefixes_->clear();
  if (cache_) cache_->reorder({});
  sources_.clear();
  there_.clear();
  step_ = make_step({.model = model_,
                     .sources = model_->has_encoder() ? &sources_ : nullptr,
                     .cache = cache_.get(),
                     .options = options_.cache,
                     .prefixes = prefixes_ ? &*prefixes_ : nullptr,
                     .adapters = &adapters_,
                     .attention = options_.attention});
  batch_ = std::make_unique<ContinuousBatch>(*step_, options_.prompt_tokens, on_token_, on_partial_);
}

void ContinuousSession::join(std::span<const Arrival> arrivals) {
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<std::int32_t> sentences, adapters;
  for (const Arrival& a : arrivals) {
    try {
      check(there_.count(a.sentence) == 0, "ContinuousSession", "sentence {} already exists", a.sentence);
      check(!model_->has_encoder() || !a.source.empty(), "ContinuousSession", "a source without tokens");
      check(!a.options->attention || model_->has_encoder(), "attention", "a {} model has no source", model_->family());
      if (a.options->attention) model::tap_of(*model_, options_.attention);  // or all who are there would fail with it
      check(!a.options->shortlist, "shortlist", "is not supported here: it works only with a fixed list of sentences");
      batch_->join(a.sentence, a.request, a.options);
    } catch (...) {
      failed_.push_back({.sentence = a.sentence, .hypotheses = {}, .error = std::current_exception()});
      continue;
    }
    there_.insert(a.sentence);
    sentences.push_back(a.sentence);
    adapters.push_back(a.request.adapter);
    adapters_.set(a.sentence, a.request.adapter);
    if (model_->has_encoder()) sources.push_back(a.source);
  }
  try {
    if (!sources.empty()) sources_.add(*context_, sources, sentences, adapters);
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
  for (ContinuousBatch::Ended& e : batch_->take_ended()) {  // those had come to their end
    there_.erase(e.sentence);
    failed_.push_back(std::move(e));
  }
  for (const std::int32_t sentence : there_)
    failed_.push_back({.sentence = sentence, .hypotheses = {}, .error = error});
  start();
}

std::vector<ContinuousBatch::Ended> ContinuousSession::take_ended() {
  std::vector<ContinuousBatch::Ended> ended = std::exchange(failed_, {});
  for (ContinuousBatch::Ended& e : batch_->take_ended()) {
    sources_.remove(e.sentence);
    there_.erase(e.sentence);
    ended.push_back(std::move(e));
  }
  if (batch_->empty() && cache_) cache_->reorder({});
  return ended;
}

}  // namespace tril::search
