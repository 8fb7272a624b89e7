#include "decode/batches/session.h"

#include <exception>
#include <numeric>
#include <utility>

#include "decode/batches/draft_heads.h"
#include "decode/batches/draft_model.h"
#include "decode/batches/prompt_lookup.h"
#include "decode/batches/speculative.h"
#include "decode/steps/ensemble.h"
#include "decode/steps/shortlist.h"

namespace tril::search {

void check_options(const SessionOptions& o, const model::Model& model) {
  check_options(o.cache);
  settled_weights(o.ensemble.weights, 1 + o.ensemble.others.size());
  const auto fits = [&](const model::Model& other, const char* what) {
    if (other.vocab_size() != model.vocab_size() || other.source_vocab_size() != model.source_vocab_size() ||
        other.has_encoder() != model.has_encoder())
      fail_usage(what,
                 fmt::format("a {} model with {} tokens cannot be combined with a {} model with {}", other.family(),
                             other.vocab_size(), model.family(), model.vocab_size()),
                 "use models that share a vocabulary");
  };
  const auto reaches = [&](const model::Model& other, const char* what) {
    const std::int64_t positions = other.max_positions();
    if (positions > 0 && (model.max_positions() == 0 || positions < model.max_positions()))
      fail_usage(
          what,
          fmt::format("has {} positions, but the model has {}", positions,
                      model.max_positions() == 0 ? "an unlimited number" : fmt::format("{}", model.max_positions())),
          "use one with at least as many");
  };
  for (const model::Model* other : o.ensemble.others) fits(*other, "ensemble"), reaches(*other, "ensemble");
  if (o.speculative.draft) fits(*o.speculative.draft, "draft model");
  // A draft without an encoder stops proposing at its last position, but an encoder must read the whole source.
  if (o.speculative.draft && model.has_encoder()) reaches(*o.speculative.draft, "draft model");
  check(o.speculative.lookup >= 0 && o.speculative.tokens >= 1, "speculative decoding",
        "expected n-grams of at least 0 and at least 1 proposed token, got {} and {}", o.speculative.lookup,
        o.speculative.tokens);
  const SpeculativeOptions& s = o.speculative;
  if ((s.draft ? 1 : 0) + (s.heads ? 1 : 0) + (s.lookup > 0 ? 1 : 0) > 1)
    fail_usage("speculative decoding", "draft models, draft heads and prompt lookup each propose tokens",
               "choose one of them");
  if (!s.heads) return;
  const nn::MedusaSizes& sizes = s.heads->sizes();
  check(sizes.d_model == model.d_model() && (sizes.own_vocab == 0 || sizes.own_vocab == model.vocab_size()),
        "draft heads", "for {} values and {} tokens, but the model has {} and {}", sizes.d_model, sizes.own_vocab,
        model.d_model(), model.vocab_size());
  check(s.tokens <= s.heads->count(), "draft heads", "cannot propose {} tokens: there are {} heads", s.tokens,
        s.heads->count());
  if (!o.ensemble.others.empty())
    fail_usage("draft heads", "belong to one model, but several choose each token", "leave one of the two out");
}

Session::Session(Context& c, const model::Model& model, const SessionOptions& options)
    : context_(&c), options_(options) {
  check_options(options, model);
  const DecodingStateOptions kept{.cache = options.cache};
  const bool alone = options.ensemble.others.empty() && !options.speculative.on();
  models_.emplace_back(
      c, model, DecodingStateOptions{.cache = options.cache, .prefix_tokens = alone ? options.prefix_tokens : 0});
  for (const model::Model* other : options.ensemble.others) models_.emplace_back(c, *other, kept);
  // A draft reads its proposals token by token, and all of them may be rejected at once. So it keeps tokens that have left the
  // window.
  if (options.speculative.draft)
    draft_.emplace(c, *options.speculative.draft, DecodingStateOptions{.cache = options.cache, .beyond_window = true});
  if (!options.speculative.on()) return;
  if (options.speculative.measured) length_.emplace(options.speculative.tokens);
  const auto can_undo = [](const DecodingState& s) { return !s.cache() || !s.cache()->keeps_states(); };
  if (!can_undo(models_[0]) || (draft_ && !can_undo(*draft_)))
    fail_usage("speculative decoding", "is not supported with recurrent states, which cannot undo rejected tokens",
               "leave the proposals out");
  const auto is_read_anew = [](const DecodingState& s) { return s.model().length_dependence().read_anew; };
  if (is_read_anew(models_[0]) || (draft_ && is_read_anew(*draft_)))
    fail_usage("speculative decoding", "is not supported with longrope, which reads a text again when it grows long",
               "leave the proposals out");
}

// Drops the sentences of all states, however the search ends. After an error their prefixes are dropped too.
struct Session::Cleared {
  Session& session;
  int errors = std::uncaught_exceptions();
  ~Cleared() {
    const bool failed = std::uncaught_exceptions() > errors;
    const auto drop = [&](DecodingState& state) { failed ? state.clear() : state.drop_sentences(); };
    for (DecodingState& state : session.models_) drop(state);
    if (session.draft_) drop(*session.draft_);
  }
};

std::unique_ptr<Proposer> Session::new_proposer(const SearchPlan& options,
                                                std::span<const std::vector<std::int32_t>> sources) {
  if (draft_)
    return std::make_unique<DraftModel>(options, draft_->new_step(), draft_->model().max_positions(),
                                        options_.speculative.min_prob);
  const model::Model& model = models_[0].model();
  if (options_.speculative.heads) return std::make_unique<DraftHeads>(options, *options_.speculative.heads, model);
  const bool shared = model.source_vocab_size() == model.vocab_size();
  return std::make_unique<Lookup>(shared ? sources : sources.first(0), options_.speculative.lookup);
}

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
  const auto add_to = [&](DecodingState& state) {
    if (watch.stop.stop_requested()) return;  // then no step runs, so the sources need not be encoded
    const bool is_own = &state == &models_[0];
    state.add(numbers, sources, is_own ? adapters : std::span<const std::int32_t>(), lists);
  };
  for (DecodingState& state : models_) {
    add_to(state);
    steps.push_back(state.new_step({.attention = options.attention.value_or(nn::AttentionHeads{})}));
  }
  std::unique_ptr<Step> step;
  if (steps.size() == 1)
    step = std::move(steps[0]);
  else
    step = std::make_unique<EnsembleStep>(std::move(steps), options_.ensemble);

  const RequestList list{requests, options, max_live, watch};
  if (!options_.speculative.on()) return search::decode(*context_, *step, list);
  if (draft_) add_to(*draft_);
  const std::unique_ptr<Proposer> proposer = new_proposer(options, sources);
  return decode_speculatively(
      *context_, *step, {*proposer, options_.speculative.tokens, speculation_, length_ ? &*length_ : nullptr}, list);
}

}  // namespace tril::search
