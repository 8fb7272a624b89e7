#include "corpus/chunk.h"

#include <algorithm>
#include <future>
#include <numeric>
#include <tuple>

#include "base/as_size.h"
#include "base/error.h"
#include "base/rng.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril {

namespace {

constexpr std::size_t block_size = 1 << 20;  // ids

template <class T>
void shuffle(std::vector<T>& values, RandomSequence& random) {  // [Durstenfeld 1964]
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

constexpr std::uint64_t sampling_stream = 0x73756277;  // distinct from every other use of the seed

struct EncodedPair {
  PairText text;
  std::vector<std::int32_t> source, target;  ///< without "</s>"
  Alignment alignment;                       ///< of tokens
  std::int64_t line = 0;
  std::int64_t copy = 0;  ///< the number of this repetition within the epoch
};

std::string place_of_alignment(const CorpusOptions& options, const EncodedPair& pair) {
  return fmt::format("{}: pair {}", options.alignments[pair.text.set], pair.text.line);
}

// Adds the frames to both texts of a pair, cropping each side to `longest`, and adjusts the alignment: one that came
// from words is shifted by the frame; one of tokens already counts frame tokens, as scoring writes it.
class Framer {
 public:
  Framer(const Preparation& how, std::size_t longest)
      : options_(how.options),
        source_(sentence_frame(*how.tokenizer, Side::source)),
        target_(sentence_frame(*how.tokenizer, Side::target)),
        longest_(longest) {}

  /// @return whether something was cut off
  bool put(EncodedPair& pair) const {
    settle(pair);
    const bool source_cut = put_into_frame(pair.source, source_, longest_),
               target_cut = put_into_frame(pair.target, target_, longest_);
    if (!source_cut && !target_cut) return false;
    const auto behind_source = static_cast<std::int32_t>(pair.source.size() - source_.suffix.size()),
               behind_target = static_cast<std::int32_t>(pair.target.size() - target_.suffix.size());
    std::erase_if(pair.alignment, [&](const AlignmentPoint& p) {
      return (source_cut && p.source >= behind_source) || (target_cut && p.target >= behind_target);
    });
    return true;
  }

 private:
  void settle(EncodedPair& pair) const {
    if (options_.alignment_units == AlignmentUnits::words) {
      for (AlignmentPoint& p : pair.alignment)
        p.source += static_cast<std::int32_t>(source_.prefix.size()),
            p.target += static_cast<std::int32_t>(target_.prefix.size());
      return;
    }
    const std::size_t sources = source_.prefix.size() + pair.source.size() + source_.suffix.size(),
                      targets = target_.prefix.size() + pair.target.size() + target_.suffix.size();
    for (const AlignmentPoint& p : pair.alignment)
      if (static_cast<std::size_t>(p.source) >= sources || static_cast<std::size_t>(p.target) >= targets)
        fail(place_of_alignment(options_, pair),
             fmt::format("aligns token {} with token {}, but the texts have {} and {} tokens", p.source, p.target,
                         sources, targets));
  }

  const CorpusOptions& options_;
  TextFrame source_, target_;
  std::size_t longest_;
};

// Tokenises one pair.
class PairEncoder {
 public:
  PairEncoder(const Preparation& how, std::int64_t epoch)
      : how_(how), key_(sub_key(random_key(how.options.seed, sampling_stream), static_cast<std::uint64_t>(epoch))) {}

  void encode(EncodedPair& pair) const {
    pair.source.clear();
    pair.target.clear();
    pair.alignment.clear();
    if (!pair.text.valid) return;
    const RandomKey key =
        sub_key(sub_key(key_, static_cast<std::uint64_t>(pair.line)), static_cast<std::uint64_t>(pair.copy));
    cut(pair.text.target, Side::target, how_.target_sampler.get(), sub_key(key, 1), pair.target);
    const bool tagged = !tag_of(how_.options, pair.text).empty();
    cut(tagged_source(how_.options, pair.text), Side::source, how_.source_sampler.get(), sub_key(key, 0), pair.source);
    if (!pair.text.alignment.empty()) align(pair, tagged);
  }

 private:
  void align(EncodedPair& pair, bool tagged) const {
    pair.alignment = pair.text.alignment;
    if (how_.options.alignment_units == AlignmentUnits::words)
      pair.alignment = tokens_of_words(pair.text.alignment, words_of(pair.source, *how_.tokenizer, Side::source),
                                       words_of(pair.target, *how_.tokenizer, Side::target), tagged ? 1 : 0,
                                       place_of_alignment(how_.options, pair));
  }

  void cut(const std::string& text, Side side, const SubwordSampler* sampler, RandomKey key,
           std::vector<std::int32_t>& ids) const {
    if (sampler)
      sampler->encode(text, key, ids);
    else
      how_.tokenizer->encode(text, side, ids);
  }

  const Preparation& how_;
  RandomKey key_;
};

void encode(std::span<EncodedPair> pairs, const PairEncoder& encoder, int threads) {
  const auto share = [&](std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < pairs.size(); i += step) encoder.encode(pairs[i]);
  };
  constexpr std::size_t worth_a_thread = 64;  // pairs
  const std::size_t parts = std::clamp<std::size_t>(pairs.size() / worth_a_thread, 1, as_size(threads));
  std::vector<std::future<void>> others;
  for (std::size_t part = 1; part < parts; ++part) others.push_back(std::async(std::launch::async, share, part, parts));
  share(0, parts);
  for (std::future<void>& other : others) other.get();
}

void check_tags(const CorpusOptions& options, const Tokenizer& tokenizer) {
  for (const std::string& tag : options.tags) {
    if (tag.empty()) continue;
    const auto id = tokenizer.find(tag, Side::source);
    if (!id || tokenizer.encode(tag, Side::source) != std::vector{*id})
      fail_usage("language_tags", fmt::format("the vocabulary has no \"{}\"", tag),
                 "let `tril train` make a vocabulary with these tags, or add them with `tril vocab`");
  }
}

}  // namespace

