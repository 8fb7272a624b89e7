#include "model_io/quantization.h"

#include <array>

#include "base/error.h"
#include "base/printable.h"
#include "model_io/quantized_files.h"
#include "model_io/quantized_methods.h"

namespace tril::model {
namespace {

struct Method {
  std::string_view name;
  void (*read)(const JsonObject& scheme, QuantizedTensors& tensors);
};

constexpr std::array methods{Method{"fp8", read_fp8},
                             Method{"fbgemm_fp8", read_fp8},
                             Method{"compressed-tensors", read_compressed_tensors},
                             Method{"gptq", read_gptq},
                             Method{"awq", read_awq},
                             Method{"mxfp4", read_mxfp4},
                             Method{"bitsandbytes", read_bitsandbytes}};

// The method of another program; null if the directory is not quantised, or by tril itself.
const Method* method_of(const JsonObject& config) {
  const auto scheme = config.find_object("quantization_config");
  const std::string name = scheme ? scheme->get<std::string>("quant_method", "") : "tril";
  if (name == "tril") return nullptr;
  for (const Method& m : methods)
    if (m.name == name) {
      // Its matrices are stored transposed, which these methods undo or not.
      if (config.get<std::string>("model_type", "") == "gpt2")
        config.fail_at("quantization_config", fmt::format("{} is not supported for gpt2", name),
                       "use the unquantised model and run `tril quantize`");
      return &m;
    }
  std::string known = "tril";
  for (const Method& m : methods) known += fmt::format(", {}", m.name);
  scheme->fail_at("quant_method", fmt::format("'{}' is not supported", printable(name, 40)),
                  fmt::format("supported: {}; or use the unquantised model and run `tril quantize`", known));
}

}  // namespace

nn::Precision stored_precision_of(const JsonObject& config) {
  if (method_of(config)) return nn::Precision::int8;
  const int bits = quantized_bits(config);
  return bits == 8 ? nn::Precision::int8 : bits == 4 ? nn::Precision::int4 : nn::Precision::fp32;
}

WeightFiles dequantized(const JsonObject& config, std::shared_ptr<const WeightFiles> stored) {
  const Method* const method = method_of(config);
  if (!method) return *stored;
  QuantizedTensors tensors(std::move(stored));
  method->read(config.object("quantization_config"), tensors);
  return std::move(tensors).finish(std::string(method->name));
}

}  // namespace tril::model
