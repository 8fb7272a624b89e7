// AWQ's GEMM format: qweight I32 [in, out / 8], qzeros I32 [groups, out / 8], scales [groups, out]. A word holds eight
// outputs, the lowest bits first, in the order 0, 2, 4, 6, 1, 3, 5, 7. Source: AutoAWQ's packing_utils.py.
#include <algorithm>
#include <array>
#include <utility>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/stored_values.h"
#include "model_io/quantized/quantized_methods.h"

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

// A matrix [out, in]. What the 16 numbers of a group stand for is computed once; tiles of some words of the file's rows are turned in
// the cache.
struct AwqMatrix {
  const WeightView *numbers = nullptr, *zeros = nullptr, *scales = nullptr;
  std::int64_t in = 0, words = 0, width = 0;  // of inputs, of words in a row, and of a group

  void read(std::span<float> values) const {
    const std::vector<float> s = to_f32(*scales);
    for (std::int64_t w = 0; w < words; w += kWords)
      for (std::int64_t group = 0; group * width < in; ++group) read_group(group, w, s, values);
  }

 private:
  static constexpr std::int64_t kInputs = 128, kWords = 16, kLevels = 16;
  using Levels =
      std::array<float, kWords * 8 * kLevels>;  // of each output of the words, in the order of the words' bits

  void read_group(std::int64_t group, std::int64_t first, const std::vector<float>& s, std::span<float> values) const {
    const std::int64_t last = std::min(first + kWords, words);
    const Levels levels = levels_of(group, {first, last}, s);
    for (std::int64_t begin = group * width; begin < (group + 1) * width; begin += kInputs) {
      const std::int64_t count = std::min(kInputs, (group + 1) * width - begin);
      std::uint32_t turned[kWords][kInputs];
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t w = first; w < last; ++w)
          turned[w - first][i] = number_at<std::uint32_t>(*numbers, (begin + i) * words + w);
      for (std::int64_t w = first; w < last; ++w)
        for (int k = 0; k < 8; ++k) {
          const std::uint32_t* const q = turned[w - first];
          const float* const level = &levels[as_size(((w - first) * 8 + k) * kLevels)];
          float* const row = &values[as_size((w * 8 + order_in_word[k]) * in + begin)];
          kern::look_up_columns(level, q, 4 * k, as_size(count), row);
        }
    }
  }

  Levels levels_of(std::int64_t group, std::pair<std::int64_t, std::int64_t> range, const std::vector<float>& s) const {
    Levels levels{};
    auto to = levels.begin();
    for (std::int64_t w = range.first; w < range.second; ++w) {
      const auto z = number_at<std::uint32_t>(*zeros, group * words + w);
      for (int k = 0; k < 8; ++k) {
        const float scale = element(s, (group * words + w) * 8 + order_in_word[k]);
        for (int q = 0; q < kLevels; ++q) *to++ = static_cast<float>(q - static_cast<int>(z >> 4 * k & 15u)) * scale;
      }
    }
    round_to(scales->dtype, levels);
    return levels;
  }
};

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
    if (const std::int64_t stated = scheme.get<std::int64_t>("group_size", 128); (stated == -1 ? in : stated) != width)
      tensors.fail_at(scales.name, fmt::format("has groups of {}, but group_size is {}", width, stated));
    const AwqMatrix matrix{&numbers, &zeros, &scales, in, words, width};
    tensors.add(module + ".weight", {out, in}, numbers, [matrix](std::span<float> values) { matrix.read(values); });
  }
}

}  // namespace tril::model
