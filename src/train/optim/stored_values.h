// The values of a state's files, with checksums: what a disk or a hand has changed is told instead of trained on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "format/safetensors.h"
#include "tensor/tensor.h"

namespace tril::train {

/// A tensor of a file as it lies in memory: stretches of rows, one behind the other.
struct StoredTensor {
  std::string name;
  std::vector<Tensor> stretches;
};

/// Adds the tensor's checksum to the metadata of the file that it will be written to.
void add_checksum(Metadata& metadata, const StoredTensor& tensor);

/// Writes it, piece by piece: no second one of it is made.
void write_values(SafetensorsWriter& writer, const StoredTensor& tensor);

/// Compares with the checksum that the file has of the tensor; does nothing where it has none, as files of older versions.
/// @param stretches  how many values each stretch had
/// @throws Error that says that the file is damaged
void check_values(const SafetensorsFile& file, const std::string& name, const std::vector<std::size_t>& stretches);

}  // namespace tril::train
