// Writes GGUF files (gguf.h): metadata as bytes in the given order, then tensors one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "format/gguf.h"

namespace tril {

/// Metadata to be written, in the order of the calls.
class GgufMetadata {
 public:
  void add(std::string_view key, bool value);
  void add(std::string_view key, std::uint32_t value);
  void add(std::string_view key, float value);
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
  void add(std::string_view key, std::span<const std::string> values);
  void add(std::string_view key, std::span<const std::int32_t> values);
  void add(std::string_view key, std::span<const float> values);
  void add(std::string_view key, const std::vector<bool>& values);
  void add_bytes(std::string_view key, std::string_view values);
  void append(const GgufMetadata& more);

  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void begin(std::string_view key, GgufKind kind);
  void begin_array(std::string_view key, GgufKind kind, std::size_t count);

  std::uint64_t count_ = 0;
  std::string bytes_;
};

/// The description of a tensor to be written; its bytes come later.
struct GgufTensorHeader {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> shape;  ///< row-major

  std::uint64_t bytes() const;  ///< bytes of the values; Error if rows are not made of whole blocks
};

/// Writes a file of version 3 tensor by tensor, so that only one of them need be in memory. Nothing is at `path`
/// before commit(); see AtomicFile.
class GgufWriter {
 public:
  GgufWriter(const std::string& path, std::vector<GgufTensorHeader> tensors, const GgufMetadata& metadata);

  /// Writes all bytes of the next tensor, which must be `name`.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// @throws Error if a tensor is missing
  void commit();

 private:
  AtomicFile file_;
  std::vector<GgufTensorHeader> tensors_;
  std::size_t current_ = 0;
};

}  // namespace tril
