// How much the steps of a tokenizer may lengthen a text. Steps multiply: forty that each double it would fill any memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tril {

/// The most bytes that a step may hand on of a text of `bytes`. Letters for bytes make two of one, and Unicode's forms eleven at most.
constexpr std::size_t most_grown(std::size_t bytes) {
  return 64 * bytes + (std::size_t{1} << 16);
}

/// @param steps  their kind: "the normalizers"
[[noreturn]] inline void refuse_growth(const std::string& where, std::string_view steps, std::size_t bytes) {
  fail(where, fmt::format("{} make more than {} bytes of a text of {}", steps, most_grown(bytes), bytes),
       "does a step replace a part of the text by itself, several times over?");
}

}  // namespace tril
