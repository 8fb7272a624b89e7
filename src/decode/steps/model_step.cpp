#include "decode/steps/model_step.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/softcap.h"

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

// Whether a row of so many tokens is turned by other angles than what others have read of its beginning.
bool is_stretched(const model::Model& model, std::size_t tokens) {
  const std::int64_t beyond = model.length_dependence().beyond;
  return beyond > 0 && static_cast<std::int64_t>(tokens) > beyond;
}

}  // namespace

void check_options(const CacheOptions& o) {
  check(o.prompt_chunk >= 1, "prompt chunk", "expected at least 1 token, got {}", o.prompt_chunk);
  check(o.kept.window >= 0 && o.kept.sinks >= 0, "attention window", "a window of {} tokens and {} sinks",
        o.kept.window, o.kept.sinks);
  if (o.kept.sinks > 0 && o.kept.window == 0)
    fail_usage("attention sinks", "have no effect without a window", "pass the window");
  if (!o.use && o.kept.precision != nn::KvCache::Precision::fp32)
    fail_usage("cache precision", "has no effect without a cache", "leave it out");
}

ModelStep::ModelStep(const model::Model& model, const Sources* sources, nn::KvCache* cache, CacheOptions options)
    : model_(&model), sources_(sources), cache_(cache), options_(options) {}

Tensor ModelStep::hidden_states(Context& c, const StepInput& input) {
  return cache_ ? cached(c, input) : recomputed(c, input);
}

StepOutput ModelStep::step(Context& c, const StepInput& input) {
  const Tensor hidden = hidden_states(c, input);
  StepOutput output{.attention = std::exchange(attention_, {})};
  if (input.wanted == Wanted::nothing) return output;
  const model::OutputProjection projection = model_->output();
  if (!lists_.empty()) {
    output.logits = listed_logits(c, input, hidden);
    output.columns = columns_;
  } else if (input.wanted == Wanted::candidates && projection.weight.quantized && projection.softcap <= 0) {
    output.hidden = hidden, output.weight = projection.weight, output.bias = projection.bias;
  } else {
    output.logits = model::logits(c, *model_, hidden);
  }
  return output;
}

std::int32_t ModelStep::reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) {
  if (!prefixes_ || is_stretched(*model_, prompt.size())) return 0;
  std::vector<std::int32_t> slots = prefixes_->find(prompt);
  const std::size_t n = slots.size();
  begun_[sentence] = {std::move(slots), {prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(n)}};
  return static_cast<std::int32_t>(n);
}

void ModelStep::keep_prefix(std::int32_t row, std::span<const std::int32_t> text) {
  if (!prefixes_) return;
  const auto read = static_cast<std::size_t>(cache_->length(row)),
             prompt = static_cast<std::size_t>(prompt_lengths_[static_cast<std::size_t>(row)]);
  if (is_stretched(*model_, std::max(read, prompt))) return;
  prefixes_->keep(row, text.first(std::min(text.size(), read)));
}

// What the rows have read with this step's tokens.
void ModelStep::follow(const StepInput& input) {
  std::vector<std::vector<std::int32_t>> texts(input.counts.size());
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < texts.size(); ++r) {
    if (input.parents[r] >= 0)
      texts[r] = texts_[static_cast<std::size_t>(input.parents[r])];
    else if (const auto begun = begun_.find(input.sentences[r]); begun != begun_.end())
      texts[r] = begun->second.text;
    if (!input.cuts.empty()) texts[r].resize(texts[r].size() - static_cast<std::size_t>(input.cuts[r]));
    texts[r].insert(texts[r].end(), fresh, fresh + input.counts[r]);
    fresh += input.counts[r];
  }
  texts_ = std::move(texts);
}

// Rows that grow beyond the length up to which they were turned in another way.
void ModelStep::read_anew(StepInput& input) {
  const std::int64_t bound = model_->length_dependence().beyond;
  bool any = false;
  ids_.clear(), counts_.clear();
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < input.counts.size(); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    const std::int64_t start = cache_->length(row), end = start + input.counts[r];
    const bool anew = start > 0 && start <= bound && end > bound && prompt_lengths_[r] <= bound;
    if (anew) {
      cache_->truncate(row, 0);
      ids_.insert(ids_.end(), texts_[r].begin(), texts_[r].end());
      prompt_lengths_[r] = static_cast<std::int32_t>(end);
    } else {
      ids_.insert(ids_.end(), fresh, fresh + input.counts[r]);
    }
    counts_.push_back(anew ? static_cast<std::int32_t>(end) : input.counts[r]);
    fresh += input.counts[r];
    any |= anew;
  }
  if (any) input.ids = ids_, input.counts = counts_;
}

