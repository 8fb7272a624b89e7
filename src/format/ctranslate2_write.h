// Writes model.bin of CTranslate2 (ctranslate2_file.h), version 6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "format/safetensors_write.h"

namespace tril {

struct Ctranslate2Header {
  std::string specification;
  std::uint32_t revision = 0;
  std::vector<TensorHeader> variables;                       ///< types: F32, I8, I16, I32, F16, BF16
  std::vector<std::pair<std::string, std::string>> aliases;  ///< from an alias to the name of a variable
};

/// Writes a file variable by variable, so that only one of them need be in memory. Nothing is at `path` before commit(); see
/// AtomicFile.
class Ctranslate2Writer {
 public:
  /// @throws Error for a variable of 4 GiB or more, which the format cannot hold
  Ctranslate2Writer(const std::string& path, Ctranslate2Header header);

  /// Writes all bytes of the next variable, which must be `name`.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// @throws Error if a variable is missing
  void commit();

 private:
  void put_text(std::string_view text);
  template <class T>
  void put(T value);

  AtomicFile file_;
  Ctranslate2Header header_;
  std::size_t current_ = 0;
};

}  // namespace tril
