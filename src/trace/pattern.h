// Patterns of point names: "decoder.3.self.weights", "*.weights", "decoder.*.output".
#pragma once

#include <string_view>

namespace tril::trace {

/// True if the pattern is the name; * stands for any characters, also for dots.
bool is_pattern_of(std::string_view pattern, std::string_view name);
/// Likewise, or if the pattern names a part in which the point is: "decoder.3" covers "decoder.3.self.q".
bool covers(std::string_view pattern, std::string_view name);

/// "weights" of "decoder.3.self.weights".
std::string_view last_name(std::string_view name);
/// True for the scores, masks and weights of an attention: values of pairs of a query and a key, [heads, queries, keys], which it
/// computes beside its kernel.
bool is_of_pairs(std::string_view name);

}  // namespace tril::trace
