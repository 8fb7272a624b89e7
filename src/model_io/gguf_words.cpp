#include "model_io/gguf_words.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model_io/gguf_config.h"
#include "model_io/gguf_keys.h"
#include "model_io/gguf_tensors.h"

namespace tril::model {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;  // Hugging Face's, the file's

Names names_of(const GgufFile& file, const nlohmann::json& config) {
  const auto family = config.at("model_type").get<std::string>();
  const std::string architecture(file.get<std::string_view>("general.architecture").value_or(""));
  Names names{{"the weights belong to another config.json", "the tensors are not those that its metadata describes"},
              {"config.json", "its metadata"}};
  for (const GgufKey& key : gguf_keys(family)) names.emplace_back(key.hf, architecture + "." + key.gguf);
  for (const GgufRule& rule : gguf_rules(family))
    for (std::int64_t layer = 0; layer < (rule.in_layers() ? layers_of(config) : 1); ++layer)
      names.emplace_back(rule.hf_name(layer), rule.gguf_name(layer));
  // A name that is the beginning of another's comes after it.
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return names;
}

// Names that stand alone, and are no part of a longer one.
std::string reworded(std::string_view text, const Names& names) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || (!in_name(text[at - 1]) && text[at - 1] != '.');
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) {
      const std::size_t end = at + name.first.size();
      return begins && text.substr(at).starts_with(name.first) && (end == text.size() || !in_name(text[end]));
    });
    if (found == names.end()) {
      out += text[at++];
      continue;
    }
    out += found->second;
    at += found->first.size();
  }
  return out;
}

}  // namespace

Error in_words_of(const GgufFile& file, const nlohmann::json& config, const Error& error) {
  const Names names = names_of(file, config);
  const std::string& where = error.where();
  const std::size_t path = where.starts_with(file.path()) ? file.path().size() : 0;  // stays as it is
  return {error.kind(), where.substr(0, path) + reworded(std::string_view(where).substr(path), names),
          reworded(error.message(), names), reworded(error.hint(), names)};
}

}  // namespace tril::model
