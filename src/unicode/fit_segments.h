// Cuts a sentence that is too long for a model into parts, at the least harmful places.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tril {

/// The parts of a text, each with at most `most` tokens, unless a single character has more. The white space between two
/// parts belongs to neither. tokens() is called with texts of at most a few times that length, except for the first call.
/// @param most  > 0
std::vector<std::string_view> parts_that_fit(std::string_view text,
                                             const std::function<std::int64_t(std::string_view)>& tokens,
                                             std::int64_t most);

}  // namespace tril
