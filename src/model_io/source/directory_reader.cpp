#include "model_io/source/directory_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/pytorch_file.h"
#include "model_io/contents/split_inputs.h"
#include "model_io/quantized/quantization.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kIndexLimits{.bytes = std::uint64_t{64} << 20, .depth = 8, .values = 2'000'000};

std::string shown(const fs::path& path) {
  return printable(path.string(), 400);
}

// An open weight file of either format.
struct TensorFile {
  std::string path;
  std::vector<WeightView> tensors;
  std::shared_ptr<const void> map;  // memory that the views point into
};

template <class File>
TensorFile open_file(const std::string& path) {
  const auto file = std::make_shared<const File>(File::open(path));
  return {path, file->tensors(), file};
}

// The forms of a directory's weights: one file, or shards that an index lists. As in `transformers`, the first form found is
// read.
struct WeightForm {
  const char *single, *index, *extension;
  TensorFile (*open)(const std::string& path);
};
constexpr std::array weight_forms{
    WeightForm{"model.safetensors", "model.safetensors.index.json", ".safetensors", open_file<SafetensorsFile>},
    WeightForm{"pytorch_model.bin", "pytorch_model.bin.index.json", ".bin", open_file<PytorchFile>}};

// Refuses a shard that is not in the directory of its index.
bool is_shard_name(std::string_view name, std::string_view extension) {
  return name.ends_with(extension) && name.size() <= 255 && name.find_first_of("/\\") == name.npos &&
         name.find('\0') == name.npos;
}

// The shards that an index names, in the order of its tensors.
std::vector<TensorFile> open_shards(const fs::path& index, const JsonObject& weight_map, const WeightForm& form) {
  std::vector<TensorFile> shards;
  std::set<std::string> opened;
  for (const std::string& tensor : weight_map.keys()) {
    const std::string name = weight_map.get<std::string>(tensor);
    if (!is_shard_name(name, form.extension))
      fail(weight_map.place_of(tensor), fmt::format("is \"{}\", expected the name of a {} file in the same directory",
                                                    printable(name), form.extension));
    if (!opened.insert(name).second) continue;
    const fs::path path = index.parent_path() / name;
    if (!is_present(path.string()))
      fail(shown(path), fmt::format("is missing, but {} needs it", shown(index)),
           "the model is incomplete: download it again");
    shards.push_back(form.open(path.string()));
  }
  return shards;
}

// As in `transformers`, all tensors of the shards are read, whether the index lists them or not. A tensor in two shards is
// accepted only if both copies are equal.
std::vector<StoredTensor> tensors_of(const std::vector<TensorFile>& files) {
  std::map<std::string_view, StoredTensor> found;
  for (const TensorFile& file : files)
    for (const WeightView& one : file.tensors) {
      const auto [at, is_new] = found.try_emplace(one.name, StoredTensor{one, file.path});
      if (is_new) continue;
      const WeightView& other = at->second.view;
      if (one.dtype == StoredType::blocks || one.dtype != other.dtype || one.shape != other.shape ||
          !std::equal(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end()))
        fail(fmt::format("{}: {}", shown(file.path), printable(one.name)),
             fmt::format("differs from the one in {}", shown(at->second.file)),
             "the files belong to different models: download them again");
    }
  std::vector<StoredTensor> tensors;
  for (auto& [name, tensor] : found) tensors.push_back(std::move(tensor));
  return tensors;
}

WeightFiles weights_of(std::vector<TensorFile> files, const fs::path& directory) {
  const auto maps = std::make_shared<const std::vector<TensorFile>>(std::move(files));
  return WeightFiles({.where = maps->size() == 1 ? maps->front().path : directory.string(),
                      .tensors = tensors_of(*maps),
                      .maps = maps});
}

WeightFiles weights_of_index(const fs::path& index, const WeightForm& form) {
  const nlohmann::json json = read_json(index.string(), kIndexLimits);
  const JsonObject weight_map = JsonObject(json, shown(index)).object("weight_map");
  const fs::path directory = index.parent_path();
  WeightFiles weights = weights_of(open_shards(index, weight_map, form), directory);
  for (const std::string& tensor : weight_map.keys())
    if (!weights.find(tensor))
      fail(shown(directory / weight_map.get<std::string>(tensor)),
           fmt::format("has no tensor {}, which {} lists", printable(tensor), shown(index)),
           "the files belong to different models: download them again");
  return weights;
}

