#include "decode/steps/ensemble.h"

#include <cmath>
#include <numeric>

#include "ops/ops.h"

namespace tril::search {

std::vector<double> settled_weights(std::span<const double> weights, std::size_t models) {
  std::vector<double> w(weights.begin(), weights.end());
  if (w.empty()) w.assign(models, 1.0);
  check(w.size() == models, "weights", "{} for {} models", w.size(), models);
  for (double x : w) check(x > 0 && x < 1e30, "weights", "{} is not a positive number", x);
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  for (double& x : w) x /= sum;
  return w;
}

namespace {

// log of the sum of w_i p_i: transposes the log-probabilities to [tokens, models], then takes the log-sum-exp of each row.
Tensor log_of_mean(Context& c, std::span<const Tensor> log_probs, std::span<const double> weights) {
  const std::int64_t M = std::ssize(log_probs), n = log_probs[0].count();
  Tensor all = c.empty({M, n}), beside = c.empty({n, M}), mean = c.empty(log_probs[0].shape());
  std::vector<float> log_weights;
  for (std::int64_t i = 0; i < M; ++i) {
    ops::copy_into(c, log_probs[i].reshape({1, n}), all.rows(i, i + 1));
    log_weights.push_back(static_cast<float>(std::log(weights[i])));
  }
  const kern::Kernels& k = c.kernels();
  k.transpose(all.data<float>(), beside.data<float>(), M, n);
  k.bias_activate(kern::Activation::none, beside.data<float>(), c.upload(log_weights).data<float>(),
                  beside.data<float>(), n, M);
  k.log_sum_exp(beside.data<float>(), mean.data<float>(), n, M);
  return mean;
}

}  // namespace

Tensor mean_log_probs(Context& c, std::span<Tensor> logits, std::span<const double> weights,
                      EnsembleOptions::Mean mean) {
  const auto [N, V] = logits[0].dims<2>("logits");
  const kern::Kernels& k = c.kernels();
  float* const y = logits[0].data<float>();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    check_shape(logits[i], {N, V}, "logits of an ensemble's model");
    float* const x = logits[i].data<float>();
    k.log_softmax(x, x, N, V);
    if (mean == EnsembleOptions::Mean::probabilities) continue;
    const auto w = static_cast<float>(weights[i]);
    i == 0 ? k.scale(w, x, y, N * V) : k.axpy(w, x, y, N * V);
  }
  if (mean == EnsembleOptions::Mean::probabilities) return log_of_mean(c, logits, weights);
  k.log_softmax(y, y, N, V);
  return logits[0];
}

EnsembleStep::EnsembleStep(std::vector<std::unique_ptr<Step>> steps, const EnsembleOptions& options)
    : steps_(std::move(steps)), weights_(settled_weights(options.weights, steps_.size())), mean_(options.mean) {
  for (const auto& step : steps_)
    check(step->vocab_size() == vocab_size(), "ensemble", "the models have vocabularies of {} and {} tokens",
          vocab_size(), step->vocab_size());
}

StepOutput EnsembleStep::step(Context& c, const StepInput& input) {
  StepInput of_each = input;
  check(input.wanted != Wanted::hidden, "ensemble", "the models have no common hidden states");
  if (input.wanted == Wanted::candidates) of_each.wanted = Wanted::logits;
  std::vector<Tensor> logits;
  StepOutput first;
  for (const auto& step : steps_) {
    StepOutput output = step->step(c, of_each);
    logits.push_back(output.logits);
    if (logits.size() == 1) first = std::move(output), first.hidden = {};  // the models have no common states
    of_each.attention = false;                                             // only the first model's is used
  }
  if (input.wanted != Wanted::nothing) first.logits = mean_log_probs(c, logits, weights_, mean_);
  return first;
}

}  // namespace tril::search
