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

/// What a tensor to be written is; its bytes come later.
struct TensorHeader {
  std::string name;
  StoredType dtype = StoredType::f32;
  std::vector<std::int64_t> shape;
};

/// Writes a file tensor by tensor, so that no more than one of them need be in host memory. The same tensors and
/// metadata in the same order give the same bytes. Nothing is at `path` before commit(); see AtomicFile.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, std::vector<TensorHeader> tensors, const Metadata& metadata);

  /// The bytes of the next tensor, which must be `name`, whole or in pieces.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// Error where a tensor is missing or incomplete.
  void commit();

 private:
  std::uint64_t bytes_of_current() const;

  AtomicFile file_;
  std::vector<TensorHeader> tensors_;
  std::size_t current_ = 0;          ///< index of the tensor that is being written
  std::uint64_t current_bytes_ = 0;  ///< how much of it there is already
};

/// Writes tensors that are in memory, in the order given. `transformers` wants the metadata {"format": "pt"}.
void write_safetensors(const std::string& path, const std::vector<WeightView>& tensors, const Metadata& metadata);

}  // namespace tril
