// The binary model files of the Marian toolkit (.bin, written by `marian-conv`).
//
// Numbers are little-endian. A file holds, in order:
//   u64 version, which is 1
//   u64 number of tensors
//   for each tensor four u64: bytes of its name, type, number of dimensions, bytes of its values
//   the names, each ended by a zero byte
//   the shapes, each size as i32
//   u64 bytes of padding, then the padding
//   the values of each tensor, which may include padding at their end, up to the end of the file
// Source: common/binary.cpp and common/types.h of marian-dev and of Bergamot's fork.
//
// A quantised matrix (intgemm8, intgemm16) is stored as integers followed by a float, the multiplier m. A value is integer / m.
// The matrix [in, out] of a product is stored as [out, in]. Embeddings, whose names contain "Wemb", are not transposed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

/// True if the bytes begin with version 1, unlike PyTorch's .bin files and binary shortlists.
bool begins_as_marian_bin(std::span<const std::byte> bytes);

class MarianBinFile {
 public:
  /// A matrix in intgemm8.
  struct Int8 {
    std::string name;
    std::span<const std::byte> values;  ///< [rows, columns] as stored, signed
    std::int64_t rows = 0, columns = 0;
    float multiplier = 1;  ///< finite, above 0
  };

  /// Maps the file and checks every count and size against its bytes. @throws Error with the file, the tensor and the reason
  static MarianBinFile open(const std::string& path);
  /// @param owner  keeps the bytes alive
  MarianBinFile(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const std::string& path() const { return path_; }
  /// Sorted by name. A quantised tensor has the type `blocks` and its original shape; read() dequantises it.
  const std::vector<WeightView>& tensors() const { return tensors_; }
  const WeightView* find(std::string_view name) const;  ///< null if there is none
  /// The stored matrix if its type is intgemm8; else null.
  const Int8* find_int8(std::string_view name) const;
  bool has_int8() const { return !int8_.empty(); }

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;
  std::vector<WeightView> tensors_;
  std::vector<Int8> int8_;  // sorted by name
};

}  // namespace tril
