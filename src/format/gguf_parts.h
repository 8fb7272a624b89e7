// A model in several GGUF files, as gguf-split writes it: NAME-00001-of-00003.gguf and so on, numbered from 1.
//
// Every part says in its metadata which it is: split.no (from 0), split.count, and split.tensors.count, the tensors of all
// parts together. The first has the model's metadata; the others have tensors only. Source: llama.cpp's
// tools/gguf-split, the gguf package's GGUFWriter.
#pragma once

#include <string>

#include "format/gguf.h"

namespace tril {

/// Opens a GGUF file and, if it is any part of a model, all the other parts too. The path of the result is that of the first
/// part. @throws Error naming the file for a part that is missing or belongs elsewhere, and for counts that do not agree
GgufFile open_gguf_parts(const std::string& path);

}  // namespace tril
