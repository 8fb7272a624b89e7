#include "align/lexical_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>

#include "align/cooccurrences.h"
#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "corpus/reader.h"

namespace tril {
namespace {

constexpr std::string_view null_word = "NULL";
using Row = Cooccurrences::Row;

// The row without its end of sentence, which translates nothing.
Row words(Row row) {
  return row.first(row.size() - 1);
}

Cooccurrences::EachPair each_pair_of(std::span<const Batch> batches) {
  return [batches](const std::function<void(Row, Row)>& take) {
    for (const Batch& b : batches)
      for (std::int64_t i = 0; i < b.sentences(); ++i) take(words(b.source_row(i)), words(b.target_row(i)));
  };
}

bool is_within(Row row, std::int64_t i) {
  return i >= 0 && i < std::ssize(row);
}

std::vector<double> by_expectation(std::span<const Batch> batches, const Cooccurrences& pairs, int iterations) {
  std::vector<double> t(pairs.size(), 1.0);
  pairs.normalise(t);
  std::vector<std::size_t> places;
  for (int n = 0; n < iterations; ++n) {
    std::vector<double> counts(pairs.size(), 0.0);
    each_pair_of(batches)([&](Row source, Row target) {
      for (const std::int32_t to : target) {
        places.assign(1, pairs.place(pairs.sources(), to));
        double sum = t[places[0]];
        for (const std::int32_t from : source) {
          places.push_back(pairs.place(from, to));
          sum += t[places.back()];
        }
        for (const std::size_t place : places) counts[place] += t[place] / sum;
      }
    });
    t.swap(counts);
    pairs.normalise(t);
  }
  return t;
}

std::vector<double> by_counting(std::span<const Batch> batches, const Cooccurrences& pairs) {
  std::vector<double> t(pairs.size(), 0.0);
  for (const Batch& b : batches)
    for (std::int64_t i = 0; i < b.sentences(); ++i) {
      const Row source = words(b.source_row(i)), target = words(b.target_row(i));
      for (const AlignmentPoint& p : element(b.alignments, i))
        if (is_within(source, p.source) && is_within(target, p.target))
          t[pairs.place(element(source, p.source), element(target, p.target))] += 1;
    }
  pairs.normalise(t);
  return t;
}

void sort_entries(std::vector<LexicalTable::Entry>& list) {
  std::sort(list.begin(), list.end(), [](const LexicalTable::Entry& a, const LexicalTable::Entry& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.target < b.target;
  });
}

}  // namespace

LexicalTable lexical_table(std::span<const Batch> batches, const Tokenizer& tokenizer, const LexicalOptions& o) {
  const std::int64_t sources = tokenizer.size(Side::source), targets = tokenizer.size(Side::target);
  const Cooccurrences pairs(each_pair_of(batches), sources);
  const bool aligned = !batches.empty() && !batches[0].alignments.empty();
  const std::vector<double> t = aligned ? by_counting(batches, pairs) : by_expectation(batches, pairs, o.iterations);

  LexicalTable table(sources, targets);
  for (std::int64_t s = 0; std::vector<LexicalTable::Entry> & list : table.of_source) {
    for (std::size_t i = pairs.begin(s); i < pairs.end(s); ++i)
      if (t[i] >= o.threshold && t[i] > 0) list.push_back({pairs.target(i), static_cast<float>(t[i])});
    sort_entries(list);
    if (std::ssize(list) > o.best) list.resize(static_cast<std::size_t>(o.best));
    ++s;
  }
  std::vector<double> counts(table.share.size(), 0.0);
  double total = 0;
  for (const Batch& b : batches)
    for (const std::int32_t id : b.target_ids) element(counts, id) += 1, total += 1;
  for (std::size_t id = 0; id < counts.size() && total > 0; ++id)
    table.share[id] = static_cast<float>(counts[id] / total);
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
  LexicalTable table(tokenizer.size(Side::source), tokenizer.size(Side::target));
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
           fmt::format("expected \"target source probability\", got \"{}\"", printable(line)),
           "make the file with `tril shortlist`, or use a lexical table as Marian reads it");
    const std::string_view source = std::string_view(line).substr(first + 1, last - first - 1);
    const auto target = tokenizer.find(std::string_view(line).substr(0, first), Side::target);
    if (source == null_word) {
      if (target) element(table.share, *target) = probability;
      continue;
    }
    const auto id = tokenizer.find(source, Side::source);
    if (!target || !id)
      ++unknown;
    else
      element(table.of_source, *id).push_back({*target, probability});
  }
  for (std::vector<LexicalTable::Entry>& list : table.of_source) sort_entries(list);
  return table;
}

}  // namespace tril
