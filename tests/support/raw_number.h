// Numbers as files hold them.
#pragma once

#include <string>

namespace tril::test {

/// The bytes of a number in memory, which are those of little-endian files.
template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace tril::test
