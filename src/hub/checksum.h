// The sums by which a hub names the content of files: SHA-256 for large files (Git LFS), and for all others Git's id
// of the blob, which is the SHA-1 of "blob SIZE\0" and the content. Sources: the specification of Git LFS; Pro Git,
// 10.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tril::hub {

enum class SumKind : std::uint8_t {
  git,    ///< 40 hexadecimal digits
  sha256  ///< 64
};

/// A sum of bytes as they come.
class Checksum {
 public:
  /// @param size  of the whole content, in bytes: a part of Git's sum
  Checksum(SumKind kind, std::uint64_t size);
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// Hexadecimal digits in lower case. Call it once, last.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tril::hub
