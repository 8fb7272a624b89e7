// When a beam search stops early, and the names of the choices in options and model directories.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tril {

enum class EarlyStopping : std::uint8_t {
  no,     ///< if the best running hypothesis, normalised at its present length, is not above the worst finished one
  yes,    ///< as soon as beam_size hypotheses are finished
  never,  ///< as `no`, but with the length penalty of the longest output if that is positive: misses nothing better
};

inline constexpr std::array<std::pair<std::string_view, EarlyStopping>, 3> early_stopping_names{
    {{"false", EarlyStopping::no}, {"true", EarlyStopping::yes}, {"never", EarlyStopping::never}}};

}  // namespace tril
