// Values of options that belong to a model of the server by its name: NAME=DIR, NAME=en:de.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tril::cli {

/// "de=models/de" -> {"de", "models/de"}; a directory without a name is named by its last component.
std::pair<std::string, std::string> named(const std::string& text);

/// An adapter of a model.
struct NamedAdapter {
  std::string model, name, directory;
};
/// The values of --adapter: "base:legal=DIR" -> {"base", "legal", "DIR"}; "legal=DIR" belongs to the first of `models`.
/// @throws Error(usage) quoting a value without a name or a directory, or naming an unknown model or a repeated name
std::vector<NamedAdapter> named_adapters(const std::vector<std::string>& values,
                                         const std::vector<std::string>& models);

/// The value of `name` among values NAME=VALUE, or "".
std::string value_of(const std::vector<std::string>& values, const std::string& name);

/// Puts the name of the first of `models` before each value that has no name, or is a path with `=` in it: "DIR" becomes "NAME=DIR".
void give_to_first(std::vector<std::string>& values, const std::vector<std::string>& models);

/// Refuses a name that is given twice: its value would be ambiguous. @throws Error(usage) at `flag`
void check_names(const std::vector<std::string>& values, const std::string& flag);

/// The languages given for a model: source and target, or the list of a language model.
struct LanguagePair {
  std::string model, from, to;
  std::vector<std::string> list = {};
};
/// The values of --languages: "de=en:de" -> {"de", "en", "de"}, "lm=en,de,fr" -> {"lm", "", "", {"en", "de", "fr"}}.
/// @throws Error(usage) quoting a text that is not such a pair, or naming a model that is given twice
std::vector<LanguagePair> language_pairs(const std::vector<std::string>& values);

}  // namespace tril::cli
