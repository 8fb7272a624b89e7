#include "model_io/contents/stored_weight.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/as_size.h"
#include "base/error.h"
#include "kern/kernels.h"
#include "kern/quantize_int4.h"
#include "model_io/contents/read_values.h"

namespace tril::model {
namespace {

void check_tensor(const WeightFiles& files, const WeightView& view, StoredType type,
                  const std::vector<std::int64_t>& shape) {
  if (view.dtype != type || view.shape != shape)
    fail_usage(files.place_of(view.name),
               fmt::format("is {} [{}], expected {} [{}]", name_of(view.dtype), fmt::join(view.shape, ", "),
                           name_of(type), fmt::join(shape, ", ")),
               "the weights and the configuration belong to different models");
}

// True if all numbers of a row [width] are zero. A multiplier of 0 makes all numbers of its group 0.
bool is_zero_row(const StoredWeight& w, std::int64_t row, std::int64_t width) {
  const WeightView& numbers = w.multipliers ? *w.multipliers : *w.values;
  const std::int64_t bytes = w.multipliers ? groups_of(width) : width;
  const auto begin = numbers.bytes.begin() + row * bytes;
  return std::all_of(begin, begin + bytes, [](std::byte b) { return b == std::byte{0}; });
}

// A row's scale must be above 0; it may be 0 only if all its numbers are 0.
void check_scales(const WeightFiles& files, const StoredWeight& w, std::int64_t width) {
  std::int64_t row = 0;
  for (const float scale : to_f32(*w.scales)) {
    if (!(scale > 0 && std::isfinite(scale)) && !(scale == 0 && is_zero_row(w, row, width)))
      fail_usage(files.place_of(w.scales->name),
                 fmt::format("row {} has the scale {}, expected a finite number above 0", row, scale),
                 "the file is damaged: quantise the model again");
    ++row;
  }
}

// Part `part` of a tensor [count, shape...] with several weights of `shape`.
std::shared_ptr<const WeightView> part_of(const WeightFiles& files, const WeightView& whole, const StoredAs::Part& part,
                                          std::vector<std::int64_t> shape) {
  std::vector<std::int64_t> expected = shape;
  expected.insert(expected.begin(), part.count);
  if (whole.shape != expected || whole.dtype == StoredType::blocks)
    fail_usage(files.place_of(whole.name),
               fmt::format("has shape [{}] of {}, but the configuration needs [{}]", fmt::join(whole.shape, ", "),
                           whole.type_name(), fmt::join(expected, ", ")),
               "the weights and the configuration belong to different models");
  const std::int64_t bytes = std::ssize(whole.bytes) / part.count;
  const auto begin = whole.bytes.begin() + part.index * bytes;
  return std::make_shared<const WeightView>(WeightView{.name = whole.name,
                                                       .dtype = whole.dtype,
                                                       .shape = std::move(shape),
                                                       .bytes = {begin, begin + bytes},
                                                       .form = {}});
}

// Without an exit from the loop, so that compilers vectorise it.
bool are_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7f800000u;  // all ones in infinity and NaN
  std::uint32_t odd = 0;
  for (const float v : values) odd |= (std::bit_cast<std::uint32_t>(v) & exponent) == exponent ? 1u : 0u;
  return odd == 0;
}

}  // namespace

std::int64_t groups_of(std::int64_t in) {
  return (in + kern::int4_group - 1) / kern::int4_group;
}

StoredWeight find_weight(const Model& m, const nn::Parameter& p, const WeightFiles& files) {
  StoredAs stored = m.stored_as(p);
  if (stored.part.count > 0 && files.find(p.name)) stored = {.names = {p.name}};
  if (stored.part.count > 0)  // some readers give the parts separately
    if (const std::string one = fmt::format("{}[{}]", stored.names[0], stored.part.index); files.find(one))
      stored.names = {one}, stored.part = {};
  StoredWeight w;
  for (const std::string& name : stored.names)
    if (!w.values) w.values = files.find(name);
  if (!w.values && stored.optional) return w;
  if (!w.values) w.values = &files.at(stored.names[0]);  // its Error suggests the nearest name
  const std::string& name = w.values->name;
  w.scales = p.shape.rank() == 2 ? files.find(name + "_scale") : nullptr;
  if (w.scales) {
    const std::int64_t out = p.shape[0], in = p.shape[1];
    w.multipliers = files.find(name + "_multiplier");
    check_tensor(files, *w.scales, StoredType::f32, {out});
    if (w.multipliers) {
      check_tensor(files, *w.values, StoredType::u8, {out, (in + 1) / 2});
      check_tensor(files, *w.multipliers, StoredType::u8, {out, groups_of(in)});
    } else {
      check_tensor(files, *w.values, StoredType::i8, {out, in});
    }
    check_scales(files, w, in);
    return w;
  }
  w.transposed = stored.transposed, w.added = stored.added, w.row_order = stored.row_order;
  std::vector<std::int64_t> expected = sizes_of(p.shape);
  if (w.transposed) std::reverse(expected.begin(), expected.end());
  if (stored.part.count > 0) {
    w.part = part_of(files, *w.values, stored.part, expected);
    w.values = w.part.get();
  }
  if (w.values->shape != expected)
    fail_usage(files.place_of(name),
               fmt::format("has shape [{}], but the configuration needs [{}]", fmt::join(w.values->shape, ", "),
                           fmt::join(expected, ", ")),
               "the weights and the configuration belong to different models");
  return w;
}

