#include "model_io/exports/quantize.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "format/safetensors_write.h"
#include "kern/gemm_int8.h"
#include "kern/quantize_int4.h"
#include "model_io/contents/read_values.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/source/registry.h"
#include "nn/serving.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t group = kern::int4_group;

// The stored form of a quantised weight.
struct Written {
  std::vector<std::uint8_t> values, multipliers;
  std::vector<float> scales;
};

Written rounded(const std::vector<float>& w, const Shape& shape, int bits) {
  const auto n = static_cast<std::size_t>(shape[0]), k = static_cast<std::size_t>(shape[1]);
  Written q;
  q.scales.resize(n);
  if (bits == 8) {
    const std::size_t wide = kern::int8_depth(k);
    std::vector<std::int8_t> rows(n * wide);
    kern::best().quantize_rows(w.data(), k, n, k, rows.data(), q.scales.data());
    for (std::size_t j = 0; j < n; ++j) {
      const auto* const row = reinterpret_cast<const std::uint8_t*>(&rows[j * wide]);
      q.values.insert(q.values.end(), row, row + k);
    }
  } else {
    q.values.resize(n * ((k + 1) / 2));
    q.multipliers.resize(n * static_cast<std::size_t>(groups_of(shape[1])));
    kern::quantize_int4(w.data(), n, k, {q.values.data(), q.multipliers.data(), q.scales.data()});
  }
  return q;
}

// A part of a tensor becomes a tensor of its own.
const std::string& name_to_store(const nn::Parameter& p, const StoredWeight& w) {
  return w.part ? p.name : w.values->name;
}

}  // namespace

void quantize(const ModelSource& from, const fs::path& to, int bits) {
  const std::unique_ptr<Model> m = make(from);
  nlohmann::ordered_json config = nlohmann::ordered_json::parse(from.published_config().value_or(m->config_json()));
  if (config.contains("quantization_config"))
    fail_usage(from.name(), "is already quantised", "quantise the original directory");
  const WeightFiles& files = from.weights();
  const nn::Precision precision = bits == 8 ? nn::Precision::int8 : nn::Precision::int4;

  std::vector<TensorHeader> headers;
  std::vector<StoredWeight> stored;
  for (const nn::Parameter& p : m->parameters().all()) {
    const StoredWeight& w = stored.emplace_back(from_files([&] { return find_weight(*m, p, files); }));
    if (!w.values) continue;
    const std::string& name = name_to_store(p, w);
    const int b = nn::quantized_bits(p, precision);
    if (b == 0) {
      headers.push_back({name, StoredType::f32, w.part ? sizes_of(p.shape) : w.values->shape});
      continue;
    }
    const std::int64_t out = p.shape[0], in = p.shape[1];
    if (b == 8) {
      headers.push_back({name, StoredType::i8, {out, in}});
    } else {
      headers.push_back({name, StoredType::u8, {out, (in + 1) / 2}});
      headers.push_back({name + "_multiplier", StoredType::u8, {out, groups_of(in)}});
    }
    headers.push_back({name + "_scale", StoredType::f32, {out}});
  }

  create_directories(to.string());
  SafetensorsWriter writer((to / "model.safetensors").string(), headers, {{"format", "pt"}});
  std::size_t i = 0;
  for (const nn::Parameter& p : m->parameters().all()) {
    const StoredWeight& w = stored[i++];
    if (!w.values) continue;
    const std::string& name = name_to_store(p, w);
    const int b = nn::quantized_bits(p, precision);
    if (b == 0) {
      const std::vector<float> values = w.part ? floats_of(p, w) : read_values(*w.values);
      from_files([&] { check_finite(files, w, values); });
      writer.write(name, std::as_bytes(std::span(values)));
      continue;
    }
    const std::vector<float> values = floats_of(p, w);
    from_files([&] { check_finite(files, w, values); });
    const Written q = rounded(values, p.shape, b);
    writer.write(name, std::as_bytes(std::span(q.values)));
    if (b == 4) writer.write(name + "_multiplier", std::as_bytes(std::span(q.multipliers)));
    writer.write(name + "_scale", std::as_bytes(std::span(q.scales)));
  }
  writer.commit();
  from.copy_companions(to);
  config["quantization_config"] = {{"quant_method", "tril"}, {"bits", bits}, {"group_size", group}};
  write_file_atomic((to / "config.json").string(), config.dump(2) + "\n");
}

}  // namespace tril::model
