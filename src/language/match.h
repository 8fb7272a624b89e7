// Finds the language that a request means among those that a model has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/code.h"

namespace tril {

/// How far `have` is from `wanted`; 0: the same; nothing: it is another language. A language without a stated script or region
/// stands for any, its usual ones first; a stated script must be the same, and a stated region is only preferred. "no" is near
/// to nb and nn, which are not near to each other.
std::optional<int> language_distance(const Language& wanted, const Language& have);

/// True if both have the same language and script: nodes of a graph of translations. The region may differ.
bool same_language(const Language& a, const Language& b);

/// The languages of a model, under its own names ("deu_Latn", "de_DE", "de"). Names that are no codes are languages too, found
/// by exactly this name.
class KnownLanguages {
 public:
  KnownLanguages() = default;
  explicit KnownLanguages(std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }
  bool empty() const { return names_.empty(); }
  /// The language of names()[i]; nothing if the name is no code.
  const std::optional<Language>& language(std::size_t i) const { return languages_.at(i); }
  /// The public code of names()[i]: code_of(), or the name itself.
  const std::string& code(std::size_t i) const { return codes_.at(i); }

  /// The place in names() of the language that a code in any form means: the name itself, else the nearest language
  /// (language_distance()), the first of equally near ones. Nothing if the model does not have it.
  std::optional<std::size_t> find(std::string_view wanted) const;
  std::optional<std::size_t> find(const Language& wanted) const;

  /// A hint for a code that find() does not find: near codes, and a list of the languages (20 at most).
  std::string hint(std::string_view wanted) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::optional<Language>> languages_;
  std::vector<std::string> codes_;
};

}  // namespace tril
