// Writes safetensors files (safetensors.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "format/safetensors.h"

namespace tril {

/// The description of a tensor to be written; its bytes come later.
struct TensorHeader {
  std::string name;
  StoredType dtype = StoredType::f32;
  std::vector<std::int64_t> shape;
};

/// Writes a file tensor by tensor, so that only one of them need be in host memory. The same tensors and metadata
/// in the same order give the same bytes. Nothing is at `path` before commit(); see AtomicFile.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, std::vector<TensorHeader> tensors, const Metadata& metadata);

  /// Writes bytes of the next tensor, which must be `name`: all at once or in pieces.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// @throws Error if a tensor is missing or incomplete
  void commit();

 private:
  std::uint64_t bytes_of_current() const;

  AtomicFile file_;
  std::vector<TensorHeader> tensors_;
  std::size_t current_ = 0;          ///< index of the tensor that is being written
  std::uint64_t current_bytes_ = 0;  ///< bytes of it written so far
};

/// Writes tensors from memory, in the given order. `transformers` requires the metadata {"format": "pt"}.
void write_safetensors(const std::string& path, const std::vector<WeightView>& tensors, const Metadata& metadata);

}  // namespace tril
