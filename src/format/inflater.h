// Decompresses deflate data by zlib, in steps between buffers of the caller's.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>

namespace tril {

/// What surrounds the deflate data; the numbers are zlib's window bits.
enum class DeflateForm : int { gzip = 15 + 16, zlib = 15, raw = -15 };

class Inflater {
 public:
  /// @throws std::bad_alloc
  explicit Inflater(DeflateForm form);
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  struct Step {
    enum State { more, end, damaged } state = more;  ///< end: of one stream; another may follow in `packed`
    std::size_t read = 0, written = 0;               ///< bytes; both 0: a buffer is used up
  };
  /// Decompresses what of `packed` fits into `out`. @throws std::bad_alloc
  Step step(std::span<const std::byte> packed, std::span<std::byte> out);
  /// Begins another stream.
  void restart() { inflateReset(&stream_); }
  /// What zlib says of damaged data; null if it says nothing.
  const char* message() const { return stream_.msg; }

 private:
  z_stream stream_{};
};

}  // namespace tril
