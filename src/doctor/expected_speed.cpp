#include "doctor/expected_speed.h"

#include <algorithm>
#include <map>
#include <vector>

#include "perf/model_cost.h"
#include "perf/model_parts.h"
#include "perf/product_rates.h"

namespace tril::doctor {
namespace {

std::int64_t context_that_fits(const model::Model& m, const train::ModelCost& cost, double weights,
                               std::optional<std::int64_t> memory) {
  const std::int64_t positions = m.max_positions();
  const auto bounded = [&](std::int64_t tokens) { return positions > 0 ? std::min(tokens, positions) : tokens; };
  if (memory && weights + cost.state_bytes > static_cast<double>(*memory)) return 0;
  if (!memory || cost.cache_bytes == 0) return positions > 0 ? positions : -1;
  const double for_cache = static_cast<double>(*memory) - weights - cost.state_bytes;
  return bounded(static_cast<std::int64_t>(for_cache / cost.cache_bytes));
}

// The blocks of most of the values; none if the file has no blocks.
kern::BlockFormat most_common_blocks(const model::Model& m) {
  std::map<kern::BlockFormat, std::int64_t> values;
  for (const nn::Parameter& p : m.parameters().all())
    if (p.stored_blocks != kern::BlockFormat::none) values[p.stored_blocks] += p.shape.count();
  const auto most = std::ranges::max_element(values, {}, [](const auto& one) { return one.second; });
  return most == values.end() ? kern::BlockFormat::none : most->first;
}

// The weights alone: what the model's files say, before any step.
std::vector<ExpectedSpeed> weights_of(const model::Model& m, kern::BlockFormat format) {
  using enum nn::Precision;
  std::vector<nn::Precision> precisions{fp32, bf16, int8, int4};
  if (format != kern::BlockFormat::none) precisions.push_back(blocks);
  std::vector<ExpectedSpeed> all;
  for (const nn::Precision precision : precisions)
    all.push_back({.precision = precision,
                   .bytes = static_cast<double>(m.parameters().serving_memory(precision)),
                   .weight_bytes_per_token = train::step_weight_bytes(m, precision)});
  return all;
}

}  // namespace

bool weights_fit(const model::Model& m, nn::Precision precision, std::optional<std::int64_t> memory) {
  return !memory || static_cast<std::int64_t>(m.parameters().serving_memory(precision)) <= *memory;
}

std::vector<ExpectedSpeed> expected_speeds(Context& c, model::Model& m, std::int64_t length,
                                           const MachineRates& machine, std::optional<std::int64_t> memory) {
  const kern::BlockFormat format = most_common_blocks(m);
  std::vector<ExpectedSpeed> speeds = weights_of(m, format);
  const train::ModelCost cost = train::cost_of(m, length);
  for (ExpectedSpeed& s : speeds) {
    s.context = context_that_fits(m, cost, s.bytes, memory);
    if (s.context == 0) continue;
    // As many weights as a step reads, so that those which fit into the caches are read from there.
    const auto bytes = std::min(s.weight_bytes_per_token, double{1 << 28});
    const train::ProductRates rates = train::measure_product_rates(
        c, s.precision, {.width = m.d_model(), .bytes = static_cast<std::int64_t>(bytes), .blocks = format});
    const double cached = cost.cache_bytes * static_cast<double>(cost.length) + cost.state_bytes +
                          cost.memory_bytes * static_cast<double>(m.has_encoder() ? cost.length : 0);
    s.tokens_per_second = 1 / (s.weight_bytes_per_token / rates.weight_bytes + cached / machine.read_bytes);
    // A token of a prompt sees half of the prompt on average.
    const train::MultiplyAdds& read = m.has_encoder() ? cost.source : cost.token;
    const double attention = m.has_encoder() ? read.attention : read.attention / 2;
    s.prompt_tokens_per_second =
        1 / (read.products / rates.multiply_adds + 2 * (attention + read.recurrent) / machine.flops);
  }
  return speeds;
}

}  // namespace tril::doctor
