#include "model_io/quantized/quantization.h"

#include <array>

#include "base/error.h"
#include "base/printable.h"
#include "kern/quantize_int4.h"
#include "model_io/quantized/quantized_methods.h"

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

// Another program's method; null if the directory is not quantised, or quantised by tril.
const Method* method_of(const JsonObject& config) {
  const auto scheme = config.find_object("quantization_config");
  const std::string name = scheme ? scheme->get<std::string>("quant_method", "") : "tril";
  if (name == "tril") return nullptr;
  for (const Method& m : methods)
    if (m.name == name) {
      // gpt2's matrices are stored transposed; some of these methods undo that, others do not.
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

// The bits of tril's own method; 0 without one.
int own_bits(const JsonObject& config) {
  constexpr std::int64_t group = kern::int4_group;
  const auto scheme = config.find_object("quantization_config");
  if (!scheme) return 0;
  check_keys(*scheme, {"quant_method", "bits", "group_size"});
  const std::int64_t bits = scheme->size("bits");
  if (bits != 8 && bits != 4) scheme->fail_at("bits", fmt::format("{} is neither 8 nor 4", bits));
  if (scheme->size("group_size", group) != group)
    scheme->fail_at("group_size", fmt::format("{} is not supported", scheme->size("group_size")), "only 32 is");
  return static_cast<int>(bits);
}

}  // namespace

nn::Precision stored_precision_of(const JsonObject& config) {
  if (method_of(config)) return nn::Precision::int8;
  const int bits = own_bits(config);
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
