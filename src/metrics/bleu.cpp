#include "metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/version.h"
#include "metrics/tokenize_13a.h"
#include "unicode/letter_case.h"

namespace tril {
namespace {

// n-grams of all orders as the text from their first to their last byte: words never contain a space, so "a b" is one
// 2-gram.
struct Ngram {
  std::int64_t count = 0;
  int order = 0;
};
using Ngrams = std::unordered_map<std::string, Ngram>;

struct LineNgrams {
  Ngrams ngrams;
  std::int64_t length = 0;
};

LineNgrams count_ngrams(const std::string& raw, const BleuOptions& options) {
  const std::string cased = options.lowercase ? lower_case(raw) : raw;
  // White space at the end is removed before tokenizing: a final full stop is then not followed by a space.
  const std::vector<std::string_view> outer = split_words(cased);
  const std::string_view kept =
      outer.empty() ? std::string_view{}
                    : std::string_view(cased).substr(
                          0, static_cast<std::size_t>(outer.back().data() - cased.data()) + outer.back().size());
  const std::string tokens = options.tokenizer == BleuTokenizer::v13a ? tokenize_13a(kept) : std::string(kept);

  const std::vector<std::string_view> words = split_words(tokens);
  LineNgrams line{{}, std::ssize(words)};
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string ngram;
    for (int n = 1; n <= BleuScore::max_order && i + static_cast<std::size_t>(n) <= words.size(); ++n) {
      ngram.append(n > 1 ? " " : "").append(words[i + static_cast<std::size_t>(n) - 1]);
      Ngram& entry = line.ngrams[ngram];
      ++entry.count;
      entry.order = n;
    }
  }
  return line;
}

// Adds one line's counts.
void add_line(BleuScore& sum, const LineNgrams& hypothesis, const std::vector<LineNgrams>& references) {
  std::int64_t nearest_length = references.front().length;
  for (const LineNgrams& reference : references) {
    const std::int64_t off = std::abs(reference.length - hypothesis.length),
                       best = std::abs(nearest_length - hypothesis.length);
    if (off < best || (off == best && reference.length < nearest_length)) nearest_length = reference.length;
  }
  sum.hypothesis_length += hypothesis.length;
  sum.reference_length += nearest_length;

  for (const auto& [ngram, entry] : hypothesis.ngrams) {
    std::int64_t most = 0;  // the clip: the maximum over the references
    for (const LineNgrams& reference : references)
      if (const auto at = reference.ngrams.find(ngram); at != reference.ngrams.end())
        most = std::max(most, at->second.count);
    const auto order = static_cast<std::size_t>(entry.order - 1);
    sum.total[order] += entry.count;
    sum.matched[order] += std::min(entry.count, most);
  }
}

void finish(BleuScore& s) {
  if (s.hypothesis_length < s.reference_length)
    s.brevity_penalty =
        s.hypothesis_length > 0
            ? std::exp(1.0 - static_cast<double>(s.reference_length) / static_cast<double>(s.hypothesis_length))
            : 0.0;
  if (std::all_of(s.matched.begin(), s.matched.end(), [](std::int64_t m) { return m == 0; })) return;

  double smoothing = 1, log_sum = 0;
  bool every_order = true;
  for (std::size_t n = 0; n < BleuScore::max_order; ++n) {
    if (s.total[n] == 0) {
      every_order = false;  // no line is that long: ln 0, so the score is 0
      break;
    }
    const auto total = static_cast<double>(s.total[n]);
    s.precisions[n] =
        s.matched[n] > 0 ? 100.0 * static_cast<double>(s.matched[n]) / total : 100.0 / ((smoothing *= 2) * total);
    log_sum += std::log(s.precisions[n]);
  }
  if (every_order) s.score = s.brevity_penalty * std::exp(log_sum / BleuScore::max_order);
}

}  // namespace

void check_line_counts(std::size_t hypotheses, std::span<const std::vector<std::string>> references) {
  check(!references.empty(), "evaluation", "expected at least one set of references, got none");
  for (std::size_t i = 0; i < references.size(); ++i)
    check(references[i].size() == hypotheses, "evaluation", "reference {} has {}, but the hypotheses have {}", i + 1,
          counted(references[i].size(), "line"), hypotheses);
}

BleuScore bleu(const std::vector<std::string>& hypotheses, std::span<const std::vector<std::string>> references,
               const BleuOptions& options) {
  check_line_counts(hypotheses.size(), references);
  BleuScore score;
  std::vector<LineNgrams> of_line(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) of_line[r] = count_ngrams(references[r][i], options);
    add_line(score, count_ngrams(hypotheses[i], options), of_line);
  }
  finish(score);
  return score;
}

std::string bleu_signature(const BleuOptions& options, std::size_t references) {
  return fmt::format("BLEU|nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp|version:tril-{}", references,
                     options.lowercase ? "lc" : "mixed", options.tokenizer == BleuTokenizer::v13a ? "13a" : "none",
                     version);
}

}  // namespace tril
