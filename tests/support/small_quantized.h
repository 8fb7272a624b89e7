// A whole model of random weights whose matrices another program has quantised to 4 bits: GPTQ or AWQ.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/half.h"
#include "base/rng.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/source/registry.h"
#include "support/temporary.h"

namespace tril::testing {

/// Tensors with memory of their own.
class OwnedTensors {
 public:
  template <class T>
  void add(const std::string& name, StoredType type, std::vector<std::int64_t> shape, const std::vector<T>& values) {
    std::string& bytes = kept_.emplace_back(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    views_.push_back({name, type, std::move(shape), std::as_bytes(std::span(bytes)), {}});
  }
  void add(const WeightView& view) {
    add(view.name, view.dtype, view.shape, std::vector<std::byte>(view.bytes.begin(), view.bytes.end()));
  }
  const std::vector<WeightView>& views() const { return views_; }

 private:
  std::deque<std::string> kept_;
  std::vector<WeightView> views_;
};

/// Writes config.json and model.safetensors of a small llama. Each matrix of a layer has random numbers of 4 bits, in groups of
/// 32 inputs, with scales in F16 and zero points.
/// @param method  "gptq": qweight [in / 8, out]; "awq": qweight [in, out / 8]
inline void write_small_quantized(const std::filesystem::path& directory, const std::string& method) {
  constexpr std::int64_t group = 32, in_word = 8;
  nlohmann::json config{{"model_type", "llama"},        {"vocab_size", 40},       {"hidden_size", 32},
                        {"intermediate_size", 64},      {"num_hidden_layers", 2}, {"num_attention_heads", 4},
                        {"num_key_value_heads", 2},     {"bos_token_id", 1},      {"eos_token_id", 2},
                        {"max_position_embeddings", 64}};
  const TemporaryDirectory plain;
  {
    const auto m = model::make(JsonObject(config, "config.json"));
    m->parameters().allocate();
    m->parameters().initialise(1);
    model::save(*m, plain.path());
  }
  const SafetensorsFile file = SafetensorsFile::open(plain.path("model.safetensors"));
  RandomSequence random(1, 3);
  const auto words = [&](std::int64_t count) {
    std::vector<std::uint32_t> list(static_cast<std::size_t>(count));
    for (std::uint32_t& word : list) word = random.bits();
    return list;
  };
  OwnedTensors tensors;
  for (const WeightView& t : file.tensors()) {
    if (!t.name.ends_with("_proj.weight")) {
      tensors.add(t);
      continue;
    }
    const std::string module = t.name.substr(0, t.name.rfind('.'));
    const std::int64_t out = t.shape[0], in = t.shape[1], groups = in / group;
    const bool gptq = method == "gptq";
    const std::vector<std::int64_t> shape = gptq ? std::vector{in / in_word, out} : std::vector{in, out / in_word};
    tensors.add(module + ".qweight", StoredType::i32, shape, words(in * out / in_word));
    tensors.add(module + ".qzeros", StoredType::i32, {groups, out / in_word}, words(groups * out / in_word));
    std::vector<std::uint16_t> scales;
    for (std::int64_t i = 0; i < groups * out; ++i)
      scales.push_back(f32_to_f16(0.01f + 0.001f * static_cast<float>(random.below(10))));
    tensors.add(module + ".scales", StoredType::f16, {groups, out}, scales);
  }
  config["quantization_config"] = {{"quant_method", method}, {"bits", 4}, {"group_size", group}};
  config["quantization_config"][method == "gptq" ? "desc_act" : "zero_point"] = method != "gptq";
  std::filesystem::create_directories(directory);
  write_safetensors((directory / "model.safetensors").string(), tensors.views(), {});
  write_file_atomic((directory / "config.json").string(), config.dump());
}

}  // namespace tril::testing
