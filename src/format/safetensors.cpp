// Opening and lookup; safetensors_header.cpp reads the header, safetensors_write.cpp writes.
#include "format/safetensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/float8.h"
#include "base/half.h"
#include "base/memory.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/safetensors_header.h"

namespace tril {
namespace {

// Calls f(i, value) for each stored value.
template <class Stored, class F>
void for_values(const WeightView& view, F f) {
  for (std::size_t i = 0, n = view.bytes.size() / sizeof(Stored); i < n; ++i)
    f(i, load_number<Stored>(view.bytes.data() + i * sizeof(Stored)));
}

// The index of `name` in a sorted list of named things, or the list's size.
template <class List, class NameOf>
std::size_t index_of(const List& list, std::string_view name, NameOf name_of_entry) {
  const auto found = std::lower_bound(list.begin(), list.end(), name, [&](const auto& entry, std::string_view wanted) {
    return std::string_view(name_of_entry(entry)) < wanted;
  });
  const bool there = found != list.end() && std::string_view(name_of_entry(*found)) == name;
  return there ? static_cast<std::size_t>(found - list.begin()) : list.size();
}

}  // namespace

std::size_t size_of(StoredType type) {
  constexpr std::array<std::size_t, 13> sizes{8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 1, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}

std::optional<std::uint64_t> bytes_of_shape(StoredType type, std::span<const std::int64_t> shape) {
  std::uint64_t bytes = size_of(type);
  bool is_empty = false;
  for (const std::int64_t n : shape) {
    if (n < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)), &bytes))
      return std::nullopt;
    is_empty = is_empty || n == 0;
  }
  if (!std::in_range<std::int64_t>(bytes)) return std::nullopt;
  return is_empty ? 0 : bytes;
}

std::string_view name_of(StoredType type) {
  constexpr std::array<std::string_view, 13> names{"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E8M0", "I64",
                                                   "I32", "I16", "I8",  "U8",   "BOOL",    "blocks"};
  return names[static_cast<std::size_t>(type)];
}

bool is_floating(StoredType type) {
  return type <= StoredType::f8_e8m0 || type == StoredType::blocks;
}

std::int64_t WeightView::elements() const {
  if (dtype == StoredType::blocks)
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return static_cast<std::int64_t>(bytes.size() / size_of(dtype));
}

void to_f32(const WeightView& view, std::span<float> out) {
  check(std::ssize(out) == view.elements(), printable(view.name), "has {} values, but there is room for {}",
        view.elements(), out.size());
  switch (view.dtype) {
    case StoredType::f32:
      if (!out.empty()) std::memcpy(out.data(), view.bytes.data(), view.bytes.size());
      return;
    case StoredType::f64:
      return for_values<double>(view, [&](std::size_t i, double value) {
        out[i] = static_cast<float>(value);
        if (std::isinf(out[i]) && !std::isinf(value))
          fail(printable(view.name), fmt::format("value {} is {}, which does not fit into a 32-bit float", i, value));
      });
    case StoredType::f16:
      return for_values<std::uint16_t>(view, [&](std::size_t i, std::uint16_t h) { out[i] = f16_to_f32(h); });
    case StoredType::bf16:
      return for_values<std::uint16_t>(view, [&](std::size_t i, std::uint16_t h) { out[i] = bf16_to_f32(h); });
    case StoredType::f8_e4m3:
      return for_values<std::uint8_t>(view, [&](std::size_t i, std::uint8_t b) { out[i] = f8_e4m3_values[b]; });
    case StoredType::f8_e8m0:
      return for_values<std::uint8_t>(view, [&](std::size_t i, std::uint8_t b) { out[i] = f8_e8m0_to_f32(b); });
    case StoredType::blocks:
      return view.read(out);
    default:
      fail(printable(view.name), fmt::format("holds {}, expected floating-point numbers", name_of(view.dtype)));
  }
}

std::vector<float> to_f32(const WeightView& view) {
  std::vector<float> out(static_cast<std::size_t>(view.elements()));
  to_f32(view, out);
  return out;
}

std::vector<std::int32_t> to_i32(const WeightView& view) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(view.elements()));
  const auto copy = [&](std::size_t i, std::int32_t value) { out[i] = value; };
  switch (view.dtype) {
    case StoredType::i64:
      for_values<std::int64_t>(view, [&](std::size_t i, std::int64_t value) {
        if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
          fail(printable(view.name), fmt::format("value {} is {}, which does not fit into 32 bits", i, value));
        out[i] = static_cast<std::int32_t>(value);
      });
      return out;
    case StoredType::i32:
      for_values<std::int32_t>(view, copy);
      return out;
    case StoredType::i16:
      for_values<std::int16_t>(view, copy);
      return out;
    case StoredType::i8:
      for_values<std::int8_t>(view, copy);
      return out;
    case StoredType::u8:
      for_values<std::uint8_t>(view, copy);
      return out;
    case StoredType::boolean:
      for_values<std::uint8_t>(view, [&](std::size_t i, std::uint8_t value) { out[i] = value != 0; });
      return out;
    default:
      fail(printable(view.name), fmt::format("holds {}, expected integers", name_of(view.dtype)));
  }
}

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  SafetensorsFile file(MappedFile::open(path));
  detail::read_safetensors_header(file.file_, file.tensors_, file.metadata_);
  return file;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> all;
  for (const WeightView& tensor : tensors_) all.push_back(tensor.name);
  return all;
}

const WeightView* SafetensorsFile::find(std::string_view name) const {
  const std::size_t i = index_of(tensors_, name, [](const WeightView& t) -> const std::string& { return t.name; });
  return i < tensors_.size() ? &tensors_[i] : nullptr;
}

const WeightView& SafetensorsFile::at(std::string_view name) const {
  const WeightView* const found = find(name);
  if (!found)
    fail(printable(path(), 400), fmt::format("has no tensor {}", printable(name)), did_you_mean(name, names()));
  return *found;
}

const std::string* SafetensorsFile::find_metadata(std::string_view key) const {
  const std::size_t i = index_of(metadata_, key, [](const auto& entry) -> const std::string& { return entry.first; });
  return i < metadata_.size() ? &metadata_[i].second : nullptr;
}

}  // namespace tril
