// The binary files of the Marian toolkit (.bin, made by `marian-conv`), read as data.
//
// A file is, in little-endian numbers: u64 version, 1; u64 count of tensors; for each a header of four u64: bytes of its name,
// type, number of dimensions, bytes of its values; all names, each ended by a zero; all shapes, i32 each; u64 bytes of padding,
// the padding, and the values of all tensors one behind the other, to the end of the file. Values may be followed by padding,
// which the header counts. Source: common/binary.cpp and common/types.h of marian-dev and of its fork for Bergamot.
//
// Quantised matrices (intgemm8, intgemm16) are integers, then a float: the multiplier m. A value is integer / m. The matrix
// [in, out] of a product is stored as [out, in]; embeddings, whose names hold "Wemb", as they are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

/// Whether a file begins as these files do: PyTorch's .bin and binary shortlists do not.
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
  /// In order of name. Quantised ones have the type `blocks`, the shape that they had before, and read() gives their values.
  const std::vector<WeightView>& tensors() const { return tensors_; }
  const WeightView* find(std::string_view name) const;  ///< null where there is none
  /// The same of a matrix in intgemm8 as it is stored; null for others.
  const Int8* find_int8(std::string_view name) const;
  bool has_int8() const { return !int8_.empty(); }

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;
  std::vector<WeightView> tensors_;
  std::vector<Int8> int8_;  // in order of name
};

}  // namespace tril
