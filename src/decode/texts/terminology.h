// Terminology: source phrases that must be translated by given target phrases, anywhere in a text.
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
  /// @throws Error(usage) where a phrase is empty, or one source phrase has two translations
  explicit Terminology(std::vector<Term> terms);

  /// The terms of a text in its order, one that comes twice twice: at each word, from left to right, the longest that
  /// begins there; what it covers belongs to no other. Phrases begin and end where words do; upper and lower case
  /// differ.
  std::vector<Term> find(std::string_view text) const;
  std::size_t size() const { return size_; }

 private:
  std::unordered_map<std::string, std::vector<Term>> by_first_word_;  // of each word the longest first
  std::size_t size_ = 0;
};

/// A file of lines "source phrase<TAB>target phrase"; empty lines are passed over. @throws Error naming file and line
Terminology read_terminology(const std::string& path);

/// Of the terms, those whose target phrase a translation lacks, as the tokenizer writes it: it must be at boundaries of
/// words, as often as it is listed, and once more for each listed phrase that contains it.
std::vector<Term> missing_terms(const std::vector<Term>& terms, std::string_view text, const Tokenizer& tokenizer);

}  // namespace tril::search
