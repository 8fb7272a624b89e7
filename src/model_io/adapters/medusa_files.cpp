#include "model_io/adapters/medusa_files.h"

#include <fmt/ranges.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "format/json_text.h"
#include "format/pytorch_file.h"
#include "format/safetensors_write.h"
#include "kern/kernels.h"
#include "model_io/contents/stored_weight.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr const char *heads_key = "medusa_num_heads", *layers_key = "medusa_num_layers",
                     *base_key = "base_model_name_or_path", *pickled_name = "medusa_lm_head.pt";
constexpr JsonLimits config_limits{.bytes = std::uint64_t{1} << 20, .depth = 16, .values = 10'000};

nlohmann::json read_config(const fs::path& directory) {
  return read_json((directory / "config.json").string(), config_limits);
}

void check_shape_of(const WeightView& view, const std::vector<std::int64_t>& expected, const std::string& file) {
  if (view.shape != expected)
    fail_usage(file + ": " + printable(view.name, 200),
               fmt::format("has shape [{}], expected [{}]", fmt::join(view.shape, ", "), fmt::join(expected, ", ")));
}

}  // namespace

MedusaFiles MedusaFiles::open(const fs::path& directory) {
  const std::string shown = printable(directory.string(), 400);
  const fs::path safe = directory / medusa_weights_name, pickled = directory / pickled_name;
  const auto missing = [&](const std::string& what) {
    fail(shown, "has no " + what,
         "pass a directory of Medusa heads: one that a training with `medusa_heads` has written, or a published one");
  };
  if (!fs::is_directory(directory)) fail(shown, "is not a directory", "pass the directory of Medusa heads");
  if (!fs::exists(directory / "config.json")) missing("config.json");
  return from_files([&] {
    const nlohmann::json json = read_config(directory);
    const JsonObject config(json, (directory / "config.json").string());
    MedusaFiles files;
    files.base_model_ = config.get<std::string>(base_key, "");
    std::span<const WeightView> tensors;
    const auto hold = [&](const auto& file) {
      tensors = file->tensors();
      files.map_ = file;
    };
    if (fs::exists(safe))
      hold(std::make_shared<const SafetensorsFile>(SafetensorsFile::open(safe.string())));
    else if (fs::exists(pickled))
      hold(std::make_shared<const PytorchFile>(PytorchFile::open(pickled.string())));
    else
      missing(fmt::format("{} and no {}", medusa_weights_name, pickled_name));
    files.file_ = printable((fs::exists(safe) ? safe : pickled).string(), 400);
    for (const WeightView& view : tensors) files.tensors_.emplace(view.name, &view);
    files.check_tensors();
    if (const std::int64_t said = config.size(heads_key); said > files.sizes_.heads)
      config.fail_at(heads_key,
                     fmt::format("is {}, but {} has {}", said, files.file_, counted(files.sizes_.heads, "head")));
    if (const std::int64_t said = config.size(layers_key, files.sizes_.layers); said != files.sizes_.layers)
      config.fail_at(layers_key, fmt::format("is {}, but the heads of {} have {}", said, files.file_,
                                             counted(files.sizes_.layers, "layer")));
    return files;
  });
}

