// The letters that a language is written with, by Unicode's CLDR.
#pragma once

#include <memory>
#include <string_view>

#include "language/code.h"

namespace tril {

class Alphabet {
 public:
  explicit Alphabet(const Language& language);
  ~Alphabet();
  Alphabet(Alphabet&&) noexcept;

  /// The penalty of the language for the letters of a text beyond ASCII, in the unit of gram_scores(): 16 for each letter
  /// that the language does not use, 4 for each that it uses only in foreign words. 0 if CLDR does not list its letters.
  double foreign_letters(std::string_view text) const;

 private:
  struct Letters;
  std::unique_ptr<const Letters> letters_;  ///< null: unknown
};

}  // namespace tril
