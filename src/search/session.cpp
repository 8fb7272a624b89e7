#include "search/session.h"

#include <algorithm>

namespace tril::search {
namespace {

// How many rows go on from the step before (they come first); the rest begin.
std::size_t survivors(const StepInput& input) {
  const auto first_new = std::find(input.parents.begin(), input.parents.end(), -1);
  return static_cast<std::size_t>(first_new - input.parents.begin());
}

bool is_identity(std::span<const std::int32_t> parents) {
  for (std::size_t i = 0; i < parents.size(); ++i)
    if (parents[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

}  // namespace

ModelStep::ModelStep(const model::Model& model, const model::Memory& memory, nn::KvCache* cache)
    : model_(&model), memory_(&memory), cache_(cache) {}

Tensor ModelStep::logits(Context& c, const StepInput& input) {
  return cache_ ? cached(c, input) : recomputed(c, input);
}

Tensor ModelStep::cached(Context& c, const StepInput& input) {
  const std::size_t old = survivors(input);
  const auto parents = input.parents.first(old);
  if (static_cast<std::int64_t>(old) != cache_->rows() || !is_identity(parents)) cache_->reorder(parents);
  cache_->add_rows(static_cast<std::int64_t>(input.ids.size() - old));

  Rows rows;
  for (std::size_t r = 0; r < input.ids.size(); ++r) rows.append(1, cache_->length(static_cast<std::int64_t>(r)));
  const Tensor hidden = model_->decode(
      c,
      {.ids = input.ids, .rows = std::move(rows), .memory = memory_, .memory_rows = input.sentences, .cache = cache_});
  return model::logits(c, *model_, hidden);
}

Tensor ModelStep::recomputed(Context& c, const StepInput& input) {
  std::vector<std::vector<std::int32_t>> histories(input.ids.size());
  Rows rows;
  std::vector<std::int32_t> ids, last;
  for (std::size_t r = 0; r < histories.size(); ++r) {
    if (input.parents[r] >= 0) histories[r] = histories_[static_cast<std::size_t>(input.parents[r])];
    histories[r].push_back(input.ids[r]);
    rows.append(static_cast<std::int32_t>(histories[r].size()));
    ids.insert(ids.end(), histories[r].begin(), histories[r].end());
    last.push_back(static_cast<std::int32_t>(ids.size()) - 1);
  }
  histories_ = std::move(histories);

  const Tensor hidden = model_->decode(
      c, {.ids = ids, .rows = std::move(rows), .memory = memory_, .memory_rows = input.sentences, .cache = nullptr});
  const auto [N, D] = hidden.dims<2>("hidden");
  const Tensor last_hidden = c.empty({static_cast<std::int64_t>(last.size()), D});
  c.kernels().gather(hidden.data<float>(), c.upload(last).data<std::int32_t>(), 1.0f, last_hidden.data<float>(),
                     last.size(), static_cast<std::size_t>(D));
  return model::logits(c, *model_, last_hidden);
}

Session::Session(Context& c, const model::Model& model, bool use_cache)
    : context_(&c), model_(&model), cache_(use_cache ? model.make_cache(c) : nullptr) {
  check(model.has_encoder(), "translation",
        "a model of family {} has no encoder: it continues text, it does not translate", model.family());
}

std::vector<std::vector<Hypothesis>> Session::decode(std::span<const std::vector<std::int32_t>> sources,
                                                     std::span<const Request> requests, const SearchOptions& options,
                                                     std::int64_t max_live) {
  check(sources.size() == requests.size(), "Session", "{} sources for {} requests", sources.size(), requests.size());
  if (sources.empty()) return {};
  const model::Memory memory = encode(*context_, *model_, sources);
  if (cache_) cache_->reorder({});  // of a search that an error ended
  ModelStep step(*model_, memory, cache_.get());
  auto results = search::decode(*context_, step, requests, options, max_live);
  if (cache_) cache_->reorder({});
  return results;
}

model::Memory encode(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources) {
  Rows rows;
  std::vector<std::int32_t> ids;
  for (const auto& source : sources) {
    check(!source.empty(), "encode", "a source without tokens");
    rows.append(static_cast<std::int32_t>(source.size()));
    ids.insert(ids.end(), source.begin(), source.end());
  }
  return model.encode(c, ids, rows);
}

}  // namespace tril::search
