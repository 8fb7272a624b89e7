// AWQ's GEMM format: qweight I32 [in, out / 8], qzeros I32 [groups, out / 8], scales [groups, out]. A word holds eight
// outputs, the lowest bits first, in the order 0, 2, 4, 6, 1, 3, 5, 7. Source: AutoAWQ's packing_utils.py.
#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/quantized_methods.h"

namespace tril::model {
namespace {

constexpr std::int64_t order_in_word[8] = {0, 2, 4, 6, 1, 3, 5, 7};

void check_awq_options(const JsonObject& scheme) {
  check_keys(scheme, {"quant_method", "bits", "group_size", "zero_point", "version", "format", "backend", "do_fuse",
                      "fuse_max_seq_len", "modules_to_fuse", "modules_to_not_convert", "exllama_config"});
  if (const std::int64_t bits = scheme.size("bits", 4); bits != 4)
    scheme.fail_at("bits", fmt::format("{} is not supported", bits), "supported: 4");
  if (!scheme.get<bool>("zero_point", true)) scheme.fail_at("zero_point", "false is not supported");
  for (const char* key : {"version", "format"})
    if (const auto version = scheme.find<std::string>(key); version && *version != "gemm" && *version != "GEMM")
      scheme.fail_at(key, fmt::format("'{}' is not supported", printable(*version, 40)), "supported: gemm");
}

}  // namespace

void read_awq(const JsonObject& scheme, QuantizedTensors& tensors) {
  check_awq_options(scheme);
  for (const std::string& module : tensors.names_before(".qweight")) {
    const WeightView &numbers = tensors.part(module + ".qweight"), &scales = tensors.part(module + ".scales");
    tensors.check_matrix(numbers), tensors.check_matrix(scales);
    const std::int64_t in = numbers.shape[0], words = numbers.shape[1], out = words * 8, groups = scales.shape[0];
    tensors.part(numbers.name, StoredType::i32, {in, words});
    const WeightView& zeros = tensors.part(module + ".qzeros", StoredType::i32, {groups, words});
    if (!is_floating(scales.dtype) || scales.shape[1] != out || in % groups != 0)
      tensors.fail_at(scales.name, fmt::format("is {} [{}], expected groups of {} inputs for {} outputs",
                                               scales.type_name(), fmt::join(scales.shape, ", "), in, out));
    const std::int64_t width = in / groups;
    if (const std::int64_t said = scheme.get<std::int64_t>("group_size", 128); (said == -1 ? in : said) != width)
      tensors.fail_at(scales.name, fmt::format("has groups of {}, but group_size is {}", width, said));
    tensors.add(module + ".weight", {out, in}, numbers,
                [&numbers, &zeros, &scales, in, words, out, width](std::span<float> values) {
                  const std::vector<float> s = to_f32(scales);
                  for (std::int64_t w = 0; w < words; ++w) {
                    for (std::int64_t i = 0; i < in; ++i) {
                      const auto q = number_at<std::uint32_t>(numbers, i * words + w),
                                 z = number_at<std::uint32_t>(zeros, i / width * words + w);
                      for (int k = 0; k < 8; ++k) {
                        const std::int64_t o = w * 8 + order_in_word[k];
                        const int difference = static_cast<int>(q >> 4 * k & 15u) - static_cast<int>(z >> 4 * k & 15u);
                        element(values, o * in + i) = static_cast<float>(difference) * element(s, i / width * out + o);
                      }
                    }
                    round_to(scales.dtype, values.subspan(as_size(w * 8 * in), as_size(8 * in)));
                  }
                });
  }
}

}  // namespace tril::model
