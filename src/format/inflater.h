// Decompresses deflate data with zlib, step by step between the caller's buffers.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>

namespace tril {

/// The format around the deflate data; the numbers are zlib's window bits.
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
  /// Decompresses as much of `packed` as fits into `out`. @throws std::bad_alloc
  Step step(std::span<const std::byte> packed, std::span<std::byte> out);
  /// Begins a new stream.
  void restart() { inflateReset(&stream_); }
  /// zlib's message about damaged data; null if there is none.
  const char* message() const { return stream_.msg; }

 private:
  z_stream stream_{};
};

}  // namespace tril
