// Terminology: source phrases with prescribed translations, and whether they are in a translation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "terms/term_matcher.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

using terms::Term;

class Terminology {
 public:
  /// Phrases that are compared exactly (terms::Match::exact).
  /// @throws Error(usage) if a phrase is empty, or one source phrase has two translations
  explicit Terminology(std::vector<Term> terms);
  /// Phrases of several matchers. Where they overlap in a text, those of the first one are taken.
  explicit Terminology(std::vector<std::shared_ptr<const terms::TermMatcher>> matchers)
      : matchers_(std::move(matchers)) {}

  /// The terms in a text, in order; repeated terms are repeated (TermMatcher::find()).
  std::vector<Term> find(std::string_view text) const;
  std::size_t size() const;

 private:
  std::vector<std::shared_ptr<const terms::TermMatcher>> matchers_;
};

/// Reads lines "source phrase<TAB>target phrase", compared exactly; skips empty lines. @throws Error naming file and line
std::shared_ptr<const terms::TermMatcher> read_terminology(const std::string& path);

/// The terms whose target phrase is missing in a translation. A phrase, as the tokenizer decodes it, must occur at word
/// boundaries as often as it is listed, and once more for each listed phrase that contains it.
std::vector<Term> missing_terms(const std::vector<Term>& terms, std::string_view text, const Tokenizer& tokenizer);

}  // namespace tril::search
