// Writes NumPy's archives of arrays (npz_file.h): stored members in .npy of version 1.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tril {

/// Writes an archive array by array. Nothing is at the path before commit(); see AtomicFile.
class NpzWriter {
 public:
  explicit NpzWriter(const std::string& path) : file_(path) {}

  void write(const std::string& name, const std::vector<std::int64_t>& shape, std::span<const float> values);
  void write(const std::string& name, const std::vector<std::int64_t>& shape, std::span<const std::int32_t> values);
  /// An array of bytes [n], NumPy's int8.
  void write(const std::string& name, std::string_view bytes);
  /// @throws Error for an archive of 4 GB or more, which would need ZIP64
  void commit();

 private:
  void add(const std::string& name, const std::string& header, std::span<const std::byte> values);

  AtomicFile file_;
  std::string directory_;
  std::uint16_t members_ = 0;
};

}  // namespace tril
