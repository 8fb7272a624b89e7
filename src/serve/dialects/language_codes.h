// Codes of languages as other translators write them. Any form is read (language/code.h); these are the forms in responses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/detect.h"
#include "serve/api/service.h"

namespace tril::serve {

/// "DE", "EN-GB", "ZH-HANS" for a public code.
std::string deepl_code(std::string_view code);
/// Without script and region, as DeepL names source languages: "EN" for "en-GB". "" for an unknown language.
std::string deepl_source_code(const std::string& code);
/// "de"; "zh-CN" and "zh-TW" for zh-Hans and zh-Hant, "no" for nb.
std::string google_code(const std::string& code);

/// All public codes of languages that the models read or write, sorted.
std::vector<std::string> all_codes(const Service& service);

/// The languages of a text, among those that the models read: public codes with confidences from 0 to 100, the best first. Empty for a
/// text without letters, or of an unknown language.
struct CodeGuess {
  std::string code;
  double confidence = 0;
  bool is_read = true;  ///< by a model
};
std::vector<CodeGuess> guesses_for(Service& service, const std::string& text);

}  // namespace tril::serve
