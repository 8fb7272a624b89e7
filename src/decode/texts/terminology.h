// Terminology: source phrases with prescribed translations.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril::search {

struct Term {
  std::string source, target;
};

class Terminology {
 public:
  /// @throws Error(usage) if a phrase is empty, or one source phrase has two translations
  explicit Terminology(std::vector<Term> terms);

  /// The terms in a text, in order; repeated terms are repeated. At each word, from left to right, the longest phrase that
  /// begins there is taken; terms do not overlap. Phrases begin and end at word boundaries and are case-sensitive.
  std::vector<Term> find(std::string_view text) const;
  std::size_t size() const { return size_; }

 private:
  std::unordered_map<std::string, std::vector<Term>> by_first_word_;  // longest source phrases first
  std::size_t size_ = 0;
};

/// Reads lines "source phrase<TAB>target phrase"; skips empty lines. @throws Error naming file and line
Terminology read_terminology(const std::string& path);

/// The terms whose target phrase is missing in a translation. A phrase, as the tokenizer decodes it, must occur at word
/// boundaries as often as it is listed, and once more for each listed phrase that contains it.
std::vector<Term> missing_terms(const std::vector<Term>& terms, std::string_view text, const Tokenizer& tokenizer);

}  // namespace tril::search
