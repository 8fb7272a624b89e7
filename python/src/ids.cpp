#include "ids.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>

#include "arguments.h"
#include "background.h"
#include "cancel.h"
#include "decode/batches/parallel.h"
#include "decode/batches/score.h"
#include "errors.h"
#include "hypotheses.h"

namespace tril::python {
namespace {

using Ids = std::vector<std::int32_t>;

Fields fields_of(DecodingOptions& o) {
  Fields f;
  f.add("n-best", &o.search.n_best, "number of hypotheses").at_least(1).at_most(1000);
  add_translation_fields(f, o);
  add_coverage_field(f, o.search);
  add_choice_fields(f, o);
  return f;
}

// What a search over ids is asked for besides the declared options.
struct IdSearch {
  std::vector<Ids> sources;   ///< for a model with an encoder
  std::vector<Ids> prefixes;  ///< after the start id; one for each request
  std::vector<std::int32_t> start_ids;
  std::optional<Ids> end_ids;  ///< nothing: the model's
  std::vector<Ids> bad_sequences;
  Ids suppressed;
  std::int32_t max_length = 256, min_length = 0;  ///< of generated tokens
  bool prefix_counts = false;                     ///< the tokens of a prefix count towards both lengths
  bool attention = false, token_scores = false;
};

// A token of a running search, for a callback.
struct Step {
  std::size_t request;
  std::int32_t sample, token;
  std::optional<float> log_prob;
  bool ended;
};

search::ParallelOptions parallel(const SharedModel& m, const IdSearch& wanted, DecodingOptions o) {
  m.loaded->place(o);
  search::ParallelOptions p = translator_options(o, m.opened().published, m.model(), m.tokenizer()).decoding;
  search::SearchPlan& s = p.search;
  if (wanted.end_ids) s.eos_ids = *wanted.end_ids;
  s.bad_words.insert(s.bad_words.end(), wanted.bad_sequences.begin(), wanted.bad_sequences.end());
  s.suppress_ids.insert(s.suppress_ids.end(), wanted.suppressed.begin(), wanted.suppressed.end());
  for (std::int64_t id = m.tokenizer().size(Side::target); id < m.model().vocab_size(); ++id)
    s.suppress_ids.push_back(static_cast<std::int32_t>(id));
  s.forced_bos_id = s.forced_eos_id = -1;  // the caller's prefixes and lengths alone count
  s.scores = true;
  s.renormalize = true;  // CTranslate2 excludes tokens and applies penalties before it computes log-probabilities
  if (wanted.token_scores && !s.has_beam()) s.top_log_probs = 0;
  if (wanted.attention || s.coverage_penalty > 0)
    s.attention = attention_heads({.alignment = "soft", .layer = {}}, m.model(), true);
  return p;
}

std::vector<search::Request> requests_of(const SharedModel& m, const IdSearch& wanted) {
  const std::int64_t positions = m.model().max_positions();
  std::vector<search::Request> requests;
  for (std::size_t i = 0; i < wanted.prefixes.size(); ++i) {
    const std::int64_t given = 1 + std::ssize(wanted.prefixes[i]);
    const std::string where = fmt::format("batch entry {}", i);
    check(positions == 0 || given <= positions, where, "has {} tokens, but the model has {} positions", given,
          positions);
    const std::int64_t counted = wanted.prefix_counts ? std::ssize(wanted.prefixes[i]) : 0;
    std::int64_t most = std::max<std::int64_t>(1, wanted.max_length - counted);
    if (positions > 0) most = std::min(most, positions - given + 1);
    requests.push_back(
        {.start_id = wanted.start_ids[i],
         .min_length = static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted.min_length - counted, 0, most)),
         .max_length = static_cast<std::int32_t>(most),
         .prefix = wanted.prefixes[i],
         .number = i,
         .source = wanted.sources.empty() ? Ids{} : wanted.sources[i]});
  }
  return requests;
}

