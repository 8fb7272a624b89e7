#include "decode/steps/model_step.h"

#include <algorithm>

#include "nn/adapters.h"

namespace tril::search {
namespace {

bool is_identity(std::span<const std::int32_t> parents) {
  for (std::size_t i = 0; i < parents.size(); ++i)
    if (parents[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

}  // namespace

void check_options(const CacheOptions& o) {
  check(o.prompt_chunk >= 1, "prompt chunk", "expected at least 1 token, got {}", o.prompt_chunk);
  check(o.kept.window >= 0 && o.kept.sinks >= 0, "attention window",
        "expected at least 0 tokens and 0 sinks, got {} and {}", o.kept.window, o.kept.sinks);
  if (o.kept.sinks > 0 && o.kept.window == 0)
    fail_usage("attention sinks", "have no effect without a window", "pass the window");
  if (!o.use && o.kept.precision != nn::KvCache::Precision::fp32)
    fail_usage("cache precision", "has no effect without a cache", "leave it out");
}

ModelStep::ModelStep(const model::Model& model, const Sources* sources, nn::KvCache* cache, CacheOptions options,
                     const SentenceAdapters* adapters)
    : model_(&model), sources_(sources), cache_(cache), options_(options), adapters_(adapters) {}

StepOutput ModelStep::step(Context& c, const StepInput& input) {
  follow(input);
  const Tensor hidden = answered_states(c, input);
  if (input.wanted == Wanted::nothing) return {};
  const std::vector<std::int32_t> adapters = adapters_of_answers(input);
  const nn::AdapterScope scope(c, {.of_rows = adapters, .of_all = c.adapters().of_all});
  if (input.wanted == Wanted::hidden) {
    const model::OutputProjection p = model::output(c, *model_);
    return {.hidden = hidden, .weight = p.weight, .bias = p.bias, .softcap = p.softcap};
  }
  const model::OutputProjection p = model_->output();
  const bool is_changed = p.matrix && nn::is_adapted(c, *p.matrix);
  const bool best_by_product =
      input.wanted == Wanted::candidates && p.weight.quantized && p.softcap <= 0 && !is_changed;
  if (best_by_product) return {.hidden = hidden, .weight = p.weight, .bias = p.bias, .softcap = p.softcap};
  return {.logits = model::logits(c, *model_, hidden), .hidden = hidden};
}

// Makes the rows of the cache those of this step.
void ModelStep::follow(const StepInput& input) {
  const std::int64_t old = continued_rows(input), rows = std::ssize(input.counts);
  if (cache_) {
    const auto parents = input.parents.first(old);
    if (old != cache_->rows() || !is_identity(parents)) cache_->reorder(parents);
    for (std::int64_t r = 0; r < old && !input.cuts.empty(); ++r)
      if (input.cuts[r] > 0) cache_->truncate(r, length(r) - input.cuts[r]);
    cache_->add_rows(rows - old);
  } else {
    check(old == 0, "ModelStep", "{} rows continue earlier rows, but there is no cache", old);
  }
  prompt_lengths_.assign(input.prompt_lengths.begin(), input.prompt_lengths.end());
  for (std::int64_t r = std::ssize(prompt_lengths_); r < rows; ++r)
    prompt_lengths_.push_back(length(r) + input.counts[r]);
}

// The hidden states of all new tokens.
Tensor ModelStep::forward(Context& c, const StepInput& input) {
  Rows rows;
  for (std::size_t r = 0; r < input.counts.size(); ++r) rows.append(input.counts[r], length(r));
  memory_rows_.clear();
  if (sources_)
    for (const std::int32_t sentence : input.sentences) memory_rows_.push_back(sources_->row(sentence));
  const std::vector<std::int32_t> adapters =
      adapters_ ? adapters_->of_tokens(input.sentences, input.counts) : std::vector<std::int32_t>();
  const nn::AdapterScope scope(c, {.of_rows = adapters, .of_all = c.adapters().of_all});
  return model_->decode(c, {.ids = input.ids,
                            .rows = std::move(rows),
                            .memory = sources_ ? &sources_->memory() : nullptr,
                            .memory_rows = memory_rows_,
                            .prompt_lengths = prompt_lengths_,
                            .cache = cache_,
                            .self_mask = ops::Mask::causal(options_.kept.window, options_.kept.sinks),
                            .tap = input.tap});
}

std::vector<std::int32_t> ModelStep::adapters_of_answers(const StepInput& input) const {
  if (!adapters_) return {};
  const std::vector<std::int32_t> one_each(input.counts.size(), 1);
  return adapters_->of_tokens(input.sentences, input.answers.empty() ? one_each : input.answers);
}

// The hidden states [answers, D] of the tokens that need an answer.
Tensor ModelStep::answered_states(Context& c, const StepInput& input) {
  Tensor h = forward(c, input);
  std::vector<std::int32_t> last;
  std::int32_t end = 0;
  for (std::size_t r = 0; r < input.counts.size(); ++r) {
    end += input.counts[r];
    for (std::int32_t i = input.answers.empty() ? 1 : input.answers[r]; i > 0; --i) last.push_back(end - i);
  }
  if (last.empty() || last.size() == input.ids.size()) return h;
  const auto [N, D] = h.dims<2>("hidden");
  Tensor answered = c.empty({std::ssize(last), D});
  c.kernels().gather(h.data<float>(), c.upload(last).data<std::int32_t>(), 1.0f, answered.data<float>(), last.size(),
                     D);
  return answered;
}

}  // namespace tril::search
