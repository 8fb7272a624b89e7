#include "trace/head_scores.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/as_size.h"
#include "base/rng.h"

namespace tril::trace {
namespace {

Input repeated_tokens(const model::Model& m, std::int64_t length, std::uint64_t seed) {
  const SpecialIds special = m.special_ids();
  RandomSequence random(seed, 1);
  Input input;
  check(m.vocab_size() > 4, "vocabulary", "{} tokens are too few to draw from", m.vocab_size());
  while (std::ssize(input.tokens) < length) {
    const auto id = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(m.vocab_size())));
    if (id != special.pad && id != special.bos && id != special.eos && id != special.unk) input.tokens.push_back(id);
  }
  const std::vector<std::int32_t> once = input.tokens;
  input.tokens.insert(input.tokens.end(), once.begin(), once.end());
  input.labels.assign(input.tokens.size(), -1);
  return input;
}

// Mean weight, over the queries of the second half, of the key so many places before.
double mean_weight(const std::vector<float>& weights, std::size_t head, std::int64_t T, std::int64_t before) {
  const std::int64_t first = T / 2;
  double sum = 0;
  for (std::int64_t i = first; i < T; ++i)
    sum += static_cast<double>(weights[(head * as_size(T) + as_size(i)) * as_size(T) + as_size(i - before)]);
  return sum / static_cast<double>(T - first);
}

// The end of the model without the bias of its own, for rows of any length: the share does not depend on it.
std::vector<float> raised(const Tail& tail, const std::vector<float>& rows, std::int64_t width) {
  std::vector<float> longer = rows;
  for (std::size_t r = 0; r < rows.size(); r += as_size(width)) {
    double square = 0;
    for (std::size_t i = r; i < r + as_size(width); ++i)
      square += static_cast<double>(rows[i]) * static_cast<double>(rows[i]);
    const double k = square > 0 ? 1e3 / std::sqrt(square / static_cast<double>(width)) : 0;
    for (std::size_t i = r; i < r + as_size(width); ++i)
      longer[i] = static_cast<float>(static_cast<double>(rows[i]) * k);
  }
  std::vector<float> logits = tail.logits(longer, width, model::Capped::no);
  const std::vector<float> bias = tail.logits(std::vector<float>(as_size(width), 0.0f), width, model::Capped::no);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] -= bias[i % bias.size()];
  return logits;
}

double copying_of(const std::vector<float>& logits, const std::vector<std::int32_t>& tokens) {
  const std::size_t T = tokens.size(), V = logits.size() / T, first = T / 2;
  double sum = 0;
  for (std::size_t t = first; t < T; ++t) {
    const std::span<const float> row = std::span(logits).subspan(t * V, V);
    double mean = 0, all = 0, of_text = 0;
    for (const float x : row) mean += static_cast<double>(x) / static_cast<double>(V);
    for (const float x : row) all += std::max(0.0, static_cast<double>(x) - mean);
    for (const std::int32_t id : std::set<std::int32_t>(tokens.begin(), tokens.end()))
      of_text += std::max(0.0, static_cast<double>(row[as_size(id)]) - mean);
    sum += all > 0 ? of_text / all : 0;
  }
  return sum / static_cast<double>(T - first);
}

}  // namespace

std::vector<HeadScore> head_scores(const model::Model& m, std::int64_t length, std::uint64_t seed, const Input& text) {
  check(length >= 2, "length", "{} tokens are too few to be repeated: at least 2", length);
  Input input = repeated_tokens(m, length, seed);
  input.source = text.source, input.checkpoint = text.checkpoint;
  const Trace trace = values_of(m, input, {"decoder.*.self.weights", "decoder.*.self.out", "decoder.*.output"});
  const Tail tail(m, input);
  std::vector<HeadScore> scores;
  for (std::int64_t layer = 0; trace.find(fmt::format("decoder.{}.output", layer)); ++layer) {
    const std::string part = fmt::format("decoder.{}.self.", layer);
    const Value* const v = trace.find(part + "weights");
    if (!v) continue;  // a recurrent layer, or a feed-forward alone
    const std::vector<float> weights = v->floats(), out = trace.at(part + "out").floats();
    const std::int64_t heads = v->shape.at(0), T = v->shape.at(1), width = trace.at(part + "out").shape.at(1);
    for (std::int64_t h = 0; h < heads; ++h) {
      HeadScore s{.layer = layer, .head = h};
      s.previous = mean_weight(weights, as_size(h), T, 1);
      s.duplicate = mean_weight(weights, as_size(h), T, length);
      s.induction = mean_weight(weights, as_size(h), T, length - 1);
      const Edit edit = parse_edit(fmt::format("{}heads[{}]=zero", part, h));
      std::vector<float> own = out;
      const std::vector<float> without = values_of(m, input, {part + "out"}, {&edit, 1}).at(part + "out").floats();
      for (std::size_t i = 0; i < own.size(); ++i) own[i] -= without[i];
      s.copying = copying_of(raised(tail, own, width), input.tokens);
      scores.push_back(s);
    }
  }
  if (scores.empty()) fail_usage(m.family(), "no layer of its decoder has attention weights");
  return scores;
}

}  // namespace tril::trace
