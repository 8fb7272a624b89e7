// compressed-tensors (llm-compressor, vLLM). Plain: X.weight I8 or F8_E4M3 [out, in]. Packed: X.weight_packed I32
// [out, in bits / 32], numbers plus 2^(bits - 1) as a bit stream along each row; X.weight_shape is the matrix's shape.
// X.weight_scale has one scale for the matrix, or one for each row, group or block; X.weight_zero_point has the same shape, or
// is packed along the columns. Source: the compressed-tensors package, compressors/ and quantization/lifecycle/.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/quantized/quantized_methods.h"

namespace tril::model {
namespace {

// The options of all quantised matrices.
struct CompressedOptions {
  int bits = 0;
  bool symmetric = true, is_float = false;
  std::pair<std::int64_t, std::int64_t> block{0, 0};

  bool operator==(const CompressedOptions&) const = default;
};

CompressedOptions options_of_group(const JsonObject& weights) {
  check_keys(weights, {"num_bits", "type", "symmetric", "group_size", "strategy", "block_structure", "dynamic",
                       "actorder", "observer", "observer_kwargs", "scale_dtype", "zp_dtype"});
  CompressedOptions o;
  const std::int64_t bits = weights.size("num_bits");
  const std::string type = weights.get<std::string>("type", "int");
  o.is_float = type == "float";
  o.symmetric = weights.get<bool>("symmetric", true);
  if (type != "int" && !o.is_float)
    weights.fail_at("type", fmt::format("'{}' is not supported", printable(type, 40)), "supported: int, float");
  if (o.is_float ? bits != 8 : bits < 2 || bits > 8)
    weights.fail_at("num_bits", fmt::format("{} is not supported for {}", bits, type),
                    "supported: int 2 to 8, float 8");
  o.bits = static_cast<int>(bits);
  if (weights.get<bool>("dynamic", false)) weights.fail_at("dynamic", "true is not supported for weights");
  const std::string strategy = weights.get<std::string>("strategy", "tensor");
  constexpr std::array known{"tensor", "channel", "group", "block"};
  if (std::find(known.begin(), known.end(), strategy) == known.end())
    weights.fail_at("strategy", fmt::format("'{}' is not supported", printable(strategy, 40)),
                    "supported: tensor, channel, group, block");
  if (const auto block = weights.find<std::vector<std::int64_t>>("block_structure")) {
    if (block->size() != 2 || (*block)[0] < 1 || (*block)[1] < 1)
      weights.fail_at("block_structure", fmt::format("[{}] is not a height and a width", fmt::join(*block, ", ")));
    o.block = {(*block)[0], (*block)[1]};
  }
  return o;
}

// Refuses a key that is not empty, null or "dense".
void check_absent(const JsonObject& scheme, const char* key) {
  const auto at = scheme.json().find(key);
  if (at == scheme.json().end() || at->is_null() || at->empty()) return;
  if (at->is_object() && at->contains("format") && (*at)["format"] == "dense") return;
  scheme.fail_at(key, "is not supported");
}

CompressedOptions compressed_options(const JsonObject& scheme) {
  check_keys(scheme, {"quant_method", "format", "config_groups", "ignore", "quantization_status",
                      "global_compression_ratio", "kv_cache_scheme", "sparsity_config", "transform_config", "version"});
  const std::string format = scheme.get<std::string>("format", "dense");
  constexpr std::array known{"dense", "int-quantized", "float-quantized", "naive-quantized", "pack-quantized"};
  if (std::find(known.begin(), known.end(), format) == known.end())
    scheme.fail_at("format", fmt::format("'{}' is not supported", printable(format, 40)),
                   fmt::format("supported: {}", fmt::join(known, ", ")));
  check_absent(scheme, "sparsity_config");
  check_absent(scheme, "transform_config");
  const JsonObject groups = scheme.object("config_groups");
  std::optional<CompressedOptions> all;
  for (const std::string& name : groups.keys()) {
    const JsonObject group = groups.object(name);
    check_keys(group, {"targets", "weights", "input_activations", "output_activations", "format"});
    const auto weights = group.find_object("weights");
    if (!weights) continue;
    const CompressedOptions o = options_of_group(*weights);
    if (all && *all != o)
      groups.fail_at(name, "quantises weights in another way than another group, which is not supported");
    all = o;
  }
  return all.value_or(CompressedOptions{});
}

// One quantised matrix: W = s (q - z).
struct CompressedMatrix {
  const WeightView *numbers = nullptr, *scales = nullptr, *zeros = nullptr;
  std::int64_t out = 0, in = 0;
  int packed_bits = 0;  // 0: not packed
  ScaleGrid grid;
  std::vector<std::int32_t> group_of = {};  // of each input; empty: in order

  void read(std::span<float> values) const {
    const std::vector<float> s = to_f32(*scales), z = zero_points();
    for (std::int64_t o = 0; o < out; ++o) {
      const auto row = values.subspan(as_size(o * in), as_size(in));
      read_numbers(o, row);
      const auto dequantize = [&](std::int64_t i, std::int64_t at) {
        if (!z.empty()) element(row, i) -= element(z, at);
        element(row, i) *= element(s, at);
      };
      if (group_of.empty())
        for_runs(grid, o, in, [&](ScaleRun run) {
          for (std::int64_t i = run.begin; i < run.end; ++i) dequantize(i, run.at);
        });
      else
        for (std::int64_t i = 0; i < in; ++i) dequantize(i, o / grid.height * grid.across + element(group_of, i));
      round_to(scales->dtype, row);
    }
  }