Tensor ModelStep::cached(Context& c, StepInput input) {
  const std::size_t old = survivors(input);
  const auto parents = input.parents.first(old);
  if (static_cast<std::int64_t>(old) != cache_->rows() || !is_identity(parents)) cache_->reorder(parents);
  for (std::size_t r = 0; r < old && !input.cuts.empty(); ++r)
    if (input.cuts[r] > 0)
      cache_->truncate(static_cast<std::int64_t>(r), cache_->length(static_cast<std::int64_t>(r)) - input.cuts[r]);
  for (std::size_t r = old; r < input.counts.size(); ++r) cache_->add_row(begun_[input.sentences[r]].slots);
  prompt_lengths_.assign(input.prompt_lengths.begin(), input.prompt_lengths.end());
  for (std::size_t r = prompt_lengths_.size(); r < input.counts.size(); ++r)
    prompt_lengths_.push_back(cache_->length(static_cast<std::int64_t>(r)) + input.counts[r]);
  if (model_->length_dependence().read_anew) {
    follow(input);
    read_anew(input);
  }
  begun_.clear();

  if (input.ids.size() > input.counts.size() && input.ids.size() > static_cast<std::size_t>(options_.prompt_chunk)) {
    const std::vector<std::int32_t> left = read_chunks(c, input);
    std::vector<std::int32_t> ids;
    Rows rows;
    for (std::size_t r = 0, end = 0; r < left.size(); ++r) {
      end += static_cast<std::size_t>(input.counts[r]);
      ids.insert(ids.end(), input.ids.begin() + static_cast<std::ptrdiff_t>(end) - left[r],
                 input.ids.begin() + static_cast<std::ptrdiff_t>(end));
      rows.append(left[r], cache_->length(static_cast<std::int64_t>(r)));
    }
    return last_hidden(c, ids, rows, input);
  }
  Rows rows;
  for (std::size_t r = 0; r < input.counts.size(); ++r)
    rows.append(input.counts[r], cache_->length(static_cast<std::int64_t>(r)));
  return last_hidden(c, input.ids, rows, input);
}

// Reads tokens of the rows, prompt_chunk at a time, until so many are left or only those that are to be answered: how
// many those are.
std::vector<std::int32_t> ModelStep::read_chunks(Context& c, const StepInput& input) {
  const auto chunk = static_cast<std::size_t>(options_.prompt_chunk);
  const nn::KvCache::Options& kept = cache_->options();
  if (kept.window == 0)  // at once, with some room for what is generated
    cache_->reserve(cache_->used_slots() + static_cast<std::int64_t>(input.ids.size() + input.ids.size() / 16 + 64));
  std::vector<std::int32_t> left(input.counts.begin(), input.counts.end());
  std::size_t least = left.size();  // tokens that have to be left
  if (!input.answers.empty()) least = static_cast<std::size_t>(std::reduce(input.answers.begin(), input.answers.end()));
  for (std::size_t total = input.ids.size(); total > chunk && total > least;) {
    Rows rows;
    std::vector<std::int32_t> ids;
    for (std::size_t r = 0, end = 0; r < left.size(); ++r) {
      end += static_cast<std::size_t>(input.counts[r]);
      const std::int32_t wanted = input.answers.empty() ? 1 : input.answers[r];
      const std::size_t n = std::min(static_cast<std::size_t>(left[r] - wanted), chunk - ids.size());
      const auto begin = input.ids.begin() + static_cast<std::ptrdiff_t>(end) - left[r];
      ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
      rows.append(static_cast<std::int32_t>(n), cache_->length(static_cast<std::int64_t>(r)));
      left[r] -= static_cast<std::int32_t>(n);
      total -= n;
    }
    hidden(c, ids, std::move(rows), input);
  }
  return left;
}

Tensor ModelStep::recomputed(Context& c, const StepInput& input) {
  follow(input);
  const nn::LengthDependence dependence = model_->length_dependence();
  Rows rows;
  std::vector<std::int32_t> ids;
  prompt_lengths_.clear();
  for (std::size_t r = 0; r < texts_.size(); ++r) {
    const auto length = static_cast<std::int32_t>(texts_[r].size());
    const bool anew = input.prompt_lengths.empty() || (dependence.read_anew && length > dependence.beyond);
    prompt_lengths_.push_back(anew ? length : input.prompt_lengths[r]);
    rows.append(length);
    ids.insert(ids.end(), texts_[r].begin(), texts_[r].end());
  }
  return last_hidden(c, ids, rows, input);
}

