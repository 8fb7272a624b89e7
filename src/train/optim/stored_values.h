// The values of a checkpoint's files, with checksums, so that changed or damaged values are detected before training on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "tensor/tensor.h"

namespace tril::train {

/// A tensor of a file, as stretches of rows in memory, concatenated.
struct StoredTensor {
  std::string name;
  std::vector<Tensor> stretches;
};

/// Adds the tensor's checksum to the metadata of the file that it will be written to.
void add_checksum(Metadata& metadata, const StoredTensor& tensor);

/// Writes the tensor piece by piece, without a second copy in memory.
void write_values(SafetensorsWriter& writer, const StoredTensor& tensor);

/// Compares the values with the tensor's checksum in the file; does nothing if there is none, as in files of older versions.
/// @param stretches  how many values each stretch had
/// @throws Error if the file is damaged
void check_values(const SafetensorsFile& file, const std::string& name, const std::vector<std::size_t>& stretches);

}  // namespace tril::train
