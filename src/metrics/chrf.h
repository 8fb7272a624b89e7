// chrF [Popovic 2015] and chrF++ [Popovic 2017], equal to the sacrebleu tool's: for each order of n-grams of characters
// (1 to 6, white space removed) and of words (none, or 1 to 2), precision P and recall R over the corpus; then, with
// the means of both over the orders that occur,
//
//   chrF = 100 * (1 + beta^2) P R / (beta^2 P + R),   beta = 2
//
// With several references, the one that scores best for the line counts.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tril {

struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;  ///< 2: chrF++
  int beta = 2;        ///< weight of recall relative to precision
  bool lowercase = false;
};

/// @param hypotheses  one line each
/// @param references  one or more sets of lines, each as long as the hypotheses
/// @return 0 to 100
/// @throws Error(usage) without references, if the numbers of lines differ, or for orders that are not positive
double chrf(const std::vector<std::string>& hypotheses, std::span<const std::vector<std::string>> references,
            const ChrfOptions& options = {});

/// chrF of every text against every text: [i * n + j] is text i as the hypothesis and text j as its reference. Each
/// text's n-grams are counted once.
std::vector<double> chrf_of_each_pair(const std::vector<std::string>& texts, const ChrfOptions& options = {});

/// "chrF2", or "chrF2++" with words.
std::string chrf_name(const ChrfOptions& options);

/// "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tril-0.1.0".
std::string chrf_signature(const ChrfOptions& options, std::size_t references);

}  // namespace tril
