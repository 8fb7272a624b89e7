#include "text/lexical_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "base/printable.h"
#include "text/reader.h"

namespace tril {
namespace {

constexpr std::string_view null_word = "NULL";
constexpr std::size_t keys_at_once = std::size_t{1} << 25;

std::uint64_t key_of(std::uint64_t source, std::uint64_t target) {
  return source << 32 | target;
}

// Which target tokens stand beside each source token somewhere; the last row is that of NULL.
class Cooccurrences {
 public:
  Cooccurrences(std::span<const Batch> batches, std::size_t sources) {
    std::vector<std::uint64_t> fresh;
    for (const Batch& b : batches)
      for (std::int64_t i = 0; i < b.sentences(); ++i)
        for (const std::int32_t t : words(b.target_row(i))) {
          for (const std::int32_t s : words(b.source_row(i)))
            fresh.push_back(key_of(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(t)));
          fresh.push_back(key_of(sources, static_cast<std::uint64_t>(t)));
          if (fresh.size() >= keys_at_once) merge(fresh);
        }
    merge(fresh);
    begin_.assign(sources + 2, 0);
    for (const std::uint64_t key : keys_) ++begin_[(key >> 32) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  }

  /// Without the end of the sentence, which every row has.
  static std::span<const std::int32_t> words(std::span<const std::int32_t> row) { return row.first(row.size() - 1); }

  std::size_t size() const { return keys_.size(); }
  std::size_t begin(std::size_t source) const { return begin_[source]; }
  std::size_t end(std::size_t source) const { return begin_[source + 1]; }
  std::int32_t target(std::size_t place) const { return static_cast<std::int32_t>(keys_[place] & 0xffffffffu); }
  /// Where (source, target) stands.
  std::size_t place(std::size_t source, std::int32_t target) const {
    const auto from = keys_.begin() + static_cast<std::ptrdiff_t>(begin_[source]),
               to = keys_.begin() + static_cast<std::ptrdiff_t>(begin_[source + 1]);
    return static_cast<std::size_t>(std::lower_bound(from, to, key_of(source, static_cast<std::uint64_t>(target))) -
                                    keys_.begin());
  }

 private:
  void merge(std::vector<std::uint64_t>& fresh) {
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    std::vector<std::uint64_t> all;
    std::set_union(keys_.begin(), keys_.end(), fresh.begin(), fresh.end(), std::back_inserter(all));
    keys_.swap(all);
    fresh.clear();
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::size_t> begin_;
};

// Each row's values become shares of its sum.
void normalise(std::vector<double>& values, const Cooccurrences& pairs, std::size_t sources) {
  for (std::size_t s = 0; s <= sources; ++s) {
    double sum = 0;
    for (std::size_t i = pairs.begin(s); i < pairs.end(s); ++i) sum += values[i];
    for (std::size_t i = pairs.begin(s); i < pairs.end(s) && sum > 0; ++i) values[i] /= sum;
  }
}

std::vector<double> by_expectation(std::span<const Batch> batches, const Cooccurrences& pairs, std::size_t sources,
                                   int iterations) {
  std::vector<double> t(pairs.size(), 1.0);
  normalise(t, pairs, sources);
  std::vector<std::size_t> places;
  for (int n = 0; n < iterations; ++n) {
    std::vector<double> counts(pairs.size(), 0.0);
    for (const Batch& b : batches)
      for (std::int64_t i = 0; i < b.sentences(); ++i)
        for (const std::int32_t target : Cooccurrences::words(b.target_row(i))) {
          places.assign(1, pairs.place(sources, target));
          double sum = t[places[0]];
          for (const std::int32_t source : Cooccurrences::words(b.source_row(i))) {
            places.push_back(pairs.place(static_cast<std::size_t>(source), target));
            sum += t[places.back()];
          }
          for (const std::size_t place : places) counts[place] += t[place] / sum;
        }
    t.swap(counts);
    normalise(t, pairs, sources);
  }
  return t;
}

std::vector<double> by_counting(std::span<const Batch> batches, const Cooccurrences& pairs, std::size_t sources) {
  std::vector<double> t(pairs.size(), 0.0);
  for (const Batch& b : batches)
    for (std::int64_t i = 0; i < b.sentences(); ++i) {
      const auto source = Cooccurrences::words(b.source_row(i)), target = Cooccurrences::words(b.target_row(i));
      for (const AlignmentPoint& p : b.alignments[static_cast<std::size_t>(i)])
        if (static_cast<std::size_t>(p.source) < source.size() && static_cast<std::size_t>(p.target) < target.size())
          t[pairs.place(static_cast<std::size_t>(source[static_cast<std::size_t>(p.source)]),
                        target[static_cast<std::size_t>(p.target)])] += 1;
    }
  normalise(t, pairs, sources);
  return t;
}

void sort_entries(std::vector<LexicalTable::Entry>& list) {
  std::sort(list.begin(), list.end(), [](const LexicalTable::Entry& a, const LexicalTable::Entry& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.target < b.target;
  });
}

}  // namespace

LexicalTable lexical_table(std::span<const Batch> batches, const Tokenizer& tokenizer, const LexicalOptions& o) {
  const auto sources = static_cast<std::size_t>(tokenizer.size(Side::source)),
             targets = static_cast<std::size_t>(tokenizer.size(Side::target));
  const Cooccurrences pairs(batches, sources);
  const bool aligned = !batches.empty() && !batches[0].alignments.empty();
  const std::vector<double> t =
      aligned ? by_counting(batches, pairs, sources) : by_expectation(batches, pairs, sources, o.iterations);

  LexicalTable table;
  table.of_source.resize(sources);
  for (std::size_t s = 0; s < sources; ++s) {
    for (std::size_t i = pairs.begin(s); i < pairs.end(s); ++i)
      if (t[i] >= o.threshold && t[i] > 0) table.of_source[s].push_back({pairs.target(i), static_cast<float>(t[i])});
    sort_entries(table.of_source[s]);
    if (table.of_source[s].size() > static_cast<std::size_t>(o.best))
      table.of_source[s].resize(static_cast<std::size_t>(o.best));
  }
  table.share.assign(targets, 0.0f);
  std::vector<double> counts(targets, 0.0);
  double total = 0;
  for (const Batch& b : batches)
    for (const std::int32_t id : b.target_ids) counts[static_cast<std::size_t>(id)] += 1, total += 1;
  for (std::size_t id = 0; id < targets && total > 0; ++id) table.share[id] = static_cast<float>(counts[id] / total);
  return table;
}

std::string to_text(const LexicalTable& table, const Tokenizer& tokenizer) {
  std::string text;
  const auto line = [&](std::int32_t target, std::string_view source, float probability) {
    fmt::format_to(std::back_inserter(text), "{} {} {:.6g}\n", tokenizer.piece(target, Side::target), source,
                   probability);
  };
  std::vector<LexicalTable::Entry> shares;
  for (std::size_t id = 0; id < table.share.size(); ++id)
    if (table.share[id] > 0) shares.push_back({static_cast<std::int32_t>(id), table.share[id]});
  sort_entries(shares);
  for (const LexicalTable::Entry& e : shares) line(e.target, null_word, e.probability);
  for (std::size_t s = 0; s < table.of_source.size(); ++s)
    for (const LexicalTable::Entry& e : table.of_source[s])
      line(e.target, tokenizer.piece(static_cast<std::int32_t>(s), Side::source), e.probability);
  return text;
}

LexicalTable read_lexical_table(const std::string& file, const Tokenizer& tokenizer, std::int64_t& unknown) {
  LexicalTable table;
  table.of_source.resize(static_cast<std::size_t>(tokenizer.size(Side::source)));
  table.share.assign(static_cast<std::size_t>(tokenizer.size(Side::target)), 0.0f);
  unknown = 0;
  LineReader reader(file, {.refuse_empty = true});
  std::string line;
  while (reader.next(line) != Line::end) {
    const std::size_t first = line.find_first_of(" \t"), last = line.find_last_of(" \t");
    float probability = -1;
    if (first != std::string::npos && last > first) {
      const char* const end = line.data() + line.size();
      const auto [at, error] = std::from_chars(line.data() + last + 1, end, probability);
      if (error != std::errc() || at != end || !std::isfinite(probability)) probability = -1;
    }
    if (probability < 0)
      fail(fmt::format("{}: line {}", reader.name(), reader.line_number()),
           fmt::format("\"{}\" is not \"target source probability\"", printable(line)),
           "make the file with `tril shortlist`, or take the lexical table that Marian reads");
    const std::string_view source = std::string_view(line).substr(first + 1, last - first - 1);
    const auto target = tokenizer.find(std::string_view(line).substr(0, first), Side::target);
    if (source == null_word) {
      if (target) table.share[static_cast<std::size_t>(*target)] = probability;
      continue;
    }
    const auto id = tokenizer.find(source, Side::source);
    if (!target || !id)
      ++unknown;
    else
      table.of_source[static_cast<std::size_t>(*id)].push_back({*target, probability});
  }
  for (std::vector<LexicalTable::Entry>& list : table.of_source) sort_entries(list);
  return table;
}

}  // namespace tril