WeightView rows_of(const WeightView& matrix, std::int64_t first, std::int64_t rows) {
  const std::size_t row_bytes = matrix.bytes.size() / as_size(matrix.shape[0]);
  return {.name = matrix.name,
          .dtype = matrix.dtype,
          .shape = {rows, matrix.shape[1]},
          .bytes = matrix.bytes.subspan(as_size(first) * row_bytes, as_size(rows) * row_bytes)};
}

void check_finite(const WeightFiles& files, const StoredWeight& stored, std::span<const float> values) {
  if (are_finite(values)) return;
  const auto odd = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  const std::string& name = stored.values->name;
  fail(files.place_of(name), fmt::format("contains {}: only finite numbers can be quantised or packed", *odd),
       "the model is damaged: train or download it again");
}

namespace {

// Integers of our own files times their scales.
void read_quantized(const nn::Parameter& p, const StoredWeight& stored, std::span<float> out) {
  const auto n = static_cast<std::size_t>(p.shape[0]), k = static_cast<std::size_t>(p.shape[1]);
  const std::vector<float> scales = to_f32(*stored.scales);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(stored.values->bytes.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < k; ++i) {
      int q = static_cast<std::int8_t>(bytes[stored.bits() == 8 ? j * k + i : 0]);
      if (stored.bits() == 4) {
        const std::uint8_t both = bytes[j * ((k + 1) / 2) + i / 2];
        const auto m = static_cast<std::uint8_t>(
            stored.multipliers->bytes[j * static_cast<std::size_t>(groups_of(p.shape[1])) + i / kern::int4_group]);
        q = ((i % 2 ? both >> 4 : both & 15) - 8) * (m & 15);
      }
      out[j * k + i] = scales[j] * static_cast<float>(q);
    }
}

}  // namespace

void read_floats(const nn::Parameter& p, const StoredWeight& stored, std::span<float> out) {
  if (stored.bits() != 0) return read_quantized(p, stored, out);
  check(std::ssize(out) == stored.values->elements(), p.name, "has {} values, but there is room for {}",
        stored.values->elements(), out.size());
  if (stored.transposed) {
    std::vector<float> files(out.size());
    read_values(*stored.values, files);
    kern::best().transpose(files.data(), out.data(), as_size(p.shape[1]), as_size(p.shape[0]));
  } else {
    read_values(*stored.values, out);
  }
  if (!stored.row_order.empty()) {
    const std::vector<float> files(out.begin(), out.end());
    const std::ptrdiff_t width = std::ssize(files) / std::ssize(stored.row_order);
    auto to = out.begin();
    for (const std::int32_t row : stored.row_order) to = std::copy_n(files.begin() + row * width, width, to);
  }
  if (stored.added != 0)
    for (float& v : out) v += stored.added;
}

std::vector<float> floats_of(const nn::Parameter& p, const StoredWeight& stored) {
  std::vector<float> values(as_size(p.shape.count()));
  read_floats(p, stored, values);
  return values;
}

std::vector<float> values_to_store(std::span<const float> values, const Shape& shape, const StoredAs& stored) {
  std::vector<float> result(values.begin(), values.end());
  if (stored.added != 0)
    for (float& v : result) v -= stored.added;
  if (!stored.row_order.empty()) {
    const std::vector<float> own = result;
    const std::ptrdiff_t width = std::ssize(own) / std::ssize(stored.row_order);
    auto from = own.begin();
    for (const std::int32_t row : stored.row_order) {
      std::copy_n(from, width, result.begin() + row * width);
      from += width;
    }
  }
  return stored.transposed ? transposed_values(result, shape[0], shape[1]) : result;
}

std::vector<float> transposed_values(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(values.size());
  kern::best().transpose(values.data(), result.data(), as_size(rows), as_size(columns));
  return result;
}

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return sizes;
}

}  // namespace tril::model
