// The possible gain of pages in a KV cache: one layer's step over single slots (as in nn::KvCache) at random places,
// over runs of 16 or 64 slots as in pages, and over one run, the upper limit for any page. `shared`: the four beams
// of a row share all slots but the last 8, and follow each other.
//   bench_kern --benchmark_filter='cache_pages/.*/amx'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kern/attention.h"
#include "kern/kernels.h"

namespace tril::kern {
namespace {

struct Case {
  const char* name;
  std::size_t sentences, beams;
  std::int32_t tokens;
};

const Case cases[] = {{"translation/32x4x24", 32, 4, 24}, {"text/1x1x4096", 1, 1, 4096}, {"text/8x1x1024", 8, 1, 1024}};
constexpr std::size_t heads = 8, d_k = 64;

// The slots of `n` tokens, page after page, pages in random order.
std::vector<std::int32_t> scattered(std::int32_t n, std::int32_t page, RandomSequence& random) {
  const std::int32_t pages = (n + page - 1) / page;
  std::vector<std::int32_t> order(static_cast<std::size_t>(pages)), slots;
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  for (const std::int32_t p : order)
    for (std::int32_t t = 0; t < page; ++t) slots.push_back(p * page + t);
  return slots;
}

void step(benchmark::State& state, const Kernels& kernels, const Case& s, std::int32_t page, bool bytes) {
  constexpr std::int32_t own = 8;
  const std::size_t rows = s.sentences * s.beams, width = heads * d_k;
  const std::int32_t shared = s.beams > 1 ? s.tokens - own : 0, apart = s.tokens - shared;
  const std::int32_t whole = static_cast<std::int32_t>(s.sentences) * shared + static_cast<std::int32_t>(rows) * apart;
  RandomSequence random(1, 9);
  const std::vector<std::int32_t> all = scattered(whole, page == 0 ? whole : page, random);
  std::vector<std::vector<std::int32_t>> lists(rows);
  auto next = all.begin();
  for (std::size_t i = 0; i < s.sentences; ++i) {
    for (std::size_t b = 0; b < s.beams; ++b) lists[i * s.beams + b].assign(next, next + shared);
    next += shared;
    for (std::size_t b = 0; b < s.beams; ++b, next += apart)
      lists[i * s.beams + b].insert(lists[i * s.beams + b].end(), next, next + apart);
  }
  std::vector<const std::int32_t*> slots;
  for (const auto& list : lists) slots.push_back(list.data());
  const std::vector<std::int32_t> lengths(rows, s.tokens);

  const std::size_t capacity = all.size();
  std::vector<float> q(rows * width, 0.1f), out(rows * width), scales(bytes ? capacity * heads : 0, 0.01f);
  std::vector<float> k(bytes ? 0 : capacity * width, 0.5f), v = k;
  std::vector<std::int8_t> k8(bytes ? capacity * width : 0, 3), v8 = k8;
  CachedAttention a;
  a.q = q.data(), a.q_stride = a.k_stride = a.v_stride = width;
  if (bytes)
    a.k8 = k8.data(), a.v8 = v8.data(), a.k_scales = a.v_scales = scales.data(), a.scale_stride = heads;
  else
    a.k = k.data(), a.v = v.data();
  a.slots = slots.data(), a.lengths = lengths.data(), a.num_rows = rows;
  a.heads = a.kv_heads = heads, a.d_k = a.d_v = d_k, a.scale = 0.125f;
  std::vector<float> scratch(kernels.cached_attention_scratch(a) + 16);
  for (auto _ : state) {
    kernels.cached_attention(a, out.data(), width, scratch.data());
    benchmark::DoNotOptimize(out.data());
  }
}

const bool registered = [] {
  for (const Case& s : cases)
    for (const bool bytes : {false, true})
      for (const std::int32_t page : {1, 16, 64, 0})
        for (const Kernels* kernels : tables()) {
          const std::string name = std::string("cache_pages/") + s.name + (bytes ? "/int8/" : "/fp32/") +
                                   (page == 0 ? std::string("one_run") : "runs_of_" + std::to_string(page)) + "/" +
                                   std::string(kernels->name);
          benchmark::RegisterBenchmark(name.c_str(),
                                       [=, &s](benchmark::State& state) { step(state, *kernels, s, page, bytes); });
        }
  return true;
}();

}  // namespace
}  // namespace tril::kern
