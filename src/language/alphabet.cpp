#include "language/alphabet.h"

#include <unicode/uchar.h>
#include <unicode/ulocdata.h>
#include <unicode/uniset.h>

#include <string>

#include "unicode/characters.h"

namespace tril {
namespace {

constexpr double unused = 16, only_in_foreign_words = 4;
// Longer texts say enough by their words.
constexpr std::size_t most_bytes_of_letters = 2000;

}  // namespace

struct Alphabet::Letters {
  icu::UnicodeSet own, foreign;
};

Alphabet::Alphabet(const Language& language) {
  UErrorCode problem = U_ZERO_ERROR;
  const std::string locale = language.language + (language.script.empty() ? "" : "_" + language.script);
  const std::unique_ptr<ULocaleData, decltype(&ulocdata_close)> data(ulocdata_open(locale.c_str(), &problem),
                                                                     &ulocdata_close);
  if (U_FAILURE(problem)) return;
  // Without this, ICU has the letters of its root locale, which are none, for a language that it does not know.
  ulocdata_setNoSubstitute(data.get(), 1);
  auto letters = std::make_unique<Letters>();
  const auto read = [&](icu::UnicodeSet& set, ULocaleDataExemplarSetType type) {
    UErrorCode missing = U_ZERO_ERROR;
    ulocdata_getExemplarSet(data.get(), set.toUSet(), USET_CASE_INSENSITIVE, type, &missing);
    if (U_FAILURE(missing)) set.clear();
  };
  read(letters->own, ULOCDATA_ES_STANDARD);
  read(letters->foreign, ULOCDATA_ES_AUXILIARY);
  if (!letters->own.isEmpty()) letters_ = std::move(letters);
}

Alphabet::~Alphabet() = default;
Alphabet::Alphabet(Alphabet&&) noexcept = default;

double Alphabet::foreign_letters(std::string_view text) const {
  if (!letters_) return 0;
  double against = 0;
  for (std::size_t at = 0; at < text.size() && at < most_bytes_of_letters;) {
    const Character c = character_at(text, at);
    at += c.length;
    const auto code = static_cast<UChar32>(c.code);
    if (c.code < 0x80 || c.code == Character::not_utf8 || !u_isalpha(code) || letters_->own.contains(code)) continue;
    against += letters_->foreign.contains(code) ? only_in_foreign_words : unused;
  }
  return against;
}

}  // namespace tril
