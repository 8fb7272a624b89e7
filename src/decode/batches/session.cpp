#include "decode/batches/session.h"

#include <exception>
#include <numeric>
#include <utility>

#include "decode/steps/ensemble.h"
#include "decode/steps/shortlist.h"

namespace tril::search {
namespace {

void check_fits(const SessionOptions& o, const model::Model& model) {
  check_options(o.cache);
  settled_weights(o.ensemble.weights, 1 + o.ensemble.others.size());
  for (const model::Model* other : o.ensemble.others) {
    check_shares_vocabulary(*other, model, "ensemble");
    check_reaches(*other, model, "ensemble");
  }
  if (o.speculative.heads && !o.ensemble.others.empty())
    fail_usage("draft heads", "belong to one model, but several choose each token", "leave one of the two out");
}

// The session's own model, then the ensemble's others.
std::vector<DecodingState> states_of(Context& c, const model::Model& model, const SessionOptions& o) {
  check_fits(o, model);
  const bool alone = o.ensemble.others.empty() && !o.speculative.on();
  std::vector<DecodingState> states;
  states.emplace_back(c, model, DecodingStateOptions{.cache = o.cache, .prefix_tokens = alone ? o.prefix_tokens : 0});
  for (const model::Model* other : o.ensemble.others)
    states.emplace_back(c, *other, DecodingStateOptions{.cache = o.cache});
  return states;
}

}  // namespace

Session::Session(Context& c, const model::Model& model, const SessionOptions& options)
    : context_(&c),
      options_(options),
      models_(states_of(c, model, options)),
      proposals_(c, models_[0], {.speculative = options.speculative, .state = {.cache = options.cache}}) {}

// Drops the sentences of all states, however the search ends. After an error their prefixes are dropped too.
struct Session::Cleared {
  Session& session;
  int errors = std::uncaught_exceptions();
  ~Cleared() {
    const bool failed = std::uncaught_exceptions() > errors;
    const auto drop = [&](DecodingState& state) { failed ? state.clear() : state.drop_sentences(); };
    for (DecodingState& state : session.models_) drop(state);
    session.proposals_.clear();
  }
};

std::vector<std::vector<Hypothesis>> Session::decode(std::span<const std::vector<std::int32_t>> sources,
                                                     std::span<const Request> requests, const SearchPlan& options,
                                                     std::int64_t max_live, const Watch& watch) {
  const model::Model& model = models_[0].model();
  check(sources.size() == (model.has_encoder() ? requests.size() : 0), "Session",
        "{} sources for {} requests of a {} model", sources.size(), requests.size(), model.family());
  if (requests.empty()) return {};
  std::vector<std::unique_ptr<Step>> steps;
  const Cleared cleared{*this};
  std::vector<IdList> lists;
  if (options.shortlist) {
    check(model.has_encoder(), "shortlist", "is only for translation: a {} model has no source", model.family());
    for (std::size_t s = 0; s < sources.size(); ++s) lists.push_back(options.shortlist->of(sources[s], requests[s]));
  }
  std::vector<std::int32_t> numbers(requests.size()), adapters;
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const Request& request : requests) adapters.push_back(request.adapter);
  const bool stopped = watch.stop.stop_requested();  // then no step runs, so the sources need not be encoded
  for (DecodingState& state : models_) {
    const bool is_own = &state == &models_[0];
    if (!stopped) state.add(numbers, sources, is_own ? adapters : std::span<const std::int32_t>(), lists);
    steps.push_back(state.new_step({.attention = options.attention.value_or(nn::AttentionHeads{})}));
  }
  std::unique_ptr<Step> step;
  if (steps.size() == 1)
    step = std::move(steps[0]);
  else
    step = std::make_unique<EnsembleStep>(std::move(steps), options_.ensemble);

  const RequestList list{requests, options, max_live, watch};
  if (!proposals_.on()) return search::decode(*context_, *step, list);
  if (!stopped) proposals_.add(numbers, sources);
  Speculator speculator = proposals_.new_speculator();
  return search::decode(*context_, *step, list, &speculator);
}

}  // namespace tril::search
