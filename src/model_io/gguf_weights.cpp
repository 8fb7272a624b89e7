#include "model_io/gguf_weights.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/gguf_blocks.h"
#include "model_io/gguf_config.h"
#include "model_io/gguf_tensors.h"
#include "model_io/quantized_files.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// Rows [begin, end) of a tensor.
std::span<const std::byte> rows_of(const GgufTensor& t, std::int64_t begin, std::int64_t end) {
  const std::int64_t row = std::ssize(t.bytes) / (t.elements() / t.shape.back());
  return {t.bytes.begin() + begin * row, t.bytes.begin() + end * row};
}

// Plain numbers are viewed in the file; blocks are converted when they are read.
void set_type(WeightView& view, GgufType type) {
  view.form = name_of(type);
  switch (type) {
    case GgufType::f32:
      view.dtype = StoredType::f32;
      return;
    case GgufType::f16:
      view.dtype = StoredType::f16;
      return;
    case GgufType::bf16:
      view.dtype = StoredType::bf16;
      return;
    case GgufType::f64:
      view.dtype = StoredType::f64;
      return;
    default:
      view.dtype = StoredType::blocks;
      view.read = [type, blocks = view.bytes](std::span<float> out) {
        kern::dequantize_blocks(type, blocks.data(), out.size(), out.data());
      };
  }
}

// Unrotates `heads` heads of rows (a matrix) or of single values (a bias).
void unrotate(WeightView& view, const GgufTensor& t, std::int64_t heads) {
  const std::int64_t rows = t.shape[0];
  if (t.shape.size() > 2 || rows % heads != 0 || rows / heads % 2 != 0)
    fail(printable(t.name), fmt::format("has {} rows, which cannot be divided into pairs of {} heads", rows, heads),
         "the metadata does not match the tensors");
  view.dtype = StoredType::blocks;
  const std::int64_t d = rows / heads;
  const bool matrix = t.shape.size() == 2;
  const std::int64_t width = matrix ? t.shape[1] : 1;
  view.read = [&t, d, rows, width, matrix](std::span<float> out) {
    std::vector<float> bias;
    if (!matrix) {
      bias.resize(out.size());
      kern::dequantize_blocks(t.type, t.bytes.data(), bias.size(), bias.data());
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto to = out.begin() + unrotated_row(row, d) * width;
      if (matrix)
        kern::dequantize_blocks(t.type, rows_of(t, row, row + 1).data(), static_cast<std::size_t>(width), &*to);
      else
        *to = element(bias, row);
    }
  };
}

void transpose(WeightView& view, const GgufTensor& t) {
  if (t.shape.size() != 2) fail(printable(t.name), fmt::format("has {} dimensions, expected 2", t.shape.size()));
  view.dtype = StoredType::blocks;
  view.shape = {t.shape[1], t.shape[0]};
  view.read = [&t](std::span<float> out) {
    std::vector<float> values(out.size());
    kern::dequantize_blocks(t.type, t.bytes.data(), values.size(), values.data());
    const std::vector<float> turned = transposed_values(values, t.shape[0], t.shape[1]);
    std::copy(turned.begin(), turned.end(), out.begin());
  };
}

// A vector becomes a matrix of one row.
void make_row(WeightView& view) {
  if (view.shape.size() == 1) view.shape.insert(view.shape.begin(), 1);
}

void subtract_one(WeightView& view, const GgufTensor& t) {
  view.dtype = StoredType::blocks;
  view.read = [&t](std::span<float> out) {
    kern::dequantize_blocks(t.type, t.bytes.data(), out.size(), out.data());
    for (float& v : out) v -= 1;
  };
}

WeightView plain_view(const GgufTensor& t, std::string name) {
  WeightView view{.name = std::move(name), .shape = t.shape, .bytes = t.bytes, .form = {}};
  set_type(view, t.type);
  return view;
}

