// How far a length penalty may go, in a model's directory, in options and in requests.
#pragma once

namespace tril::model {

/// Positive or negative: beyond it powers of the longest outputs are no longer numbers.
inline constexpr double largest_length_penalty = 50;

}  // namespace tril::model
