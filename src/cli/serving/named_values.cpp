#include "cli/serving/named_values.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/printable.h"
#include "decode/models/language_pair.h"
#include "serve/engine/models.h"

namespace tril::cli {

std::pair<std::string, std::string> named(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {serve::model_name(text.substr(0, equals)), text.substr(equals + 1)};
  std::filesystem::path path = std::filesystem::path(text).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return {serve::model_name(path.filename().string()), text};
}

std::string value_of(const std::vector<std::string>& values, const std::string& name) {
  for (const std::string& value : values)
    if (value.find('=') != value.npos && named(value).first == name) return named(value).second;
  return "";
}

void give_to_first(std::vector<std::string>& values, const std::vector<std::string>& models) {
  for (std::string& value : values)
    if (value.find('=') == value.npos || std::filesystem::exists(value))
      value = named(models.at(0)).first + "=" + value;
}

void check_names(const std::vector<std::string>& values, const std::string& flag) {
  std::map<std::string, std::string> known;
  for (const std::string& value : values)
    if (const auto [first, is_new] = known.emplace(named(value).first, value); !is_new)
      fail_usage(flag,
                 fmt::format("\"{}\" and \"{}\" are both called \"{}\"", printable(first->second), printable(value),
                             printable(first->first)),
                 "give each a different name: NAME=VALUE");
}

namespace {

// "de=en:de" -> {"de", "en", "de"}. @throws Error(usage), quoting it, for anything else
LanguagePair language_pair(const std::string& text) {
  const auto [model, pair] = named(text);
  const std::size_t colon = pair.find(':');
  if (text.find('=') != std::string::npos && !model.empty() && colon == pair.npos && pair.find(',') != pair.npos) {
    LanguagePair languages{model, "", "", {}};
    std::string code;
    for (std::istringstream codes(pair + ","); std::getline(codes, code, ',');) languages.list.push_back(code);
    if (std::none_of(languages.list.begin(), languages.list.end(), [](const std::string& c) { return c.empty(); }))
      return languages;
  }
  const std::optional<StatedLanguages> stated = language_pair_in(pair);
  if (text.find('=') == std::string::npos || model.empty() || !stated)
    fail_usage("--languages", fmt::format("expected NAME=FROM:TO, got \"{}\"", printable(text)),
               "for example de=en:de: model de translates from en into de; a language model has a list: lm=en,de,fr");
  return {model, stated->source, stated->target, {}};
}

}  // namespace

std::vector<NamedAdapter> named_adapters(const std::vector<std::string>& values,
                                         const std::vector<std::string>& models) {
  constexpr const char* flag = "--adapter";
  std::vector<NamedAdapter> list;
  for (const std::string& value : values) {
    const auto [whole, directory] = named(value);
    const std::size_t colon = whole.rfind(':');
    const bool has_model = colon != whole.npos;
    NamedAdapter a{has_model ? whole.substr(0, colon) : named(models.at(0)).first,
                   has_model ? whole.substr(colon + 1) : whole, directory};
    if (value.find('=') == value.npos || a.name.empty() || a.directory.empty())
      fail_usage(flag, fmt::format("expected [MODEL:]NAME=DIR, got \"{}\"", printable(value)),
                 "for example legal=adapters/legal; requests then name MODEL:legal");
    const auto is_it = [&](const std::string& model) { return named(model).first == a.model; };
    if (std::none_of(models.begin(), models.end(), is_it))
      fail_usage(flag, fmt::format("there is no model {} in --model", printable(a.model)));
    const auto same = [&](const NamedAdapter& b) { return b.model == a.model && b.name == a.name; };
    if (std::any_of(list.begin(), list.end(), same))
      fail_usage(flag,
                 fmt::format("two adapters of model {} have the name \"{}\"", printable(a.model), printable(a.name)),
                 "give each a different name");
    list.push_back(std::move(a));
  }
  return list;
}

std::vector<LanguagePair> language_pairs(const std::vector<std::string>& values) {
  std::vector<LanguagePair> pairs;
  for (const std::string& text : values) pairs.push_back(language_pair(text));
  check_names(values, "--languages");
  return pairs;
}

}  // namespace tril::cli
