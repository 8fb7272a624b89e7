#include "model_io/marian/marian_files.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/yaml_file.h"
#include "model_io/marian/marian_tensors.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits yaml_limits{.bytes = std::uint64_t{4} << 20, .depth = 8, .values = 100'000};

std::vector<std::string> names_ending(const FileShelf& shelf, std::string_view end) {
  std::vector<std::string> found;
  for (const std::string& name : shelf.names())
    if (name.ends_with(end)) found.push_back(name);
  return found;
}

std::vector<std::string> weights_on(const FileShelf& shelf, std::string_view end) {
  std::vector<std::string> found = names_ending(shelf, end);
  std::erase_if(found, [&](const std::string& name) { return !is_marian_weights(shelf, name); });
  return found;
}

// The file of this name, or the only one whose name ends in ".NAME".
std::optional<std::string> named(const FileShelf& shelf, const std::string& name) {
  if (shelf.has(name)) return name;
  const std::vector<std::string> found = names_ending(shelf, "." + name);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::vector<std::string> texts(const nlohmann::json& object, const char* key) {
  std::vector<std::string> found;
  const auto at = object.find(key);
  if (at == object.end()) return found;
  if (at->is_string()) return {at->get<std::string>()};
  if (at->is_array())
    for (const nlohmann::json& one : *at)
      if (one.is_string()) found.push_back(one.get<std::string>());
  return found;
}

nlohmann::json read_options(const FileShelf& shelf, const std::string& name) {
  const std::string where = shelf.place_of(name);
  nlohmann::json json = parse_yaml(shelf.text(name, yaml_limits.bytes), where, yaml_limits);
  if (!json.is_object()) fail(where, "is not a mapping of options");
  return json;
}

class MarianFinder {
 public:
  MarianFinder(FileShelf shelf, const std::string& where) : where_(printable(where, 400)) {
    files_.shelf = std::move(shelf);
  }

  /// @param weights  the requested file; "": the only one
  MarianFiles find(const std::string& weights) {
    find_decoder(weights);
    files_.weights = weights.empty() ? chosen_weights() : weights;
    find_vocabularies();
    files_.source_spm = named(files_.shelf, "source.spm");
    files_.target_spm = named(files_.shelf, "target.spm");
    return std::move(files_);
  }

 private:
  void find_decoder(const std::string& weights) {
    if (!weights.empty() && files_.shelf.has(weights + ".decoder.yml"))
      files_.decoder = weights + ".decoder.yml";
    else
      files_.decoder = named(files_.shelf, "decoder.yml");
    files_.decoding = files_.decoder ? read_options(files_.shelf, *files_.decoder) : nlohmann::json::object();
  }

  std::string chosen_weights() const {
    const std::vector<std::string> named_there = texts(files_.decoding, "models");
    if (named_there.size() > 1)
      fail(files_.shelf.place_of(*files_.decoder),
           fmt::format("names {} models, an ensemble; one is read", named_there.size()),
           "pass the file of one of them");
    if (named_there.size() == 1 && files_.shelf.has(last_part(named_there[0]))) return last_part(named_there[0]);
    if (files_.shelf.has("model.npz")) return "model.npz";
    std::vector<std::string> found = weights_on(files_.shelf, ".npz");
    if (found.empty()) found = weights_on(files_.shelf, ".bin");
    if (found.size() != 1)
      fail(where_,
           fmt::format("holds {} files of weights, expected one: {}", found.size(),
                       printable(fmt::format("{}", fmt::join(found, ", ")), 200)),
           "pass the path of the one that is meant");
    return found[0];
  }

  void find_vocabularies() {
    std::vector<std::string> named_there = texts(files_.decoding, "vocabs");
    if (named_there.empty() && files_.shelf.has(files_.weights + ".yml"))
      named_there = texts(read_options(files_.shelf, files_.weights + ".yml"), "vocabs");
    for (std::string& path : named_there) path = last_part(path);
    const bool are_there = std::all_of(named_there.begin(), named_there.end(),
                                       [this](const std::string& name) { return files_.shelf.has(name); });
    if (!named_there.empty() && are_there) {
      if (named_there.size() == 1) named_there.push_back(named_there[0]);
      if (named_there.size() > 2)
        fail(where_,
             fmt::format("has {} vocabularies, expected one of the source and one of the target", named_there.size()));
      files_.vocabularies = named_there;
      return;
    }
    for (const char* end : {"vocab.yml", ".spm"}) {
      const std::vector<std::string> found = names_ending(files_.shelf, end);
      if (found.size() == 1) {
        files_.vocabularies = {found[0], found[0]};
        return;
      }
    }
    const std::vector<std::string> source = spm_of("src"), target = spm_of("trg");  // Firefox's names
    if (source.size() == 1 && target.size() == 1) {
      files_.vocabularies = {source[0], target[0]};
      return;
    }
    if (!named_there.empty())
      fail(where_, fmt::format("lacks the vocabulary {}", printable(named_there[0], 200)),
           "put the vocabularies that the model was trained with next to it");
  }

  std::vector<std::string> spm_of(std::string_view begin) const {
    std::vector<std::string> found = names_ending(files_.shelf, ".spm");
    std::erase_if(found, [&](const std::string& name) { return !name.starts_with(begin); });
    return found;
  }

  std::string where_;
  MarianFiles files_;
};

}  // namespace

std::optional<MarianFiles> find_marian_files(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    FileShelf shelf = FileShelf::of_directory(path);
    if (shelf.has("config.json") || (names_ending(shelf, ".npz").empty() && weights_on(shelf, ".bin").empty()))
      return std::nullopt;
    return MarianFinder(std::move(shelf), path.string()).find("");
  }
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const std::string name = path.filename().string();
  if (path.extension() == ".npz" || path.extension() == ".bin") {
    FileShelf shelf = FileShelf::of_directory(path.has_parent_path() ? path.parent_path() : ".");
    if (path.extension() == ".bin" && !(shelf.has(name) && is_marian_weights(shelf, name))) return std::nullopt;
    return MarianFinder(std::move(shelf), path.string()).find(name);
  }
  if (path.extension() != ".zip") return std::nullopt;
  return MarianFinder(FileShelf::of_archive(path), path.string()).find("");
}

}  // namespace tril::model
