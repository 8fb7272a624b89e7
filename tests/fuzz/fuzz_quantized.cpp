// libFuzzer: a safetensors file with a quantization_config in its metadata, read as a quantised directory's weights. An
// Error is fine; a crash, a hang, an access outside the tensors, or values far larger than the file is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "format/json_file.h"
#include "format/safetensors.h"
#include "memory_file.h"
#include "model_io/quantized/quantization.h"
#include "support/json_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::size_t most_values_of_a_byte = 16;  // two bits each, and parts of another type

void read_all(const std::string& path, std::size_t size) {
  const auto file = std::make_shared<const tril::SafetensorsFile>(tril::SafetensorsFile::open(path));
  const std::string* const text = file->find_metadata("quantization_config");
  if (!text) return;
  const nlohmann::json config{{"quantization_config", tril::parse_json(*text, "quantization_config")}};
  std::vector<tril::StoredTensor> tensors;
  for (const tril::WeightView& view : file->tensors()) tensors.push_back({view, path});
  const auto stored = std::make_shared<const tril::WeightFiles>(
      tril::WeightFiles::Contents{.where = path, .tensors = std::move(tensors), .maps = file});
  const tril::WeightFiles weights = tril::model::dequantized(tril::JsonObject(config, "config.json"), stored);
  for (const std::string& name : weights.names()) {
    const tril::WeightView& view = weights.at(name);
    if (view.elements() < 0 || static_cast<std::size_t>(view.elements()) > most_values_of_a_byte * size) std::abort();
    try {
      to_f32(view);
    } catch (const tril::Error&) {  // integers that no matrix has as a part
    }
  }
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> list{"quant_method",
                                             "fp8",
                                             "fbgemm_fp8",
                                             "compressed-tensors",
                                             "gptq",
                                             "awq",
                                             "mxfp4",
                                             "bitsandbytes",
                                             "bits",
                                             "group_size",
                                             "symmetric",
                                             "num_bits",
                                             "strategy",
                                             "group",
                                             "channel",
                                             "tensor",
                                             "block",
                                             "block_structure",
                                             "format",
                                             "gptq_v2",
                                             "pack-quantized",
                                             "weight_block_size",
                                             "w.weight_g_idx",
                                             "F8_E4M3",
                                             "F8_E8M0",
                                             "I8",
                                             "U8",
                                             "I32",
                                             "I64",
                                             "F16",
                                             "BF16",
                                             "F32",
                                             "dtype",
                                             "shape",
                                             "config_groups",
                                             "float"};
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read_all(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}), size);
  } catch (const tril::Error&) {
  }
  return 0;
}

// One mutation in three changes the configuration as JSON, one the header of tensors, and one bytes; lengths are corrected.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::uint64_t length = 0;
  if (size < sizeof length || seed % 3 == 0) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(&length, data, sizeof length);
  if (length > size - sizeof length) return LLVMFuzzerMutate(data, size, most);
  const std::string rest(reinterpret_cast<const char*>(data) + sizeof length + length, size - sizeof length - length);
  std::string header(reinterpret_cast<const char*>(data) + sizeof length, length);
  const auto mutate = [&](std::string& text) {
    const std::size_t before = text.size();
    text.resize(before + 4096);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(text.data());
    text.resize(tril::test::JsonMutator(seed / 3, texts(), LLVMFuzzerMutate)(bytes, before, text.size()));
  };
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(header, nullptr, /*allow_exceptions=*/false);
  const bool has_config = json.is_object() && json.contains("__metadata__") && json["__metadata__"].is_object() &&
                          json["__metadata__"].contains("quantization_config") &&
                          json["__metadata__"]["quantization_config"].is_string();
  if (seed % 3 == 1 && has_config) {
    auto config = json["__metadata__"]["quantization_config"].get<std::string>();
    mutate(config);
    json["__metadata__"]["quantization_config"] = config;
    header = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  } else {
    mutate(header);
  }
  length = header.size();
  if (sizeof length + header.size() + rest.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, &length, sizeof length);
  std::copy(header.begin(), header.end(), data + sizeof length);
  std::copy(rest.begin(), rest.end(), data + sizeof length + header.size());
  return sizeof length + header.size() + rest.size();
}