void check_tokenizer(const CorpusOptions& options, const Tokenizer& tokenizer) {
  check_tags(options, tokenizer);
  if (!options.alignments.empty() && options.alignment_units == AlignmentUnits::words) check_marks_words(tokenizer);
  if (options.source_sampling.on()) tokenizer.sampler(Side::source, options.source_sampling);
  if (options.target_sampling.on()) tokenizer.sampler(Side::target, options.target_sampling);
}

Preparation::Preparation(const CorpusOptions& given, std::shared_ptr<const Tokenizer> with)
    : options(given), tokenizer(std::move(with)) {
  check_tags(options, *tokenizer);
  if (options.source_sampling.on()) source_sampler = tokenizer->sampler(Side::source, options.source_sampling);
  if (options.target_sampling.on()) target_sampler = tokenizer->sampler(Side::target, options.target_sampling);
  if (!options.mix) return;
  sizes = count_pairs(options);
  rates = pair_rates(sizes, options.temperature, options.shares);
}

std::int64_t Preparation::times(const PairText& pair, std::int64_t line, std::int64_t epoch) const {
  return rates.empty() ? 1 : times_in_epoch(rates[pair.set], options.seed, line, epoch);
}

bool Preparation::varies() const {
  return source_sampler || target_sampler || std::any_of(rates.begin(), rates.end(), [](double r) { return r != 1; });
}

void Chunk::append_weight(float weight) {
  weights_.push_back(weight);
  bytes_ += 2 * sizeof(float);
}

void Chunk::append_alignment(std::span<const AlignmentPoint> points) {
  points_.insert(points_.end(), points.begin(), points.end());
  alignment_ends_.push_back(points_.size());
  bytes_ += static_cast<std::int64_t>(2 * (points.size() * sizeof(AlignmentPoint) + sizeof(std::size_t)));
}

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

Chunk read_chunk(PairReader& reader, const Preparation& how, std::int64_t epoch, std::int64_t limit,
                 const std::atomic<bool>& stop) {
  const CorpusOptions& options = how.options;
  // A pair above the budget fits into no batch.
  const Framer framer(how, as_size(std::min<std::int64_t>(options.max_length, options.max_tokens)));

  Chunk chunk;
  chunk.first_line = reader.position();
  CorpusStatistics& count = chunk.statistics;
  count.cropped = options.too_long == TooLong::crop;
  const auto note = [&](std::int64_t& pairs, std::string& first, const EncodedPair& pair) {
    if (++pairs == 1) first = place_of(options, pair.text);
  };
  const auto take = [&](EncodedPair& pair) {
    ++count.lines;
    if (!pair.text.valid) return note(count.invalid, count.first_invalid, pair);
    if (pair.source.empty() || pair.target.empty()) return note(count.empty, count.first_empty, pair);
    if (pair.text.weight == 0) {
      ++count.weightless;
      return;
    }
    if (framer.put(pair)) {
      note(count.too_long, count.first_too_long, pair);
      if (options.too_long == TooLong::skip) return;
    }
    ++count.used;
    count.source_tokens += std::ssize(pair.source);
    count.target_tokens += std::ssize(pair.target);
    chunk.append(pair.source, pair.target, pair.line);
    if (!options.weights.empty()) chunk.append_weight(pair.text.weight);
    if (!options.alignments.empty()) chunk.append_alignment(pair.alignment);
  };

  // Pairs are processed in groups, so that threads share the work and the limit is kept closely. The group size affects
  // the stream, so it does not depend on the number of threads. A repeated pair counts with its copies.
  const double copies = how.rates.empty() ? 1 : std::max(1.0, *std::max_element(how.rates.begin(), how.rates.end()));
  const auto at_once = static_cast<std::size_t>(
      std::max(1.0, static_cast<double>(std::clamp<std::int64_t>(limit / 4096, 1, 1024)) / copies));
  const PairEncoder encoder(how, epoch);
  std::vector<EncodedPair> pairs;
  while (chunk.bytes() < limit && chunk.size() < (std::size_t{1} << 31) && !chunk.at_end && !stop) {
    std::size_t n = 0;
    for (std::size_t lines = 0; lines < at_once; ++lines) {
      if (pairs.size() == n) pairs.emplace_back();
      if (!reader.next(pairs[n].text)) {
        chunk.at_end = true;
        break;
      }
      pairs[n].line = reader.position() - 1;
      const std::int64_t times = how.times(pairs[n].text, pairs[n].line, epoch);
      if (times > 0) pairs[n++].copy = 0;
      for (std::int64_t copy = 1; copy < times; ++copy, ++n) {
        if (pairs.size() == n) pairs.emplace_back();
        pairs[n].text = pairs[n - 1].text;
        pairs[n].line = pairs[n - 1].line;
        pairs[n].copy = copy;
      }
    }
    encode(std::span(pairs).first(n), encoder, options.threads);
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
      // Stable, so that pairs of equal length stay in shuffled order.
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