 private:
  // The numbers of row o, before scales. 8-bit floats have been read.
  void read_numbers(std::int64_t o, std::span<float> row) const {
    if (packed_bits > 0) {
      const std::int64_t words = (in * packed_bits + 31) / 32;
      std::array<std::int32_t, 32> q{};
      for (std::int64_t begin = 0; begin < in; begin += 32) {  // 32 numbers are `bits` whole words
        const std::int64_t count = std::min<std::int64_t>(32, in - begin), first = o * words + begin / 32 * packed_bits;
        const auto word = [&](std::int64_t k) { return number_at<std::uint32_t>(*numbers, first + k); };
        unpack(word, packed_bits, std::span(q).first(as_size(count)));
        for (std::int64_t i = 0; i < count; ++i)
          element(row, begin + i) = static_cast<float>(element(q, i) - (1 << (packed_bits - 1)));
      }
    } else if (numbers->dtype == StoredType::i8) {
      for (std::int64_t i = 0; i < in; ++i) element(row, i) = number_at<std::int8_t>(*numbers, o * in + i);
    }
  }

  std::vector<float> zero_points() const {
    if (!zeros) return {};
    std::vector<float> z(static_cast<std::size_t>(scales->elements()));
    const std::int64_t across = grid.across;
    for (std::int64_t i = 0; i < std::ssize(z); ++i) {
      const std::int64_t row = i / across, column = i % across;
      const auto word = [&](std::int64_t k) { return number_at<std::uint32_t>(*zeros, k * across + column); };
      element(z, i) =
          packed_bits > 0
              ? static_cast<float>(static_cast<int>(packed_number(word, row, packed_bits)) - (1 << (packed_bits - 1)))
              : number_at<std::int8_t>(*zeros, i);
    }
    return z;
  }
};

// Adds scales, zero points and the order of groups to a matrix with known numbers and size.
void add_compressed(QuantizedTensors& tensors, const std::string& module, const CompressedOptions& options,
                    CompressedMatrix m) {
  m.scales = &tensors.part(module + ".weight_scale");
  if (!is_floating(m.scales->dtype))
    tensors.fail_at(m.scales->name, fmt::format("is {}, expected floats", m.scales->type_name()));
  m.grid = grid_of(tensors, *m.scales, m.out, m.in, options.block);
  m.zeros = tensors.find_part(module + ".weight_zero_point");
  if (options.symmetric) m.zeros = nullptr;
  if (m.zeros && m.packed_bits > 0)
    tensors.part(m.zeros->name, StoredType::i32, {(m.out * m.packed_bits + 31) / 32, m.grid.across});
  else if (m.zeros)
    tensors.part(m.zeros->name, StoredType::i8, m.scales->shape);
  else if (!options.symmetric)
    tensors.fail_at(m.numbers->name, fmt::format("has no zero points, but symmetric is false"));
  if (const WeightView* const order = tensors.find_part(module + ".weight_g_idx")) {
    m.group_of = to_i32(tensors.part(order->name, StoredType::i32, {m.in}));
    if (std::ranges::all_of(m.group_of, [](std::int32_t g) { return g == -1; })) m.group_of.clear();  // not set
    for (const std::int32_t g : m.group_of)
      if (g < 0 || g >= m.grid.across)
        tensors.fail_at(order->name, fmt::format("has the group {}, but there are {}", g, m.grid.across));
  }
  for (const char* of_activations : {".input_scale", ".input_zero_point", ".output_scale", ".output_zero_point"})
    tensors.drop(module + of_activations);
  tensors.add(module + ".weight", {m.out, m.in}, *m.numbers, [m](std::span<float> values) {
    if (m.numbers->dtype == StoredType::f8_e4m3) to_f32(*m.numbers, values);
    m.read(values);
  });
}

void add_packed(QuantizedTensors& tensors, const std::string& module, const CompressedOptions& options) {
  CompressedMatrix m{.numbers = &tensors.part(module + ".weight_packed"), .packed_bits = options.bits, .grid = {}};
  tensors.check_matrix(*m.numbers);
  if (options.is_float || options.bits == 0)
    tensors.fail_at(m.numbers->name, "is packed, but config_groups quantise no weights to integers");
  const WeightView& shape = tensors.part(module + ".weight_shape");
  if (shape.shape != std::vector<std::int64_t>{2})
    tensors.fail_at(shape.name, fmt::format("has the shape [{}], expected [2]", fmt::join(shape.shape, ", ")));
  const std::vector<std::int32_t> sizes = to_i32(shape);
  m.out = sizes[0], m.in = sizes[1];
  if (m.out < 1 || m.in < 1) tensors.fail_at(shape.name, fmt::format("is {} x {}", m.out, m.in));
  tensors.part(m.numbers->name, StoredType::i32, {m.out, (m.in * options.bits + 31) / 32});
  add_compressed(tensors, module, options, m);
}

}  // namespace

void read_compressed_tensors(const JsonObject& scheme, QuantizedTensors& tensors) {
  const CompressedOptions options = compressed_options(scheme);
  for (const std::string& module : tensors.names_before(".weight_packed")) add_packed(tensors, module, options);
  for (const std::string& module : tensors.names_before(".weight_scale")) {
    if (tensors.has_made(module + ".weight")) continue;
    const WeightView& weight = tensors.part(module + ".weight");
    tensors.check_matrix(weight);
    if (weight.dtype != (options.is_float ? StoredType::f8_e4m3 : StoredType::i8))
      tensors.fail_at(weight.name,
                      fmt::format("is {}, expected {}", weight.type_name(), options.is_float ? "F8_E4M3" : "I8"));
    add_compressed(tensors, module, options,
                   {.numbers = &weight, .out = weight.shape[0], .in = weight.shape[1], .grid = {}});
  }
  for (const char* of_cache : {".k_scale", ".v_scale", ".q_scale"})
    for (const std::string& module : tensors.names_before(of_cache)) tensors.drop(module + of_cache);
}

}  // namespace tril::model
