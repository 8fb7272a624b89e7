#include "cores/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/even_partition.h"
#include "ops/product.h"

namespace tril::bench {
namespace {

double real(std::int64_t n) {
  return static_cast<double>(n);
}

// The largest of even parts of `units`, as a share of all.
double largest_of(std::int64_t units, std::int64_t parts) {
  std::int64_t most = 0;
  for (std::int64_t part = 0; part < parts; ++part)
    most = std::max(most, part_begin(units, part + 1, parts) - part_begin(units, part, parts));
  return real(most) / real(units);
}

// A product with a weight [out, in]; blocks of rows each take a round.
Part product(const std::string& name, std::int64_t times, std::int64_t out, std::int64_t in, std::int64_t tokens,
             const Shapes& s, const Costs& costs) {
  constexpr std::int64_t block = ops::block_rows;
  const std::int64_t blocks = (tokens + block - 1) / block;
  const double weights = real(out * in);
  const double seconds =
      std::max(weights * s.bytes_of_weight * costs.byte, 2 * weights * real(std::min(tokens, block)) * costs.flop);
  const auto shared = [out, in](int threads) { return ops::is_shared(threads, out, in); };
  return {name, times * blocks, seconds + costs.op,
          [out, shared](int threads) {
            const std::int64_t panels = ops::panels_of(out);
            return shared(threads) ? largest_of(panels, std::min<std::int64_t>(threads, panels)) : 1.0;
          },
          shared};
}

Part rows_op(const std::string& name, std::int64_t times, std::int64_t rows, std::int64_t width, const Costs& costs) {
  return {name, times, real(rows * width) * costs.value + costs.op,
          [rows, width](int threads) { return largest_of(rows, ops::row_parts(threads, rows, width)); },
          [rows, width](int threads) { return ops::row_parts(threads, rows, width) > 1; }};
}

// Attention to a cache whose keys and values have 8 bits.
Part cached_attention(std::int64_t times, const Shapes& s, const Call& call, const Costs& costs) {
  const double width = 2 * real(s.d_model / s.heads);
  const double bytes = real(call.rows * call.keys * s.kv_heads) * width;
  const double flops =
      2 * real(call.rows * call.queries * s.heads) * (real(call.keys) - real(call.queries) / 2) * width;
  const bool small = bytes < 1 << 17 && flops < 1 << 21;
  const std::int64_t rows = call.rows, heads = s.heads, kv_heads = s.kv_heads;
  // Blocks of queries of a row, the later ones with more keys.
  const auto blocks_of = [rows, heads, queries = static_cast<std::int32_t>(call.queries),
                          before = real(call.keys - call.queries)](int threads) {
    std::vector<double> blocks;
    for (std::int32_t begin = 0; begin < queries;) {
      const std::int32_t left = queries - begin,
                         count = ops::divides_queries(threads, rows, heads) ? ops::query_block(left) : left;
      blocks.push_back(real(count) * (before + begin + (count + 1) / 2.0));
      begin += count;
    }
    return blocks;
  };
  const bool has_prompts = call.queries > ops::least_queries;
  const auto units = [=](int threads) {
    const std::int64_t divided = rows * std::ssize(blocks_of(threads));
    return divided * ops::key_head_parts(threads, divided, heads, kv_heads, has_prompts).units_of_row;
  };
  const auto parts = [=](int threads) { return small ? 1 : std::min<std::int64_t>(threads, units(threads)); };
  // As ops::cached_attention: parts end at the unit that is nearest to their share of the work.
  const auto largest = [=](int threads) {
    const std::vector<double> blocks = blocks_of(threads);
    const std::int64_t of_row = units(threads) / rows / std::ssize(blocks), count = parts(threads);
    std::vector<double> until{0};
    for (std::int64_t r = 0; r < rows; ++r)
      for (const double block : blocks) until.push_back(until.back() + block);
    double most = 0, before = 0;
    std::size_t row = 0;
    for (std::int64_t part = 1; part <= count; ++part) {
      const double target = until.back() * real(part) / real(count);
      while (row + 2 < until.size() && until[row + 1] <= target) ++row;
      const double size = until[row + 1] - until[row],
                   within = std::round((target - until[row]) / size * real(of_row)) / real(of_row);
      const double end = part == count ? until.back() : std::max(before, until[row] + within * size);
      most = std::max(most, end - before), before = end;
    }
    return most / until.back();
  };
  return {"attention", times, std::max(bytes * costs.byte, flops * 4 * costs.flop) + costs.op,
          [=](int threads) { return parts(threads) == 1 ? 1.0 : largest(threads); },
          [=](int threads) { return parts(threads) > 1; }};
}

Part serial(const std::string& name, std::int64_t times, double seconds) {
  return {name, times, seconds, [](int) { return 1.0; }, [](int) { return false; }};
}

}  // namespace

std::vector<Part> parts_of(const Shapes& s, const Call& call, const Costs& costs) {
  const std::int64_t tokens = call.rows * call.queries, d = s.d_model, kv = d / s.heads * s.kv_heads, L = s.layers;
  std::vector<Part> parts;
  const auto product_of = [&](const std::string& name, std::int64_t times, std::int64_t out, std::int64_t in) {
    parts.push_back(product(name, times, out, in, tokens, s, costs));
  };
  product_of("product q, k, v", L, d + 2 * kv, d);
  product_of("product of heads", L, d, d);
  if (s.encoder_layers > 0) {
    product_of("product q of cross-attention", L, d, d);
    product_of("product of heads of cross-attention", L, d, d);
    // As memory_attention computes it: on one thread, over a source of as many tokens as the target.
    parts.push_back(serial("cross-attention", L, real(call.rows * call.keys * d) * 2 * costs.byte + costs.op));
  }
  product_of(s.gated ? "product gate, up" : "product up", L, (s.gated ? 2 : 1) * s.d_ff, d);
  product_of("product down", L, d, s.d_ff);
  parts.push_back(cached_attention(L, s, call, costs));
  parts.push_back(rows_op("norm", (s.encoder_layers > 0 ? 3 : 2) * L + 1, tokens, d, costs));
  if (s.gated) parts.push_back(rows_op("gate", L, tokens, s.d_ff, costs));
  if (s.encoder_layers == 0) parts.push_back(rows_op("rotation of queries", L, tokens, d, costs));
  if (s.encoder_layers == 0) parts.push_back(rows_op("rotation of keys", L, tokens, kv, costs));
  parts.push_back(rows_op("storing keys", 2 * L, tokens, kv, costs));
  parts.push_back(product("vocabulary", 1, s.vocabulary, d, call.rows, s, costs));
  parts.push_back(serial("embedding, search", 1, real(tokens * d) * costs.value + 5e-6));
  return parts;
}

Prediction predict(const std::vector<Part>& parts, const Costs& costs, int threads) {
  Prediction p{.threads = threads};
  double alone = 0, serial_seconds = 0, waiting = 0, rounds_seconds = 0, worst_waiting = 0;
  const double round = threads < 2 ? 0 : costs.round + (threads - 2) * costs.member;
  for (const Part& part : parts) {
    const double times = real(part.times), all = times * part.seconds, largest = all * part.largest(threads);
    alone += all;
    p.seconds += largest;
    if (part.takes_round(threads)) {
      p.rounds += part.times;
      rounds_seconds += times * round;
      const double lost = largest - all / threads;
      waiting += lost;
      if (lost > worst_waiting)
        worst_waiting = lost, p.worst = part.name, p.worst_ratio = part.largest(threads) * threads;
    } else if (threads > 1) {
      serial_seconds += all;
    }
  }
  p.seconds += rounds_seconds;
  p.speedup = alone / p.seconds;
  p.serial = serial_seconds / p.seconds, p.waiting = waiting / p.seconds, p.in_rounds = rounds_seconds / p.seconds;
  return p;
}

double packing_ratio(const Shapes& s, int threads, bool whole) {
  const std::int64_t d = s.d_model, up = (s.gated ? 2 : 1) * s.d_ff;
  std::vector<std::pair<std::int64_t, std::int64_t>> matrices{{s.vocabulary, d}};
  const auto layer = [&](int attentions) {
    for (int i = 0; i < attentions; ++i)
      for (int m = 0; m < 4; ++m) matrices.emplace_back(d, d);
    matrices.emplace_back(up, d), matrices.emplace_back(d, s.d_ff);
  };
  for (std::int64_t i = 0; i < s.encoder_layers; ++i) layer(1);
  for (std::int64_t i = 0; i < s.layers; ++i) layer(s.encoder_layers > 0 ? 2 : 1);
  std::int64_t total = 0;
  for (const auto& [out, in] : matrices) total += out * in;
  std::vector<double> load(static_cast<std::size_t>(threads), 0.0);
  EvenPartition turns(total, threads);
  std::int64_t at = 0;
  for (const auto& [out, in] : matrices) {
    const std::int64_t size = out * in, turn = turns.next(size);
    for (int part = 0; part < threads && !whole; ++part)
      for (const std::int64_t columns : {out, in}) {
        const std::int64_t panels = ops::panels_of(columns);
        const auto until = [&](std::int64_t end) { return pieces_before(end, at, size, panels); };
        load[static_cast<std::size_t>(part)] +=
            0.5 * real(size) *
            real(until(part_begin(total, part + 1, threads)) - until(part_begin(total, part, threads))) / real(panels);
      }
    if (whole) load[static_cast<std::size_t>(turn)] += real(size);
    at += size;
  }
  return *std::max_element(load.begin(), load.end()) / (real(total) / threads);
}

}  // namespace tril::bench