// The matrix of one expert out of [experts, out, in].
WeightView expert_view(const GgufTensor& t, std::string name, std::int64_t expert) {
  WeightView view{.name = std::move(name), .shape = {t.shape[1], t.shape[2]}, .bytes = {}, .form = {}};
  view.bytes = rows_of(t, expert * t.shape[1], (expert + 1) * t.shape[1]);
  set_type(view, t.type);
  return view;
}

// Finds the tensors of each rule for one layer.
class Finder {
 public:
  Finder(const GgufFile& file, const nlohmann::json& config) : file_(file), config_(config) {}

  void add(const GgufRule& rule, std::int64_t layer) {
    const GgufTensor* const t = file_.find_tensor(rule.gguf_name(layer));
    if (!t) return;
    used_.insert(t->name);
    if (rule.form == Form::experts) return add_experts(rule, layer, *t);
    tensors_.push_back({plain_view(*t, rule.hf_name(layer)), file_.file_of(*t)});
    WeightView& view = tensors_.back().view;
    try {
      if (rule.form == Form::rotated_queries) unrotate(view, *t, count("num_attention_heads"));
      if (rule.form == Form::rotated_keys) unrotate(view, *t, count("num_key_value_heads"));
      if (rule.form == Form::row) make_row(view);
      if (rule.form == Form::transposed) transpose(view, *t);
      if (rule.form == Form::offset) subtract_one(view, *t);
    } catch (const Error& e) {
      throw e.within(file_.file_of(*t));
    }
  }

  bool uses(const std::string& name) const { return used_.contains(name); }
  std::vector<StoredTensor> take() { return std::move(tensors_); }

 private:
  std::int64_t count(const char* key) const { return config_.at(key).get<std::int64_t>(); }

  void add_experts(const GgufRule& rule, std::int64_t layer, const GgufTensor& t) {
    const std::int64_t experts = experts_of(config_);
    if (t.shape.size() != 3 || t.shape[0] != experts)
      fail(fmt::format("{}: {}", file_.file_of(t), printable(t.name)),
           fmt::format("has shape [{}], expected the matrices of {} experts", fmt::join(t.shape, ", "), experts));
    for (std::int64_t e = 0; e < experts; ++e)
      tensors_.push_back({expert_view(t, rule.hf_name(layer, e), e), file_.file_of(t)});
  }

  const GgufFile& file_;
  const nlohmann::json& config_;
  std::vector<StoredTensor> tensors_;
  // Read as part of the configuration.
  std::set<std::string> used_{"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
};

std::string family_of(const nlohmann::json& config) {
  return config.at("model_type").get<std::string>();
}

std::int64_t layers_with(const GgufRule& rule, const nlohmann::json& config) {
  return rule.in_layers() ? layers_of(config) : 1;
}

}  // namespace

std::vector<StoredTensor> gguf_weights(const GgufFile& file, const nlohmann::json& config) {
  Finder finder(file, config);
  std::vector<std::string> known;
  for (const GgufRule& rule : gguf_rules(family_of(config))) {
    for (std::int64_t layer = 0; layer < layers_with(rule, config); ++layer) finder.add(rule, layer);
    known.push_back(rule.gguf_name(0));
  }
  for (const GgufTensor& t : file.tensors())
    if (!finder.uses(t.name))
      fail(fmt::format("{}: {}", printable(file.file_of(t), 400), printable(t.name)),
           fmt::format("no {} model of {} layers has such a tensor", family_of(config), layers_of(config)),
           did_you_mean(t.name, known));
  return finder.take();
}

std::string gguf_tensor_name(const nlohmann::json& config, std::string_view hf_name) {
  for (const GgufRule& rule : gguf_rules(family_of(config)))
    for (std::int64_t layer = 0; layer < layers_with(rule, config); ++layer)
      for (std::int64_t e = 0; e < (rule.form == Form::experts ? experts_of(config) : 1); ++e)
        if (rule.hf_name(layer, e) == hf_name) return rule.gguf_name(layer);
  return std::string(hf_name);
}

}  // namespace tril::model
