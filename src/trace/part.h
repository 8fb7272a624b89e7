// A part of a recorded value: what one head or one token has in it. A page asks for no more than it shows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "trace/trace.h"

namespace tril::trace {

/// The rest of a value's dimensions stays whole. A value without heads, or without tokens, stays whole too.
struct Part {
  std::optional<std::int64_t> head, token;
};

/// The same name, with fewer heads and tokens: [N, H, d] becomes [N, 1, d], [1, H, d] or [1, 1, d].
/// @throws Error(usage) naming the value if it has fewer heads or tokens
Value part_of(const Value& value, const Part& part);

/// {"shape": …, "type": "f32", "base64": …}: the bytes, little-endian.
nlohmann::ordered_json bytes_json(const Value& value);

}  // namespace tril::trace
