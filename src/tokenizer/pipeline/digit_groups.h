// Digits in groups of three from the end of a number: 1234567 becomes 1 234 567. Regular expressions for it look ahead
// to the number's end at every group, in time quadratic in its length. The three expressions in published tokenizers
// are recognised by their text and split here in one pass, with the results of regex.h.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/pipeline/pre_tokenizer.h"

namespace tril {

/// Groups that end where the number ends.
inline constexpr std::string_view number_groups_pattern = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
/// Only in numbers that end at a word boundary.
inline constexpr std::string_view bounded_groups_pattern = R"(\d{1,3}(?=(?:\d{3})*\b))";
/// Splits before each full group; the rest of a number stays with the text before it.
inline constexpr std::string_view before_groups_pattern = R"((?=(\d{3})+(?!\d)))";

/// A step equivalent to SplitBy with one of these expressions and isolated matches; nullptr for any other.
std::unique_ptr<const PreTokenizer> find_digit_groups(const SplitBy& how);

}  // namespace tril
