// The version that `tril --version` prints and signatures of scores name; a test holds it to CMakeLists.txt.
#pragma once

#include <string_view>

namespace tril {

inline constexpr std::string_view version = "0.1.0";

}  // namespace tril
