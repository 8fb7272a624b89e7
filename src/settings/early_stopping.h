// When a beam search ends although it could go on, and the names by which options and model directories know the choices.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tril {

enum class EarlyStopping : std::uint8_t {
  no,     ///< once the best running hypothesis, normalised at its present length, is not above the worst finished one
  yes,    ///< as soon as there are beam_size finished ones
  never,  ///< as `no`, with the length penalty of the longest output where that is positive: nothing better is missed
};

inline constexpr std::array<std::pair<std::string_view, EarlyStopping>, 3> early_stopping_names{
    {{"false", EarlyStopping::no}, {"true", EarlyStopping::yes}, {"never", EarlyStopping::never}}};

}  // namespace tril