// The names say how many heads and layers there are; every head must have all of them, and nothing else may be in the file.
void MedusaFiles::check_tensors() {
  const auto has = [&](std::int64_t head, std::int64_t layer, std::string_view end) {
    return tensors_.contains(nn::medusa_name(head, layer, end));
  };
  nn::MedusaSizes& s = sizes_;
  s.layers = 0;
  while (has(s.heads, 0, "linear.weight")) ++s.heads;
  while (has(0, s.layers, "linear.weight")) ++s.layers;
  if (s.heads == 0)
    fail_usage(file_, "has no tensor 0.0.linear.weight",
               "expected Medusa heads: K.L.linear.weight and K.L.linear.bias of layer L of head K");
  const bool own = has(0, s.layers, "weight");
  const auto matrix = [&](const WeightView& view) {
    if (view.shape.size() != 2)
      fail_usage(file_ + ": " + view.name,
                 fmt::format("has shape [{}], expected a matrix", fmt::join(view.shape, ", ")));
  };
  const auto wanted = [&](std::int64_t head, std::int64_t layer, std::string_view end) -> const WeightView& {
    const std::string name = nn::medusa_name(head, layer, end);
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      fail_usage(file_, fmt::format("has no tensor {}, but other heads have theirs", name), "download it again");
    return *found->second;
  };
  matrix(wanted(0, 0, "linear.weight"));
  s.d_model = wanted(0, 0, "linear.weight").shape[1];
  if (own) {
    matrix(wanted(0, s.layers, "weight"));
    s.own_vocab = wanted(0, s.layers, "weight").shape[0];
  }
  for (std::int64_t k = 0; k < s.heads; ++k) {
    for (std::int64_t l = 0; l < s.layers; ++l) {
      check_shape_of(wanted(k, l, "linear.weight"), {s.d_model, s.d_model}, file_);
      check_shape_of(wanted(k, l, "linear.bias"), {s.d_model}, file_);
    }
    if (own) check_shape_of(wanted(k, s.layers, "weight"), {s.own_vocab, s.d_model}, file_);
  }
  const std::int64_t expected = s.heads * (2 * s.layers + (own ? 1 : 0));
  if (std::ssize(tensors_) == expected) return;
  for (const auto& [name, view] : tensors_) {
    bool known = false;
    for (std::int64_t k = 0; k < s.heads && !known; ++k) {
      for (std::int64_t l = 0; l < s.layers && !known; ++l)
        known = name == nn::medusa_name(k, l, "linear.weight") || name == nn::medusa_name(k, l, "linear.bias");
      known |= own && name == nn::medusa_name(k, s.layers, "weight");
    }
    if (!known)
      fail_usage(
          file_ + ": " + printable(name, 200),
          fmt::format("does not belong to {} of {}", counted(s.heads, "Medusa head"), counted(s.layers, "layer")));
  }
}

std::int64_t MedusaFiles::parameters() const {
  std::int64_t n = 0;
  for (const auto& [name, view] : tensors_) n += view->elements();
  return n;
}

std::unique_ptr<ServedMedusa> load_medusa(const MedusaFiles& files, const Model& m) {
  const nn::MedusaSizes& s = files.sizes();
  if (s.d_model != m.d_model())
    fail_usage(files.path(),
               fmt::format("is for hidden states of {} values, but the model's have {}", s.d_model, m.d_model()),
               "use heads that were trained for this model");
  if (s.own_vocab > 0 && s.own_vocab != m.vocab_size())
    fail_usage(files.path(),
               fmt::format("is for a vocabulary of {} tokens, but the model has {}", s.own_vocab, m.vocab_size()),
               "use heads that were trained for this model");
  auto served = std::make_unique<ServedMedusa>();
  nn::Parameters& p = served->parameters;
  served->heads.emplace(p, s);
  p.allocate_serving(m.parameters().serving_form());
  for (nn::Parameter& w : p.all()) p.set(kern::best(), w, to_f32(files.at(w.name.substr(nn::medusa_prefix.size()))));
  p.refresh(kern::best());
  return served;
}

void save_medusa(const nn::Parameters& parameters, const nn::MedusaHeads& heads, const std::string& directory,
                 const std::string& base) {
  create_directories(directory);
  std::vector<WeightView> weights;
  std::deque<std::vector<float>> values;  // live until they are written
  for (const nn::Parameter& p : parameters.all()) {
    if (!p.name.starts_with(nn::medusa_prefix)) continue;
    values.push_back(host_copy<float>(p.value));
    weights.push_back({p.name.substr(nn::medusa_prefix.size()), StoredType::f32, sizes_of(p.shape),
                       std::as_bytes(std::span(values.back()))});
  }
  write_safetensors(directory + "/" + medusa_weights_name, weights, {{"format", "pt"}});
  save_medusa_config(heads, directory, base);
}

void save_medusa_config(const nn::MedusaHeads& heads, const std::string& directory, const std::string& base) {
  const nlohmann::ordered_json config{{"medusa_num_heads", heads.count()},
                                      {"medusa_num_layers", heads.sizes().layers},
                                      {"base_model_name_or_path", base}};
  write_file_atomic(directory + "/config.json", json_text(config, 2) + "\n");
}

}  // namespace tril::model