Tensor ModelStep::hidden(Context& c, std::span<const std::int32_t> ids, Rows rows, const StepInput& input) {
  memory_rows_.clear();
  if (sources_)
    for (const std::int32_t sentence : input.sentences) memory_rows_.push_back(sources_->row(sentence));
  if (tap_ && std::exchange(tapped_version_, sources_->version()) != sources_->version()) tap_->keys = {};
  return model_->decode(c, {.ids = ids,
                            .rows = std::move(rows),
                            .memory = sources_ ? &sources_->memory() : nullptr,
                            .memory_rows = memory_rows_,
                            .given = prompt_lengths_,
                            .cache = cache_,
                            .self_mask = ops::Mask::causal(options_.kept.window, options_.kept.sinks),
                            .tap = tap_ ? &*tap_ : nullptr});
}

// Those of the last token of each row, or of as many of the last as are asked for.
Tensor ModelStep::last_hidden(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const StepInput& input) {
  const Tensor h = hidden(c, ids, rows, input);
  if (tap_) take_attention(rows, input.sentences);
  std::vector<std::int32_t> last;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int32_t n = input.answers.empty() ? 1 : input.answers[static_cast<std::size_t>(r)];
    for (std::int32_t i = n; i > 0; --i) last.push_back(rows.end(r) - i);
  }
  if (last.empty() || rows.tokens() == static_cast<std::int64_t>(last.size())) return h;
  const auto [N, D] = h.dims<2>("hidden");
  Tensor answered = c.empty({static_cast<std::int64_t>(last.size()), D});
  c.kernels().gather(h.data<float>(), c.upload(last).data<std::int32_t>(), 1.0f, answered.data<float>(), last.size(),
                     static_cast<std::size_t>(D));
  return answered;
}

// Logits of the tokens that the sentences' lists have.
Tensor ModelStep::listed_logits(Context& c, const StepInput& input, const Tensor& hidden) {
  std::vector<std::int32_t> sentences;  // of what is answered
  for (std::size_t r = 0; r < input.sentences.size(); ++r)
    sentences.insert(sentences.end(), input.answers.empty() ? 1 : static_cast<std::size_t>(input.answers[r]),
                     input.sentences[r]);
  choose_columns(c, sentences);
  const Tensor products = ops::linear(c, hidden, weight_, bias_);
  const float softcap = model_->output().softcap;
  const Tensor logits = softcap > 0 ? ops::softcap(c, products, softcap) : products;
  std::int64_t place = -1;
  for (std::size_t r = 0; r < sentences.size(); ++r) {
    if (r == 0 || sentences[r] != sentences[r - 1]) ++place;
    const auto row = static_cast<std::int64_t>(r);
    c.kernels().axpy(1.0f, masks_.rows(place, place + 1).data<float>(), logits.rows(row, row + 1).data<float>(),
                     columns_.size());
  }
  return logits;
}

// What all sentences of the step together may say. What only others may say is masked, so that a sentence's result does not
// depend on them.
void ModelStep::choose_columns(Context& c, std::span<const std::int32_t> sentences) {
  std::vector<std::int32_t> distinct(sentences.begin(), sentences.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());  // equals are neighbours
  if (distinct == chosen_for_) return;
  chosen_for_ = std::move(distinct);
  columns_.clear();
  for (const std::int32_t s : chosen_for_) {
    const auto& list = lists_[static_cast<std::size_t>(s)];
    columns_.insert(columns_.end(), list.begin(), list.end());
  }
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());

  const auto n = static_cast<std::int64_t>(columns_.size());
  const model::OutputProjection output = model_->output();
  const Tensor ids = c.upload(columns_);
  weight_ = {.value = ops::rows_of(c, output.weight, ids)};
  if (output.bias) bias_ = ops::rows_of(c, {.value = output.bias.reshape({output.bias.count(), 1})}, ids).reshape({n});

  std::vector<float> masks;
  for (const std::int32_t s : chosen_for_) {
    const auto& list = lists_[static_cast<std::size_t>(s)];
    auto next = list.begin();
    for (const std::int32_t id : columns_) {
      const bool has = next != list.end() && *next == id;
      masks.push_back(has ? 0.0f : -std::numeric_limits<float>::infinity());
      if (has) ++next;
    }
  }
  masks_ = c.upload<float>(masks, {static_cast<std::int64_t>(chosen_for_.size()), n});
}

// Of each row the weights of its last token.
void ModelStep::take_attention(const Rows& rows, std::span<const std::int32_t> sentences) {
  const std::vector<float> all = host_copy<float>(tap_->weights);
  tap_->weights = {};
  attention_.weights.clear(), attention_.lengths.clear();
  auto at = all.begin();
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int32_t source = sources_->length(sentences[static_cast<std::size_t>(r)]);
    at += static_cast<std::ptrdiff_t>(rows.length(r)) * source;
    attention_.weights.insert(attention_.weights.end(), at - source, at);
    attention_.lengths.push_back(source);
  }
}

}  // namespace tril::search