class DirectoryReader : public ModelReader {
 public:
  explicit DirectoryReader(fs::path directory) : directory_(std::move(directory)) {}

  ConfigDocument config() const override {
    check_is_model();
    return document("config.json");
  }

  std::optional<std::string> published_config() const override {
    return read_text(beside("config.json").string(), JsonLimits().bytes);
  }

  std::optional<ConfigDocument> generation() const override {
    return has("generation_config.json") ? std::optional(document("generation_config.json")) : std::nullopt;
  }

  bool has_weights() const override {
    return std::any_of(weight_forms.begin(), weight_forms.end(),
                       [this](const WeightForm& form) { return has(form.single) || has(form.index); });
  }

  WeightFiles weights() const override {
    if (!has("config.json")) return stored_weights();
    const ConfigDocument config = document("config.json");
    const auto stored = std::make_shared<const WeightFiles>(stored_weights());
    return dequantized(config.object(), split_inputs(stored, config.object()));
  }

  bool has_tokenizer() const override { return tril::has_tokenizer(directory_.string()); }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return load_tokenizer(directory_.string()); }
  TokenizerDescription tokenizer_description() const override { return describe_tokenizer(directory_.string()); }

  nn::Precision stored_precision(const JsonObject& config) const override { return stored_precision_of(config); }

  fs::path beside(const std::string& name) const override { return directory_ / name; }

  void copy_companions(const fs::path& to) const override {
    const auto copy = [&](const char* name) {
      if (has(name)) write_file_atomic((to / name).string(), read_text(beside(name).string(), largest_tokenizer_file));
    };
    copy("generation_config.json");
    for (const char* name : tokenizer_file_names) copy(name);
    for (const TokenizerFile& file : read_tokenizer_config(directory_.string()).files)
      if (!has(file.name.c_str()) || file.name.find('/') != file.name.npos) {  // templates of chats
        create_directories((to / file.name).parent_path().string());
        write_file_atomic((to / file.name).string(), file.bytes);
      }
  }

 private:
  // The tensors as stored.
  WeightFiles stored_weights() const {
    for (const WeightForm& form : weight_forms) {
      if (has(form.single)) return weights_of({form.open(beside(form.single).string())}, directory_);
      if (has(form.index)) return weights_of_index(beside(form.index), form);
    }
    return weights_of({weight_forms.front().open(beside(weight_forms.front().single).string())}, directory_);
  }

  bool has(const char* name) const { return is_present(beside(name).string()); }

  ConfigDocument document(const char* name) const {
    const std::string path = beside(name).string();
    return {read_python_json(path), path};
  }

  // Refuses a directory that holds no model.
  void check_is_model() const {
    std::error_code ignored;
    const fs::path config = beside("config.json");
    if (fs::is_symlink(config, ignored) || fs::exists(config, ignored)) {
      if (is_medusa_directory(directory_))
        fail(shown(directory_), "holds Medusa heads and no model",
             "pass the model that they were trained for, and this directory as `draft_heads`");
      return;
    }
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_, ignored))
      if (names.size() < 1000) names.push_back(entry.path().filename().string());
    const std::string near = did_you_mean("config.json", names);
    fail(config.string(), "is missing, so this is not a model directory",
         !near.empty() ? near : "pass a Hugging Face model directory or a GGUF file");
  }

  fs::path directory_;
};

}  // namespace

bool is_medusa_directory(const fs::path& directory) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(directory / name, ignored); };
  if (std::any_of(weight_forms.begin(), weight_forms.end(),
                  [&](const WeightForm& form) { return has(form.single) || has(form.index); }))
    return false;
  return has("config.json") && (has("medusa_lm_head.safetensors") || has("medusa_lm_head.pt"));
}

std::unique_ptr<ModelReader> open_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? std::make_unique<DirectoryReader>(path) : nullptr;
}

}  // namespace tril::model
