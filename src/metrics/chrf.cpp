#include "metrics/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/version.h"
#include "metrics/bleu.h"
#include "metrics/tokenize_13a.h"
#include "unicode/letter_case.h"

namespace tril {
namespace {

// Views into the line's text, which its ChrfLine owns.
using ChrfNgrams = std::unordered_map<std::string_view, std::int64_t>;

struct Counts {
  std::int64_t hypothesis = 0, reference = 0, matched = 0;
};

// The n-grams of a line: orders of characters first, then of words.
class ChrfLine {
 public:
  ChrfLine(const std::string& raw, const ChrfOptions& options) {
    const std::string cased = options.lowercase ? lower_case(raw) : raw;
    const std::vector<std::string_view> words = split_words(cased);
    for (const std::string_view word : words) characters_ += word;
    count_characters(options.char_order);
    if (options.word_order > 0) count_words(words, options.word_order);
  }
  ChrfLine(const ChrfLine&) = delete;
  ChrfLine& operator=(const ChrfLine&) = delete;

  const std::vector<ChrfNgrams>& orders() const { return orders_; }

 private:
  void count_characters(int max_order) {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < characters_.size(); i += character_length(characters_, i)) starts.push_back(i);
    starts.push_back(characters_.size());
    for (int order = 1; order <= max_order; ++order) {
      ChrfNgrams& ngrams = orders_.emplace_back();
      const auto n = static_cast<std::size_t>(order);
      for (std::size_t i = 0; i + n < starts.size(); ++i)
        ++ngrams[std::string_view(characters_).substr(starts[i], starts[i + n] - starts[i])];
    }
  }

  // Words with one punctuation mark split off, at the end or else at the beginning, joined so that every n-gram of
  // words is a substring.
  void count_words(const std::vector<std::string_view>& words, int max_order) {
    std::vector<std::size_t> begins, ends;
    const auto put = [&](std::string_view word) {
      if (!words_.empty()) words_ += ' ';
      begins.push_back(words_.size());
      words_ += word;
      ends.push_back(words_.size());
    };
    constexpr std::string_view marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    for (const std::string_view word : words) {
      const bool single = character_length(word, 0) == word.size();
      if (!single && marks.find(word.back()) != std::string_view::npos)
        put(word.substr(0, word.size() - 1)), put(word.substr(word.size() - 1));
      else if (!single && marks.find(word.front()) != std::string_view::npos)
        put(word.substr(0, 1)), put(word.substr(1));
      else
        put(word);
    }
    for (int order = 1; order <= max_order; ++order) {
      ChrfNgrams& ngrams = orders_.emplace_back();
      const auto n = static_cast<std::size_t>(order);
      for (std::size_t i = 0; i + n <= begins.size(); ++i)
        ++ngrams[std::string_view(words_).substr(begins[i], ends[i + n - 1] - begins[i])];
    }
  }

  std::string characters_, words_;
  std::vector<ChrfNgrams> orders_;
};

std::vector<Counts> compare(const ChrfLine& hypothesis, const ChrfLine& reference) {
  std::vector<Counts> counts(hypothesis.orders().size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ChrfNgrams &h = hypothesis.orders()[i], &r = reference.orders()[i];
    Counts& c = counts[i];
    for (const auto& [ngram, n] : h) {
      c.hypothesis += n;
      if (const auto at = r.find(ngram); at != r.end()) c.matched += std::min(n, at->second);
    }
    for (const auto& [ngram, n] : r) c.reference += n;
    if (r.empty()) c.hypothesis = 0;  // an order for which the reference is too short is ignored
  }
  return counts;
}

double f_score(const std::vector<Counts>& counts, int beta) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const Counts& c : counts) {
    if (c.hypothesis == 0 || c.reference == 0) continue;
    precision += static_cast<double>(c.matched) / static_cast<double>(c.hypothesis);
    recall += static_cast<double>(c.matched) / static_cast<double>(c.reference);
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = static_cast<double>(beta) * beta;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

}  // namespace

