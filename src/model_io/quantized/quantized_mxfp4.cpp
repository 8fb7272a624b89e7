// The experts of gpt-oss: X_blocks U8 [experts, out, groups, 16], 32 numbers of 4 bits each, the lower half of a byte first;
// X_scales U8 [experts, out, groups]. Expert e's matrix is X[e], [in, out]. Source: `transformers`, integrations/mxfp4.py.
#include <cmath>

#include "base/element.h"
#include "base/error.h"
#include "model_io/quantized/quantized_methods.h"

namespace tril::model {
namespace {

// A sign, two bits of exponent, one of fraction.
constexpr float fp4_values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

struct Mxfp4Experts {
  const WeightView *blocks = nullptr, *scales = nullptr;
  std::int64_t out = 0, groups = 0;

  // The values [in, out] of expert e.
  void read(std::int64_t e, std::span<float> values) const {
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t at = (e * out + o) * groups + g;
        const auto power = static_cast<float>(std::ldexp(1.0, number_at<std::uint8_t>(*scales, at) - 127));
        for (std::int64_t i = 0; i < 32; ++i) {
          const int both = number_at<std::uint8_t>(*blocks, at * 16 + i / 2);
          element(values, (g * 32 + i) * out + o) = fp4_values[i % 2 ? both >> 4 : both & 15] * power;
        }
      }
  }
};

}  // namespace

void read_mxfp4(const JsonObject& scheme, QuantizedTensors& tensors) {
  check_keys(scheme, {"quant_method", "modules_to_not_convert", "dequantize"});
  for (const std::string& name : tensors.names_before("_blocks")) {
    const WeightView& blocks = tensors.part(name + "_blocks");
    if (blocks.dtype != StoredType::u8 || blocks.shape.size() != 4 || blocks.shape[3] != 16 || blocks.elements() == 0)
      tensors.fail_at(blocks.name, fmt::format("is {} [{}], expected U8 [experts, out, groups, 16]", blocks.type_name(),
                                               fmt::join(blocks.shape, ", ")));
    const std::int64_t experts = blocks.shape[0], out = blocks.shape[1], groups = blocks.shape[2];
    const Mxfp4Experts m{.blocks = &blocks,
                         .scales = &tensors.part(name + "_scales", StoredType::u8, {experts, out, groups}),
                         .out = out,
                         .groups = groups};
    for (std::int64_t e = 0; e < experts; ++e) {
      WeightView own = blocks;  // the bytes of this expert alone: they are released when it has been read
      const auto bytes = as_size(std::ssize(blocks.bytes) / experts);
      own.bytes = blocks.bytes.subspan(as_size(e) * bytes, bytes);
      tensors.add(fmt::format("{}[{}]", name, e), {groups * 32, out}, own,
                  [m, e](std::span<float> values) { m.read(e, values); });
    }
  }
}

}  // namespace tril::model
