// Corpus BLEU [Papineni et al. 2002], equal to the sacrebleu tool's [Post 2018]:
//
//   BLEU = 100 * BP * exp(1/4 * sum_{n=1..4} ln p_n),   p_n = matched n-grams / n-grams of the hypotheses, clipped
//   BP = min(1, exp(1 - r / c)),   c tokens in the hypotheses, r in the references closest to them in length
//
// Exponential smoothing: the k-th order without a match counts as 1 / 2^k of a match.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tril {

enum class BleuTokenizer { v13a, none };

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
};

struct BleuScore {
  static constexpr int max_order = 4;

  double score = 0;                               ///< 0 to 100
  std::array<double, max_order> precisions{};     ///< percent, by order
  std::array<std::int64_t, max_order> matched{};  ///< clipped matches, by order
  std::array<std::int64_t, max_order> total{};    ///< n-grams of the hypotheses, by order
  double brevity_penalty = 1;
  std::int64_t hypothesis_length = 0, reference_length = 0;  ///< tokens
};

/// @param hypotheses  one line each
/// @param references  one or more sets of lines, each as long as the hypotheses
/// @throws Error(usage) without references, or if the numbers of lines differ
BleuScore bleu(const std::vector<std::string>& hypotheses, std::span<const std::vector<std::string>> references,
               const BleuOptions& options = {});

/// The metric's signature, as papers quote it:
/// "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tril-0.1.0".
std::string bleu_signature(const BleuOptions& options, std::size_t references);

/// @throws Error(usage) with both counts unless every set of references has as many lines as there are hypotheses
void check_line_counts(std::size_t hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace tril
