#include "model_io/gguf/gguf_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/as_size.h"
#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/gguf_blocks.h"
#include "model/spec/fused_rows.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_rules.h"
#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// Rows [begin, end) of a tensor.
std::span<const std::byte> rows_of(const GgufTensor& t, std::int64_t begin, std::int64_t end) {
  const std::int64_t row = std::ssize(t.bytes) / (t.elements() / t.shape.back());
  return {t.bytes.begin() + begin * row, t.bytes.begin() + end * row};
}

// The values of a view are computed in another way than from the blocks of its rows alone.
void forget_blocks(WeightView& view) {
  view.dtype = StoredType::blocks;
  view.stored_blocks = nullptr;
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
      if (view.shape.size() != 2 || view.shape[0] == 0) return;
      view.stored_blocks = std::make_shared<StoredBlocks>(
          StoredBlocks{type, [blocks = view.bytes, row = std::ssize(view.bytes) / view.shape[0]](std::int64_t i) {
                         return blocks.data() + i * row;
                       }});
  }
}

// Row i of the tensor (a matrix, or a bias with single values) becomes row order[i].
void reorder(WeightView& view, const GgufTensor& t, std::vector<std::int64_t> order) {
  if (t.shape.size() > 2) fail(printable(t.name), fmt::format("has {} dimensions, expected 2", t.shape.size()));
  const bool matrix = t.shape.size() == 2;
  const auto blocks = view.stored_blocks;
  forget_blocks(view);
  const std::int64_t width = matrix ? t.shape[1] : 1;
  if (blocks) {
    std::vector<std::int64_t> from(order.size());
    for (std::int64_t row = 0; row < std::ssize(order); ++row) element(from, element(order, row)) = row;
    const auto row_of = [&t, from = std::move(from)](std::int64_t i) {
      const std::int64_t row = element(from, i);
      return rows_of(t, row, row + 1).data();
    };
    view.stored_blocks = std::make_shared<StoredBlocks>(StoredBlocks{blocks->type, row_of});
  }
  view.read = [&t, order = std::move(order), width, matrix](std::span<float> out) {
    std::vector<float> bias;
    if (!matrix) {
      bias.resize(out.size());
      kern::dequantize_blocks(t.type, t.bytes.data(), bias.size(), bias.data());
    }
    for (std::int64_t row = 0; row < std::ssize(order); ++row) {
      const auto to = out.begin() + element(order, row) * width;
      if (matrix)
        kern::dequantize_blocks(t.type, rows_of(t, row, row + 1).data(), static_cast<std::size_t>(width), &*to);
      else
        *to = element(bias, row);
    }
  };
}

// Column i of the matrix becomes column order[i].
void reorder_columns(WeightView& view, const GgufTensor& t, std::vector<std::int64_t> order) {
  if (t.shape.size() != 2) fail(printable(t.name), fmt::format("has {} dimensions, expected 2", t.shape.size()));
  forget_blocks(view);
  view.read = [&t, order = std::move(order)](std::span<float> out) {
    std::vector<float> row(order.size());
    auto to = out.begin();
    for (std::int64_t i = 0; i < t.shape[0]; ++i, to += std::ssize(order)) {
      kern::dequantize_blocks(t.type, rows_of(t, i, i + 1).data(), row.size(), row.data());
      for (std::int64_t c = 0; c < std::ssize(order); ++c) to[element(order, c)] = element(row, c);
    }
  };
}

// The values a, which are negative, become log(-a).
void take_logarithms(WeightView& view, const GgufTensor& t) {
  forget_blocks(view);
  if (!view.read) {
    view.read = [&t](std::span<float> out) { kern::dequantize_blocks(t.type, t.bytes.data(), out.size(), out.data()); };
  }
  view.read = [read = view.read](std::span<float> out) {
    read(out);
    for (float& v : out) v = std::log(-v);
  };
}

