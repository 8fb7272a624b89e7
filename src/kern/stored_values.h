// Loops that turn the values of weights in files into floats. Each instruction set gives the same bits, so that these are functions
// rather than entries of the tables. TRIL_INSTRUCTION_SET limits them, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tril::kern {

/// y[0 ... n) = n numbers of binary16, little-endian at any alignment; a NaN becomes quiet (base/half.h).
void widen_f16(const std::byte* halves, float* y, std::size_t n);

/// Words of 32 bits, little-endian at any alignment, at equal distances.
struct SpacedWords {
  const std::byte* first = nullptr;
  std::size_t distance = sizeof(std::uint32_t);  ///< in bytes
  std::size_t count = 0;
};

/// The eight numbers of each word, the lowest bits first: y[8 i + j] = levels[bits 4 j ... 4 j + 3 of word i].
/// @param levels  [16] the number's values
void look_up_words(const float* levels, const SpacedWords& words, float* y);

/// One number of each word: y[i] = levels[bits shift ... shift + 3 of words[i]].
/// @param levels  [16] the number's values
void look_up_columns(const float* levels, const std::uint32_t* words, int shift, std::size_t n, float* y);

/// From now on only instruction sets up to a table's are used. @param table  its name: "avx2"
void limit_stored_values(std::string_view table);

}  // namespace tril::kern
