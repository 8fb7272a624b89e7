// The version that `tril --version` and the signatures of scores print; a test compares it with CMakeLists.txt.
#pragma once

#include <tril/version.h>

#include <string_view>

namespace tril {

inline constexpr std::string_view version = TRIL_VERSION;

}  // namespace tril
