// The cost of attention by the length of the text, 128 to 65,536 tokens: one layer of 8 heads of 64, one thread.
// Exact attention in tiles, the same with an 8-bit cache, a window of 1,024 with 4 sinks, and linear attention: the
// time to read a text in chunks, the time of one more token after it, the memory that stays and the working memory
// of reading. Times are processor time of the thread. Prints a table on standard output, and draws a plot.
//   bench_long [docs/long.svg] [longest]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/rng.h"
#include "cost/plot.h"
#include "nn/attention.h"

namespace tril::bench {
namespace {

constexpr std::int64_t heads = 8, d_model = 512, chunk = 1024;
constexpr std::int32_t window = 1024, sinks = 4;

struct Cost {
  double read_seconds = 0, token_seconds = 0;
  double state_mib = 0;    // stays for the text
  double working_mib = 0;  // peak of further memory while a chunk is read
};

// Queries, keys and values of one chunk; all chunks use the same ones, which costs as much.
Tensor random_chunk(Context& c) {
  RandomSequence random(1, 1);
  std::vector<float> values(static_cast<std::size_t>(chunk * 3 * d_model));
  for (float& v : values) v = static_cast<float>(random.uniform() - 0.5);
  return c.upload<float>(values, {chunk, 3 * d_model});
}

/// Processor time of this thread, which other load on the machine hardly changes.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double mib(std::size_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

template <class Read>
Cost measure(Context& c, std::int64_t length, const Read& read, const auto& state_bytes) {
  Cost cost;
  c.arena().reset_peak();
  const double start = thread_seconds();
  for (std::int64_t at = 0; at < length; at += chunk) read(std::min(chunk, length - at));
  cost.read_seconds = thread_seconds() - start;
  cost.state_mib = mib(state_bytes());
  cost.working_mib = mib(c.arena().stats().peak_bytes) - cost.state_mib;
  std::vector<double> seconds;
  for (int i = 0; i < 30; ++i) {
    const double begin = thread_seconds();
    read(1);
    seconds.push_back(thread_seconds() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 15, seconds.end());
  cost.token_seconds = seconds[15];
  return cost;
}

Cost through_cache(const nn::KvCache::Options& kept, std::int64_t length) {
  Arena arena;
  Context c(arena);
  const Tensor qkv = random_chunk(c);
  nn::KvCache cache(c, {{d_model, d_model, heads}});
  cache.configure(kept);
  cache.add_rows(1);
  cache.reserve(kept.window > 0 ? window + sinks + chunk : length + 64);
  const ops::AttentionOptions o{.num_heads = heads, .mask = ops::Mask::causal(kept.window, kept.sinks)};
  const auto read = [&](std::int64_t n) {
    const Tensor x = qkv.rows(0, n);
    const std::vector<std::int32_t> counts{static_cast<std::int32_t>(n)};
    cache.extend(counts);
    cache.store(c, 0, x.columns(d_model, 2 * d_model), x.columns(2 * d_model, 3 * d_model));
    const std::vector<const std::int32_t*> slots{cache.slots(0).data()};
    const std::vector<std::int32_t> lengths{static_cast<std::int32_t>(cache.slots(0).size())};
    ops::cached_attention(c, x.columns(0, d_model), cache.layer(0), {slots, lengths, counts}, o);
  };
  return measure(c, length, read, [&] { return static_cast<std::size_t>(cache.bytes()); });
}

Cost linear(std::int64_t length) {
  Arena arena;
  Context c(arena);
  const Tensor qkv = random_chunk(c);
  const std::int64_t d = d_model / heads;
  const Tensor state = c.zeros({1, ops::linear_attention_state(heads, d, d)});
  const std::vector<std::int32_t> slot{0};
  const auto read = [&](std::int64_t n) {
    const auto part = [&](std::int64_t i) { return qkv.rows(0, n).columns(i * d_model, (i + 1) * d_model); };
    ops::linear_attention_step(c, {part(0), part(1), part(2)}, Rows::rectangle(1, n), {{state, slot}, heads});
  };
  return measure(c, length, read, [&] { return state.bytes(); });
}

int run(const std::string& path, std::int64_t longest) {
  struct Kind {
    std::string name;
    nn::KvCache::Options kept;
    bool linear = false;
  };
  const std::vector<Kind> kinds{{"exact", {}},
                                {"exact, int8", {.precision = nn::KvCache::Precision::int8}},
                                {fmt::format("window {}", window), {.window = window, .sinks = sinks}},
                                {"linear", {}, true}};
  Panel reading{"reading the text", "tokens", "seconds", {}}, token{"one more token", "tokens", "milliseconds", {}},
      state{"what stays", "tokens", "MiB", {}}, working{"beside it while reading", "tokens", "MiB", {}};
  std::printf("%-12s %7s %10s %12s %10s %10s\n", "attention", "tokens", "read s", "token ms", "state MiB",
              "beside MiB");
  int colour = 0;
  for (const Kind& k : kinds) {
    std::vector<Curve> curves(4, Curve{k.name, {}, false, colour++});
    for (std::int64_t n = 128; n <= longest; n *= 2) {
      const Cost cost = k.linear ? linear(n) : through_cache(k.kept, n);
      std::printf("%-12s %7lld %10.4f %12.4f %10.2f %10.2f\n", k.name.c_str(), static_cast<long long>(n),
                  cost.read_seconds, 1e3 * cost.token_seconds, cost.state_mib, cost.working_mib);
      std::fflush(stdout);
      const auto x = static_cast<double>(n);
      curves[0].points.emplace_back(x, cost.read_seconds), curves[1].points.emplace_back(x, 1e3 * cost.token_seconds);
      curves[2].points.emplace_back(x, cost.state_mib), curves[3].points.emplace_back(x, cost.working_mib);
    }
    reading.curves.push_back(curves[0]), token.curves.push_back(curves[1]);
    state.curves.push_back(curves[2]), working.curves.push_back(curves[3]);
  }
  write_file_atomic(path,
                    svg(fmt::format("One layer of attention, 8 heads of 64, one thread, kernels {}", kern::best().name),
                        {reading, token, state, working}, 2));
  std::printf("the plot is in %s\n", path.c_str());
  return 0;
}

}  // namespace
}  // namespace tril::bench

int main(int count, char** arguments) {
  try {
    return tril::bench::run(count > 1 ? arguments[1] : "docs/long.svg", count > 2 ? std::stoll(arguments[2]) : 65536);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_long: %s\n", e.what());
    return 1;
  }
}
