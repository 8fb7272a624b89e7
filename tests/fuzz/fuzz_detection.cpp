// libFuzzer: any bytes as a text whose language is detected, among all languages and among a few. The guesses are in order and
// sum up to at most 100, and bytes that are not UTF-8 change nothing.
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "language/detect.h"
#include "language/match.h"
#include "must.h"
#include "unicode/characters.h"

namespace {

tril::LanguageDetector detector_of(std::initializer_list<const char*> codes) {
  std::vector<tril::Language> languages;
  for (const char* code : codes) languages.push_back(tril::language_of(code, "x"));
  return tril::LanguageDetector(std::move(languages));
}

// Made once, since the alphabets of all languages take long to read.
const tril::LanguageDetector& detector_of(std::uint8_t number) {
  static const std::array<tril::LanguageDetector, 5> all{
      detector_of({}), detector_of({"de"}), detector_of({"en", "de", "fr", "ru", "ja"}),
      detector_of({"sr", "sr-Latn", "zh-Hans", "zh-Hant", "no", "nb", "pt-BR", "pt"}), detector_of({"el", "th", "ka"})};
  return all.at(number % all.size());
}

void check_detection(const tril::LanguageDetector& detector, const tril::Detection& found) {
  using tril::fuzz::must;
  std::set<std::size_t> seen;
  double sum = found.other_confidence, before = 100;
  for (const tril::LanguageGuess& guess : found.guesses) {
    must(guess.language < detector.languages().size() && seen.insert(guess.language).second, "each language once");
    must(guess.confidence >= 1 && guess.confidence <= before + 1e-9, "the best guess first");
    before = guess.confidence;
    sum += guess.confidence;
  }
  must(sum <= 100 + 1e-6, "confidences are parts of 100");
  must(found.has_letters || (found.guesses.empty() && !found.other), "a text without letters has no language");
  if (!found.other) return;
  must(found.guesses.empty() || found.other_confidence > found.guesses[0].confidence, "the other is likelier");
  for (const tril::Language& language : detector.languages())
    must(!tril::language_distance(language, *found.other), "the other is none of the given languages");
}

bool same(const tril::Detection& a, const tril::Detection& b) {
  if (a.guesses.size() != b.guesses.size() || a.other != b.other || a.has_letters != b.has_letters) return false;
  for (std::size_t i = 0; i < a.guesses.size(); ++i)
    if (a.guesses[i].language != b.guesses[i].language || a.guesses[i].confidence != b.guesses[i].confidence)
      return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const tril::LanguageDetector& detector = detector_of(data[0]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const tril::Detection found = detector.detect(text);
  check_detection(detector, found);
  const std::string valid = tril::without_invalid_utf8(text.substr(0, 10'000));
  tril::fuzz::must(same(found, detector.detect(valid)), "invalid UTF-8 is left out");
  return 0;
}