double chrf(const std::vector<std::string>& hypotheses, std::span<const std::vector<std::string>> references,
            const ChrfOptions& options) {
  check_line_counts(hypotheses.size(), references);
  check(options.char_order > 0 && options.word_order >= 0 && options.beta > 0, "chrF",
        "invalid orders or beta: {} characters, {} words, beta {}", options.char_order, options.word_order,
        options.beta);

  std::vector<Counts> sum(static_cast<std::size_t>(options.char_order + options.word_order));
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const ChrfLine hypothesis(hypotheses[i], options);
    std::vector<Counts> best;
    double best_score = -1;
    for (const std::vector<std::string>& set : references) {
      std::vector<Counts> counts = compare(hypothesis, ChrfLine(set[i], options));
      if (const double score = f_score(counts, options.beta); score > best_score)
        best_score = score, best = std::move(counts);
    }
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k].hypothesis += best[k].hypothesis;
      sum[k].reference += best[k].reference;
      sum[k].matched += best[k].matched;
    }
  }
  return f_score(sum, options.beta);
}

namespace {

// A text's n-grams by number, shared by equal n-grams of all texts, with their counts.
struct NumberedNgrams {
  struct Order {
    std::vector<std::pair<std::int32_t, std::int64_t>> ngrams;  // ascending
    std::int64_t total = 0;
  };
  std::vector<Order> orders;
};

std::vector<NumberedNgrams> number_ngrams(const std::vector<std::string>& texts, const ChrfOptions& options) {
  std::unordered_map<std::string, std::int32_t> numbers;
  std::vector<NumberedNgrams> all;
  for (const std::string& text : texts) {
    const ChrfLine line(text, options);
    NumberedNgrams& n = all.emplace_back();
    for (const ChrfNgrams& ngrams : line.orders()) {
      NumberedNgrams::Order& order = n.orders.emplace_back();
      for (const auto& [ngram, count] : ngrams) {
        const auto number = static_cast<std::int32_t>(numbers.size());
        order.ngrams.emplace_back(numbers.emplace(ngram, number).first->second, count);
        order.total += count;
      }
      std::sort(order.ngrams.begin(), order.ngrams.end());
    }
  }
  return all;
}

std::int64_t matches(const NumberedNgrams::Order& a, const NumberedNgrams::Order& b) {
  std::int64_t sum = 0;
  for (auto i = a.ngrams.begin(), j = b.ngrams.begin(); i != a.ngrams.end() && j != b.ngrams.end();) {
    if (i->first == j->first)
      sum += std::min((i++)->second, (j++)->second);
    else
      ++(i->first < j->first ? i : j);
  }
  return sum;
}

}  // namespace

std::vector<double> chrf_of_each_pair(const std::vector<std::string>& texts, const ChrfOptions& options) {
  const std::vector<NumberedNgrams> lines = number_ngrams(texts, options);
  const std::size_t n = texts.size();
  std::vector<double> scores(n * n);
  std::vector<Counts> forth, back;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      forth.clear(), back.clear();
      for (std::size_t k = 0; k < lines[i].orders.size(); ++k) {
        const NumberedNgrams::Order &a = lines[i].orders[k], &b = lines[j].orders[k];
        const std::int64_t matched = matches(a, b);
        forth.push_back({b.total == 0 ? 0 : a.total, b.total, matched});
        back.push_back({a.total == 0 ? 0 : b.total, a.total, matched});
      }
      scores[i * n + j] = f_score(forth, options.beta);
      scores[j * n + i] = f_score(back, options.beta);
    }
  return scores;
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(static_cast<std::size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, std::size_t references) {
  return fmt::format("{}|nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:tril-{}", chrf_name(options), references,
                     options.lowercase ? "lc" : "mixed", options.char_order, options.word_order, version);
}

}  // namespace tril
