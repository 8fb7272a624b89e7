#include "model_io/gguf_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "kern/gguf_blocks.h"
#include "model_io/gguf_config.h"
#include "model_io/gguf_tensors.h"
#include "model_io/quantized_files.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

// A tensor to be written and its source: one weight, or the weights of all experts.
struct Source {
  GgufTensorHeader header;
  Form form = Form::same;
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

// Vectors, position tables and routers are small and stay unquantised, as in llama.cpp's own tool. Token embeddings and the
// output matrix are sensitive, and keep 8 bits if the rest has 4.
GgufType type_of(const GgufTensorHeader& t, GgufType wanted) {
  if (t.shape.size() < 2 || t.name == "position_embd.weight" || t.name.find("ffn_gate_inp") != t.name.npos)
    return GgufType::f32;
  if (wanted == GgufType::q4_0 && !t.name.starts_with("blk.")) wanted = GgufType::q8_0;
  return t.shape.back() % static_cast<std::int64_t>(values_of_block(wanted)) == 0 ? wanted : GgufType::f16;
}

using ByName = std::map<std::string, const nn::Parameter*, std::less<>>;

// The weights by their names in files.
ByName stored_names(const Model& m) {
  ByName by_name;
  for (const nn::Parameter& p : m.parameters().all())
    if (!p.is_adapter) by_name[m.stored_as(p).names[0]] = &p;
  return by_name;
}

std::vector<Source> sources_of(const Model& m, const nlohmann::json& config, GgufType type) {
  const ByName by_name = stored_names(m);
  std::set<const nn::Parameter*> used;
  std::vector<Source> sources;
  for (const GgufRule& rule : gguf_rules(config.at("model_type").get<std::string>()))
    for (std::int64_t layer = 0; layer < (rule.in_layers() ? layers_of(config) : 1); ++layer) {
      Source s{.header = {.name = rule.gguf_name(layer), .shape = {}}, .form = rule.form, .weights = {}};
      const std::int64_t experts = rule.form == Form::experts ? experts_of(config) : 1;
      for (std::int64_t e = 0; e < experts; ++e)
        if (const auto found = by_name.find(rule.hf_name(layer, e)); found != by_name.end())
          s.weights.push_back(found->second);
      if (s.weights.empty()) continue;
      used.insert(s.weights.begin(), s.weights.end());
      s.header.shape = sizes_of(s.weights[0]->shape);
      if (rule.form == Form::experts) s.header.shape.insert(s.header.shape.begin(), experts);
      s.header.type = type_of(s.header, type);
      sources.push_back(std::move(s));
    }
  for (const auto& [name, p] : by_name)
    if (!used.contains(p))
      fail_usage(name, fmt::format("llama.cpp's architecture for a {} model has no such tensor", m.family()));
  return sources;
}

// The values of a weight as in its family's files, matrices as [out, in].
std::vector<float> values_of(const Model& m, const nn::Parameter& p, const WeightFiles& files) {
  const StoredWeight stored = from_files([&] { return find_weight(m, p, files); });
  if (!stored.values) return std::vector<float>(static_cast<std::size_t>(p.shape.count()));
  if (stored.bits() != 0) return floats_of(p, stored);
  std::vector<float> values = to_f32(*stored.values);
  return stored.transposed ? transposed_values(values, p.shape[1], p.shape[0]) : values;
}

// Reorders the rows (or single values) of `heads` heads into pairs.
std::vector<float> rotated(const std::vector<float>& values, std::int64_t rows, std::int64_t heads) {
  const auto width = std::ssize(values) / rows;
  std::vector<float> result;
  result.reserve(values.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from = values.begin() + unrotated_row(row, rows / heads) * width;
    result.insert(result.end(), from, from + width);
  }
  return result;
}

std::vector<std::byte> bytes_of(const Model& m, const Source& s, const WeightFiles& files,
                                const nlohmann::json& config) {
  std::vector<std::byte> bytes(s.header.bytes());
  std::size_t at = 0;
  for (const nn::Parameter* p : s.weights) {
    std::vector<float> values = values_of(m, *p, files);
    if (s.form == Form::rotated_queries) values = rotated(values, p->shape[0], config.at("num_attention_heads"));
    if (s.form == Form::rotated_keys) values = rotated(values, p->shape[0], config.at("num_key_value_heads"));
    if (s.form == Form::offset)
      for (float& v : values) v += 1;
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
