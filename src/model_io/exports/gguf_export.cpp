#include "model_io/exports/gguf_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "kern/gguf_blocks.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_mamba2.h"
#include "model_io/gguf/gguf_rules.h"
#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// A tensor to be written and its source: one weight, or the weights of all parts.
struct Source {
  GgufTensorHeader header;
  GgufRule rule;
  std::vector<const nn::Parameter*> weights;
};

// general.file_type: llama.cpp's number for a file's main type.
std::uint32_t file_type(GgufType type) {
  switch (type) {
    case GgufType::f16:
      return 1;
    case GgufType::q4_0:
      return 2;
    case GgufType::q8_0:
      return 7;
    case GgufType::bf16:
      return 32;
    default:
      return 0;
  }
}

// Vectors, position tables, routers and taps are small and stay unquantised, as in llama.cpp's own tool. Token embeddings and the
// output matrix are sensitive, and keep 8 bits if the rest has 4.
GgufType type_of(const GgufTensorHeader& t, GgufType wanted) {
  const auto has = [&](std::string_view part) { return t.name.find(part) != t.name.npos; };
  if (t.shape.size() < 2 || t.name == "position_embd.weight" || has("ffn_gate_inp") || has("shortconv.conv") ||
      has("ssm_conv1d") || has("_norm.") || t.shape.back() == 1 || t.name.ends_with(".bias"))
    return GgufType::f32;
  if (wanted == GgufType::q4_0 && !t.name.starts_with("blk.")) wanted = GgufType::q8_0;
  return t.shape.back() % static_cast<std::int64_t>(values_of_block(wanted)) == 0 ? wanted : GgufType::f16;
}

using ByName = std::map<std::string, const nn::Parameter*, std::less<>>;

// The weights by their names in files, or by their own if files have several in one tensor.
ByName stored_names(const Model& m) {
  ByName by_name;
  for (const nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter) continue;
    const StoredAs stored = m.stored_as(p);
    by_name[stored.part.count > 0 ? p.name : stored.names[0]] = &p;
  }
  return by_name;
}

// The number of rows of in_proj_qkvz that a tensor of GGUF has: those of the inputs, or those of the gates.
std::int64_t delta_rows(const GgufRule& rule, const nlohmann::json& config) {
  const auto [queries, keys, values, gates] = delta_input_rows(config);
  return config.at("linear_num_key_heads").get<std::int64_t>() *
         (rule.form == Form::delta_inputs ? queries + keys + values : gates);
}

// The shape of a tensor that is made of weights of shape `one`.
std::vector<std::int64_t> shape_of(const GgufRule& rule, std::vector<std::int64_t> one, const nlohmann::json& config) {
  const auto sizes = [&](std::initializer_list<std::int64_t> s) { return std::vector<std::int64_t>(s); };
  switch (rule.form) {
    case Form::expert_gates:
    case Form::expert_ups:
      one[0] /= 2;
      [[fallthrough]];
    case Form::experts:
    case Form::query_heads:
    case Form::key_heads:
      one.insert(one.begin(), gguf_parts(rule, config));
      return one;
    case Form::taps:
    case Form::delta_taps:
      return sizes({one.front(), one.back()});
    case Form::column:
    case Form::column_rates:
      return sizes({one[0], 1});
    case Form::norm_groups:
      return sizes({mamba2_groups_of(config), one[0] / mamba2_groups_of(config)});
    case Form::gate_rows:
    case Form::up_rows:
      return sizes({one[0] / 2, one[1]});
    case Form::delta_inputs:
    case Form::delta_gates:
      return sizes({delta_rows(rule, config), one[1]});
    case Form::latent_keys:
      return sizes({heads_of(config), one[1], config.at("qk_nope_head_dim")});
    case Form::latent_values:
      return sizes({heads_of(config), config.at("v_head_dim"), one[1]});
    default:
      return one;
  }
}

