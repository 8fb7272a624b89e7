// The bytes of a file, a pipe or standard input, unpacked where they are gzip.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

class Input {
 public:
  /// @param path  a file, or "-" for standard input
  /// @throws Error for what cannot be read, and for a pointer of Git LFS
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Some more bytes, valid until the next call; none at the end. A pipe's bytes come as soon as they are there.
  std::string_view read();

  /// What is read next is the text from this byte on; false, and nothing happens, where that cannot be said: of gzip, or of
  /// a pipe. To be asked once something was read.
  bool seek(std::int64_t offset);

  const std::string& name() const { return name_; }

 private:
  /// Reads from the descriptor into packed_ behind what is left there; false at the file's end.
  bool fill();
  std::string_view unpack();
  void check_kind();
  void refuse_pointer(const std::string& path) const;

  std::string name_;
  int descriptor_ = -1;
  bool owned_ = false;
  bool started_ = false, at_end_ = false, gzip_ = false;
  bool in_member_ = false;  ///< within a gzip member: the file must not end here
  bool padding_ = false;    ///< behind the last member: what follows is not data
  std::vector<unsigned char> packed_, unpacked_;
  std::size_t begin_ = 0, end_ = 0;  ///< what of packed_ is not used yet
  z_stream stream_{};
};

}  // namespace tril
