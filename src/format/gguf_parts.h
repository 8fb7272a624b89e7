// A model in several GGUF files, as gguf-split writes it: NAME-00001-of-00003.gguf and so on, numbered from 1.
//
// The metadata of each part has its number split.no (from 0), the number of parts split.count, and split.tensors.count, the
// number of tensors in all parts. The first part has the model's metadata; the others have only tensors. Sources:
// llama.cpp's tools/gguf-split, the gguf package's GGUFWriter.
#pragma once

#include <string>
#include <vector>

#include "format/gguf.h"

namespace tril {

/// Opens a GGUF file. If it is a part of a model, opens all parts; the result has the path of the first.
/// @throws Error naming a part that is missing or belongs to another model, and for counts that contradict each other
GgufFile open_gguf_parts(const std::string& path);

/// The paths of all parts of the model that the GGUF file `path` belongs to, in order; any other file is one part.
/// @throws Error as open_gguf_parts() does
std::vector<std::string> gguf_part_paths(const std::string& path);

}  // namespace tril
