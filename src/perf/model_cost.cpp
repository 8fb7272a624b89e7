#include "perf/model_cost.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "tensor/profile.h"

namespace tril::train {
namespace {

// Read-only zeros without memory behind them: every page is the system's one page of zeros.
std::shared_ptr<const std::byte> zeros(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("model cost", std::system_category().message(errno), "the system limits addresses: see `ulimit -v`");
  return {static_cast<const std::byte*>(memory),
          [size](const std::byte* begin) { munmap(const_cast<std::byte*>(begin), size); }};
}

void serve_zeros(model::Model& m) {
  constexpr nn::Precision precision = nn::Precision::int8;  // the fewest pages
  const std::size_t bytes = m.parameters().serving_bytes(precision);
  const auto memory = zeros(bytes);
  m.parameters().adopt_serving_image(precision, {memory.get(), bytes}, memory);
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

MultiplyAdds counted(const Profile& profile, double share = 1) {
  MultiplyAdds sum;
  for (const ProfileRow& row : profile.rows()) {
    const double amount = (row.work.flops + row.work.mixed_flops) / 2 * share;
    if (is_one_of(row.op, {"attention", "cached_attention", "memory_attention", "mean_attention"}))
      sum.attention += amount;
    else if (is_one_of(row.op, {"linear_attention", "gated_delta", "state_space", "short_convolution", "ssru"}))
      sum.recurrent += amount;
    else
      sum.products += amount;
  }
  return sum;
}

double bytes_of_memory(const model::Memory& memory) {
  double bytes = 0;
  for (const model::Memory::Layer& layer : memory.layers) {
    for (const Tensor* part : {&layer.keys, &layer.values})
      if (*part) bytes += static_cast<double>(part->count()) * sizeof(float);
    if (const ops::PackedMemory* const packed = layer.packed.get())
      for (const std::int32_t tokens : packed->lengths)
        bytes += static_cast<double>(packed->num_kv_heads * (packed->d_k + packed->d_v) * tokens) * sizeof(float);
  }
  return bytes;
}

// The bytes of a cache after `tokens` tokens of one row.
double bytes_at(nn::KvCache& cache, std::int32_t tokens) {
  cache.reorder({});
  cache.add_rows(1);
  cache.extend(std::array{tokens});
  const double states = static_cast<double>(cache.used_states());
  double bytes = 0;
  for (std::int64_t l = 0; l < cache.num_layers(); ++l) {
    if (cache.keeps_state(l)) bytes += states * static_cast<double>(cache.states(l).size(1)) * sizeof(float);
    for (const Tensor* part : {&cache.keys(l), &cache.values(l)})
      if (*part) bytes += static_cast<double>(cache.used_slots() * part->size(1)) * sizeof(float);
  }
  cache.reorder({});
  return bytes;
}

}  // namespace

ModelCost cost_of(model::Model& m, std::int64_t length) {
  const std::int64_t positions = m.max_positions();
  check(length >= 1 && (positions == 0 || length <= positions), "length", "{} tokens, but the model has {} positions",
        length, positions);
  serve_zeros(m);
  const auto tokens = static_cast<std::int32_t>(length);
  const std::vector<std::int32_t> ids(static_cast<std::size_t>(length), 0), one{0};
  Arena arena;
  Context c(arena);
  ModelCost cost{.length = length};

  model::Memory memory;
  if (m.has_encoder()) {
    Profile profile;
    c.set_profile(&profile);
    memory = m.encode(c, ids, Rows::rectangle(1, length));
    c.set_profile(nullptr);
    cost.source = counted(profile, 1 / static_cast<double>(length));
    cost.memory_bytes = bytes_of_memory(memory) / static_cast<double>(length);
  }
  const std::unique_ptr<nn::KvCache> cache = m.make_cache(c);
  check(cache != nullptr, "model", "a {} model has no KV cache, so no step of one token", m.family());
  // Without a window each token adds the same, so two lengths give the size of a state and of a token.
  const double first = bytes_at(*cache, 1), second = bytes_at(*cache, 2);
  cost.cache_bytes = second - first;
  cost.state_bytes = first - cost.cache_bytes;

  cache->add_rows(1);
  if (length > 1) cache->extend(std::array{tokens - 1});  // their keys and values do not matter for the work
  Rows rows;
  rows.append(1, tokens - 1);
  Profile profile;
  c.set_profile(&profile);
  const Tensor hidden = m.decode(c, {.ids = one,
                                     .rows = rows,
                                     .memory = m.has_encoder() ? &memory : nullptr,
                                     .memory_rows = {},
                                     .cache = cache.get()});
  model::logits(c, m, hidden);
  c.set_profile(nullptr);
  cost.token = counted(profile);
  return cost;
}

}  // namespace tril::train