void transpose(WeightView& view, const GgufTensor& t) {
  if (t.shape.size() != 2) fail(printable(t.name), fmt::format("has {} dimensions, expected 2", t.shape.size()));
  forget_blocks(view);
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

// A matrix becomes a vector.
void flatten(WeightView& view, bool fits) {
  if (!fits || view.shape.size() != 2) return;  // the model will say which shape it expects
  view.shape = {view.shape[0] * view.shape[1]};
  view.stored_blocks = nullptr;
}

// [width, taps] becomes [width, 1, taps].
void spread_taps(WeightView& view) {
  if (view.shape.size() == 2) view.shape.insert(view.shape.begin() + 1, 1);
}

void subtract_one(WeightView& view, const GgufTensor& t) {
  forget_blocks(view);
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

// Part `part` of a tensor [parts, ...]: the matrix of one expert, the norm of one head.
WeightView part_view(const GgufTensor& t, std::string name, std::int64_t part) {
  WeightView view{.name = std::move(name), .shape = {t.shape.begin() + 1, t.shape.end()}, .bytes = {}, .form = {}};
  const std::int64_t rows = t.shape.size() == 3 ? t.shape[1] : 1;
  view.bytes = rows_of(t, part * rows, (part + 1) * rows);
  set_type(view, t.type);
  return view;
}

// The values of a part of a tensor.
std::vector<float> part_values(const GgufTensor& t, std::int64_t part) {
  const WeightView view = part_view(t, t.name, part);
  std::vector<float> values(static_cast<std::size_t>(t.elements() / t.shape[0]));
  kern::dequantize_blocks(t.type, view.bytes.data(), values.size(), values.data());
  return values;
}

// The bytes of one part of a tensor.
std::span<const std::byte> bytes_of_part(const GgufTensor& t, std::int64_t part) {
  return part_view(t, t.name, part).bytes;
}

// The rows of an expert's gate above those of its up matrix, or of their biases.
WeightView gate_up_view(const GgufTensor& gate, const GgufTensor& up, std::string name, std::int64_t expert) {
  WeightView view = part_view(gate, std::move(name), expert);
  view.shape[0] *= 2;
  const bool has_blocks = view.stored_blocks && gate.type == up.type;
  forget_blocks(view);
  const auto row_of = [&gate, &up, expert, rows = gate.shape[1]](std::int64_t i) {
    const std::int64_t at = expert * rows + i % rows;
    return rows_of(i < rows ? gate : up, at, at + 1).data();
  };
  if (has_blocks) view.stored_blocks = std::make_shared<StoredBlocks>(StoredBlocks{gate.type, row_of});
  view.read = [&gate, &up, expert](std::span<float> out) {
    auto to = out.begin();
    for (const GgufTensor* t : {&gate, &up}) to = std::ranges::copy(part_values(*t, expert), to).out;
  };
  return view;
}

// The rows of a gate above those of its up matrix.
WeightView stacked_view(const GgufTensor& gate, const GgufTensor& up, std::string name) {
  WeightView view = plain_view(gate, std::move(name));
  const bool has_blocks = view.stored_blocks && gate.type == up.type;
  forget_blocks(view);
  const std::int64_t rows = view.shape[0];
  view.shape[0] *= 2;
  if (has_blocks) {
    const auto row_of = [&gate, &up, rows](std::int64_t i) {
      return rows_of(i < rows ? gate : up, i % rows, i % rows + 1).data();
    };
    view.stored_blocks = std::make_shared<StoredBlocks>(StoredBlocks{gate.type, row_of});
  }
  view.read = [&gate, &up](std::span<float> out) {
    const std::size_t half = out.size() / 2;
    kern::dequantize_blocks(gate.type, gate.bytes.data(), half, out.data());
    kern::dequantize_blocks(up.type, up.bytes.data(), half, out.data() + half);
  };
  return view;
}

// kv_b_proj of latent attention: of each head, the transposed matrix of its keys above that of its values.
WeightView latent_view(const GgufTensor& keys, const GgufTensor& values, std::string name) {
  const std::int64_t heads = keys.shape[0], rank = keys.shape[1], own = keys.shape[2];
  WeightView view{.name = std::move(name), .shape = {heads * (own + values.shape[1]), rank}, .bytes = {}, .form = {}};
  view.form = name_of(keys.type);
  view.dtype = StoredType::blocks;
  view.bytes = keys.bytes;
  view.read = [&keys, &values, heads, rank, own](std::span<float> out) {
    auto to = out.begin();
    for (std::int64_t h = 0; h < heads; ++h) {
      to = std::ranges::copy(transposed_values(part_values(keys, h), rank, own), to).out;
      to = std::ranges::copy(part_values(values, h), to).out;
    }
  };
  return view;
}

// in_proj_qkvz of the gated delta rule. Row i of `inputs` and then `gates` is row order[i].
WeightView delta_view(const GgufTensor& inputs, const GgufTensor& gates, std::string name,
                      std::vector<std::int32_t> order) {
  const std::int64_t width = inputs.shape[1];
  WeightView view{.name = std::move(name), .shape = {std::ssize(order), width}, .bytes = {}, .form = {}};
  view.form = name_of(inputs.type);
  view.dtype = StoredType::blocks;
  view.bytes = inputs.bytes;
  view.read = [&inputs, &gates, width, order = std::move(order)](std::span<float> out) {
    auto row = order.begin();
    for (const GgufTensor* t : {&inputs, &gates})
      for (std::int64_t i = 0; i < t->shape[0]; ++i)
        kern::dequantize_blocks(t->type, rows_of(*t, i, i + 1).data(), as_size(width), &out[as_size(*row++ * width)]);
  };
  return view;
}

// Finds the tensors of each rule for one layer.
class Finder {
 public:
  Finder(const GgufFile& file, const nlohmann::json& config) : file_(file), config_(config) {}

  void add(const GgufRule& rule, std::int64_t layer) {
    if (rule.form == Form::metadata) return add_number(rule, layer);
    const GgufTensor* const t = file_.find_tensor(rule.gguf_name(layer));
    if (!t) return;
    if (!used_.insert(t->name).second) return;  // of an earlier rule
    using enum GgufRule::Form;
    if (rule.form == expert_ups || rule.form == latent_values || rule.form == delta_gates || rule.form == up_rows)
      return;  // with the partner
    if (const std::string partner = rule.partner_name(layer); !partner.empty())
      return add_pair(rule, layer, *t, file_.tensor(partner));
    if (rule.form == Form::fused_qkv) return add_qkv(rule, layer, *t);
    if (rule.has_parts()) return add_parts(rule, layer, *t);
    tensors_.push_back({plain_view(*t, rule.hf_name(layer)), file_.file_of(*t)});
    WeightView& view = tensors_.back().view;
    try {
      const bool columns = rule.form == Form::delta_columns;
      std::vector<std::int64_t> order =
          gguf_row_order(form_in_file(rule), columns ? t->shape.back() : t->shape[0], config_);
      if (columns)
        reorder_columns(view, *t, std::move(order));
      else if (!order.empty())
        reorder(view, *t, std::move(order));
      if (rule.form == delta_rates || rule.form == rates || rule.form == column_rates) take_logarithms(view, *t);
      if (rule.form == Form::row) make_row(view);
      if (rule.form == Form::taps || rule.form == Form::delta_taps) spread_taps(view);
      if (rule.form == column || rule.form == column_rates) flatten(view, t->shape.back() == 1);
      if (rule.form == norm_groups) flatten(view, t->shape.size() == 2);
      if (rule.form == Form::transposed) transpose(view, *t);
      if (rule.form == Form::offset) subtract_one(view, *t);
    } catch (const Error& e) {
      throw e.within(file_.file_of(*t));
    }
  }

  bool uses(const std::string& name) const { return used_.contains(name); }
  std::vector<StoredTensor> take() { return std::move(tensors_); }

 private:
  // llama.cpp's converter puts the rows of whole heads in pairs even if only a part is rotated. Its files have no divisors of
  // frequencies.
  GgufRule form_in_file(GgufRule rule) const {
    if (file_.find_tensor("rope_freqs.weight")) return rule;
    if (rule.form == Form::part_rotated_queries) rule.form = Form::rotated_queries;
    if (rule.form == Form::part_rotated_keys) rule.form = Form::rotated_keys;
    return rule;
  }

  // A number of the metadata.
  void add_number(const GgufRule& rule, std::int64_t layer) {
    const auto values = file_.get<std::vector<double>>(rule.gguf).value_or(std::vector<double>());
    if (std::ssize(values) != layers_of(config_))
      file_.fail_at(rule.gguf, fmt::format("has {} values for {} layers", values.size(), layers_of(config_)));
    const double value = element(values, layer);
    WeightView view{
        .name = rule.hf_name(layer), .dtype = StoredType::blocks, .shape = {}, .bytes = {}, .form = "number"};
    if (rule.hf.find("alpha") != rule.hf.npos) view.shape = {1};
    view.read = [value](std::span<float> out) { out[0] = static_cast<float>(value); };
    tensors_.push_back({std::move(view), file_.path()});
  }

  [[noreturn]] void fail_shape(const GgufTensor& t, const std::string& expected) const {
    fail(fmt::format("{}: {}", file_.file_of(t), printable(t.name)),
         fmt::format("has shape [{}], expected {}", fmt::join(t.shape, ", "), expected));
  }

  // Checks that a tensor has one part for each expert or head.
  std::int64_t parts_of(const GgufRule& rule, const GgufTensor& t) const {
    const std::int64_t parts = gguf_parts(rule, config_);
    const bool vectors = rule.gguf.ends_with(".bias") || rule.form == Form::query_heads || rule.form == Form::key_heads;
    if (t.shape.size() != (vectors ? 2 : 3) || t.shape[0] != parts)
      fail_shape(t, fmt::format("the {} of {} {}", vectors ? "vectors" : "matrices", parts,
                                rule.gguf.find("exps") != rule.gguf.npos ? "experts" : "heads"));
    return parts;
  }

  void add_parts(const GgufRule& rule, std::int64_t layer, const GgufTensor& t) {
    const std::int64_t parts = parts_of(rule, t);
    for (std::int64_t i = 0; i < parts; ++i)
      tensors_.push_back({part_view(t, rule.hf_name(layer, i), i), file_.file_of(t)});
  }

  // Queries, keys and values in one matrix, or their biases in one vector.
  void add_qkv(const GgufRule& rule, std::int64_t layer, const GgufTensor& t) {
    const std::int64_t d = config_.at("head_dim"), keys = d * config_.at("num_key_value_heads").get<std::int64_t>();
    const std::array<std::int64_t, 3> rows{d * heads_of(config_), keys, keys};
    if (t.shape.size() > 2 || t.shape[0] != rows[0] + 2 * keys)
      fail_shape(t, fmt::format("{} rows", rows[0] + 2 * keys));
    std::int64_t begin = 0;
    for (std::int64_t part = 0; part < 3; ++part) {
      WeightView view{.name = rule.hf_name(layer, part), .shape = t.shape, .bytes = {}, .form = {}};
      view.shape[0] = element(rows, part);
      const std::int64_t row = std::ssize(t.bytes) / t.shape[0];
      view.bytes = t.bytes.subspan(as_size(begin * row), as_size(view.shape[0] * row));
      set_type(view, t.type);
      begin += view.shape[0];
      tensors_.push_back({std::move(view), file_.file_of(t)});
    }
  }

  // The inputs of the gated delta rule, and its gates.
  void add_delta_inputs(const GgufRule& rule, std::int64_t layer, const GgufTensor& t, const GgufTensor& gates) {
    const std::array<std::int64_t, 4> rows = delta_input_rows(config_);
    const std::int64_t heads = config_.at("linear_num_key_heads"), d_model = d_model_of(config_);
    for (const auto& [tensor, size] : {std::pair{&t, heads * (rows[0] + rows[1] + rows[2])}, {&gates, heads * rows[3]}})
      if (tensor->shape != std::vector<std::int64_t>{size, d_model})
        fail_shape(*tensor, fmt::format("[{}, {}]", size, d_model));
    tensors_.push_back(
        {delta_view(t, gates, rule.hf_name(layer), grouped_rows(heads, rows)), file_.file_of(t), {gates.bytes}});
  }

  void add_pair(const GgufRule& rule, std::int64_t layer, const GgufTensor& t, const GgufTensor& partner) {
    if (rule.form == Form::delta_inputs) return add_delta_inputs(rule, layer, t, partner);
    if (rule.form == Form::latent_keys) {
      const std::int64_t heads = heads_of(config_);
      if (t.shape.size() != 3 || t.shape[0] != heads) fail_shape(t, fmt::format("the matrices of {} heads", heads));
      if (partner.shape.size() != 3 || partner.shape[0] != heads || partner.shape[2] != t.shape[1])
        fail_shape(partner, fmt::format("the matrices of {} heads with {} columns", heads, t.shape[1]));
      tensors_.push_back({latent_view(t, partner, rule.hf_name(layer)), file_.file_of(t), {partner.bytes}});
      return;
    }
    if (rule.form == Form::gate_rows) {
      if (t.shape.size() != 2) fail_shape(t, "a matrix");
      if (partner.shape != t.shape) fail_shape(partner, fmt::format("[{}] as in {}", fmt::join(t.shape, ", "), t.name));
      tensors_.push_back({stacked_view(t, partner, rule.hf_name(layer)), file_.file_of(t), {partner.bytes}});
      return;
    }
    const std::int64_t experts = parts_of(rule, t);
    if (partner.shape != t.shape) fail_shape(partner, fmt::format("[{}] as in {}", fmt::join(t.shape, ", "), t.name));
    for (std::int64_t e = 0; e < experts; ++e)
      tensors_.push_back(
          {gate_up_view(t, partner, rule.hf_name(layer, e), e), file_.file_of(t), {bytes_of_part(partner, e)}});
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

// True for a tensor of a layer that predicts further tokens.
bool is_of_further_layer(std::string_view name, const nlohmann::json& config) {
  const std::int64_t layers = layers_of(config);
  for (std::int64_t i = 0; i < config.value("num_nextn_predict_layers", 0); ++i)
    if (name.starts_with(fmt::format("blk.{}.", layers + i))) return true;
  return false;
}

std::int64_t layers_with(const GgufRule& rule, const nlohmann::json& config) {
  return rule.in_layers() ? layers_of(config) : 1;
}

}  // namespace

std::vector<StoredTensor> gguf_weights(const GgufFile& file, const nlohmann::json& config) {
  Finder finder(file, config);
  std::vector<std::string> known;
  for (const GgufRule& rule : gguf_rules(config)) {
    for (std::int64_t layer = 0; layer < layers_with(rule, config); ++layer) finder.add(rule, layer);
    known.push_back(rule.gguf_name(0));
  }
  for (const GgufTensor& t : file.tensors())
    if (!finder.uses(t.name) && !is_of_further_layer(t.name, config))
      fail(fmt::format("{}: {}", printable(file.file_of(t), 400), printable(t.name)),
           fmt::format("no {} model of {} layers has such a tensor", family_of(config), layers_of(config)),
           did_you_mean(t.name, known));
  return finder.take();
}

kern::BlockFormat block_format_of(GgufType type) {
  switch (type) {
    case GgufType::q4_0:
      return kern::BlockFormat::q4_0;
    case GgufType::q8_0:
      return kern::BlockFormat::q8_0;
    case GgufType::q4_k:
      return kern::BlockFormat::q4_k;
    case GgufType::q5_k:
      return kern::BlockFormat::q5_k;
    case GgufType::q6_k:
      return kern::BlockFormat::q6_k;
    case GgufType::iq4_xs:
      return kern::BlockFormat::iq4_xs;
    case GgufType::mxfp4:
      return kern::BlockFormat::mxfp4;
    case GgufType::q4_1:
      return kern::BlockFormat::q4_1;
    case GgufType::q5_0:
      return kern::BlockFormat::q5_0;
    case GgufType::q5_1:
      return kern::BlockFormat::q5_1;
    case GgufType::iq4_nl:
      return kern::BlockFormat::iq4_nl;
    default:
      return kern::BlockFormat::none;
  }
}

std::string gguf_tensor_name(const nlohmann::json& config, std::string_view hf_name) {
  for (const GgufRule& rule : gguf_rules(config))
    for (std::int64_t layer = 0; layer < layers_with(rule, config); ++layer)
      for (std::int64_t part = 0; part < gguf_parts(rule, config); ++part)
        if (rule.hf_name(layer, part) == hf_name) return rule.gguf_name(layer);
  return std::string(hf_name);
}

}  // namespace tril::model
