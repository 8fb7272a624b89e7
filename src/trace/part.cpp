#include "trace/part.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "format/base64.h"
#include "trace/pattern.h"

namespace tril::trace {
namespace {

// Of the dimension `axis`, the index alone.
Value only(const Value& v, std::size_t axis, std::int64_t index, const char* what) {
  if (index < 0 || index >= v.shape[axis])
    fail_usage(v.name, fmt::format("has no {} {}, but {} of them", what, index, v.shape[axis]), "they count from 0");
  std::size_t outer = 1, inner = size_of(v.type);
  for (std::size_t i = 0; i < axis; ++i) outer *= as_size(v.shape[i]);
  for (std::size_t i = axis + 1; i < v.shape.size(); ++i) inner *= as_size(v.shape[i]);
  Value part{.name = v.name, .shape = v.shape, .type = v.type, .bytes = {}};
  part.shape[axis] = 1;
  for (std::size_t i = 0; i < outer; ++i) {
    const auto from =
        v.bytes.begin() + static_cast<std::ptrdiff_t>((i * as_size(v.shape[axis]) + as_size(index)) * inner);
    part.bytes.insert(part.bytes.end(), from, from + static_cast<std::ptrdiff_t>(inner));
  }
  return part;
}

}  // namespace

Value part_of(const Value& value, const Part& part) {
  Value v = value;
  const bool pairs = is_of_pairs(v.name);
  if (v.shape.size() == 3 && part.head && !(pairs && v.shape[0] == 1))  // a mask of all heads is that of each
    v = only(v, pairs ? 0 : 1, *part.head, "head");
  if (v.shape.size() >= 2 && part.token && last_name(v.name) != "state")
    v = only(v, pairs ? 1 : 0, *part.token, "token");
  return v;
}

nlohmann::ordered_json bytes_json(const Value& value) {
  const char* const type = value.type == DType::f32 ? "f32" : value.type == DType::u8 ? "u8" : "i32";
  std::vector<std::uint8_t> bytes;
  for (const std::byte b : value.bytes) bytes.push_back(static_cast<std::uint8_t>(b));
  return {{"shape", value.shape}, {"type", type}, {"base64", to_base64(bytes)}};
}

}  // namespace tril::trace