std::vector<Source> sources_of(const Model& m, const nlohmann::json& config, GgufType type) {
  const ByName by_name = stored_names(m);
  std::set<const nn::Parameter*> used;
  std::vector<Source> sources;
  for (const GgufRule& rule : gguf_rules(config)) {
    if (rule.only_read) continue;
    for (std::int64_t layer = 0; layer < (rule.in_layers() ? layers_of(config) : 1); ++layer) {
      Source s{.header = {.name = rule.gguf_name(layer), .shape = {}}, .rule = rule, .weights = {}};
      for (std::int64_t part = 0; part < gguf_parts(rule, config); ++part)
        if (const auto found = by_name.find(rule.hf_name(layer, part)); found != by_name.end())
          s.weights.push_back(found->second);
      if (s.weights.empty()) continue;
      used.insert(s.weights.begin(), s.weights.end());
      if (rule.form == Form::metadata) continue;  // numbers_of()
      s.header.shape = shape_of(rule, sizes_of(s.weights[0]->shape), config);
      s.header.type = type_of(s.header, type);
      sources.push_back(std::move(s));
    }
  }
  for (const auto& [name, p] : by_name)
    if (!used.contains(p))
      fail_usage(name, fmt::format("llama.cpp's architecture for a {} model has no such tensor", m.family()));
  return sources;
}

// The values of a weight in the model's layout, but with the rows of matrices without a form in the order of the files.
std::vector<float> values_of(const Model& m, const nn::Parameter& p, const WeightFiles& files, const GgufRule& rule) {
  const StoredWeight stored = from_files([&] { return find_weight(m, p, files); });
  if (!stored.values) return std::vector<float>(static_cast<std::size_t>(p.shape.count()));
  std::vector<float> values = floats_of(p, stored);
  const bool of_model = rule.form == Form::grouped || rule.form == Form::delta_inputs || rule.form == Form::delta_gates;
  if (of_model || rule.has_parts()) return values;  // GGUF has the model's order
  return values_to_store(values, p.shape, {.names = {}, .row_order = m.stored_as(p).row_order});
}

