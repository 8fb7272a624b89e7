// bitsandbytes. 4 bits: X.weight is the flattened matrix, two numbers in a byte, the upper half first; X.weight.quant_map F32
// [16] are the numbers' values; X.weight.absmax is F32 for each block, or U8 (double quantisation) with nested_absmax,
// nested_quant_map [256] and an offset; X.weight.quant_state.bitsandbytes__nf4 or __fp4 is a JSON text.
// 8 bits: X.weight I8 [out, in] and X.SCB F32 [out]. Source: bitsandbytes' functional.py.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/quantized/quantized_methods.h"

namespace tril::model {
namespace {

constexpr float one_127th = 7.874015718698502e-3f;  // bitsandbytes' own constant
constexpr std::int64_t most_of_a_dimension = 0x7fffffff;

struct FourBitMatrix {
  const WeightView *numbers = nullptr, *absmax = nullptr, *map = nullptr, *nested_absmax = nullptr,
                   *nested_map = nullptr;
  std::int64_t block = 0, nested_block = 0;
  float nested_offset = 0;
  StoredType type = StoredType::f32;  // of the original matrix

  void read(std::span<float> values) const {
    const std::vector<float> code = to_f32(*map), most = maxima();
    for (std::int64_t b = 0; b < std::ssize(most); ++b)
      for (std::int64_t i = b * block; i < std::min((b + 1) * block, std::ssize(values)); ++i) {
        const int both = number_at<std::uint8_t>(*numbers, i / 2);
        element(values, i) = element(code, i % 2 ? both & 15 : both >> 4) * element(most, b);
      }
    round_to(type, values);
  }

 private:
  std::vector<float> maxima() const {
    if (!nested_absmax) return to_f32(*absmax);
    const std::vector<float> scales = to_f32(*nested_absmax), code = to_f32(*nested_map);
    std::vector<float> all(static_cast<std::size_t>(absmax->elements()));
    for (std::int64_t i = 0; i < std::ssize(all); ++i)
      element(all, i) = code[number_at<std::uint8_t>(*absmax, i)] * element(scales, i / nested_block) + nested_offset;
    return all;
  }
};

StoredType type_named(const JsonObject& state, const char* key) {
  const std::string name = state.get<std::string>(key);
  if (name == "float32") return StoredType::f32;
  if (name == "float16") return StoredType::f16;
  if (name == "bfloat16") return StoredType::bf16;
  state.fail_at(key, fmt::format("'{}' is not supported", printable(name, 40)),
                "supported: float32, float16, bfloat16");
}

// A count of blocks: values divided by the block's size, rounded up.
std::int64_t count_of(std::int64_t values, std::int64_t block) {
  return values / block + (values % block != 0);
}

void add_four_bits(QuantizedTensors& tensors, const std::string& weight, const std::string& kind) {
  const WeightView& text = tensors.part(weight + ".quant_state.bitsandbytes__" + kind);
  if (text.dtype != StoredType::u8) tensors.fail_at(text.name, fmt::format("is {}, expected U8", text.type_name()));
  const nlohmann::json json = parse_json({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()},
                                         printable(text.name), {.bytes = 65536, .depth = 4, .values = 1000});
  const JsonObject state(json, printable(text.name));
  check_keys(state, {"quant_type", "blocksize", "dtype", "shape", "nested_blocksize", "nested_dtype", "nested_offset"});
  if (state.get<std::string>("quant_type") != kind) state.fail_at("quant_type", fmt::format("is not {}", kind));
  const auto shape = state.get<std::vector<std::int64_t>>("shape");
  if (shape.size() != 2 || std::ranges::any_of(shape, [](auto n) { return n < 1 || n > most_of_a_dimension; }))
    state.fail_at("shape", fmt::format("[{}] is not a matrix", fmt::join(shape, ", ")));

  const std::int64_t values = shape[0] * shape[1];
  FourBitMatrix m{.numbers = &tensors.part(weight),
                  .map = &tensors.part(weight + ".quant_map", StoredType::f32, {16}),
                  .block = state.size("blocksize"),
                  .type = type_named(state, "dtype")};
  const std::int64_t bytes = std::ssize(m.numbers->bytes), needed = count_of(values, 2);
  if (bytes < needed || bytes > needed + 8)
    tensors.fail_at(weight, fmt::format("has {} bytes, expected two of {} numbers in each", bytes, values));
  const std::int64_t blocks = count_of(values, m.block);
  if (json.contains("nested_blocksize")) {
    m.absmax = &tensors.part(weight + ".absmax", StoredType::u8, {blocks});
    m.nested_block = state.size("nested_blocksize");
    m.nested_offset = static_cast<float>(state.get<double>("nested_offset"));
    m.nested_map = &tensors.part(weight + ".nested_quant_map", StoredType::f32, {256});
    m.nested_absmax = &tensors.part(weight + ".nested_absmax", StoredType::f32, {count_of(blocks, m.nested_block)});
    if (type_named(state, "nested_dtype") != StoredType::f32) state.fail_at("nested_dtype", "is not float32");
  } else {
    m.absmax = &tensors.part(weight + ".absmax", StoredType::f32, {blocks});
  }
  tensors.add(weight, shape, *m.numbers, [m](std::span<float> out) { m.read(out); });
}

void add_eight_bits(QuantizedTensors& tensors, const std::string& module) {
  const WeightView& weight = tensors.part(module + ".weight");
  tensors.check_matrix(weight);
  const std::int64_t rows = weight.shape[0], columns = weight.shape[1];
  tensors.part(weight.name, StoredType::i8, {rows, columns});
  const WeightView& scales = tensors.part(module + ".SCB", StoredType::f32, {rows});
  if (const WeightView* const order = tensors.find_part(module + ".weight_format"))
    if (order->dtype != StoredType::u8 || order->elements() != 1 || number_at<std::uint8_t>(*order, 0) != 0)
      tensors.fail_at(order->name, "is not 0, the only order that is supported: by rows");
  tensors.add(module + ".weight", weight.shape, weight, [&weight, &scales, columns](std::span<float> out) {
    for (std::int64_t r = 0; r < scales.elements(); ++r) {
      const float scale = number_at<float>(scales, r);
      for (std::int64_t i = r * columns; i < (r + 1) * columns; ++i)
        element(out, i) = static_cast<float>(number_at<std::int8_t>(weight, i)) * scale * one_127th;
    }
  });
}

}  // namespace

void read_bitsandbytes(const JsonObject& scheme, QuantizedTensors& tensors) {
  check_keys(scheme, {"quant_method", "_load_in_4bit", "_load_in_8bit", "load_in_4bit", "load_in_8bit",
                      "bnb_4bit_compute_dtype", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant",
                      "bnb_4bit_quant_storage", "llm_int8_threshold", "llm_int8_skip_modules",
                      "llm_int8_enable_fp32_cpu_offload", "llm_int8_has_fp16_weight"});
  for (const char* kind : {"nf4", "fp4"})
    for (const std::string& weight : tensors.names_before(std::string(".quant_state.bitsandbytes__") + kind))
      add_four_bits(tensors, weight, kind);
  for (const std::string& module : tensors.names_before(".SCB")) add_eight_bits(tensors, module);
}

}  // namespace tril::model
