// Reads the bytes of a binary file from front to back: little-endian numbers, texts, blocks of bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tril {

static_assert(std::endian::native == std::endian::little, "numbers are used as they are stored");

/// The number stored at `from`, with any alignment.
template <class T>
T load_number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

class ByteCursor {
 public:
  /// @param bytes  must outlive the cursor
  /// @param where  names the file in errors
  /// @param first  the offset of `bytes` in the file
  ByteCursor(std::span<const std::byte> bytes, std::string where, std::uint64_t first = 0)
      : bytes_(bytes), where_(std::move(where)), first_(first) {}

  // Each function moves the cursor past what it returns.
  // @param what  names the bytes in errors, such as "the version"
  // @throws Error with the file, the offset and both sizes if fewer bytes are left

  /// The next `size` bytes: a view into the file.
  std::span<const std::byte> take(std::uint64_t size, std::string_view what);
  /// The same as characters.
  std::string_view characters(std::uint64_t size, std::string_view what);
  template <class T>
  T number(std::string_view what) {
    return load_number<T>(take(sizeof(T), what).data());
  }
  /// A cursor over the next `size` bytes.
  ByteCursor part(std::uint64_t size, std::string_view what);

  std::size_t position() const { return at_; }  ///< bytes taken so far
  std::size_t left() const { return bytes_.size() - at_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
  std::uint64_t first_;
  std::size_t at_ = 0;
};

}  // namespace tril