// The part of kv_b_proj that a tensor of GGUF has: keys or values of all heads, keys transposed.
std::vector<float> latent_part(const std::vector<float>& values, const GgufRule& rule, const nlohmann::json& config) {
  const std::int64_t rank = config.at("kv_lora_rank"), own = config.at("qk_nope_head_dim"),
                     d_v = config.at("v_head_dim");
  const bool keys = rule.form == Form::latent_keys;
  std::vector<float> result;
  for (auto head = values.begin(); head != values.end(); head += (own + d_v) * rank) {
    const auto split = head + own * rank;
    const std::vector<float> part =
        keys ? transposed_values(std::span(head, split), own, rank) : std::vector<float>(split, split + d_v * rank);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

// Converts a weight's values to the form of GGUF.
std::vector<float> form_of_gguf(std::vector<float> values, const GgufRule& rule, const nlohmann::json& config) {
  const auto half = values.begin() + std::ssize(values) / 2;
  switch (rule.form) {
    case Form::expert_gates:
    case Form::gate_rows:
      return {values.begin(), half};
    case Form::expert_ups:
    case Form::up_rows:
      return {half, values.end()};
    case Form::delta_inputs:
    case Form::delta_gates: {
      const std::int64_t taken = delta_rows(rule, config) * d_model_of(config);
      return rule.form == Form::delta_inputs ? std::vector<float>(values.begin(), values.begin() + taken)
                                             : std::vector<float>(values.end() - taken, values.end());
    }
    case Form::rates:
    case Form::column_rates:
    case Form::delta_rates:
      for (float& v : values) v = -std::exp(v);
      return values;
    case Form::latent_keys:
    case Form::latent_values:
      return latent_part(values, rule, config);
    default:
      return values;
  }
}

// Brings the rows (or single values, or columns) into GGUF's order.
std::vector<float> in_order(const std::vector<float>& values, const GgufRule& rule, const Shape& shape,
                            const nlohmann::json& config) {
  if (rule.form == Form::grouped) return values;  // the model's order is GGUF's
  const std::int64_t rows = shape.rank() == 0 ? 1 : shape[0];
  if (rule.form == Form::delta_columns) {
    GgufRule by_rows = rule;
    by_rows.form = Form::delta_values;
    const Shape turned{shape[1], shape[0]};
    return transposed_values(in_order(transposed_values(values, rows, shape[1]), by_rows, turned, config), shape[1],
                             rows);
  }
  const std::vector<std::int64_t> order = gguf_row_order(rule, rows, config);
  if (order.empty()) return values;
  const auto width = std::ssize(values) / rows;
  std::vector<float> result;
  result.reserve(values.size());
  for (const std::int64_t row : order) {
    const auto from = values.begin() + row * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

// The numbers of each layer that belong to the metadata.
GgufMetadata numbers_of(const Model& m, const WeightFiles& files, const nlohmann::json& config) {
  const ByName by_name = stored_names(m);
  GgufMetadata metadata;
  for (const GgufRule& rule : gguf_rules(config)) {
    if (rule.form != Form::metadata) continue;
    std::vector<float> numbers;
    for (std::int64_t layer = 0; layer < layers_of(config); ++layer)
      numbers.push_back(values_of(m, *by_name.at(rule.hf_name(layer)), files, rule).at(0));
    metadata.add(rule.gguf, numbers);
  }
  return metadata;
}

std::vector<std::byte> bytes_of(const Model& m, const Source& s, const WeightFiles& files,
                                const nlohmann::json& config) {
  std::vector<std::byte> bytes(s.header.bytes());
  std::size_t at = 0;
  for (const nn::Parameter* p : s.weights) {
    std::vector<float> values = form_of_gguf(values_of(m, *p, files, s.rule), s.rule, config);
    if (!s.rule.has_parts()) values = in_order(values, s.rule, p->shape, config);
    multiply_by_factors(s.rule, config, values);
    const bool narrow = s.header.type == GgufType::f16;
    for (const float v : values)
      if (!std::isfinite(v) || (narrow && std::abs(v) >= 65520))
        fail(p->name,
             fmt::format("contains {}, which {} cannot hold", v, narrow ? "16-bit floats" : "an exported file"),
             narrow && std::isfinite(v) ? "pass `type` bf16 or f32"
                                        : "the model is damaged: train or download it again");
    kern::quantize_blocks(s.header.type, values.data(), values.size(), bytes.data() + at);
    at += values.size() / values_of_block(s.header.type) * bytes_of_block(s.header.type);
  }
  return bytes;
}

}  // namespace

void export_gguf(const Model& m, const WeightFiles& files, const GgufExport& how) {
  check(kern::can_quantize_blocks(how.type), "GGUF", "writing {} is not supported", name_of(how.type));
  const nlohmann::json config = nlohmann::json::parse(m.config_json());
  const GgufHeader header = gguf_header_of(config);
  GgufMetadata metadata;
  metadata.add("general.architecture", header.architecture);
  metadata.add("general.type", "model");
  metadata.add("general.name", how.name);
  metadata.add("general.file_type", file_type(how.type));
  metadata.add("general.quantization_version", std::uint32_t{2});
  metadata.append(header.metadata);
  metadata.append(numbers_of(m, files, config));
  metadata.append(how.tokenizer);

  const std::vector<Source> sources = sources_of(m, config, how.type);
  std::vector<GgufTensorHeader> headers;
  const std::pair<const char*, const std::vector<float>*> factors[] = {
      {"rope_freqs.weight", &header.rope_factors},
      {"rope_factors_long.weight", &header.rope_factors_long},
      {"rope_factors_short.weight", &header.rope_factors_short}};
  for (const auto& [name, values] : factors)
    if (!values->empty()) headers.push_back({name, GgufType::f32, {std::ssize(*values)}});
  for (const Source& s : sources) headers.push_back(s.header);
  GgufWriter writer(how.path, headers, metadata);
  for (const auto& [name, values] : factors)
    if (!values->empty()) writer.write(name, std::as_bytes(std::span(*values)));
  for (const Source& s : sources) writer.write(s.header.name, bytes_of(m, s, files, config));
  writer.commit();
}

}  // namespace tril::model
