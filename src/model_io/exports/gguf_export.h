// Writes a model as one GGUF file that llama.cpp runs: the inverse of gguf_tensors.h and gguf_config.h.
#pragma once

#include <string>

#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model/spec/model.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

struct GgufExport {
  std::string path;
  GgufType type = GgufType::f16;  ///< of matrices, but F16 if rows are not a multiple of a block; vectors are F32
  std::string name;               ///< general.name
  GgufMetadata tokenizer;         ///< tokenizer.*
};

/// Writes `m`; `files` are its weights. Holds one tensor in memory at a time.
/// @throws Error(usage) if no architecture of llama.cpp computes the same
void export_gguf(const Model& m, const WeightFiles& files, const GgufExport& how);

}  // namespace tril::model
