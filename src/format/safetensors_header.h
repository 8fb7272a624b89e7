// Reads the header of a safetensors file from its map. Internal to safetensors.cpp.
#pragma once

#include <vector>

#include "base/file.h"
#include "format/safetensors.h"

namespace tril::detail {

/// Fills tensors (views into the map) and metadata, both sorted by name. @throws Error if the header is invalid
void read_safetensors_header(const MappedFile& file, std::vector<WeightView>& tensors, Metadata& metadata);

}  // namespace tril::detail
