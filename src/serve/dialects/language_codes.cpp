#include "serve/dialects/language_codes.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "serve/api/language_pairs.h"
#include "serve/api/text_sources.h"

namespace tril::serve {

std::string deepl_code(std::string_view code) {
  std::string upper(code);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::string deepl_source_code(const std::string& code) {
  if (code.empty() || code == unknown_language) return "";
  const std::optional<Language> language = find_language(code);
  return deepl_code(language ? language->language : code);
}

std::string google_code(const std::string& code) {
  return code == "zh-Hans" ? "zh-CN" : code == "zh-Hant" ? "zh-TW" : code == "nb" ? "no" : code;
}

std::vector<std::string> all_codes(const Service& service) {
  std::set<std::string> codes;
  for (const auto& [source, targets] : language_pairs(service.models(), service.options().pivots)) {
    if (source != unknown_language) codes.insert(source);
    codes.insert(targets.begin(), targets.end());
  }
  return {codes.begin(), codes.end()};
}

std::vector<CodeGuess> guesses_for(Service& service, const std::string& text) {
  std::vector<Models::Offer> models = service.models().offers();
  std::erase_if(models, [](const Models::Offer& m) { return !m.profile->translates; });
  const auto detector = service.detectors().of(possible_sources(models).codes);
  const Detection found = detector->detect(text);
  std::vector<CodeGuess> guesses;
  if (!found.has_letters) return guesses;
  if (found.other) guesses.push_back({code_of(*found.other), found.other_confidence, false});
  for (const LanguageGuess& guess : found.guesses)
    guesses.push_back({code_of(detector->languages()[guess.language]), guess.confidence});
  return guesses;
}

}  // namespace tril::serve
