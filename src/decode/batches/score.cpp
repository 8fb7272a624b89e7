#include "decode/batches/score.h"

#include <optional>

#include "decode/steps/ensemble.h"
#include "decode/steps/sources.h"
#include "search/candidates.h"

namespace tril::search {
namespace {

struct Targets {
  std::vector<std::int32_t> ids, expected;  ///< the decoder's input, and the tokens that should follow
  Rows rows;
  std::vector<std::int32_t> places = {};  ///< without an encoder: the inputs that `expected` follow; else all of them
};

Tensor hidden_of(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                 const Targets& t, nn::AttentionTap* tap = nullptr) {
  if (!model.has_encoder()) {
    const Tensor hidden = model.decode(c, {.ids = t.ids, .rows = t.rows, .memory_rows = {}});
    Tensor scored = c.empty({std::ssize(t.places), hidden.size(1)});
    c.kernels().gather(hidden.data<float>(), c.upload(t.places).data<std::int32_t>(), 1.0f, scored.data<float>(),
                       t.places.size(), hidden.size(1));
    return scored;
  }
  const model::Memory memory = encode(c, model, sources);
  return model.decode(
      c, {.ids = t.ids, .rows = t.rows, .memory = &memory, .memory_rows = {}, .cache = nullptr, .tap = tap});
}

// The decoder sees each target shifted right by one, after the start token.
Targets shifted(std::span<const std::vector<std::int32_t>> targets, std::int32_t start_id) {
  Targets t;
  for (const auto& target : targets) {
    t.rows.append(static_cast<std::int32_t>(target.size()));
    for (std::size_t i = 0; i < target.size(); ++i) t.ids.push_back(i == 0 ? start_id : target[i - 1]);
    t.expected.insert(t.expected.end(), target.begin(), target.end());
  }
  return t;
}

// A model without an encoder sees the source, then the target without its last token.
Targets continued(const SentencePairs& pairs) {
  Targets t;
  for (std::size_t i = 0; i < pairs.targets.size(); ++i) {
    const auto &prompt = pairs.sources[i], &target = pairs.targets[i];
    check(!prompt.empty(), "score", "a prompt without tokens");
    t.ids.insert(t.ids.end(), prompt.begin(), prompt.end());
    for (std::size_t at = 0; at < target.size(); ++at) {
      t.places.push_back(static_cast<std::int32_t>(t.ids.size()) - 1);
      t.expected.push_back(target[at]);
      if (at + 1 < target.size()) t.ids.push_back(target[at]);
    }
    t.rows.append(static_cast<std::int32_t>(prompt.size() + target.size() - (target.empty() ? 0 : 1)));
  }
  return t;
}

// log p of each expected token under the ensemble.
std::vector<float> together(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                            const Targets& t, const EnsembleOptions& ensemble, nn::AttentionTap* tap) {
  std::vector<Tensor> logits{model::logits(c, model, hidden_of(c, model, sources, t, tap))};
  for (const model::Model* other : ensemble.others)
    logits.push_back(model::logits(c, *other, hidden_of(c, *other, sources, t)));
  const std::vector<double> weights = settled_weights(ensemble.weights, logits.size());
  const Tensor mean = mean_log_probs(c, logits, weights, ensemble.mean);
  const Tensor expected = c.upload(t.expected);
  Tensor losses = c.empty({mean.size(0)});
  c.kernels().cross_entropy({.targets = expected.data<std::int32_t>()}, mean.data<float>(), losses.data<float>(),
                            nullptr, mean.size(0), mean.size(1));
  std::vector<float> log_probs = host_copy<float>(losses);
  for (float& p : log_probs) p = -p;
  return log_probs;
}

}  // namespace

std::vector<Score> score(Context& c, const model::Model& model, const SentencePairs& pairs,
                         const ScoreOptions& options) {
  const auto& [sources, targets] = pairs;
  check(sources.size() == targets.size(), "score", "{} sources for {} targets", sources.size(), targets.size());
  std::vector<Score> scores(targets.size());
  if (targets.empty()) return scores;

  const std::int32_t start_id = options.start_id >= 0 ? options.start_id : model.special_ids().decoder_start;
  const Targets t = model.has_encoder() ? shifted(targets, start_id) : continued(pairs);
  if (t.expected.empty()) return scores;

  std::optional<nn::AttentionTap> tap;
  if (options.attention) tap = model::tap_of(model, options.attention);
  nn::AttentionTap* const asked = tap ? &*tap : nullptr;
  std::vector<float> log_probs;
  if (options.ensemble.others.empty()) {
    const model::OutputProjection output = model::output(c, model);
    log_probs = host_copy<float>(ops::target_log_probs(
        c, {hidden_of(c, model, sources, t, asked), output.weight, output.bias}, c.upload(t.expected), output.softcap));
  } else {
    log_probs = together(c, model, sources, t, options.ensemble, asked);
  }

  auto next = log_probs.begin();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto end = next + std::ssize(targets[i]);
    scores[i].token_log_probs.assign(next, end);
    next = end;
    for (float p : scores[i].token_log_probs) scores[i].log_prob += static_cast<double>(p);
    check_number(scores[i].log_prob);
  }
  if (tap) {
    const std::vector<float> weights = host_copy<float>(tap->weights);
    auto at = weights.begin();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto end = at + static_cast<std::ptrdiff_t>(targets[i].size() * sources[i].size());
      scores[i].attention.assign(at, end);
      at = end;
    }
  }
  return scores;
}

std::vector<Score> score_all(WorkerPool& workers, const model::Model& model, const SentencePairs& pairs,
                             std::int64_t batch_size, const ScoreOptions& options) {
  const auto& [sources, targets] = pairs;
  check(sources.size() == targets.size(), "score", "{} sources for {} targets", sources.size(), targets.size());
  check(batch_size >= 1, "score", "{} pairs in a batch, expected at least 1", batch_size);
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < targets.size(); ++i)
    lengths.push_back(targets[i].size() + (model.has_encoder() ? 0 : sources[i].size()));
  const auto jobs = jobs_by_length(lengths, batch_size);

  std::vector<Score> scores(targets.size());
  workers.run(jobs.size(), [&](Context& c, int, std::size_t job) {
    std::vector<std::vector<std::int32_t>> job_sources, job_targets;
    for (std::size_t i : jobs[job]) job_sources.push_back(pairs.sources[i]), job_targets.push_back(pairs.targets[i]);
    std::vector<Score> found = score(c, model, {job_sources, job_targets}, options);
    for (std::size_t i = 0; i < found.size(); ++i) scores[jobs[job][i]] = std::move(found[i]);
  });
  return scores;
}

}  // namespace tril::search
