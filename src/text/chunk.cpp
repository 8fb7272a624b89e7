#include "text/chunk.h"

#include <algorithm>
#include <future>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/rng.h"

namespace tril {

namespace {

constexpr std::size_t block_size = 1 << 20;  // ids

template <class T>
void shuffle(std::vector<T>& values, RandomSequence& random) {  // [Durstenfeld 1964]
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

struct EncodedPair {
  PairText text;
  std::vector<std::int32_t> source, target;  ///< without "</s>"
  std::int64_t line = 0;
};

void encode(std::span<EncodedPair> pairs, const Tokenizer& tokenizer, int threads) {
  const auto share = [&](std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < pairs.size(); i += step) {
      EncodedPair& pair = pairs[i];
      pair.source.clear();
      pair.target.clear();
      if (!pair.text.valid) continue;
      tokenizer.encode(pair.text.source, Side::source, pair.source);
      tokenizer.encode(pair.text.target, Side::target, pair.target);
    }
  };
  constexpr std::size_t worth_a_thread = 64;  // pairs
  const std::size_t parts =
      std::clamp<std::size_t>(pairs.size() / worth_a_thread, 1, static_cast<std::size_t>(threads));
  std::vector<std::future<void>> others;
  for (std::size_t part = 1; part < parts; ++part) others.push_back(std::async(std::launch::async, share, part, parts));
  share(0, parts);
  for (std::future<void>& other : others) other.get();
}

// Cuts a row to `limit` ids, the last of them "</s>"; returns whether it was longer.
bool crop(std::vector<std::int32_t>& row, std::size_t limit, std::int32_t eos) {
  if (row.size() <= limit) return false;
  row.resize(limit);
  row.back() = eos;
  return true;
}

}  // namespace

void Chunk::append(std::span<const std::int32_t> source, std::span<const std::int32_t> target, std::int64_t line) {
  const std::size_t n = source.size() + target.size();
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < n) {
    blocks_.emplace_back();
    blocks_.back().reserve(std::max(block_size, n));
  }
  std::vector<std::int32_t>& block = blocks_.back();
  pairs_.push_back({.block = static_cast<std::uint32_t>(blocks_.size() - 1),
                    .offset = static_cast<std::uint32_t>(block.size()),
                    .source_length = static_cast<std::int32_t>(source.size()),
                    .target_length = static_cast<std::int32_t>(target.size()),
                    .line = line});
  block.insert(block.end(), source.begin(), source.end());
  block.insert(block.end(), target.begin(), target.end());
  bytes_ += static_cast<std::int64_t>(n * sizeof(std::int32_t) + 2 * sizeof(Pair));  // twice: pairs_ grows by doubling
}

Chunk read_chunk(PairReader& reader, const Tokenizer& tokenizer, const CorpusOptions& options, std::int64_t limit,
                 const std::atomic<bool>& stop) {
  const std::int32_t source_eos = tokenizer.special(Side::source).eos, target_eos = tokenizer.special(Side::target).eos;
  // A pair above the budget fits no batch.
  const auto longest = static_cast<std::size_t>(std::min<std::int64_t>(options.max_length, options.max_tokens));

  Chunk chunk;
  chunk.first_line = reader.position();
  CorpusStatistics& count = chunk.statistics;
  count.cropped = options.too_long == TooLong::crop;
  const auto take = [&](EncodedPair& pair) {
    ++count.lines;
    if (!pair.text.valid) {
      ++count.invalid;
      return;
    }
    if (pair.source.empty() || pair.target.empty()) {
      ++count.empty;
      return;
    }
    pair.source.push_back(source_eos);
    pair.target.push_back(target_eos);
    if (pair.source.size() > longest || pair.target.size() > longest) {
      ++count.too_long;
      if (options.too_long == TooLong::skip) return;
      crop(pair.source, longest, source_eos);
      crop(pair.target, longest, target_eos);
    }
    ++count.used;
    count.source_tokens += static_cast<std::int64_t>(pair.source.size());
    count.target_tokens += static_cast<std::int64_t>(pair.target.size());
    chunk.append(pair.source, pair.target, pair.line);
  };

  // Some pairs at a time, so that threads have work to share and the bound is kept closely: both decide the stream, so
  // neither depends on the number of threads.
  std::vector<EncodedPair> pairs(static_cast<std::size_t>(std::clamp<std::int64_t>(limit / 4096, 1, 1024)));
  while (chunk.bytes() < limit && chunk.size() < (std::size_t{1} << 31) && !chunk.at_end && !stop) {
    std::size_t n = 0;
    while (n < pairs.size() && reader.next(pairs[n].text)) {
      pairs[n].line = reader.position() - 1;
      ++n;
    }
    chunk.at_end = n < pairs.size();
    encode(std::span(pairs).first(n), tokenizer, options.threads);
    for (EncodedPair& pair : std::span(pairs).first(n)) take(pair);
  }
  chunk.next_line = reader.position();
  return chunk;
}

BatchPlan plan_batches(const Chunk& chunk, const CorpusOptions& options, std::int64_t epoch, std::int64_t chunk_index) {
  const auto cost = [&](std::uint32_t i) { return std::max(chunk.source_length(i), chunk.target_length(i)); };
  RandomSequence random(
      sub_key(random_key(options.seed, static_cast<std::uint64_t>(epoch)), static_cast<std::uint64_t>(chunk_index)));

  BatchPlan plan;
  plan.order.resize(chunk.size());
  std::iota(plan.order.begin(), plan.order.end(), 0u);
  if (options.shuffle) shuffle(plan.order, random);

  if (options.shuffle && options.pool_batches > 0) {
    const std::int64_t pool_tokens = options.pool_batches * options.max_tokens;
    const auto key = [&](std::uint32_t i) { return std::tuple(chunk.target_length(i), chunk.source_length(i)); };
    for (std::size_t begin = 0; begin < plan.order.size();) {
      std::size_t end = begin;
      for (std::int64_t tokens = 0; end < plan.order.size() && tokens < pool_tokens; ++end)
        tokens += cost(plan.order[end]);
      // Stable, so that equal lengths stay in the order of the shuffle.
      std::stable_sort(plan.order.begin() + static_cast<std::ptrdiff_t>(begin),
                       plan.order.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
      begin = end;
    }
  }

  std::uint32_t begin = 0;
  std::int64_t tokens = 0;
  for (std::uint32_t i = 0; i < plan.order.size(); ++i) {
    const std::int64_t more = cost(plan.order[i]);
    const bool full = tokens + more > options.max_tokens ||
                      (options.max_sentences > 0 && i - begin == static_cast<std::uint64_t>(options.max_sentences));
    if (full) {
      plan.batches.emplace_back(begin, i);
      begin = i;
      tokens = 0;
    }
    tokens += more;
  }
  if (begin < plan.order.size()) plan.batches.emplace_back(begin, static_cast<std::uint32_t>(plan.order.size()));
  if (options.shuffle) shuffle(plan.batches, random);
  return plan;
}

}  // namespace tril