std::shared_ptr<Hypothesis> made(search::Hypothesis found, const Ids& source, const SharedModel& m) {
  auto h = std::make_shared<Hypothesis>();
  h->ids = std::move(found.tokens);
  h->source_ids = source;
  h->log_prob = found.log_prob, h->score = found.score;
  h->stop_reason = search::name_of(found.stop_reason);
  h->attention = std::move(found.attention);
  h->token_scores = std::move(found.token_scores);
  h->tokenizer = m.opened().tokenizer;
  return h;
}

std::vector<std::vector<std::shared_ptr<Hypothesis>>> decode(const SharedModel& m, const IdSearch& wanted,
                                                             const nb::dict& options, const nb::object& on_token,
                                                             const Cancel* cancel) {
  DecodingOptions o;
  Fields fields = fields_of(o);
  set(fields, arguments_of(options));
  std::mutex mutex;
  std::deque<Step> steps;
  std::vector<std::vector<search::Hypothesis>> found;
  Background background;
  const auto pass_on = [&] {
    for (;;) {
      Step step{};
      {
        const std::lock_guard lock(mutex);
        if (steps.empty()) return;
        step = steps.front();
        steps.pop_front();
      }
      if (on_token(step.request, step.sample, step.token,
                   step.log_prob ? nb::object(nb::float_(*step.log_prob)) : nb::none(), step.ended)
              .is(nb::bool_(true)))
        background.stop();
    }
  };
  with_python_words(fields, [&] {
    search::Watch watch;
    if (!on_token.is_none())
      watch.on_token = [&](const search::NewToken& t) {
        const std::lock_guard lock(mutex);
        steps.push_back(
            {t.request, t.sample, t.token, t.score ? std::optional(t.score->log_prob) : std::nullopt, t.ended});
      };
    background.run(
        [&](const std::stop_token& stop) {
          watch.stop = stop;
          search::ParallelDecoder decoder(m.model(), parallel(m, wanted, o));
          found = decoder.decode(wanted.sources, requests_of(m, wanted), watch);
        },
        token_of(cancel), on_token.is_none() ? std::function<void()>() : pass_on);
    return 0;
  });
  if (!on_token.is_none()) pass_on();
  std::vector<std::vector<std::shared_ptr<Hypothesis>>> results;
  for (std::size_t i = 0; i < found.size(); ++i) {
    results.emplace_back();
    for (search::Hypothesis& h : found[i])
      results.back().push_back(made(std::move(h), wanted.sources.empty() ? Ids{} : wanted.sources[i], m));
  }
  return results;
}

// log p of each target id, given the source (or, without an encoder, the first id) and the ids before it.
std::vector<std::vector<float>> score(const SharedModel& m, const std::vector<Ids>& sources,
                                      const std::vector<Ids>& targets, std::int32_t start_id, std::int64_t batch_size) {
  std::vector<std::vector<float>> results;
  Background background;
  background.run([&](const std::stop_token&) {
    search::WorkerPool workers = m.loaded->workers();
    for (search::Score& s :
         search::score_all(workers, m.model(), {sources, targets}, batch_size, {.start_id = start_id}))
      results.push_back(std::move(s.token_log_probs));
  });
  return results;
}

}  // namespace

void bind_ids(nb::module_& m, nb::class_<SharedModel>& model) {
  nb::class_<IdSearch>(m, "IdSearch")
      .def(nb::init<>())
      .def_rw("sources", &IdSearch::sources)
      .def_rw("prefixes", &IdSearch::prefixes)
      .def_rw("start_ids", &IdSearch::start_ids)
      .def_rw("end_ids", &IdSearch::end_ids)
      .def_rw("bad_sequences", &IdSearch::bad_sequences)
      .def_rw("suppressed", &IdSearch::suppressed)
      .def_rw("max_length", &IdSearch::max_length)
      .def_rw("min_length", &IdSearch::min_length)
      .def_rw("prefix_counts", &IdSearch::prefix_counts)
      .def_rw("attention", &IdSearch::attention)
      .def_rw("token_scores", &IdSearch::token_scores);
  model
      .def("decode_ids", &decode, nb::arg("search"), nb::arg("options"), nb::arg("on_token").none(),
           nb::arg("cancel").none())
      .def("score_ids", &score, nb::arg("sources"), nb::arg("targets"), nb::arg("start_id"), nb::arg("batch_size"));
}

}  // namespace tril::python
