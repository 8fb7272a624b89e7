#include "decode/models/model_languages.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/printable.h"
#include "language/name_pair.h"
#include "model_io/families/model_names.h"

namespace tril {
namespace {

// A model may be a file in a directory that has the name.
std::vector<std::string> names_of_model(const std::filesystem::path& path) {
  std::vector<std::string> names = model::names_in_path(path);
  if (std::filesystem::is_directory(path)) return names;
  for (std::string& name : model::names_in_path(std::filesystem::absolute(path).parent_path()))
    names.push_back(std::move(name));
  return names;
}

}  // namespace

StatedLanguages model_languages(const model::ModelSource& source) {
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  StatedLanguages stated = tokenizer->stated_languages();
  if (!stated.source.empty() || !stated.target.empty() || !tokenizer->languages().empty()) return stated;
  for (const std::string& name : names_of_model(source.path())) {
    const std::size_t owner = name.rfind("--");  // "models--Helsinki-NLP--opus-mt-en-de"
    const std::optional<NamedPair> pair = languages_in_name(owner == name.npos ? name : name.substr(owner + 2));
    if (!pair) continue;
    logger()->info("{}: languages {} -> {} taken from the name", printable(source.name()), pair->source, pair->target);
    return {pair->source, pair->target};
  }
  return stated;
}

}  // namespace tril
