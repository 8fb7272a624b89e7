// Digits in groups of three, counted from the end of a number: 1234567 is 1 234 567. Expressions for it look ahead to the
// number's end at every group, in time that is quadratic in its length. The three that published tokenizers have are known
// by their text here and cut in one pass, as regex.h would cut them.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/pipeline/pre_tokenizer.h"

namespace tril {

/// Groups end where the number does.
inline constexpr std::string_view number_groups_pattern = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
/// Numbers that end at a word's end, and no others.
inline constexpr std::string_view bounded_groups_pattern = R"(\d{1,3}(?=(?:\d{3})*\b))";
/// Cuts before each whole group; the rest of a number stays with what is before it.
inline constexpr std::string_view before_groups_pattern = R"((?=(\d{3})+(?!\d)))";

/// The step that does what a SplitBy of one of these expressions does, matches isolated; nullptr for any other.
std::unique_ptr<const PreTokenizer> find_digit_groups(const SplitBy& how);

}  // namespace tril
