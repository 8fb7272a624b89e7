// Grapheme clusters: what a reader takes for one character, such as "e" with its accent [UAX #29, extended clusters].
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// The end of the cluster that begins at `at` < text.size(), in UTF-8.
std::size_t end_of_grapheme(std::string_view text, std::size_t at);

}  // namespace tril
