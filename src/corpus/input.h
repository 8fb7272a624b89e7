// The bytes of a file, a pipe or standard input, decompressed if they are gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/inflater.h"

namespace tril {

class Input {
 public:
  /// @param path  a file, or "-" for standard input
  /// @throws Error for an unreadable file, or a pointer file of Git LFS
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// More bytes, valid until the next call; empty at the end. A pipe's bytes are returned as soon as they arrive.
  std::string_view read();

  /// Continues at this byte of the text; returns false, without effect, for gzip and pipes. Call it only after a first
  /// read().
  bool seek(std::int64_t offset);

  const std::string& name() const { return name_; }

 private:
  /// Reads from the file into packed_, after its unused bytes; false at the end of the file.
  bool fill();
  std::string_view unused() const { return {reinterpret_cast<const char*>(packed_.data()) + begin_, end_ - begin_}; }
  std::string_view unpack();
  void check_kind();
  void refuse_pointer(const std::string& path) const;

  std::string name_;
  int descriptor_ = -1;
  bool owned_ = false;
  bool started_ = false, at_end_ = false;
  bool in_member_ = false;  ///< inside a gzip member: the file must not end here
  bool padding_ = false;    ///< after the last member: the rest is padding
  std::vector<std::byte> packed_, unpacked_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unused part of packed_
  std::optional<Inflater> gzip_;     ///< of gzip data
};

}  // namespace tril
