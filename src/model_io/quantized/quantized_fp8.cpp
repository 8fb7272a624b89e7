// Matrices of 8-bit floats as DeepSeek, Qwen and others publish them: X.weight F8_E4M3 [out, in] with X.weight_scale_inv or
// X.weight_scale. Source: `transformers`, integrations/finegrained_fp8.py and fbgemm_fp8.py.
#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/quantized/quantized_methods.h"

namespace tril::model {
namespace {

std::pair<std::int64_t, std::int64_t> block_size(const JsonObject& scheme) {
  const auto sizes = scheme.find<std::vector<std::int64_t>>("weight_block_size");
  if (!sizes) return {0, 0};
  if (sizes->size() != 2 || (*sizes)[0] < 1 || (*sizes)[1] < 1)
    scheme.fail_at("weight_block_size", fmt::format("[{}] is not a height and a width", fmt::join(*sizes, ", ")));
  return {(*sizes)[0], (*sizes)[1]};
}

void check_fp8_options(const JsonObject& scheme) {
  check_keys(scheme, {"quant_method", "activation_scheme", "weight_block_size", "modules_to_not_convert", "fmt",
                      "scale_fmt", "dequantize", "ignored_layers", "activation_scale_ub"});
  if (const auto fmt = scheme.find<std::string>("fmt"); fmt && *fmt != "e4m3" && *fmt != "float8_e4m3fn")
    scheme.fail_at("fmt", fmt::format("'{}' is not supported", printable(*fmt, 40)), "supported: e4m3");
}

}  // namespace

void read_fp8(const JsonObject& scheme, QuantizedTensors& tensors) {
  check_fp8_options(scheme);
  const auto block = block_size(scheme);
  for (const char* ending : {".weight_scale_inv", ".weight_scale"})
    for (const std::string& module : tensors.names_before(ending)) {
      const WeightView &scales = tensors.part(module + ending), &weight = tensors.part(module + ".weight");
      tensors.check_matrix(weight);
      const std::int64_t rows = weight.shape[0], columns = weight.shape[1];
      if (weight.dtype != StoredType::f8_e4m3)
        tensors.fail_at(weight.name, fmt::format("is {}, expected F8_E4M3", weight.type_name()));
      if (!is_floating(scales.dtype) && scales.dtype != StoredType::u8)
        tensors.fail_at(scales.name, fmt::format("is {}, expected floats", scales.type_name()));
      const ScaleGrid grid = grid_of(tensors, scales, rows, columns, block);
      tensors.add(module + ".weight", weight.shape, weight, [&weight, &scales, grid, rows, columns](auto out) {
        WeightView powers = scales;  // exponents, stored as U8
        if (powers.dtype == StoredType::u8) powers.dtype = StoredType::f8_e8m0;
        const std::vector<float> s = to_f32(powers);
        to_f32(weight, out);
        for (std::int64_t r = 0; r < rows; ++r)
          for_runs(grid, r, columns, [&](ScaleRun run) {
            const float scale = element(s, run.at);
            for (std::int64_t c = run.begin; c < run.end; ++c) element(out, r * columns + c) *= scale;
          });
      });
      for (const char* of_activations : {".input_scale", ".activation_scale", ".input_scale_ub"})
        tensors.drop(module + of_activations);
    }
}

}  // namespace tril::model
