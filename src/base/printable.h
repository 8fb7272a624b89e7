// Text from outside, made fit for a message: valid UTF-8 stays, control characters and stray bytes become \xNN, and
// what is long is cut. A name out of a hostile file can then neither garble a terminal nor fill it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tril {

/// At most about `limit` bytes of `text`, with "..." where it was cut.
std::string printable(std::string_view text, std::size_t limit = 120);

}  // namespace tril
