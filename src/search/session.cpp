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

ModelStep::ModelStep(const model::Model& model, const model::Memory* memory, nn::KvCache* cache)
    : model_(&model), memory_(memory), cache_(cache) {}

Tensor ModelStep::hidden(Context& c, const StepInput& input) {
  return cache_ ? cached(c, input) : recomputed(c, input);
}

Tensor ModelStep::logits(Context& c, const StepInput& input) {
  return model::logits(c, *model_, hidden(c, input));
}

Following ModelStep::following(Context& c, const StepInput& input) {
  const model::OutputProjection out = model_->output();
  if (!out.weight.quantized) return {.logits = logits(c, input)};
  return {.hidden = hidden(c, input), .weight = out.weight, .bias = out.bias};
}

Tensor ModelStep::cached(Context& c, const StepInput& input) {
  const std::size_t old = survivors(input);
  const auto parents = input.parents.first(old);
  if (static_cast<std::int64_t>(old) != cache_->rows() || !is_identity(parents)) cache_->reorder(parents);
  cache_->add_rows(static_cast<std::int64_t>(input.counts.size() - old));

  Rows rows;
  for (std::size_t r = 0; r < input.counts.size(); ++r)
    rows.append(input.counts[r], cache_->length(static_cast<std::int64_t>(r)));
  return last_hidden(c, input.ids, std::move(rows), input);
}

Tensor ModelStep::recomputed(Context& c, const StepInput& input) {
  std::vector<std::vector<std::int32_t>> histories(input.counts.size());
  Rows rows;
  std::vector<std::int32_t> ids;
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < histories.size(); ++r) {
    if (input.parents[r] >= 0) histories[r] = histories_[static_cast<std::size_t>(input.parents[r])];
    histories[r].insert(histories[r].end(), fresh, fresh + input.counts[r]);
    fresh += input.counts[r];
    rows.append(static_cast<std::int32_t>(histories[r].size()));
    ids.insert(ids.end(), histories[r].begin(), histories[r].end());
  }
  histories_ = std::move(histories);
  return last_hidden(c, ids, std::move(rows), input);
}

Tensor ModelStep::last_hidden(Context& c, std::span<const std::int32_t> ids, Rows rows, const StepInput& input) const {
  std::vector<std::int32_t> last;
  for (std::int64_t r = 0; r < rows.count(); ++r) last.push_back(rows.end(r) - 1);
  const bool all = rows.tokens() == rows.count();
  const Tensor states = model_->decode(c, {.ids = ids,
                                           .rows = std::move(rows),
                                           .memory = memory_,
                                           .memory_rows = memory_ ? input.sentences : std::span<const std::int32_t>{},
                                           .cache = cache_});
  if (all) return states;
  const auto [N, D] = states.dims<2>("hidden");
  const Tensor rows_last = c.empty({static_cast<std::int64_t>(last.size()), D});
  c.kernels().gather(states.data<float>(), c.upload(last).data<std::int32_t>(), 1.0f, rows_last.data<float>(),
                     last.size(), static_cast<std::size_t>(D));
  return rows_last;
}

Session::Session(Context& c, const model::Model& model, bool use_cache)
    : context_(&c), model_(&model), cache_(use_cache ? model.make_cache(c) : nullptr) {}

std::vector<std::vector<Hypothesis>> Session::decode(std::span<const std::vector<std::int32_t>> sources,
                                                     std::span<const Request> requests, const SearchOptions& options,
                                                     std::int64_t max_live, const Watch& watch) {
  const bool has_memory = model_->has_encoder();
  check(sources.size() == (has_memory ? requests.size() : 0), "Session", "{} sources for {} requests of a {} model",
        sources.size(), requests.size(), model_->family());
  if (requests.empty()) return {};
  const bool stopped = watch.stop.stop_requested();  // then no step is made, so nothing is attended to
  const model::Memory memory = has_memory && !stopped ? encode(*context_, *model_, sources) : model::Memory{};
  struct Emptied {  // whatever ends the search
    nn::KvCache* cache;
    ~Emptied() {
      if (cache) cache->reorder({});
    }
  } const emptied{cache_.get()};
  ModelStep step(*model_, has_memory ? &memory : nullptr, cache_.get());
  return search::decode(*context_, step, requests, options, max_live, watch);
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
