#include "model_io/weight_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "model_io/gguf_weights.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kIndexLimits{.bytes = std::uint64_t{64} << 20, .depth = 8, .values = 2'000'000};

bool is_there(const fs::path& path) {
  return is_present(path.string());
}

// A shard is a file in the directory of its index: a name that leads anywhere else is refused.
bool is_file_name(std::string_view name) {
  return name.ends_with(".safetensors") && name.size() <= 255 && name.find_first_of("/\\") == name.npos &&
         name.find('\0') == name.npos;
}

std::string shown(const fs::path& path) {
  return printable(path.string(), 400);
}

}  // namespace

WeightFiles WeightFiles::open(const std::string& directory) {
  if (is_gguf_file(directory)) return open_gguf(directory);
  const fs::path folder(directory), single = folder / "model.safetensors",
                                    index = folder / "model.safetensors.index.json";
  if (!is_there(folder)) fail(shown(folder), "there is no such directory", "give the directory of a model");
  if (!is_there(single) && is_there(index)) return open_shards(directory, index.string());
  if (!is_there(single) && is_there(folder / "pytorch_model.bin"))
    fail(shown(single), "is not there, only pytorch_model.bin is, which holds Python code and is not read",
         "load it with transformers and save_pretrained() it, which writes model.safetensors");
  WeightFiles weights;
  weights.directory_ = directory;
  weights.files_.push_back(SafetensorsFile::open(single.string()));
  weights.names_ = weights.files_[0].names();
  for (std::size_t t = 0; t < weights.names_.size(); ++t) weights.places_.push_back({0, t});
  return weights;
}

WeightFiles WeightFiles::open_gguf(const std::string& path) {
  WeightFiles weights;
  weights.directory_ = path;
  weights.gguf_ = std::make_shared<const GgufWeights>(open_gguf_weights(path));
  for (const WeightView& w : weights.gguf_->weights) {
    weights.places_.push_back({0, weights.names_.size()});
    weights.names_.push_back(w.name);
  }
  return weights;
}

WeightFiles WeightFiles::open_shards(const std::string& directory, const std::string& index) {
  const nlohmann::json json = read_json(index, kIndexLimits);
  const JsonObject weight_map = JsonObject(json, shown(index)).object("weight_map");
  WeightFiles weights;
  weights.directory_ = directory;
  std::set<std::string> shards;
  std::map<std::string, Place> places;
  for (const auto& [tensor, file] : weight_map.json().items()) {  // in order of tensor
    const std::string name = weight_map.get<std::string>(tensor);
    if (!is_file_name(name))
      fail(fmt::format("{}: weight_map: {}", shown(index), printable(tensor)),
           fmt::format("is \"{}\", expected the name of a .safetensors file in the same directory", printable(name)));
    if (!shards.insert(name).second) continue;
    const fs::path path = fs::path(directory) / name;
    if (!is_there(path))
      fail(shown(path), fmt::format("is not there, and {} needs it", shown(index)),
           "the download is incomplete: get it again");
    weights.files_.push_back(SafetensorsFile::open(path.string()));
  }
  // As `transformers` has it, all that the shards hold counts, in whichever of them it lies and whether the index lists
  // it or not. A tensor that two of them hold is one only where it is the same in both.
  for (std::size_t f = 0; f < weights.files_.size(); ++f)
    for (std::size_t t = 0; t < weights.files_[f].tensors().size(); ++t) {
      const WeightView& one = weights.files_[f].tensors()[t];
      const auto [at, is_new] = places.emplace(one.name, Place{f, t});
      if (is_new) continue;
      const SafetensorsFile& first = weights.files_[at->second.file];
      const WeightView& other = first.tensors()[at->second.tensor];
      if (one.dtype != other.dtype || one.shape != other.shape ||
          !std::equal(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end()))
        fail(fmt::format("{}: {}", shown(weights.files_[f].path()), printable(one.name)),
             fmt::format("is another than that in {}", shown(first.path())),
             "the files are not of one model: get them again");
    }
  for (const auto& [tensor, file] : weight_map.json().items())
    if (!places.contains(tensor))
      fail(shown(fs::path(directory) / file.get<std::string>()),
           fmt::format("has no tensor {}, which {} says is there", printable(tensor), shown(index)),
           "the files are not of one model: get them again");
  for (const auto& [name, place] : places) {  // in order of name
    weights.names_.push_back(name);
    weights.places_.push_back(place);
  }
  return weights;
}

const WeightFiles::Place* WeightFiles::place(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  return at != names_.end() && *at == name ? &places_[static_cast<std::size_t>(at - names_.begin())] : nullptr;
}

const WeightView* WeightFiles::find(std::string_view name) const {
  const Place* const p = place(name);
  if (!p) return nullptr;
  return gguf_ ? &gguf_->weights[p->tensor] : &files_[p->file].tensors()[p->tensor];
}

const WeightView& WeightFiles::at(std::string_view name) const {
  const WeightView* const found = find(name);
  if (!found) {
    const std::string where = files_.size() == 1 ? files_[0].path() : directory_;  // of GGUF the same
    fail(printable(where, 400), fmt::format("has no tensor {}", printable(name)), did_you_mean(name, names_));
  }
  return *found;
}

void WeightFiles::release(std::span<const std::byte> bytes) const {
  release_pages(bytes);
}

const std::string& WeightFiles::file_of(std::string_view name) const {
  const Place* const p = place(name);
  if (!p)
    fail(printable(directory_, 400), fmt::format("has no tensor {}", printable(name)), did_you_mean(name, names_));
  return gguf_ ? directory_ : files_[p->file].path();
}

}  // namespace tril
