// The version that `tril --version` and the signatures of scores print.
#pragma once

#include <tril/version.h>

#include <string_view>

namespace tril {

inline constexpr std::string_view version = TRIL_VERSION;

}  // namespace tril
