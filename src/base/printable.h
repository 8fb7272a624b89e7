// Text from outside, made fit for a message: valid UTF-8 stays, control characters and stray bytes become \xNN, and
// long text is cut. So a name from a hostile file can neither garble a terminal nor fill it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tril {

/// At most about `limit` bytes of `text`, with "..." at the cut.
std::string printable(std::string_view text, std::size_t limit = 120);

}  // namespace tril
