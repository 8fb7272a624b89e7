// The checksums by which a hub identifies the content of files. Large files (Git LFS) have a SHA-256. All others have
// Git's blob id, which is the SHA-1 of "blob SIZE\0" and the content. Sources: the specification of Git LFS; Pro Git, 10.2.
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

/// The running checksum of bytes as they arrive.
class Checksum {
 public:
  /// @param size  of the whole content, in bytes: Git's checksum includes it
  Checksum(SumKind kind, std::uint64_t size);
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// The checksum in lower-case hexadecimal digits. Call it once, at the end.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tril::hub
